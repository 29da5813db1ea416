// The bundled monochrome icons (resources/icons), drawn in a palette colour at any size. Never null for a bundled name.
#pragma once
#include <QIcon>
#include <QStringList>

#include "views/theme/theme.h"

namespace tg {

QIcon icon(const QString& name, Role role = Role::Text);  // re-coloured by itself when the theme changes
QPixmap iconPixmap(const QString& name, int pixels, const QColor& ink, qreal ratio = 1);
QStringList iconNames();

}  // namespace tg
