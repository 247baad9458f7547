// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/worker.hpp"

#include <csignal>
#include <cstring>
#include <utility>

#include "backends/cpu/exec/launch_plan.hpp"
#include "backends/cpu/exec/stack_limit.hpp"
#include "backends/cpu/memory/memory_pool.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cpu_backend {
namespace {

constexpr std::size_t deep_from = 64 << 10;

BlockRunner& blocks_of(void* worker) { return *static_cast<BlockRunner*>(worker); }

void run_blocks(const sw_range* range, sw_block_function block, sw_thread_function thread,
                const void* arguments) {
  blocks_of(range->worker).run(*range, block, thread, arguments);
}
void barrier(void* worker, int line) { blocks_of(worker).barrier(line); }
int barrier_vote(void* worker, int op, int predicate, int line) {
  return blocks_of(worker).barrier_vote(op, predicate, line);
}
unsigned long long warp(void* worker, int op, unsigned mask, unsigned long long value, int lane,
                        int width, int line) {
  return blocks_of(worker).warp(op, mask, value, lane, width, line);
}
unsigned active_mask(void* worker, int line) { return blocks_of(worker).active_mask(line); }
std::string failure_message(const char* what, const char* file, int line, const sw_extent& block,
                            const sw_extent& thread) {
  const std::string location = file != nullptr ? text(file, ":", line) : text("line ", line);
  return text(what, ", ", location, ", in ", thread_text(thread, block));
}
void fail_thread(void* worker, const char* what, const char* file, int line, const sw_extent* block,
                 const sw_extent* thread) {
  blocks_of(worker).fail([&] { return failure_message(what, file, line, *block, *thread); });
}

void out_of_stack(void* worker, const sw_extent* block, const sw_extent* thread) {
  blocks_of(worker).fail_stack(*block, *thread);
}

void access(void* worker, const void* address, unsigned long long bytes, int kind,
            const void* code) {
  blocks_of(worker).access(address, bytes, kind, code);
}
void fence(void* worker) { blocks_of(worker).fence(); }
void returns(void* worker) { blocks_of(worker).returns(); }
void move(void* to, const void* from, unsigned long long bytes) { std::memmove(to, from, bytes); }
void set(void* to, int value, unsigned long long bytes) { std::memset(to, value, bytes); }

thread_local const void* faulting_code = nullptr;

// A separate function, so that no local variable is live across the longjmp.
bool run_guarded(BlockRunner& blocks, FaultTrap& trap, const LaunchedKernel& launched,
                 void (*run)(const sw_range*), const sw_range& range) {
  if (setjmp(blocks.escape()) != 0) {
    trap.disarm();
    return false;
  }
  trap.arm(blocks.escape(), launched.code, launched.launcher);
  run(&range);
  trap.disarm();
  return true;
}

// Names the blocks of a chunk.
std::string blocks_text(const sw_range& range) {
  const auto index = [&](std::uint64_t block) {
    return extent_text(position_of(block, range.grid));
  };
  if (range.last - range.first == 1) return "a thread of block " + index(range.first);
  return text("a thread of blocks ", index(range.first), " to ", index(range.last - 1));
}

}  // namespace

void Worker::Free::operator()(void* data) const noexcept {
  MemoryPool::instance().deallocate(data, bytes);
}

Worker& Worker::current() {
  // Too large for thread-local storage itself.
  static thread_local const std::unique_ptr<Worker> worker = std::make_unique<Worker>();
  return *worker;
}

void* Worker::dynamic_shared(std::size_t bytes) {
  if (bytes > shared_.get_deleter().bytes) {
    // From the memory pool, so that a kernel that writes past its end does not corrupt the C
    // library's heap.
    shared_ = std::unique_ptr<void, Free>(MemoryPool::instance().allocate(bytes), Free{bytes});
  }
  return shared_.get();
}

const void* Worker::take_faulting_code() noexcept { return std::exchange(faulting_code, nullptr); }

// Kernels of unknown stack depth use separate stacks, so that they do not slow down other kernels.
BlockRunner& Worker::blocks_for(std::size_t stack_bytes) {
  if (stack_bytes < deep_from) return blocks_;
  if (!deep_blocks_) deep_blocks_ = std::make_unique<BlockRunner>();
  return *deep_blocks_;
}

void Worker::run(const LaunchedKernel& launched, sw_range range) {
  BlockRunner& blocks = blocks_for(launched.stack_bytes);
  blocks.reserve_stack(launched.stack_bytes);
  blocks.set_reverse(launched.reverse);
  blocks.set_shuffle(launched.shuffle);
  range.worker = &blocks;
  range.dynamic_shared =
      static_cast<char*>(dynamic_shared(launched.shared_bytes + 2 * launched.shared_zone)) +
      launched.shared_zone;
  range.checked = launched.check != nullptr ? 1 : 0;
  blocks.set_check(launched.check, launched.returns_hidden);
  FaultTrap& trap = FaultTrap::current();
  if (trap.is_armed())
    fail<DeviceError>("cpu: kernel '", launched.kernel->name,
                      "' was launched by a signal handler that interrupts a kernel of the same "
                      "thread. Remedy: set a flag in the handler, and launch later");
  const StackLimitGuard guard;
  blocks.limit_own_stack();
  if (run_guarded(blocks, trap, launched, launched.kernel->run, range)) return;
  const KernelFault fault = trap.take_fault();
  if (fault.signal == SIGINT) {
    blocks.reset_after_signal();
    // Of a helper, the launcher reports it.
    return trap.rethrow_interrupt();
  }
  if (fault.signal != 0) fail_signal(launched, range, blocks, fault);
  fail<KernelFaultError>("cpu: kernel '", launched.kernel->name, "' of ", launched.file, ": ",
                         blocks.take_failure());
}

// A kernel that runs as loops keeps its indices in registers. It is run again, thread by thread, to
// find the one that fails: its arrays are undefined anyway.
void Worker::fail_signal(const LaunchedKernel& launched, const sw_range& range, BlockRunner& blocks,
                         const KernelFault& fault) {
  FaultTrap& trap = FaultTrap::current();
  std::string thread = blocks.is_running() ? blocks.running_thread() : "";
  blocks.reset_after_signal();
  if (thread.empty()) {
    blocks.limit_own_stack();
    const bool passed = run_guarded(blocks, trap, launched, launched.kernel->run_slowly, range);
    const KernelFault again = trap.take_fault();
    if (!passed && again.signal == fault.signal && blocks.is_running())
      thread = blocks.running_thread();
    blocks.reset_after_signal();
    trap.rethrow_interrupt();
  }
  faulting_code = fault.code;
  fail<KernelFaultError>(
      "cpu: kernel '", launched.kernel->name, "' of ", launched.file, ": ", fault.text(), ", in ",
      thread.empty() ? blocks_text(range) : thread,
      launched.check != nullptr
          ? ""
          : ". Remedy: run it under config kernel_check \"bounds\", which names the line");
}

const sw_runtime& runtime_table() {
  static constexpr sw_runtime table{run_blocks,  barrier,     barrier_vote, warp,
                                    active_mask, fail_thread, out_of_stack, access,
                                    fence,       returns,     move,         set};
  return table;
}

}  // namespace spanwise::cpu_backend
