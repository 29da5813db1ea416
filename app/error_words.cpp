#include "app/error_words.h"

#include <QCoreApplication>
#include <QFileInfo>

namespace tg::words {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Words", text); }

}  // namespace

QString sentence(const Error& error, const QString& file) {
  const QString text = QString::fromStdString(error.message);
  switch (error.code) {
    case ErrorCode::template_error: {
      QString said = text;
      while (said.endsWith(QLatin1Char('.'))) said.chop(1);
      return said.startsWith(QLatin1String("The chat template")) ? text : tr("The chat template stopped with: %1. Nothing was sent.").arg(said);
    }
    case ErrorCode::no_template: return tr("This model brings no chat template. Choose one.");
    case ErrorCode::io:
      if (!file.isEmpty() && !QFileInfo::exists(file)) return tr("The file is gone or cannot be read: %1.").arg(QFileInfo(file).fileName());
      return text;
    case ErrorCode::cancelled: return tr("Stopped.");
    case ErrorCode::bad_file:
    case ErrorCode::unsupported:
    case ErrorCode::bad_argument:
    case ErrorCode::does_not_fit:
    case ErrorCode::device:
    case ErrorCode::internal: break;
  }
  return text;
}

QString sentence(const storage::Failure& failure, bool answer_kept) {
  if (failure.kind != storage::FailureKind::DiskFull) return failure.sentence;
  return answer_kept ? tr("The disk is full. The answer is kept in memory until there is room.") : tr("The disk is full. Nothing was sent; your text is still in the composer.");
}

int exit_code(const Error& error) {
  switch (error.code) {
    case ErrorCode::io:
    case ErrorCode::bad_file:
    case ErrorCode::unsupported:
    case ErrorCode::bad_argument:
    case ErrorCode::no_template: return 2;
    case ErrorCode::template_error: return 3;
    case ErrorCode::does_not_fit: return 4;
    case ErrorCode::cancelled: return 130;
    case ErrorCode::device:
    case ErrorCode::internal: break;
  }
  return 1;
}

}  // namespace tg::words
