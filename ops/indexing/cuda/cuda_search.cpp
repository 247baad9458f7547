// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "../search.hpp"
#include "spanwise/error.hpp"
#include "spanwise/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/source/element_text.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t search_threads = 256;

// One search per thread; the first steps of adjacent threads read the same cache lines.
constexpr const char* search_text = R"(
// Whether the insertion point of wanted is after x; NaN sorts last.
__device__ __forceinline__ bool is_before(Element x, Element wanted) {
  return RIGHT ? (x <= wanted) | (wanted != wanted) : !(wanted <= x) & (x == x);
}
extern "C" __global__ void search(const Element* sorted, long long size, const Element* wanted,
                                  long long* positions, long long count) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Element value = wanted[i];
  long long at = 0;
  for (long long left = size; left > 1; left -= left / 2)
    at += is_before(sorted[at + left / 2 - 1], value) ? left / 2 : 0;
  positions[i] = at + (is_before(sorted[at], value) ? 1 : 0);
}
)";

}  // namespace

std::string search_source(DType dtype, Side side) {
  return text("typedef ", element_text(dtype), " Element;\n#define RIGHT ",
              side == Side::right ? 1 : 0, "\n", search_text);
}

void search_by_kernel(const Array& sorted, const Array& wanted, Side side, const Array& positions) {
  using Key = std::tuple<DeviceKind, int, DTypeCode, int, Side>;
  static auto& kernels = *new KernelTable<std::map<Key, Kernel>>;
  const DType dtype = sorted.dtype();
  const Device device = sorted.device();
  const Key key(device.kind(), device.ordinal(), dtype.code(), dtype.bits(), side);
  const Kernel kernel = kernels.get(key, [&] {
    ModuleOptions options;
    options.device = device;
    return SourceModule(search_source(dtype, side), options).get_function("search");
  });
  const std::int64_t blocks = (wanted.size() + search_threads - 1) / search_threads;
  kernel({{blocks, 1, 1}, {search_threads, 1, 1}, 0, Stream::current(device)},
         {sorted, sorted.size(), wanted, positions, wanted.size()});
}

}  // namespace spanwise::ops
