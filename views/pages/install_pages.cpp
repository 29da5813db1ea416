#include "views/pages/install_pages.h"

#include "views/shell/main_window.h"

namespace tg {

void installPages(MainWindow&) {}

}  // namespace tg
