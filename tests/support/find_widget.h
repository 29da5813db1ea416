// A named widget of a dialog or page; a missing name is said in the test's output. Include after <QtTest>.
#pragma once
#include <QWidget>

namespace tg::test {

template <class W>
W* find(QWidget& where, const char* name) {
  auto* found = where.findChild<W*>(QString::fromLatin1(name));
  if (!found) qCritical("no widget named %s", name);
  return found;
}

}  // namespace tg::test
