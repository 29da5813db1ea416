// turnglass --self-test: builds every page against a temporary profile, opens the database, loads icons, palette and price book, and runs one
// turn with a scripted engine. Prints what it checked.
#pragma once

namespace tg {

int runSelfTest();  // 0, or 1 after naming what failed

}  // namespace tg
