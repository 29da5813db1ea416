#include "app/model_catalogue.h"

#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>

#include "app/error_words.h"
#include "engine/gguf/reader.h"
#include "engine/model/description.h"
#include "engine/sampling/thinking_stream.h"
#include "engine/tokenizer/tokenizer.h"

namespace tg {
namespace {

constexpr int kDebounceMs = 400;               // a file being copied changes its folder many times

bool is_model_file(const QString& path) { return path.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive); }

QString base_name(const QString& path) {
  QString name = QFileInfo(path).fileName();
  if (is_model_file(name)) name.chop(5);
  return name;
}

QString text(std::optional<std::string_view> s) { return s ? QString::fromUtf8(s->data(), static_cast<qsizetype>(s->size())) : QString(); }

// The weight format that most bytes are in; a file names itself loosely.
QString main_format(const GgufFile& file) {
  QHash<int, quint64> bytes;
  for (const GgufTensor& t : file.tensors()) bytes[static_cast<int>(t.format)] += t.data.size();
  auto most = bytes.constBegin();
  for (auto it = bytes.constBegin(); it != bytes.constEnd(); ++it) most = it.value() > most.value() ? it : most;
  const FormatInfo* info = most == bytes.constEnd() ? nullptr : format_info(static_cast<Format>(most.key()));
  return info ? text(info->name) : QString();
}

double kv_bytes_per_token(const ModelDescription& d) {
  double bytes = 0;
  for (const LayerDescription& layer : d.layers) {
    if (layer.kind == LayerKind::full || layer.kind == LayerKind::window) bytes += 2.0 * layer.n_kv_heads * (layer.head_dim_k + layer.head_dim_v);
  }
  return bytes;
}

}  // namespace

ModelInfo describe_file(const QString& path) {
  ModelInfo info;
  info.path = path;
  info.name = base_name(path);
  info.fileBytes = QFileInfo(path).size();
  const auto file = GgufFile::open(path.toStdString());
  if (!file) return info.refusal = words::sentence(file.error(), path), info;
  info.fileBytes = static_cast<qint64>((*file)->file_bytes());
  info.architecture = text((*file)->string("general.architecture"));
  info.licence = text((*file)->string("general.license"));
  info.format = main_format(**file);
  info.hasTemplate = (*file)->string("tokenizer.chat_template").has_value();
  info.template_ = text((*file)->string("tokenizer.chat_template"));
  info.thinks = template_thinks((*file)->string("tokenizer.chat_template").value_or(""));
  info.fingerprint = QString::fromStdString((*file)->fingerprint());
  const auto description = describe_model(**file, 0);
  if (!description) return info.refusal = words::sentence(description.error(), path), info;
  info.parameters = description->n_parameters;
  info.contextLength = description->context_length;
  info.kvBytesPerToken = kv_bytes_per_token(*description);
  const auto tokenizer = Tokenizer::load(*file);
  if (!tokenizer) info.refusal = words::sentence(tokenizer.error(), path);
  return info;
}

QStringList model_files(const QString& folder) {
  static const QRegularExpression later_part(QStringLiteral("-(?!00001)\\d{5}-of-\\d{5}\\.gguf$"));
  QStringList out;
  const QFileInfoList entries = QDir(folder).entryInfoList({QStringLiteral("*.gguf")}, QDir::Files, QDir::Name);
  for (const QFileInfo& entry : entries) {
    if (!later_part.match(entry.fileName()).hasMatch()) out << entry.absoluteFilePath();
  }
  return out;
}

FolderCatalogue::FolderCatalogue(Settings* settings, QStringList baseFolders, QObject* parent) : settings_(settings), base_(std::move(baseFolders)) {
  setParent(parent);
  pool_.setMaxThreadCount(1);
  debounce_.setSingleShot(true);
  debounce_.setInterval(kDebounceMs);
  connect(&debounce_, &QTimer::timeout, this, &FolderCatalogue::rescan);
  connect(&watcher_, &QFileSystemWatcher::directoryChanged, &debounce_, qOverload<>(&QTimer::start));
}

FolderCatalogue::~FolderCatalogue() { pool_.waitForDone(); }

