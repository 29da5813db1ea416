// Calls of one operating system that app/ needs, behind one portable header. Thread: any.
#pragma once
#include <QtGlobal>

namespace tg::platform {

struct Memory { qint64 used = 0, total = 0; };   // bytes of main memory; total 0: not known
Memory main_memory();

}  // namespace tg::platform
