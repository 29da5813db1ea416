// Files of resources/pricing inside the program. Private to app/cost.
#pragma once
#include <QByteArray>
#include <QString>

namespace tg::cost {

QByteArray shippedFile(const QString& name);

}  // namespace tg::cost
