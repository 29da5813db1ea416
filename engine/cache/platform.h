// Calls of the operating system that the snapshots need; one platform_*.cpp per system implements them.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tg::cache_platform {

// Writes PARTS to PATH so that a reader sees the old file or the whole new one, also after a power cut: temporary name beside it, mode
// 0600, flushed to the disk, renamed. False: nothing changed at PATH.
bool write_file(const std::string& path, std::span<const std::span<const std::byte>> parts);

// Reads the whole file, at most LIMIT bytes. False: it cannot be opened or is longer.
bool read_file(const std::string& path, std::size_t limit, std::string& bytes);

// Opens for reading piece by piece.
class InputFile {
 public:
  static std::unique_ptr<InputFile> open(const std::string& path);
  virtual ~InputFile() = default;
  virtual std::size_t size() const = 0;
  virtual bool read(void* to, std::size_t bytes) = 0;  // all of them, from where the last read ended
};

bool make_private_folder(const std::string& path);  // 0700, parents too

// Held while the object lives; null: another process holds it or the folder cannot be written.
class FolderLock {
 public:
  static std::unique_ptr<FolderLock> take(const std::string& folder);
  virtual ~FolderLock() = default;
};

}  // namespace tg::cache_platform
