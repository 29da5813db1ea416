#include "app/attachments.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QStringDecoder>

namespace tg {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Attachments", text); }

}  // namespace

storage::Attachment read_attachment(const QString& path, QString* refusal) {
  storage::Attachment out;
  const QFileInfo info(path);
  out.path = path;
  out.name = info.fileName();
  QFile file(path);
  if (!info.isFile() || !file.open(QIODevice::ReadOnly)) {
    *refusal = tr("The file is gone or cannot be read: %1.").arg(out.name);
    return out;
  }
  if (info.size() > kMostAttachmentBytes) {
    *refusal = tr("%1 is too large to be attached.").arg(out.name);
    return out;
  }
  const QByteArray bytes = file.readAll();
  QStringDecoder utf8(QStringDecoder::Utf8);
  out.text = utf8(bytes);
  out.bytes = bytes.size();
  if (utf8.hasError() || bytes.contains('\0')) *refusal = tr("%1 is not text.").arg(out.name);
  return out;
}

}  // namespace tg
