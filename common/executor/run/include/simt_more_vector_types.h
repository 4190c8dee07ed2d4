// The vector types that shim/simt_vector_types.h leaves out: of one element, of long, and of 32
// bytes, which a GPU moves in two accesses.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_MORE_VECTOR_TYPES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_MORE_VECTOR_TYPES_H_

#define SIMT_PLAIN_VECTOR1(T, Vector) \
  struct Vector {                     \
    T x;                              \
  };                                  \
  static SIMT_INLINE Vector make_##Vector(T x) { return {x}; }
#define SIMT_PLAIN_VECTOR2(T, Vector)    \
  struct alignas(2 * sizeof(T)) Vector { \
    T x, y;                              \
  };                                     \
  static SIMT_INLINE Vector make_##Vector(T x, T y) { return {x, y}; }
#define SIMT_PLAIN_VECTOR3(T, Vector) \
  struct Vector {                     \
    T x, y, z;                        \
  };                                  \
  static SIMT_INLINE Vector make_##Vector(T x, T y, T z) { return {x, y, z}; }
#define SIMT_PLAIN_VECTOR4(T, Vector) \
  struct alignas(16) Vector {         \
    T x, y, z, w;                     \
  };                                  \
  static SIMT_INLINE Vector make_##Vector(T x, T y, T z, T w) { return {x, y, z, w}; }

SIMT_PLAIN_VECTOR1(signed char, char1)
SIMT_PLAIN_VECTOR1(unsigned char, uchar1)
SIMT_PLAIN_VECTOR1(short, short1)
SIMT_PLAIN_VECTOR1(unsigned short, ushort1)
SIMT_PLAIN_VECTOR1(int, int1)
SIMT_PLAIN_VECTOR1(unsigned, uint1)
SIMT_PLAIN_VECTOR1(long, long1)
SIMT_PLAIN_VECTOR1(unsigned long, ulong1)
SIMT_PLAIN_VECTOR1(long long, longlong1)
SIMT_PLAIN_VECTOR1(unsigned long long, ulonglong1)
SIMT_PLAIN_VECTOR1(float, float1)
SIMT_PLAIN_VECTOR1(double, double1)
SIMT_PLAIN_VECTOR2(long, long2)
SIMT_PLAIN_VECTOR2(unsigned long, ulong2)
SIMT_PLAIN_VECTOR3(long, long3)
SIMT_PLAIN_VECTOR3(unsigned long, ulong3)
SIMT_PLAIN_VECTOR3(long long, longlong3)
SIMT_PLAIN_VECTOR3(unsigned long long, ulonglong3)
SIMT_PLAIN_VECTOR4(long, long4)
SIMT_PLAIN_VECTOR4(unsigned long, ulong4)
SIMT_PLAIN_VECTOR4(long long, longlong4)
SIMT_PLAIN_VECTOR4(unsigned long long, ulonglong4)
SIMT_PLAIN_VECTOR4(double, double4)

#undef SIMT_PLAIN_VECTOR4
#undef SIMT_PLAIN_VECTOR3
#undef SIMT_PLAIN_VECTOR2
#undef SIMT_PLAIN_VECTOR1

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_INCLUDE_SIMT_MORE_VECTOR_TYPES_H_
