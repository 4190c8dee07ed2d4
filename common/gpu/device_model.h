// What a plan needs to know of a GPU. Grids, splits and schedules are computed from a DeviceModel
// that is handed in, so that the plan that ships for one GPU can be made, tested and run elsewhere.

#ifndef STRIDEWISE_COMMON_GPU_DEVICE_MODEL_H_
#define STRIDEWISE_COMMON_GPU_DEVICE_MODEL_H_

#include <cstdint>

namespace stridewise {

struct DeviceModel {
  int compute_capability = 0;  // 90 for 9.0.
  int multiprocessors = 0;

  // Multiplies the cost of splitting a product's tiles along k, which each tile policy states in k
  // steps as measured on an H200. With 0, tiles are split wherever that shortens the last round.
  double split_cost_factor = 1;

  // What each further part of a skinny product's k costs, in bytes that could be read instead: its
  // partial sums, and the time until its first loads arrive. Measured on an H200.
  int64_t k_part_cost_bytes = 256 << 10;

  // The memory's highest rate by its clock and width, in GB/s. An H100 has the multiprocessors of
  // an H200 and two thirds of its memory's rate.
  int memory_gbps = 4917;

  // The shared memory that a block may have. 227 KB from compute capability 9.0 on, 163 KB on an
  // A100, and 99 KB on most other GPUs.
  int max_shared_bytes = 227 << 10;
};

// Returns the model that ships for an H200. Other GPUs differ from it in what CurrentDeviceModel()
// of current_device.h asks the driver for.
constexpr DeviceModel H200Model() { return {/*compute_capability=*/90, /*multiprocessors=*/132}; }

// Returns the model of a device with another memory: in the time that a part of k costs, it could
// read so much more or less.
constexpr DeviceModel WithMemoryRate(DeviceModel model, int memory_gbps) {
  model.k_part_cost_bytes = model.k_part_cost_bytes * memory_gbps / model.memory_gbps;
  model.memory_gbps = memory_gbps;
  return model;
}

// Returns a model for tests, so small that small products have several tiles for each resident
// block and are split along k.
constexpr DeviceModel SmallModel() {
  return {/*compute_capability=*/90, /*multiprocessors=*/4, /*split_cost_factor=*/0,
          /*k_part_cost_bytes=*/1 << 10};
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_DEVICE_MODEL_H_
