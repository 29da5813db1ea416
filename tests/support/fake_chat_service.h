// Services without storage or engine: the window's tests fill them with chats and play turns by hand. Header only.
#pragma once
#include <QTemporaryDir>
#include <QTimer>

#include "app/application.h"
#include "app/chat_service.h"
#include "app/settings.h"
#include "tests/support/fake_cache_overview.h"

namespace tg::fake {

struct Sent { QString chatId, text; QStringList attachments; };

class FakeChatService : public ChatService {
 public:
  QVector<ChatInfo> list;
  QVector<FolderInfo> folderList;
  QHash<QString, QVector<MessageInfo>> paths;
  QHash<QString, LiveTurn> live;
  QHash<QString, QString> drafts, queued;
  QHash<QString, GenerationSettings> settingsOf;
  QVector<Sent> sent;
  QStringList stopped, calls;
  QVector<ChatInfo> bin;
  QVector<SearchHit> hits;
  DraftCount nextCount;
  int ids = 0;

  QVector<ChatInfo> chats() const override { return list; }
  QVector<FolderInfo> folders() const override { return folderList; }
  std::optional<ChatInfo> chat(const QString& id) const override {
    for (const ChatInfo& c : list) {
      if (c.id == id) return c;
    }
    return std::nullopt;
  }
  QString createChat(const QString& title, const QString& modelPath, const GenerationSettings& settings) override {
    ChatInfo c;
    c.id = QStringLiteral("chat%1").arg(++ids);
    c.title = title;
    c.modelPath = modelPath;
    c.modelName = QStringLiteral("Test model");
    c.lastUsed = QDateTime::currentDateTime();
    list.prepend(c);
    settingsOf[c.id] = settings;
    Q_EMIT chatsChanged();
    return c.id;
  }
  ChatInfo* find(const QString& id) {
    for (ChatInfo& c : list) {
      if (c.id == id) return &c;
    }
    return nullptr;
  }
  void renameChat(const QString& id, const QString& title) override {
    if (ChatInfo* c = find(id)) c->title = title;
    Q_EMIT chatChanged(id);
  }
  void deleteChat(const QString& id) override {
    for (int i = 0; i < list.size(); ++i) {
      if (list[i].id == id) bin.append(list.takeAt(i));
    }
    Q_EMIT chatsChanged();
  }
  void restoreChat(const QString& id) override {
    for (int i = 0; i < bin.size(); ++i) {
      if (bin[i].id == id) list.append(bin.takeAt(i));
    }
    Q_EMIT chatsChanged();
  }
  void deleteForever(const QString&) override {}
  void prefetch(const QString& id) override { calls.append(QStringLiteral("prefetch ") + id); }
  QVector<ChatInfo> deletedChats() const override { return bin; }
  QString createFolder(const QString& name) override {
    folderList.append({QStringLiteral("f%1").arg(++ids), name});
    Q_EMIT chatsChanged();
    return folderList.last().id;
  }
  void moveToFolder(const QString& id, const QString& folder) override {
    if (ChatInfo* c = find(id)) c->folderId = folder;
    Q_EMIT chatsChanged();
  }
  void setModel(const QString& id, const QString& path) override {
    if (ChatInfo* c = find(id)) c->modelPath = path;
    Q_EMIT chatChanged(id);
  }
  void search(const QString& words, quint64 request) override {
    QVector<SearchHit> found;
    for (const ChatInfo& c : list) {
      for (const MessageInfo& m : paths.value(c.id)) {
        const qsizetype at = m.text.indexOf(words, 0, Qt::CaseInsensitive);
        if (at >= 0) found.append({c.id, c.title, m.id, m.text.mid(qMax<qsizetype>(0, at - 20), 60), m.created});
      }
    }
    QTimer::singleShot(0, this, [this, found, request] { Q_EMIT searchFinished(found, request); });
  }

  void openChat(const QString& id) override {
    QTimer::singleShot(0, this, [this, id] { Q_EMIT chatOpened(id); });
  }
  QVector<MessageInfo> messages(const QString& id) const override { return paths.value(id); }
  GenerationSettings settings(const QString& id) const override { return settingsOf.value(id); }
  void setSettings(const QString& id, const GenerationSettings& s) override { settingsOf[id] = s; }
  void saveDraft(const QString& id, const QString& text) override { drafts[id] = text; }
  QString draft(const QString& id) const override { return drafts.value(id); }

