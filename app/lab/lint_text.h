// Why two texts of one block differ. Pure, any thread.
#pragma once
#include <QString>
#include <optional>

namespace tg::lab {

bool sameButForSpace(const QString& a, const QString& b);   // after NFC and collapsing white space
// whitespace_or_unicode, json_key_order, number_format or locale_format; null: they differ in more than notation.
QString notationOf(const QString& a, const QString& b);
bool sameButForVersion(const QString& a, const QString& b);
// The first line that differs, of both texts.
std::pair<QString, QString> firstDifferentLines(const QString& a, const QString& b);
// Code points before the first difference; unset: equal.
std::optional<qint64> firstDifference(const QString& a, const QString& b);

}  // namespace tg::lab
