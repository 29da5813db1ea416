// Colours, fonts and scheme of the whole program: one object that owns the palette of resources/themes/tokens.json and applies it.
// Thread: GUI thread. Painted widgets ask color() at paint time and repaint on changed().
#pragma once
#include <QColor>
#include <QFont>
#include <QObject>
#include <QString>
#include <array>

namespace tg {

enum class Role {
  Window, Base, Raised, Sunken, Border, ControlBorder, Text, Muted, Accent, OnAccent, Selection, Focus,
  WarnText, WarnBg, ErrorText, ErrorBg, OkText, OkBg, UserBg, CodeBg,
  Cached, Fresh, Output, Thinking, CachedText, FreshText, OutputText, ThinkingText,
  CachedTint, FreshTint, OutputTint, ThinkingTint, SegSystem, SegTools, SegDocument, SegHistory, SegNew,
  Count
};

class Theme : public QObject {
  Q_OBJECT
 public:
  static Theme& get();

  void setScheme(const QString& scheme);  // system, light or dark
  void setFontPercent(int percent);       // 50 to 300, of the font the desktop gave
  QString scheme() const { return scheme_; }
  bool isDark() const { return dark_; }
  QColor color(Role role) const { return colors_[static_cast<size_t>(role)]; }
  static QString roleName(Role role);     // the key in tokens.json

 Q_SIGNALS:
  void changed();

 private:
  Theme();
  bool eventFilter(QObject* watched, QEvent* event) override;
  void desktopScheme(bool known, bool dark);
  void apply();
  void loadColors();

  QString scheme_ = QStringLiteral("system");
  bool dark_ = false, desktopKnown_ = false, desktopDark_ = false, applying_ = false;
  int fontPercent_ = 100;
  QFont desktopFont_;
  std::array<QColor, static_cast<size_t>(Role::Count)> colors_;
};

inline QColor color(Role role) { return Theme::get().color(role); }

// Sizes follow the font (UI.md 2.2).
qreal em(const QFont& font);              // pixels of the font's size
QFont scaled(const QFont& base, qreal factor, bool semibold = false);
QFont captionFont(const QFont& base);     // 0.85
QFont smallFont(const QFont& base);       // 0.92
QFont headingFont(const QFont& base);     // 1.15 semibold
QFont titleFont(const QFont& base);       // 1.5 semibold
QFont monoFont(const QFont& base);        // 0.92, fixed pitch

}  // namespace tg
