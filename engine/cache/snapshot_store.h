// The files below the cache folder: KEY/HASH-g0.page for each stored page, shared by all chats that have it, and chats/NAME.chat, which lists
// a chat's tokens. Files are untrusted: whatever does not fit is refused with a reason, never read further.
//   page:  "TGPAGE" version, header (key, hash, parent's hash, position, token ids, kind, size, checksum) with its own checksum, content
//   chat:  "TGCHAT" version, size, checksum, record
// Thread: file operations may run on any thread; two on one file are ordered by the caller.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cache/platform.h"
#include "engine/cache/prefix_tree.h"

namespace tg {

enum class Refusal : std::uint8_t { none, incomplete, checksum, engine_version, other_model };
std::string_view name_of(Refusal refusal);  // "" "incomplete" ...
Refusal refusal_of(std::string_view name);

// Which stored content a file must hold.
struct BlobId {
  std::string key_id, key_text;
  PageHash node, parent;
  int first = 0;
  std::vector<TokenId> ids;
  int group = 0;              // -1: a state
  int state_position = 0;
  std::size_t bytes = 0;

  std::string file_name() const;
};

struct ChatFile {
  std::string name;           // without folder and ending
  std::string record;
  Refusal refusal = Refusal::none;
};

class SnapshotStore {
 public:
  // Null: FOLDER cannot be written or is in use by another process.
  static std::unique_ptr<SnapshotStore> open(const std::string& folder);

  bool write_blob(const BlobId& id, std::span<const std::byte> content, std::uint64_t checksum) const;
  // Fills TO [id.bytes] and CHECKSUM; on a refusal their content is undefined.
  Refusal read_blob(const BlobId& id, std::span<std::byte> to, std::uint64_t& checksum) const;
  // Whether the file can hold the content at all: sizes come from files, so nothing is allocated for one that cannot.
  bool long_enough(const BlobId& id) const;
  void remove_blob(const BlobId& id) const;
  std::set<std::string> blob_names(const std::string& key_id) const;
  void remove_blob_file(const std::string& key_id, const std::string& name) const;
  std::vector<std::string> key_ids() const;
  void remove_key(const std::string& key_id) const;

  static std::string chat_name(const std::string& sequence);
  bool write_chat(const std::string& sequence, const std::string& record) const;
  void remove_chat(const std::string& sequence) const;
  std::vector<ChatFile> read_chats() const;

 private:
  SnapshotStore(std::string folder, std::unique_ptr<cache_platform::FolderLock> lock);
  std::string blob_path(const BlobId& id) const;
  std::string folder_;
  std::unique_ptr<cache_platform::FolderLock> lock_;
};

}  // namespace tg
