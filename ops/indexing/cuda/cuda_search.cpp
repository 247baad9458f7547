// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <tuple>

#include "../search.hpp"
#include "cuda_module.hpp"
#include "cuda_source.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/element_text.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t search_threads = 256;

// One search a thread; neighbours take the same first steps, whose lines the cache has.
constexpr const char* search_text = R"(
// Whether the place that wanted belongs at is after x; NaN is after everything.
__device__ __forceinline__ bool is_before(Element x, Element wanted) {
  return RIGHT ? (x <= wanted) | (wanted != wanted) : !(wanted <= x) & (x == x);
}
extern "C" __global__ void search(const Element* line, long long size, const Element* wanted,
                                  long long* places, long long count) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Element value = wanted[i];
  long long at = 0;
  for (long long left = size; left > 1; left -= left / 2)
    at += is_before(line[at + left / 2 - 1], value) ? left / 2 : 0;
  places[i] = at + (is_before(line[at], value) ? 1 : 0);
}
)";

}  // namespace

std::string search_source(DType dtype, Side side) {
  return text("typedef ", element_text(dtype), " Element;\n#define RIGHT ",
              side == Side::right ? 1 : 0, "\n", search_text);
}

void search_by_kernel(const Array& line, const Array& wanted, Side side, const Array& places) {
  using Key = std::tuple<DTypeCode, int, Side>;
  static auto& modules = *new Modules<Key>;
  const DType dtype = line.dtype();
  const SourceModule module = modules.get(line.device(), Key(dtype.code(), dtype.bits(), side),
                                          [&] { return search_source(dtype, side); });
  const std::int64_t blocks = (wanted.size() + search_threads - 1) / search_threads;
  module.get_function("search")(
      {{blocks, 1, 1}, {search_threads, 1, 1}, 0, Stream::current(line.device())},
      {line, line.size(), wanted, places, wanted.size()});
}

}  // namespace spanwise::ops
