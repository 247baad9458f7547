// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_kernels.hpp"
#include "spanwise/fork.hpp"

#if defined(__x86_64__) && defined(__linux__)

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>

namespace spanwise::ops {
namespace {

// glibc's libmvec under its vector ABI: _ZGV<isa>N<lanes><v per operand>_<name>, "b" for SSE, "d"
// for AVX2, "e" for AVX-512. Looked up by name, so that a C library without it, or with fewer
// functions, still works. https://sourceware.org/glibc/wiki/libmvec
struct VectorName {
  OpId op;
  const char* name;
  int operands;
};
constexpr VectorName vector_names[] = {
    {OpId::exp, "exp", 1},       {OpId::exp2, "exp2", 1},       {OpId::expm1, "expm1", 1},
    {OpId::log, "log", 1},       {OpId::log2, "log2", 1},       {OpId::log10, "log10", 1},
    {OpId::log1p, "log1p", 1},   {OpId::cbrt, "cbrt", 1},       {OpId::sin, "sin", 1},
    {OpId::cos, "cos", 1},       {OpId::tan, "tan", 1},         {OpId::arcsin, "asin", 1},
    {OpId::arccos, "acos", 1},   {OpId::arctan, "atan", 1},     {OpId::sinh, "sinh", 1},
    {OpId::cosh, "cosh", 1},     {OpId::tanh, "tanh", 1},       {OpId::arcsinh, "asinh", 1},
    {OpId::arccosh, "acosh", 1}, {OpId::arctanh, "atanh", 1},   {OpId::erf, "erf", 1},
    {OpId::power, "pow", 2},     {OpId::float_power, "pow", 2}, {OpId::arctan2, "atan2", 2},
    {OpId::hypot, "hypot", 2},   {OpId::sigmoid, "exp", 1},     {OpId::softplus, "exp", 1},
};

template <class T, int bytes>
struct VectorOf;
template <int bytes_>
struct VectorOf<float, bytes_> {
  typedef float type __attribute__((vector_size(bytes_)));
};
template <int bytes_>
struct VectorOf<double, bytes_> {
  typedef double type __attribute__((vector_size(bytes_)));
};

// Below `low` the exponential is 0, above `high` infinite. libmvec computes such vectors element by
// element, which is an order of magnitude slower.
template <class T>
struct ExpLimits;
template <>
struct ExpLimits<float> {
  static constexpr float low = -104, high = 89;
};
template <>
struct ExpLimits<double> {
  static constexpr double low = -746, high = 710;
};

// The loops differ in the vectors' width only, but each is compiled for its instruction set, which
// determines the registers in which vectors are passed.
#define SW_VECTOR_LOOPS(bytes)                                                               \
  template <class T>                                                                         \
  void map1(const void* function, std::int64_t n, std::byte* const* arrays) {                \
    typedef typename VectorOf<T, bytes>::type V;                                             \
    constexpr std::int64_t lanes = bytes / sizeof(T);                                        \
    const auto call = reinterpret_cast<V (*)(V)>(const_cast<void*>(function));               \
    const T* a = reinterpret_cast<const T*>(arrays[0]);                                      \
    T* z = reinterpret_cast<T*>(arrays[1]);                                                  \
    V x;                                                                                     \
    std::int64_t i = 0;                                                                      \
    for (; i + lanes <= n; i += lanes) {                                                     \
      std::memcpy(&x, a + i, sizeof x);                                                      \
      x = call(x);                                                                           \
      std::memcpy(z + i, &x, sizeof x);                                                      \
    }                                                                                        \
    if (i == n) return;                                                                      \
    x = V{} + T{0.5};                                                                        \
    std::memcpy(&x, a + i, static_cast<std::size_t>(n - i) * sizeof(T));                     \
    x = call(x);                                                                             \
    std::memcpy(z + i, &x, static_cast<std::size_t>(n - i) * sizeof(T));                     \
  }                                                                                          \
  template <class T>                                                                         \
  void map2(const void* function, std::int64_t n, std::byte* const* arrays) {                \
    typedef typename VectorOf<T, bytes>::type V;                                             \
    constexpr std::int64_t lanes = bytes / sizeof(T);                                        \
    const auto call = reinterpret_cast<V (*)(V, V)>(const_cast<void*>(function));            \
    const T* a = reinterpret_cast<const T*>(arrays[0]);                                      \
    const T* b = reinterpret_cast<const T*>(arrays[1]);                                      \
    T* z = reinterpret_cast<T*>(arrays[2]);                                                  \
    V x, y;                                                                                  \
    std::int64_t i = 0;                                                                      \
    for (; i + lanes <= n; i += lanes) {                                                     \
      std::memcpy(&x, a + i, sizeof x);                                                      \
      std::memcpy(&y, b + i, sizeof y);                                                      \
      x = call(x, y);                                                                        \
      std::memcpy(z + i, &x, sizeof x);                                                      \
    }                                                                                        \
    if (i == n) return;                                                                      \
    x = V{} + T{0.5};                                                                        \
    y = x;                                                                                   \
    std::memcpy(&x, a + i, static_cast<std::size_t>(n - i) * sizeof(T));                     \
    std::memcpy(&y, b + i, static_cast<std::size_t>(n - i) * sizeof(T));                     \
    x = call(x, y);                                                                          \
    std::memcpy(z + i, &x, static_cast<std::size_t>(n - i) * sizeof(T));                     \
  }                                                                                          \
  template <class T, class V>                                                                \
  inline V exp_of(const void* function, V x) {                                               \
    const auto call = reinterpret_cast<V (*)(V)>(const_cast<void*>(function));               \
    const V low = V{} + ExpLimits<T>::low, high = V{} + ExpLimits<T>::high;                  \
    const V inner = x < low ? V{} : x > high ? V{} : x, power = call(inner);                 \
    return x < low ? V{} : x > high ? V{} + std::numeric_limits<T>::infinity() : power;      \
  }                                                                                          \
  /* The function of a vector x whose exp(-|x|) is given. */                                 \
  template <class T>                                                                         \
  struct Sigmoid {                                                                           \
    template <class V>                                                                       \
    static V of(V x, V power) {                                                              \
      const V whole = V{} + T{1}, part = whole / (whole + power);                            \
      return x < V{} ? power * part : part;                                                  \
    }                                                                                        \
  };                                                                                         \
  /* log(1 + y) for 0 <= y <= 1, by the series of 2 atanh(y / (2 + y)). */                   \
  template <class T, class V>                                                                \
  inline V log1p_of(V y) {                                                                   \
    constexpr int terms = sizeof(T) == 4 ? 8 : 17;                                           \
    const V s = y / (y + T{2}), square = s * s;                                              \
    V sum{};                                                                                 \
    for (int k = terms; k > 0; --k) sum = (sum + T{1} / static_cast<T>(2 * k + 1)) * square; \
    return (s + s * sum) * T{2};                                                             \
  }                                                                                          \
  template <class T>                                                                         \
  struct Softplus {                                                                          \
    template <class V>                                                                       \
    static V of(V x, V power) {                                                              \
      return (x > V{} ? x : V{}) + log1p_of<T>(power);                                       \
    }                                                                                        \
  };                                                                                         \
  template <class T, class Function>                                                         \
  void map_of_exp(const void* exp, std::int64_t n, std::byte* const* arrays) {               \
    typedef typename VectorOf<T, bytes>::type V;                                             \
    constexpr std::int64_t lanes = bytes / sizeof(T);                                        \
    const T* a = reinterpret_cast<const T*>(arrays[0]);                                      \
    T* z = reinterpret_cast<T*>(arrays[1]);                                                  \
    for (std::int64_t i = 0; i < n; i += lanes) {                                            \
      const std::size_t count = static_cast<std::size_t>(n - i < lanes ? n - i : lanes);     \
      V x{};                                                                                 \
      std::memcpy(&x, a + i, count * sizeof(T));                                             \
      x = Function::of(x, exp_of<T>(exp, x < V{} ? x : -x));                                 \
      std::memcpy(z + i, &x, count * sizeof(T));                                             \
    }                                                                                        \
  }                                                                                          \
  template <class T>                                                                         \
  Loop loop(OpId op, int operands) {                                                         \
    if (op == OpId::sigmoid) return &map_of_exp<T, Sigmoid<T>>;                              \
    if (op == OpId::softplus) return &map_of_exp<T, Softplus<T>>;                            \
    return operands == 1 ? &map1<T> : &map2<T>;                                              \
  }

namespace vectors_sse {
SW_VECTOR_LOOPS(16)
}

SW_BEGIN_AVX2
namespace vectors_avx2 {
SW_VECTOR_LOOPS(32)
}
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace vectors_avx512 {
SW_VECTOR_LOOPS(64)
}
SW_END_INSTRUCTIONS

// Never closed: loops may run until the process ends.
void* vector_library() {
  static constinit std::atomic<void*> known{nullptr};
  if (void* handle = known.load(std::memory_order_acquire)) return handle;
  const std::lock_guard lock(loader_mutex());
  void* handle = ::dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  known.store(handle, std::memory_order_release);
  return handle;
}

struct InstructionSet {
  char letter;
  int bytes;
  Loop (*single)(OpId op, int operands);
  Loop (*twice)(OpId op, int operands);
};
const InstructionSet& instruction_set() {
  static const InstructionSet best = [] {
    if (has_avx512())
      return InstructionSet{'e', 64, &vectors_avx512::loop<float>, &vectors_avx512::loop<double>};
    if (has_avx2_and_fma())
      return InstructionSet{'d', 32, &vectors_avx2::loop<float>, &vectors_avx2::loop<double>};
    return InstructionSet{'b', 16, &vectors_sse::loop<float>, &vectors_sse::loop<double>};
  }();
  return best;
}

}  // namespace

CpuLoops find_vector_function(OpId op, DType dtype) noexcept {
  if ((dtype != float32 && dtype != float64) || vector_library() == nullptr) return {};
  for (const VectorName& known : vector_names) {
    if (known.op != op) continue;
    const InstructionSet& set = instruction_set();
    char symbol[64];
    std::snprintf(symbol, sizeof symbol, "_ZGV%cN%d%s_%s%s", set.letter,
                  set.bytes / dtype.itemsize(), known.operands == 1 ? "v" : "vv", known.name,
                  dtype == float32 ? "f" : "");
    const void* function = ::dlsym(vector_library(), symbol);
    if (function == nullptr) return {};
    CpuLoops kernel;
    kernel.loop = (dtype == float32 ? set.single : set.twice)(op, known.operands);
    kernel.context = function;
    return kernel;
  }
  return {};
}

}  // namespace spanwise::ops

#else

namespace spanwise::ops {

CpuLoops find_vector_function(OpId, DType) noexcept { return {}; }

}  // namespace spanwise::ops

#endif
