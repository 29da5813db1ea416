// The named scripts of the scripted engine.
#include "app/scripted_engine.h"

namespace tg {
namespace {

QString long_answer() {
  QString out = QStringLiteral("# A long answer\n\n");
  for (int i = 1; i <= 120; ++i) {
    out += QStringLiteral("Paragraph %1 says a little more about the same thing, so that there is enough text to scroll through while it is being written.\n\n").arg(i);
    if (i % 20 == 0) out += QStringLiteral("```cpp\nint answer_%1() { return %1; }\n```\n\n").arg(i);
  }
  return out;
}

QStringList plain_answers() {
  return {QStringLiteral("Wednesday was the warmest day: 9 degrees, with fog until ten."),
          QStringLiteral("The wind was light that day:\n\n| day | wind |\n|---|---|\n| Wednesday | east 2 |\n\nOn Thursday it reached **north 7**."),
          QStringLiteral("You can read the log like this:\n\n```python\nfor day in log:\n    print(day.name, day.degrees)\n```\n\nIt prints one line a day.")};
}

}  // namespace

Script Script::named(const QString& name) {
  Script s;
  s.name = name;
  s.answers = plain_answers();
  if (name == QLatin1String("manual")) s.timer = false;
  if (name == QLatin1String("instant")) s.prefillTps = s.decodeTps = 1e6;
  if (name == QLatin1String("slow")) {
    s.prefillTps = 40;
    s.decodeTps = 5;
    s.loadMs = 1500;
  }
  if (name == QLatin1String("long")) {
    s.answers = {long_answer()};
    s.decodeTps = 400;
  }
  if (name == QLatin1String("thinking")) {
    s.thoughts = {QStringLiteral("The log names five days. I compare their degrees: 4, 6, 9, 3 and 1. The largest is 9, which is Wednesday.")};
  }
  if (name == QLatin1String("error")) {
    s.error = QStringLiteral("The device failed.");
    s.errorAfter = 4;
  }
  if (name == QLatin1String("small-window")) {
    s.window = 256;
    s.modelWindow = 512;
  }
  return s;
}

}  // namespace tg
