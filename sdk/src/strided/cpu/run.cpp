// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "cpu_loop.hpp"
#include "spanwise/parallel.hpp"

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

// Arrays of more bytes are in memory, where blocks of several arrays are too short for the
// prefetching of the processor: the next ones are fetched to the L2 cache.
constexpr std::int64_t cached_bytes = 8 << 20;

void fetch(const std::byte* data, std::int64_t bytes) noexcept {
  for (std::int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(data + at, 0, 2);
}

// Contiguous arrays of one shape and of the body's dtypes; returns false for others.
bool run_dense(const Shape& shape, std::span<const CpuOperand> operands, const CpuBody& body) {
  std::byte* arrays[max_arrays];
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const CpuOperand& operand = operands[k];
    arrays[k] = operand.data;
    if (operand.is_element) continue;
    const Layout& layout = *operand.layout;
    if (operand.role == ArrayRole::mask || operand.is_stored_late || !is_native(operand) ||
        !(layout.shape == shape) || !layout.is_row_major())
      return false;
  }
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  if (body.block == 0 && size < 2 * body.grain) {
    body(size, arrays);
    return true;
  }
  std::int64_t itemsizes[max_arrays], bytes = 0;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    itemsizes[k] = operands[k].is_element ? 0 : operands[k].compute.itemsize();
    bytes += itemsizes[k] * size;
  }
  const bool fetches = body.block != 0 && bytes > cached_bytes;
  parallel_for(size, body.grain, [&](std::int64_t first, std::int64_t last) {
    std::byte* parts[max_arrays + 1];
    if (body.scratch_bytes > 0) parts[operands.size()] = thread_scratch(body.scratch_bytes);
    const std::int64_t block = body.block == 0 ? last - first : body.block;
    for (; first < last; first += block) {
      const std::int64_t n = std::min(block, last - first);
      for (std::size_t k = 0; k < operands.size(); ++k) {
        parts[k] = arrays[k] + first * itemsizes[k];
        if (fetches)
          fetch(parts[k] + n * itemsizes[k], std::min(n, last - first - n) * itemsizes[k]);
      }
      body(n, parts);
    }
  });
  return true;
}

}  // namespace

void run_on_cpu(const Shape& shape, std::span<const CpuOperand> operands, const CpuBody& body) {
  if (!run_dense(shape, operands, body)) CpuLoop(shape, operands, body).run();
}

}  // namespace spanwise::strided
