#include "engine/cache/snapshot_store.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/cache/snapshot_bytes.h"

namespace tg {
namespace {

namespace fs = std::filesystem;
using cache_platform::InputFile;

constexpr std::string_view kPageMagic = "TGPAGE";
constexpr std::string_view kChatMagic = "TGCHAT";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kMaxHeader = 1U << 16U;
constexpr std::size_t kMaxChat = std::size_t{64} << 20U;
constexpr std::array kRefusalNames{"", "incomplete", "checksum", "engine_version", "other_model"};

std::uint64_t checksum_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }
std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

std::string header_of(const BlobId& id) {
  ByteWriter w;
  w.text(id.key_text);
  for (const std::uint64_t v : {id.node.high, id.node.low, id.parent.high, id.parent.low}) w.u64(v);
  w.i64(id.first);
  w.ids(id.ids);
  w.i64(id.group);
  w.i64(id.state_position);
  w.u64(id.bytes);
  return w.bytes();
}

// magic, version, header size, header checksum, content checksum
std::string preamble(std::string_view magic, std::uint64_t size, std::uint64_t header_checksum, std::uint64_t content_checksum) {
  ByteWriter w;
  for (const std::uint64_t v : {kVersion, size, header_checksum, content_checksum}) w.u64(v);
  return std::string(magic) + w.bytes();
}
constexpr std::size_t kPreamble = 6 + 4 * 8;

struct Preamble { std::uint64_t size = 0, header_checksum = 0, content_checksum = 0; };
Refusal parse_preamble(std::string_view bytes, std::string_view magic, Preamble& out) {
  if (bytes.size() < kPreamble) return Refusal::incomplete;
  if (!bytes.starts_with(magic)) return Refusal::checksum;
  ByteReader r(bytes.substr(magic.size()));
  if (r.u64() != kVersion) return Refusal::engine_version;
  out.size = r.u64();
  out.header_checksum = r.u64();
  out.content_checksum = r.u64();
  return Refusal::none;
}

std::vector<std::string> names_in(const fs::path& folder, bool folders) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored) == folders) out.push_back(it->path().filename().string());
  }
  return out;
}

void remove_file(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

}  // namespace

std::string_view name_of(Refusal refusal) { return kRefusalNames[static_cast<std::size_t>(refusal)]; }
Refusal refusal_of(std::string_view name) {
  const auto found = std::find(kRefusalNames.begin(), kRefusalNames.end(), name);
  return found == kRefusalNames.end() ? Refusal::none : static_cast<Refusal>(found - kRefusalNames.begin());
}

std::string BlobId::file_name() const {
  return group >= 0 ? node.text() + "-g" + std::to_string(group) + ".page" : node.text() + "-s" + std::to_string(state_position) + ".state";
}

SnapshotStore::SnapshotStore(std::string folder, std::unique_ptr<cache_platform::FolderLock> lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}

std::unique_ptr<SnapshotStore> SnapshotStore::open(const std::string& folder) {
  if (folder.empty() || !cache_platform::make_private_folder(folder) || !cache_platform::make_private_folder(folder + "/chats")) return nullptr;
  auto lock = cache_platform::FolderLock::take(folder);
  if (!lock) return nullptr;
  return std::unique_ptr<SnapshotStore>(new SnapshotStore(folder, std::move(lock)));
}

std::string SnapshotStore::blob_path(const BlobId& id) const { return folder_ + "/" + id.key_id + "/" + id.file_name(); }

bool SnapshotStore::write_blob(const BlobId& id, std::span<const std::byte> content, std::uint64_t checksum) const {
  if (!cache_platform::make_private_folder(folder_ + "/" + id.key_id)) return false;
  const std::string header = header_of(id);
  const std::string start = preamble(kPageMagic, header.size(), checksum_of(header), checksum);
  const std::array parts{as_bytes(start), as_bytes(header), content};
  return cache_platform::write_file(blob_path(id), parts);
}

