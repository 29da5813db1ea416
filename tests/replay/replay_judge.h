// What every turn record must satisfy (CLI.md), and the expectations that a scenario writes beside its steps.
#pragma once
#include "tests/replay/replay_run.h"

namespace tg::test {

inline int whole(const QJsonObject& o, const char* key) { return o.value(QLatin1String(key)).toInt(-1); }
inline double real(const QJsonObject& o, const char* key) { return o.value(QLatin1String(key)).toDouble(); }
inline QJsonObject part(const QJsonObject& o, const char* key) { return o.value(QLatin1String(key)).toObject(); }
inline QString word(const QJsonObject& o, const char* key) { return o.value(QLatin1String(key)).toString(); }

class Judge {
 public:
  QStringList problems;

  void check(bool ok, const QString& what) {
    if (!ok) problems << where_ + what;
  }

  void record(const QJsonObject& r, int number, bool cache) {
    where_ = QStringLiteral("turn %1 (%2): ").arg(number).arg(word(r, "chat"));
    for (const char* key : {"chat", "turn", "message_id", "model", "fingerprint", "backend", "input_total", "input_cached", "input_fresh", "output", "thinking", "finish_reason",
                            "segments", "ttft_ms", "predicted_ttft_ms", "queue_ms", "prefill_ms", "decode_ms", "total_ms", "prefill_tps", "decode_tps", "load_ms", "itl_ms",
                            "batch_mean", "kv", "passes", "thinking_ms", "tps_start", "tps_end", "restore_ms", "stop_ms", "cache", "speculation", "bytes_read_decode",
                            "gb_per_s_decode", "gop_per_s_prefill", "percent_of_limit", "cost", "own", "warnings", "output_ids"}) {
      check(r.contains(QLatin1String(key)), QStringLiteral("has no key ") + QLatin1String(key));
    }
    counts(r);
    times(r);
    cache_report(r, part(r, "cache"), cache);
    where_.clear();
  }

  void expect(const QJsonObject& line, const QJsonObject& wanted, const QVector<QJsonObject>& turns, int step) {
    where_ = QStringLiteral("step %1: ").arg(step);
    const QString text = QString::fromUtf8(QJsonDocument(line).toJson(QJsonDocument::Compact)).left(1500);
    const QJsonArray bounds = wanted.value(QLatin1String("cached")).toArray();
    if (!bounds.isEmpty()) {
      const int cached = whole(line, "input_cached"), least = number(bounds[0], line, turns), most = number(bounds[bounds.size() - 1], line, turns);
      check(cached >= least && cached <= most, QStringLiteral("cached %1, wanted %2 to %3: %4").arg(cached).arg(least).arg(most).arg(text));
    }
    const QString same = compare(line, part(wanted, "record"));
    check(same.isEmpty(), same + QStringLiteral(": ") + text);
    where_.clear();
  }

 private:
  void counts(const QJsonObject& r) {
    const int total = whole(r, "input_total"), cached = whole(r, "input_cached"), output = whole(r, "output");
    check(total > 0 && cached >= 0 && cached + whole(r, "input_fresh") == total, QStringLiteral("cached and fresh are not the prompt"));
    check(cached < total, QStringLiteral("at least one token must be computed"));
    int sum = 0;
    const QJsonArray segments = r.value(QLatin1String("segments")).toArray();
    for (const QJsonValue& s : segments) {
      sum += whole(s.toObject(), "tokens");
      check(QStringList({QStringLiteral("system"), QStringLiteral("tools"), QStringLiteral("history"), QStringLiteral("document"), QStringLiteral("thinking"), QStringLiteral("new"),
                         QStringLiteral("template")}).contains(word(s.toObject(), "kind")), QStringLiteral("a segment of kind ") + word(s.toObject(), "kind"));
    }
    check(sum == total, QStringLiteral("segments add up to %1 of %2").arg(sum).arg(total));
    check(r.value(QLatin1String("output_ids")).toArray().size() == output, QStringLiteral("output is not the number of output ids"));
    check(whole(r, "thinking") >= 0 && whole(r, "thinking") <= output, QStringLiteral("more thinking than output"));
    const QJsonObject kv = part(r, "kv"), speculation = part(r, "speculation");
    check(whole(kv, "tokens") <= total + output, QStringLiteral("more is held than there is"));
    const bool whole_turn = word(r, "finish_reason") != QLatin1String("cancelled");
    if (whole_turn) check(whole(kv, "tokens") >= total + output - 1, QStringLiteral("kv holds %1 of %2").arg(whole(kv, "tokens")).arg(total + output));
    check(whole(kv, "tokens") < 1 || real(kv, "bytes") > 0, QStringLiteral("kv has no bytes"));
    check(total + output <= whole(kv, "context") , QStringLiteral("more than the window"));
    check(whole(speculation, "accepted") <= whole(speculation, "drafted"), QStringLiteral("more accepted than drafted"));
    const QStringList reasons{QStringLiteral("stop"), QStringLiteral("length"), QStringLiteral("cancelled"), QStringLiteral("context_full"), QStringLiteral("interrupted"), QStringLiteral("error")};
    check(reasons.contains(word(r, "finish_reason")), QStringLiteral("finish reason ") + word(r, "finish_reason"));
    check(word(r, "finish_reason") != QLatin1String("error"), QStringLiteral("an error"));
  }

