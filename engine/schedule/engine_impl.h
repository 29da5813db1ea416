// The facade, made of scheduler and cache. LOADER brings models in: the real one, or a test's.
#pragma once
#include <memory>

#include "engine/engine.h"
#include "engine/schedule/model_runtime.h"

namespace tg {

std::unique_ptr<Engine> make_engine(const EngineOptions& options, ModelLoader loader);

}  // namespace tg
