// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/launch/launch_limits.hpp"

#include <array>

#include "runtime/loaded_kernel.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

using runtime::extents_text;

void check_extents(const std::string& caller, const char* name, const Dim3& dim,
                   const std::array<std::int64_t, 3>& limits, const char* remedy) {
  const std::array extents{dim.x, dim.y, dim.z};
  for (std::size_t i = 0; i < 3; ++i) {
    const char axis = "xyz"[i];
    if (extents[i] < 1)
      fail<KernelArgumentError>(caller, name, ' ', extents_text(dim), " has ", axis, " = ",
                                extents[i], "; each extent is at least 1");
    if (extents[i] > limits[i])
      fail<KernelArgumentError>(caller, name, ' ', extents_text(dim), " has ", axis, " = ",
                                extents[i], ", at most ", limits[i], " is possible; ", remedy);
  }
}

}  // namespace

void LaunchLimits::refuse(const std::string& kernel, const Dim3& grid, const Dim3& block,
                          std::int64_t shared_bytes) const {
  const std::string caller = text("kernel ", kernel, " on ", device->name, ": ");
  check_extents(caller, "block", block, device->max_block, "use a smaller block and a larger grid");
  const std::int64_t threads = block.x * block.y * block.z;
  if (threads > max_threads)
    fail<KernelArgumentError>(caller, "block ", extents_text(block), " has ", threads,
                              " threads, at most ", max_threads,
                              max_threads < device->max_threads_per_block
                                  ? " are possible for this kernel, whose registers do not "
                                    "suffice for more; use a smaller block, or "
                                    "compile with -maxrregcount or __launch_bounds__"
                                  : " are possible; use a smaller block and a larger grid");
  check_extents(caller, "grid", grid, device->max_grid,
                "let each block do more, or spread the grid over x");
  if (shared_bytes < 0)
    fail<KernelArgumentError>(caller, "shared = ", shared_bytes,
                              " bytes a block is negative; pass 0 or more");
  fail<KernelArgumentError>(caller, "shared = ", shared_bytes, " bytes a block and ", static_shared,
                            " that the kernel declares are more than the ",
                            device->max_shared_bytes_optin,
                            " that a block can have; use less shared memory");
}

}  // namespace spanwise::cuda
