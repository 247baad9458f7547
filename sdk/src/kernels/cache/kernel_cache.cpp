// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/disk_cache.hpp"
#include "kernels/module_builder.hpp"
#include "spanwise/kernels/kernel.hpp"

namespace spanwise::kernel_cache {

Info info() {
  const kernels::DiskCache cache = kernels::DiskCache::configured();
  const auto [entries, bytes] = cache.usage();
  const auto [hits, misses] = kernels::disk_counts();
  return {.path = cache.path(),
          .entries = entries,
          .bytes = bytes,
          .hits = hits,
          .misses = misses,
          .problem = cache.problem()};
}

void clear() { kernels::DiskCache::configured().clear(); }

}  // namespace spanwise::kernel_cache
