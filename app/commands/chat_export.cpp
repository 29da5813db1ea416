#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "app/commands/chat_transfer.h"
#include "app/format.h"
#include "app/records_convert.h"
#include "storage/chat_store.h"

namespace tg {
namespace {

const char* kStates[] = {"done", "streaming", "interrupted", "stopped", "length", "context_full", "error"};

QJsonObject message_json(const storage::Message& m) {
  QJsonArray ids, files;
  for (const int id : m.generatedIds) ids.append(id);
  for (const storage::Attachment& a : m.attachments) files.append(QJsonObject{{QStringLiteral("name"), a.name}, {QStringLiteral("text"), a.text}});
  return {{QStringLiteral("id"), m.id},           {QStringLiteral("parent"), m.parentId},
          {QStringLiteral("role"), m.role},       {QStringLiteral("text"), m.text},
          {QStringLiteral("thinking"), m.thinkingText}, {QStringLiteral("state"), QLatin1String(kStates[static_cast<int>(m.state)])},
          {QStringLiteral("error"), m.error},     {QStringLiteral("model"), m.modelName},
          {QStringLiteral("created_ms"), m.createdMs}, {QStringLiteral("selected"), m.selected},
          {QStringLiteral("ids"), ids},           {QStringLiteral("attachments"), files}};
}

QString csv_cell(const QJsonValue& v) {
  if (v.isDouble()) return QString::number(v.toDouble(), 'g', 12);
  QString text = v.toString();
  if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')) && !text.contains(QLatin1Char('\n'))) return text;
  return QLatin1Char('"') + text.replace(QLatin1Char('"'), QLatin1String("\"\"")) + QLatin1Char('"');
}

QString quoted(const QString& text) {
  QString out;
  const QStringList lines = text.split(QLatin1Char('\n'));
  for (const QString& line : lines) out += QStringLiteral("> ") + line + QLatin1Char('\n');
  return out;
}

QString figures_line(const storage::Turn& t) {
  const auto number = [](const std::optional<int>& n) { return n ? format::count(*n) : format::unknown(); };
  return QStringLiteral("*in %1 = %2 cached + %3 fresh · out %4 · first %5 · %6*")
      .arg(number(t.inputTotal), number(t.inputCached), number(t.inputFresh), number(t.output), t.ttftMs ? format::measuredTime(*t.ttftMs) : format::unknown(), format::rate(t.decodeTps));
}

// Figures without texts: what stands in a record of words of the chat goes too.
QByteArray figures_json(const storage::ChatBundle& bundle) {
  QJsonArray turns;
  for (const storage::Turn& t : bundle.turns) {
    storage::Turn bare = t;
    bare.miss.was.clear();
    bare.miss.is.clear();
    bare.miss.evictedBy.clear();
    bare.miss.byChat.clear();
    turns.append(from_row(bare, QString(), {}).toJson());
  }
  return QJsonDocument(QJsonObject{{QStringLiteral("turnglass_figures"), 1}, {QStringLiteral("turns"), turns}}).toJson(QJsonDocument::Indented);
}

}  // namespace

QByteArray export_as(storage::ChatBundle bundle, const ExportWish& wish) {
  if (wish.format == QLatin1String("csv")) return export_csv(bundle);
  if (wish.what == QLatin1String("figures")) return figures_json(bundle);
  if (wish.what == QLatin1String("chat")) bundle.turns.clear();
  if (!wish.thinking) {
    for (storage::Message& m : bundle.messages) {
      if (m.thinkingText.isEmpty()) continue;
      m.thinkingText.clear();
      m.generatedIds.clear();
    }
  }
  return wish.format == QLatin1String("md") ? export_markdown(bundle, wish.thinking, wish.what == QLatin1String("both")) : export_json(bundle);
}

QString first_lines(const QByteArray& text, int lines, int longest) {
  QStringList out;
  const QStringList all = QString::fromUtf8(text.left(qsizetype{lines} * longest * 4)).split(QLatin1Char('\n'));
  for (const QString& line : all) {
    if (out.size() == lines) break;
    out << (line.size() > longest ? line.left(longest) + QChar(0x2026) : line);
  }
  return out.join(QLatin1Char('\n'));
}

QByteArray export_json(const storage::ChatBundle& bundle) {
  QJsonArray messages, turns;
  for (const storage::Message& m : bundle.messages) messages.append(message_json(m));
  for (const storage::Turn& t : bundle.turns) turns.append(from_row(t, bundle.chat.title, {}).toJson());
  const QJsonObject chat{{QStringLiteral("title"), bundle.chat.title},
                         {QStringLiteral("model_path"), bundle.chat.modelPath},
                         {QStringLiteral("model"), bundle.chat.modelName},
                         {QStringLiteral("now"), bundle.chat.nowIso},
                         {QStringLiteral("created_ms"), bundle.chat.createdMs},
                         {QStringLiteral("settings"), QJsonDocument::fromJson(bundle.chat.settingsJson.toUtf8()).object()},
                         {QStringLiteral("messages"), messages},
                         {QStringLiteral("turns"), turns}};
  return QJsonDocument(QJsonObject{{QStringLiteral("turnglass"), 1}, {QStringLiteral("chats"), QJsonArray{chat}}}).toJson(QJsonDocument::Compact);
}

QByteArray export_markdown(const storage::ChatBundle& bundle, bool thinking, bool figures) {
  QString out = QStringLiteral("# %1\n").arg(bundle.chat.title);
  const QVector<storage::Message> path = storage::shownPath(bundle.messages);
  for (const storage::Message& m : path) {
    const QString who = m.role == QLatin1String("assistant") ? (m.modelName.isEmpty() ? m.role : m.modelName) : m.role;
    out += QStringLiteral("\n## %1\n\n").arg(who);
    for (const storage::Attachment& a : m.attachments) out += QStringLiteral("*%1*\n\n").arg(a.name);
    if (thinking && !m.thinkingText.isEmpty()) out += quoted(m.thinkingText) + QLatin1Char('\n');
    out += m.text + QLatin1Char('\n');
    const auto turn = std::find_if(bundle.turns.begin(), bundle.turns.end(), [&](const storage::Turn& t) { return t.messageId == m.id; });
    if (figures && turn != bundle.turns.end()) out += QLatin1Char('\n') + figures_line(*turn) + QLatin1Char('\n');
  }
  return out.toUtf8();
}

QByteArray export_csv(const storage::ChatBundle& bundle) {
  static const char* const columns[] = {"turn",       "model",     "input_total", "input_cached", "input_fresh",   "output",   "thinking", "finish_reason",
                                        "ttft_ms",    "prefill_ms", "decode_ms",  "total_ms",     "prefill_tps",   "decode_tps"};
  QStringList head;
  for (const char* c : columns) head << QLatin1String(c);
  QString out = head.join(QLatin1Char(',')) + QStringLiteral(",cache_outcome,cost_pico\n");
  for (const storage::Turn& t : bundle.turns) {
    const QJsonObject record = from_row(t, bundle.chat.title, {}).toJson();
    QStringList cells;
    for (const char* c : columns) cells << csv_cell(record.value(QLatin1String(c)));
    out += cells.join(QLatin1Char(',')) + QLatin1Char(',') + t.cacheOutcome + QLatin1Char(',') + t.costPico + QLatin1Char('\n');
  }
  return out.toUtf8();
}

}  // namespace tg
