#include "common/gpu/current_device.h"

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace stridewise {
namespace {

int Attribute(cudaDeviceAttr attribute, int device, int otherwise) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, attribute, device) == cudaSuccess ? value : otherwise;
}

DeviceModel ModelOf(int device) {
  DeviceModel model = H200Model();
  const int major = Attribute(cudaDevAttrComputeCapabilityMajor, device, 0);
  const int minor = Attribute(cudaDevAttrComputeCapabilityMinor, device, 0);
  if (major > 0) model.compute_capability = 10 * major + minor;
  model.multiprocessors = Attribute(cudaDevAttrMultiProcessorCount, device, model.multiprocessors);
  model.max_shared_bytes =
      Attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device, model.max_shared_bytes);
  const double clock_khz = Attribute(cudaDevAttrMemoryClockRate, device, 0);
  const double bus_bits = Attribute(cudaDevAttrGlobalMemoryBusWidth, device, 0);
  const int memory_gbps = static_cast<int>(std::lround(2 * clock_khz * bus_bits / 8e6));
  return memory_gbps > 0 ? WithMemoryRate(model, memory_gbps) : model;
}

std::vector<DeviceModel> ModelsOfAllDevices() {
  int count = 0;
  std::vector<DeviceModel> models;
  if (cudaGetDeviceCount(&count) == cudaSuccess) {
    for (int device = 0; device < count; ++device) models.push_back(ModelOf(device));
  }
  (void)cudaGetLastError();  // So that the next call does not return an error of these.
  return models;
}

}  // namespace

const DeviceModel* FindCurrentDeviceModel() {
  static const auto& models = *new std::vector<DeviceModel>(ModelsOfAllDevices());
  int device = 0;
  if (models.empty() || cudaGetDevice(&device) != cudaSuccess) return nullptr;
  return &models[static_cast<size_t>(device)];
}

const DeviceModel& CurrentDeviceModel() {
  static constexpr DeviceModel kOtherwise = H200Model();
  const DeviceModel* model = FindCurrentDeviceModel();
  return model != nullptr ? *model : kOtherwise;
}

}  // namespace stridewise
