// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_source.hpp"

#include <utility>
#include <vector>

namespace spanwise::ops {
namespace {

// Elements in memory and in registers. Halves are bits in memory and floats in registers, so that
// no header of CUDA is needed.
constexpr const char* numbers = R"(
struct half_bits { unsigned short bits; };
struct bfloat_bits { unsigned short bits; };
template <class T> struct alignas(2 * sizeof(T)) complex_of { T re, im; };

template <class T> struct computed { typedef T type; };
template <> struct computed<half_bits> { typedef float type; };
template <> struct computed<bfloat_bits> { typedef float type; };

template <class T> __device__ T load(T x) { return x; }
__device__ float load(half_bits x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
__device__ float load(bfloat_bits x) { return __uint_as_float((unsigned)x.bits << 16); }

template <class T> struct store { template <class C> static __device__ T of(C x) { return (T)x; } };
template <> struct store<half_bits> {
  static __device__ half_bits of(float x) {
    half_bits y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
  }
};
template <> struct store<bfloat_bits> {
  static __device__ bfloat_bits of(float x) {
    unsigned word = __float_as_uint(x);
    bfloat_bits y;
    y.bits = (word & 0x7fffffffu) > 0x7f800000u
                 ? (unsigned short)((word >> 16) | 0x40u)
                 : (unsigned short)((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
    return y;
  }
};

template <class C> struct convert {
  template <class T> static __device__ C from(T x) { return (C)x; }
};
template <class R> struct convert<complex_of<R> > {
  template <class T> static __device__ complex_of<R> from(T x) {
    complex_of<R> y = {(R)x, (R)0};
    return y;
  }
  template <class T> static __device__ complex_of<R> from(complex_of<T> x) {
    complex_of<R> y = {(R)x.re, (R)x.im};
    return y;
  }
};
)";

// The same formulas as on the host (cpu_numbers.hpp), so that both devices round alike.
constexpr const char* operations = R"(
__device__ float product(float a, float b) { return __fmul_rn(a, b); }
__device__ double product(double a, double b) { return __dmul_rn(a, b); }

template <class T> __device__ T add(T a, T b) { return (T)(a + b); }
__device__ bool add(bool a, bool b) { return a || b; }
template <class R> __device__ complex_of<R> add(complex_of<R> a, complex_of<R> b) {
  complex_of<R> z = {a.re + b.re, a.im + b.im};
  return z;
}
template <class T> __device__ T subtract(T a, T b) { return (T)(a - b); }
template <class R> __device__ complex_of<R> subtract(complex_of<R> a, complex_of<R> b) {
  complex_of<R> z = {a.re - b.re, a.im - b.im};
  return z;
}
template <class T> __device__ T multiply(T a, T b) { return (T)(a * b); }
__device__ bool multiply(bool a, bool b) { return a && b; }
template <class R> __device__ complex_of<R> multiply(complex_of<R> a, complex_of<R> b) {
  complex_of<R> z = {product(a.re, b.re) - product(a.im, b.im),
                     product(a.re, b.im) + product(a.im, b.re)};
  return z;
}
template <class T> __device__ T divide(T a, T b) { return a / b; }
template <class R> __device__ complex_of<R> divide(complex_of<R> a, complex_of<R> b) {
  const R re = b.re < 0 ? -b.re : b.re, im = b.im < 0 ? -b.im : b.im;
  complex_of<R> z;
  if (re >= im) {
    if (re == 0 && im == 0) {
      z.re = a.re / re;
      z.im = a.im / re;
      return z;
    }
    const R ratio = b.im / b.re, scale = (R)1 / (b.re + product(b.im, ratio));
    z.re = (a.re + product(a.im, ratio)) * scale;
    z.im = (a.im - product(a.re, ratio)) * scale;
  } else {
    const R ratio = b.re / b.im, scale = (R)1 / (b.im + product(b.re, ratio));
    z.re = (product(a.re, ratio) + a.im) * scale;
    z.im = (product(a.im, ratio) - a.re) * scale;
  }
  return z;
}
template <class T> __device__ T negative(T a) { return (T)(-a); }
template <class R> __device__ complex_of<R> negative(complex_of<R> a) {
  complex_of<R> z = {-a.re, -a.im};
  return z;
}
)";

constexpr const char* binary_kernels = R"(
typedef computed<Z>::type C;
__device__ Z combine(A a, B b) {
  return store<Z>::of(OPERATION((C)convert<C>::from(load(a)), (C)convert<C>::from(load(b))));
}

extern "C" __global__ void dense(const A* a, const B* b, Z* z, long long n) {
  long long i = blockIdx.x * 4LL * blockDim.x + threadIdx.x;
  A x[4];
  B y[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + k * (long long)blockDim.x < n) {
      x[k] = a[i + k * (long long)blockDim.x];
      y[k] = b[i + k * (long long)blockDim.x];
    }
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + k * (long long)blockDim.x < n) z[i + k * (long long)blockDim.x] = combine(x[k], y[k]);
}

extern "C" __global__ void flat(const A* a, long long sa, const B* b, long long sb, Z* z,
                                long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) z[i] = combine(a[i * sa], b[i * sb]);
}

struct Walk { long long shape[RANK], a[RANK], b[RANK]; };
template <class I> __device__ void strided(const A* a, const B* b, Z* z, const Walk& walk, I n) {
  const I i = (I)blockIdx.x * (I)blockDim.x + (I)threadIdx.x;
  if (i >= n) return;
  long long at_a = 0, at_b = 0;
  I rest = i;
#pragma unroll
  for (int axis = RANK - 1; axis >= 0; --axis) {
    const I extent = (I)walk.shape[axis], index = axis > 0 ? rest % extent : rest;
    rest = axis > 0 ? rest / extent : 0;
    at_a += (long long)index * walk.a[axis];
    at_b += (long long)index * walk.b[axis];
  }
  z[i] = combine(a[at_a], b[at_b]);
}
extern "C" __global__ void strided32(const A* a, const B* b, Z* z, const Walk walk, long long n) {
  strided<unsigned>(a, b, z, walk, (unsigned)n);
}
extern "C" __global__ void strided64(const A* a, const B* b, Z* z, const Walk walk, long long n) {
  strided<unsigned long long>(a, b, z, walk, (unsigned long long)n);
}
)";

