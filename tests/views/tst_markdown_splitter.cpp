// Blocks of growing Markdown: where they end, that nothing is lost, that any way of cutting the stream gives the same blocks.
#include <QTest>

#include "views/transcript/markdown_splitter.h"

using namespace tg;
using namespace Qt::StringLiterals;

namespace {

QString shape(const QVector<MarkdownBlock>& blocks) {
  QString s;
  for (const MarkdownBlock& b : blocks) s += b.kind == MarkdownBlock::Code ? u'C' : b.kind == MarkdownBlock::Table ? u'T' : b.kind == MarkdownBlock::Plain ? u'P' : u't';
  return s;
}

QString together(const QVector<MarkdownBlock>& blocks) {
  QString s;
  for (const MarkdownBlock& b : blocks) s += b.gap + b.source;
  return s;
}

QVector<MarkdownBlock> inPieces(const QString& text, int size) {
  MarkdownSplitter splitter;
  QVector<MarkdownBlock> all;
  for (qsizetype at = 0; at < text.size(); at += size) {
    splitter.append(QStringView(text).mid(at, size));
    all += splitter.takeFinished();
    splitter.tail();  // asking changes nothing
  }
  splitter.finish();
  return all + splitter.takeFinished();
}

}  // namespace

class TestMarkdownSplitter : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void blocks_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("kinds");
    QTest::newRow("empty") << u""_s << u""_s;
    QTest::newRow("one line") << u"hello"_s << u"t"_s;
    QTest::newRow("two paragraphs") << u"a\nb\n\nc"_s << u"tt"_s;
    QTest::newRow("fence") << u"text\n\n```cpp\nint a;\n\nint b;\n```\n\nmore"_s << u"tCt"_s;
    QTest::newRow("fence right after text") << u"text\n```\nx\n```\nmore"_s << u"tCt"_s;
    QTest::newRow("tilde fence holds back ticks") << u"~~~\n```\nx\n```\n~~~"_s << u"C"_s;
    QTest::newRow("longer fence") << u"````\n```\n````\nend"_s << u"Ct"_s;
    QTest::newRow("open fence") << u"```py\nprint(1)\n\nprint(2)"_s << u"C"_s;
    QTest::newRow("list with gaps stays one") << u"- a\n\n- b\n\n  more of b\n\nend"_s << u"tt"_s;
    QTest::newRow("numbered") << u"1. a\n2. b\n\n3. c"_s << u"t"_s;
    QTest::newRow("fence in a list") << u"- a\n\n  ```\n  x\n  ```\n\n- b"_s << u"t"_s;
    QTest::newRow("quote") << u"> a\n>\n> b\n\nc"_s << u"tt"_s;
    QTest::newRow("table") << u"| a | b |\n|---|---|\n| 1 | 2 |\n\nend"_s << u"Tt"_s;
    QTest::newRow("table then text") << u"| a | b |\n|---|---|\n| 1 | 2 |\nend"_s << u"Tt"_s;
    QTest::newRow("heading") << u"# one\ntext\n## two\ntext"_s << u"tttt"_s;
    QTest::newRow("rule of dashes is no table") << u"a\n---\nb"_s << u"t"_s;
    QTest::newRow("crlf") << u"a\r\n\r\nb\r\n"_s << u"tt"_s;
  }
  void blocks() {
    QFETCH(QString, text);
    QFETCH(QString, kinds);
    const QVector<MarkdownBlock> whole = MarkdownSplitter::split(text);
    QCOMPARE(shape(whole), kinds);
    QString kept = text;
    while (kept.endsWith(u'\n') || kept.endsWith(u'\r')) kept.chop(1);
    QString again = together(whole);
    while (again.endsWith(u'\n') || again.endsWith(u'\r')) again.chop(1);
    QCOMPARE(again, kept);
    for (int size : {1, 2, 3, 7, 64}) QCOMPARE(inPieces(text, size), whole);
  }

  void codeKeepsTabsAndLanguage() {
    const auto blocks = MarkdownSplitter::split(u"```make -j\nall:\n\techo\t1\n\n```"_s);
    QCOMPARE(blocks.size(), 1);
    QCOMPARE(blocks[0].language, u"make"_s);
    QCOMPARE(blocks[0].text, u"all:\n\techo\t1\n"_s);
  }

  void tailIsWhatIsOpen() {
    MarkdownSplitter splitter;
    splitter.append(u"done\n\n```py\na = 1\nb");
    const auto finished = splitter.takeFinished();
    QCOMPARE(finished.size(), 1);
    const MarkdownBlock tail = splitter.tail();
    QCOMPARE(tail.kind, MarkdownBlock::Code);
    QCOMPARE(tail.text, u"a = 1\nb"_s);
    splitter.append(u" = 2\n```\n");
    QCOMPARE(splitter.takeFinished().first().text, u"a = 1\nb = 2"_s);
    QVERIFY(splitter.tail().source.isEmpty());
  }

  void hugeBlocksBecomePlain() {
    const QString row = u"| a | b |\n"_s;
    const QString text = u"| a | b |\n|---|---|\n"_s + row.repeated(20000);
    const auto blocks = MarkdownSplitter::split(text);
    for (const MarkdownBlock& b : blocks) QVERIFY(b.source.size() <= MarkdownSplitter::kLongest + 200);
    const auto line = MarkdownSplitter::split(QString(200000, u'x'));
    QCOMPARE(shape(line), u"P"_s);
  }

  // Any text at all: never lost, never stuck, independent of how it arrives.
  void randomTextIsKept() {
    const QStringList parts{u"```"_s, u"~~~"_s, u"\n"_s, u"\n\n"_s, u"- "_s, u"1. "_s, u"> "_s, u"|"_s, u"---"_s, u"# "_s, u" "_s, u"word"_s, u"\t"_s, u"`"_s, u"\u00e9"_s};
    quint32 seed = 7;
    const auto next = [&seed](int n) {
      seed = seed * 1664525u + 1013904223u;
      return static_cast<int>((seed >> 8) % static_cast<quint32>(n));
    };
    for (int round = 0; round < 300; ++round) {
      QString text;
      for (int i = next(40); i >= 0; --i) text += parts[next(static_cast<int>(parts.size()))];
      const auto whole = MarkdownSplitter::split(text);
      QCOMPARE(inPieces(text, 1 + next(5)), whole);
      QVERIFY2(text.startsWith(together(whole)), qPrintable(text));
    }
  }
};

QTEST_GUILESS_MAIN(TestMarkdownSplitter)
#include "tst_markdown_splitter.moc"
