// Rows of the transcript, streaming into them, the reader's place, selection over rows, copying exactly.
#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include "tests/support/picture_chats.h"
#include "views/transcript/transcript_view.h"

using namespace tg;
using namespace Qt::StringLiterals;

namespace {

LiveTurn writing(const QString& id, const QString& text) {
  LiveTurn t;
  t.messageId = id;
  t.state = TurnState::Writing;
  t.text = text;
  t.readTotal = 100;
  t.readDone = 100;
  t.output = static_cast<int>(text.size() / 4);
  t.writeTps = 30;
  return t;
}

QString kinds(const TranscriptModel& m) {
  const QString letters = u"HTCBthNF"_s;  // head text code table thinking attachment notice footer
  QString s;
  for (int i = 0; i < m.rowCount(); ++i) s += letters[static_cast<int>(m.row(i).kind)];
  return s;
}

MessageInfo pending(const QString& id) {
  MessageInfo m = fake::pictureMessage(id, "assistant", {});
  m.state = TurnState::Queued;
  return m;
}

const QString kAnswer = u"First *one*.\n\n```cpp\nint\tmain() {\n\treturn 0;\n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nLast."_s;

struct Fixture {
  TranscriptModel model;
  QAbstractItemModelTester tester{&model, QAbstractItemModelTester::FailureReportingMode::QtTest};
  TranscriptView view{&model};
  Fixture() {
    view.resize(760, 500);
    view.show();
  }
  void fill(int turns) {
    QVector<MessageInfo> all;
    for (int i = 0; i < turns; ++i) {
      all << fake::pictureMessage(u"u%1"_s.arg(i), "user", u"Question %1\nwith\ttab"_s.arg(i));
      all << fake::pictureMessage(u"a%1"_s.arg(i), "assistant", kAnswer, fake::pictureRecord(i + 1, 100, 50, 20, 0, 100, 30, "1"));
    }
    model.setMessages(all);
  }
};

}  // namespace

