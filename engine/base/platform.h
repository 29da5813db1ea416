// Calls of the operating system that the engine needs; one platform_*.cpp per system implements them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/base/result.h"

namespace tg {

// A file mapped read-only into memory.
// Thread: immutable, usable from any thread. Ownership: the view lives as long as the object.
class MappedFile {
 public:
  virtual ~MappedFile() = default;
  // PATH is UTF-8. Refuses what is no regular file.
  static Result<std::unique_ptr<MappedFile>> open(const std::string& path);
  virtual std::span<const std::byte> bytes() const = 0;
  // Copies PART of the view to TO without mapping its pages; false: the file has become shorter or cannot be read any more.
  virtual bool read(std::span<const std::byte> part, std::byte* to) const = 0;
  // Gives back the memory that mapped pages of PART take; what is touched again comes from the system.
  virtual void let_go(std::span<const std::byte> part) const = 0;
  // False once the file is shorter than the view: touching what is gone would end the program.
  virtual bool whole() const = 0;
  // What the file was when it was opened, as file_identity() says it.
  virtual const std::string& identity() const = 0;
  // True where the start of PART is held by the system, so that reading it needs no disk.
  virtual bool in_memory(std::span<const std::byte> part) const = 0;
};

// Which file PATH names and in which state: another text once it has been replaced, written to or has changed its length. Empty: it
// cannot be looked at.
std::string file_identity(const std::string& path);

struct MainMemory {
  std::uint64_t free = 0;   // bytes that programs could still be given without any being moved to disk
  std::uint64_t total = 0;
};
// Nothing where the system does not say.
std::optional<MainMemory> main_memory();

// A file that grows beyond the limit the user has set then fails to be written, as on a full disk, instead of ending the program. Called
// once by each program, before it writes.
void make_file_size_limit_a_write_error();

}  // namespace tg
