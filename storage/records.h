// Rows of the database as plain values. Ids are opaque strings made by the caller (QUuid without braces); times are ms since 1970 UTC;
// sizes are bytes; money is a decimal string of picodollars, empty when unknown. std::nullopt is SQL NULL: not known, never 0.
// Thread: values, any thread.
#pragma once
#include <QString>
#include <QStringList>
#include <QVector>
#include <optional>

namespace tg::storage {

struct Folder {
  QString id, name;
  qint64 createdMs = 0;
};

struct Chat {
  QString id, title, folderId;           // folderId empty: in no folder
  QString modelPath, modelName;
  QString settingsJson;                  // generation settings, owned by app/
  QString draft;                         // text in the composer
  QString nowIso;                        // date the template of this chat sees, frozen so that the prefix stays the same
  bool pinned = false;
  qint64 createdMs = 0, lastUsedMs = 0;
  std::optional<qint64> deletedAtMs;     // in the bin since
};

enum class MessageState { Done, Streaming, Interrupted, Stopped, Length, ContextFull, Error };

// A document as it was sent: the text stays with the message, so that later prompts are the same bytes even when the file changes.
struct Attachment {
  QString name, path, text;
  qint64 bytes = 0;
};

// A node of a chat's tree. Siblings (one parent) are versions; exactly one of them is `selected`.
struct Message {
  QString id, chatId, parentId;          // parentId empty: a first message
  QString role;                          // user assistant notice
  QString text, thinkingText;
  MessageState state = MessageState::Done;
  QString error;                         // one sentence when state == Error
  QString modelName;
  QVector<int> generatedIds;             // token ids as sampled, assistant messages
  QVector<Attachment> attachments;
  qint64 createdMs = 0;
  bool selected = true;
};

struct TurnSegment { QString kind; int tokens = 0; };
struct TurnCostLine { QString bucket; qint64 tokens = 0; QString price, costPico; };

struct TurnMiss {
  QString cause;                         // empty: no miss
  std::optional<int> atToken, message, turnFirst, turnLast;
  QString was, is, setting, from, to, evictedBy, byChat, when, tier, refusal, detail, where;
};

// Every figure of the turn record of CLI.md. One row per answered message.
struct Turn {
  QString messageId, chatId;
  int turn = 0;                          // number within the chat, from 1
  qint64 finishedMs = 0;
  QString model, fingerprint, backend, finishReason;
  QString settingsJson;                  // what the turn was generated with
  std::optional<int> inputTotal, inputCached, inputFresh, output, thinking;
  std::optional<double> ttftMs, predictedTtftMs, queueMs, prefillMs, decodeMs, totalMs, prefillTps, decodeTps, loadMs, thinkingMs,
      restoreMs, stopMs;
  std::optional<double> itlP50, itlP95, itlMax, batchMean, tpsStart, tpsEnd;
  int kvTokens = 0, context = 0, passes = 0;
  std::optional<qint64> kvBytes;
  bool cacheEnabled = true;
  QString cacheOutcome;                  // reused partial cold disabled
  int fromGpu = 0, fromRam = 0, fromDisk = 0, reusable = 0, reused = 0;
  TurnMiss miss;
  int drafted = 0, accepted = 0;
  std::optional<double> bytesReadDecode, gbPerSDecode, gopPerSPrefill, percentPrefill, percentDecode;
  QString book, pricedAs, costPico, costCurrency, costError, ifCachedMinPico, ifCachedMaxPico, ifCachedRule;
  std::optional<double> ownJoules;
  QString ownSource, ownKwhPrice, ownCurrency, ownCostPico;
  QString logitsSha;
  QString workJson;                      // what its steps did, owned by app/; empty: not known
  QStringList warnings;
  QVector<TurnSegment> segments;         // table turn_segment
  QVector<TurnCostLine> costLines;       // table turn_cost_line
  QVector<float> samples;                // table turn_sample: tok/s over the answer
};

struct SearchRow {
  QString chatId, chatTitle, messageId;  // messageId empty: the title matched
  QString snippet;                       // plain text around the first match; matches between U+0002 and U+0003
  qint64 createdMs = 0;
};

struct ModelFile {
  QString path, fingerprint, infoJson;   // infoJson: what a scan found out, owned by app/
  qint64 bytes = 0, modifiedMs = 0, seenMs = 0;
};

struct PriceBook {
  QString name, asOf, source, json;
  qint64 loadedMs = 0;
};

struct Snapshot {
  QString file, chatId, fingerprint;     // file: relative to the profile
  int tokens = 0;
  qint64 bytes = 0, createdMs = 0, lastUseMs = 0;
  bool pinned = false;
};

struct EnergyProfile {
  std::optional<double> idleWatts, busyWatts;
  QString kwhPrice, currency, source;
};

// A whole chat, for export, import and fork.
struct ChatBundle {
  Chat chat;
  QVector<Message> messages;             // parents before children
  QVector<Turn> turns;
};

}  // namespace tg::storage
