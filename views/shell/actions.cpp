#include "views/shell/actions.h"

#include <QCoreApplication>
#include <QMenu>
#include <QMenuBar>

#include "views/theme/icons.h"

namespace tg {
namespace {

struct ActionSpec {
  Act id;
  const char* name;   // objectName
  const char* menu;   // "-Menu": a separator stands before it
  const char* text;
  const char* keys;   // separated by a space
  const char* icon;
};

constexpr ActionSpec kActions[] = {
    {Act::NewChat, "actionNewChat", "File", QT_TRANSLATE_NOOP("tg::Actions", "&New chat"), "Ctrl+N", "chat-new"},
    {Act::NewFolder, "actionNewFolder", "File", QT_TRANSLATE_NOOP("tg::Actions", "New &folder"), "Ctrl+Shift+N", "folder-new"},
    {Act::AddModel, "actionAddModel", "File", QT_TRANSLATE_NOOP("tg::Actions", "Add a &model file …"), "", ""},
    {Act::Attach, "actionAttach", "File", QT_TRANSLATE_NOOP("tg::Actions", "&Attach a text file …"), "Ctrl+O", "attach"},
    {Act::Import, "actionImport", "-File", QT_TRANSLATE_NOOP("tg::Actions", "&Import chats …"), "", "import"},
    {Act::Export, "actionExport", "File", QT_TRANSLATE_NOOP("tg::Actions", "&Export this chat …"), "", "export"},
    {Act::CloseWindow, "actionCloseWindow", "-File", QT_TRANSLATE_NOOP("tg::Actions", "&Close window"), "Ctrl+W", ""},
    {Act::Quit, "actionQuit", "File", QT_TRANSLATE_NOOP("tg::Actions", "&Quit"), "Ctrl+Q", ""},
    {Act::Undo, "actionUndo", "Edit", QT_TRANSLATE_NOOP("tg::Actions", "&Undo"), "Ctrl+Z", ""},
    {Act::Copy, "actionCopy", "Edit", QT_TRANSLATE_NOOP("tg::Actions", "&Copy"), "Ctrl+C", "copy"},
    {Act::CopyCode, "actionCopyCode", "Edit", QT_TRANSLATE_NOOP("tg::Actions", "Copy the last code &block"), "Ctrl+Shift+C", ""},
    {Act::SelectAll, "actionSelectAll", "Edit", QT_TRANSLATE_NOOP("tg::Actions", "Select &all"), "Ctrl+A", ""},
    {Act::EditLast, "actionEditLast", "-Edit", QT_TRANSLATE_NOOP("tg::Actions", "&Edit the last message"), "Ctrl+Shift+E", "edit"},
    {Act::RenameChat, "actionRenameChat", "Edit", QT_TRANSLATE_NOOP("tg::Actions", "&Rename chat"), "F2", ""},
    {Act::DuplicateChat, "actionDuplicateChat", "Edit", QT_TRANSLATE_NOOP("tg::Actions", "D&uplicate chat"), "Ctrl+D", ""},
    {Act::MoveChat, "actionMoveChat", "Edit", QT_TRANSLATE_NOOP("tg::Actions", "&Move chat to …"), "Ctrl+Shift+M", ""},
    {Act::DeleteChat, "actionDeleteChat", "Edit", QT_TRANSLATE_NOOP("tg::Actions", "&Delete chat"), "Del", "delete"},
    {Act::Find, "actionFind", "-Edit", QT_TRANSLATE_NOOP("tg::Actions", "&Find in this chat"), "Ctrl+F", "search"},
    {Act::FindAll, "actionFindAll", "Edit", QT_TRANSLATE_NOOP("tg::Actions", "Find in a&ll chats"), "Ctrl+Shift+F", ""},
    {Act::Settings, "actionSettings", "-Edit", QT_TRANSLATE_NOOP("tg::Actions", "&Settings …"), "Ctrl+,", "nav-settings"},
    {Act::PageChats, "actionPageChats", "View", QT_TRANSLATE_NOOP("tg::Actions", "&Chats"), "Ctrl+1", "nav-chats"},
    {Act::PageCache, "actionPageCache", "View", QT_TRANSLATE_NOOP("tg::Actions", "C&ache"), "Ctrl+5", "nav-cache"},
    {Act::PageModels, "actionPageModels", "View", QT_TRANSLATE_NOOP("tg::Actions", "&Models"), "Ctrl+6", "nav-models"},
    {Act::ToggleList, "actionToggleList", "-View", QT_TRANSLATE_NOOP("tg::Actions", "Chat &list"), "Ctrl+B F9", "sidebar"},
    {Act::ToggleInspector, "actionToggleInspector", "View", QT_TRANSLATE_NOOP("tg::Actions", "&Inspector"), "F12", "inspector"},
    {Act::QuickSwitcher, "actionQuickSwitcher", "View", QT_TRANSLATE_NOOP("tg::Actions", "&Quick switcher"), "Ctrl+K", ""},
    {Act::FontLarger, "actionFontLarger", "-View", QT_TRANSLATE_NOOP("tg::Actions", "&Larger font"), "Ctrl++ Ctrl+=", ""},
    {Act::FontSmaller, "actionFontSmaller", "View", QT_TRANSLATE_NOOP("tg::Actions", "&Smaller font"), "Ctrl+-", ""},
    {Act::FontNormal, "actionFontNormal", "View", QT_TRANSLATE_NOOP("tg::Actions", "&Normal font"), "Ctrl+0", ""},
    {Act::NextArea, "actionNextArea", "-View", QT_TRANSLATE_NOOP("tg::Actions", "Next &area"), "F6", ""},
    {Act::PreviousArea, "actionPreviousArea", "View", QT_TRANSLATE_NOOP("tg::Actions", "&Previous area"), "Shift+F6", ""},
    {Act::DeveloperMode, "actionDeveloperMode", "-View", QT_TRANSLATE_NOOP("tg::Actions", "&Developer mode"), "Ctrl+Shift+D", ""},
    {Act::FocusComposer, "actionFocusComposer", "Chat", QT_TRANSLATE_NOOP("tg::Actions", "&Write a message"), "Ctrl+L", ""},
    {Act::Stop, "actionStop", "Chat", QT_TRANSLATE_NOOP("tg::Actions", "&Stop the answer"), "Esc", "stop"},
    {Act::Regenerate, "actionRegenerate", "Chat", QT_TRANSLATE_NOOP("tg::Actions", "&Regenerate"), "Ctrl+R", "regenerate"},
    {Act::VersionBefore, "actionVersionBefore", "-Chat", QT_TRANSLATE_NOOP("tg::Actions", "Version &before"), "Alt+Left", "version-prev"},
    {Act::VersionAfter, "actionVersionAfter", "Chat", QT_TRANSLATE_NOOP("tg::Actions", "Version &after"), "Alt+Right", "version-next"},
    {Act::TurnBefore, "actionTurnBefore", "Chat", QT_TRANSLATE_NOOP("tg::Actions", "Turn b&efore"), "Alt+Up", ""},
    {Act::TurnAfter, "actionTurnAfter", "Chat", QT_TRANSLATE_NOOP("tg::Actions", "Turn a&fter"), "Alt+Down", ""},
    {Act::TurnPopover, "actionTurnPopover", "Chat", QT_TRANSLATE_NOOP("tg::Actions", "&Figures of the turn"), "Ctrl+I", "details"},
    {Act::ChatBefore, "actionChatBefore", "-Chat", QT_TRANSLATE_NOOP("tg::Actions", "&Chat before"), "Ctrl+PgUp", ""},
    {Act::ChatAfter, "actionChatAfter", "Chat", QT_TRANSLATE_NOOP("tg::Actions", "C&hat after"), "Ctrl+PgDown", ""},
    {Act::ChooseModel, "actionChooseModel", "Chat", QT_TRANSLATE_NOOP("tg::Actions", "Choose &model"), "Ctrl+Shift+L", "nav-models"},
    {Act::KeepInRam, "actionKeepInRam", "Cache", QT_TRANSLATE_NOOP("tg::Actions", "Keep in &RAM"), "", "to-ram"},
    {Act::KeepOnDisk, "actionKeepOnDisk", "Cache", QT_TRANSLATE_NOOP("tg::Actions", "Keep on &disk"), "", "to-disk"},
    {Act::Pin, "actionPin", "Cache", QT_TRANSLATE_NOOP("tg::Actions", "&Pin"), "", "pin"},
    {Act::Evict, "actionEvict", "-Cache", QT_TRANSLATE_NOOP("tg::Actions", "&Evict"), "", "evict"},
    {Act::CacheBudgets, "actionCacheBudgets", "-Cache", QT_TRANSLATE_NOOP("tg::Actions", "&Budgets …"), "", "nav-settings"},
    {Act::CheckCache, "actionCheckCache", "Cache", QT_TRANSLATE_NOOP("tg::Actions", "&Check integrity"), "", "check"},
    {Act::ClearCache, "actionClearCache", "Cache", QT_TRANSLATE_NOOP("tg::Actions", "C&lear all …"), "", ""},
    {Act::RecentlyDeleted, "actionRecentlyDeleted", "Tools", QT_TRANSLATE_NOOP("tg::Actions", "&Recently deleted"), "", ""},
    {Act::ShortcutSheet, "actionShortcutSheet", "Help", QT_TRANSLATE_NOOP("tg::Actions", "&Keys"), "Ctrl+?", ""},
    {Act::HelpPage, "actionHelp", "Help", QT_TRANSLATE_NOOP("tg::Actions", "&Help"), "F1", "help"},
    {Act::About, "actionAbout", "-Help", QT_TRANSLATE_NOOP("tg::Actions", "&About Turnglass"), "", "info"},
};

constexpr const char* kMenus[][2] = {{"File", QT_TRANSLATE_NOOP("tg::Actions", "&File")},   {"Edit", QT_TRANSLATE_NOOP("tg::Actions", "&Edit")},
                                     {"View", QT_TRANSLATE_NOOP("tg::Actions", "&View")},   {"Chat", QT_TRANSLATE_NOOP("tg::Actions", "&Chat")},
                                     {"Cache", QT_TRANSLATE_NOOP("tg::Actions", "C&ache")}, {"Tools", QT_TRANSLATE_NOOP("tg::Actions", "&Tools")},
                                     {"Help", QT_TRANSLATE_NOOP("tg::Actions", "&Help")}};

QString translated(const char* text) { return QCoreApplication::translate("tg::Actions", text); }

}  // namespace

Actions::Actions(QWidget* window) : QObject(window) {
  static_assert(std::size(kActions) == static_cast<size_t>(Act::Count));
  actions_.resize(static_cast<int>(Act::Count));
  for (const ActionSpec& spec : kActions) {
    auto* action = new QAction(translated(spec.text), this);
    action->setObjectName(QString::fromLatin1(spec.name));
    QList<QKeySequence> keys;
    for (const QString& key : QString::fromLatin1(spec.keys).split(QLatin1Char(' '), Qt::SkipEmptyParts)) keys << QKeySequence(key);
    action->setShortcuts(keys);
    if (spec.icon[0] != '\0') action->setIcon(icon(QString::fromLatin1(spec.icon)));
    action->setVisible(false);
    actions_[static_cast<int>(spec.id)] = action;
    window->addAction(action);
  }
  get(Act::DeveloperMode)->setCheckable(true);
  get(Act::Quit)->setMenuRole(QAction::QuitRole);
  get(Act::Settings)->setMenuRole(QAction::PreferencesRole);
  get(Act::About)->setMenuRole(QAction::AboutRole);
}

void Actions::on(Act id, QObject* context, std::function<void()> handler) {
  connect(get(id), &QAction::triggered, context, [handler = std::move(handler)] { handler(); });
  get(id)->setVisible(true);
}

void Actions::fill(QMenuBar* bar) const {
  for (const auto& [key, title] : kMenus) {
    QMenu* menu = bar->addMenu(translated(title));
    menu->setObjectName(QStringLiteral("menu") + QString::fromLatin1(key));
    for (const ActionSpec& spec : kActions) {
      const bool separator = spec.menu[0] == '-';
      if (qstrcmp(spec.menu + (separator ? 1 : 0), key) != 0) continue;
      if (separator) menu->addSeparator();
      menu->addAction(get(spec.id));
    }
    // A menu whose actions all belong to parts that are not there is not there either.
    const auto show = [menu] {
      bool any = false;
      for (const QAction* a : menu->actions()) any = any || (!a->isSeparator() && a->isVisible());
      menu->menuAction()->setVisible(any);
    };
    for (QAction* a : menu->actions()) connect(a, &QAction::changed, menu, show);
    show();
  }
}

QString Actions::menuOf(Act id) {
  const char* menu = std::find_if(std::begin(kActions), std::end(kActions), [id](const ActionSpec& s) { return s.id == id; })->menu;
  return QString::fromLatin1(menu[0] == '-' ? menu + 1 : menu);
}

}  // namespace tg