  void send(const QString& id, const QString& text, const QStringList& attachments) override {
    sent.append({id, text, attachments});
    if (live.contains(id)) {
      queued[id] = text;
      Q_EMIT chatChanged(id);
      return;
    }
    MessageInfo user;
    user.id = QStringLiteral("u%1").arg(++ids);
    user.role = QStringLiteral("user");
    user.text = text;
    user.attachments = attachments;
    paths[id].append(user);
    Q_EMIT messageAdded(id, user);
    MessageInfo answer;
    answer.id = QStringLiteral("a%1").arg(ids);
    answer.role = QStringLiteral("assistant");
    answer.modelName = QStringLiteral("Test model");
    answer.state = TurnState::Queued;
    paths[id].append(answer);
    Q_EMIT messageAdded(id, answer);
    LiveTurn turn;
    turn.messageId = answer.id;
    turn.state = TurnState::Queued;
    live[id] = turn;
    Q_EMIT turnStarted(id);
  }
  void stop(const QString& id) override {
    stopped << id;
    if (live.contains(id)) finish(id, TurnState::Stopped, QStringLiteral("cancelled"));
  }
  // Ends the running turn of CHAT with what it has so far.
  void finish(const QString& id, TurnState state = TurnState::Finished, const QString& reason = QStringLiteral("stop")) {
    const LiveTurn turn = live.take(id);
    for (MessageInfo& m : paths[id]) {
      if (m.id != turn.messageId) continue;
      m.text = turn.text;
      m.thinkingText = turn.thinkingText;
      m.state = state;
      TurnRecord r;
      r.turn = static_cast<int>(paths[id].size()) / 2;
      r.backend = QStringLiteral("cpu");
      r.finishReason = reason;
      r.inputTotal = turn.readTotal;
      r.inputCached = turn.readCached;
      r.inputFresh = turn.readTotal - turn.readCached;
      r.output = turn.output;
      r.thinking = turn.thinking;
      r.ttftMs = turn.ttftMs;
      r.decodeTps = turn.writeTps;
      r.kvBytes = 750000;
      r.cache.reusable = r.cache.reused = turn.readCached;
      m.record = r;
      Q_EMIT turnFinished(id, m);
      return;
    }
  }
  void regenerate(const QString& id, const QString& message) override { calls << QStringLiteral("regenerate ") + id + QLatin1Char(' ') + message; }
  void continueAnswer(const QString& id, const QString& message) override { calls << QStringLiteral("continue ") + id + QLatin1Char(' ') + message; }
  void edit(const QString& id, const QString& message, const QString& text) override {
    calls << QStringLiteral("edit ") + message + QLatin1Char(' ') + text;
    Q_EMIT pathChanged(id);
  }
  QString fork(const QString& id, const QString&) override { return createChat(QStringLiteral("fork of ") + id, {}, {}); }
  void showVersion(const QString& id, const QString& message, int version) override {
    calls << QStringLiteral("version %1 %2").arg(message).arg(version);
    Q_EMIT pathChanged(id);
  }
  void discardRecovered(const QString&, const QString& message) override { calls << QStringLiteral("discard ") + message; }
  std::optional<LiveTurn> liveTurn(const QString& id) const override {
    return live.contains(id) ? std::optional(live.value(id)) : std::nullopt;
  }
  std::optional<QString> queuedMessage(const QString& id) const override {
    return queued.contains(id) ? std::optional(queued.value(id)) : std::nullopt;
  }
  void takeBackQueued(const QString& id) override {
    queued.remove(id);
    Q_EMIT chatChanged(id);
  }

  void countDraft(const QString&, const QString& text, const QStringList&, quint64 request) override {
    DraftCount count = nextCount;
    if (count.window == 0) {
      count.draftTokens = static_cast<int>(text.size() + 3) / 4;
      count.promptTokens = count.draftTokens + 20;
      count.answerKept = 1024;
      count.window = 8192;
      count.waitMs = 100;
      count.parts = {{QStringLiteral("system"), 20}, {QStringLiteral("new"), count.draftTokens}};
    }
    count.request = request;
    QTimer::singleShot(0, this, [this, count] { Q_EMIT draftCounted(count); });
  }
  void previewEdit(const QString&, const QString&, const QString& text, quint64 request) override {
    const EditPreview preview{3445, static_cast<int>(text.size() + 3) / 4, 100.0};
    QTimer::singleShot(0, this, [this, preview, request] { Q_EMIT editPreviewed(preview, request); });
  }
  void overflowChoices(const QString&, const QString&, const QStringList&, int, quint64 request) override {
    Q_EMIT overflowReady({}, nextCount, request);
  }
  void sendWithOverflow(const QString& id, const QString& text, const QStringList& attachments, const OverflowChoice&, bool) override {
    send(id, text, attachments);
  }

  void keep(const QString& id, ChatTier tier) override {
    if (ChatInfo* c = find(id)) c->tier = tier;
    Q_EMIT chatChanged(id);
  }
  void evict(const QString& id) override { keep(id, ChatTier::Cold); }
  void pin(const QString& id, bool on) override {
    if (ChatInfo* c = find(id)) c->pinned = on;
    Q_EMIT chatChanged(id);
  }
};

class FakeCatalogue : public ModelCatalogue {
 public:
  QVector<ModelInfo> list;
  QVector<ModelInfo> models() const override { return list; }
  QStringList folders() const override { return {}; }
  void addFolder(const QString&) override {}
  void addFile(const QString&) override {}
  void removeFromList(const QString& path) override {
    list.removeIf([&](const ModelInfo& model) { return model.path == path; });
    Q_EMIT changed();
  }
  void rescan() override {}
  QString defaultModel() const override { return list.isEmpty() ? QString() : list.first().path; }
};

class FakeApplication : public Application {
 public:
  FakeChatService service;
  FakeCatalogue catalogue;
  FakeCacheOverview overview;
  DeviceStatus status;
  QTemporaryDir dir;
  Settings values{dir.filePath(QStringLiteral("settings.ini"))};

  FakeApplication() { status.device = QStringLiteral("CPU"); }
  ChatService& chats() override { return service; }
  ModelCatalogue& models() override { return catalogue; }
  CacheOverview& cache() override { return overview; }
  Settings& settings() override { return values; }
  DeviceStatus deviceStatus() const override { return status; }
  QString profileNotice() const override { return {}; }
  QStringList priceRows() const override { return {QStringLiteral("openai/gpt-5.4-mini")}; }
  QString priceBookDate() const override { return QStringLiteral("2026-11-29"); }
  void shutdown() override {}
};

}  // namespace tg::fake
