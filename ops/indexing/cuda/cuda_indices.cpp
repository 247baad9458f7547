// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_indices.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda_module.hpp"
#include "cuda_source.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t check_threads = 256;

SourceModule index_module(Device device) {
  static auto& modules = *new Modules<int>;
  return modules.get(device, 0, indices_source);
}

SourceModule mask_module(Device device, int rank) {
  static auto& modules = *new Modules<int>;
  return modules.get(device, rank, [&] { return mask_source(rank); });
}

// The kernels over index arrays use grid-stride loops.
LaunchConfig config_for(std::int64_t size, const Stream& stream) {
  const std::int64_t blocks =
      std::min<std::int64_t>((size + check_threads - 1) / check_threads, 1 << 16);
  return {{blocks, 1, 1}, {check_threads, 1, 1}, 0, stream};
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

std::optional<std::int64_t> outside_on_gpu(const Array& indices, std::int64_t extent) {
  if (indices.size() == 0) return {};
  const Array found = zeros({2}, uint64, indices.device());
  const Stream stream = Stream::current(indices.device());
  index_module(indices.device())
      .get_function("find_outside")(config_for(indices.size(), stream),
                                    {indices, indices.size(), extent, found});
  const Array host = to_device(found, cpu);
  std::int64_t words[2];
  std::memcpy(words, host.data(), sizeof words);
  if (words[0] == 0) return {};
  return words[1];
}

Array bounded_on_gpu(const Array& indices, std::int64_t extent, Bounds bounds) {
  Array bounded = empty(indices.shape(), int64, indices.device());
  if (indices.size() == 0) return bounded;
  const char* kernel = bounds == Bounds::wrap ? "wrap_indices" : "clip_indices";
  index_module(indices.device())
      .get_function(kernel)(config_for(indices.size(), Stream::current(indices.device())),
                            {indices, bounded, indices.size(), extent});
  return bounded;
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
