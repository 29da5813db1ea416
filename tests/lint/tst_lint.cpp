// Rules of the house that a compiler does not check. A failure names the file and says what to do.
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

namespace {

constexpr int kMaxFileLines = 500, kMaxFunctionLines = 100, kReportFileLines = 300, kReportFunctionLines = 80;

struct Source { QString path; QStringList lines; };  // path from the repository root

bool isData(const QString& path) { return path.contains(QLatin1String("_tables.")) || path.endsWith(QLatin1String(".inc")); }

QVector<Source> sourcesBelow(const QStringList& folders) {
  QVector<Source> all;
  const QDir top(QStringLiteral(TG_SOURCE_DIR));
  for (const QString& folder : folders) {
    QDirIterator it(top.filePath(folder), {QStringLiteral("*.h"), QStringLiteral("*.cpp"), QStringLiteral("*.cu"), QStringLiteral("*.cuh"), QStringLiteral("*.inc")},
                    QDir::Files, QDirIterator::Subdirectories);
    while (it.hasNext()) {
      QFile file(it.next());
      if (file.open(QIODevice::ReadOnly)) all.append({top.relativeFilePath(file.fileName()), QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'))});
    }
  }
  return all;
}

// What a folder may include of ours. Everything else is a wrong arrow (DESIGN: views -> app -> {engine, storage}; storage knows no engine).
QStringList allowedPrefixes(const QString& path) {
  const auto in = [&](const char* folder) { return path.startsWith(QLatin1String(folder)); };
  if (in("engine/")) return {QStringLiteral("engine/")};
  if (in("storage/")) return {QStringLiteral("storage/")};
  if (in("app/")) return {QStringLiteral("app/"), QStringLiteral("engine/"), QStringLiteral("storage/")};
  if (in("views/")) return {QStringLiteral("views/"), QStringLiteral("app/")};
  return {QStringLiteral("engine/"), QStringLiteral("storage/"), QStringLiteral("app/"), QStringLiteral("views/"), QStringLiteral("tests/")};
}

// The line without string literals and comments, so that braces in texts do not count.
QString codeOf(QString line) {
  static const QRegularExpression literals(QStringLiteral("\"(\\\\.|[^\"\\\\])*\"|'(\\\\.|[^'\\\\])*'|//.*$"));
  return line.remove(literals);
}

struct Function { QString name; int firstLine = 0, lines = 0; };

// Outermost functions by brace counting: a block that opens after a parameter list and is not a type, a namespace or an initialiser.
QVector<Function> functionsOf(const Source& source) {
  static const QRegularExpression opens(QStringLiteral(R"(\)\s*(const|noexcept|override|final|mutable|->.*|:.*)?\s*(const|override|noexcept|\s)*\{\s*$)"));
  static const QRegularExpression control(QStringLiteral(R"(^\s*(if|for|while|switch|catch|else|do|return|struct|class|enum|namespace|union)\b)"));
  static const QRegularExpression rawStart(QStringLiteral("(^|[^A-Za-z0-9_])R\""));  // and not the end of "EUR"
  QVector<Function> found;
  int depth = 0, functionDepth = -1;
  bool inRaw = false;
  Function current;
  for (int i = 0; i < source.lines.size(); ++i) {
    const QString& text = source.lines[i];
    if (inRaw) { inRaw = !text.contains(QLatin1String(")\"")) && !text.contains(QLatin1String(")json\"")); continue; }
    if (text.contains(rawStart) && !text.contains(QLatin1String(")\"")) && !text.contains(QLatin1String(")re\""))) { inRaw = true; continue; }
    const QString code = codeOf(text);
    if (functionDepth < 0 && code.contains(opens) && !code.contains(control)) {
      current = {code.trimmed().left(60), i + 1, 0};
      functionDepth = depth;
    }
    depth += int(code.count(QLatin1Char('{')) - code.count(QLatin1Char('}')));
    if (functionDepth >= 0 && depth <= functionDepth) {
      current.lines = i + 2 - current.firstLine;
      found.append(current);
      functionDepth = -1;
    }
  }
  return found;
}

const QStringList kProduct = {QStringLiteral("engine"), QStringLiteral("storage"), QStringLiteral("app"), QStringLiteral("views")};
const QStringList kAll = kProduct + QStringList{QStringLiteral("tests")};

}  // namespace

class LintTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void includesFollowTheArrows() {
    static const QRegularExpression include(QStringLiteral("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]"));
    static const QRegularExpression ours(QStringLiteral(R"(^(engine|storage|app|views|tests)/)"));
    QStringList wrong;
    for (const Source& source : sourcesBelow(kAll)) {
      const QStringList allowed = allowedPrefixes(source.path);
      for (const QString& line : source.lines) {
        const auto match = include.match(line);
        if (!match.hasMatch()) continue;
        const QString header = match.captured(1);
        const bool isOurs = header.contains(ours);
        if (isOurs && std::none_of(allowed.begin(), allowed.end(), [&](const QString& p) { return header.startsWith(p); })) wrong.append(source.path + QStringLiteral(" includes ") + header);
        if (source.path.startsWith(QLatin1String("engine/")) && header.startsWith(QLatin1Char('Q'))) wrong.append(source.path + QStringLiteral(" includes Qt: ") + header);
      }
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(QStringLiteral("Move the code or pass what it needs through the layer between:\n") + wrong.join(QLatin1Char('\n'))));
  }

  void filesAndFunctionsAreShort() {
    QStringList tooLong;
    for (const Source& source : sourcesBelow(kAll)) {
      if (isData(source.path)) continue;
      const int lines = int(source.lines.size());
      if (lines > kMaxFileLines) tooLong.append(QStringLiteral("%1: %2 lines").arg(source.path).arg(lines));
      else if (lines > kReportFileLines) qInfo("long file: %s (%d lines)", qPrintable(source.path), lines);
      for (const Function& f : functionsOf(source)) {
        if (f.lines > kMaxFunctionLines) tooLong.append(QStringLiteral("%1:%2 %3: %4 lines").arg(source.path).arg(f.firstLine).arg(f.name).arg(f.lines));
        else if (f.lines > kReportFunctionLines) qInfo("long function: %s:%d %s (%d lines)", qPrintable(source.path), f.firstLine, qPrintable(f.name), f.lines);
      }
    }
    QVERIFY2(tooLong.isEmpty(), qPrintable(QStringLiteral("Split by responsibility (files over 500 lines, functions over 100):\n") + tooLong.join(QLatin1Char('\n'))));
  }

  void testsWaitForSignals() {
    static const QRegularExpression waits(QStringLiteral(R"(QTest::q(Wait|Sleep)\(|sleep_for\(|\busleep\(|\bsleep\(\d)"));
    QStringList wrong;
    for (const Source& source : sourcesBelow({QStringLiteral("tests")})) {
      if (source.path.startsWith(QLatin1String("tests/lint/"))) continue;
      for (int i = 0; i < source.lines.size(); ++i)
        if (source.lines[i].contains(waits)) wrong.append(QStringLiteral("%1:%2").arg(source.path).arg(i + 1));
    }
    QVERIFY2(wrong.isEmpty(), qPrintable(QStringLiteral("Wait for what is meant to happen (QSignalSpy, QTRY_VERIFY), not for time:\n") + wrong.join(QLatin1Char('\n'))));
  }

  void noPathsOfOneMachine() {
    static const QRegularExpression path(QStringLiteral("\"/(home|work|root)/"));
    QStringList wrong;
    for (const Source& source : sourcesBelow(kAll))
      for (int i = 0; i < source.lines.size(); ++i)
        if (!source.path.startsWith(QLatin1String("tests/lint/")) && source.lines[i].contains(path)) wrong.append(QStringLiteral("%1:%2").arg(source.path).arg(i + 1));
    QVERIFY2(wrong.isEmpty(), qPrintable(QStringLiteral("A path of one machine works nowhere else:\n") + wrong.join(QLatin1Char('\n'))));
  }

  void windowTextsAreTranslatable() {
    // Setters of visible text that get a bare literal. Object names, CSS and icon names go through other calls.
    static const QRegularExpression bare(QStringLiteral("(setText|setToolTip|setWindowTitle|setPlaceholderText|setAccessibleName|addAction|addMenu)\\(\\s*(QStringLiteral|QLatin1String|u?)\\(?\"[A-Za-z]"));
    QStringList wrong;
    for (const Source& source : sourcesBelow({QStringLiteral("views")}))
      for (int i = 0; i < source.lines.size(); ++i)
        if (source.lines[i].contains(bare)) wrong.append(QStringLiteral("%1:%2 %3").arg(source.path).arg(i + 1).arg(source.lines[i].trimmed().left(80)));
    QVERIFY2(wrong.isEmpty(), qPrintable(QStringLiteral("Texts a person reads go through tr():\n") + wrong.join(QLatin1Char('\n'))));
  }

  void topLevelIsFixed() {
    const QStringList wanted = {QStringLiteral("CMakeLists.txt"), QStringLiteral("CMakePresets.json"), QStringLiteral("LICENSE"), QStringLiteral("README.md"), QStringLiteral("app"),
                                QStringLiteral("engine"), QStringLiteral("installer"), QStringLiteral("resources"), QStringLiteral("storage"), QStringLiteral("tests"), QStringLiteral("views")};
    QStringList entries = QDir(QStringLiteral(TG_SOURCE_DIR)).entryList(QDir::AllEntries | QDir::NoDotAndDotDot, QDir::Name);
    entries.removeAll(QStringLiteral("build"));
    for (const QString& entry : std::as_const(entries)) QVERIFY2(wanted.contains(entry), qPrintable(entry + QStringLiteral(" does not belong on the top level.")));
  }
};

QTEST_GUILESS_MAIN(LintTest)
#include "tst_lint.moc"
