#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "engine/base/platform.h"
#include "engine/base/text.h"

namespace tg {
namespace {

class PosixMapping final : public MappedFile {
 public:
  PosixMapping(void* address, std::size_t size) : address_(address), size_(size) {}
  ~PosixMapping() override {
    if (size_ > 0) munmap(address_, size_);
  }
  PosixMapping(const PosixMapping&) = delete;
  PosixMapping& operator=(const PosixMapping&) = delete;

  std::span<const std::byte> bytes() const override { return {static_cast<const std::byte*>(address_), size_}; }

  void release(std::span<const std::byte> part) const override {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto base = reinterpret_cast<std::uintptr_t>(address_);
    const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
    const auto end = begin + part.size();
    if (size_ == 0 || begin < base || end > base + size_) return;
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t last = end / page * page;
    if (first < last) madvise(static_cast<char*>(address_) + (first - base), last - first, MADV_DONTNEED);
  }

 private:
  void* address_;
  std::size_t size_;
};

// Closes the descriptor when the scope ends; the mapping stays.
struct Descriptor {
  int fd = -1;
  explicit Descriptor(int value) : fd(value) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

Error io_error(const std::string& path, int code) {
  const std::string name = "\"" + printable(path, 120) + "\"";
  if (code == ENOENT || code == ENOTDIR) return make_error(ErrorCode::io, "The file " + name + " does not exist.");
  if (code == EACCES) return make_error(ErrorCode::io, "The file " + name + " may not be read.");
  return make_error(ErrorCode::io, "The file " + name + " cannot be read: " + std::strerror(code) + ".");
}

}  // namespace

Result<std::unique_ptr<MappedFile>> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) return io_error(path, errno);
  struct stat info {};
  if (fstat(file.fd, &info) != 0) return io_error(path, errno);
  if (!S_ISREG(info.st_mode)) {
    return make_error(ErrorCode::io, "\"" + printable(path, 120) + "\" is not a file.");
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return std::unique_ptr<MappedFile>(std::make_unique<PosixMapping>(nullptr, 0));
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED) return io_error(path, errno);
  return std::unique_ptr<MappedFile>(std::make_unique<PosixMapping>(address, size));
}

void make_file_size_limit_a_write_error() { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace tg
