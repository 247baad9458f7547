// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "../indexing.hpp"
#include "../selection.hpp"
#include "cuda_indexing.hpp"
#include "embedded/indexing_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/queued_work.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/strided_call.hpp"

// Index arrays, masks and searches on a GPU, and the IndexingBackend of CUDA.
namespace spanwise::ops {
namespace {

// ---- Masks

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

// ---- Assignments to the elements that a mask selects

strided::Body masked_fill_body(int bytes, bool has_number) {
  strided::Body body;
  body.prelude = bytes == 16 ? "struct Word { unsigned long long low, high; };\n"
                             : text("typedef ", word_text(bytes), " Word;\n");
  if (has_number) {
    body.parameters = "const Word number, ";
  } else {
    body.arrays = {{"Word", strided::ArrayRole::read}};
  }
  body.arrays.push_back({"Word", strided::ArrayRole::write});
  body.arrays.push_back({"unsigned char", strided::ArrayRole::mask});
  body.statements = has_number ? "    sw_e0 = number;\n" : "    sw_e1 = sw_e0;\n";
  return body;
}

void fill_masked_on_gpu(const Array& target, const Array& mask, const Array& value) {
  static auto& bodies = *new strided::BodyTable<std::tuple<int, bool>>;
  const int bytes = target.dtype().itemsize();
  const bool has_number = value.rank() == 0 && !work_together(value.device(), target.device());
  strided::StridedCall call(target.shape());
  if (!has_number) call.add(value, strided::ArrayRole::read);
  call.add(target, strided::ArrayRole::write);
  call.add(mask, strided::ArrayRole::mask);
  call.plan();
  alignas(16) std::byte number[16];
  void* const parameters[] = {number};
  if (has_number) std::memcpy(number, value.data(), static_cast<std::size_t>(bytes));
  call.launch(call.kernel(bodies[{bytes, has_number}], target.device(),
                          [&] { return masked_fill_body(bytes, has_number); }),
              std::span(parameters, has_number ? 1 : 0));
}

// ---- Searches

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

// ---- Checks of index arrays

namespace {

using strided::ArrayRole;

// The kernel of index_body(work), compiled once for each shape of plan.
const strided::BodyKernel& index_kernel(IndexWork work, const strided::StridedCall& call,
                                        Device device) {
  static auto& bodies = *new strided::BodyTable<IndexWork>;
  return call.kernel(bodies[work], device, [&] { return index_body(work); });
}

}  // namespace

strided::Body index_body(IndexWork work) {
  strided::Body body;
  body.parameters = "const long long extent, ";
  body.arrays = {{"long long", ArrayRole::read}, {"long long", ArrayRole::write}};
  if (work == IndexWork::wrap) {
    body.statements = "    sw_e1 = sw_e0 % extent + (sw_e0 % extent < 0 ? extent : 0);\n";
  } else if (work == IndexWork::clip) {
    body.statements = "    sw_e1 = sw_e0 < 0 ? 0 : sw_e0 >= extent ? extent - 1 : sw_e0;\n";
  } else if (work == IndexWork::check_later) {
    body.parameters += "const long long axis, volatile long long* report, ";
    body.statements =
        "    if (sw_e0 < -extent || sw_e0 >= extent) {\n"
        "      report[1] = sw_e0, report[2] = extent, report[3] = axis, report[0] = 1;\n"
        "      sw_e1 = 0;\n    } else {\n      sw_e1 = sw_e0;\n    }\n";
  } else {
    body.arrays.pop_back();
    body.parameters += "unsigned long long* outside, ";
    body.statements =
        "    if ((sw_e0 < -extent || sw_e0 >= extent) && atomicCAS(outside, 0ULL, 1ULL) == 0ULL) "
        "outside[1] = (unsigned long long)sw_e0;\n";
  }
  return body;
}

std::optional<std::int64_t> outside_on_gpu(const Array& indices, std::int64_t extent) {
  if (indices.size() == 0) return {};
  const Array outside = zeros({2}, uint64, indices.device());
  order_use(Stream::current(outside.device()), outside, true);
  strided::StridedCall call(indices.shape());
  call.add(indices, ArrayRole::read);
  call.plan();
  void* address = outside.data();
  void* const parameters[] = {&extent, &address};
  call.launch(index_kernel(IndexWork::find_outside, call, outside.device()), parameters);
  const Array host = to_device(outside, cpu);
  std::int64_t words[2];
  std::memcpy(words, host.data(), sizeof words);
  if (words[0] == 0) return {};
  return words[1];
}

namespace {

/// Host memory of each device to which kernels write an index that is outside: whether there is
/// one, the index, the extent and the axis.
using IndexReport = volatile std::int64_t;

struct IndexReports {
  Mutex mutex;
  std::map<int, IndexReport*> by_ordinal;
};
IndexReports& index_reports() {
  static NeverDestroyed<IndexReports> reports;
  return *reports;
}

void throw_reported_index(Device device) {
  if (runs_on_host(device)) return;
  IndexReports& reports = index_reports();
  std::int64_t index = 0, extent = 0, axis = 0;
  {
    const std::lock_guard lock(reports.mutex);
    const auto found = reports.by_ordinal.find(device.ordinal());
    if (found == reports.by_ordinal.end() || found->second[0] == 0) return;
    index = found->second[1], extent = found->second[2], axis = found->second[3];
    found->second[0] = 0;
  }
  fail<BoundsError>("Array: index ", index, " is out of bounds for axis ", axis, " with size ",
                    extent, "; a compiled function has checked it on ", device,
                    ", so its results and updates since the last wait are not valid");
}

IndexReport* report_of(Device device) {
  IndexReports& reports = index_reports();
  const std::lock_guard lock(reports.mutex);
  IndexReport*& report = reports.by_ordinal[device.ordinal()];
  if (report == nullptr) {
    report = static_cast<IndexReport*>(runtime::allocate_mapped(device, 4 * sizeof(std::int64_t)));
    report[0] = 0;
    runtime::add_wait_check(throw_reported_index);
  }
  return report;
}

// The results of `work` for each index.
Array mapped_indices(IndexWork work, const Array& indices, std::span<void* const> parameters) {
  Array results = empty(indices.shape(), int64, indices.device());
  if (indices.size() == 0) return results;
  strided::StridedCall call(indices.shape());
  call.add(indices, ArrayRole::read);
  call.add(results, ArrayRole::write);
  call.plan();
  call.launch(index_kernel(work, call, results.device()), parameters);
  return results;
}

}  // namespace

Array check_later_on_gpu(const Array& indices, std::int64_t extent, int axis) {
  long long axis_number = axis;
  IndexReport* report = report_of(indices.device());
  void* const parameters[] = {&extent, &axis_number, static_cast<void*>(&report)};
  return mapped_indices(IndexWork::check_later, indices, parameters);
}

Array apply_bounds_on_gpu(const Array& indices, std::int64_t extent, Bounds bounds) {
  void* const parameters[] = {&extent};
  const IndexWork work = bounds == Bounds::wrap ? IndexWork::wrap : IndexWork::clip;
  return mapped_indices(work, indices, parameters);
}

namespace {

constexpr IndexingBackend cuda_backend{.takes_masks = false,
                                       .needs_aligned = true,
                                       .move = &move_on_gpu,
                                       .fill_masked = &fill_masked_on_gpu,
                                       .accumulate = &accumulate_on_gpu,
                                       .find_outside = &outside_on_gpu,
                                       .check_later = &check_later_on_gpu,
                                       .apply_bounds = &apply_bounds_on_gpu,
                                       .count_true = &count_true_on_gpu,
                                       .positions_of_true = &positions_of_true_on_gpu,
                                       .search = &search_by_kernel};
[[maybe_unused]] const auto* const previous_cuda_backend =
    indexing_backends.set(DeviceKind::cuda, &cuda_backend);

}  // namespace
}  // namespace spanwise::ops
