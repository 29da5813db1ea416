#include "views/theme/style_sheet.h"

#include <QApplication>

#include "views/theme/theme.h"

namespace tg {
namespace {

// @role stands for a colour of the palette. Properties `kind` on buttons: primary, flat, chip, nav.
constexpr char16_t kSheet[] = uR"(
QMainWindow, QDialog { background: @window; }
QToolTip { background: @raised; color: @text; border: 1px solid @controlBorder; padding: 3px; }
QPushButton, QComboBox, QSpinBox, QDoubleSpinBox { background: @raised; color: @text; border: 1px solid @controlBorder; border-radius: 5px;
  padding: 0.36em 0.8em; }
QPushButton:hover, QComboBox:hover { background: @userBg; }
QPushButton:pressed, QPushButton:checked { background: @selection; }
QPushButton:disabled, QComboBox:disabled, QSpinBox:disabled { color: @muted; border-color: @border; }
QPushButton:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QLineEdit:focus { border: 2px solid @focus; }
QPushButton:default { border-color: @accent; }
QPushButton[kind="primary"] { background: @accent; color: @onAccent; border: 1px solid @accent; font-weight: 600; }
QPushButton[kind="primary"]:disabled { background: @sunken; border-color: @border; color: @muted; }
QPushButton[kind="primary"]:focus { border: 2px solid @text; }
QPushButton[kind="segment"] { border-radius: 0; margin-right: -1px; padding: 0.36em 0.6em; }
QPushButton[kind="segment"][last="true"] { margin-right: 0; }
QPushButton[kind="segment"]:checked { background: @accent; color: @onAccent; font-weight: 600; }
QFrame#turnPopover, QFrame#contextPopover, QFrame#rowActionBar { background: @raised; border: 1px solid @controlBorder; border-radius: 8px; }
QFrame[kind="warning"] { background: @warnBg; border: none; border-left: 3px solid @warnText; }
QFrame[kind="warning"] QLabel { color: @warnText; background: transparent; }
QLabel[kind="warning"] { color: @warnText; background: transparent; border: none; }
QFrame[kind="note"] { background: @userBg; border: none; border-left: 3px solid @accent; }
QFrame[kind="note"] QLabel { background: transparent; }
QFrame[kind="ok"] { background: @okBg; border: none; border-left: 3px solid @okText; }
QFrame[kind="ok"] QLabel { color: @okText; background: transparent; }
QPushButton[kind="flat"], QToolButton { background: transparent; border: 1px solid transparent; border-radius: 5px; padding: 0.3em; color: @text; }
QPushButton[kind="flat"]:hover, QToolButton:hover { background: @sunken; }
QToolButton:pressed, QToolButton:checked { background: @selection; border-color: @accent; }
QPushButton[kind="flat"]:focus, QToolButton:focus { border: 2px solid @focus; }
QToolButton:disabled { color: @muted; }
QToolButton, QPushButton { qproperty-iconSize: %1px %1px; }
QToolButton[kind="nav"] { qproperty-iconSize: %2px %2px; }
QToolButton[kind="edged"] { border: 1px solid @controlBorder; background: @raised; }
QToolButton[kind="edged"]:focus { border: 2px solid @focus; }
QToolButton[kind="chip"] { border: 1px solid @controlBorder; border-radius: 10px; background: @raised; padding: 0.1em 0.3em; }
QToolButton[kind="chip"]:focus { border: 2px solid @focus; }
QSpinBox::up-button, QDoubleSpinBox::up-button { subcontrol-origin: border; subcontrol-position: top right; width: 1.3em; border: none; }
QSpinBox::down-button, QDoubleSpinBox::down-button { subcontrol-origin: border; subcontrol-position: bottom right; width: 1.3em; border: none; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url(:/icons/arrow-up.svg); width: 0.7em; height: 0.7em; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow, QComboBox::down-arrow { image: url(:/icons/arrow-down.svg); width: 0.7em; height: 0.7em; }
QComboBox::drop-down { border: none; width: 1.6em; }
QToolButton::menu-indicator { image: none; }
QLabel[kind="chip"] { border: 1px solid @accent; border-radius: 10px; color: @accent; padding: 0.15em 0.7em; }
QLabel[kind="muted"] { color: @muted; }
QLineEdit { background: @base; color: @text; border: 1px solid @controlBorder; border-radius: 5px; padding: 0.36em 0.5em;
  selection-background-color: @selection; selection-color: @text; }
QLineEdit[kind="bare"] { border: 1px solid transparent; background: transparent; padding: 0.1em; }
QLineEdit[kind="bare"]:focus { border: 2px solid @focus; background: @base; }
QMenuBar { background: @window; color: @text; border-bottom: 1px solid @border; padding: 1px 8px; }
QMenuBar::item { padding: 0.3em 0.75em; background: transparent; border-radius: 5px; }
QMenuBar::item:selected { background: @selection; }
QMenu { background: @raised; color: @text; border: 1px solid @controlBorder; padding: 4px; }
QMenu::item { padding: 0.35em 2em 0.35em 1.6em; border-radius: 4px; }
QMenu::item:selected { background: @selection; color: @text; }
QMenu::item:disabled { color: @muted; }
QMenu::separator { height: 1px; background: @border; margin: 4px 6px; }
QMenu::icon { padding-left: 0.4em; }
QFrame#navRail, QFrame#chatListPanel, QWidget#composerDock { background: @window; }
QFrame#navRail, QFrame#chatListPanel { border: none; border-right: 1px solid @border; }
QFrame#chatListFoot { border: none; border-top: 1px solid @border; }
QFrame#chatHeader, QFrame#findBar, QFrame#pageHeader { background: @base; border: none; border-bottom: 1px solid @border; }
QWidget#cachePage { background: @base; }
QScrollArea#cacheDetailScroll { background: @window; border: none; border-left: 1px solid @border; }
QFrame#cacheDetail { background: @window; border: none; border-left: 1px solid @border; }
QFrame#inspectorDock { background: @base; border: none; border-left: 1px solid @border; }
QWidget#tabTurn, QWidget#tabTurnBody, QWidget#tabCache, QWidget#tabCacheBody { background: @base; }
QFrame#composerDock { border: none; border-top: 1px solid @border; }
QFrame#composer { background: @base; border: 1px solid @controlBorder; border-radius: 8px; }
QFrame#turnStrip { background: @raised; border: none; border-top: 1px solid @border; }
QFrame#errorStrip { background: @errorBg; border: none; }
QFrame#errorStrip QLabel { color: @errorText; }
QFrame#toast { background: @raised; border: 1px solid @controlBorder; border-radius: 8px; }
QFrame#rule { background: @border; border: none; }
QToolButton[kind="nav"] { border: 1px solid transparent; border-left: 3px solid transparent; padding: 0.5em 0.2em; color: @muted; }
QToolButton[kind="nav"]:checked { background: @selection; border: 1px solid @selection; border-left: 3px solid @accent; color: @text; font-weight: 600; }
QToolButton[kind="nav"]:focus { border: 2px solid @focus; }
QStatusBar { background: @window; color: @muted; border-top: 1px solid @border; }
QStatusBar::item { border: none; }
QSplitter::handle { background: @border; }
QSplitter::handle:horizontal { width: 1px; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: @muted; padding: 0.55em 0.9em; border-bottom: 2px solid transparent; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @accent; font-weight: 600; }
QTabBar::tab:focus { border: 2px solid @focus; }
QTabWidget::pane { border: none; border-top: 1px solid @border; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: @controlBorder; border-radius: 3px; margin: 2px; min-height: 28px; min-width: 28px; }
QScrollBar::handle:hover { background: @muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractItemView { background: @base; color: @text; border: 1px solid @border; selection-background-color: @selection; selection-color: @text;
  outline: none; }
QAbstractItemView:focus { border: 2px solid @focus; }
QTableView[kind="plain"] { border: 1px solid transparent; background: transparent; }
QTableView[kind="plain"]:focus { border: 2px solid @focus; }
QTableView[kind="plain"] QHeaderView { border: none; background: @base; }
QTableView[kind="plain"] QHeaderView::section { background: @base; padding: 0.35em 0.65em; }
QHeaderView::section { background: @window; color: @muted; border: none; border-bottom: 1px solid @border; padding: 0.35em 0.6em; }
QTextEdit, QPlainTextEdit { background: @base; color: @text; border: 1px solid @controlBorder; border-radius: 5px;
  selection-background-color: @selection; selection-color: @text; }
QTextEdit:focus, QPlainTextEdit:focus { border: 2px solid @focus; }
QProgressBar { border: 1px solid @controlBorder; border-radius: 3px; background: @sunken; text-align: center; }
QProgressBar::chunk { background: @accent; }
QGroupBox { border: 1px solid @border; border-radius: 8px; margin-top: 0.8em; padding: 0.6em; }
QGroupBox::title { subcontrol-origin: margin; left: 12px; color: @muted; }
)";

}  // namespace

QString styleSheet() {
  QString sheet = QString::fromUtf16(kSheet);
  // Longer names first: @text must not eat the start of a longer name.
  QList<QPair<QString, QString>> names;
  for (int i = 0; i < static_cast<int>(Role::Count); ++i) {
    names.append({Theme::roleName(static_cast<Role>(i)), color(static_cast<Role>(i)).name()});
  }
  std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [name, value] : names) sheet.replace(QLatin1Char('@') + name, value);
  const qreal unit = em(QApplication::font());
  return sheet.replace(QStringLiteral("%1"), QString::number(qRound(unit * 1.25))).replace(QStringLiteral("%2"), QString::number(qRound(unit * 1.5)));
}

}  // namespace tg
