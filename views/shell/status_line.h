// The status bar: device, memory, fallback, activity; mode and real connections at the right. Reads the state every 2 s while shown. GUI thread.
#pragma once
#include <QStatusBar>
#include <QTimer>

#include "app/application.h"

class QLabel;
class QPushButton;

namespace tg {

class StatusLine : public QStatusBar {
  Q_OBJECT
 public:
  explicit StatusLine(Application& app, QWidget* parent = nullptr);
  void refresh();
  void showLink(const QString& url);       // in place of the device while the pointer is on a link

 private:
  void showConnections();
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void fit();
  Application& app_;
  QTimer timer_;
  QLabel *device_, *memory_, *fallback_, *activity_, *mode_;
  QPushButton* offline_;
};

}  // namespace tg
