// float4 and its kind, and dim3.
//
// A GPU moves a vector of 2 or 4 in one access. A plain struct would be copied member by member or
// through memcpy, as the optimizer likes, and be counted so; these copy through one register, while
// a member that is used alone is still an access of its own size. A GPU has no accesses of three:
// those vectors copy member by member. Vectors of 32 bytes are left out: they are two accesses.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_VECTOR_TYPES_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_VECTOR_TYPES_H_

#define SIMT_VECTOR_COPY(Vector)                                                  \
  Vector() = default;                                                             \
  SIMT_INLINE Vector(const Vector& other) : simt_register(other.simt_register) {} \
  SIMT_INLINE Vector& operator=(const Vector& other) {                            \
    simt_register = other.simt_register;                                          \
    return *this;                                                                 \
  }

#define SIMT_VECTOR2(T, Vector)                                         \
  struct alignas(2 * sizeof(T)) Vector {                                \
    typedef T SimtRegister __attribute__((vector_size(2 * sizeof(T)))); \
    union {                                                             \
      struct {                                                          \
        T x, y;                                                         \
      };                                                                \
      SimtRegister simt_register;                                       \
    };                                                                  \
    SIMT_VECTOR_COPY(Vector)                                            \
    SIMT_INLINE Vector(T x, T y) : simt_register(SimtRegister{x, y}) {} \
  };                                                                    \
  SIMT_INLINE Vector make_##Vector(T x, T y) { return Vector(x, y); }

#define SIMT_VECTOR3(T, Vector)                                                     \
  struct Vector {                                                                   \
    T x, y, z;                                                                      \
    Vector() = default;                                                             \
    SIMT_INLINE Vector(const Vector& other) : x(other.x), y(other.y), z(other.z) {} \
    SIMT_INLINE Vector& operator=(const Vector& other) {                            \
      x = other.x;                                                                  \
      y = other.y;                                                                  \
      z = other.z;                                                                  \
      return *this;                                                                 \
    }                                                                               \
    SIMT_INLINE Vector(T x, T y, T z) : x(x), y(y), z(z) {}                         \
  };                                                                                \
  SIMT_INLINE Vector make_##Vector(T x, T y, T z) { return Vector(x, y, z); }

#define SIMT_VECTOR4(T, Vector)                                                         \
  struct alignas(4 * sizeof(T)) Vector {                                                \
    typedef T SimtRegister __attribute__((vector_size(4 * sizeof(T))));                 \
    union {                                                                             \
      struct {                                                                          \
        T x, y, z, w;                                                                   \
      };                                                                                \
      SimtRegister simt_register;                                                       \
    };                                                                                  \
    SIMT_VECTOR_COPY(Vector)                                                            \
    SIMT_INLINE Vector(T x, T y, T z, T w) : simt_register(SimtRegister{x, y, z, w}) {} \
  };                                                                                    \
  SIMT_INLINE Vector make_##Vector(T x, T y, T z, T w) { return Vector(x, y, z, w); }

#define SIMT_VECTORS(T, name) \
  SIMT_VECTOR2(T, name##2)    \
  SIMT_VECTOR3(T, name##3)    \
  SIMT_VECTOR4(T, name##4)

SIMT_VECTORS(signed char, char)
SIMT_VECTORS(unsigned char, uchar)
SIMT_VECTORS(short, short)
SIMT_VECTORS(unsigned short, ushort)
SIMT_VECTORS(int, int)
SIMT_VECTORS(unsigned, uint)
SIMT_VECTORS(float, float)
SIMT_VECTOR2(long long, longlong2)
SIMT_VECTOR2(unsigned long long, ulonglong2)
SIMT_VECTOR2(double, double2)
SIMT_VECTOR3(double, double3)

#undef SIMT_VECTORS
#undef SIMT_VECTOR4
#undef SIMT_VECTOR3
#undef SIMT_VECTOR2
#undef SIMT_VECTOR_COPY

struct dim3 {
  unsigned x, y, z;
  SIMT_INLINE constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  SIMT_INLINE dim3(const uint3& v) : x(v.x), y(v.y), z(v.z) {}
  SIMT_INLINE operator uint3() const { return uint3(x, y, z); }
};

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_SIMT_VECTOR_TYPES_H_
