// Care of the chat file for the window: check, backup, restore.
#include <QFile>
#include <QThreadPool>

#include "app/application_impl.h"
#include "app/error_words.h"
#include "storage/database.h"

namespace tg {

using storage::ChatStore;

namespace {

DataAnswer answer_of(quint64 request, bool ok, const QString& sentence) {
  DataAnswer out;
  out.request = request;
  out.ok = ok;
  out.sentence = sentence;
  return out;
}

storage::Failure no_database() { return {storage::FailureKind::Damaged, QStringLiteral("The chat file is not open."), {}}; }

}  // namespace

void ApplicationImpl::checkData(quint64 request) {
  const auto job = [](ChatStore& store) -> storage::Outcome<QStringList> {
    if (!store.database()) return no_database();
    return store.database()->check();
  };
  store_->run(job).then(this, [this, request](const storage::Outcome<QStringList>& faults) {
    DataAnswer out = answer_of(request, faults && faults->isEmpty(), tr("The chat file is sound."));
    if (!faults) out.sentence = faults.failure().sentence;
    if (faults && !faults->isEmpty()) {
      out.sentence = faults->size() == 1 ? tr("One fault was found in the chat file. Nothing was changed.") : tr("%1 faults were found in the chat file. Nothing was changed.").arg(faults->size());
      out.details = *faults;
    }
    QMetaObject::invokeMethod(this, [this, out] { Q_EMIT dataAnswered(out); }, Qt::QueuedConnection);
  });
}

void ApplicationImpl::backUpData(const QString& target, quint64 request) {
  const auto job = [target](ChatStore& store) -> storage::Outcome<QString> {
    if (!store.database()) return no_database();
    return store.database()->backup(target);
  };
  store_->run(job).then(this, [this, request](const storage::Outcome<QString>& file) {
    DataAnswer out = answer_of(request, bool(file), file ? tr("Backed up into %1.").arg(*file) : file.failure().sentence);
    if (file) out.file = *file;
    QMetaObject::invokeMethod(this, [this, out] { Q_EMIT dataAnswered(out); }, Qt::QueuedConnection);
  });
}

// The services hold what the old file says, so the new one waits beside it until nothing is open. A copy, because the backup may be on a stick.
void ApplicationImpl::restoreData(const QString& backup, quint64 request) {
  if (read_only_) {
    const DataAnswer out = answer_of(request, false, tr("This profile is opened read-only, so nothing can be restored."));
    QMetaObject::invokeMethod(this, [this, out] { Q_EMIT dataAnswered(out); }, Qt::QueuedConnection);
    return;
  }
  QThreadPool::globalInstance()->start([this, backup, request, waiting = paths_.restore()] {
    const QString part = waiting + QStringLiteral(".part");
    QFile::remove(part);
    DataAnswer out;
    const storage::Status sound = storage::Database::checkBackup(backup);
    if (!sound) {
      out = answer_of(request, false, sound.failure().sentence);
    } else if (!QFile::copy(backup, part) || (QFile::exists(waiting) && !QFile::remove(waiting)) || !QFile::rename(part, waiting)) {
      out = answer_of(request, false, tr("The backup could not be copied into the profile."));
    } else {
      QFile::setPermissions(waiting, QFileDevice::ReadOwner | QFileDevice::WriteOwner);
      out = answer_of(request, true, tr("The backup takes the place of your chats when Turnglass is started the next time. The file of now is kept in quarantine."));
      out.file = backup;
    }
    QMetaObject::invokeMethod(this, [this, out] { Q_EMIT dataAnswered(out); }, Qt::QueuedConnection);
  });
}

void ApplicationImpl::restoreWaiting() {
  const QString waiting = paths_.restore();
  if (read_only_ || !QFile::exists(waiting)) return;
  const storage::Status done = storage::Database::restore(paths_.root, waiting);
  notice_ = done ? tr("The backup was restored. The chat file before it is kept in quarantine.") : tr("The backup was not restored. %1").arg(done.failure().sentence);
  QFile::remove(waiting);                    // once, whatever came of it
}

}  // namespace tg
