// Chats into files and back, for the window. Files are read and written on the pool, rows by the store; nothing here waits.
#include <QFile>
#include <QSaveFile>
#include <QThreadPool>

#include "app/chat_service_impl.h"
#include "app/commands/chat_transfer.h"
#include "app/error_words.h"

namespace tg {

using storage::ChatBundle;
using storage::ChatStore;

namespace {

constexpr int kPreviewLines = 10, kPreviewColumns = 200, kTitlesShown = 8;
constexpr qint64 kMostImport = qint64{1} << 30;

void write_export(const ChatBundle& bundle, const ExportWish& wish, ExportResult& result) {
  const QByteArray bytes = export_as(bundle, wish);
  result.preview = first_lines(bytes, kPreviewLines, kPreviewColumns);
  result.bytes = bytes.size();
  if (result.file.isEmpty()) return;
  QSaveFile file(result.file);             // an export that fails leaves what stood there before
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
    result.error = ChatService::tr("The file cannot be written: %1.").arg(result.file);
  }
}

struct ReadFile {
  QVector<ChatBundle> chats;
  QString kind, error;
};

ReadFile read_import(const QString& path) {
  ReadFile out;
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return out.error = ChatService::tr("The file is gone or cannot be read: %1.").arg(path), out;
  if (file.size() > kMostImport) return out.error = ChatService::tr("This file is too large to be an export of chats."), out;
  const QByteArray bytes = file.readAll();
  out.kind = import_kind(bytes);
  out.chats = import_chats(bytes, &out.error);
  return out;
}

QVector<QPair<QString, QString>> said(const QVector<storage::Message>& messages) {
  QVector<QPair<QString, QString>> out;
  for (const storage::Message& m : messages) out.push_back({m.role, m.text});
  return out;
}

// A chat of the same title with the same messages is the same chat, whatever its ids.
storage::Outcome<QVector<bool>> find_duplicates(ChatStore& store, const QVector<ChatBundle>& bundles) {
  const auto here = store.chats();
  if (!here) return here.failure();
  QVector<bool> out;
  for (const ChatBundle& bundle : bundles) {
    bool same = false;
    for (const storage::Chat& chat : *here) {
      if (same || chat.title != bundle.chat.title) continue;
      const auto messages = store.messages(chat.id);
      if (!messages) return messages.failure();
      same = said(*messages) == said(bundle.messages);
    }
    out.push_back(same);
  }
  return out;
}

}  // namespace

void ChatServiceImpl::exportChat(const QString& chatId, const ExportWish& wish, const QString& file, quint64 request) {
  store_->run([chatId](ChatStore& store) { return store.bundle(chatId); }).then(this, [this, wish, file, request](const storage::Outcome<ChatBundle>& bundle) {
    ExportResult result;
    result.request = request;
    result.file = file;
    if (!bundle) {
      result.error = words::sentence(bundle.failure(), false);
      QMetaObject::invokeMethod(this, [this, result] { Q_EMIT exported(result); }, Qt::QueuedConnection);
      return;
    }
    QThreadPool::globalInstance()->start([this, wish, result, chat = *bundle]() mutable {
      write_export(chat, wish, result);
      QMetaObject::invokeMethod(this, [this, result] { Q_EMIT exported(result); }, Qt::QueuedConnection);
    });
  });
}

void ChatServiceImpl::previewImport(const QString& file, quint64 request) {
  QThreadPool::globalInstance()->start([this, file, request] {
    const ReadFile read = read_import(file);
    ImportPreview preview;
    preview.request = request;
    preview.file = file;
    preview.kind = read.kind;
    preview.error = read.error;
    preview.chats = static_cast<int>(read.chats.size());
    for (const ChatBundle& bundle : read.chats) {
      preview.messages += static_cast<int>(bundle.messages.size());
      preview.turns += static_cast<int>(bundle.turns.size());
      if (preview.titles.size() < kTitlesShown) preview.titles << bundle.chat.title;
    }
    const auto counted = [this, preview](const storage::Outcome<QVector<bool>>& duplicates) mutable {
      if (!duplicates) preview.error = words::sentence(duplicates.failure(), false);
      if (duplicates) preview.duplicates = static_cast<int>(duplicates->count(true));
      QMetaObject::invokeMethod(this, [this, preview] { Q_EMIT importPreviewed(preview); }, Qt::QueuedConnection);
    };
    QMetaObject::invokeMethod(this, [this, chats = read.chats, counted] {
      store_->run([chats](ChatStore& store) { return find_duplicates(store, chats); }).then(this, counted);
    }, Qt::QueuedConnection);
  });
}

namespace {

struct Written {
  QVector<ChatBundle> added;
  int skipped = 0;
};

storage::Outcome<Written> write_import(ChatStore& store, const QVector<ChatBundle>& chats, bool duplicates_too) {
  const auto duplicates = find_duplicates(store, chats);
  if (!duplicates) return duplicates.failure();
  Written out;
  const storage::Status status = store.atomically([&]() -> storage::Status {
    for (qsizetype i = 0; i < chats.size(); ++i) {
      if ((*duplicates)[i] && !duplicates_too) {
        ++out.skipped;
        continue;
      }
      if (auto done = store.insertBundle(chats[i]); !done) return done;
      out.added.push_back(chats[i]);
    }
    return storage::Done{};
  });
  if (!status) return status.failure();
  return out;
}

}  // namespace

void ChatServiceImpl::importChats(const QString& file, bool duplicatesToo, quint64 request) {
  const auto answer = [this](const ImportResult& result) { QMetaObject::invokeMethod(this, [this, result] { Q_EMIT imported(result); }, Qt::QueuedConnection); };
  ImportResult result;
  result.request = request;
  if (read_only_) {
    result.error = tr("This profile is opened read-only, so nothing can be imported.");
    return answer(result);
  }
  QThreadPool::globalInstance()->start([this, file, duplicatesToo, result, answer]() mutable {
    const ReadFile read = read_import(file);
    if (!read.error.isEmpty()) {
      result.error = read.error;
      return answer(result);
    }
    const auto written = [this, result, answer](const storage::Outcome<Written>& done) mutable {
      if (!done) {
        result.error = words::sentence(done.failure(), false);
        return answer(result);
      }
      for (const ChatBundle& bundle : done->added) addImported(bundle);
      result.chats = static_cast<int>(done->added.size());
      result.skipped = done->skipped;
      result.firstChatId = done->added.isEmpty() ? QString() : done->added.first().chat.id;
      answer(result);
    };
    QMetaObject::invokeMethod(this, [this, chats = read.chats, duplicatesToo, written] {
      store_->run([chats, duplicatesToo](ChatStore& store) { return write_import(store, chats, duplicatesToo); }).then(this, written);
    }, Qt::QueuedConnection);
  });
}

}  // namespace tg
