// The four meanings of a token as fill: cached striped, fresh solid, output lined, thinking dotted (UI.md 2.3), and bars made of them.
#pragma once
#include <QPainter>
#include <QVector>

#include "app/chat_service.h"
#include "views/theme/theme.h"

namespace tg {

enum class Part { Cached, Fresh, Thinking, Output };  // the order in every bar

Role fillRole(Part part);
Role textRole(Part part);
QString partName(Part part);  // the word in legends

struct PartShare { Part part; qint64 tokens; };

// Fills RECT with colour and pattern; no pattern below 7 px of height.
void paintFill(QPainter& painter, const QRectF& rect, Part part);
void paintFill(QPainter& painter, const QPainterPath& path, Part part);

// Widths of the shares in WIDTH pixels: 1 px gaps, a share that is not zero is at least 3 px wide.
QVector<qreal> barWidths(const QVector<PartShare>& shares, qint64 whole, qreal width);
void paintBar(QPainter& painter, const QRectF& rect, const QVector<PartShare>& shares, qint64 whole);

// The tier badge's shape: full, half, quarter, dashed ring.
void paintTier(QPainter& painter, const QRectF& box, ChatTier tier, const QColor& ink);
QString tierIcon(ChatTier tier);    // name of the same shape as an icon
QString tierWord(ChatTier tier);    // "on GPU"
QString tierSpoken(ChatTier tier);  // "On the GPU"

}  // namespace tg
