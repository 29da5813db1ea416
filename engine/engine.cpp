#include "engine/engine.h"

namespace tg {

}  // namespace tg
