// The files of a cache folder, for tests that count, damage or replace them. Include after <QtTest>.
#pragma once
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QTemporaryDir>

#include "tests/support/fake_model.h"

namespace tg::test {

inline QString scratch() { return QString::fromStdString(scratch_template()); }

inline EngineOptions on_disk(const QTemporaryDir& dir, CacheBudget budget = {0, 1U << 26U, 1U << 26U}) {
  EngineOptions o;
  o.cache_dir = dir.path().toStdString() + "/cache";
  o.budget = budget;
  return o;
}

inline QStringList files(const QTemporaryDir& dir, const QString& ending) {
  QStringList out;
  QDirIterator it(dir.path(), {QStringLiteral("*.") + ending}, QDir::Files, QDirIterator::Subdirectories);
  while (it.hasNext()) out << it.next();
  out.sort();
  return out;
}

inline QByteArray content(const QString& path) {
  QFile f(path);
  return f.open(QIODevice::ReadOnly) ? f.readAll() : QByteArray();
}

inline void replace(const QString& path, const QByteArray& bytes) {
  QDir().mkpath(QFileInfo(path).path());
  QFile f(path);
  QVERIFY(f.open(QIODevice::WriteOnly | QIODevice::Truncate));
  f.write(bytes);
}

}  // namespace tg::test
