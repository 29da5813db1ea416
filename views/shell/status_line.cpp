#include "views/shell/status_line.h"

#include <QLabel>
#include <QMenu>
#include <QPushButton>

#include "app/format.h"
#include "app/settings.h"
#include "views/theme/icons.h"

namespace tg {

using namespace Qt::StringLiterals;

namespace {
// The figure stands out from its name, which is muted.
QString strong(const QString& text) { return u"<span style='color:%1'>%2</span>"_s.arg(color(Role::Text).name(), text.toHtmlEscaped()); }
}  // namespace

StatusLine::StatusLine(Application& app, QWidget* parent) : QStatusBar(parent), app_(app) {
  setObjectName(u"statusBar"_s);
  setSizeGripEnabled(false);
  const auto label = [&](const QString& name) {
    auto* l = new QLabel(this);
    l->setObjectName(name);
    l->setContentsMargins(6, 0, 10, 0);
    l->setTextFormat(Qt::RichText);
    l->setProperty("kind", u"muted"_s);
    return l;
  };
  device_ = label(u"statusDevice"_s);
  memory_ = label(u"statusMemory"_s);
  fallback_ = label(u"statusFallback"_s);
  activity_ = label(u"statusActivity"_s);
  for (QLabel* l : {device_, memory_, fallback_, activity_}) addWidget(l);
  mode_ = label(u"statusMode"_s);
  offline_ = new QPushButton(this);
  offline_->setObjectName(u"statusOffline"_s);
  offline_->setProperty("kind", u"flat"_s);
  connect(offline_, &QPushButton::clicked, this, &StatusLine::showConnections);
  addPermanentWidget(mode_);
  addPermanentWidget(offline_);
  timer_.setInterval(2000);
  connect(&timer_, &QTimer::timeout, this, &StatusLine::refresh);
  connect(&app, &Application::deviceStatusChanged, this, &StatusLine::refresh);
  connect(&app.settings(), &Settings::changed, this, &StatusLine::refresh);
  connect(&Theme::get(), &Theme::changed, this, &StatusLine::refresh);
}

void StatusLine::showEvent(QShowEvent* event) {
  QStatusBar::showEvent(event);
  refresh();
  timer_.start();
}

void StatusLine::hideEvent(QHideEvent* event) {
  QStatusBar::hideEvent(event);
  timer_.stop();
}

void StatusLine::refresh() {
  const DeviceStatus s = app_.deviceStatus();
  const auto set = [](QLabel* label, const QString& text) {
    if (label->text() != text) label->setText(text);
  };
  set(device_, tr("Device: %1").arg(strong(s.device.isEmpty() ? format::unknown() : s.device)));
  QString used = format::bytes(s.memoryUsed);
  const QString unit = format::bytes(s.memoryTotal).section(QChar(0xA0), 1);
  if (used.endsWith(unit)) used = used.section(QChar(0xA0), 0, 0);  // "8.25 of 12.0 GiB"
  used = strong(used);
  const bool gpu = s.device.contains(u"gpu"_s, Qt::CaseInsensitive) || s.device.contains(u"cuda"_s, Qt::CaseInsensitive);
  set(memory_, s.memoryTotal > 0 ? (gpu ? tr("GPU memory %1 of %2") : tr("Memory %1 of %2")).arg(used, strong(format::bytes(s.memoryTotal))) : QString());
  set(fallback_, tr("Fallback: %1").arg(s.fallback.isEmpty() ? tr("none") : s.fallback));
  set(activity_, s.activity);
  set(mode_, app_.settings().get(Setting::DeveloperMode).toBool() ? tr("Developer mode") : tr("User mode"));
  offline_->setIcon(icon(s.connections.isEmpty() ? u"offline"_s : u"online"_s));
  offline_->setText(s.connections.isEmpty() ? tr("Offline: no connection is open") : tr("Online: connected to %1").arg(s.connections.join(u", "_s)));
  fit();
}

// On a narrow window the less urgent parts give way, never the connections.
void StatusLine::fit() {
  int needed = offline_->sizeHint().width() + 24;
  for (QLabel* label : {device_, activity_, memory_, fallback_, mode_}) {
    const int w = label->sizeHint().width() + 6;
    const bool wanted = !label->text().isEmpty() && needed + w <= width();
    label->setVisible(wanted);
    if (wanted) needed += w;
  }
}

void StatusLine::resizeEvent(QResizeEvent* event) {
  QStatusBar::resizeEvent(event);
  fit();
}

void StatusLine::showLink(const QString& url) {
  if (url.isEmpty()) clearMessage();
  else showMessage(url);
}

void StatusLine::showConnections() {
  const QStringList hosts = app_.deviceStatus().connections;
  QMenu menu(this);
  if (hosts.isEmpty()) menu.addAction(tr("No connection is open"))->setEnabled(false);
  for (const QString& host : hosts) menu.addAction(host)->setEnabled(false);
  menu.exec(offline_->mapToGlobal(QPoint(0, -menu.sizeHint().height())));
}

}  // namespace tg
