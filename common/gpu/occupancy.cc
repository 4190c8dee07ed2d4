#include "common/gpu/occupancy.h"

#include <vector>

namespace stridewise {
namespace {

absl::StatusOr<std::vector<DeviceModel>> QueryAllDevices() {
  int count = 0;
  RETURN_IF_CUDA_ERROR(cudaGetDeviceCount(&count));
  std::vector<DeviceModel> models(static_cast<size_t>(count), H200Model());
  for (int device = 0; device < count; ++device) {
    int major = 0;
    int minor = 0;
    RETURN_IF_CUDA_ERROR(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    RETURN_IF_CUDA_ERROR(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    RETURN_IF_CUDA_ERROR(
        cudaDeviceGetAttribute(&models[static_cast<size_t>(device)].multiprocessors,
                               cudaDevAttrMultiProcessorCount, device));
    models[static_cast<size_t>(device)].compute_capability = 10 * major + minor;
  }
  return models;
}

}  // namespace

absl::StatusOr<DeviceModel> CurrentDeviceModel() {
  int device = 0;
  RETURN_IF_CUDA_ERROR(cudaGetDevice(&device));
  static const auto& models = *new absl::StatusOr<std::vector<DeviceModel>>(QueryAllDevices());
  RETURN_IF_ERROR(models.status());
  return (*models)[static_cast<size_t>(device)];
}

}  // namespace stridewise
