#include "views/pages/install_pages.h"

#include <QDesktopServices>
#include <QFileDialog>
#include <QFileInfo>
#include <QUrl>

#include "app/cache_overview.h"
#include "app/format.h"
#include "views/cache/budgets_dialog.h"
#include "views/cache/cache_page.h"
#include "views/chats/chat_view.h"
#include "views/chats/chats_page.h"
#include "views/composer/composer.h"
#include "views/dialogs/overflow_flow.h"
#include "views/dialogs/quick_switcher.h"
#include "views/dialogs/settings_dialog.h"
#include "views/dialogs/small_dialogs.h"
#include "views/dialogs/template_dialog.h"
#include "views/dialogs/transfer_dialogs.h"
#include "views/pages/first_run_page.h"
#include "views/pages/models_page.h"
#include "views/shell/main_window.h"
#include "views/shell/toast.h"

namespace tg {
namespace {

using namespace Qt::StringLiterals;

// Shows DIALOG without blocking; it deletes itself.
template <class Dialog>
Dialog* opened(Dialog* dialog) {
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
  return dialog;
}

// One action = one dialog; --grab and --self-test build it as well.
void addDialogAction(MainWindow& window, Act act, const QString& name, const std::function<QDialog*()>& make) {
  window.actions().on(act, &window, [make] { opened(make()); });
  window.addDialog(name, make);
}

const ModelInfo* modelAt(const QVector<ModelInfo>& models, const QString& path) {
  const auto found = std::find_if(models.begin(), models.end(), [&](const ModelInfo& m) { return m.path == path; });
  return found == models.end() ? nullptr : &*found;
}

void describeDemo(FirstRunPage& page, const ModelCatalogue& catalogue) {
  const QVector<ModelInfo> models = catalogue.models();
  const QString path = catalogue.defaultModel();
  const ModelInfo* demo = modelAt(models, path);
  if (!demo && !path.isEmpty()) {
    // The first look at the folders is still on its way: the file is there, and it can be started with.
    page.setDemoModel(FirstRunPage::tr("%1, %2.").arg(QFileInfo(path).completeBaseName(), format::bytes(QFileInfo(path).size())), {});
    return;
  }
  if (!demo) {
    page.setDemoModel({}, FirstRunPage::tr("No model is installed yet. The set-up command fetches one; or use a file you have."));
    return;
  }
  const QString size = format::bytes(demo->fileBytes), parameters = FirstRunPage::tr("%1 million parameters").arg(demo->parameters / 1000000);
  page.setDemoModel(FirstRunPage::tr("%1, %2. Small enough for any computer. Good for trying out, not for facts.").arg(parameters, size), {});
}

void useModel(MainWindow& window, const QString& path) {
  window.application().models().addFile(path);
  ChatsPage* chats = window.chatsPage();
  if (chats->view()->chatId().isEmpty()) chats->newChat();
  window.application().chats().setModel(chats->view()->chatId(), path);
  window.showPage(0);
  chats->view()->composer()->focusEdit();
}

void chooseModelFile(MainWindow& window) {
  auto* dialog = opened(new QFileDialog(&window, FirstRunPage::tr("Use a model file"), QString(), FirstRunPage::tr("Models (*.gguf)")));
  QObject::connect(dialog, &QFileDialog::fileSelected, &window, [&window](const QString& path) { useModel(window, path); });
}

void installFirstRun(MainWindow& window) {
  Application& app = window.application();
  auto* page = new FirstRunPage;
  auto* hardware = new Hardware(page);
  describeDemo(*page, app.models());
  QObject::connect(&app.models(), &ModelCatalogue::changed, page, [page, &app] { describeDemo(*page, app.models()); });
  hardware->look();
  page->setHardware(hardware->report(), false);
  QObject::connect(page, &FirstRunPage::measure, hardware, [page, hardware] {
    page->setHardware(hardware->report(), true);
    hardware->measure();
  });
  QObject::connect(hardware, &Hardware::measured, page, [page, hardware] { page->setHardware(hardware->report(), false); });
  QObject::connect(page, &FirstRunPage::startDemo, &window, [&window] {
    window.chatsPage()->newChat();
    window.chatsPage()->view()->composer()->focusEdit();
  });
  QObject::connect(page, &FirstRunPage::chooseFile, &window, [&window] { chooseModelFile(window); });
  QObject::connect(page, &FirstRunPage::starterChosen, &window, [&window](const QString& text) {
    window.chatsPage()->view()->composer()->setText(text);
    window.chatsPage()->view()->composer()->focusEdit();
  });
  window.chatsPage()->setFirstRunPage(page);
}

QVector<QuickSwitcher::Entry> switcherEntries(MainWindow& window) {
  QVector<QuickSwitcher::Entry> entries;
  for (const ChatInfo& chat : window.application().chats().chats()) {
    entries.append({chat.title, QuickSwitcher::tr("chat"), u"nav-chats"_s, [&window, id = chat.id] {
      window.showPage(0);
      window.chatsPage()->openChat(id);
    }});
  }
  for (QAction* action : window.actions().all()) {
    if (!action->isVisible() || !action->isEnabled()) continue;
    entries.append({QString(action->text()).remove(u'&'), action->shortcut().toString(QKeySequence::NativeText), u"chevron-right"_s, [action] { action->trigger(); }});
  }
  return entries;
}

QVector<ShortcutSheet::Key> allKeys(const MainWindow& window) {
  QVector<ShortcutSheet::Key> keys;
  for (int i = 0; i < int(Act::Count); ++i) {
    QAction* action = window.actions().get(Act(i));
    if (action->isVisible()) keys += ShortcutSheet::keysOf({action}, Actions::menuOf(Act(i)));
  }
  return keys;
}

void installTransfer(MainWindow& window) {
  ChatService& chats = window.application().chats();
  const auto exportDialog = [&window, &chats] {
    auto* dialog = new ExportDialog(chats, window.chatsPage()->view()->chatId(), &window);
    QObject::connect(dialog, &ExportDialog::saved, &window, [&window](const QString& path) { window.toast()->say(ExportDialog::tr("Exported into %1.").arg(path)); });
    return dialog;
  };
  window.actions().on(Act::Export, &window, [&window, exportDialog] {
    if (!window.chatsPage()->view()->chatId().isEmpty()) opened(exportDialog());
  });
  window.addDialog(u"export"_s, exportDialog);
  addDialogAction(window, Act::Import, u"import"_s, [&window, &chats] {
    auto* dialog = new ImportDialog(chats, &window);
    QObject::connect(dialog, &ImportDialog::done, &window, [&window](int count, const QString& first) {
      window.toast()->say(count == 1 ? ImportDialog::tr("One chat imported.") : ImportDialog::tr("%1 chats imported.").arg(count));
      window.showPage(0);
      if (!first.isEmpty()) window.chatsPage()->openChat(first);
    });
    return dialog;
  });
}

void installDialogs(MainWindow& window) {
  Application& app = window.application();
  addDialogAction(window, Act::Settings, u"settings"_s, [&window, &app] {
    auto* dialog = new SettingsDialog(app, &window);
    QObject::connect(dialog, &SettingsDialog::recentlyDeletedRequested, &window, [&window] { window.actions().get(Act::RecentlyDeleted)->trigger(); });
    return dialog;
  });
  addDialogAction(window, Act::QuickSwitcher, u"quick-switcher"_s, [&window] { return new QuickSwitcher(switcherEntries(window), &window); });
  addDialogAction(window, Act::ShortcutSheet, u"keys"_s, [&window] { return new ShortcutSheet(allKeys(window), &window); });
  addDialogAction(window, Act::About, u"about"_s, [&window, &app] { return new AboutDialog(app.deviceStatus().device, &window); });
  addDialogAction(window, Act::RecentlyDeleted, u"recently-deleted"_s, [&window, &app] { return new RecentlyDeletedDialog(app.chats(), &window); });
  window.addDialog(u"overflow"_s, [&window] { return exampleOverflow(&window); });
  window.addDialog(u"template"_s, [&window] { return exampleTemplateDialog(&window); });
  window.addDialog(u"close"_s, [&window] { return new CloseDialog(2, &window); });
  window.addNavigationAction(u"navSettings"_s, u"nav-settings"_s, QObject::tr("Settings"), Act::Settings);
}

int answersBeingWritten(ChatService& chats) {
  int n = 0;
  for (const ChatInfo& chat : chats.chats()) n += chats.liveTurn(chat.id).has_value() ? 1 : 0;
  return n;
}

// "Keep writing" hides the window and closes it after the last answer; nothing is asked twice.
void installCloseQuestion(MainWindow& window) {
  window.setCloseQuestion([&window, decided = std::make_shared<bool>(false)] {
    ChatService& chats = window.application().chats();
    const int running = answersBeingWritten(chats);
    if (running == 0 || *decided) return true;
    auto* dialog = opened(new CloseDialog(running, &window));
    QObject::connect(dialog, &CloseDialog::stopAndClose, &window, [&window, &chats, decided] {
      *decided = true;
      for (const ChatInfo& chat : chats.chats()) {
        if (chats.liveTurn(chat.id)) chats.stop(chat.id);
      }
      window.close();
    });
    QObject::connect(dialog, &CloseDialog::keepWriting, &window, [&window, &chats] {
      window.hide();
      QObject::connect(&chats, &ChatService::turnFinished, &window, [&window, &chats] {
        if (!window.isVisible() && answersBeingWritten(chats) == 0) window.close();
      });
    });
    return false;
  });
}

// The page, and its actions from the menu, which show it first.
void installCache(MainWindow& window) {
  Application& app = window.application();
  const int number = window.addPage(u"navCache"_s, u"nav-cache"_s, QObject::tr("Cache"), Act::PageCache, [&window, &app](QWidget* parent) {
    auto* page = new CachePage(app, parent);
    QObject::connect(page, &CachePage::chatWanted, &window, [&window](const QString& chat) {
      window.showPage(0);
      window.chatsPage()->openChat(chat);
    });
    return page;
  }, true);
  const auto on = [&window, number](Act act, void (CachePage::*then)()) {
    window.actions().on(act, &window, [&window, number, then] {
      window.showPage(number);
      (window.findChild<CachePage*>()->*then)();
    });
  };
  on(Act::CacheBudgets, &CachePage::openBudgets);
  on(Act::CheckCache, &CachePage::checkIntegrity);
  on(Act::ClearCache, &CachePage::askClear);
  window.addDialog(u"budgets"_s, [&window, &app] { return new BudgetsDialog(app.cache(), &window); });
}

}  // namespace

void installPages(MainWindow& window) {
  Application& app = window.application();
  installCache(window);
  window.addPage(u"navModels"_s, u"nav-models"_s, QObject::tr("Models"), Act::PageModels, [&window, &app](QWidget* parent) {
    auto* page = new ModelsPage(app.models(), parent);
    QObject::connect(page, &ModelsPage::useInChat, &window, [&window](const QString& path) { useModel(window, path); });
    QObject::connect(page, &ModelsPage::openFolder, &window, [](const QString& path) { QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(path).absolutePath())); });
    return page;
  });
  installFirstRun(window);
  installDialogs(window);
  installTransfer(window);
  installTemplateChooser(window);
  installCloseQuestion(window);
  installOverflow(window);
}

}  // namespace tg
