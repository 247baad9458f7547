// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "cuda_indices.hpp"
#include "embedded/indexing_text.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::ops {
namespace {

// Threads of a block, elements of a tile (one block counts one), and threads of the scan's block.
constexpr int mask_block = 256, mask_tile = 16 * mask_block, scan_block = 1024;

SourceModule mask_module(Device device, int rank) {
  static auto& modules = *new KernelTable<std::map<std::tuple<DeviceKind, int, int>, SourceModule>>;
  return modules.get({device.kind(), device.ordinal(), rank},
                     [&] { return SourceModule(mask_source(rank), {.device = device}); });
}

// The number of true elements before each tile, and in total.
class Tiles {
 public:
  explicit Tiles(const Array& mask)
      : mask_(contiguous(mask)),
        stream_(Stream::current(mask.device())),
        tiles_(mask_.size() / mask_tile + (mask_.size() % mask_tile != 0)),
        before_(empty({tiles_ + 1}, int64, mask.device())),
        module_(mask_module(mask.device(), std::max(1, mask.rank()))) {
    const KernelArg bytes = KernelArg::memory(mask_), before(before_);
    module_.get_function("count_tiles")({{tiles_, 1, 1}, {mask_block, 1, 1}, 0, stream_},
                                        {bytes, mask_.size(), before});
    module_.get_function("scan_tiles")({{1, 1, 1}, {scan_block, 1, 1}, 0, stream_},
                                       {before, tiles_});
    total_ = item(before_.index(0, tiles_)).as_int64();
  }

  std::int64_t total() const noexcept { return total_; }

  void write(const Array& positions) const {
    std::vector<std::int64_t> extents(mask_.shape().begin(), mask_.shape().end());
    if (extents.empty()) extents.push_back(1);
    module_.get_function("write_positions")(
        {{tiles_, 1, 1}, {mask_block, 1, 1}, 0, stream_},
        {KernelArg::memory(mask_), mask_.size(), before_, positions, total_,
         KernelArg::bytes(std::as_bytes(std::span<const std::int64_t>(extents)))});
  }

 private:
  Array mask_;
  Stream stream_;
  std::int64_t tiles_;
  Array before_;
  SourceModule module_;
  std::int64_t total_ = 0;
};

}  // namespace

std::string mask_source(int rank) {
  return text("#define RANK ", rank, "\n#define BLOCK ", mask_block, "\n#define TILE ", mask_tile,
              "\n#define SCAN ", scan_block, "\n",
              embedded::file_text(embedded::indexing_text, "mask_kernels.cuh"));
}

std::int64_t count_true_on_gpu(const Array& mask) {
  return mask.size() == 0 ? 0 : Tiles(mask).total();
}

Array positions_of_true_on_gpu(const Array& mask) {
  if (mask.size() == 0) return empty({mask.rank(), 0}, int64, mask.device());
  const Tiles tiles(mask);
  const Array positions = empty({std::max(1, mask.rank()), tiles.total()}, int64, mask.device());
  if (tiles.total() > 0) tiles.write(positions);
  return mask.rank() > 0 ? positions : positions.slice(0, {0, 0, 1});
}

}  // namespace spanwise::ops
