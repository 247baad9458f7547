// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/fiber_stacks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "backends/cpu/exec/fiber_watch.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

constexpr std::size_t min_spacing = 16 << 10;
constexpr std::size_t max_spacing = 8 << 20;
constexpr std::size_t huge_page = 2 << 20;
// Added to a power of two: an odd number of cache lines from stack to stack spreads the tops of all
// stacks over all sets of the L1 and L2 caches.
constexpr std::size_t extra_line = 64;
// Spacings from here on are for stacks of unknown depth. Library functions do not check the stack
// limit; if they exceed it, they write to the red zone.
constexpr std::size_t guarded_spacing = 128 << 10, guarded_zone = 32 << 10;
constexpr std::size_t small_zone = 64;  // of other stacks
constexpr std::byte pattern{0xa5};      // of bytes that no thread may change

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

FiberStacks::~FiberStacks() { unmap(); }

void FiberStacks::unmap() noexcept {
  if (base_ == nullptr) return;
  clear_address_marks(region());
  ::munmap(base_, bytes_);
}

bool FiberStacks::reserve(std::size_t bytes) {
  const std::size_t zone = bytes >= guarded_spacing / 2 ? guarded_zone : small_zone;
  const std::size_t needed = bytes + zone;
  const std::size_t power = std::bit_ceil(needed < min_spacing ? min_spacing : needed);
  const std::size_t spacing = power + extra_line;
  if (spacing <= spacing_) return false;
  if (power > max_spacing)
    fail<OutOfMemoryError>("cpu: a kernel needs ", bytes,
                           " bytes of stack a thread, more than the ", max_spacing,
                           " that are available; keep large arrays in __shared__ or global memory");
  // A guard page at either end, and space to align the stacks to a huge page.
  const std::size_t total = spacing * max_stacks + huge_page + 2 * page_size();
  void* base = ::mmap(nullptr, total, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (base == MAP_FAILED)
    fail<OutOfMemoryError>("cpu: no address space for ", max_stacks, " stacks of ", spacing,
                           " bytes each");
  unmap();
  base_ = static_cast<std::byte*>(base);
  bytes_ = total;
  spacing_ = spacing;
  std::byte* first = stack(0);
  if (::mprotect(first - page_size(), page_size(), PROT_NONE) != 0 ||
      ::mprotect(first + spacing * max_stacks, page_size(), PROT_NONE) != 0) {
    const int reason = errno;
    unmap();
    base_ = nullptr;
    bytes_ = spacing_ = 0;
    fail<OutOfMemoryError>(
        "cpu: no guard pages around the stacks of a kernel's threads: ", std::strerror(reason),
        ". The process may have too many mappings (sysctl vm.max_map_count), or "
        "config cpu_threads is too high");
  }
  // Kernels use only the tops of large stacks and would waste most of each huge page.
  if (spacing <= (64 << 10)) ::madvise(first, spacing * max_stacks, MADV_HUGEPAGE);
  return true;
}

std::byte* FiberStacks::stack(int index) const noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(base_) + page_size();
  const std::uintptr_t first = (start + huge_page - 1) / huge_page * huge_page;
  return base_ + (first - reinterpret_cast<std::uintptr_t>(base_)) +
         static_cast<std::size_t>(index) * spacing_;
}

bool FiberStacks::is_guarded() const noexcept { return spacing_ >= guarded_spacing; }

std::size_t FiberStacks::red_zone() const noexcept {
  return is_guarded() ? guarded_zone : small_zone;
}

// The upper 2 KB of the red zone suffice: calls that overflow into it write to each 2 KB, at least
// their return addresses.
std::span<std::byte> FiberStacks::pattern_of(int index) const noexcept {
  const std::size_t size = std::min<std::size_t>(red_zone(), 2 << 10);
  return {stack(index) + red_zone() - size, size};
}

std::span<std::byte> FiberStacks::prepare(int index) {
  std::ranges::fill(pattern_of(index), pattern);
  return {low(index), stack(index) + spacing_};
}

std::byte* FiberStacks::low(int index) const noexcept { return stack(index) + red_zone(); }

bool FiberStacks::is_intact(int index) const {
  return std::ranges::all_of(pattern_of(index), [](std::byte b) { return b == pattern; });
}

std::size_t FiberStacks::stack_bytes() const noexcept { return spacing_ - red_zone(); }

}  // namespace spanwise::cpu_backend
