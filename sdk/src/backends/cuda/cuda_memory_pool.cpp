// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "backends/cuda/cuda_memory_pool.hpp"
#include "backends/cuda/cuda_stream.hpp"
#include "core/string_utils.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/config.hpp"

namespace spanwise::cuda {
namespace {

[[noreturn]] void fail_setting(std::string_view value) {
  fail<ArgumentError>(
      "config preallocate: expected 0, a fraction up to 1 (\"0.8\") or a size "
      "(\"8GiB\", \"512MiB\", a number of bytes), got \"",
      value, '"');
}

double unit_of(std::string_view suffix, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, double>, 7> units{{{"", 1},
                                                                      {"KiB", 0x1p10},
                                                                      {"MiB", 0x1p20},
                                                                      {"GiB", 0x1p30},
                                                                      {"KB", 1e3},
                                                                      {"MB", 1e6},
                                                                      {"GB", 1e9}}};
  for (const auto& [name, factor] : units) {
    if (suffix == name) return factor;
  }
  fail_setting(value);
}

void check_setting(std::string_view value) { preallocate_bytes(value, 0); }

[[maybe_unused]] const bool preallocate_declared = config::declare({
    .name = "preallocate",
    .description = "GPU memory to take at the first use of each device: 0, a fraction of what is "
                   "free (0.8), or a size (8GiB).",
    .default_value = "0",
    .check = check_setting,
});

}  // namespace

std::int64_t preallocate_bytes(std::string_view value, std::int64_t free) {
  if (value.empty()) return 0;
  std::string_view suffix = value;
  const double number = take_number<double>(suffix).value_or(-1);
  if (!(number >= 0) || number > 0x1p62) fail_setting(value);
  suffix = suffix.substr(std::min(suffix.find_first_not_of(' '), suffix.size()));
  const double factor = unit_of(suffix, value);
  const bool is_fraction = suffix.empty() && number <= 1;
  const double bytes = is_fraction ? number * static_cast<double>(free) : number * factor;
  if (bytes > 0x1p62) fail_setting(value);
  return static_cast<std::int64_t>(bytes);
}

namespace {

[[maybe_unused]] const bool keep_blocks_declared = config::declare({
    .name = "keep_blocks",
    .description =
        "Keep GPU memory of up to 1 MiB for the next array on the same stream; read when "
        "a device is first used. 0 lets memory checkers see every block's end.",
    .default_value = "1",
});

void* as_pointer(CUdeviceptr address) { return std::bit_cast<void*>(address); }
CUdeviceptr as_address(void* data) { return reinterpret_cast<CUdeviceptr>(data); }

CUmemLocation location_of(int ordinal) {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = ordinal;
  return location;
}

CUmemoryPool create_pool(const DeviceContext& context) {
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  props.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  props.location = location_of(context.device.ordinal());
  CUmemoryPool pool = nullptr;
  const DriverApi& api = context.api;
  check(api, api.mem_pool_create(&pool, &props), "creating the memory pool of ", context.device);
  // With the default threshold, 0, the pool releases its unused memory at each synchronization.
  auto keep = std::numeric_limits<cuuint64_t>::max();
  const CUresult code = api.mem_pool_set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
  if (code != CUDA_SUCCESS) api.mem_pool_destroy(pool);
  check(api, code, "configuring the memory pool of ", context.device);
  return pool;
}

}  // namespace

MemoryPool::MemoryPool(DeviceContext& context) : context_(context) {
  const DriverApi& api = context.api;
  check(api, api.stream_create(&allocation_stream_, CU_STREAM_NON_BLOCKING),
        "creating the allocation stream of ", context.device);
  try {
    if (context.info.has_memory_pools) pool_ = create_pool(context);
  } catch (...) {
    api.stream_destroy(allocation_stream_);
    throw;
  }
}

// Runs only if DeviceContext's constructor throws: device contexts are never destroyed.
MemoryPool::~MemoryPool() {
  const DriverApi& api = context_.api;
  if (pool_ != nullptr) api.mem_pool_destroy(pool_);
  if (allocation_stream_ != nullptr) api.stream_destroy(allocation_stream_);
}

void MemoryPool::preallocate() {
  if (pool_ == nullptr) return;
  const std::string setting = config::get("preallocate");
  // 0 for any amount of free memory: skip the query of the driver at startup.
  if (preallocate_bytes(setting, std::int64_t{1} << 40) == 0) return;
  std::size_t free = 0, total = 0;
  check(context_.api, context_.api.mem_get_info(&free, &total), "reading the free memory of ",
        context_.device);
  const std::int64_t bytes = preallocate_bytes(setting, static_cast<std::int64_t>(free));
  if (bytes == 0) return;
  CUdeviceptr data = 0;
  const CUresult code = allocate_outside_capture(data, static_cast<std::size_t>(bytes));
  if (code != CUDA_SUCCESS) {
    fail_driver(context_.api, code,
                text("taking ", bytes_text(bytes), " of ", context_.device, ", of which ",
                     bytes_text(static_cast<std::int64_t>(free)),
                     " are free, for config preallocate = ", setting));
  }
  context_.api.mem_free_async(data, allocation_stream_);
}

CUresult MemoryPool::allocate_outside_capture(CUdeviceptr& data, std::size_t bytes) {
  const DriverApi& api = context_.api;
  const RelaxedCaptureMode relaxed(api);
  if (pool_ == nullptr) return api.mem_alloc(&data, bytes);
  CUresult code = api.mem_alloc_from_pool_async(&data, bytes, pool_, allocation_stream_);
  if (code != CUDA_SUCCESS) return code;
  code = api.stream_synchronize(allocation_stream_);
  if (code != CUDA_SUCCESS) api.mem_free_async(data, allocation_stream_);
  return code;
}

CUresult MemoryPool::try_allocate(CUdeviceptr& data, std::size_t bytes, CUstream stream) {
  const DriverApi& api = context_.api;
  // While any stream is captured in global mode, the default, an allocation on another stream would
  // invalidate the capture.
  const RelaxedCaptureMode relaxed(api);
  if (pool_ == nullptr) return api.mem_alloc(&data, bytes);
  return api.mem_alloc_from_pool_async(&data, bytes, pool_, stream);
}

// Blocks that SmallBlocks may cache have its rounded sizes.
std::size_t MemoryPool::size_of_block(std::size_t bytes, const CudaStream& stream) const noexcept {
  bytes = std::max<std::size_t>(bytes, 1);
  const bool is_small = stream.small_blocks() != nullptr && bytes <= SmallBlocks::max_bytes;
  return is_small ? SmallBlocks::rounded(bytes) : bytes;
}

// The result of an allocation whose driver call returned `code`. Throws as allocate().
void* MemoryPool::checked_allocation(CUresult code, CUdeviceptr data, std::size_t bytes) {
  if (code == CUDA_ERROR_OUT_OF_MEMORY) fail_out_of_memory(bytes);
  check(context_.api, code, "allocating ", bytes, " bytes on ", context_.device);
  if (pool_ == nullptr) allocated_ += static_cast<std::int64_t>(bytes);
  return as_pointer(data);
}

void* MemoryPool::allocate(std::size_t bytes, const CudaStream& stream) {
  bytes = size_of_block(bytes, stream);
  CUdeviceptr data = take_cached(bytes, stream);
  if (data != 0) return as_pointer(data);
  const ContextGuard guard(context_);
  CUresult code = try_allocate(data, bytes, stream.peek());
  if (code == CUDA_ERROR_OUT_OF_MEMORY) {
    reclaim();
    code = try_allocate(data, bytes, stream.peek());
    // Memory that the driver mapped before the allocation failed stays in the pool: release it.
    if (code == CUDA_ERROR_OUT_OF_MEMORY) reclaim();
  }
  return checked_allocation(code, data, bytes);
}

// Does not reclaim memory on failure: synchronizing the device is illegal during a capture.
void* MemoryPool::allocate_outside_graph(std::size_t bytes, const CudaStream& stream) {
  const ContextGuard guard(context_);
  bytes = size_of_block(bytes, stream);
  CUdeviceptr data = 0;
  const CUresult code = allocate_outside_capture(data, bytes);
  return checked_allocation(code, data, bytes);
}

CUdeviceptr MemoryPool::take_cached(std::size_t bytes, const CudaStream& stream) noexcept {
  if (stream.small_blocks() == nullptr || bytes > SmallBlocks::max_bytes || !usable_after_fork())
    return 0;
  return stream.small_blocks()->take(bytes);
}

bool MemoryPool::try_cache(CUdeviceptr data, std::size_t bytes, CudaStream& stream) noexcept {
  return stream.small_blocks() != nullptr && bytes <= SmallBlocks::max_bytes &&
         stream.small_blocks()->try_keep(data, bytes);
}

std::unique_ptr<SmallBlocks> MemoryPool::make_small_blocks() {
  // Read once: a block must be freed the way it was allocated.
  static const bool is_enabled = config::get_bool("keep_blocks");
  if (!is_enabled || pool_ == nullptr) return nullptr;
  auto blocks = std::make_unique<SmallBlocks>();
  const std::lock_guard lock(caches_mutex_);
  caches_.push_back(blocks.get());
  return blocks;
}

void MemoryPool::release_cache(SmallBlocks& blocks, CUstream stream) noexcept {
  const DriverApi& api = context_.api;
  const RelaxedCaptureMode relaxed(api);
  const std::lock_guard lock(caches_mutex_);
  blocks.release([&](CUdeviceptr block) { api.mem_free_async(block, stream); });
  std::erase(caches_, &blocks);
}

// The device is idle, so the blocks may be freed on any stream.
void MemoryPool::free_cached_blocks() noexcept {
  const DriverApi& api = context_.api;
  const std::lock_guard lock(caches_mutex_);
  for (SmallBlocks* blocks : caches_)
    blocks->release([&](CUdeviceptr block) { api.mem_free_async(block, allocation_stream_); });
  api.stream_synchronize(allocation_stream_);
}

// Synchronizing makes memory that was freed on other streams available; trimming returns unused
// memory, whose pieces may be too small, to the device.
void MemoryPool::reclaim() {
  const DriverApi& api = context_.api;
  const RelaxedCaptureMode relaxed(api);
  flush_launches();
  api.ctx_synchronize();
  free_cached_blocks();
  if (pool_ != nullptr) api.mem_pool_trim_to(pool_, 0);
}

void MemoryPool::trim() {
  const ContextGuard guard(context_);
  reclaim();
}

void MemoryPool::deallocate(void* data, std::size_t bytes, CudaStream& stream) noexcept {
  flush_launches();
  if (try_cache(as_address(data), bytes, stream)) return;
  const ContextGuard guard(context_, std::nothrow);
  if (!guard.ok()) return;
  const DriverApi& api = context_.api;
  if (pool_ == nullptr) {
    const RelaxedCaptureMode relaxed(api);
    api.stream_synchronize(stream.raw());
    api.mem_free(as_address(data));
    allocated_ -= static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1));
    return;
  }
  const RelaxedCaptureMode relaxed(api);  // as in try_allocate()
  api.mem_free_async(as_address(data), stream.raw());
}

