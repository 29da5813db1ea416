#include "app/cli/layout_command.h"

#include <QCommandLineParser>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <cstdio>
#include <functional>

#include "app/lab/lint_line.h"
#include "app/lab/simulate_line.h"

namespace {

constexpr int kDone = 0, kRefused = 2;

int refuse(const QString& sentence) {
  std::fprintf(stderr, "%s\n", sentence.toUtf8().constData());
  return kRefused;
}

std::optional<QByteArray> contentsOf(const QString& path) {
  QFile file(path);
  const bool opened = path == QStringLiteral("-") ? file.open(stdin, QIODevice::ReadOnly) : file.open(QIODevice::ReadOnly);
  if (!opened) return std::nullopt;
  return file.readAll();
}

void print(const QJsonDocument& document) {
  const QByteArray out = document.toJson(QJsonDocument::Compact) + '\n';
  std::fwrite(out.constData(), 1, static_cast<size_t>(out.size()), stdout);
}

int answerLines(const QString& path, const std::function<QJsonObject(const QByteArray&)>& answer) {
  const auto text = contentsOf(path);
  if (!text) return refuse(QStringLiteral("The file %1 cannot be read.").arg(path));
  for (const QByteArray& line : text->split('\n'))
    if (!line.trimmed().isEmpty()) print(QJsonDocument(answer(line)));
  return kDone;
}

// A file the user named, or the one inside the program; REFUSAL is set when neither serves.
template <class T>
std::optional<T> fileOrShipped(const QString& path, QString* refusal) {
  if (path.isEmpty()) return T::shipped();
  const auto text = contentsOf(path);
  if (text) return T::read(*text, refusal);
  *refusal = QStringLiteral("The file %1 cannot be read.").arg(path);
  return std::nullopt;
}

}  // namespace

int layout_command(const QStringList& arguments) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral("Applies hosted prompt-cache rules to request sequences."));
  const QCommandLineOption help = parser.addHelpOption();
  const QCommandLineOption rulesFile(QStringLiteral("rules"), QStringLiteral("Cache rules (default: those inside the program)."), QStringLiteral("FILE"));
  const QCommandLineOption bookFile(QStringLiteral("book"), QStringLiteral("Price book (default: the one inside the program)."), QStringLiteral("FILE"));
  const QCommandLineOption batchFile(QStringLiteral("batch"), QStringLiteral("One JSON object a line; - reads standard input."), QStringLiteral("FILE"));
  const QCommandLineOption text(QStringLiteral("text"), QStringLiteral("lint: the head of a prompt, for example its system text."), QStringLiteral("TEXT"));
  const QCommandLineOption json(QStringLiteral("json"), QStringLiteral("JSON is always printed; accepted for uniformity."));
  parser.addOptions({rulesFile, bookFile, batchFile, text, json});
  parser.addPositionalArgument(QStringLiteral("action"), QStringLiteral("simulate or lint"));
  if (!parser.parse(QStringList{QStringLiteral("turnglass-cli layout")} + arguments)) return refuse(parser.errorText());
  if (parser.isSet(help)) {
    std::fputs(parser.helpText().toUtf8().constData(), stdout);
    return kDone;
  }
  const QString action = parser.positionalArguments().join(QLatin1Char(' '));
  const bool lint = action == QStringLiteral("lint");
  if (!lint && action != QStringLiteral("simulate")) return refuse(QStringLiteral("Say what to do: layout simulate or layout lint."));
  if (lint && parser.isSet(text)) {
    print(QJsonDocument(tg::lab::lintText(parser.value(text))));
    return kDone;
  }
  if (!parser.isSet(batchFile)) return refuse(QStringLiteral("Give --batch FILE."));
  QString refusal;
  const auto rules = fileOrShipped<tg::cost::CacheRules>(parser.value(rulesFile), &refusal);
  if (!rules) return refuse(refusal);
  if (lint) return answerLines(parser.value(batchFile), [&](const QByteArray& line) { return tg::lab::lintLine(*rules, line); });
  const auto book = fileOrShipped<tg::cost::PriceBook>(parser.value(bookFile), &refusal);
  if (!book) return refuse(refusal);
  return answerLines(parser.value(batchFile), [&](const QByteArray& line) { return tg::lab::simulateLine(*rules, *book, line); });
}
