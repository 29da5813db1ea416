// Chats as the window and the command line see them: the list, the tree of messages, and turns being answered.
// Thread: lives on the thread that created it (the GUI thread in the window) and never waits: storage, counting and the engine answer by signal.
// Ownership: owns nothing it returns; values are copies. Ids are opaque strings.
#pragma once
#include <QDateTime>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QVector>
#include <functional>
#include <memory>
#include <optional>

#include "app/turn_record.h"

namespace tg {

enum class ChatTier { Gpu, Ram, Disk, Cold, Unknown };
enum class ChatKeep { BySize, Always, Never };  // whether its cache stays on disk when the program closes

struct ChatInfo {
  QString id, title, folderId, modelPath, modelName;
  QDateTime lastUsed;
  bool pinned = false;
  ChatTier tier = ChatTier::Cold;
  int tokensHeld = 0, tokensToRead = 0;      // held in the cache; read again before the next answer
  bool partly = false;                        // tier holds only a part
  std::optional<double> waitMs;               // expected time to first token of a 32-token message, without the load; unset: never measured
  std::optional<double> loadMs;               // what loading the model comes to on top; unset: not measured, or loaded
  bool modelLoaded = true;
  std::optional<qint64> bytesHeld;
  ChatKeep keepOnClose = ChatKeep::BySize;
  bool staysOnClose = true;                   // what that comes to by its size now; meaningful while bytesHeld is set
  QString activity;                           // "" reading writing queued loading stopped error
};

struct FolderInfo { QString id, name; };

enum class TurnState { None, Queued, Loading, Reading, Writing, Finished, Stopped, Length, ContextFull, Error, Recovered };

struct MessageInfo {
  QString id, parentId;
  QString role;                               // user assistant notice
  QString text, thinkingText;
  QStringList attachments;
  QString modelName;
  QDateTime created;
  int version = 1, versions = 1;              // among siblings, from 1
  TurnState state = TurnState::None;          // assistant messages
  QString error;                              // one sentence, when state == Error
  std::optional<TurnRecord> record;           // assistant messages whose turn is finished
};

// A turn being answered. Polled by a 33 ms timer while a turnActivity is on; text only ever grows.
struct LiveTurn {
  QString messageId;
  TurnState state = TurnState::None;
  QString text, thinkingText;
  int queuePosition = 0;
  qint64 loadDone = 0, loadTotal = 0;         // bytes, while loading
  int readDone = 0, readTotal = 0, readCached = 0;
  double readTps = 0, writeTps = 0;
  int output = 0, thinking = 0;
  std::optional<double> predictedMs, ttftMs;  // without the load, which is told apart
  double elapsedMs = 0;
  QString costPico, currency;                 // hosted price of what was read and written so far; empty: unknown
};

struct GenerationSettings {                   // of one chat; unset = default of CLI.md
  QString system;
  double temperature = 0.7, topP = 0.95, minP = 0.05, typical = 1, repeatPenalty = 1, presencePenalty = 0, frequencyPenalty = 0;
  int topK = 0, repeatLastN = 64, maxTokens = 1024;
  quint64 seed = 0;
  QStringList stop;
  QString thinking = QStringLiteral("auto"); // on off auto
  int thinkingBudget = -1;
  QString effort, onFull = QStringLiteral("stop"), pricedAs;
  QString speculative = QStringLiteral("off");
};

struct DraftCount {                           // what the composer shows
  quint64 request = 0;
  int draftTokens = 0, promptTokens = 0, answerKept = 0, window = 0;
  std::optional<double> waitMs;
  int cached = 0;
  QVector<RecordSegment> parts;               // system tools document history thinking new, adds up to promptTokens
  bool fits() const { return promptTokens + answerKept <= window; }
};

struct OverflowChoice {                       // one row of the overflow dialog
  QString kind;                               // widen drop-oldest head-tail remove-document
  bool possible = false;
  QString reason;                             // why not, or what it means, one sentence
  int prompt = 0, readAgain = 0, fresh = 0, window = 0, firstTurn = -1, lastTurn = -1, droppedTokens = 0;
  std::optional<double> waitMs;
};

struct EditPreview { int keeps = 0, reads = 0; std::optional<double> waitMs; };

// snippet: matches stand between U+0002 and U+0003. messageId empty: the title matched.
struct SearchHit { QString chatId, chatTitle, messageId, snippet; QDateTime when; };

// What of a chat is written into a file.
struct ExportWish {
  QString what = QStringLiteral("both");      // chat figures both
  QString format = QStringLiteral("json");    // json md csv; csv holds figures only
  bool thinking = true;                       // the text of thinking too
};

struct ExportResult {
  quint64 request = 0;
  QString preview, file, error;               // preview: the first ten lines; file: written, empty: only the preview was asked for
  qint64 bytes = 0;
};

struct ImportPreview {
  quint64 request = 0;
  QString file, kind, error;                  // kind: whose format it is, in words
  int chats = 0, messages = 0, turns = 0, duplicates = 0;  // duplicates: chats that are here already
  QStringList titles;                         // of the first few
};

struct ImportResult {
  quint64 request = 0;
  int chats = 0, skipped = 0;
  QString firstChatId, error;
};

struct TemplateChoice {
  QString name, title, reason;                // name: what setTemplate() takes
  bool suggested = false;                     // by the model's vocabulary; never taken by itself
};

class ChatService : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  ~ChatService() override = default;

