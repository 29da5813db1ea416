#include "app/cli/console.h"

#include <cstdio>

namespace tg::console {
namespace {

constexpr qsizetype kLongestSentence = 300;

QByteArray printable(const QString& sentence) {
  QString out;
  for (const QChar c : sentence.left(kLongestSentence)) out += c.isPrint() ? c : QLatin1Char(' ');
  return out.simplified().toUtf8();
}

}  // namespace

void line(const QByteArray& text) {
  std::fwrite(text.constData(), 1, static_cast<std::size_t>(text.size()), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

void json(const nlohmann::ordered_json& object) {
  line(QByteArray::fromStdString(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)));
}

int refuse(const QString& sentence, int exit) {
  std::fprintf(stderr, "%s\n", printable(sentence).constData());
  return exit;
}

CommandOutput output(std::function<void(int)> exit) {
  return {line, [](const QByteArray& text) { refuse(QString::fromUtf8(text)); }, std::move(exit)};
}

}  // namespace tg::console
