// The median of numbers that are not negative, in one pass and in 256 KB however many they are.

#ifndef STRIDEWISE_COMMON_VERIFY_ONE_PASS_MEDIAN_H_
#define STRIDEWISE_COMMON_VERIFY_ONE_PASS_MEDIAN_H_

#include <cstdint>
#include <cstring>
#include <vector>

namespace stridewise {

// Counts numbers by the first 8 significant bits that they have as floats: the median is off by at
// most 1/256 of it. Numbers below the smallest normal float count as zero.
class OnePassMedian {
 public:
  OnePassMedian() : counts_(kBins) {}

  // REQUIRES: value >= 0; infinity is a number, NaN is none.
  void Add(double value) {
    const auto narrow = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, sizeof(bits));
    ++counts_[bits >> kShift];
    ++count_;
  }

  // Adds all numbers of the other.
  void Add(const OnePassMedian& other) {
    for (uint32_t bin = 0; bin < kBins; ++bin) counts_[bin] += other.counts_[bin];
    count_ += other.count_;
  }

  // Returns the lower median, 0 of no numbers.
  double Median() const {
    int64_t left = (count_ - 1) / 2;
    for (uint32_t bin = 0; bin < kBins; ++bin) {
      if (left < counts_[bin]) return MiddleOf(bin);
      left -= counts_[bin];
    }
    return 0;
  }

 private:
  static constexpr int kShift = 16;
  static constexpr uint32_t kBins = 1U << 15;

  static double MiddleOf(uint32_t bin) {
    constexpr uint32_t kLeastNormal = 0x80;
    constexpr uint32_t kInfinity = 0x7f80;
    if (bin < kLeastNormal) return 0;
    const uint32_t bits = bin << kShift | (bin == kInfinity ? 0 : 1U << (kShift - 1));
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }

  std::vector<int64_t> counts_;
  int64_t count_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_VERIFY_ONE_PASS_MEDIAN_H_
