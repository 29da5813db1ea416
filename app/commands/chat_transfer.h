// Chats as files: our own JSON (whole tree, all figures), Markdown and CSV out; our JSON and the exports of other programs in.
// Imported text is untrusted: depth and sizes are limited by the JSON parser, unknown parts are skipped. Pure functions, any thread.
#pragma once
#include <QByteArray>
#include <QVector>

#include "storage/records.h"

namespace tg {

QByteArray export_json(const storage::ChatBundle& bundle);
QByteArray export_markdown(const storage::ChatBundle& bundle);  // the shown path
QByteArray export_csv(const storage::ChatBundle& bundle);       // one line a turn

// All chats of a file, with new ids. Empty: SENTENCE says why.
QVector<storage::ChatBundle> import_chats(const QByteArray& bytes, QString* sentence);

}  // namespace tg
