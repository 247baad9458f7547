// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_loops.hpp"
#include "spanwise/core/fork.hpp"

#if defined(__x86_64__) && defined(__linux__)

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>

namespace spanwise::ops {
namespace {

// glibc's libmvec under its vector ABI: _ZGV<isa>N<lanes><v per operand>_<name>, "b" for SSE, "d"
// for AVX2, "e" for AVX-512. Looked up by name, so that a C library without it, or with fewer
// functions, still works. https://sourceware.org/glibc/wiki/libmvec
/// A function of libmvec by its C name. `sigmoid` and `softplus` are computed from its exp.
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

#define SW_VECTOR_BYTES 16
namespace vectors_sse {
#include "vector_functions.inc"
}
#undef SW_VECTOR_BYTES
#define SW_VECTOR_BYTES 32
SW_BEGIN_AVX2
namespace vectors_avx2 {
#include "vector_functions.inc"
}
SW_END_INSTRUCTIONS
#undef SW_VECTOR_BYTES
#define SW_VECTOR_BYTES 64
SW_BEGIN_AVX512
namespace vectors_avx512 {
#include "vector_functions.inc"
}
SW_END_INSTRUCTIONS
#undef SW_VECTOR_BYTES

// libmvec, null without it. Never closed: loops may run until the process ends.
void* vector_library() {
  static constinit std::atomic<void*> cached{nullptr};
  if (void* handle = cached.load(std::memory_order_acquire)) return handle;
  const std::lock_guard lock(loader_mutex());
  void* handle = ::dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  cached.store(handle, std::memory_order_release);
  return handle;
}

struct InstructionSet {
  char letter;  ///< in symbols of libmvec
  int bytes;    ///< of a vector
  Loop (*float_loop)(OpId op, int operands);
  Loop (*double_loop)(OpId op, int operands);
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
  for (const VectorName& entry : vector_names) {
    if (entry.op != op) continue;
    const InstructionSet& set = instruction_set();
    char symbol[64];
    std::snprintf(symbol, sizeof symbol, "_ZGV%cN%d%s_%s%s", set.letter,
                  set.bytes / dtype.itemsize(), entry.operands == 1 ? "v" : "vv", entry.name,
                  dtype == float32 ? "f" : "");
    const void* function = ::dlsym(vector_library(), symbol);
    if (function == nullptr) return {};
    return {.loop = (dtype == float32 ? set.float_loop : set.double_loop)(op, entry.operands),
            .context = function};
  }
  return {};
}

}  // namespace spanwise::ops

#else

namespace spanwise::ops {
CpuLoops find_vector_function(OpId, DType) noexcept { return {}; }
}  // namespace spanwise::ops

#endif
