#include "benchmarks/tuning/tensor_products.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/measure/csv.h"

namespace stridewise {
namespace {

// A record of a sweep by the names of its columns.
using Record = std::map<std::string, std::string>;

constexpr const char* kColumns[] = {"implementation", "dtype",    "status",          "rows",
                                    "cols",           "depth",    "batch",           "layout",
                                    "beta",           "epilogue", "kernel_ms_median"};

// Returns the product of a record, of operands without gaps, as the sweep makes them; of no rows
// where it is none of 16 bits without beta and epilogue, or was not measured.
MatMulArgs ArgsOf(const Record& record) {
  MatMulArgs args;
  const std::string& layout = record.at("layout");
  const bool is_16_bit = record.at("dtype") == "bf16" || record.at("dtype") == "fp16";
  const bool is_plain =
      record.at("epilogue").empty() && (record.at("beta").empty() || record.at("beta") == "0");
  if (record.at("status") != "ok" || !is_16_bit || !is_plain || layout.size() > 2) return args;
  args.batch = 1;
  if (!absl::SimpleAtoi(record.at("rows"), &args.m) ||
      !absl::SimpleAtoi(record.at("cols"), &args.n) ||
      !absl::SimpleAtoi(record.at("depth"), &args.k) ||
      (!record.at("batch").empty() && !absl::SimpleAtoi(record.at("batch"), &args.batch))) {
    args.m = 0;
    return args;
  }
  args.a.type = args.b.type = args.c.type =
      record.at("dtype") == "bf16" ? ElementType::kBf16 : ElementType::kFp16;
  args.a.transposed = !layout.empty() && layout[0] == 't';
  args.b.transposed = !layout.empty() && layout[1] == 't';
  args.a.ld = args.a.transposed ? args.m : args.k;
  args.b.ld = args.b.transposed ? args.k : args.n;
  args.c.ld = args.n;
  if (args.batch > 1) {
    args.a.stride = args.m * args.k;
    args.b.stride = args.k * args.n;
    args.c.stride = args.m * args.n;
  }
  return args;
}

}  // namespace

absl::StatusOr<std::vector<TensorProduct>> ReadTensorProducts(absl::Span<const std::string> paths,
                                                              const DeviceModel& device) {
  constexpr double kUsOfMs = 1000;
  std::map<std::string, TensorProduct> products;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const CsvTable table, ReadCsv(path));
    for (const auto& row : table.rows) {
      Record record;
      for (size_t i = 0; i < row.size(); ++i) record[table.header[i]] = row[i];
      for (const char* const column : kColumns) {
        if (record.count(column) == 0) {
          return absl::InvalidArgumentError(absl::StrCat(path, ": no column ", column));
        }
      }
      MatMulArgs args = ArgsOf(record);
      double ms = 0;
      if (args.m == 0 || !absl::SimpleAtod(record["kernel_ms_median"], &ms) || ms <= 0) continue;
      args.device_model = &device;
      std::vector<TensorPrediction> predictions =
          PredictionsOf(record["implementation"], args, device);
      if (predictions.empty()) continue;
      const std::string key = absl::StrJoin({record["dtype"], record["layout"], record["rows"],
                                             record["cols"], record["depth"], record["batch"]},
                                            ",");
      products[key].push_back({record["implementation"], kUsOfMs * ms, predictions.front()});
    }
  }
  std::vector<TensorProduct> all;
  for (auto& [key, product] : products) all.push_back(std::move(product));
  return all;
}

}  // namespace stridewise
