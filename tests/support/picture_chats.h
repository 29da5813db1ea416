// The chats of the design pictures, for tests and for looking at the window. Header only.
#pragma once
#include <cmath>

#include "tests/support/fake_chat_service.h"

namespace tg::fake {

inline ChatInfo pictureChat(const char* id, const QString& title, const char* folder, ChatTier tier, double waitMs, int tokens, bool pinned = false) {
  ChatInfo c;
  c.id = QString::fromLatin1(id);
  c.title = title;
  c.folderId = QString::fromLatin1(folder);
  c.modelPath = QStringLiteral("/models/qwen3-8b.gguf");
  c.modelName = QStringLiteral("Qwen3 8B");
  c.tier = tier;
  c.waitMs = waitMs;
  (tier == ChatTier::Cold ? c.tokensToRead : c.tokensHeld) = tokens;
  c.bytesHeld = qint64(tokens) * 147456;
  c.pinned = pinned;
  c.lastUsed = QDateTime(QDate(2026, 11, 29), QTime(12, 0));
  return c;
}

inline TurnRecord pictureRecord(int turn, int total, int cached, int out, int thinking, double ttft, double tps, const char* pico) {
  TurnRecord r;
  r.turn = turn;
  r.backend = QStringLiteral("cuda");
  r.inputTotal = total;
  r.inputCached = cached;
  r.inputFresh = total - cached;
  r.output = out;
  r.thinking = thinking;
  r.ttftMs = ttft;
  r.predictedTtftMs = 200;
  r.prefillMs = 140;
  r.prefillTps = 1200;
  r.decodeTps = tps;
  r.tpsStart = tps + 0.2;
  r.tpsEnd = tps - 0.1;
  r.decodeMs = out * 1000 / tps;
  r.thinkingMs = thinking * 1000 / tps;
  r.totalMs = *r.decodeMs + 150;
  r.queueMs = 0.2;
  r.passes = 1;
  r.finishReason = QStringLiteral("stop");
  r.kvTokens = total + out;
  r.kvBytes = qint64(total + out) * 147456;
  r.context = 16384;
  r.cache.outcome = QStringLiteral("reused");
  r.cache.reusable = r.cache.reused = r.cache.fromGpu = cached;
  r.cost.book = QStringLiteral("2026-11-29");
  r.cost.pricedAs = QStringLiteral("openai/gpt-5.4-mini");
  r.cost.currency = QStringLiteral("USD");
  r.cost.costPico = QString::fromLatin1(pico);
  r.cost.lines = {{QStringLiteral("fresh"), total, QStringLiteral("0.75"), QStringLiteral("3609000000")}, {QStringLiteral("output"), out, QStringLiteral("4.5"), QStringLiteral("1395000000")}};
  r.own.joules = 1188;
  r.own.source = QStringLiteral("measured");
  for (int i = 0; i < 120; ++i) r.rateCurve.append(static_cast<float>(tps + 0.4 * std::sin(i * 0.6)));
  return r;
}

// The counters of UI.md's example of Explain: 172 tokens read in one pass, 310 written.
inline TurnRecord withWork(TurnRecord r) {
  RecordWork w;
  w.device = QStringLiteral("GPU · RTX 3060");
  w.int8 = true;
  w.prefill = {4.9e9, 2.39e12, 140, 141, 1};
  w.stepWeights = 4.703e9;
  const int steps = r.output.value_or(1) - 1;
  w.decode = {steps * 5.435e9, steps * 16.6e9, r.decodeMs.value_or(0), r.decodeMs.value_or(0), steps};
  w.limits = {314, 32830, 12700, 1795996800};
  r.percentPrefill = 52;
  r.percentDecode = 69;
  r.restoreMs = 0;
  r.loadMs = 0;
  r.work = w;
  return r;
}

inline MessageInfo pictureMessage(const QString& id, const char* role, const QString& text, const std::optional<TurnRecord>& record = {}) {
  MessageInfo m;
  m.id = id;
  m.role = QString::fromLatin1(role);
  m.text = text;
  m.created = QDateTime(QDate(2026, 11, 29), QTime(12, 0));
  m.record = record;
  if (m.role == QStringLiteral("assistant")) {
    m.modelName = QStringLiteral("Qwen3 8B");
    m.state = TurnState::Finished;
    if (record && record->thinking.value_or(0) > 0) m.thinkingText = QStringLiteral("The reader asks which codes mean: switch off. The manual lists them on pages 28 to 34.");
  }
  return m;
}

inline void fillPicture(FakeApplication& app) {
  FakeChatService& s = app.service;
  s.folderList = {{QStringLiteral("home"), QStringLiteral("Home")}, {QStringLiteral("work"), QStringLiteral("Work")}, {QStringLiteral("practice"), QStringLiteral("Practice")}};
  s.list = {pictureChat("boiler", QStringLiteral("Boiler manual questions"), "home", ChatTier::Gpu, 100, 5122),
            pictureChat("lisbon", QStringLiteral("Trip to Lisbon"), "home", ChatTier::Gpu, 100, 2310, true),
            pictureChat("garden", QStringLiteral("Garden plan"), "home", ChatTier::Ram, 200, 6204),
            pictureChat("parser", QStringLiteral("Parser refactor"), "work", ChatTier::Gpu, 100, 9480),
            pictureChat("contract", QStringLiteral("Contract summary"), "work", ChatTier::Ram, 200, 12892),
            pictureChat("annual", QStringLiteral("Annual report Q&A"), "work", ChatTier::Disk, 2200, 31250),
            pictureChat("meeting", QStringLiteral("Meeting notes, March"), "work", ChatTier::Cold, 14000, 22400),
            pictureChat("spanish", QStringLiteral("Spanish practice"), "practice", ChatTier::Disk, 300, 3870),
            pictureChat("recipes", QStringLiteral("Old recipe notes"), "practice", ChatTier::Cold, 1300, 1940)};
  s.bin = {pictureChat("x1", QStringLiteral("Old one"), "", ChatTier::Cold, 0, 0), pictureChat("x2", QStringLiteral("Older one"), "", ChatTier::Cold, 0, 0)};
  s.paths[QStringLiteral("boiler")] = {
      pictureMessage(QStringLiteral("u3"), "user", QStringLiteral("The display shows F28, it clicks three times and goes out. The gas meter is in the hall and the valve handle lies in line with the pipe. Which codes in the manual mean that I should switch it off straight away?")),
      pictureMessage(QStringLiteral("a3"), "assistant", QStringLiteral("Three codes mean: switch it off and do not restart it yourself.\n\n| Code | Meaning | Page |\n|---|---|---|\n| F20 | Safety limiter: water too hot | 28 |\n| F27 | Flame seen when there should be none | 30 |\n| F61 | Gas valve cannot be controlled | 34 |\n\nF28 is not one of them. You may press reset up to three times (page 30)."), pictureRecord(1, 4238, 4176, 402, 231, 89, 40.5, "2200000000")),
      pictureMessage(QStringLiteral("u4"), "user", QString::fromUtf8("Here is what the fitter wrote last winter: “Ignition electrode checked, gap 4 mm, cleaned. Gas pressure at the inlet 20 mbar standing, 17 mbar with the burner on. Flame sensor cable replaced. Condensate trap cleaned and filled. Air intake free, no leaves. Customer says that it drops out only on cold mornings, mostly before seven. Watch for F28 when the meter is cold. If it comes back, measure again early in the day and call the gas supplier about the regulator.” Does that fit what I see now, and what should I do first?")),
      pictureMessage(QStringLiteral("a4"), "assistant", QStringLiteral("Yes. 17 mbar with the burner on is the lowest pressure the manual allows (page 31), so a cold morning can push it below.\n\n1. Look whether the valve at the meter is fully open.\n2. Press reset once and read the pressure while it lights.\n3. If it falls below 17 mbar, stop and call the gas supplier.\n\nDo not press reset a fourth time."), withWork(pictureRecord(2, 4812, 4640, 310, 212, 160, 39.9, "5004000000")))};
  TurnRecord miss = pictureRecord(1, 8787, 7709, 377, 0, 79, 36.1, "2400000000");
  miss.cache.reusable = 8741;
  RecordMiss why;
  why.cause = QStringLiteral("prefix_changed");
  why.atToken = 7710;
  why.detail = QStringLiteral("thinking_dropped");
  miss.cache.miss = why;
  s.paths[QStringLiteral("parser")] = {
      pictureMessage(QStringLiteral("u1"), "user", QStringLiteral("Merge the three copies of the loop into one.")),
      pictureMessage(QStringLiteral("a1"), "assistant", QStringLiteral("The three copies of the loop are now one function, `read_list(open, close, item)`. It stops at the closing bracket and reports the position of the opening one when the file ends early. No caller had to change."), miss)};
  ModelInfo m;
  m.path = QStringLiteral("/models/qwen3-8b.gguf");
  m.name = QStringLiteral("Qwen3 8B");
  m.format = QStringLiteral("Q4_K_M");
  m.fileBytes = 5027784512;
  m.kvBytesPerToken = 147456;
  m.loaded = true;
  app.catalogue.list = {m};
  app.status.device = QStringLiteral("GPU · RTX 3060");
  app.status.memoryUsed = 8858370048;
  app.status.memoryTotal = 12884901888;
  s.nextCount.draftTokens = 19;
  s.nextCount.promptTokens = 5141;
  s.nextCount.answerKept = 1024;
  s.nextCount.window = 16384;
  s.nextCount.waitMs = 100;
  s.nextCount.parts = {{QStringLiteral("system"), 46}, {QStringLiteral("document"), 3118}, {QStringLiteral("history"), 1958}, {QStringLiteral("new"), 19}};
}

}  // namespace tg::fake
