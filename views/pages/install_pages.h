// The one place where pages and dialogs are plugged into the window: pages with MainWindow::addPage(), dialogs with Actions::on(),
// the first-run page with ChatsPage::setFirstRunPage(), the question at closing with MainWindow::setCloseQuestion().
#pragma once

namespace tg {

class MainWindow;

void installPages(MainWindow& window);

}  // namespace tg
