// CUPTI's description of a chip, and the configuration of its counters for their names.

#ifndef STRIDEWISE_COMMON_GPU_CUPTI_PLAN_H_
#define STRIDEWISE_COMMON_GPU_CUPTI_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/gpu/cupti.h"

namespace stridewise {

class CuptiPlan {
 public:
  // Borrows `cupti`. InvalidArgument, naming it, for a name that the device's chip does not have.
  static absl::StatusOr<std::unique_ptr<CuptiPlan>> Create(const Cupti& cupti,
                                                           absl::Span<const std::string> names,
                                                           int device);
  ~CuptiPlan();
  CuptiPlan(const CuptiPlan&) = delete;
  CuptiPlan& operator=(const CuptiPlan&) = delete;

  const std::vector<uint8_t>& config() const { return config_; }
  std::vector<const char*>& names() { return pointers_; }

  // Returns the values of the only range of a decoded image.
  absl::StatusOr<std::vector<double>> Evaluate(const std::vector<uint8_t>& image);

 private:
  CuptiPlan(const Cupti& cupti, absl::Span<const std::string> names);

  absl::Status Open(const char* chip);

  // Returns CUPTI's list of the counters that can be read in the current context.
  absl::StatusOr<std::vector<uint8_t>> Availability() const;

  absl::Status CheckName(const char* name, const char* chip) const;

  const Cupti& cupti_;
  const std::vector<std::string> names_;
  std::vector<const char*> pointers_;
  std::vector<uint8_t> availability_;
  std::vector<uint8_t> config_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_CUPTI_PLAN_H_
