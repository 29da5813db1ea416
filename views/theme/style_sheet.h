// The look of controls: Fusion shapes with our edges, radii and focus frame. Made from the palette in force.
#pragma once
#include <QString>

namespace tg {

QString styleSheet();

}  // namespace tg
