// A predicted time for people: what it goes to, and which lines of the source.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PREDICT_PREDICTION_TEXT_H_
#define STRIDEWISE_COMMON_EXECUTOR_PREDICT_PREDICTION_TEXT_H_

#include <string>

#include "common/executor/predict/demand.h"
#include "common/executor/predict/machine_model.h"
#include "common/executor/predict/predict_time.h"

namespace stridewise::executor {

// Returns one line, "52 % of the time bank conflicts in line 31" for example: the limiter and,
// where it is DRAM, L2, L1 or shared memory, the line that asks most of it. Calls the symbolizer.
std::string LimiterText(const Demand& demand, const Prediction& prediction);

// Returns some lines: the predicted time, its limiters, and the lines of the source that take most
// of it. Each figure is marked as predicted. Calls the symbolizer.
std::string PredictionText(const Demand& demand, const Prediction& prediction,
                           const MachineModel& machine);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PREDICT_PREDICTION_TEXT_H_