Refusal SnapshotStore::read_blob(const BlobId& id, std::span<std::byte> to, std::uint64_t& checksum) const {
  const auto file = InputFile::open(blob_path(id));
  if (!file || file->size() < kPreamble) return Refusal::incomplete;
  std::string start(kPreamble, '\0');
  Preamble p;
  if (!file->read(start.data(), start.size())) return Refusal::incomplete;
  if (const Refusal r = parse_preamble(start, kPageMagic, p); r != Refusal::none) return r;
  if (p.size > kMaxHeader) return Refusal::checksum;
  std::string header(static_cast<std::size_t>(p.size), '\0');
  if (!file->read(header.data(), header.size())) return Refusal::incomplete;
  if (checksum_of(header) != p.header_checksum) return Refusal::checksum;
  if (header != header_of(id)) return Refusal::other_model;
  if (file->size() != kPreamble + header.size() + to.size()) return file->size() < kPreamble + header.size() + to.size() ? Refusal::incomplete : Refusal::checksum;
  if (!file->read(to.data(), to.size())) return Refusal::incomplete;
  checksum = p.content_checksum;
  return XXH3_64bits(to.data(), to.size()) == checksum ? Refusal::none : Refusal::checksum;
}

bool SnapshotStore::long_enough(const BlobId& id) const {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(blob_path(id), error);
  return !error && size >= kPreamble + id.bytes;
}

void SnapshotStore::remove_blob(const BlobId& id) const { remove_file(blob_path(id)); }

std::set<std::string> SnapshotStore::blob_names(const std::string& key_id) const {
  const std::vector<std::string> names = names_in(folder_ + "/" + key_id, false);
  return {names.begin(), names.end()};
}

void SnapshotStore::remove_blob_file(const std::string& key_id, const std::string& name) const { remove_file(folder_ + "/" + key_id + "/" + name); }

// Folders of keys have 32 hexadecimal digits; nothing else below the cache folder is ours to touch.
std::vector<std::string> SnapshotStore::key_ids() const {
  std::vector<std::string> out = names_in(folder_, true);
  std::erase_if(out, [](const std::string& name) { return name.size() != 32 || name.find_first_not_of("0123456789abcdef") != std::string::npos; });
  return out;
}

void SnapshotStore::remove_key(const std::string& key_id) const {
  for (const std::string& name : blob_names(key_id)) remove_blob_file(key_id, name);
  remove_file(folder_ + "/" + key_id);  // only if it is empty
}

std::string SnapshotStore::chat_name(const std::string& sequence) {
  const XXH128_hash_t hash = XXH3_128bits(sequence.data(), sequence.size());
  return PageHash{hash.high64, hash.low64}.text();
}

bool SnapshotStore::write_chat(const std::string& sequence, const std::string& record) const {
  const std::string start = preamble(kChatMagic, record.size(), 0, checksum_of(record));
  const std::array parts{as_bytes(start), as_bytes(record)};
  return cache_platform::write_file(folder_ + "/chats/" + chat_name(sequence) + ".chat", parts);
}

void SnapshotStore::remove_chat(const std::string& sequence) const { remove_file(folder_ + "/chats/" + chat_name(sequence) + ".chat"); }

std::vector<ChatFile> SnapshotStore::read_chats() const {
  std::vector<ChatFile> out;
  for (const std::string& name : names_in(folder_ + "/chats", false)) {
    const std::string path = folder_ + "/chats/" + name;
    if (!name.ends_with(".chat")) {
      remove_file(path);  // a temporary file of a killed process
      continue;
    }
    ChatFile chat;
    chat.name = name.substr(0, name.size() - 5);
    std::string bytes;
    Preamble p;
    if (!cache_platform::read_file(path, kMaxChat, bytes)) chat.refusal = Refusal::incomplete;
    else chat.refusal = parse_preamble(bytes, kChatMagic, p);
    if (chat.refusal == Refusal::none) {
      chat.record = bytes.substr(kPreamble);
      if (chat.record.size() < p.size) chat.refusal = Refusal::incomplete;
      else if (chat.record.size() > p.size || checksum_of(chat.record) != p.content_checksum) chat.refusal = Refusal::checksum;
    }
    out.push_back(std::move(chat));
  }
  return out;
}

}  // namespace tg
