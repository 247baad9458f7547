// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

#include "problem.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::ops::linalg {
namespace {

constexpr std::int64_t tile_side = 64, product_threads = 256;
constexpr std::int64_t max_batches = 65535;  // CUDA's limit for the second dimension of a grid
// With few result elements of long sums, one block per 64 x 64 tile would occupy a small part of a
// GPU; such products take one block per element.
constexpr std::int64_t few_elements = 4096, long_sum = 512;

SourceModule product_module(const Problem& problem, Device device) {
  using Key = std::array<int, 6>;
  static auto& modules = *new KernelTable<std::map<Key, SourceModule>>;
  const bool conjugates = problem.conjugate_left && problem.dtype.is_complex();
  const Key key{static_cast<int>(device.kind()),
                device.ordinal(),
                static_cast<int>(problem.dtype.code()),
                problem.dtype.bits(),
                conjugates,
                problem.batch_rank};
  return modules.get(key, [&] {
    return SourceModule(cuda_product_source(problem.dtype, conjugates, problem.batch_rank),
                        {.device = device});
  });
}

}  // namespace

void own_product_on_cuda(const Problem& problem, Device device) {
  const SourceModule module = product_module(problem, device);
  const KernelArg arguments[] = {KernelArg::bytes(problem.packed())};
  const std::int64_t batches = problem.batches;
  LaunchConfig config;
  config.block = {product_threads};
  const double elements = static_cast<double>(problem.rows) * static_cast<double>(problem.columns) *
                          static_cast<double>(batches);
  if (elements <= few_elements && problem.depth >= long_sum) {
    config.grid = {problem.rows * problem.columns * batches};
    return module.get_function("lines").launch(config, arguments);
  }
  const auto tiles = [](std::int64_t extent) { return (extent + tile_side - 1) / tile_side; };
  if (tiles(problem.rows) > max_blocks / tiles(problem.columns))
    fail<ArgumentError>("matmul: a result of ", problem.rows, " x ", problem.columns,
                        " needs more than ", max_blocks, " blocks; split it");
  config.grid = {tiles(problem.rows) * tiles(problem.columns), std::min(batches, max_batches)};
  module.get_function("tiles").launch(config, arguments);
}

}  // namespace spanwise::ops::linalg
