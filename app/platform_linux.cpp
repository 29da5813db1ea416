#include <QFile>

#include "app/platform.h"

namespace tg::platform {

Memory main_memory() {
  QFile file(QStringLiteral("/proc/meminfo"));
  if (!file.open(QIODevice::ReadOnly)) return {};
  qint64 total = 0, available = 0;
  for (const QByteArray& line : file.readAll().split('\n')) {
    const qint64 bytes = line.simplified().split(' ').value(1).toLongLong() * 1024;
    if (line.startsWith("MemTotal:")) total = bytes;
    if (line.startsWith("MemAvailable:")) available = bytes;
  }
  return {total - available, total};
}

}  // namespace tg::platform