  void times(const QJsonObject& r) {
    constexpr double slack = 1;
    const bool cancelled = word(r, "finish_reason") == QLatin1String("cancelled");
    if (whole(r, "output") > 0) {
      check(real(r, "ttft_ms") + slack >= real(r, "queue_ms") + real(r, "restore_ms"), QStringLiteral("first token before the queue and the restore"));
      check(real(r, "total_ms") + slack >= real(r, "ttft_ms") + real(r, "decode_ms"), QStringLiteral("the parts are longer than the whole"));
      check(real(r, "ttft_ms") > 0 && whole(r, "passes") > 0, QStringLiteral("no time to the first token"));
    }
    const QJsonValue stop = r.value(QLatin1String("stop_ms"));
    check(stop.isDouble() == cancelled, QStringLiteral("stop_ms belongs to cancelled turns"));
    check(!cancelled || stop.toDouble() <= 200, QStringLiteral("stopped after %1 ms").arg(stop.toDouble()));
    const QJsonObject cost = part(r, "cost");
    check(!cost.value(QLatin1String("cost_pico")).isDouble(), QStringLiteral("money is text"));
    check(!cost.value(QLatin1String("cost_pico")).isNull() || !word(cost, "error").isEmpty(), QStringLiteral("an unknown cost says why"));
  }

  void cache_report(const QJsonObject& r, const QJsonObject& c, bool on) {
    const int reused = whole(c, "reused"), reusable = whole(c, "reusable"), total = whole(r, "input_total");
    const QJsonObject source = part(c, "source"), miss = part(c, "miss");
    const QString outcome = word(c, "outcome"), cause = word(miss, "cause");
    check(c.value(QLatin1String("enabled")).toBool() == on, QStringLiteral("cache enabled?"));
    check(reused == whole(r, "input_cached"), QStringLiteral("reused is not input_cached"));
    check(whole(source, "gpu") + whole(source, "ram") + whole(source, "disk") == reused, QStringLiteral("sources do not add up"));
    if (!on) return check(outcome == QLatin1String("disabled") && reused == 0, QStringLiteral("disabled is ") + outcome);
    check(reusable >= reused && reusable <= total - 1, QStringLiteral("reusable %1 of %2, reused %3").arg(reusable).arg(total).arg(reused));
    const QString right = reused == 0 ? QStringLiteral("cold") : reused < reusable ? QStringLiteral("partial") : QStringLiteral("reused");
    check(outcome == right, QStringLiteral("outcome %1 of %2/%3").arg(outcome).arg(reused).arg(reusable));
    check(reused >= reusable || !cause.isEmpty(), QStringLiteral("less reused than possible, and no cause"));
    check(cause != QLatin1String("unknown"), QStringLiteral("a cause that ought to be known"));
    check(cause != QLatin1String("first_turn") || (whole(r, "turn") == 1 && reused == 0), QStringLiteral("first_turn where there were turns"));
    const QJsonValue at = miss.value(QLatin1String("at_token"));
    check((cause == QLatin1String("prefix_changed")) == at.isDouble(), QStringLiteral("at_token belongs to prefix_changed"));
    if (at.isDouble()) check(at.toInt() >= 1 && at.toInt() <= total && word(miss, "was") != word(miss, "is") , QStringLiteral("a difference that is none"));
    check(cause != QLatin1String("evicted") || !word(miss, "evicted_by").isEmpty(), QStringLiteral("evicted by whom?"));
    check(cause != QLatin1String("settings_changed") || !word(miss, "setting").isEmpty(), QStringLiteral("which setting?"));
    check(cause != QLatin1String("snapshot_refused") || !word(miss, "refusal").isEmpty(), QStringLiteral("refused why?"));
  }

  // 12, or "all", "reusable", "turn:2" (prompt and answer of the second turn), "input:2", each with "-8" or "+3" behind.
  static int number(const QJsonValue& value, const QJsonObject& line, const QVector<QJsonObject>& turns) {
    if (value.isDouble()) return value.toInt();
    static const QRegularExpression form(QStringLiteral("^(all|reusable|turn|input)(?::(\\d+))?([+-]\\d+)?$"));
    const auto match = form.match(value.toString());
    if (!match.hasMatch()) return -1000000;
    const QString name = match.captured(1);
    const QJsonObject of = turns.value(match.captured(2).toInt() - 1);
    int n = whole(line, "input_total");
    if (name == QLatin1String("reusable")) n = whole(part(line, "cache"), "reusable");
    if (name == QLatin1String("input")) n = whole(of, "input_total");
    if (name == QLatin1String("turn")) n = whole(of, "input_total") + whole(of, "output");
    return n + match.captured(3).toInt();
  }

  // Empty, or where LINE differs: objects by the keys wanted, "*" anything but null, ">3" and "<3" numbers, "!" no such key, "~x" contains x.
  static QString compare(const QJsonValue& is, const QJsonValue& wanted) {
    if (wanted.isObject()) {
      const QJsonObject keys = wanted.toObject();
      for (auto it = keys.begin(); it != keys.end(); ++it) {
        const QString below = compare(is.toObject().value(it.key()), it.value());
        if (!below.isEmpty()) return it.key() + QLatin1Char('.') + below;
      }
      return {};
    }
    const QString pattern = wanted.toString();
    bool same = is == wanted;
    if (pattern == QLatin1String("*")) same = !is.isNull() && !is.isUndefined() && is != QJsonValue(QString());
    if (pattern == QLatin1String("!")) same = is.isUndefined();
    if (pattern.startsWith(QLatin1Char('>'))) same = is.isDouble() && is.toDouble() > pattern.mid(1).toDouble();
    if (pattern.startsWith(QLatin1Char('<'))) same = is.isDouble() && is.toDouble() < pattern.mid(1).toDouble();
    if (pattern.startsWith(QLatin1Char('~'))) same = is.toString().contains(pattern.mid(1));
    if (same) return {};
    return QStringLiteral(" wanted %1").arg(QString::fromUtf8(QJsonDocument(QJsonArray{wanted}).toJson(QJsonDocument::Compact)));
  }

  QString where_;
};

}  // namespace tg::test
