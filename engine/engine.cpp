#include "engine/engine.h"

#include "engine/schedule/engine_impl.h"

namespace tg {

std::unique_ptr<Engine> Engine::create(const EngineOptions& options) { return make_engine(options, load_model); }

}  // namespace tg
