// A SIGTERM or SIGINT (logout, Ctrl+C in the terminal) leaves by the same way as Quit: text and figures so far are kept.
#pragma once

namespace tg {

void quitOnSignals();  // once, after the application object exists

}  // namespace tg
