#include "app/cost/resources.h"

#include <QFile>

// A static library's resources are linked only when something names them. Outside any namespace, as the macro demands.
static void linkPricing() { Q_INIT_RESOURCE(pricing); }

namespace tg::cost {

QByteArray shippedFile(const QString& name) {
  linkPricing();
  QFile file(QStringLiteral(":/pricing/") + name);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace tg::cost
