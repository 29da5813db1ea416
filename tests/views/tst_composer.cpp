// Keys of the composer, counting without waiting, Send and Stop in one place, the context ring.
#include <QInputMethodEvent>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "tests/support/picture_chats.h"
#include "views/composer/composer.h"
#include "views/composer/context_ring.h"

using namespace tg;
using namespace Qt::StringLiterals;

namespace {

struct Fixture {
  fake::FakeApplication app;
  Composer composer{app.service};
  QSignalSpy sent{&composer, &Composer::send};
  Fixture() {
    app.service.createChat(u"one"_s, u"m"_s, {});
    composer.setModel(u"Model"_s, true, false);
    composer.setChat(app.service.list.first().id);
    composer.resize(700, 120);
    composer.show();
    composer.focusEdit();
  }
  QString label() { return composer.findChild<QLabel*>(u"draftTokens"_s)->text(); }
};

}  // namespace

class TestComposer : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void enterSends() {
    Fixture f;
    QTest::keyClicks(f.composer.edit(), u"hello"_s);
    QTest::keyClick(f.composer.edit(), Qt::Key_Return);
    QCOMPARE(f.sent.size(), 1);
    QCOMPARE(f.sent[0][0].toString(), u"hello"_s);
  }

  void shiftEnterMakesALine() {
    Fixture f;
    QTest::keyClicks(f.composer.edit(), u"a"_s);
    QTest::keyClick(f.composer.edit(), Qt::Key_Return, Qt::ShiftModifier);
    QTest::keyClicks(f.composer.edit(), u"b"_s);
    QCOMPARE(f.composer.text(), u"a\nb"_s);
    QCOMPARE(f.sent.size(), 0);
  }

  void settingSwapsEnter() {
    Fixture f;
    f.composer.setSendWithCtrl(true);
    QTest::keyClicks(f.composer.edit(), u"a"_s);
    QTest::keyClick(f.composer.edit(), Qt::Key_Return);
    QCOMPARE(f.sent.size(), 0);
    QTest::keyClick(f.composer.edit(), Qt::Key_Return, Qt::ControlModifier);
    QCOMPARE(f.sent.size(), 1);
  }

  void enterOfAnInputMethodDoesNotSend() {
    Fixture f;
    QInputMethodEvent preedit(u"に"_s, {});
    QApplication::sendEvent(f.composer.edit(), &preedit);
    QTest::keyClick(f.composer.edit(), Qt::Key_Return);  // some input methods hand the key on
    QCOMPARE(f.sent.size(), 0);
    QInputMethodEvent commit;
    commit.setCommitString(u"日本"_s);
    QApplication::sendEvent(f.composer.edit(), &commit);
    QCOMPARE(f.sent.size(), 0);
    QCOMPARE(f.composer.text(), u"日本"_s);
    QTest::keyClick(f.composer.edit(), Qt::Key_Return);
    QCOMPARE(f.sent.size(), 1);
  }

  void emptyDoesNotSend() {
    Fixture f;
    QTest::keyClick(f.composer.edit(), Qt::Key_Return);
    QTest::keyClicks(f.composer.edit(), u"   "_s);
    QTest::keyClick(f.composer.edit(), Qt::Key_Return);
    QCOMPARE(f.sent.size(), 0);
    QVERIFY(!f.composer.findChild<QPushButton*>(u"sendButton"_s)->isEnabled());
  }

  void upInEmptyEditsTheLast() {
    Fixture f;
    QSignalSpy edit(&f.composer, &Composer::editLast);
    QTest::keyClick(f.composer.edit(), Qt::Key_Up);
    QCOMPARE(edit.size(), 1);
    QTest::keyClicks(f.composer.edit(), u"x"_s);
    QTest::keyClick(f.composer.edit(), Qt::Key_Up);
    QCOMPARE(edit.size(), 1);
  }

  void tabLeaves() {
    Fixture f;
    f.composer.activateWindow();
    QTRY_VERIFY(f.composer.edit()->hasFocus());
    QTest::keyClick(f.composer.edit(), Qt::Key_Tab);
    QVERIFY(!f.composer.edit()->hasFocus());
    f.composer.focusEdit();
    QTest::keyClick(f.composer.edit(), Qt::Key_Tab, Qt::ControlModifier);
    QCOMPARE(f.composer.text(), u"\t"_s);
  }

  void countsAfterTyping() {
    Fixture f;
    QTest::keyClicks(f.composer.edit(), u"twelve chars"_s);
    QVERIFY(f.label().endsWith(u"…"_s));
    QTRY_COMPARE(f.label(), u"3 tokens, fits · first token in ≈\u00A00.1\u00A0s"_s);
  }

  void tooManyIsSaid() {
    Fixture f;
    f.app.service.nextCount.draftTokens = 1844;
    f.app.service.nextCount.promptTokens = 17906;
    f.app.service.nextCount.answerKept = 1024;
    f.app.service.nextCount.window = 16384;
    f.composer.recount();
    QTRY_VERIFY(f.label().endsWith(u"too many"_s));
    QVERIFY(f.label().contains(u"2\u202F546"_s));
    auto* ring = f.composer.findChild<ContextRing*>(u"contextRing"_s);
    QCOMPARE(ring->percent(), 109);
    QCOMPARE(ring->ink(), Role::ErrorText);
  }

  void ringColours_data() {
    QTest::addColumn<int>("tokens");
    QTest::addColumn<int>("percent");
    QTest::addColumn<int>("ink");
    QTest::newRow("some") << 100 << 10 << static_cast<int>(Role::Accent);
    QTest::newRow("nearly nothing") << 1 << 1 << static_cast<int>(Role::Accent);
    QTest::newRow("80") << 800 << 80 << static_cast<int>(Role::WarnText);
    QTest::newRow("95") << 950 << 95 << static_cast<int>(Role::ErrorText);
    QTest::newRow("not quite full") << 999 << 99 << static_cast<int>(Role::ErrorText);
  }
  void ringColours() {
    QFETCH(int, tokens);
    QFETCH(int, percent);
    QFETCH(int, ink);
    ContextRing ring;
    DraftCount count;
    count.promptTokens = tokens;
    count.window = tokens == 1 ? 1000 : 1000;
    ring.setCount(count);
    QCOMPARE(ring.percent(), percent);
    QCOMPARE(static_cast<int>(ring.ink()), ink);
  }

  void sendAndStopShareOnePlace() {
    Fixture f;
    auto* send = f.composer.findChild<QPushButton*>(u"sendButton"_s);
    auto* stop = f.composer.findChild<QPushButton*>(u"stopButton"_s);
    const QRect before(send->mapTo(&f.composer, QPoint()), send->size());
    f.composer.setRunning(true);
    QVERIFY(stop->isVisible() && !send->isVisible());
    QCOMPARE(QRect(stop->mapTo(&f.composer, QPoint()), stop->size()), before);
  }

  void draftBelongsToItsChat() {
    Fixture f;
    const QString one = f.app.service.list.first().id;
    f.composer.setText(u"unfinished"_s);
    f.composer.setChat(f.app.service.createChat(u"two"_s, {}, {}));
    QCOMPARE(f.composer.text(), QString());
    f.composer.setChat(one);
    QCOMPARE(f.composer.text(), u"unfinished"_s);
  }

  void attachmentsAreChips() {
    Fixture f;
    const QString path = f.app.dir.filePath(u"notes.txt"_s);
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("text") == 4);
    file.close();
    f.composer.addAttachment(path);
    QCOMPARE(f.composer.attachments(), QStringList{path});
    auto* chip = f.composer.findChild<QToolButton*>(u"attachment_notes.txt"_s);
    QVERIFY(chip && chip->accessibleName() == u"Remove notes.txt"_s);
    QTest::mouseClick(chip, Qt::LeftButton);
    QVERIFY(f.composer.attachments().isEmpty());
    QSignalSpy refused(&f.composer, &Composer::refused);
    f.composer.addAttachment(u"/nowhere/x.txt"_s);
    QCOMPARE(refused.size(), 1);
  }
};

QTEST_MAIN(TestComposer)
#include "tst_composer.moc"
