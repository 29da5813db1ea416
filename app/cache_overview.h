// The cache as the window shows it: what each tier holds, where every chat is and why, what an action would do, and the actions.
// Thread: GUI thread. Nothing waits: figures are gathered elsewhere and arrive with changed(); actions are done when the figures say so.
// Ownership: values are copies; ids are those of ChatService.
#pragma once
#include <QDateTime>
#include <QObject>
#include <QPair>
#include <QString>
#include <QStringList>
#include <QVector>
#include <optional>

#include "app/chat_service.h"

namespace tg {

// A part of a tier's bar. The parts of a tier add up to what is used: memory that chats share is a part of its own, counted once.
struct CacheBlock {
  enum class Kind { Chat, Shared, Other };  // Other: versions no chat shows any more, and what running turns are making
  Kind kind = Kind::Chat;
  QString chatId, title;
  qint64 bytes = 0;
  bool pinned = false;
  bool copy = false;                        // on disk: the chat is in memory as well
};

struct CacheTier {
  ChatTier tier = ChatTier::Ram;
  bool exists = true;                       // false: this computer computes without it
  qint64 budget = 0, used = 0;              // bytes
  qint64 fixed = 0;                         // of used: pinned, or in use by a running turn; a budget cannot be below
  qint64 most = 0;                          // what this computer has for it; 0: not known
  int chats = 0;                            // chats that are on this tier
  QVector<CacheBlock> blocks;
};

struct CacheRow {
  ChatInfo chat;
  bool busy = false;                        // being read for or written: its cache cannot be moved or dropped
  QString reasonCode;                       // of the engine; empty: nothing was ever kept
  QDateTime reasonAt;                       // when that was; may be invalid
  ChatTier movedFrom = ChatTier::Unknown;   // the tier it left, if its reason is a movement that still holds
  QString modelName;                        // never empty when the chat has a model
  qint64 sharedBytes = 0;
  int fullPages = 0, tailTokens = 0, pageTokens = 0;
  int sharedPages = 0, sharedTokens = 0;
  QString sharedWith;                       // title
  qint64 ownGpu = 0, ownRam = 0, ownDisk = 0;  // what evicting it frees
  std::optional<double> readAgainMs;        // all of it read from nothing, and a new message
  std::optional<double> evictedMs;          // the first message after evicting it: what is shared stays
  bool keepsPart = false;                   // some layers keep only part of the past ...
  QVector<QPair<int, int>> restart;         // ... and a turn can go on behind these tokens
  qint64 own() const { return ownGpu + ownRam + ownDisk; }
  int tokens() const { return chat.tokensHeld > 0 ? chat.tokensHeld : chat.tokensToRead; }
};

struct CacheEventInfo {
  QDateTime at;
  QString movement, reason;                 // in words
};

struct CacheSnapshot {
  QVector<CacheTier> tiers;                 // GPU, RAM, disk
  QVector<CacheRow> rows;                   // by last use, newest first
  qint64 tokensHeld = 0;
  int chatsHeld = 0, chatsCold = 0;
  double tokenBytes = 0;                    // one token of the model most used; 0: not known
  const CacheRow* row(const QString& chatId) const;
  const CacheTier* tier(ChatTier which) const;
  qint64 bytesHeld() const;
};

// What would leave at once under a smaller budget, longest unused first.
struct BudgetPreview {
  struct Leaving { QString chatId, title; qint64 bytes = 0; int tokens = 0; };
  QVector<Leaving> leaving;
  qint64 bytes = 0;
  bool toDisk = false;                      // it goes to disk; false: it is dropped
};
BudgetPreview preview_budget(const CacheSnapshot& snapshot, ChatTier tier, qint64 budget);
// The least budget that may be chosen: what is pinned and what running turns hold.
qint64 least_budget(const CacheSnapshot& snapshot, ChatTier tier);

class CacheOverview : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  virtual const CacheSnapshot& snapshot() const = 0;    // the newest there is
  virtual void refresh() = 0;                           // -> changed()
  virtual QVector<CacheEventInfo> events(const QString& chatId) = 0;  // newest first; what is missing follows with eventsChanged()

  virtual void toTier(const QString& chatId, ChatTier tier) = 0;      // Gpu, Ram or Disk
  virtual void pin(const QString& chatId, bool pinned) = 0;
  virtual void evict(const QString& chatId) = 0;
  virtual void clear() = 0;
  virtual void setBudget(ChatTier tier, qint64 bytes) = 0;
  virtual void checkIntegrity() = 0;                    // -> integrityChecked()

 Q_SIGNALS:
  void changed();
  void eventsChanged(const QString& chatId);
  void integrityChecked(bool sound, const QString& sentence);
  void failed(const QString& sentence);
};

}  // namespace tg
