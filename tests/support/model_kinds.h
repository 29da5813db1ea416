// Models of every layer kind, for data-driven tests of turns and of the cache. Include after <QtTest>.
#pragma once
#include "tests/support/fake_model.h"

namespace tg::test {

inline FakeOptions options_of(int window, bool recurrent) {
  FakeOptions o;
  o.window = window;
  o.recurrent = recurrent;
  return o;
}

// Columns "window" (tokens, 0: full attention) and "recurrent".
inline void layer_kinds() {
  QTest::addColumn<int>("window");
  QTest::addColumn<bool>("recurrent");
  QTest::newRow("full") << 0 << false;
  QTest::newRow("window") << 100 << false;
  QTest::newRow("recurrent") << 0 << true;
  QTest::newRow("window and recurrent") << 70 << true;
}

}  // namespace tg::test
