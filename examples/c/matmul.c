// Multiplies two matrices on the GPU with nothing but Stridewise and a C compiler.

#include <stdio.h>
#include <stdlib.h>
#include <stridewise.h>

// Returns the exit status of a program whose call failed.
static int Fail(const stridewise_context* context, stridewise_status status) {
  fprintf(stderr, "%s: %s\n", stridewise_status_name(status), stridewise_message(context));
  return status == STRIDEWISE_NO_DEVICE ? 77 : 1;
}

#define RETURN_IF_ERROR(context, call)                           \
  do {                                                           \
    const stridewise_status status = (call);                     \
    if (status != STRIDEWISE_OK) return Fail((context), status); \
  } while (0)

enum { kM = 300, kN = 200, kK = 100 };

static int Multiply(stridewise_context* context, const float* a, const float* b, float* c) {
  void* device_a = NULL;
  void* device_b = NULL;
  void* device_c = NULL;
  RETURN_IF_ERROR(context, stridewise_allocate(context, sizeof(float) * kM * kK, &device_a));
  RETURN_IF_ERROR(context, stridewise_allocate(context, sizeof(float) * kK * kN, &device_b));
  RETURN_IF_ERROR(context, stridewise_allocate(context, sizeof(float) * kM * kN, &device_c));
  RETURN_IF_ERROR(context, stridewise_copy(context, device_a, a, sizeof(float) * kM * kK));
  RETURN_IF_ERROR(context, stridewise_copy(context, device_b, b, sizeof(float) * kK * kN));

  stridewise_matmul_args args = stridewise_matmul_defaults();
  args.m = kM;
  args.n = kN;
  args.k = kK;
  args.a.data = device_a;
  args.b.data = device_b;
  args.c.data = device_c;
  RETURN_IF_ERROR(context, stridewise_matmul(context, &args));

  RETURN_IF_ERROR(context, stridewise_copy(context, c, device_c, sizeof(float) * kM * kN));
  RETURN_IF_ERROR(context, stridewise_free(context, device_a));
  RETURN_IF_ERROR(context, stridewise_free(context, device_b));
  RETURN_IF_ERROR(context, stridewise_free(context, device_c));
  return 0;
}

int main(void) {
  static float a[kM * kK];
  static float b[kK * kN];
  static float c[kM * kN];
  // Small whole numbers, whose sums are exact.
  for (int i = 0; i < kM * kK; ++i) a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < kK * kN; ++i) b[i] = (float)(i % 5 - 2);

  stridewise_context* context;
  RETURN_IF_ERROR(NULL, stridewise_create(&context, STRIDEWISE_CURRENT_DEVICE, NULL));
  const int result = Multiply(context, a, b, c);
  stridewise_destroy(context);
  if (result != 0) return result;

  for (int row = 0; row < kM; ++row) {
    for (int col = 0; col < kN; ++col) {
      float expected = 0;
      for (int k = 0; k < kK; ++k) expected += a[row * kK + k] * b[k * kN + col];
      if (c[row * kN + col] == expected) continue;
      fprintf(stderr, "c[%d][%d] is %g, not %g\n", row, col, c[row * kN + col], expected);
      return 1;
    }
  }
  printf("%d x %d x %d: correct, by Stridewise %s\n", kM, kN, kK, stridewise_version_string());
  return 0;
}
