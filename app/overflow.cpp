#include "app/overflow.h"

#include <algorithm>

namespace tg {

int answer_kept(int max_tokens, int window) { return std::max(1, std::min(max_tokens, window / 4)); }

QVector<PromptTurn> prompt_turns(const QVector<storage::Message>& path, const Prompt& prompt, const PromptCut& cut, bool has_system) {
  // The same walk as prompt_messages(): index of each sent message among the messages of the prompt.
  QHash<int, int> tokens;
  for (const PromptSegment& s : prompt.segments) tokens[s.message] += s.end - s.begin;
  const auto first = std::find_if(path.begin(), path.end(), [&](const storage::Message& m) { return m.id == cut.firstKept; });
  const auto first_kept = cut.firstKept.isEmpty() || first == path.end() ? 0 : first - path.begin();
  QVector<PromptTurn> out;
  int at = has_system ? 1 : 0, number = 0, said = 0;
  bool sent = true;
  for (qsizetype i = 0; i < path.size(); ++i) {
    if (path[i].role == QLatin1String("notice")) continue;
    const bool first_turn = said++ < 2;
    if (path[i].role == QLatin1String("user")) {
      ++number;
      sent = i >= first_kept || (cut.keepFirstTurn && first_turn);
      if (sent) {
        if (!out.isEmpty() && out.back().nextMessage.isEmpty()) out.back().nextMessage = path[i].id;
        out.push_back({number, path[i].id, {}, 0});
      }
    }
    if (sent && !out.isEmpty()) out.back().tokens += tokens.value(at++);
  }
  return out;
}

DropPlan plan_drop(const QVector<PromptTurn>& turns, const PromptCut& now, int prompt, int answer, int window, bool keep_first, int drop_turns) {
  DropPlan plan;
  plan.cut = now;
  const int from = keep_first ? 1 : 0, most = static_cast<int>(turns.size()) - from;
  if (most <= 0) return plan;
  const int target = static_cast<int>(kFillAfterDrop * window);
  int dropped = 0, left_out = 0;
  while (dropped < most && (drop_turns > 0 ? dropped < drop_turns : prompt - left_out + answer > target)) left_out += turns[from + dropped++].tokens;
  if (dropped == 0) return plan;
  plan.possible = prompt - left_out + answer <= window;
  plan.turns = dropped;
  plan.tokens = left_out;
  plan.firstTurn = turns[from].number;
  plan.lastTurn = turns[from + dropped - 1].number;
  plan.cut.keepFirstTurn = keep_first;
  const int next = from + dropped;
  // All earlier turns left: the new message itself, whose id is not known yet, is the first kept one.
  plan.cut.firstKept = next < turns.size() ? turns[next].firstMessage : QStringLiteral("new");
  return plan;
}

int widened(int prompt, int answer, int window, int model_window) {
  qint64 wide = std::max(window, 1);
  while (wide < prompt + answer) wide *= 2;
  if (wide <= model_window) return static_cast<int>(wide);
  return prompt + answer <= model_window ? model_window : 0;
}

}  // namespace tg
