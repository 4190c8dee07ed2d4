// When a rank transposes what stays on it, beside what it sends to the others.

#ifndef STRIDEWISE_TRANSPOSE_DISTRIBUTED_OWN_PART_H_
#define STRIDEWISE_TRANSPOSE_DISTRIBUTED_OWN_PART_H_

#include <cstddef>
#include <vector>

#include "transpose/distributed/messages.h"

namespace stridewise {

// Says when what stays on a rank is transposed: as far as what travels, or less, since the link
// waits for what is packed and nobody for what stays.
class OwnPart {
 public:
  OwnPart(const std::vector<Message>& own, const std::vector<Message>& sent)
      : own_(own), elements_(Elements(own)), sent_elements_(Elements(sent)) {}

  // Returns the next message that is due when `sent` has been packed, too, or null.
  const Message* Behind(const Message& sent) {
    due_ += static_cast<double>(sent.SendElements()) / sent_elements_ * elements_;
    return Next();
  }
  // Returns what is left.
  const Message* Rest() {
    due_ = 2 * elements_;
    return Next();
  }
  const Message* Next() {
    if (next_ == own_.size()) return nullptr;
    const auto elements = static_cast<double>(own_[next_].SendElements());
    if (done_ + elements > due_) return nullptr;
    done_ += elements;
    return &own_[next_++];
  }

 private:
  static double Elements(const std::vector<Message>& messages) {
    double elements = 0;
    for (const Message& message : messages) elements += static_cast<double>(message.SendElements());
    return elements;
  }

  const std::vector<Message>& own_;
  const double elements_;
  const double sent_elements_;
  size_t next_ = 0;
  double done_ = 0;
  double due_ = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_DISTRIBUTED_OWN_PART_H_
