#include "views/shell/self_test.h"

#include <QEventLoop>
#include <QStackedWidget>
#include <QTemporaryDir>
#include <QTextStream>
#include <QTimer>

#include "app/application.h"
#include "app/settings.h"
#include "views/chats/chat_view.h"
#include "views/chats/chats_page.h"
#include "views/shell/main_window.h"
#include "views/theme/icons.h"
#include "views/theme/theme.h"
#include "views/transcript/transcript_view.h"

namespace tg {
namespace {

using namespace Qt::StringLiterals;

class Checks {
 public:
  void check(bool ok, const QString& what) {
    QTextStream(stdout) << (ok ? u"ok      "_s : u"FAILED  "_s) << what << Qt::endl;
    if (!ok) ++failed_;
  }
  int failed() const { return failed_; }

 private:
  int failed_ = 0;
};

// Runs events until DONE or ten seconds.
bool waitFor(const std::function<bool()>& done) {
  QEventLoop loop;
  QTimer look, limit;
  look.setInterval(10);
  limit.setSingleShot(true);
  QObject::connect(&look, &QTimer::timeout, &loop, [&] {
    if (done()) loop.quit();
  });
  QObject::connect(&limit, &QTimer::timeout, &loop, &QEventLoop::quit);
  look.start();
  limit.start(10000);
  loop.exec();
  return done();
}

void checkLook(Checks& checks) {
  int drawn = 0;
  const QStringList names = iconNames();
  for (const QString& name : names) drawn += icon(name).pixmap(20, 20).isNull() ? 0 : 1;
  checks.check(drawn == names.size() && drawn > 60, u"%1 of %2 icons are drawn"_s.arg(drawn).arg(names.size()));
  bool colours = true;
  for (const QString& scheme : {u"dark"_s, u"light"_s}) {
    Theme::get().setScheme(scheme);
    for (int i = 0; i < static_cast<int>(Role::Count); ++i) colours = colours && color(static_cast<Role>(i)).isValid();
  }
  checks.check(colours, u"both palettes are complete"_s);
}

void checkTurn(Checks& checks, MainWindow& window, ChatService& chats) {
  const QString id = chats.createChat(u"Self test"_s, u"scripted.gguf"_s, {});
  window.chatsPage()->openChat(id);
  window.chatsPage()->view()->send(u"Which day was the warmest?"_s, {});
  const bool finished = waitFor([&] {
    const QVector<MessageInfo> all = chats.messages(id);
    return all.size() == 2 && all.last().state == TurnState::Finished && all.last().record;
  });
  checks.check(finished, u"one turn with the scripted engine, on disk"_s);
  if (!finished) return;
  const TurnRecord r = *chats.messages(id).last().record;
  checks.check(r.inputTotal == r.inputCached.value_or(0) + r.inputFresh.value_or(0), u"its figures add up"_s);
  const TranscriptModel* model = window.chatsPage()->view()->transcript()->transcript();
  const int last = model->rowCount() - 1;
  checks.check(last > 0 && model->row(last).kind == RowKind::Footer, u"its footer line: %1"_s.arg(model->data(model->index(last), Qt::DisplayRole).toString()));
}

}  // namespace

int runSelfTest() {
  Checks checks;
  QTemporaryDir folder;
  QString error;
  AppOptions options;
  options.profile = folder.path();
  options.scriptedEngine = u"instant"_s;
  const std::unique_ptr<Application> app = Application::create(options, &error);
  checks.check(app != nullptr, u"a profile and its database open %1"_s.arg(error));
  if (!app) return 1;
  checkLook(checks);
  checks.check(!app->priceRows().isEmpty(), u"the price book of %1 has %2 rows"_s.arg(app->priceBookDate()).arg(app->priceRows().size()));
  {
    MainWindow window(*app);
    window.start();
    window.resize(1280, 820);
    window.show();
    for (int page : window.pages()) {
      window.showPage(page);
      QWidget* shown = window.pageStack()->currentWidget();
      checks.check(!shown->grab().isNull(), u"page %1 is built"_s.arg(shown->objectName()));
    }
    window.showPage(0);
    for (const auto& [name, make] : window.dialogs()) {
      QWidget* dialog = make();
      checks.check(dialog && !dialog->grab().isNull(), u"dialog %1 is built"_s.arg(name));
      if (dialog) dialog->deleteLater();
    }
    checkTurn(checks, window, app->chats());
  }
  app->shutdown();
  QTextStream(stdout) << (checks.failed() == 0 ? u"All checks passed."_s : u"%1 checks failed."_s.arg(checks.failed())) << Qt::endl;
  return checks.failed() == 0 ? 0 : 1;
}

}  // namespace tg
