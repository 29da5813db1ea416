// What two caches must have in common to serve one another's turns. Sampling, threads and chunk size are not in it: they change no value.
#pragma once
#include <cstdint>
#include <string>

#include "engine/base/types.h"

namespace tg {

struct PageKey {
  std::string fingerprint;     // of the model file
  std::string backend;         // "cpu", "cuda"
  std::string kernel_variant;  // with its revision: other kernels give other low bits
  KvType k_type = KvType::f16, v_type = KvType::f16;
  std::string rope;            // the factor set in force; empty: the model has one only

  bool operator==(const PageKey&) const = default;
  std::string text() const;    // one line, canonical
  std::string id() const;      // 32 hexadecimal digits of its hash: folder name of the snapshots
};

// The first setting in which two keys differ, as the user knows it.
struct KeyDifference {
  std::string setting;  // model backend kernels kv_type kv_type_k kv_type_v context; empty: none
  std::string from, to;
};
KeyDifference difference(const PageKey& from, const PageKey& to);

}  // namespace tg
