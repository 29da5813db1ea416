#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <utility>

#include "engine/base/platform.h"
#include "engine/base/text.h"

namespace tg {
namespace {

struct Descriptor {
  int fd = -1;
  explicit Descriptor(int value) : fd(value) {}
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  Descriptor(Descriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

std::string identity_of(const struct stat& info) {
  std::string text;
  for (const auto part : {static_cast<long long>(info.st_dev), static_cast<long long>(info.st_ino), static_cast<long long>(info.st_size),
                          static_cast<long long>(info.st_mtim.tv_sec), static_cast<long long>(info.st_mtim.tv_nsec)}) {
    text += std::to_string(part) + " ";
  }
  return text;
}

class PosixMapping final : public MappedFile {
 public:
  PosixMapping(Descriptor file, void* address, std::size_t size, std::string identity)
      : file_(std::move(file)), address_(address), size_(size), identity_(std::move(identity)) {}
  ~PosixMapping() override {
    if (size_ > 0) munmap(address_, size_);
  }
  PosixMapping(const PosixMapping&) = delete;
  PosixMapping& operator=(const PosixMapping&) = delete;

  std::span<const std::byte> bytes() const override { return {static_cast<const std::byte*>(address_), size_}; }

  bool read(std::span<const std::byte> part, std::byte* to) const override {
    std::size_t done = 0;
    while (done < part.size()) {
      const ssize_t n = pread(file_.fd, to + done, part.size() - done, offset(part) + static_cast<off_t>(done));
      if (n <= 0 && (n == 0 || errno != EINTR)) return false;
      if (n > 0) done += static_cast<std::size_t>(n);
    }
    return true;
  }

  bool whole() const override {
    struct stat now {};
    return fstat(file_.fd, &now) == 0 && now.st_size >= static_cast<off_t>(size_);
  }

  void let_go(std::span<const std::byte> part) const override {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
    if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  }

  const std::string& identity() const override { return identity_; }

  bool in_memory(std::span<const std::byte> part) const override {
    char byte = 0;
    iovec to{&byte, 1};
    return part.empty() || preadv2(file_.fd, &to, 1, offset(part), RWF_NOWAIT) == 1;
  }

 private:
  off_t offset(std::span<const std::byte> part) const { return static_cast<off_t>(part.data() - static_cast<const std::byte*>(address_)); }

  Descriptor file_;
  void* address_;
  std::size_t size_;
  std::string identity_;
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
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) return io_error(path, errno);
  struct stat info {};
  if (fstat(file.fd, &info) != 0) return io_error(path, errno);
  if (!S_ISREG(info.st_mode)) {
    return make_error(ErrorCode::io, "\"" + printable(path, 120) + "\" is not a file.");
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return std::unique_ptr<MappedFile>(std::make_unique<PosixMapping>(std::move(file), nullptr, 0, identity_of(info)));
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (address == MAP_FAILED) return io_error(path, errno);
  return std::unique_ptr<MappedFile>(std::make_unique<PosixMapping>(std::move(file), address, size, identity_of(info)));
}

std::string file_identity(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? identity_of(info) : std::string();
}

std::optional<MainMemory> main_memory() {
  MainMemory memory;
  std::ifstream table("/proc/meminfo");
  std::uint64_t kilobytes = 0;
  for (std::string name, rest; table >> name >> kilobytes && std::getline(table, rest);) {
    if (name == "MemTotal:") memory.total = kilobytes * 1024;
    if (name == "MemAvailable:") memory.free = kilobytes * 1024;
    if (memory.total > 0 && memory.free > 0) return memory;
  }
  return std::nullopt;
}

void make_file_size_limit_a_write_error() { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace tg
