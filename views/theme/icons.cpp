#include "views/theme/icons.h"

#include <QDir>
#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

namespace tg {
namespace {

QByteArray source(const QString& name) {
  static QHash<QString, QByteArray> cache;
  auto found = cache.constFind(name);
  if (found == cache.constEnd()) {
    QFile file(QStringLiteral(":/icons/") + name + QStringLiteral(".svg"));
    found = cache.insert(name, file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray());
  }
  return *found;
}

QPixmap render(const QString& name, const QSize& size, const QColor& ink) {
  const QString key = name + QLatin1Char('@') + ink.name(QColor::HexArgb) + QString::number(size.width()) + QLatin1Char('x') +
                      QString::number(size.height());
  QPixmap pixmap;
  if (QPixmapCache::find(key, &pixmap)) return pixmap;
  pixmap = QPixmap(size);
  pixmap.fill(Qt::transparent);
  QByteArray svg = source(name);
  svg.replace("#000", ink.name().toLatin1());
  QSvgRenderer renderer(svg);
  QPainter painter(&pixmap);
  painter.setOpacity(ink.alphaF());
  const qreal side = qMin(size.width(), size.height());
  renderer.render(&painter, QRectF((size.width() - side) / 2, (size.height() - side) / 2, side, side));
  painter.end();
  QPixmapCache::insert(key, pixmap);
  return pixmap;
}

class PaletteIconEngine final : public QIconEngine {
 public:
  PaletteIconEngine(const QString& name, Role role) : name_(name), role_(role) {}

  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State) override {
    return render(name_, size, color(mode == QIcon::Disabled ? Role::Muted : role_));
  }
  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
    const qreal ratio = painter->device()->devicePixelRatioF();
    QPixmap image = pixmap(rect.size() * ratio, mode, state);
    image.setDevicePixelRatio(ratio);
    painter->drawPixmap(rect.topLeft(), image);
  }
  QIconEngine* clone() const override { return new PaletteIconEngine(name_, role_); }
  QString key() const override { return QStringLiteral("tg-palette"); }
  bool isNull() override { return source(name_).isEmpty(); }

 private:
  QString name_;
  Role role_;
};

}  // namespace

QIcon icon(const QString& name, Role role) {
  Theme::get();
  return QIcon(new PaletteIconEngine(name, role));
}

QPixmap iconPixmap(const QString& name, int pixels, const QColor& ink, qreal ratio) {
  QPixmap image = render(name, QSize(pixels, pixels) * ratio, ink);
  image.setDevicePixelRatio(ratio);
  return image;
}

QStringList iconNames() {
  Theme::get();
  QStringList names = QDir(QStringLiteral(":/icons")).entryList({QStringLiteral("*.svg")});
  for (QString& name : names) name.chop(4);
  return names;
}

}  // namespace tg
