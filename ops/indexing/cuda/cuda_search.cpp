// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "../search.hpp"
#include "embedded/indexing_text.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/parse/element_text.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::ops {
namespace {

/// From many_searches values on, each block first copies evenly spaced elements to shared memory as
/// a search tree (search.cuh) of max_tree_bytes at most: two blocks of 1024 threads and 64
/// KB fill a multiprocessor of an H200.
constexpr std::int64_t many_searches = 1 << 16, max_threads = 1024, max_tree_bytes = 64 << 10;
constexpr std::int64_t few_threads = 256;

/// Levels of the largest such tree with fewer nodes than the vector has insertion points.
int tree_levels(std::int64_t size, int itemsize) noexcept {
  const std::int64_t nodes = std::min(max_tree_bytes / itemsize, size + 1);
  return std::max<int>(std::bit_width(static_cast<std::uint64_t>(nodes)) - 1, 0);
}

}  // namespace

std::string search_source(DType dtype, Side side) {
  return text("typedef ", element_text(dtype), " Element;\n#define RIGHT ",
              side == Side::right ? 1 : 0, "\n#define MAX_THREADS ", max_threads, "\n",
              embedded::file_text(embedded::indexing_text, "search.cuh"));
}

void search_by_kernel(const Array& sorted, const Array& values, Side side, const Array& positions) {
  using Key = std::tuple<DeviceKind, int, DTypeCode, int, Side>;
  static auto& cached = *new KernelTable<std::map<Key, Kernel>>;
  const DType dtype = sorted.dtype();
  const Device device = sorted.device();
  const Key key(device.kind(), device.ordinal(), dtype.code(), dtype.bits(), side);
  const Kernel& kernel = cached.get(key, [&] {
    return SourceModule(search_source(dtype, side), {.device = device}).get_function("search");
  });
  const std::int64_t count = values.size();
  const bool are_many = count >= many_searches;
  const std::int64_t threads = are_many ? max_threads : few_threads;
  std::int64_t blocks = (count - 1) / threads + 1;
  if (are_many)
    blocks = std::min(blocks, std::int64_t{2} * fixed_properties(device).multiprocessors);
  const int levels = are_many ? tree_levels(sorted.size(), dtype.itemsize()) : 0;
  kernel({{blocks, 1, 1},
          {threads, 1, 1},
          std::int64_t{dtype.itemsize()} << levels,
          Stream::current(device)},
         {sorted, sorted.size(), values, positions, count, levels});
}

}  // namespace spanwise::ops
