// A loaded model as the scheduler runs it: weights behind Forward, its device, its cache key, its measured curve.
// Thread: the worker's, except `info` and what a lock is named for.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/cache/page_key.h"
#include "engine/cache/page_memory.h"
#include "engine/cache/prefix_tree.h"
#include "engine/device/device.h"
#include "engine/forward/forward.h"
#include "engine/sampling/constraint_json.h"
#include "engine/schedule/prefill_curve.h"
#include "engine/schedule/turn_types.h"

namespace tg {

struct ModelRuntime {
  std::shared_ptr<LoadedModel> info;
  std::shared_ptr<Device> device;  // null: a Forward without one (tests)
  std::unique_ptr<Forward> forward;
  std::shared_ptr<PageMemory> memory;
  PageKey key;
  int chunk = 0;                   // prefill rows per step as asked for; 0: by time
  bool closing = false;            // guarded by the scheduler's lock
  PrefillCurve curve;              // guarded by the scheduler's lock
  int largest_step = 0;            // rows of the longest step measured: steps grow from there

  // Of constrained turns; made with the first one (tens of milliseconds). The worker's.
  std::shared_ptr<const ConstraintVocabulary> constraint_vocabulary();

  CacheLayout layout() const;
  bool int8() const;               // weights are quantised: the operations can use the int8 peak
  std::string curve_key() const;   // model, kernels, threads and KV types: what the curve was measured with

 private:
  std::shared_ptr<const ConstraintVocabulary> constraint_vocabulary_;
};

// Opens the file, reads tokenizer and template, uploads the weights. Called on the thread that asked for the model.
using ModelLoader = std::function<Result<std::unique_ptr<ModelRuntime>>(const std::string& path, const LoadOptions& options,
                                                                       const std::function<void(std::uint64_t, std::uint64_t)>& progress,
                                                                       const CancelToken& cancel)>;
Result<std::unique_ptr<ModelRuntime>> load_model(const std::string& path, const LoadOptions& options,
                                                 const std::function<void(std::uint64_t, std::uint64_t)>& progress, const CancelToken& cancel);

}  // namespace tg
