// Work and limits of a turn record as JSON: the key "work" of the record, and the column of the same name. Pure functions, any thread.
#pragma once
#include <nlohmann/json.hpp>

#include "app/turn_record.h"

namespace tg {

nlohmann::ordered_json work_json(const std::optional<RecordWork>& work);   // null: unknown
std::optional<RecordWork> work_from(const QJsonObject& object);            // empty, or no figures of that kind: unknown

QString work_column(const std::optional<RecordWork>& work);                // empty: unknown
std::optional<RecordWork> work_of_column(const QString& text);

}  // namespace tg