QStringList FolderCatalogue::sources() const { return base_ + settings_->get(Setting::ModelFolders).toStringList(); }

QStringList FolderCatalogue::folders() const {
  QStringList out = sources();
  out.removeIf([](const QString& s) { return is_model_file(s) || !QFileInfo(s).isDir(); });
  return out;
}

QVector<ModelInfo> FolderCatalogue::models() const {
  QVector<ModelInfo> out = models_;
  for (ModelInfo& m : out) m.loaded = !loaded_.isEmpty() && m.path == loaded_;
  return out;
}

void FolderCatalogue::addFolder(const QString& folder) {
  QStringList more = settings_->get(Setting::ModelFolders).toStringList();
  const QString path = QFileInfo(folder).absoluteFilePath();
  if (!sources().contains(path)) settings_->set(Setting::ModelFolders, more << path);
  rescan();
}

void FolderCatalogue::addFile(const QString& path) {
  QStringList hidden = settings_->get(Setting::HiddenModels).toStringList();
  if (hidden.removeAll(QFileInfo(path).absoluteFilePath()) > 0) settings_->set(Setting::HiddenModels, hidden);
  addFolder(path);
}

void FolderCatalogue::removeFromList(const QString& path) {
  QStringList named = settings_->get(Setting::ModelFolders).toStringList();
  if (named.removeAll(path) > 0) settings_->set(Setting::ModelFolders, named);
  settings_->set(Setting::HiddenModels, settings_->get(Setting::HiddenModels).toStringList() << path);
  models_.removeIf([&](const ModelInfo& m) { return m.path == path; });
  Q_EMIT changed();
}

void FolderCatalogue::rescan() {
  if (scanning_) {
    again_ = true;
    return;
  }
  scanning_ = true;
  const QStringList folders_now = folders();
  QStringList watched = watcher_.directories(), missing = folders_now;
  missing.removeIf([&](const QString& f) { return watched.contains(f); });
  if (!missing.isEmpty()) watcher_.addPaths(missing);
  pool_.start([this, sources_now = sources(), hidden = settings_->get(Setting::HiddenModels).toStringList()] {
    QStringList files;
    for (const QString& source : sources_now) files += is_model_file(source) ? QStringList{source} : model_files(source);
    files.removeDuplicates();
    QVector<ModelInfo> found;
    for (const QString& file : std::as_const(files)) {
      if (!hidden.contains(file)) found.push_back(describe_file(file));
    }
    QMetaObject::invokeMethod(this, [this, found] { scanned(found); }, Qt::QueuedConnection);
  });
}

void FolderCatalogue::scanned(const QVector<ModelInfo>& models) {
  scanning_ = false;
  models_ = models;
  Q_EMIT changed();
  if (std::exchange(again_, false)) rescan();
}

QString FolderCatalogue::defaultModel() const {
  const QString chosen = settings_->get(Setting::DefaultModel).toString();
  if (!chosen.isEmpty() && QFileInfo::exists(chosen)) return chosen;
  for (const bool with_template : {true, false}) {
    const auto it = std::find_if(models_.begin(), models_.end(), [&](const ModelInfo& m) { return m.refusal.isEmpty() && (m.hasTemplate || !with_template); });
    if (it != models_.end()) return it->path;
  }
  if (!models_.isEmpty() || !scanning_) return {};
  // The first scan is still on its way: the first file will do.
  for (const QString& folder : folders()) {
    const QStringList files = model_files(folder);
    if (!files.isEmpty()) return files.front();
  }
  return {};
}

QString FolderCatalogue::nameOf(const QString& path) const {
  const auto it = std::find_if(models_.begin(), models_.end(), [&](const ModelInfo& m) { return m.path == path; });
  return it == models_.end() ? base_name(path) : it->name;
}

QString FolderCatalogue::fingerprintOf(const QString& path) const {
  const auto it = std::find_if(models_.begin(), models_.end(), [&](const ModelInfo& m) { return m.path == path; });
  return it == models_.end() ? QString() : it->fingerprint;
}

void FolderCatalogue::setLoaded(const QString& path) {
  if (std::exchange(loaded_, path) != path) Q_EMIT changed();
}

}  // namespace tg
