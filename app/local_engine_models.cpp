// The models that the local engine holds: found again, loaded, and unloaded to make room.
#include <algorithm>

#include "app/local_engine.h"

namespace tg {
namespace {

// Loaded models kept side by side: a chat's and a draft, or those of a split view.
constexpr std::size_t kModelsKept = 2;

bool serves(const LoadOptions& has, int has_context, const LoadOptions& wants) {
  return has.backend == wants.backend && has.kernels == wants.kernels && has.threads == wants.threads && has.k_type == wants.k_type &&
         has.v_type == wants.v_type && has.chunk == wants.chunk && (wants.context == 0 ? has.context == 0 : has_context >= wants.context);
}

}  // namespace

ModelHandle LocalEngine::find(const std::string& path, const LoadOptions& options) {
  const std::scoped_lock lock(mutex_);
  for (Loaded& loaded : loaded_) {
    if (loaded.handle->path != path || !serves(loaded.options, loaded.handle->context, options)) continue;
    loaded.last_use = next_++;
    return loaded.handle;
  }
  return nullptr;
}

ModelHandle LocalEngine::find_any(const std::string& path) const {
  const std::scoped_lock lock(mutex_);
  for (const Loaded& loaded : loaded_) {
    if (loaded.handle->path == path) return loaded.handle;
  }
  return nullptr;
}

// Unloads what stood longest unused. Two instances of one file with different options would only double the memory.
void LocalEngine::make_room(const std::string& keep) {
  std::vector<ModelHandle> leaving;
  {
    const std::scoped_lock lock(mutex_);
    const auto in_use = [&](const Loaded& l) {
      return std::any_of(turns_.begin(), turns_.end(), [&](const Turn& t) { return t.engine != 0 && t.model.toStdString() == l.handle->path; });
    };
    for (auto it = loaded_.begin(); it != loaded_.end();) {
      const bool same = it->handle->path == keep;
      if ((same || loaded_.size() >= kModelsKept) && !in_use(*it)) {
        leaving.push_back(it->handle);
        it = loaded_.erase(it);
      } else {
        ++it;
      }
    }
  }
  for (const ModelHandle& model : leaving) engine_->unload(model);
}

Result<ModelHandle> LocalEngine::load(quint64 turn, const std::string& path, const LoadOptions& options, const CancelToken& cancel, double* load_ms) {
  if (const ModelHandle model = find(path, options)) return model;
  make_room(path);
  const auto progress = [this, turn](std::uint64_t done, std::uint64_t total) {
    PortEvent event;
    event.turn = turn;
    event.kind = PortEvent::Kind::Loading;
    event.done = static_cast<qint64>(done);
    event.total = static_cast<qint64>(total);
    buffer_.add(std::move(event));
  };
  auto model = engine_->load(path, options, progress, cancel);
  if (!model) return model;
  *load_ms += (*model)->load_ms;
  {
    const std::scoped_lock lock(mutex_);
    loaded_.push_back({*model, options, next_++});
  }
  QMetaObject::invokeMethod(this, &EnginePort::modelsChanged, Qt::QueuedConnection);
  return model;
}

bool LocalEngine::isLoaded(const QString& modelPath) const { return find_any(modelPath.toStdString()) != nullptr; }

void LocalEngine::unloadAll() {
  std::vector<Loaded> leaving;
  {
    const std::scoped_lock lock(mutex_);
    leaving.swap(loaded_);
  }
  for (const Loaded& loaded : leaving) engine_->unload(loaded.handle);
  if (!leaving.empty()) Q_EMIT modelsChanged();
}

QString LocalEngine::deviceInUse() const {
  const std::scoped_lock lock(mutex_);
  return loaded_.empty() ? QString() : QString::fromStdString(loaded_.back().handle->device);
}

QString LocalEngine::loadedModel() const {
  const std::scoped_lock lock(mutex_);
  return loaded_.empty() ? QString() : QString::fromStdString(loaded_.back().handle->path);
}

}  // namespace tg
