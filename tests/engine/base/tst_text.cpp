// UTF-8 of untrusted bytes.
#include <QtTest>

#include "engine/base/text.h"

using namespace tg;
using namespace std::string_literals;

class TestText : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void decodesAsQtDoes() {
    const QString text = QStringLiteral("aé漢😀\u2028");
    const std::string bytes = text.toStdString();
    QList<uint> code_points;
    for (std::size_t at = 0; at < bytes.size();) {
      const CodePoint c = decode_utf8(bytes, at);
      QVERIFY(c.valid);
      code_points << c.value;
      at += c.length;
    }
    QCOMPARE(code_points, text.toUcs4());
  }
  void refusesWhatIsNoUtf8_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("lone continuation") << QByteArray("\x80");
    QTest::newRow("overlong slash") << QByteArray("\xC0\xAF");
    QTest::newRow("overlong three bytes") << QByteArray("\xE0\x80\xAF");
    QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80");
    QTest::newRow("above U+10FFFF") << QByteArray("\xF4\x90\x80\x80");
    QTest::newRow("cut short") << QByteArray("\xE6\xBC");
    QTest::newRow("no lead byte") << QByteArray("\xFF");
  }
  void refusesWhatIsNoUtf8() {
    QFETCH(QByteArray, bytes);
    const CodePoint c = decode_utf8({bytes.constData(), static_cast<std::size_t>(bytes.size())}, 0);
    QVERIFY(!c.valid);
    QCOMPARE(c.length, 1U);
  }
  void encodesWhatItDecodes() {
    for (const std::uint32_t value : {0x24U, 0xA2U, 0x20ACU, 0x10348U}) {
      std::string out;
      append_utf8(out, value);
      QCOMPARE(decode_utf8(out, 0).value, value);
    }
  }
  void messagesShowPrintableTextOnly() {
    QCOMPARE(printable("plain é 漢"), "plain é 漢"s);
    QCOMPARE(printable("a\nb\x1B[31m"), "a\\x0Ab\\x1B[31m"s);
    QCOMPARE(printable("\xFF\xE2\x80\xAE!"), "\\xFF\\xE2\\x80\\xAE!"s);  // a lone byte, a right-to-left override
    QCOMPARE(printable(std::string(100, 'x'), 5), "xxxxx..."s);
  }
};

QTEST_APPLESS_MAIN(TestText)
#include "tst_text.moc"
