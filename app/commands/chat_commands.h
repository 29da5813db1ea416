// `chat …`, `cache …` and `explain …`: the commands that work on the profile of an open application. They run in turnglass-cli, or in the window that holds the
// profile when turnglass-cli hands them over; either way without blocking.
// Thread: the application's.
#pragma once
#include <QStringList>

#include "app/application_impl.h"

namespace tg {

// ARGS: "chat", "cache" or "explain", then the rest of the command line. OUTPUT.exit is called once.
void run_profile_command(ApplicationImpl& app, const QStringList& args, const CommandOutput& output);
QString profile_of(const QStringList& args);   // value of --profile, or empty

}  // namespace tg