constexpr const char* unary_kernels = R"(
typedef computed<Z>::type C;
__device__ Z combine(A a) { return store<Z>::of(OPERATION((C)convert<C>::from(load(a)))); }

extern "C" __global__ void dense(const A* a, Z* z, long long n) {
  long long i = blockIdx.x * 4LL * blockDim.x + threadIdx.x;
  A x[4];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + k * (long long)blockDim.x < n) x[k] = a[i + k * (long long)blockDim.x];
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + k * (long long)blockDim.x < n) z[i + k * (long long)blockDim.x] = combine(x[k]);
}

extern "C" __global__ void flat(const A* a, long long sa, Z* z, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) z[i] = combine(a[i * sa]);
}

struct Walk { long long shape[RANK], a[RANK]; };
template <class I> __device__ void strided(const A* a, Z* z, const Walk& walk, I n) {
  const I i = (I)blockIdx.x * (I)blockDim.x + (I)threadIdx.x;
  if (i >= n) return;
  long long at_a = 0;
  I rest = i;
#pragma unroll
  for (int axis = RANK - 1; axis >= 0; --axis) {
    const I extent = (I)walk.shape[axis], index = axis > 0 ? rest % extent : rest;
    rest = axis > 0 ? rest / extent : 0;
    at_a += (long long)index * walk.a[axis];
  }
  z[i] = combine(a[at_a]);
}
extern "C" __global__ void strided32(const A* a, Z* z, const Walk walk, long long n) {
  strided<unsigned>(a, z, walk, (unsigned)n);
}
extern "C" __global__ void strided64(const A* a, Z* z, const Walk walk, long long n) {
  strided<unsigned long long>(a, z, walk, (unsigned long long)n);
}
)";

const char* memory_type(DType dtype) {
  static const std::vector<std::pair<DType, const char*>> types{{bool_, "bool"},
                                                                {int8, "signed char"},
                                                                {int16, "short"},
                                                                {int32, "int"},
                                                                {int64, "long long"},
                                                                {uint8, "unsigned char"},
                                                                {uint16, "unsigned short"},
                                                                {uint32, "unsigned int"},
                                                                {uint64, "unsigned long long"},
                                                                {float16, "half_bits"},
                                                                {bfloat16, "bfloat_bits"},
                                                                {float32, "float"},
                                                                {float64, "double"},
                                                                {complex64, "complex_of<float>"},
                                                                {complex128, "complex_of<double>"}};
  for (const auto& [known, type] : types)
    if (known == dtype) return type;
  fail<DTypeError>("elementwise: cannot compute with ", dtype);
}

}  // namespace

std::string cuda_source(Arithmetic kind, std::span<const DType> operands, DType result, int rank) {
  std::string source =
      text(numbers, operations, "#define OPERATION ", facts(kind).cuda_function, "\n#define RANK ",
           rank, "\ntypedef ", memory_type(operands[0]), " A;\n");
  if (operands.size() > 1) source += text("typedef ", memory_type(operands[1]), " B;\n");
  source += text("typedef ", memory_type(result), " Z;\n");
  return source + (operands.size() > 1 ? binary_kernels : unary_kernels);
}

}  // namespace spanwise::ops
