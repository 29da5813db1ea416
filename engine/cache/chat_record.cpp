#include "engine/cache/chat_record.h"

#include <algorithm>

#include "engine/cache/snapshot_bytes.h"

namespace tg {
namespace {

constexpr std::uint64_t kMaxEvents = 64;
constexpr std::uint64_t kMaxGroups = 32;
constexpr std::uint64_t kMaxBlob = std::uint64_t{1} << 34U;

void put_key(ByteWriter& w, const PageKey& key) {
  w.text(key.fingerprint);
  w.text(key.backend);
  w.text(key.kernel_variant);
  w.u64(static_cast<std::uint64_t>(key.k_type));
  w.u64(static_cast<std::uint64_t>(key.v_type));
  w.text(key.rope);
}

KvType kv_type(std::uint64_t v) { return static_cast<KvType>(std::min<std::uint64_t>(v, static_cast<std::uint64_t>(KvType::q8_0))); }

PageKey get_key(ByteReader& r) {
  PageKey key;
  key.fingerprint = r.text();
  key.backend = r.text();
  key.kernel_variant = r.text();
  key.k_type = kv_type(r.u64());
  key.v_type = kv_type(r.u64());
  key.rope = r.text();
  return key;
}

}  // namespace

std::string ChatRecord::encode() const {
  ByteWriter w;
  w.text(sequence);
  w.text(title);
  put_key(w, key);
  w.ids(ids);
  w.u64((pinned ? 1U : 0U) | static_cast<std::uint64_t>(keep) << 1U);
  w.i64(last_use);
  w.text(reason);
  w.u64(static_cast<std::uint64_t>(loss.cause));
  for (const std::string* text : {&loss.by, &loss.by_chat, &loss.tier, &loss.refusal}) w.text(*text);
  w.i64(loss.at_ms);
  w.u64(layout.groups.size());
  for (const CacheGroup& g : layout.groups) {
    w.i64(g.window);
    w.u64(g.page_bytes);
  }
  w.u64(layout.state_bytes);
  w.u64(stored.size());
  for (const Stored& s : stored) {
    w.u64(s.groups);
    w.ids(s.states);
  }
  w.u64(events.size());
  for (const CacheEvent& e : events) {
    w.i64(e.at_ms);
    w.text(e.movement);
    w.text(e.reason);
  }
  return w.bytes();
}

std::optional<ChatRecord> ChatRecord::decode(std::string_view bytes) {
  ByteReader r(bytes);
  ChatRecord c;
  c.sequence = r.text();
  c.title = r.text();
  c.key = get_key(r);
  c.ids = r.ids();
  const std::uint64_t flags = r.u64();
  c.pinned = (flags & 1U) != 0;
  c.keep = static_cast<KeepOnClose>(std::min<std::uint64_t>(flags >> 1U, static_cast<std::uint64_t>(KeepOnClose::never)));
  c.last_use = r.i64();
  c.reason = r.text();
  const std::uint64_t cause = r.u64();
  c.loss.cause = cause <= static_cast<std::uint64_t>(MissCause::unknown) ? static_cast<MissCause>(cause) : MissCause::unknown;
  for (std::string* text : {&c.loss.by, &c.loss.by_chat, &c.loss.tier, &c.loss.refusal}) *text = r.text();
  c.loss.at_ms = r.i64();
  const std::uint64_t n_groups = r.u64();
  if (n_groups > kMaxGroups) return std::nullopt;
  for (std::uint64_t i = 0; i < n_groups && r.ok(); ++i) {
    CacheGroup g;
    g.window = static_cast<int>(std::clamp<std::int64_t>(r.i64(), 0, 1 << 30));
    g.page_bytes = static_cast<std::size_t>(r.u64());
    if (g.page_bytes == 0 || g.page_bytes > kMaxBlob) return std::nullopt;
    c.layout.groups.push_back(g);
  }
  c.layout.state_bytes = static_cast<std::size_t>(r.u64());
  if (c.layout.state_bytes > kMaxBlob) return std::nullopt;
  const std::uint64_t n_stored = r.u64();
  if (n_stored > c.ids.size() / kPageTokens + 1) return std::nullopt;
  for (std::uint64_t i = 0; i < n_stored && r.ok(); ++i) {
    Stored s;
    s.groups = r.u64();
    s.states = r.ids();
    c.stored.push_back(std::move(s));
  }
  const std::uint64_t n_events = r.u64();
  if (n_events > kMaxEvents) return std::nullopt;
  for (std::uint64_t i = 0; i < n_events && r.ok(); ++i) {
    CacheEvent e;
    e.at_ms = r.i64();
    e.sequence = c.sequence;
    e.movement = r.text();
    e.reason = r.text();
    c.events.push_back(std::move(e));
  }
  if (!r.ok() || !r.at_end()) return std::nullopt;
  return c;
}

}  // namespace tg
