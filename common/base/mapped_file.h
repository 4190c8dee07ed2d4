// Files as memory: operands that are too large for a machine's memory, or already on its disk.
//
//   ASSIGN_OR_RETURN(const MappedFile a, MappedFile::Open("/data/a.bin"));
//   problem.a = {a.data(), k};  // Row-major floats, as they lie in the file.

#ifndef STRIDEWISE_COMMON_BASE_MAPPED_FILE_H_
#define STRIDEWISE_COMMON_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stridewise {

// Owns a mapping of a whole file, aligned to a page. Move-only. What is written is seen by
// everybody who has the file open, and on the disk after Flush().
//
// Errors name the file and the system's reason: NotFound, PermissionDenied, AlreadyExists,
// InvalidArgument, ResourceExhausted where the disk is full, otherwise Unavailable. A file that
// somebody else shortens while it is mapped ends a program that reads what is gone (SIGBUS).
class MappedFile {
 public:
  // Maps a file that is there: for reading, where a write ends the program, or for both.
  static absl::StatusOr<MappedFile> Open(const std::string& path);
  static absl::StatusOr<MappedFile> OpenForWriting(const std::string& path);

  // Makes a file of zeros and maps it for reading and writing. Replaces nothing. Its blocks are
  // taken at once, so that a full disk is an error here and not a signal at a later write.
  static absl::StatusOr<MappedFile> Create(const std::string& path, int64_t bytes);

  // The same without a name: the file is gone when it is unmapped or the program ends.
  static absl::StatusOr<MappedFile> CreateUnnamed(const std::string& directory, int64_t bytes);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  void* data() const { return data_; }  // Null for an empty file.
  template <typename T>
  T* As() const {
    return static_cast<T*>(data_);
  }
  int64_t bytes() const { return bytes_; }

  // Returns when what was written is on the disk.
  absl::Status Flush();

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_MAPPED_FILE_H_
