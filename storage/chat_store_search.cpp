// ChatStore: full-text search.
#include <QRegularExpression>

#include "storage/chat_store.h"
#include "storage/sql.h"

namespace tg::storage {

namespace {

// The user's words as FTS5 phrases: nothing of them is query syntax. The last one is a prefix, for search while typing.
QString phrases(const QString& words) {
  static const QRegularExpression space(QStringLiteral("[\\s\\x00]+"));
  QStringList quoted;
  for (QString word : words.split(space, Qt::SkipEmptyParts)) {
    word.replace(QLatin1Char('"'), QStringLiteral("\"\""));
    quoted.append(QLatin1Char('"') + word + QLatin1Char('"'));
  }
  return quoted.isEmpty() ? QString() : quoted.join(QLatin1Char(' ')) + QStringLiteral(" *");
}

QString likePattern(QString words) {
  for (const char16_t special : {u'\\', u'%', u'_'}) words.replace(QChar(special), QStringLiteral("\\") + QChar(special));
  return QLatin1Char('%') + words + QLatin1Char('%');
}

Status collect(Sql& rows, QVector<SearchRow>& found) {
  if (!rows.run()) return rows.failure();
  while (rows.next()) found.append({rows.asText(0), rows.asText(1), rows.asText(2), rows.asText(3), rows.asNumber(4)});
  if (rows.failed()) return rows.failure();
  return Done{};
}

}  // namespace

Outcome<QVector<SearchRow>> ChatStore::search(const QString& words, int limit) {
  QVector<SearchRow> found;
  const QString query = phrases(words);
  if (query.isEmpty()) return found;
  Sql titles(connection(), QStringLiteral("SELECT id, title, '', title, last_used_ms FROM chat WHERE deleted_at_ms IS NULL AND title LIKE ? ESCAPE '\\' "
                                          "ORDER BY last_used_ms DESC LIMIT ?"));
  if (auto done = collect(titles.text(likePattern(words.simplified())).number(limit), found); !done) return done.failure();
  // Newest first is the index's own order: no sort, and snippets are made for the rows of the answer only.
  Sql texts(connection(), QStringLiteral("SELECT m.chat_id, c.title, m.id, snippet(message_fts, 0, char(2), char(3), '…', 16), m.created_ms "
                                         "FROM message_fts CROSS JOIN message m ON m.seq = message_fts.rowid CROSS JOIN chat c ON c.id = m.chat_id "
                                         "WHERE message_fts MATCH ? AND c.deleted_at_ms IS NULL ORDER BY message_fts.rowid DESC LIMIT ?"));
  if (auto done = collect(texts.text(query).number(limit), found); !done) return done.failure();
  return found.mid(0, limit);
}

}  // namespace tg::storage
