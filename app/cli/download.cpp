#include "app/cli/download.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QEventLoop>
#include <QFile>
#include <QFileInfo>
#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QRegularExpression>
#include <utility>

#include "app/cli/console.h"

namespace tg {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Cli", text); }

constexpr int kTries = 5, kSilenceMs = 30000;

QString sha_of(const QString& path) {
  QFile file(path);
  QCryptographicHash hash(QCryptographicHash::Sha256);
  if (!file.open(QIODevice::ReadOnly) || !hash.addData(&file)) return {};
  return QString::fromLatin1(hash.result().toHex());
}

// Whether the answer goes on where FROM ends; servers may ignore the range, or answer with another one.
bool continues(const QNetworkReply& reply, int status, qint64 from) {
  if (status != 206) return false;
  static const QRegularExpression range(QStringLiteral("^bytes (\\d+)-"));
  return range.match(QString::fromLatin1(reply.rawHeader("Content-Range"))).captured(1) == QString::number(from);
}

// One request from where PART ends; where the answer does not go on from there the file starts again. Pages that say an error are not written.
// True: it ended without an error.
bool fetch(QNetworkAccessManager& network, const QUrl& url, QFile& part, QString* error) {
  QNetworkRequest request(url);
  request.setTransferTimeout(kSilenceMs);
  request.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::NoLessSafeRedirectPolicy);
  if (part.size() > 0) request.setRawHeader("Range", "bytes=" + QByteArray::number(part.size()) + "-");
  QNetworkReply* reply = network.get(request);
  QEventLoop loop;
  bool started = false, written = true;
  const auto status = [reply] { return reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt(); };
  QObject::connect(reply, &QNetworkReply::readyRead, &loop, [&] {
    const QByteArray bytes = reply->readAll();
    if (status() != 200 && status() != 206) return;
    if (!std::exchange(started, true) && part.size() > 0 && !continues(*reply, status(), part.size())) {
      part.resize(0);
      if (status() == 206) return reply->abort();  // another piece than asked for: the next try asks for the whole
    }
    if (part.write(bytes) == bytes.size()) return;
    written = false;
    reply->abort();
  });
  QObject::connect(reply, &QNetworkReply::finished, &loop, &QEventLoop::quit);
  loop.exec();
  const bool ok = reply->error() == QNetworkReply::NoError && written;
  constexpr int kRangeRefused = 416;
  if (status() == kRangeRefused) part.resize(0);
  if (!ok) *error = written ? tr("The download stopped: %1.").arg(reply->errorString()) : tr("The disk is full. What was loaded so far is kept.");
  reply->deleteLater();
  return ok;
}

}  // namespace

int download_model(const QString& address, const QString& sha256, const QString& folder) {
  static const QRegularExpression form(QStringLiteral("^[0-9a-fA-F]{64}$"));
  const QUrl url(address);
  const QString name = url.fileName();
  if (!form.match(sha256).hasMatch()) return console::refuse(tr("A download needs its SHA-256 checksum: --sha256, 64 digits."));
  if (!url.isValid() || name.isEmpty() || (url.scheme() != QLatin1String("https") && url.scheme() != QLatin1String("http"))) return console::refuse(tr("This is not the address of a file."));
  if (!QDir().mkpath(folder)) return console::refuse(tr("The model folder cannot be made."), 1);
  const QString target = folder + QLatin1Char('/') + name;
  if (QFile::exists(target) && sha_of(target) == sha256.toLower()) return console::line(target.toUtf8()), 0;
  QFile part(target + QStringLiteral(".part"));
  if (!part.open(QIODevice::ReadWrite | QIODevice::Append)) return console::refuse(tr("The model folder cannot be written."), 1);
  QNetworkAccessManager network;
  QString error;
  bool ok = false;
  for (int i = 0; i < kTries && !ok; ++i) ok = fetch(network, url, part, &error);
  part.close();
  if (!ok) return console::refuse(error, 1);
  if (sha_of(part.fileName()) != sha256.toLower()) {
    QFile::rename(part.fileName(), target + QStringLiteral(".wrong-checksum"));
    return console::refuse(tr("The checksum of %1 differs from the one expected, so it was set aside.").arg(name), 1);
  }
  QFile::remove(target);
  if (!QFile::rename(part.fileName(), target)) return console::refuse(tr("The file cannot be written: %1.").arg(target), 1);
  console::line(target.toUtf8());
  return 0;
}

}  // namespace tg
