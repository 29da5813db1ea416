// Chats, messages, turns and small indexes: every read and write of the program as one synchronous call.
// Thread: the thread that owns the Database, in the program StoreThread's. Each call is one transaction (calls inside atomically() share one).
// Errors: a Failure means that nothing of the call was written; the caller keeps its values and may call again.
#pragma once
#include <functional>

#include "storage/database.h"
#include "storage/records.h"

namespace tg::storage {

class Sql;

class ChatStore {
 public:
  explicit ChatStore(Database* database) : database_(database) {}
  Database* database() const { return database_; }          // null: the database could not be opened, every call answers a Failure

  // Runs CALLS in one transaction; a Failure they return undoes all of them.
  Status atomically(const std::function<Status()>& calls);

  // ---- folders
  Outcome<QVector<Folder>> folders();
  Status putFolder(const Folder& folder);                   // inserts or renames
  Status removeFolder(const QString& folderId);             // its chats stay, in no folder

  // ---- chats
  Outcome<QVector<Chat>> chats();                           // not in the bin, by last use, newest first
  Outcome<QVector<Chat>> deletedChats();                    // newest deletion first
  Outcome<std::optional<Chat>> chat(const QString& chatId);
  Outcome<std::optional<Chat>> chatNamed(const QString& titleOrId);  // newest not deleted one
  Status createChat(const Chat& chat);
  Status renameChat(const QString& chatId, const QString& title);
  Status moveToFolder(const QString& chatId, const QString& folderId);
  Status setModel(const QString& chatId, const QString& modelPath, const QString& modelName);
  Status setSettings(const QString& chatId, const QString& settingsJson);
  Status setDraft(const QString& chatId, const QString& text);
  Status setPinned(const QString& chatId, bool pinned);
  Status setNow(const QString& chatId, const QString& nowIso);
  Status touch(const QString& chatId, qint64 lastUsedMs);
  Status deleteChat(const QString& chatId, qint64 nowMs);   // into the bin
  Status restoreChat(const QString& chatId);
  Status removeChat(const QString& chatId);                 // for ever, also out of the search index and the log
  Outcome<int> emptyBin(qint64 deletedBeforeMs);            // how many were removed

  // ---- messages
  Outcome<QVector<Message>> messages(const QString& chatId);  // the whole tree, in order of creation (parents before children)
  Outcome<QVector<Turn>> turns(const QString& chatId);        // in order of their messages; without samples, turn() has them
  Outcome<std::optional<Turn>> turn(const QString& messageId);
  Status addMessage(const Message& message);                // becomes the selected version; touches the chat
  Status updateMessage(const Message& message);             // text, thinking, state, error, ids; for an answer without a turn row
  Status saveAnswerDraft(const QString& messageId, const QString& text, const QString& thinkingText);  // ≤ every 200 ms while streaming
  Status finishTurn(const Message& message, const Turn& turn);  // the final message and its turn with all lists, one transaction; again: replaces
  Status selectVersion(const QString& messageId);
  Status removeMessage(const QString& messageId);           // with everything below it; an earlier sibling becomes selected
  Outcome<int> recoverInterrupted();                        // streaming leftovers become Interrupted; how many

  // ---- whole chats
  Outcome<ChatBundle> bundle(const QString& chatId);
  Status insertBundle(const ChatBundle& bundle);            // ids must be new
  // Copies the path down to AFTER into NEWCHAT with new message ids. Turn rows are not copied: the copies cost nothing.
  Status fork(const QString& chatId, const QString& afterMessageId, const Chat& newChat);

  Outcome<QVector<SearchRow>> search(const QString& words, int limit = 50);  // every word, last one as a prefix; newest first

  // ---- small tables
  Outcome<std::optional<QString>> value(const QString& key);  // table setting
  Status setValue(const QString& key, const QString& value);
  Outcome<QVector<ModelFile>> modelFiles();
  Status putModelFile(const ModelFile& file);
  Status removeModelFile(const QString& path);
  Outcome<QVector<PriceBook>> priceBooks();                 // newest loaded first
  Status putPriceBook(const PriceBook& book);
  Outcome<QVector<Snapshot>> snapshots();
  Status putSnapshot(const Snapshot& snapshot);
  Status removeSnapshot(const QString& file);
  Outcome<EnergyProfile> energyProfile();
  Status setEnergyProfile(const EnergyProfile& profile);

 private:
  QSqlDatabase& connection();
  Status one(Sql& sql);                                      // runs a change that must hit a row
  Outcome<QVector<Chat>> chatsWhere(const QString& condition, const QStringList& values);
  Status insertMessage(const Message& message);
  Status insertTurn(const Turn& turn);
  Status eraseChat(const QString& chatId);
  Status forgetErased();
  Database* database_;
  int depth_ = 0;                                           // of atomically()
};

// The messages a reader sees: from the selected first message down the selected children. Pure.
QVector<Message> shownPath(const QVector<Message>& tree);

}  // namespace tg::storage
