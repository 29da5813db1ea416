// Any bytes as files of the cache folder: the list of a chat, and a page or state that a sound list names. Whatever they are, the cache opens, says
// what it found, serves a turn and checks itself; nothing else is read than what the files hold.
#include <xxhash.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/cache/kv_cache.h"
#include "engine/cache/snapshot_bytes.h"

namespace {

using namespace tg;
namespace fs = std::filesystem;

constexpr std::size_t kPageBytes = 256, kStateBytes = 96;

std::string folder() {
  static const std::string path = [] {
    std::string pattern = (fs::is_directory("/dev/shm") ? "/dev/shm" : fs::temp_directory_path().string()) + "/tg-fuzz-snapshot-XXXXXX";
    return std::string(mkdtemp(pattern.data()));
  }();
  return path;
}

void put(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

PageKey key() { return {"fuzz", "cpu", "scalar", KvType::f16, KvType::f16, {}}; }
CacheLayout layout() { return {{{0, kPageBytes}, {70, kPageBytes}}, kStateBytes}; }

void serve(KvCache& cache, const std::string& sequence, const PageKey& k, const CacheLayout& l, std::vector<TokenId> ids) {
  cache.open(k, l, std::make_shared<HostPageMemory>());
  if (ids.empty()) ids = {1, 2, 3};
  ids.resize(std::min<std::size_t>(ids.size(), 1000));
  CacheRequest request;
  request.sequence = sequence;
  request.key = k;
  request.ids = ids;
  auto lease = cache.begin(request);
  while (!cache.restore(*lease, 1U << 20U)) {
  }
  const std::vector<TokenId> rest(ids.begin() + lease->cached(), ids.end());
  cache.reserve(*lease, static_cast<int>(ids.size()));
  cache.commit(*lease, rest);
  cache.checkpoint(*lease);
  cache.finish(std::move(lease));
}

// The bytes as a whole file, or as the record inside a file whose checksum is right: so what stands behind the checksum is tried too.
void as_list(const std::string& bytes, bool framed) {
  const auto record = ChatRecord::decode(bytes);
  if (!framed) return put(folder() + "/chats/" + SnapshotStore::chat_name("a") + ".chat", bytes);
  ByteWriter start;
  for (const std::uint64_t v : {std::uint64_t{1}, std::uint64_t{bytes.size()}, std::uint64_t{0}, std::uint64_t{XXH3_64bits(bytes.data(), bytes.size())}}) start.u64(v);
  put(folder() + "/chats/" + SnapshotStore::chat_name(record ? record->sequence : "a") + ".chat", "TGCHAT" + start.bytes() + bytes);
}

// A chat is stored as it should be; then one of its files holds these bytes, or is changed where they say.
void as_content(const std::string& bytes, unsigned char how) {
  std::vector<TokenId> ids(150);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(i);
  {
    KvCache cache(folder(), {0, 1U << 24U, 1U << 24U});
    serve(cache, "a", key(), layout(), ids);
    cache.flush(std::chrono::seconds(5));
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder()))
    if (entry.is_regular_file() && entry.path().has_extension()) files.push_back(entry.path());
  if (files.empty()) return;
  std::sort(files.begin(), files.end());
  const fs::path victim = files[how / 2 % files.size()];
  if (how % 2 == 0) return put(victim, bytes);
  std::ifstream in(victim, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t i = 0; i + 2 < bytes.size() && !content.empty(); i += 3)
    content[(static_cast<unsigned char>(bytes[i]) * 256U + static_cast<unsigned char>(bytes[i + 1])) % content.size()] = bytes[i + 2];
  put(victim, content);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  std::error_code ignored;
  fs::remove_all(folder(), ignored);
  if (data[0] % 3 == 2) as_content(bytes, data[1]);
  else as_list(bytes, data[0] % 3 == 1);
  KvCache cache(folder(), {0, 1U << 24U, 1U << 24U});
  static_cast<void>(cache.states());
  const auto record = ChatRecord::decode(bytes);
  // With the layout that the file claims, as far as a model could have it.
  bool sound = record && record->layout.state_bytes <= 4096 && record->layout.groups.size() <= 4;
  for (std::size_t g = 0; sound && g < record->layout.groups.size(); ++g) sound = record->layout.groups[g].page_bytes <= 4096;
  if (sound) serve(cache, record->sequence, record->key, record->layout, record->ids);
  cache.flush(std::chrono::seconds(5));  // a model has one layout: what comes next is another engine on the same files
  std::vector<TokenId> ids(150);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(i);
  serve(cache, "a", key(), layout(), ids);
  static_cast<void>(cache.check_integrity());
  if (const auto again = cache.check_integrity(); !again) std::abort();  // the first one drops what is bad
  return 0;
}
