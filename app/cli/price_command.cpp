#include "app/cli/price_command.h"

#include <QCommandLineParser>
#include <QFile>
#include <QJsonDocument>
#include <cstdio>

#include "app/cost/price_book.h"
#include "app/cost/price_line.h"

namespace {

constexpr int kDone = 0, kRefused = 2;

int refuse(const QString& sentence) {
  std::fprintf(stderr, "%s\n", sentence.toUtf8().constData());
  return kRefused;
}

void print(const QJsonObject& answer) {
  const QByteArray line = QJsonDocument(answer).toJson(QJsonDocument::Compact);
  std::fwrite(line.constData(), 1, static_cast<size_t>(line.size()), stdout);
  std::fputc('\n', stdout);
}

std::optional<QByteArray> contentsOf(const QString& path) {
  QFile file(path);
  const bool opened = path == QStringLiteral("-") ? file.open(stdin, QIODevice::ReadOnly) : file.open(QIODevice::ReadOnly);
  if (!opened) return std::nullopt;
  return file.readAll();
}

void answerBatch(const tg::cost::PriceBook& book, const QByteArray& lines) {
  for (const QByteArray& line : lines.split('\n'))
    if (!line.trimmed().isEmpty()) print(tg::cost::answerLine(book, line));
}

}  // namespace

int price_command(const QStringList& arguments) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral("Prices usage as providers report it, by a dated price book."));
  const QCommandLineOption help = parser.addHelpOption();
  const QCommandLineOption bookFile(QStringLiteral("book"), QStringLiteral("Price book (default: the one inside the program)."), QStringLiteral("FILE"));
  const QCommandLineOption usageFile(QStringLiteral("usage"), QStringLiteral("One request as a JSON object; - reads standard input."), QStringLiteral("FILE"));
  const QCommandLineOption batchFile(QStringLiteral("batch"), QStringLiteral("One JSON object a line; - reads standard input."), QStringLiteral("FILE"));
  const QCommandLineOption json(QStringLiteral("json"), QStringLiteral("JSON is always printed; accepted for uniformity."));
  parser.addOptions({bookFile, usageFile, batchFile, json});
  if (!parser.parse(QStringList{QStringLiteral("turnglass-cli price")} + arguments)) return refuse(parser.errorText());
  if (parser.isSet(help)) {
    std::fputs(parser.helpText().toUtf8().constData(), stdout);
    return kDone;
  }
  if (parser.isSet(usageFile) == parser.isSet(batchFile)) return refuse(QStringLiteral("Give either --usage FILE or --batch FILE."));

  std::optional<tg::cost::PriceBook> own;
  if (parser.isSet(bookFile)) {
    const auto text = contentsOf(parser.value(bookFile));
    if (!text) return refuse(QStringLiteral("The price book %1 cannot be read.").arg(parser.value(bookFile)));
    QString refusal;
    own = tg::cost::PriceBook::read(*text, &refusal);
    if (!own) return refuse(refusal);
  }
  const tg::cost::PriceBook& book = own ? *own : tg::cost::PriceBook::shipped();
  const QString path = parser.value(parser.isSet(usageFile) ? usageFile : batchFile);
  const auto text = contentsOf(path);
  if (!text) return refuse(QStringLiteral("The file %1 cannot be read.").arg(path));
  if (parser.isSet(batchFile)) {
    answerBatch(book, *text);
    return kDone;
  }
  const QJsonObject answer = tg::cost::answerLine(book, *text);
  if (answer.value(QStringLiteral("error")) == QStringLiteral("bad_line")) return refuse(QStringLiteral("The file %1 is not one JSON object.").arg(path));
  print(answer);
  return kDone;
}
