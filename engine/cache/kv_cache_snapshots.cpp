// Files of the cache: written in the background after each turn, listed again after a restart.
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "engine/cache/cache_clock.h"
#include "engine/cache/kv_cache.h"

namespace tg {

BlobId KvCache::blob_id(const Tree& t, const Node& node, int group, int position) const {
  BlobId id;
  id.key_id = t.key_id;
  id.key_text = t.key_text;
  id.node = node.hash;
  id.parent = node.parent->hash;
  id.first = node.first;
  id.ids = node.ids;
  id.group = group;
  id.state_position = position;
  id.bytes = group < 0 ? t.index->layout().state_bytes : t.index->layout().groups[static_cast<std::size_t>(group)].page_bytes;
  return id;
}

// ---- reading

void KvCache::load_snapshots() {
  std::map<std::string, std::set<std::string>> files;
  for (const std::string& key : store_->key_ids()) files[key] = store_->blob_names(key);
  for (ChatFile& chat : store_->read_chats()) {
    std::optional<ChatRecord> record;
    if (chat.refusal == Refusal::none) {
      record = ChatRecord::decode(chat.record);
      if (!record || SnapshotStore::chat_name(record->sequence) != chat.name) chat.refusal = Refusal::checksum;
    }
    if (chat.refusal != Refusal::none) refused_[chat.name] = chat.refusal;
    else adopt(std::move(*record), files);
  }
  remove_unlisted(files);
}

// Rebuilds the chat's pages in the index as far as its file says and the page files are there.
void KvCache::adopt(ChatRecord loaded, std::map<std::string, std::set<std::string>>& files) {
  auto record = std::make_unique<ChatRecord>(std::move(loaded));
  const std::string key_id = record->key.id();
  Tree* t = tree(key_id);
  if (t == nullptr) {
    auto fresh = std::make_unique<Tree>();
    fresh->key = record->key;
    fresh->key_id = key_id;
    fresh->key_text = record->key.text();
    fresh->index = std::make_unique<PrefixTree>(fresh->key_text, record->layout);
    t = trees_.emplace(key_id, std::move(fresh)).first->second.get();
  }
  const std::set<std::string>& names = files[key_id];
  const std::span<const TokenId> ids = record->ids;
  std::string_view refusal = t->index->layout() == record->layout ? "" : name_of(Refusal::engine_version);
  std::vector<Node*> path;
  const std::size_t n_pages = (ids.size() + kPageTokens - 1) / kPageTokens;
  for (std::size_t i = 0; i < std::min(n_pages, record->stored.size()) && refusal.empty(); ++i) {
    const auto page_ids = ids.subspan(i * kPageTokens, std::min<std::size_t>(kPageTokens, ids.size() - i * kPageTokens));
    Node* parent = path.empty() ? t->index->root() : path.back();
    if (parent != t->index->root() && !parent->full()) break;
    Node* node = t->index->add(parent, page_ids);
    if (node == nullptr) break;
    const auto there = [&](int group, int position) { return names.contains(blob_id(*t, *node, group, position).file_name()); };
    for (std::size_t g = 0; g < node->pages.size(); ++g) {
      Blob& blob = node->pages[g];
      if (blob.on_disk || (record->stored[i].groups >> g & 1U) == 0) continue;
      if (!there(static_cast<int>(g), 0)) {
        refusal = name_of(Refusal::incomplete);
        continue;
      }
      blob.on_disk = true;
      disk_bytes_ += blob.bytes;
    }
    for (const TokenId position : record->stored[i].states) {
      if (position <= node->first || position > node->end() || !there(-1, position) || node->states[position].on_disk) continue;
      Blob& blob = node->states[position];
      blob.bytes = t->index->layout().state_bytes;
      blob.on_disk = true;
      disk_bytes_ += blob.bytes;
    }
    std::erase_if(node->states, [](const auto& entry) { return !entry.second.present(); });
    if (!refusal.empty()) {
      if (node->children.empty() && node->owners.empty()) drop(*t, node, {});
      break;
    }
    node->last_use = std::max(node->last_use, record->last_use);
    path.push_back(node);
  }
  set_path(*record, std::move(path));
  if (!refusal.empty()) record->loss = {MissCause::snapshot_refused, {}, {}, "disk", std::string(refusal), now_ms()};
  else if (record->path.size() < n_pages && record->loss.cause == MissCause::none) record->loss = {MissCause::model_reloaded, {}, {}, "ram", {}, now_ms()};
  record->stored.clear();
  const std::string sequence = record->sequence;
  records_[sequence] = std::move(record);
}

// Files that no chat lists: of a process that was killed, or of versions that nobody continued.
void KvCache::remove_unlisted(const std::map<std::string, std::set<std::string>>& files) {
  for (const auto& [key_id, names] : files) {
    const Tree* t = tree(key_id);
    if (t == nullptr) {
      store_->remove_key(key_id);
      continue;
    }
    std::set<std::string> unlisted = names;
    for (const auto& entry : t->index->nodes()) {
      const Node& node = *entry.second;
      for (std::size_t g = 0; g < node.pages.size(); ++g)
        if (node.pages[g].on_disk) unlisted.erase(blob_id(*t, node, static_cast<int>(g), 0).file_name());
      for (const auto& state : node.states) unlisted.erase(blob_id(*t, node, -1, state.first).file_name());
    }
    for (const std::string& name : unlisted) store_->remove_blob_file(key_id, name);
  }
}

// Unlocks while it reads; the node must be held by a user.
Refusal KvCache::read_blob(Tree& t, Node& node, int group, int position, std::unique_lock<std::mutex>& lock) {
  const BlobId id = blob_id(t, node, group, position);
  const std::shared_ptr<PageMemory> memory = t.memory;
  if (!store_ || !memory || !store_->long_enough(id)) return Refusal::incomplete;
  make_room(id.bytes, {"budget", {}});
  lock.unlock();
  auto content = memory->allocate(id.bytes, false);
  std::uint64_t checksum = 0;
  Refusal refusal = Refusal::none;
  if (memory->is_host()) {
    refusal = store_->read_blob(id, {content.get(), id.bytes}, checksum);
  } else {
    std::vector<std::byte> staging(id.bytes);
    refusal = store_->read_blob(id, staging, checksum);
    if (refusal == Refusal::none) memory->from_host(content.get(), staging.data(), staging.size());
  }
  lock.lock();
  if (refusal != Refusal::none) return refusal;
  bytes_restored_ += id.bytes;
  Blob& blob = group < 0 ? node.states.at(position) : node.pages[static_cast<std::size_t>(group)];
  if (!blob.memory) hold(blob, std::move(content));
  blob.checksum = checksum;
  return Refusal::none;
}

// ---- writing

void KvCache::post_write(const std::string& sequence, bool pages_too) {
  // Without room for pages the list of the chat is still written: after a restart it tells why everything is read again.
  if (store_) queue_->post([this, sequence, pages_too] { write_chat(sequence, pages_too); });
}

void KvCache::write_chat(const std::string& sequence, bool pages_too) {
  {
    const std::lock_guard lock(mutex_);
    write_failed_ = false;
    const auto found = records_.find(sequence);
    pages_too = pages_too || (found != records_.end() && stays_on_close(*found->second));
  }
  while (pages_too && !queue_->stopping() && write_next_blob(sequence)) {
  }
  write_record(sequence);
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(sequence);
  make_disk_room({"budget", found == records_.end() ? std::string{} : found->second->title});
  make_room(0, waiting_.by.empty() ? Cause{"budget", {}} : waiting_);
}

// Head first, so that what is on disk is always a usable beginning. False: nothing is left to write, or the disk refuses.
bool KvCache::write_next_blob(const std::string& sequence) {
  std::unique_lock lock(mutex_);
  const auto found = records_.find(sequence);
  if (!disk_on() || found == records_.end()) return false;
  Tree* t = tree(found->second->key.id());
  if (t == nullptr || !t->memory) return false;
  Blob* next = nullptr;
  BlobId id;
  for (Node* node : found->second->path) {
    if (node->not_for_disk) break;
    const auto wants = [&](Blob& blob, int group, int position) {
      if (next != nullptr || !blob.memory || blob.on_disk || blob.writing) return;
      next = &blob;
      id = blob_id(*t, *node, group, position);
    };
    for (std::size_t g = 0; g < node->pages.size(); ++g) wants(node->pages[g], static_cast<int>(g), 0);
    for (auto& [position, state] : node->states) wants(state, -1, position);
    if (next != nullptr) break;
  }
  if (next == nullptr) return false;
  const std::shared_ptr<std::byte> content = next->memory;
  const std::shared_ptr<PageMemory> memory = t->memory;
  std::uint64_t checksum = next->checksum;
  next->writing = true;
  disk_bytes_ += id.bytes;
  lock.unlock();
  std::vector<std::byte> staging;
  std::span<const std::byte> bytes(content.get(), id.bytes);
  if (!memory->is_host()) {
    staging.resize(id.bytes);
    memory->to_host(staging.data(), content.get(), id.bytes);
    bytes = staging;
    checksum = XXH3_64bits(bytes.data(), bytes.size());
  }
  const bool written = store_->write_blob(id, bytes, checksum);
  lock.lock();
  write_failed_ = !written;
  Node* node = t->index->find(id.node);  // dropped meanwhile?
  Blob* blob = nullptr;
  if (node != nullptr && id.group >= 0) blob = &node->pages[static_cast<std::size_t>(id.group)];
  else if (node != nullptr && node->states.contains(id.state_position)) blob = &node->states.at(id.state_position);
  if (blob == nullptr || !blob->writing) {  // its bytes were taken off when it was dropped
    lock.unlock();
    store_->remove_blob(id);
    return written;
  }
  blob->writing = false;
  blob->on_disk = written;
  if (!written) disk_bytes_ -= id.bytes;
  return written;
}

void KvCache::write_record(const std::string& sequence) {
  std::string bytes;
  {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(sequence);
    if (!store_ || found == records_.end()) return;
    ChatRecord& record = *found->second;
    record.stored.clear();
    if (const Tree* t = tree(record.key.id())) record.layout = t->index->layout();
    for (const Node* node : record.path) {
      ChatRecord::Stored stored;
      for (std::size_t g = 0; g < node->pages.size(); ++g)
        if (node->pages[g].on_disk) stored.groups |= std::uint64_t{1} << g;
      for (const auto& [position, state] : node->states)
        if (state.on_disk) stored.states.push_back(position);
      bool usable = stored.groups != 0 || !stored.states.empty();
      for (std::size_t g = 0; g < node->pages.size(); ++g)
        usable = usable && (record.layout.groups[g].window > 0 || node->pages[g].on_disk);
      if (!usable) break;
      record.stored.push_back(std::move(stored));
    }
    bytes = record.encode();
    record.stored.clear();
    changed();  // pages were written
  }
  store_->write_chat(sequence, bytes);
}

}  // namespace tg
