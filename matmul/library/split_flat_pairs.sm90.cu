// What `split_flat` does where rows are not flat: pairs of FP16, as `split_fp16`.

#include "matmul/device/split_flat.h"
#include "matmul/device/split_launch.h"
#include "matmul/device/split_pair.h"

namespace stridewise {

LaunchStatus MatMulPairsIfChosen(const MatMulArgs& args, const DeviceModel& device,
                                 const IfChosen& chosen) {
  const SplitSources of = SourcesOf<Fp16Pair>(args, device);
  RETURN_IF_ERROR(LaunchSplit<Fp16Pair>(of, args.stream, chosen));
  return LaunchProduct<Fp16Pair>(args, device, of, chosen);
}

}  // namespace stridewise
