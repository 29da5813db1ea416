// A message that does not fit: asks the service for choices, shows the dialog, sends with the one taken. Cancel leaves draft and chat as they were.
#pragma once

class QDialog;
class QWidget;

namespace tg {

class MainWindow;

void installOverflow(MainWindow& window);
QDialog* exampleOverflow(QWidget* parent);  // with invented figures, for --grab and --self-test

}  // namespace tg
