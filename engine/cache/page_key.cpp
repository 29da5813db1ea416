#include "engine/cache/page_key.h"

#include <xxhash.h>

#include <array>

namespace tg {

std::string PageKey::text() const {
  std::string out;
  for (const std::string_view part : {std::string_view(fingerprint), std::string_view(backend), std::string_view(kernel_variant), name_of(k_type),
                                      name_of(v_type), std::string_view(rope)}) {
    out += part;
    out += '|';
  }
  return out;
}

std::string PageKey::id() const {
  const std::string all = text();
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, XXH3_128bits(all.data(), all.size()));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : digest.digest) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

KeyDifference difference(const PageKey& from, const PageKey& to) {
  if (from.fingerprint != to.fingerprint) return {"model", from.fingerprint, to.fingerprint};
  if (from.backend != to.backend) return {"backend", from.backend, to.backend};
  const bool k = from.k_type != to.k_type, v = from.v_type != to.v_type;
  if (k && v) return {"kv_type", std::string(name_of(from.k_type)), std::string(name_of(to.k_type))};
  if (k) return {"kv_type_k", std::string(name_of(from.k_type)), std::string(name_of(to.k_type))};
  if (v) return {"kv_type_v", std::string(name_of(from.v_type)), std::string(name_of(to.v_type))};
  if (from.kernel_variant != to.kernel_variant) return {"kernels", from.kernel_variant, to.kernel_variant};
  if (from.rope != to.rope) return {"context", from.rope, to.rope};
  return {};
}

}  // namespace tg
