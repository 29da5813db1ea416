// The one thread that touches the database. Jobs run in the order they were given; a job's future is ready only after its data is on disk.
// No transaction outlives a job, so nothing is held open while idle and a killed process loses at most the job it was in.
// Thread: any thread may call; results arrive with QFuture::then(context, …). Ownership: owns thread, database and store.
#pragma once
#include <QFuture>
#include <QPromise>
#include <functional>
#include <memory>
#include <type_traits>

#include "storage/chat_store.h"

namespace tg::storage {

class StoreThread {
 public:
  explicit StoreThread(const OpenOptions& options);
  ~StoreThread();                                           // close()
  QFuture<Outcome<OpenReport>> opened() const;              // ready when the file is open, migrated and recovered, or refused

  // JOB: T(ChatStore&). If the database could not be opened, every call of the store answers a Failure.
  template <class Job>
  auto run(Job job) -> QFuture<std::invoke_result_t<Job&, ChatStore&>> {
    using T = std::invoke_result_t<Job&, ChatStore&>;
    auto promise = std::make_shared<QPromise<T>>();
    promise->start();                                       // waiting for a future that has not started returns at once, without a result
    QFuture<T> future = promise->future();
    enqueue([promise, job = std::move(job)](ChatStore& store) mutable {
      if constexpr (std::is_void_v<T>)
        job(store);
      else
        promise->addResult(job(store));
      promise->finish();
    });
    return future;
  }

  void close();                                             // runs what is queued, checkpoints, closes, joins; jobs given later are cancelled

 private:
  void enqueue(std::function<void(ChatStore&)> job);
  struct Private;
  std::unique_ptr<Private> d_;
};

}  // namespace tg::storage
