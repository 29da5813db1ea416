// Chats as files: our own JSON (whole tree, all figures), Markdown and CSV out; our JSON and the exports of other programs in.
// Imported text is untrusted: depth and sizes are limited by the JSON parser, unknown parts are skipped. Pure functions, any thread.
#pragma once
#include <QByteArray>
#include <QVector>

#include "app/chat_service.h"
#include "storage/records.h"

namespace tg {

// By WISH: "chat" leaves the figures out, "figures" the texts; without thinking no trace of it is left, its tokens neither.
QByteArray export_as(storage::ChatBundle bundle, const ExportWish& wish);
QString first_lines(const QByteArray& text, int lines, int longest);  // for a preview

QByteArray export_json(const storage::ChatBundle& bundle);
QByteArray export_markdown(const storage::ChatBundle& bundle, bool thinking = false, bool figures = false);  // the shown path
QByteArray export_csv(const storage::ChatBundle& bundle);       // one line a turn

// All chats of a file, with new ids. Empty: SENTENCE says why.
QString import_kind(const QByteArray& bytes);  // in words; empty: not known
QVector<storage::ChatBundle> import_chats(const QByteArray& bytes, QString* sentence);

}  // namespace tg
