// Little-endian records of the snapshot files. The reader never leaves its bounds: after the first value that is not there, all are zero and
// ok() is false.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tg {

class ByteWriter {
 public:
  void u64(std::uint64_t v) {
    for (unsigned i = 0; i < 8; ++i) bytes_ += static_cast<char>(static_cast<unsigned char>(v >> (8 * i)));
  }
  void i64(std::int64_t v) { u64(static_cast<std::uint64_t>(v)); }
  void text(std::string_view v) {
    u64(v.size());
    bytes_ += v;
  }
  void ids(const std::vector<std::int32_t>& v) {
    u64(v.size());
    for (const std::int32_t id : v)
      for (unsigned i = 0; i < 4; ++i) bytes_ += static_cast<char>(static_cast<unsigned char>(static_cast<std::uint32_t>(id) >> (8 * i)));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t u64() {
    std::uint64_t v = 0;
    if (!take(8)) return 0;
    for (unsigned i = 0; i < 8; ++i) v |= static_cast<std::uint64_t>(static_cast<unsigned char>(taken_[i])) << (8 * i);
    return v;
  }
  std::int64_t i64() { return static_cast<std::int64_t>(u64()); }
  std::string text() {
    const std::uint64_t n = u64();
    return n <= bytes_.size() && take(static_cast<std::size_t>(n)) ? std::string(taken_) : std::string(fail());
  }
  std::vector<std::int32_t> ids() {
    const std::uint64_t n = u64();
    std::vector<std::int32_t> out;
    if (n > bytes_.size() / 4 || !take(static_cast<std::size_t>(n) * 4)) {
      fail();
      return out;
    }
    out.reserve(static_cast<std::size_t>(n));
    for (std::size_t at = 0; at < taken_.size(); at += 4) {
      std::uint32_t v = 0;
      for (unsigned i = 0; i < 4; ++i) v |= static_cast<std::uint32_t>(static_cast<unsigned char>(taken_[at + i])) << (8 * i);
      out.push_back(static_cast<std::int32_t>(v));
    }
    return out;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  bool take(std::size_t n) {
    if (!ok_ || n > bytes_.size()) {
      fail();
      return false;
    }
    taken_ = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return true;
  }
  std::string_view fail() {
    ok_ = false;
    return {};
  }
  std::string_view bytes_, taken_;
  bool ok_ = true;
};

}  // namespace tg
