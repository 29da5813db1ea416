// The chat service: list, tree, turns. See chat_service.h for what it promises; here is how its parts hang together.
//   chat_list.cpp      the list, folders, bin, search          chat_opening.cpp  one chat: messages, versions, fork, recovered answers
//   chat_sending.cpp   composer -> counted -> on disk          chat_turns.cpp    engine -> saved -> finished, queue
//   chat_files.cpp     export, import                          chat_templates.cpp  which template a chat uses
//   chat_counting.cpp  drafts, edits, overflow choices         chat_cache.cpp    keep, evict, pin, tiers and waits
// Thread: one, its owner's. Ownership: borrows store and engine, which outlive it.
#pragma once
#include <QHash>
#include <QSet>

#include "app/chat_state.h"
#include "app/records_convert.h"
#include "storage/store_thread.h"

namespace tg {

// What the service asks of its surroundings; all are called on its thread.
struct ServiceHooks {
  std::function<QString()> defaultModel;                                        // path; empty: there is none
  std::function<QString(const QString& path)> modelName;
  std::function<QString(const QString& path)> fingerprint;                      // of a model file already looked at; empty: not known
  std::function<RecordCost(const TurnRecord&, const QString& pricedAs)> cost;
  std::function<RecordOwn(const TurnRecord&)> own;
};

class ChatServiceImpl : public ChatService {
  Q_OBJECT
 public:
  ChatServiceImpl(storage::StoreThread* store, EnginePort* engine, ServiceHooks hooks, bool readOnly, QObject* parent = nullptr);
  ~ChatServiceImpl() override;

  // Rows as the database has them; called once before use.
  void load(const QVector<storage::Chat>& chats, const QVector<storage::Chat>& deleted, const QVector<storage::Folder>& folders);

  // ---- ChatService: the list
  QVector<ChatInfo> chats() const override;
  QVector<FolderInfo> folders() const override;
  std::optional<ChatInfo> chat(const QString& chatId) const override;
  QString createChat(const QString& title, const QString& modelPath, const GenerationSettings& settings) override;
  void renameChat(const QString& chatId, const QString& title) override;
  void deleteChat(const QString& chatId) override;
  void restoreChat(const QString& chatId) override;
  void deleteForever(const QString& chatId) override;
  QVector<ChatInfo> deletedChats() const override;
  QString createFolder(const QString& name) override;
  void moveToFolder(const QString& chatId, const QString& folderId) override;
  void setModel(const QString& chatId, const QString& modelPath) override;
  void search(const QString& words, quint64 request) override;
  // ---- one chat
  void openChat(const QString& chatId) override;
  QVector<MessageInfo> messages(const QString& chatId) const override;
  GenerationSettings settings(const QString& chatId) const override;
  void setSettings(const QString& chatId, const GenerationSettings& settings) override;
  void saveDraft(const QString& chatId, const QString& text) override;
  QString draft(const QString& chatId) const override;
  void loadCurve(const QString& chatId, const QString& messageId) override;
  void listTemplates(const QString& chatId, quint64 request) override;
  void setTemplate(const QString& chatId, const QString& name) override;
  void exportChat(const QString& chatId, const ExportWish& wish, const QString& file, quint64 request) override;
  void previewImport(const QString& file, quint64 request) override;
  void importChats(const QString& file, bool duplicatesToo, quint64 request) override;
  // ---- turns
  void send(const QString& chatId, const QString& text, const QStringList& attachments) override;
  void stop(const QString& chatId) override;
  void regenerate(const QString& chatId, const QString& messageId) override;
  void continueAnswer(const QString& chatId, const QString& messageId) override;
  void edit(const QString& chatId, const QString& messageId, const QString& text) override;
  QString fork(const QString& chatId, const QString& afterMessageId) override;
  void showVersion(const QString& chatId, const QString& messageId, int version) override;
  void discardRecovered(const QString& chatId, const QString& messageId) override;
  void keepRecovered(const QString& chatId, const QString& messageId) override;
  std::optional<LiveTurn> liveTurn(const QString& chatId) const override;
  std::optional<QString> queuedMessage(const QString& chatId) const override;
  void takeBackQueued(const QString& chatId) override;
  // ---- before sending
  void countDraft(const QString& chatId, const QString& text, const QStringList& attachments, quint64 request) override;
  void previewEdit(const QString& chatId, const QString& messageId, const QString& text, quint64 request) override;
  void overflowChoices(const QString& chatId, const QString& text, const QStringList& attachments, int dropTurns, quint64 request) override;
  void sendWithOverflow(const QString& chatId, const QString& text, const QStringList& attachments, const OverflowChoice& choice, bool always) override;
  // ---- cache
  void keep(const QString& chatId, ChatTier tier) override;
  void prefetch(const QString& chatId) override;
  void evict(const QString& chatId) override;
  void pin(const QString& chatId, bool pinned) override;
  void setKeepOnClose(const QString& chatId, ChatKeep keep) override;

