#include "views/theme/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFile>
#include <QFontDatabase>
#include <QFontInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPalette>
#include <QStyleFactory>

#include "views/theme/desktop_scheme.h"
#include "views/theme/style_sheet.h"

static void initResources() { Q_INIT_RESOURCE(turnglass); }

namespace tg {
namespace {

constexpr std::array<const char16_t*, static_cast<size_t>(Role::Count)> kRoleNames = {
    u"window", u"base", u"raised", u"sunken", u"border", u"controlBorder", u"text", u"muted", u"accent", u"onAccent", u"selection", u"focus",
    u"warnText", u"warnBg", u"errorText", u"errorBg", u"okText", u"okBg", u"userBg", u"codeBg",
    u"cached", u"fresh", u"output", u"thinking", u"cachedText", u"freshText", u"outputText", u"thinkingText",
    u"cachedTint", u"freshTint", u"outputTint", u"thinkingTint", u"segSystem", u"segTools", u"segDocument", u"segHistory", u"segNew"};

QPalette makePalette() {
  QPalette p;
  p.setColor(QPalette::Window, color(Role::Window));
  p.setColor(QPalette::WindowText, color(Role::Text));
  p.setColor(QPalette::Base, color(Role::Base));
  p.setColor(QPalette::AlternateBase, color(Role::Raised));
  p.setColor(QPalette::Text, color(Role::Text));
  p.setColor(QPalette::PlaceholderText, color(Role::Muted));
  p.setColor(QPalette::Button, color(Role::Raised));
  p.setColor(QPalette::ButtonText, color(Role::Text));
  p.setColor(QPalette::BrightText, color(Role::ErrorText));
  p.setColor(QPalette::Highlight, color(Role::Selection));
  p.setColor(QPalette::HighlightedText, color(Role::Text));
  p.setColor(QPalette::ToolTipBase, color(Role::Raised));
  p.setColor(QPalette::ToolTipText, color(Role::Text));
  p.setColor(QPalette::Link, color(Role::Accent));
  p.setColor(QPalette::LinkVisited, color(Role::Accent));
  p.setColor(QPalette::Light, color(Role::Raised));
  p.setColor(QPalette::Midlight, color(Role::Border));
  p.setColor(QPalette::Mid, color(Role::ControlBorder));
  p.setColor(QPalette::Dark, color(Role::ControlBorder));
  p.setColor(QPalette::Shadow, color(Role::Sunken));
  for (QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    p.setColor(QPalette::Disabled, role, color(Role::Muted));
  }
  return p;
}

}  // namespace

Theme& Theme::get() {
  static Theme* theme = new Theme;  // lives as long as the application object: destroyed with the process
  return *theme;
}

Theme::Theme() {
  initResources();
  desktopFont_ = QApplication::font();
  if (desktopFont_.pointSizeF() <= 0) desktopFont_.setPointSizeF(10);
  loadColors();
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  auto* desktop = new DesktopScheme(this);
  connect(desktop, &DesktopScheme::found, this, &Theme::desktopScheme);
  desktop->start();
  qApp->installEventFilter(this);
}

QString Theme::roleName(Role role) { return QString::fromUtf16(kRoleNames[static_cast<size_t>(role)]); }

void Theme::loadColors() {
  QFile file(QStringLiteral(":/themes/tokens.json"));
  if (!file.open(QIODevice::ReadOnly)) qFatal("The palette is missing from the program.");
  const QJsonObject root = QJsonDocument::fromJson(file.readAll()).object();
  const QJsonObject colors = root[dark_ ? QStringLiteral("dark") : QStringLiteral("light")].toObject();
  for (size_t i = 0; i < colors_.size(); ++i) {
    colors_[i] = QColor(colors[QString::fromUtf16(kRoleNames[i])].toString());
  }
}

void Theme::setScheme(const QString& scheme) {
  scheme_ = scheme;
  apply();
}

void Theme::setFontPercent(int percent) {
  fontPercent_ = qBound(50, percent, 300);
  apply();
}

void Theme::desktopScheme(bool known, bool dark) {
  desktopKnown_ = known;
  desktopDark_ = dark;
  if (scheme_ == QStringLiteral("system")) apply();
}

// System: what the desktop portal says; without one, the lightness of the palette the platform started with.
void Theme::apply() {
  applying_ = true;
  if (scheme_ == QStringLiteral("system")) {
    dark_ = desktopKnown_ ? desktopDark_ : QGuiApplication::palette().color(QPalette::Window).lightness() < 110;
    if (!desktopKnown_ && QApplication::palette().color(QPalette::Window) == colors_[0]) dark_ = false;
  } else {
    dark_ = scheme_ == QStringLiteral("dark");
  }
  loadColors();
  QFont font = desktopFont_;
  font.setPointSizeF(desktopFont_.pointSizeF() * fontPercent_ / 100.0);
  QApplication::setFont(font);
  QApplication::setPalette(makePalette());
  qApp->setStyleSheet(styleSheet());
  applying_ = false;
  Q_EMIT changed();
}

// A desktop that changes its palette at run time must not leave ours half applied.
bool Theme::eventFilter(QObject* watched, QEvent* event) {
  if (watched == qApp && event->type() == QEvent::ApplicationPaletteChange && !applying_ &&
      QApplication::palette().color(QPalette::Window) != color(Role::Window)) {
    QMetaObject::invokeMethod(this, &Theme::apply, Qt::QueuedConnection);
  }
  return QObject::eventFilter(watched, event);
}

qreal em(const QFont& font) { return QFontInfo(font).pixelSize(); }

QFont scaled(const QFont& base, qreal factor, bool semibold) {
  QFont font = base;
  if (base.pointSizeF() > 0) {
    font.setPointSizeF(base.pointSizeF() * factor);
  } else {
    font.setPixelSize(qMax(1, qRound(base.pixelSize() * factor)));
  }
  if (semibold) font.setWeight(QFont::DemiBold);
  return font;
}

QFont captionFont(const QFont& base) { return scaled(base, 0.85); }
QFont smallFont(const QFont& base) { return scaled(base, 0.92); }
QFont headingFont(const QFont& base) { return scaled(base, 1.15, true); }
QFont titleFont(const QFont& base) { return scaled(base, 1.5, true); }

QFont monoFont(const QFont& base) {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  font.setPointSizeF((base.pointSizeF() > 0 ? base.pointSizeF() : base.pixelSize() * 0.75) * 0.92);
  return font;
}

}  // namespace tg
