// A CSV with columns of its own, for what does not fit the sweeps' rows.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_RECORD_FILE_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_RECORD_FILE_H_

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/measure/csv.h"

namespace stridewise {

class RecordFile {
 public:
  // Opens `path`, or standard output for "-", and writes the header. A file that is there becomes
  // path + ".bak" or, with kResume, is appended to. InvalidArgument, naming the file, where it
  // cannot be written; with kResume also where its header is another.
  static absl::StatusOr<RecordFile> Create(const std::string& path,
                                           const std::vector<std::string>& header, CsvMode mode);

  // Appends one record, flushed. DataLoss where it cannot be written.
  absl::Status Write(const std::vector<std::string>& fields);

 private:
  struct Closer {
    void operator()(std::FILE* file) const {
      if (file != stdout) std::fclose(file);
    }
  };

  RecordFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_RECORD_FILE_H_