  // ---- the list
  virtual QVector<ChatInfo> chats() const = 0;          // by last use, newest first
  virtual QVector<FolderInfo> folders() const = 0;
  virtual std::optional<ChatInfo> chat(const QString& chatId) const = 0;
  virtual QString createChat(const QString& title, const QString& modelPath, const GenerationSettings& settings) = 0;
  virtual void renameChat(const QString& chatId, const QString& title) = 0;
  virtual void deleteChat(const QString& chatId) = 0;   // to the bin for 30 days; a running turn is stopped first
  virtual void restoreChat(const QString& chatId) = 0;
  virtual void deleteForever(const QString& chatId) = 0;
  virtual QVector<ChatInfo> deletedChats() const = 0;
  virtual QString createFolder(const QString& name) = 0;
  virtual void moveToFolder(const QString& chatId, const QString& folderId) = 0;
  virtual void setModel(const QString& chatId, const QString& modelPath) = 0;
  virtual void search(const QString& words, quint64 request) = 0;   // -> searchFinished

  // ---- one chat
  virtual void openChat(const QString& chatId) = 0;     // loads its messages -> chatOpened
  virtual QVector<MessageInfo> messages(const QString& chatId) const = 0;  // the shown path, in reading order
  virtual GenerationSettings settings(const QString& chatId) const = 0;
  virtual void setSettings(const QString& chatId, const GenerationSettings& settings) = 0;
  virtual void saveDraft(const QString& chatId, const QString& text) = 0;
  virtual QString draft(const QString& chatId) const = 0;

  // The samples of a turn's speed are left on disk until they are looked at -> messageChanged with record.rateCurve, when there are any.
  virtual void loadCurve(const QString& chatId, const QString& messageId) { Q_UNUSED(chatId) Q_UNUSED(messageId) }
  // For a model without a chat template -> templatesListed; setTemplate keeps one of them with the chat ("": the model's own).
  virtual void listTemplates(const QString& chatId, quint64 request) { Q_UNUSED(chatId) Q_UNUSED(request) }
  virtual void setTemplate(const QString& chatId, const QString& name) { Q_UNUSED(chatId) Q_UNUSED(name) }

  // ---- files. FILE empty: only the preview.
  virtual void exportChat(const QString& chatId, const tg::ExportWish& wish, const QString& file, quint64 request) { Q_UNUSED(chatId) Q_UNUSED(wish) Q_UNUSED(file) Q_UNUSED(request) }
  virtual void previewImport(const QString& file, quint64 request) { Q_UNUSED(file) Q_UNUSED(request) }
  virtual void importChats(const QString& file, bool duplicatesToo, quint64 request) { Q_UNUSED(file) Q_UNUSED(duplicatesToo) Q_UNUSED(request) }

