#include "storage/store_thread.h"

#include <QDateTime>
#include <QFileInfo>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace tg::storage {

namespace {

constexpr qint64 kBackupEveryDays = 7;                     // so that a quarantine has something to offer

bool backupIsDue(const OpenReport& report) {
  if (report.state != OpenState::Opened) return false;
  return report.backups.isEmpty() || QFileInfo(report.backups.first()).lastModified().daysTo(QDateTime::currentDateTime()) >= kBackupEveryDays;
}

}  // namespace

struct StoreThread::Private {
  OpenOptions options;
  QPromise<Outcome<OpenReport>> opened;
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::function<void(ChatStore&)>> jobs;        // guarded by mutex
  bool closing = false;                                    // guarded by mutex
  std::thread thread;

  void work();
  std::unique_ptr<Database> open();
  void runJobs(ChatStore& store);
};

std::unique_ptr<Database> StoreThread::Private::open() {
  auto database = Database::open(options);
  if (!database) {
    opened.addResult(Outcome<OpenReport>(database.failure()));
    opened.finish();
    return nullptr;
  }
  OpenReport report = (*database)->report();
  if (report.writable()) {
    ChatStore store(database->get());
    if (const auto recovered = store.recoverInterrupted()) report.interrupted = *recovered;
  }
  opened.addResult(Outcome<OpenReport>(std::move(report)));
  opened.finish();
  return std::move(*database);
}

void StoreThread::Private::runJobs(ChatStore& store) {
  bool backup = store.database() && backupIsDue(store.database()->report());
  for (;;) {
    std::function<void(ChatStore&)> job;
    {
      std::unique_lock lock(mutex);
      if (backup && jobs.empty() && !closing) {
        job = [](ChatStore& idle) { (void)idle.database()->backup().ok(); };
        backup = false;
      } else {
        wake.wait(lock, [this] { return closing || !jobs.empty(); });
        if (jobs.empty()) return;
        job = std::move(jobs.front());
        jobs.pop_front();
      }
    }
    job(store);
  }
}

void StoreThread::Private::work() {
  const std::unique_ptr<Database> database = open();
  ChatStore store(database.get());
  runJobs(store);
}

StoreThread::StoreThread(const OpenOptions& options) : d_(std::make_unique<Private>()) {
  d_->options = options;
  d_->opened.start();
  d_->thread = std::thread([d = d_.get()] { d->work(); });
}

StoreThread::~StoreThread() { close(); }

QFuture<Outcome<OpenReport>> StoreThread::opened() const { return d_->opened.future(); }

void StoreThread::enqueue(std::function<void(ChatStore&)> job) {
  {
    const std::lock_guard lock(d_->mutex);
    if (d_->closing) return;                               // the job's promise dies unfinished: its future is cancelled
    d_->jobs.push_back(std::move(job));
  }
  d_->wake.notify_one();
}

void StoreThread::close() {
  {
    const std::lock_guard lock(d_->mutex);
    d_->closing = true;
  }
  d_->wake.notify_one();
  if (d_->thread.joinable()) d_->thread.join();
}

}  // namespace tg::storage
