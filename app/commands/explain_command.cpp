#include "app/commands/explain_command.h"

#include "app/error_words.h"
#include "app/explain.h"
#include "app/records_convert.h"
#include "app/turn_record_json.h"

namespace tg {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Explain", text); }

Json text_or_null(const QString& text) { return text.isEmpty() ? Json(nullptr) : Json(text.toStdString()); }

Json json_of(const Explanation& explanation, const TurnRecord& record) {
  Json parts = Json::array(), levers = Json::array();
  for (const ExplainPart& p : explanation.parts) {
    Json part{{"id", p.id.toStdString()}, {"title", p.title.toStdString()}, {"sentences", Json::array()}, {"figures", Json::array()}};
    for (const QString& s : p.sentences) part["sentences"].push_back(s.toStdString());
    for (const ExplainFigure& f : p.figures) part["figures"].push_back({{"name", f.name.toStdString()}, {"value", f.value.toStdString()}});
    parts.push_back(part);
  }
  for (const ExplainLever& l : explanation.levers) levers.push_back({{"lever", l.lever.toStdString()}, {"effect", l.effect.toStdString()}});
  Json out{{"parts", parts}, {"faster", explanation.faster.toStdString()}, {"levers", levers}};
  out["left_out"] = text_or_null(explanation.leftOut);
  out["limits"] = text_or_null(explanation.limits);
  out["record"] = to_ordered_json(record);
  return out;
}

}  // namespace

void explain_command(ApplicationImpl& app, const ProfileCommand& c) {
  const QString id = c.value("turn");
  if (id.isEmpty()) return c.fail(tr("Say which turn: --turn takes the message_id of its record."), 2);
  app.store().run([id](storage::ChatStore& store) { return store.turn(id); }).then(&app, [&app, c, id](const storage::Outcome<std::optional<storage::Turn>>& row) {
    if (!row) return c.fail(words::sentence(row.failure(), false), 1);
    if (!*row) return c.fail(tr("There is no turn with the id “%1”.").arg(id), 2);
    const auto chat = app.service().chat((*row)->chatId);
    const TurnRecord record = from_row(**row, chat ? chat->title : QString(), {});
    const Explanation explanation = explain(record);
    c.say(json_of(explanation, record), explanation.text());
  });
}

}  // namespace tg
