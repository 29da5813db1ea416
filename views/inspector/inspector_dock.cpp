#include "views/inspector/inspector_dock.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/settings.h"
#include "views/chats/chat_view.h"
#include "views/inspector/cache_tab.h"
#include "views/inspector/explain_tab.h"
#include "views/inspector/turn_tab.h"
#include "views/theme/icons.h"

namespace tg {

using namespace Qt::StringLiterals;

InspectorDock::InspectorDock(Application& app, ChatView* view, QWidget* parent) : QFrame(parent), app_(app), view_(view) {
  setObjectName(u"inspectorDock"_s);
  setAttribute(Qt::WA_StyledBackground);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 4, 0, 0);
  tabs_ = new QTabWidget(this);
  tabs_->setObjectName(u"inspectorTabs"_s);
  tabs_->setAccessibleName(tr("Inspector"));
  tabs_->tabBar()->setAccessibleName(tr("Inspector tabs"));
  turn_ = new TurnTab(tabs_);
  tabs_->addTab(turn_, tr("Turn"));
  cache_ = new CacheTab(app, tabs_);
  cache_->hide();
  explain_ = new ExplainTab(tabs_);
  explain_->hide();
  showTabs();
  connect(&app.settings(), &Settings::changed, this, [this](Setting key) {
    if (key == Setting::DeveloperMode) showTabs();
  });
  copy_ = new QToolButton(tabs_);
  copy_->setObjectName(u"copyFigures"_s);
  copy_->setIcon(icon(u"copy"_s, Role::Muted));
  copy_->setAccessibleName(tr("Copy the figures of this turn"));
  copy_->setToolTip(copy_->accessibleName());
  connect(copy_, &QToolButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(figures()); });
  tabs_->setCornerWidget(copy_);
  column->addWidget(tabs_);
  connect(view, &ChatView::currentTurnChanged, this, &InspectorDock::refresh);
  connect(&app.chats(), &ChatService::messageChanged, this, [this](const QString& chat, const MessageInfo& m) {
    if (chat == view_->chatId() && m.record && !m.record->rateCurve.isEmpty()) refresh();  // its speed curve came from the disk
  });
  connect(turn_, &TurnTab::turnWanted, view, &ChatView::selectTurn);
  connect(&Theme::get(), &Theme::changed, this, &InspectorDock::refresh);
}

void InspectorDock::showTabs() {
  const bool developer = app_.settings().get(Setting::DeveloperMode).toBool();
  const auto show = [&](QWidget* tab, const QString& name) {
    const int at = tabs_->indexOf(tab);
    if (developer && at < 0) tabs_->addTab(tab, name);
    if (!developer && at >= 0) tabs_->removeTab(at);
  };
  show(cache_, tr("Cache"));
  show(explain_, tr("Explain"));
}

QString InspectorDock::figures() const {
  if (tabs_->currentWidget() == cache_) return cache_->text();
  return tabs_->currentWidget() == explain_ ? explain_->text() : turn_->text();
}

void InspectorDock::refresh() {
  const int turn = view_->currentTurn(), turns = view_->turnCount();
  std::optional<TurnRecord> record;
  int at = 0;
  const QVector<MessageInfo> messages = view_->chatId().isEmpty() ? QVector<MessageInfo>() : app_.chats().messages(view_->chatId());
  for (const MessageInfo& m : messages) {
    if (m.role == u"user"_s) ++at;
    if (at != turn || !m.record) continue;
    record = m.record;
    if (m.record->rateCurve.isEmpty() && m.record->output.value_or(0) > 0) app_.chats().loadCurve(view_->chatId(), m.id);
  }
  turn_->show(record, turn, turns, turn == turns && view_->isRunning());
  cache_->show(view_->chatId(), record);
  explain_->show(record);
  copy_->setEnabled(record.has_value());
}

}  // namespace tg
