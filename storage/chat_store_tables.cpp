// ChatStore: small tables.
#include "storage/chat_store.h"
#include "storage/sql.h"

namespace tg::storage {

Outcome<std::optional<QString>> ChatStore::value(const QString& key) {
  Sql row(connection(), QStringLiteral("SELECT value FROM setting WHERE key = ?"));
  if (!row.text(key).run()) return row.failure();
  if (!row.next()) return std::optional<QString>();
  return std::optional<QString>(row.asText(0));
}

Status ChatStore::setValue(const QString& key, const QString& value) {
  return Sql(connection(), QStringLiteral("INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)")).text(key).text(value).status();
}

Outcome<QVector<ModelFile>> ChatStore::modelFiles() {
  Sql rows(connection(), QStringLiteral("SELECT path, fingerprint, info, bytes, modified_ms, seen_ms FROM model_file ORDER BY path"));
  if (!rows.run()) return rows.failure();
  QVector<ModelFile> files;
  while (rows.next()) files.append({rows.asText(0), rows.asText(1), rows.asText(2), rows.asNumber(3), rows.asNumber(4), rows.asNumber(5)});
  if (rows.failed()) return rows.failure();
  return files;
}

Status ChatStore::putModelFile(const ModelFile& file) {
  return Sql(connection(), QStringLiteral("INSERT OR REPLACE INTO model_file (path, fingerprint, info, bytes, modified_ms, seen_ms) VALUES (?, ?, ?, ?, ?, ?)"))
      .text(file.path).text(file.fingerprint).text(file.infoJson).number(file.bytes).number(file.modifiedMs).number(file.seenMs).status();
}

Status ChatStore::removeModelFile(const QString& path) {
  return Sql(connection(), QStringLiteral("DELETE FROM model_file WHERE path = ?")).text(path).status();
}

Outcome<QVector<PriceBook>> ChatStore::priceBooks() {
  Sql rows(connection(), QStringLiteral("SELECT name, as_of, source, json, loaded_ms FROM price_book ORDER BY loaded_ms DESC, as_of DESC"));
  if (!rows.run()) return rows.failure();
  QVector<PriceBook> books;
  while (rows.next()) books.append({rows.asText(0), rows.asText(1), rows.asText(2), rows.asText(3), rows.asNumber(4)});
  if (rows.failed()) return rows.failure();
  return books;
}

Status ChatStore::putPriceBook(const PriceBook& book) {
  return Sql(connection(), QStringLiteral("INSERT OR REPLACE INTO price_book (name, as_of, source, json, loaded_ms) VALUES (?, ?, ?, ?, ?)"))
      .text(book.name).text(book.asOf).text(book.source).text(book.json).number(book.loadedMs).status();
}

Outcome<QVector<Snapshot>> ChatStore::snapshots() {
  Sql rows(connection(), QStringLiteral("SELECT file, chat_id, fingerprint, tokens, bytes, created_ms, last_use_ms, pinned FROM snapshot ORDER BY last_use_ms DESC"));
  if (!rows.run()) return rows.failure();
  QVector<Snapshot> snapshots;
  while (rows.next())
    snapshots.append({rows.asText(0), rows.asText(1), rows.asText(2), rows.asInt(3), rows.asNumber(4), rows.asNumber(5), rows.asNumber(6), rows.asFlag(7)});
  if (rows.failed()) return rows.failure();
  return snapshots;
}

Status ChatStore::putSnapshot(const Snapshot& snapshot) {
  return Sql(connection(), QStringLiteral("INSERT OR REPLACE INTO snapshot (file, chat_id, fingerprint, tokens, bytes, created_ms, last_use_ms, pinned) "
                                          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"))
      .text(snapshot.file).text(snapshot.chatId).text(snapshot.fingerprint).number(snapshot.tokens).number(snapshot.bytes)
      .number(snapshot.createdMs).number(snapshot.lastUseMs).flag(snapshot.pinned).status();
}

Status ChatStore::removeSnapshot(const QString& file) {
  return Sql(connection(), QStringLiteral("DELETE FROM snapshot WHERE file = ?")).text(file).status();
}

Outcome<EnergyProfile> ChatStore::energyProfile() {
  Sql row(connection(), QStringLiteral("SELECT idle_watts, busy_watts, kwh_price, currency, source FROM energy_profile"));
  if (!row.run()) return row.failure();
  if (!row.next()) return EnergyProfile();
  return EnergyProfile{row.maybeReal(0), row.maybeReal(1), row.asText(2), row.asText(3), row.asText(4)};
}

Status ChatStore::setEnergyProfile(const EnergyProfile& profile) {
  return Sql(connection(), QStringLiteral("INSERT OR REPLACE INTO energy_profile (id, idle_watts, busy_watts, kwh_price, currency, source) VALUES (1, ?, ?, ?, ?, ?)"))
      .maybe(profile.idleWatts).maybe(profile.busyWatts).text(profile.kwhPrice).text(profile.currency).text(profile.source).status();
}

}  // namespace tg::storage
