// Documents attached to a message: text files, read once; the text stays with the message. Pure functions that read files: not on a thread that must not wait.
#pragma once
#include <QString>

#include "storage/records.h"

namespace tg {

// Larger files hold more tokens than any window here; reading them would only cost memory.
inline constexpr qint64 kMostAttachmentBytes = qint64{16} << 20;

// REFUSAL gets one sentence when the file cannot be used, or is left empty.
storage::Attachment read_attachment(const QString& path, QString* refusal);

}  // namespace tg
