// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/worker.hpp"

#include <csignal>
#include <cstring>
#include <utility>

#include "backends/cpu/exec/launch_plan.hpp"
#include "backends/cpu/exec/stack_limit.hpp"
#include "backends/cpu/memory/memory_pool.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

// Stacks of at least this many bytes are for kernels with recursion or large arrays.
constexpr std::size_t large_stack_bytes = 64 << 10;

BlockRunner& runner_of(void* worker) { return *static_cast<BlockRunner*>(worker); }

// A member function of BlockRunner as a function of sw_runtime.
template <auto Method>
struct RunnerCall;
template <class R, class... A, R (BlockRunner::*Method)(A...)>
struct RunnerCall<Method> {
  static R call(void* worker, A... arguments) { return (runner_of(worker).*Method)(arguments...); }
};

void run_blocks(const sw_range* range, sw_block_function block, sw_thread_function thread,
                const void* arguments) {
  runner_of(range->worker).run(*range, block, thread, arguments);
}
std::string failure_message(const char* problem, const char* file, int line, const sw_extent& block,
                            const sw_extent& thread) {
  const std::string location = file != nullptr ? text(file, ":", line) : text("line ", line);
  return text(problem, ", ", location, ", in ", thread_text(thread, block));
}
void fail_thread(void* worker, const char* problem, const char* file, int line,
                 const sw_extent* block, const sw_extent* thread) {
  runner_of(worker).fail([&] { return failure_message(problem, file, line, *block, *thread); });
}

void out_of_stack(void* worker, const sw_extent* block, const sw_extent* thread) {
  runner_of(worker).fail_stack(*block, *thread);
}

void move(void* to, const void* from, unsigned long long bytes) { std::memmove(to, from, bytes); }
void set(void* to, int value, unsigned long long bytes) { std::memset(to, value, bytes); }

thread_local const void* faulting_code = nullptr;

// Returns false if the kernel failed. A separate function, so that no local variable is live across
// the longjmp.
bool try_run(BlockRunner& runner, FaultTrap& trap, const LaunchedKernel& launched,
             void (*run)(const sw_range*), const sw_range& range) {
  if (setjmp(runner.escape()) != 0) {  // NOLINT(cert-err52-cpp): see BlockRunner::leave_kernel()
    trap.disarm();
    return false;
  }
  trap.arm(runner.escape(), launched.code, launched.launcher);
  run(&range);
  trap.disarm();
  return true;
}

// "a thread of block (0, 0, 0)" or "a thread of blocks (0, 0, 0) to (3, 0, 0)".
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
  // On the heap: too large for thread-local storage.
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

// Large stacks are separate, because other kernels would run slower on them.
BlockRunner& Worker::runner_for(std::size_t stack_bytes) {
  if (stack_bytes < large_stack_bytes) return runner_;
  if (!large_stack_runner_) large_stack_runner_ = std::make_unique<BlockRunner>();
  return *large_stack_runner_;
}

void Worker::run(const LaunchedKernel& launched, sw_range range) {
  BlockRunner& runner = runner_for(launched.stack_bytes);
  runner.reserve_stack(launched.stack_bytes);
  runner.set_thread_order(launched.reverse, launched.shuffle_seed);
  range.worker = &runner;
  range.dynamic_shared =
      static_cast<char*>(dynamic_shared(launched.shared_bytes + 2 * launched.shared_zone)) +
      launched.shared_zone;
  range.checked = launched.check != nullptr ? 1 : 0;
  runner.set_check(launched.check, launched.may_hide_returns);
  FaultTrap& trap = FaultTrap::current();
  if (trap.is_armed())
    fail<DeviceError>("cpu: kernel '", launched.kernel->name,
                      "' was launched by a signal handler that interrupts a kernel of the same "
                      "thread. Remedy: set a flag in the handler, and launch later");
  const StackLimitGuard guard;
  runner.limit_own_stack();
  if (try_run(runner, trap, launched, launched.kernel->run, range)) return;
  const KernelFault fault = trap.take_fault();
  if (fault.signal == SIGINT) {
    runner.reset_after_signal();
    // In a helper this does nothing: the thread that waits for the launch throws the exception.
    return trap.rethrow_interrupt();
  }
  if (fault.signal != 0) fail_signal(launched, range, runner, fault);
  fail<KernelFaultError>("cpu: kernel '", launched.kernel->name, "' of ", launched.file, ": ",
                         runner.take_failure());
}

// A kernel that runs as loops keeps its indices in registers. It is run again, thread by thread, to
// find the thread that fails; the contents of its arrays are undefined after the fault anyway.
void Worker::fail_signal(const LaunchedKernel& launched, const sw_range& range, BlockRunner& runner,
                         const KernelFault& fault) {
  FaultTrap& trap = FaultTrap::current();
  std::string thread = runner.is_running() ? runner.running_thread() : "";
  runner.reset_after_signal();
  if (thread.empty()) {
    runner.limit_own_stack();
    const bool has_passed = try_run(runner, trap, launched, launched.kernel->run_slowly, range);
    const KernelFault second_fault = trap.take_fault();
    if (!has_passed && second_fault.signal == fault.signal && runner.is_running())
      thread = runner.running_thread();
    runner.reset_after_signal();
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
  static constexpr sw_runtime table{.run_blocks = run_blocks,
                                    .barrier = RunnerCall<&BlockRunner::barrier>::call,
                                    .barrier_vote = RunnerCall<&BlockRunner::barrier_vote>::call,
                                    .warp = RunnerCall<&BlockRunner::warp>::call,
                                    .active_mask = RunnerCall<&BlockRunner::active_mask>::call,
                                    .fail = fail_thread,
                                    .out_of_stack = out_of_stack,
                                    .access = RunnerCall<&BlockRunner::access>::call,
                                    .fence = RunnerCall<&BlockRunner::fence>::call,
                                    .returns = RunnerCall<&BlockRunner::returns>::call,
                                    .move = move,
                                    .set = set};
  return table;
}

}  // namespace spanwise::cpu_backend