runtime::MemoryInfo MemoryPool::info() const {
  const ContextGuard guard(context_);
  const DriverApi& api = context_.api;
  std::size_t free = 0, total = 0;
  check(api, api.mem_get_info(&free, &total), "reading the memory figures of ", context_.device);
  runtime::MemoryInfo info;
  info.free = static_cast<std::int64_t>(free);
  info.total = static_cast<std::int64_t>(total);
  info.held = info.used = allocated_.load(std::memory_order_relaxed);
  if (pool_ != nullptr) {
    const auto read = [&](CUmemPool_attribute attribute) {
      cuuint64_t value = 0;
      check(api, api.mem_pool_get_attribute(pool_, attribute, &value),
            "reading the pool's figures on ", context_.device);
      return static_cast<std::int64_t>(value);
    };
    info.held = read(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    info.used = read(CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    const std::lock_guard lock(caches_mutex_);
    for (const SmallBlocks* blocks : caches_)
      info.used -= static_cast<std::int64_t>(blocks->bytes());
  }
  return info;
}

void MemoryPool::fail_out_of_memory(std::size_t bytes) const {
  const runtime::MemoryInfo now = info();
  throw OutOfMemoryError(
      text("cuda: no memory left on ", context_.device, " (", context_.info.properties.name,
           "): requested ", bytes_text(static_cast<std::int64_t>(bytes)), " (", bytes, " bytes), ",
           bytes_text(now.free), " of ", bytes_text(now.total), " are free; Spanwise's pool holds ",
           bytes_text(now.held), ", of which ", bytes_text(now.used),
           " are in use by arrays. Drop arrays, or free what other libraries and processes hold"),
      CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY");
}

void MemoryPool::enable_peer_access(const DeviceContext& other) {
  if (pool_ == nullptr || other.device == context_.device) return;
  const std::lock_guard lock(peers_mutex_);
  const int peer = other.device.ordinal();
  if (std::ranges::find(peers_with_access_, peer) != peers_with_access_.end()) return;
  const DriverApi& api = context_.api;
  int can_access = 0;
  api.device_can_access_peer(&can_access, other.info.handle, context_.info.handle);
  if (can_access != 0) {
    CUmemAccessDesc access{};
    access.location = location_of(peer);
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(api, api.mem_pool_set_access(pool_, &access, 1), "giving ", other.device,
          " access to the memory of ", context_.device);
  }
  peers_with_access_.push_back(peer);
}

}  // namespace spanwise::cuda