class TestTranscript : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void rowsOfAMessage() {
    Fixture f;
    f.fill(1);
    QCOMPARE(kinds(f.model), u"HTHTCBTF"_s);
    QCOMPARE(f.model.row(4).text, u"int\tmain() {\n\treturn 0;\n}"_s);
    QVERIFY(f.model.data(f.model.index(7), Qt::DisplayRole).toString().startsWith(u"in 100 = 50 cached + 50 fresh"_s));
    QVERIFY(f.model.data(f.model.index(7), Qt::AccessibleTextRole).toString().startsWith(u"Turn 1. Read 100 tokens"_s));
    QCOMPARE(f.model.data(f.model.index(3), Qt::AccessibleTextRole).toString(), u"Qwen3 8B: First *one*."_s);
    QCOMPARE(f.model.source(3, 6), kAnswer);
  }

  void streamingGivesTheSameRowsAsTheWhole() {
    for (int step : {1, 3, 10}) {
      Fixture f;
      f.model.setMessages({fake::pictureMessage(u"u"_s, "user", u"go"_s)});
      f.model.addMessage(pending(u"a"_s));
      for (qsizetype n = 0; n < kAnswer.size(); n += step) f.model.updateLive(writing(u"a"_s, kAnswer.left(n)), n % 4 == 0);
      f.model.updateLive(writing(u"a"_s, kAnswer), true);
      QCOMPARE(kinds(f.model), u"HTHTCBTF"_s);
      f.model.changeMessage(fake::pictureMessage(u"a"_s, "assistant", kAnswer, fake::pictureRecord(1, 100, 50, 20, 0, 100, 30, "1")));
      f.model.endLive();
      QCOMPARE(kinds(f.model), u"HTHTCBTF"_s);
      QCOMPARE(f.model.source(3, 6), kAnswer);
      QVERIFY(!f.model.row(7).live);
    }
  }

  void finishedRowsStayWhileStreaming() {
    Fixture f;
    f.model.addMessage(pending(u"a"_s));
    f.model.updateLive(writing(u"a"_s, u"One.\n\nTwo"_s), true);
    QSignalSpy changed(&f.model, &QAbstractItemModel::dataChanged), removed(&f.model, &QAbstractItemModel::rowsRemoved);
    f.model.updateLive(writing(u"a"_s, u"One.\n\nTwo and more"_s), false);
    QCOMPARE(changed.size(), 1);
    QCOMPARE(changed[0][0].value<QModelIndex>().row(), 2);
    QCOMPARE(removed.size(), 0);
  }

  void thinkingIsOneClosedRow() {
    Fixture f;
    f.model.addMessage(pending(u"a"_s));
    LiveTurn t = writing(u"a"_s, {});
    t.thinkingText = u"Let me see"_s;
    t.thinking = 96;
    f.model.updateLive(t, true);
    QCOMPARE(kinds(f.model), u"HtF"_s);
    QCOMPARE(f.model.data(f.model.index(1), Qt::DisplayRole).toString(), u"Thinking … 96 tokens"_s);
    QVERIFY(!f.view.rows()->hasDocument(1));
    f.view.setCurrentIndex(f.model.index(1));
    QTest::keyClick(&f.view, Qt::Key_Right);
    QVERIFY(f.model.row(1).isOpen && f.view.rows()->hasDocument(1));
    QTest::keyClick(&f.view, Qt::Key_Left);
    QVERIFY(!f.model.row(1).isOpen);
  }

  void opensAtTheEndAndFollows() {
    Fixture f;
    f.fill(20);
    QScrollBar* bar = f.view.verticalScrollBar();
    QVERIFY(bar->maximum() > 0);
    QCOMPARE(bar->value(), bar->maximum());
    f.model.addMessage(pending(u"new"_s));
    for (int i = 1; i < 60; ++i) f.model.updateLive(writing(u"new"_s, u"Line of text. "_s.repeated(i * 3)), i % 4 == 0);
    QCOMPARE(bar->value(), bar->maximum());
    QVERIFY(f.view.isAtEnd());
  }

  void readersPlaceIsKept() {
    Fixture f;
    f.fill(20);
    f.model.addMessage(pending(u"new"_s));
    f.view.verticalScrollBar()->setValue(f.view.verticalScrollBar()->maximum() / 2);
    QSignalSpy away(&f.view, &TranscriptView::awayFromEnd);
    const QModelIndex top = f.view.indexAt({10, 5});
    const QRect before = f.view.visualRect(top);
    for (int i = 1; i < 60; ++i) f.model.updateLive(writing(u"new"_s, u"Line of text.\n\n"_s.repeated(i)), i % 4 == 0);
    QCOMPARE(f.view.indexAt({10, 5}), top);
    QCOMPARE(f.view.visualRect(top), before);
    QVERIFY(!f.view.isAtEnd());
    QVERIFY(away.last()[0].toBool() && away.last()[1].toBool());
    f.view.scrollToEnd();
    QCOMPARE(f.view.verticalScrollBar()->value(), f.view.verticalScrollBar()->maximum());
  }

  void resizeKeepsTheTopRow() {
    Fixture f;
    f.fill(30);
    f.view.verticalScrollBar()->setValue(f.view.verticalScrollBar()->maximum() / 3);
    const int top = f.view.indexAt({10, 2}).row();
    f.view.resize(500, 500);
    QCOMPARE(f.view.indexAt({10, 2}).row(), top);
  }

  void rowsDoNotOverlap() {
    Fixture f;
    f.fill(5);
    int y = f.view.visualRect(f.model.index(0)).top();
    for (int i = 0; i < f.model.rowCount(); ++i) {
      QCOMPARE(f.view.visualRect(f.model.index(i)).top(), y);
      y += f.view.visualRect(f.model.index(i)).height();
    }
  }

  void selectionOverRowsCopiesTheSource() {
    Fixture f;
    f.fill(1);
    const QRect first = f.view.visualRect(f.model.index(3)), last = f.view.visualRect(f.model.index(6));
    f.view.verticalScrollBar()->setValue(0);
    const QRect a = f.view.visualRect(f.model.index(3)), b = f.view.visualRect(f.model.index(6));
    QVERIFY(first.isValid() && last.isValid());
    QTest::mousePress(f.view.viewport(), Qt::LeftButton, {}, {2, a.top() + 1});
    QMouseEvent move(QEvent::MouseMove, QPointF(755, b.bottom() - 1), f.view.viewport()->mapToGlobal(QPointF(755, b.bottom() - 1)), Qt::NoButton, Qt::LeftButton, {});
    QApplication::sendEvent(f.view.viewport(), &move);
    QTest::mouseRelease(f.view.viewport(), Qt::LeftButton, {}, {755, b.bottom() - 1});
    QCOMPARE(f.view.selectedSource(), kAnswer);
    QTest::keyClick(&f.view, Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text(), kAnswer);
  }

  void codeIsCopiedExactly() {
    Fixture f;
    f.fill(1);
    f.view.verticalScrollBar()->setValue(0);
    QSignalSpy copied(&f.view, &TranscriptView::codeCopied);
    const QRect row = f.view.visualRect(f.model.index(4));
    const QPointF copy = f.view.rows()->boxes(4, f.view.viewport()->width()).copy.center();
    QTest::mouseClick(f.view.viewport(), Qt::LeftButton, {}, row.topLeft() + copy.toPoint());
    QCOMPARE(copied.size(), 1);
    QCOMPARE(QApplication::clipboard()->text(), u"int\tmain() {\n\treturn 0;\n}"_s);
  }

  void everythingSelected() {
    Fixture f;
    f.fill(2);
    QTest::keyClick(&f.view, Qt::Key_A, Qt::ControlModifier);
    QCOMPARE(f.view.selectedSource(), u"Question 0\nwith\ttab\n\n%1\n\nQuestion 1\nwith\ttab\n\n%1"_s.arg(kAnswer));
  }

  void findCountsAndShows() {
    Fixture f;
    f.fill(10);
    QCOMPARE(f.view.find(u"question"_s), 10);
    f.view.showHit(0);
    QVERIFY(f.view.viewport()->rect().intersects(f.view.visualRect(f.model.index(1))));
    QCOMPARE(f.view.find(u"nothing like it"_s), 0);
  }

  void picturesAreNeverLoaded() {
    Fixture f;
    f.model.setMessages({fake::pictureMessage(u"a"_s, "assistant", u"![x](file:///etc/hostname) and <img src='file:///etc/hostname'>"_s)});
    const QString text = f.view.rows()->document(1, 700)->toPlainText();
    QVERIFY(text.contains(u"x and <img src="_s));
    QVERIFY(!text.contains(QChar::ObjectReplacementCharacter));
  }

  void texKeepsItsBackslash() {
    Fixture f;
    f.model.setMessages({fake::pictureMessage(u"a"_s, "assistant", u"so \\(x+1\\) holds"_s)});
    QCOMPARE(f.view.rows()->document(1, 700)->toPlainText(), u"so \\(x+1\\) holds"_s);
  }

  void geometry() {
    RowGeometry g;
    g.reset(3);
    for (int i = 0; i < 3; ++i) g.set(i, 10 * (i + 1), true);
    QCOMPARE(g.total(), 60);
    QCOMPARE(g.rowAt(0), 0);
    QCOMPARE(g.rowAt(10), 1);
    QCOMPARE(g.rowAt(59), 2);
    QCOMPARE(g.rowAt(500), 2);
    g.insert(1, 1);
    g.set(1, 5, true);
    QCOMPARE(g.top(2), 15);
    g.remove(0, 1);
    QCOMPARE(g.total(), 55);
    QCOMPARE(g.rowAt(4), 0);
  }
};

QTEST_MAIN(TestTranscript)
#include "tst_transcript.moc"
