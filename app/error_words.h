// Engine and storage errors as the sentences of UI.md 12.5, translated. For app/ and cli/. Pure functions, any thread.
#pragma once
#include <QString>

#include "engine/base/result.h"
#include "storage/result.h"

namespace tg::words {

QString sentence(const Error& error, const QString& file = {});
QString sentence(const storage::Failure& failure, bool answer_kept);
int exit_code(const Error& error);               // of the command line: CLI.md "Exit codes"

}  // namespace tg::words
