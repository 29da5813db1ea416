// `models get URL --sha256 S`: the one download the program makes, because the user typed its address. Blocks in a local event loop.
#pragma once
#include <QString>

namespace tg {

// Into FOLDER, under its name only after the checksum agrees; a part left by an earlier try is continued. Exit code as in CLI.md.
int download_model(const QString& url, const QString& sha256, const QString& folder);

}  // namespace tg