  // ---- turns. The message is on disk before the engine sees it.
  virtual void send(const QString& chatId, const QString& text, const QStringList& attachments) = 0;
  virtual void stop(const QString& chatId) = 0;
  virtual void regenerate(const QString& chatId, const QString& messageId) = 0;
  virtual void continueAnswer(const QString& chatId, const QString& messageId) = 0;
  virtual void edit(const QString& chatId, const QString& messageId, const QString& text) = 0;  // makes a version and sends it
  virtual QString fork(const QString& chatId, const QString& afterMessageId) = 0;
  virtual void showVersion(const QString& chatId, const QString& messageId, int version) = 0;
  virtual void discardRecovered(const QString& chatId, const QString& messageId) = 0;
  virtual void keepRecovered(const QString& chatId, const QString& messageId) { Q_UNUSED(chatId) Q_UNUSED(messageId) }  // the notice goes, the text stays
  virtual std::optional<LiveTurn> liveTurn(const QString& chatId) const = 0;
  virtual std::optional<QString> queuedMessage(const QString& chatId) const = 0;
  virtual void takeBackQueued(const QString& chatId) = 0;

  // ---- before sending
  virtual void countDraft(const QString& chatId, const QString& text, const QStringList& attachments, quint64 request) = 0;  // -> draftCounted
  virtual void previewEdit(const QString& chatId, const QString& messageId, const QString& text, quint64 request) = 0;       // -> editPreviewed
  virtual void overflowChoices(const QString& chatId, const QString& text, const QStringList& attachments, int dropTurns, quint64 request) = 0;
  virtual void sendWithOverflow(const QString& chatId, const QString& text, const QStringList& attachments, const OverflowChoice& choice, bool always) = 0;

  // ---- cache
  virtual void keep(const QString& chatId, ChatTier tier) = 0;
  virtual void prefetch(const QString& chatId) { Q_UNUSED(chatId) }  // reads its cache from disk in the background if there is room; openChat() does
  virtual void evict(const QString& chatId) = 0;
  virtual void pin(const QString& chatId, bool pinned) = 0;
  virtual void setKeepOnClose(const QString& chatId, tg::ChatKeep keep) { Q_UNUSED(chatId) Q_UNUSED(keep) }  // -> chatChanged

 Q_SIGNALS:
  void chatsChanged();                                  // list, tiers or waits
  void chatChanged(const QString& chatId);              // one row of the list
  void chatOpened(const QString& chatId);
  void messageAdded(const QString& chatId, const tg::MessageInfo& message);
  void messageChanged(const QString& chatId, const tg::MessageInfo& message);  // state, text final, record there
  void pathChanged(const QString& chatId);              // edit, version, regenerate: read messages() again
  void turnStarted(const QString& chatId);              // liveTurn() has a value from here
  void turnFinished(const QString& chatId, const tg::MessageInfo& message);    // after the turn is on disk
  void draftCounted(const tg::DraftCount& count);
  void editPreviewed(const tg::EditPreview& preview, quint64 request);
  void overflowReady(const QVector<tg::OverflowChoice>& choices, const tg::DraftCount& count, quint64 request);
  void overflow(const QString& chatId, const QString& text, const QStringList& attachments, const tg::DraftCount& count);  // send() did not fit; nothing was sent
  void templateNeeded(const QString& chatId, const QString& text, const QStringList& attachments);  // the model brings none; nothing was sent
  void templatesListed(const QVector<tg::TemplateChoice>& choices, quint64 request);
  void exported(const tg::ExportResult& result);
  void importPreviewed(const tg::ImportPreview& preview);
  void imported(const tg::ImportResult& result);
  void searchFinished(const QVector<tg::SearchHit>& hits, quint64 request);
  void failed(const QString& chatId, const QString& sentence, const QString& details);
};

}  // namespace tg
