#include "common/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

absl::Status Error(const std::string& path, int error) {
  const std::string text = absl::StrCat(path, ": ", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case EEXIST:
      return absl::AlreadyExistsError(text);
    case EINVAL:
    case EISDIR:
    case ENODEV:
      return absl::InvalidArgumentError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::UnavailableError(text);
  }
}

// An open file, until it is mapped.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

absl::StatusOr<void*> Map(const std::string& path, const Descriptor& file, int64_t bytes,
                          int protection) {
  if (bytes == 0) return nullptr;
  void* const data =
      ::mmap(nullptr, static_cast<size_t>(bytes), protection, MAP_SHARED, file.fd(), 0);
  if (data == MAP_FAILED) return Error(path, errno);
  return data;
}

// Maps a file of its own length.
absl::StatusOr<std::pair<void*, int64_t>> MapWhole(const std::string& path, int flags,
                                                   int protection) {
  const Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  if (file.fd() < 0) return Error(path, errno);
  struct stat status = {};
  if (::fstat(file.fd(), &status) != 0) return Error(path, errno);
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a regular file"));
  }
  const auto bytes = static_cast<int64_t>(status.st_size);
  ASSIGN_OR_RETURN(void* const data, Map(path, file, bytes, protection));
  return std::pair(data, bytes);
}

absl::StatusOr<void*> Extend(const std::string& path, const Descriptor& file, int64_t bytes) {
  if (bytes > 0) {
    const int error = ::posix_fallocate(file.fd(), 0, static_cast<off_t>(bytes));
    if (error != 0) return Error(path, error);
  }
  return Map(path, file, bytes, PROT_READ | PROT_WRITE);
}

absl::Status CheckBytes(const std::string& path, int64_t bytes) {
  if (bytes >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": of ", bytes, " bytes; allowed is 0 up"));
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  MappedFile mapped;
  ASSIGN_OR_RETURN(std::tie(mapped.data_, mapped.bytes_), MapWhole(path, O_RDONLY, PROT_READ));
  return mapped;
}

absl::StatusOr<MappedFile> MappedFile::OpenForWriting(const std::string& path) {
  MappedFile mapped;
  ASSIGN_OR_RETURN(std::tie(mapped.data_, mapped.bytes_),
                   MapWhole(path, O_RDWR, PROT_READ | PROT_WRITE));
  return mapped;
}

absl::StatusOr<MappedFile> MappedFile::Create(const std::string& path, int64_t bytes) {
  RETURN_IF_ERROR(CheckBytes(path, bytes));
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.fd() < 0) return Error(path, errno);
  absl::StatusOr<void*> data = Extend(path, file, bytes);
  if (!data.ok()) {
    ::unlink(path.c_str());
    return data.status();
  }
  MappedFile mapped;
  mapped.data_ = *data;
  mapped.bytes_ = bytes;
  return mapped;
}

absl::StatusOr<MappedFile> MappedFile::CreateUnnamed(const std::string& directory, int64_t bytes) {
  RETURN_IF_ERROR(CheckBytes(directory, bytes));
  std::string path = absl::StrCat(directory, "/stridewise.XXXXXX");
  const Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (file.fd() < 0) return Error(directory, errno);
  ::unlink(path.c_str());
  MappedFile mapped;
  ASSIGN_OR_RETURN(mapped.data_, Extend(directory, file, bytes));
  mapped.bytes_ = bytes;
  return mapped;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, static_cast<size_t>(bytes_));
}

absl::Status MappedFile::Flush() {
  if (data_ == nullptr || ::msync(data_, static_cast<size_t>(bytes_), MS_SYNC) == 0) {
    return absl::OkStatus();
  }
  return Error("mapped file", errno);
}

}  // namespace stridewise