  // ---- for the command line
  QString idOf(const QString& titleOrId) const;             // empty: no such chat
  void setNextExtras(const QString& chatId, const TurnExtras& extras);
  void setChatWindow(const QString& chatId, int window, const QString& templateFile);
  QString messageIdOfNumber(const QString& chatId, int number) const;
  void whenOpen(const QString& chatId, std::function<void()> then);
  QString forkAs(const QString& chatId, const QString& afterMessageId, const QString& title);
  void addImported(const storage::ChatBundle& bundle);      // already in the database
  int exitCodeOf(const QString& chatId) const;              // of the last turn, as CLI.md counts them
  bool busy(const QString& chatId) const;
  bool anyTurnRunning() const;
  void stopAll();

 private:
  using Build = std::function<void(PromptOutput)>;

  ChatState* find(const QString& chatId) const;
  // chat_list.cpp
  ChatInfo info(const ChatState& chat, const std::optional<CacheState>& cache) const;
  void save(storage::StoreThread* store, const QString& chatId, std::function<storage::Status(storage::ChatStore&)> job);
  void storeSettings(ChatState& chat);
  // chat_cache.cpp
  void steer(const QString& chatId, std::function<Status()> work, bool tellFailure);
  // chat_sending.cpp
  void begin(Pending pending);
  void readFiles(const QStringList& files, std::function<void(QVector<storage::Attachment>, QString refusal)> then);
  void count(Pending pending);
  void counted(Pending pending);
  bool applyPolicy(Pending& pending, const ChatState& chat);
  void notSent(const Pending& pending, const QString& sentence, const QString& details);
  void commit(Pending pending);
  void committed(const Pending& pending, const QVector<storage::Message>& added);
  PromptInput inputOf(const Pending& pending, const ChatState& chat) const;
  QVector<storage::Message> pathOf(const Pending& pending, const ChatState& chat) const;
  QVector<storage::Message> messagesOf(Pending& pending, const ChatState& chat) const;
  void build(const PromptInput& input, Build then);
  // chat_turns.cpp
  void submit(const Pending& pending, const storage::Message& answer);
  TurnJob jobOf(const Pending& pending, const ChatState& chat) const;
  void receive(const QVector<PortEvent>& batch);
  void finish(ChatState& chat, const PortEvent& event);
  TurnRecord recordOf(const ChatState& chat, const PortEvent& event, const Pending& pending) const;
  void finished(const QString& chatId);
  void sendQueued(ChatState& chat);
  // chat_counting.cpp
  void countNext(const QString& chatId);
  void choicesCounted(const QString& chatId, const Pending& pending, int drop_turns, quint64 request);
  DraftCount countOf(const Pending& pending, const ChatState& chat, quint64 request) const;

  storage::StoreThread* store_;
  EnginePort* engine_;
  ServiceHooks hooks_;
  bool read_only_;
  std::vector<std::unique_ptr<ChatState>> chats_;
  QHash<QString, ChatState*> by_id_;
  QVector<storage::Folder> folders_;
  QHash<quint64, Build> builds_;                            // by the engine's request
  struct Draft { QString text; QStringList files; quint64 request = 0; };
  QHash<QString, Draft> drafts_waiting_;                    // newest not yet counted, by chat
  QSet<QString> drafts_counting_;
  struct Submitted { QString chat; Pending pending; TurnRecord record; bool measured = false; };
  QHash<quint64, Submitted> submitted_;                     // by the engine's turn
  QHash<QString, Submitted> saving_;                        // by chat
  struct LiveCost { int output = -1; qint64 at = 0; RecordCost cost; };
  mutable QHash<QString, LiveCost> live_costs_;             // by message; a price is looked up four times a second at most
  void addCost(const ChatState& chat, LiveTurn& live) const;
};

}  // namespace tg
