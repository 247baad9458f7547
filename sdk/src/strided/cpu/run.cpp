// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <numeric>

#include "cpu_loop.hpp"
#include "spanwise/runtime/parallel.hpp"

namespace spanwise::strided {

std::byte* thread_scratch(std::size_t bytes) {
  thread_local std::unique_ptr<std::byte[]> memory;
  thread_local std::size_t size = 0;
  constexpr std::size_t alignment = 64;
  if (size < bytes) {
    memory = std::make_unique_for_overwrite<std::byte[]>(bytes + alignment);
    size = bytes;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(memory.get());
  return memory.get() + (alignment - first % alignment) % alignment;
}

namespace {

// Arrays of more bytes do not stay in the cache, and blocks of several arrays are too short for the
// processor's own prefetching: the next blocks are prefetched to the L2 cache.
constexpr std::int64_t cached_bytes = 8 << 20;

void prefetch(const std::byte* data, std::int64_t bytes) noexcept {
  for (std::int64_t offset = 0; offset < bytes; offset += 64)
    __builtin_prefetch(data + offset, 0, 2);
}

// Runs the body on contiguous arrays of one shape and of the body's dtypes, from which a mask may
// select, or on one such array and numbers. Returns false, and does nothing, for other operands.
bool try_run_dense(const Shape& shape, std::span<const CpuOperand> operands, const CpuBody& body) {
  std::byte* arrays[max_arrays];
  std::int64_t steps[max_arrays];
  std::size_t count = 0, numbers = 0;
  const std::byte* mask = nullptr;
  for (const CpuOperand& operand : operands) {
    const Layout& layout = *operand.layout;
    std::int64_t step = 0;
    if (!operand.is_element) {
      if (operand.is_stored_late || !is_native(operand)) return false;
      if (layout.shape == shape && layout.is_row_major())
        step = operand.compute.itemsize();
      else if (operand.role == ArrayRole::read && count > 0 && layout.size() == 1)
        ++numbers;
      else
        return false;
    }
    if (operand.role == ArrayRole::mask) {
      mask = operand.data;
      break;
    }
    arrays[count] = operand.data;
    steps[count++] = step;
  }
  if (numbers > 0 && (body.with_number == nullptr || numbers + 2 != count)) return false;
  const CpuBody::Loop loop = numbers > 0 ? body.with_number : body.loop;
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  const bool is_small = body.block == 0 && size < 2 * body.grain;
  if (is_small && mask == nullptr) {
    loop(body.context, size, arrays);
    return true;
  }
  const std::int64_t bytes = size * std::accumulate(steps, steps + count, std::int64_t{0});
  const bool prefetches = body.block != 0 && bytes > cached_bytes;
  const auto run = [&](std::int64_t first, std::int64_t last) {
    std::byte* parts[max_arrays + 1];
    if (body.scratch_bytes > 0) parts[count] = thread_scratch(body.scratch_bytes);
    const std::int64_t block = body.block == 0 ? last - first : body.block;
    for (; first < last; first += block) {
      const std::int64_t n = std::min(block, last - first);
      for (std::size_t k = 0; k < count; ++k) {
        parts[k] = arrays[k] + first * steps[k];
        if (prefetches) prefetch(parts[k] + n * steps[k], std::min(n, last - first - n) * steps[k]);
      }
      if (mask == nullptr)
        loop(body.context, n, parts);
      else
        for_each_selected(mask + first, 1, n, [&](std::int64_t begin, std::int64_t end) {
          for (std::size_t k = 0; k < count; ++k) parts[k] = arrays[k] + (first + begin) * steps[k];
          loop(body.context, end - begin, parts);
        });
    }
  };
  if (is_small)
    run(0, size);
  else
    parallel_for(size, body.grain, run);
  return true;
}

}  // namespace

void run_on_cpu(const Shape& shape, std::span<const CpuOperand> operands, const CpuBody& body) {
  if (!try_run_dense(shape, operands, body)) CpuLoop(shape, operands, body).run();
}

}  // namespace spanwise::strided
