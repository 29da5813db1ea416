// Everything one turn measured and cost, as shown in the window, stored in table `turn` and printed by the command line (CLI.md "turn record").
// Unknown is std::nullopt (JSON null, "–" on screen), never 0. Times in ms, sizes in bytes, rates per second, money as a decimal string of picodollars.
#pragma once
#include <QJsonObject>
#include <QString>
#include <QStringList>
#include <QVector>
#include <optional>

namespace tg {

struct RecordSegment { QString kind; int tokens = 0; };

struct RecordMiss {
  QString cause;  // first_turn prefix_changed evicted model_reloaded settings_changed window_boundary snapshot_refused unknown
  std::optional<int> atToken, message;
  QString was, is, setting, from, to, evictedBy, byChat, when, tier, refusal, detail, where;
  int turnFirst = -1, turnLast = -1;
};

struct RecordCache {
  bool enabled = true;
  QString outcome;  // reused partial cold disabled
  int fromGpu = 0, fromRam = 0, fromDisk = 0, reusable = 0, reused = 0;
  std::optional<RecordMiss> miss;
};

struct RecordCostLine { QString bucket; qint64 tokens = 0; QString price, costPico; };

struct RecordCost {
  QString book, pricedAs, costPico;  // costPico empty: unknown, `error` says why
  QString currency, error;
  QVector<RecordCostLine> lines;
  QString ifCachedMinPico, ifCachedMaxPico, ifCachedRule;  // empty: not known
};

struct RecordOwn { std::optional<double> joules; QString source, kwhPrice, currency, costPico; };

// What the steps of a phase did, by the engine's counters: the same as bench prints.
struct RecordPhase {
  double bytes = 0, ops = 0, ms = 0;  // read from memory; multiply-adds x 2
  double cpuMs = 0;                   // processor time of all threads meanwhile
  int steps = 0;
};

struct RecordLimits { double readGbPerS = 0, int8GopPerS = 0, f32GopPerS = 0; qint64 measuredS = 0; };  // measuredS: Unix time, 0: not known

struct RecordWork {
  QString device;
  int threads = 0;
  bool int8 = false;                  // its arithmetic is bounded by the int8 peak, else by the f32 peak
  RecordPhase prefill, decode;        // decode: steps without a prompt beside them
  double stepWeights = 0;             // bytes of weights that one decode step reads
  std::optional<RecordLimits> limits; // of the machine when the turn ran; unset: not measured by then
};

struct TurnRecord {
  QString chat;                       // title as the user names it
  int turn = 0;
  QString messageId, model, fingerprint, backend;
  std::optional<int> inputTotal, inputCached, inputFresh, output, thinking;  // unset only for remote engines that do not report
  QString finishReason;               // stop length cancelled context_full interrupted error
  QVector<RecordSegment> segments;
  std::optional<double> ttftMs, predictedTtftMs, queueMs, prefillMs, decodeMs, totalMs, prefillTps, decodeTps, loadMs, thinkingMs, restoreMs, stopMs;
  std::optional<double> itlP50, itlP95, itlMax, batchMean, tpsStart, tpsEnd;
  int kvTokens = 0, context = 0, passes = 0;
  std::optional<qint64> kvBytes;
  RecordCache cache;
  int drafted = 0, accepted = 0;
  std::optional<double> bytesReadDecode, gbPerSDecode, gopPerSPrefill, percentPrefill, percentDecode;
  std::optional<RecordWork> work;     // unset: an older record, or an engine that does not report it
  RecordCost cost;
  RecordOwn own;
  QString constraint;                 // json_schema: the answer was held to one; empty: free
  QStringList warnings;               // prompt_jump, schema_not_enforced:WORD
  QVector<float> rateCurve;           // tok/s over the answer
  QVector<int> outputIds;             // replay and storage
  QString logitsSha;

  QJsonObject toJson() const;         // the keys of CLI.md and resources/help/cli.md
  static TurnRecord fromJson(const QJsonObject& json);
};

}  // namespace tg
