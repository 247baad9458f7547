// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/fibers.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "spanwise/core/error.hpp"

#if defined(SW_WATCH_ADDRESSES)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(SW_WATCH_THREADS)
#include <sanitizer/tsan_interface.h>
#endif

// A switch does not change the signal mask: the system call for it, as in swapcontext, would take
// thirty times as long as the other instructions.

#if defined(__x86_64__)

asm(R"(
.text
.globl sw_enter_stack
.hidden sw_enter_stack
.type sw_enter_stack, @function
sw_enter_stack:
  popq %rdi
  popq %rax
  callq *%rax
  ud2
.size sw_enter_stack, .-sw_enter_stack
.globl sw_call_on_stack
.hidden sw_call_on_stack
.type sw_call_on_stack, @function
sw_call_on_stack:
  pushq %rbx
  movq %rsp, %rbx
  movq %rsp, (%rsi)
  movq %rdi, %rsp
  movq %rcx, %rdi
  callq *%rdx
  movq %rbx, %rsp
  popq %rbx
  ret
.size sw_call_on_stack, .-sw_call_on_stack
)");

#elif defined(__aarch64__)

// AAPCS64: x19-x30, sp and the low halves of v8-v15 are preserved.
asm(R"(
.text
.globl sw_switch_stack
.hidden sw_switch_stack
.type sw_switch_stack, %function
.balign 16
sw_switch_stack:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x2, sp
  str x2, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size sw_switch_stack, .-sw_switch_stack
.globl sw_enter_stack
.hidden sw_enter_stack
.type sw_enter_stack, %function
sw_enter_stack:
  mov x0, x19
  blr x20
  brk #1
.size sw_enter_stack, .-sw_enter_stack
.globl sw_call_on_stack
.hidden sw_call_on_stack
.type sw_call_on_stack, %function
sw_call_on_stack:
  stp x19, x30, [sp, #-16]!
  mov x19, sp
  str x19, [x1]
  mov sp, x0
  mov x0, x3
  blr x2
  mov sp, x19
  ldp x19, x30, [sp], #16
  ret
.size sw_call_on_stack, .-sw_call_on_stack
)");

#else
#error "expected x86-64 or aarch64: add the switch of stacks for this processor here"
#endif

namespace spanwise::cpu_backend {

extern "C" void sw_enter_stack() noexcept;
// Calls entry(argument) on the stack that ends at `top`, and stores the caller's stack pointer
// meanwhile. A call and its return, unlike two switches, leave the processor's predictions of the
// returns to the caller's callers right.
extern "C" void sw_call_on_stack(std::byte* top, StackPointer* caller,
                                 void (*entry)(void*) noexcept, void* argument) noexcept;

StackPointer make_stack(std::byte* low, std::size_t bytes, void (*entry)(void*), void* argument) {
  const auto top = reinterpret_cast<std::uintptr_t>(low + bytes) & ~std::uintptr_t{15};
  auto* words = reinterpret_cast<void**>(top);
#if defined(__x86_64__)
  // The words that switch_stack() pops, rbp and the address to jump to, then those that
  // sw_enter_stack pops. When it calls the entry, rsp is at the top, a multiple of 16.
  words -= 4;
  words[0] = nullptr;
  words[1] = reinterpret_cast<void*>(&sw_enter_stack);
  words[2] = argument;
  words[3] = reinterpret_cast<void*>(entry);
#else
  words -= 20;
  for (int i = 0; i < 20; ++i) words[i] = nullptr;
  words[0] = argument;
  words[1] = reinterpret_cast<void*>(entry);
  words[11] = reinterpret_cast<void*>(&sw_enter_stack);
#endif
  return words;
}

std::span<std::byte> thread_stack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return {static_cast<std::byte*>(low), bytes};
}

namespace {

// Bytes at the low end that kernels may not use, see own_stack().
constexpr std::size_t stack_reserve = 64 << 10;
// Limit of the bytes that kernels use of a stack without a limit: NVRTC sets RLIMIT_STACK to
// unlimited, and a kernel that recurses without end would then take all memory.
constexpr std::size_t max_used = 64 << 20;

std::span<std::byte> read_own_stack() {
  std::span<std::byte> all = thread_stack();
  if (all.size() > max_used) all = all.last(max_used);
  return all.subspan(all.size() < 2 * stack_reserve ? all.size() / 2 : stack_reserve);
}

}  // namespace

std::span<std::byte> own_stack() {
  // Cached: for the main thread, the C library reads /proc/self/maps.
  static thread_local const std::span<std::byte> stack = read_own_stack();
  return stack;
}

namespace {

constexpr std::size_t min_spacing = 16 << 10;
constexpr std::size_t max_spacing = 8 << 20;
constexpr std::size_t huge_page_bytes = 2 << 20;
// Added to a power of two: an odd number of cache lines from stack to stack spreads the tops of all
// stacks over all sets of the L1 and L2 caches.
constexpr std::size_t extra_line = 64;
// Spacings from here on are for stacks of unknown depth. Library functions do not check the stack
// limit; if they exceed it, they write to the red zone.
constexpr std::size_t guarded_spacing = 128 << 10, guarded_zone = 32 << 10;
constexpr std::size_t small_zone = 64;    // of other stacks
constexpr std::byte stack_pattern{0xa5};  // of bytes that no thread may change

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

KernelStack& KernelStack::current() {
  static thread_local KernelStack stack;
  return stack;
}

namespace {

// At either end; more than most kernels write behind an array.
constexpr std::size_t guard_bytes = 1 << 20;

}  // namespace

KernelStack::~KernelStack() {
  if (base_ != nullptr) ::munmap(base_, memory_.size() + stack_reserve + 2 * guard_bytes);
}

std::span<std::byte> KernelStack::memory() {
#if defined(SW_WATCH_ADDRESSES) || defined(SW_WATCH_THREADS)
  return own_stack();
#endif
  if (base_ != nullptr) [[likely]]
    return memory_;
  const std::size_t needed = own_stack().size() + stack_reserve;
  const std::size_t bytes = (needed + page_size() - 1) / page_size() * page_size();
  void* base = ::mmap(nullptr, bytes + 2 * guard_bytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  auto* low = static_cast<std::byte*>(base) + guard_bytes;
  if (base == MAP_FAILED || ::mprotect(low, bytes, PROT_READ | PROT_WRITE) != 0) {
    if (base != MAP_FAILED) ::munmap(base, bytes + 2 * guard_bytes);
    fail<OutOfMemoryError>("cpu: no memory for a stack of ", bytes, " bytes for kernels");
  }
  ::madvise(low, bytes, MADV_NOHUGEPAGE);  // most kernels use a few pages
  base_ = base;
  return memory_ = std::span(low, bytes).subspan(stack_reserve);
}

std::span<std::byte> KernelStack::unused_of_caller() const {
  const std::span<std::byte> own = own_stack();
  return own.first(static_cast<std::size_t>(static_cast<std::byte*>(caller_) - own.data()));
}

std::exception_ptr KernelStack::call(void (*function)(const void*), const void* argument) {
  const std::span<std::byte> stack = memory();
  function_ = function;
  argument_ = argument;
#if defined(SW_WATCH_ADDRESSES) || defined(SW_WATCH_THREADS)
  enter(this);
#else
  sw_call_on_stack(stack.data() + stack.size(), &caller_, enter, this);
#endif
  return std::exchange(thrown_, nullptr);
}

void KernelStack::enter(void* stack) noexcept {
  auto& self = *static_cast<KernelStack*>(stack);
  try {
    self.function_(self.argument_);
  } catch (...) {
    self.thrown_ = std::current_exception();
  }
}

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
  const std::size_t total = spacing * max_stacks + huge_page_bytes + 2 * page_size();
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
  const std::uintptr_t first = (start + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
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
  std::ranges::fill(pattern_of(index), stack_pattern);
  return {low(index), stack(index) + spacing_};
}

std::byte* FiberStacks::low(int index) const noexcept { return stack(index) + red_zone(); }

bool FiberStacks::is_intact(int index) const {
  return std::ranges::all_of(pattern_of(index), [](std::byte b) { return b == stack_pattern; });
}

std::size_t FiberStacks::stack_bytes() const noexcept { return spacing_ - red_zone(); }

#if defined(SW_WATCH_ADDRESSES) || defined(SW_WATCH_THREADS)

#if defined(SW_WATCH_ADDRESSES)
void clear_address_marks(std::span<std::byte> region) noexcept {
  constexpr std::size_t piece = 1 << 20;  // the sanitizer warns about larger ones
  for (std::size_t offset = 0; offset < region.size(); offset += piece)
    __asan_unpoison_memory_region(region.data() + offset, std::min(piece, region.size() - offset));
}
#endif

FiberWatch::FiberWatch() {
  fibers_.resize(1);
  fibers_[0].stack = thread_stack();
#if defined(SW_WATCH_THREADS)
  fibers_[0].tsan_fiber = __tsan_get_current_fiber();
#endif
}

FiberWatch::~FiberWatch() { remove_all({}); }

void FiberWatch::add(int fiber, std::span<std::byte> stack) {
  const auto index = static_cast<std::size_t>(fiber);
  if (fibers_.size() <= index) fibers_.resize(index + 1);
  fibers_[index].stack = stack;
#if defined(SW_WATCH_THREADS)
  fibers_[index].tsan_fiber = __tsan_create_fiber(0);
#endif
}

void FiberWatch::remove_all(std::span<std::byte> region) {
#if defined(SW_WATCH_THREADS)
  for (std::size_t i = 1; i < fibers_.size(); ++i)
    if (fibers_[i].tsan_fiber != nullptr) __tsan_destroy_fiber(fibers_[i].tsan_fiber);
#endif
  fibers_.resize(1);
#if defined(SW_WATCH_ADDRESSES)
  clear_address_marks(region);
#else
  (void)region;
#endif
}

void FiberWatch::switch_to(StackPointer* from, StackPointer to, int fiber) {
  const Fiber& target = fibers_[static_cast<std::size_t>(fiber)];
#if defined(SW_WATCH_THREADS)
  __tsan_switch_to_fiber(target.tsan_fiber, 0);
#endif
#if defined(SW_WATCH_ADDRESSES)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, target.stack.data(), target.stack.size());
  switch_stack(from, to);
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#else
  switch_stack(from, to);
#endif
}

void FiberWatch::entered() {
#if defined(SW_WATCH_ADDRESSES)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

#endif

}  // namespace spanwise::cpu_backend
