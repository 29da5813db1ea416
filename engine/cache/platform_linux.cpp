#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "engine/cache/platform.h"

namespace tg::cache_platform {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

class LinuxInputFile : public InputFile {
 public:
  LinuxInputFile(int fd, std::size_t size) : fd_(fd), size_(size) {}
  std::size_t size() const override { return size_; }
  bool read(void* to, std::size_t bytes) override {
    auto* at = static_cast<std::byte*>(to);
    while (bytes > 0) {
      const ssize_t n = ::read(fd_.get(), at, bytes);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      bytes -= static_cast<std::size_t>(n);
    }
    return true;
  }

 private:
  Descriptor fd_;
  std::size_t size_;
};

class LinuxFolderLock : public FolderLock {
 public:
  explicit LinuxFolderLock(int fd) : fd_(fd) {}

 private:
  Descriptor fd_;
};

}  // namespace

bool write_file(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  const std::string temporary = path + ".tmp";
  bool written = false;
  {
    const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file) return false;
    written = true;
    for (const auto part : parts) written = written && write_all(file.get(), part);
    written = written && ::fdatasync(file.get()) == 0;
  }
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0) return true;
  ::unlink(temporary.c_str());
  return false;
}

std::unique_ptr<InputFile> InputFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return nullptr;
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return nullptr;
  }
  return std::make_unique<LinuxInputFile>(fd, static_cast<std::size_t>(info.st_size));
}

bool read_file(const std::string& path, std::size_t limit, std::string& bytes) {
  const auto file = InputFile::open(path);
  if (!file || file->size() > limit) return false;
  bytes.resize(file->size());
  return file->read(bytes.data(), bytes.size());
}

bool make_private_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return false;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
  return !error;
}

std::unique_ptr<FolderLock> FolderLock::take(const std::string& folder) {
  const int fd = ::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return nullptr;
  }
  return std::make_unique<LinuxFolderLock>(fd);
}

}  // namespace tg::cache_platform
