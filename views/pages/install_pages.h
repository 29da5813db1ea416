// The one place where pages and dialogs are plugged into the window:
//   pages with MainWindow::addPage(), dialogs with Actions::on() and MainWindow::addDialog() (so that --grab and --self-test see them),
//   the first-run page with ChatsPage::setFirstRunPage(), the question at closing with MainWindow::setCloseQuestion(),
//   the overflow dialog by connecting ChatService::overflow; Composer::setText() brings the draft back.
#pragma once

namespace tg {

class MainWindow;

void installPages(MainWindow& window);

}  // namespace tg
