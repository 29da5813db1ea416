// A profile in a temporary folder with a scripted engine behind the real services and the real database. For tests of app/.
#pragma once
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "app/application_impl.h"
#include "app/scripted_engine.h"

namespace tg::test {

class ServiceFixture {
 public:
  // The scripts "manual" and its relatives move only by engine().advance().
  explicit ServiceFixture(const QString& script = QStringLiteral("manual")) : script_(script) { open(); }

  void open() {
    AppOptions options;
    options.profile = dir_.path();
    options.scriptedEngine = script_;
    app_ = ApplicationImpl::open(options, &error_);
    QVERIFY2(app_ != nullptr, qPrintable(error_));
    QObject::connect(&app_->service(), &ChatService::failed, &app_->service(),
                     [](const QString&, const QString& sentence, const QString& details) { qInfo("failed: %s %s", qPrintable(sentence), qPrintable(details)); });
  }
  void reopen() {
    app_.reset();
    open();
  }
  ApplicationImpl& app() { return *app_; }
  ChatServiceImpl& chats() { return app_->service(); }
  ScriptedEngine& engine() { return *qobject_cast<ScriptedEngine*>(&app_->engine()); }
  QString profile() const { return dir_.path(); }

  QString chat(const QString& title = QStringLiteral("a"), const GenerationSettings& settings = {}) { return chats().createChat(title, QStringLiteral("scripted.gguf"), settings); }

  // Sends and waits until the turn runs.
  void start(const QString& chat, const QString& text) {
    chats().send(chat, text, {});
    QTRY_VERIFY(chats().liveTurn(chat).has_value());
  }
  // Sends and waits until the turn is on disk.
  void turn(const QString& chat, const QString& text) {
    start(chat, text);
    finish(chat);
  }
  void finish(const QString& chat) {
    engine().finishAll();
    QTRY_VERIFY(!chats().liveTurn(chat).has_value());
  }
  QStringList texts(const QString& chat) {
    QStringList out;
    for (const MessageInfo& m : chats().messages(chat)) out << m.text;
    return out;
  }

 private:
  QTemporaryDir dir_;
  QString script_, error_;
  std::unique_ptr<ApplicationImpl> app_;
};

}  // namespace tg::test
