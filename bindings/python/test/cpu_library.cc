// Stands in for libstridewise.so in tests without a GPU: the calls of the C library that the Python
// package makes, on the CPU's memory, one element at a time. What they were called with last can be
// asked for.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "bindings/c/stridewise.h"

struct stridewise_context {
  int device;
  stridewise_stream stream;
  std::string message;
};

namespace {

std::string create_message;  // Of the last stridewise_create() that failed.
stridewise_stream last_stream = nullptr;

float* Element(const void* data, int64_t at) {
  return const_cast<float*>(static_cast<const float*>(data)) + at;
}

float Read(const stridewise_input& input, int64_t batch, int64_t row, int64_t col) {
  const int64_t at = input.transposed != 0 ? col * input.ld + row : row * input.ld + col;
  return *Element(input.data, batch * input.stride + at);
}

}  // namespace

extern "C" {

// Of the last call, for tests.
STRIDEWISE_API uint64_t test_last_stream() { return reinterpret_cast<uintptr_t>(last_stream); }

int stridewise_version(void) { return STRIDEWISE_VERSION; }
const char* stridewise_version_string(void) { return "0.1.0-test"; }
const char* stridewise_status_name(stridewise_status) { return "test"; }

stridewise_status stridewise_create(stridewise_context** context, int device,
                                    stridewise_stream stream) {
  *context = nullptr;
  if (device > 3) {
    create_message = "device " + std::to_string(device) + " is not there";
    return STRIDEWISE_NO_DEVICE;
  }
  *context = new stridewise_context{device, stream, ""};
  return STRIDEWISE_OK;
}

void stridewise_destroy(stridewise_context* context) { delete context; }

const char* stridewise_message(const stridewise_context* context) {
  return context == nullptr ? create_message.c_str() : context->message.c_str();
}

stridewise_status stridewise_transpose(stridewise_context* context,
                                       const stridewise_transpose_args* args) {
  last_stream = context->stream;
  const auto bytes = static_cast<size_t>(args->element_bytes);
  const auto* in = static_cast<const char*>(args->in);
  auto* out = static_cast<char*>(args->out);
  for (int64_t i = 0; i < args->batch; ++i) {
    std::vector<char> copy;
    for (int64_t r = 0; r < args->rows; ++r) {
      const char* row = in + (i * args->stride_in + r * args->ld_in) * args->element_bytes;
      copy.insert(copy.end(), row, row + args->cols * args->element_bytes);
    }
    for (int64_t c = 0; c < args->cols; ++c) {
      for (int64_t r = 0; r < args->rows; ++r) {
        std::memcpy(out + (i * args->stride_out + c * args->ld_out + r) * args->element_bytes,
                    copy.data() + (r * args->cols + c) * args->element_bytes, bytes);
      }
    }
  }
  return STRIDEWISE_OK;
}

stridewise_status stridewise_permute(stridewise_context* context,
                                     const stridewise_permute_args* args) {
  last_stream = context->stream;
  const auto bytes = static_cast<size_t>(args->element_bytes);
  int64_t index[STRIDEWISE_MAX_RANK] = {};
  int64_t count = 1;
  for (int64_t d = 0; d < args->rank; ++d) count *= args->extents[d];
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0;
    int64_t to = 0;
    for (int64_t d = 0; d < args->rank; ++d) {
      from += index[args->order[d]] * args->strides_in[args->order[d]];
      to += index[args->order[d]] * args->strides_out[d];
    }
    std::memcpy(static_cast<char*>(args->out) + to * args->element_bytes,
                static_cast<const char*>(args->in) + from * args->element_bytes, bytes);
    for (int64_t d = args->rank - 1; d >= 0 && ++index[d] == args->extents[d]; --d) index[d] = 0;
  }
  return STRIDEWISE_OK;
}

stridewise_status stridewise_matmul(stridewise_context* context,
                                    const stridewise_matmul_args* args) {
  last_stream = context->stream;
  if (args->a.type != STRIDEWISE_FLOAT32) {
    context->message = "the test's library multiplies float32";
    return STRIDEWISE_UNSUPPORTED;
  }
  for (int64_t i = 0; i < args->batch; ++i) {
    for (int64_t row = 0; row < args->m; ++row) {
      for (int64_t col = 0; col < args->n; ++col) {
        double sum = 0;
        for (int64_t k = 0; k < args->k; ++k) {
          sum += static_cast<double>(Read(args->a, i, row, k)) * Read(args->b, i, k, col);
        }
        float* const c = Element(args->c.data, i * args->c.stride + row * args->c.ld + col);
        const double before = args->beta == 0 ? 0 : args->beta * *c;
        const double bias = args->bias == nullptr ? 0 : *Element(args->bias, col);
        const double value = args->alpha * sum + before + bias;
        const bool cut = args->activation == STRIDEWISE_ACTIVATION_RELU && value < 0;
        *c = cut ? 0 : static_cast<float>(value);
      }
    }
  }
  return STRIDEWISE_OK;
}

}  // extern "C"
