// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "backends/cpu/cpu_memory_pool.hpp"
#include "backends/cpu/cpu_settings.hpp"
#include "backends/cpu/exec/block_runner.hpp"
#include "backends/cpu/jit/cpu_module.hpp"
#include "backends/cpu/processor.hpp"
#include "backends/cpu/thread_pool.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/config.hpp"

namespace spanwise::cpu_backend {
namespace {

// The limits of GPUs since compute capability 3.0, and the shared memory of 9.0 (CUDA C++
// Programming Guide 13.0, table "Technical Specifications per Compute Capability"): launches that
// are valid here are valid there.
constexpr std::int64_t max_block_threads = 1024, max_block_z = 64;
constexpr std::int64_t max_grid_x = 2147483647, max_grid_yz = 65535;
constexpr std::int64_t max_shared = 232448;  // bytes

void check_extent(const char* kernel, const char* parameter, const Dim3& extents, const char* axis,
                  std::int64_t value, std::int64_t limit) {
  if (value >= 1 && value <= limit) return;
  const char* problem = value < 1 ? " is too small: " : " is too large: ";
  fail<KernelArgumentError>("kernel '", kernel, "': ", parameter, ' ',
                            runtime::extents_text(extents), problem, axis, " ", value,
                            ", expected 1 to ", limit);
}

sw_extent extent(const Dim3& dim) {
  return {static_cast<unsigned>(dim.x), static_cast<unsigned>(dim.y), static_cast<unsigned>(dim.z)};
}

// Settings of a launch, cached per thread until a setting changes.
struct LaunchSettings {
  bool reverse = false;
  std::size_t stack_bytes = 0;
};

LaunchSettings launch_settings() {
  static thread_local std::uint64_t seen = ~std::uint64_t{0};
  static thread_local LaunchSettings settings;
  const std::uint64_t version = config::version();
  if (seen != version) {
    settings = {reverse_order_setting(), stack_setting()};
    seen = version;
  }
  return settings;
}

[[noreturn]] void fail_bounds(const sw_kernel& kernel, const Dim3& grid, const Dim3& block) {
  const sw_bounds& bounds = kernel.bounds;
  const std::int64_t threads = block.x * block.y * block.z;
  if (bounds.max_threads != 0 && threads > bounds.max_threads)
    fail<KernelArgumentError>("kernel '", kernel.name, "': expected a block of at most ",
                              bounds.max_threads, " threads, as its __launch_bounds__ say, got ",
                              runtime::extents_text(block), ", ", threads,
                              " threads. Remedy: launch smaller blocks, or raise the bounds");
  const auto& [x, y, z] = bounds.cluster;
  fail<KernelArgumentError>(
      "kernel '", kernel.name, "': expected a grid of whole clusters, as its __cluster_dims__ (", x,
      ", ", y, ", ", z, ") say, got ", runtime::extents_text(grid), ". Remedy: round the grid up");
}

// Whether the kernel's attributes allow the launch.
bool is_within(const sw_bounds& bounds, const Dim3& grid, const Dim3& block) {
  if (bounds.max_threads != 0 && block.x * block.y * block.z > bounds.max_threads) return false;
  const auto& [x, y, z] = bounds.cluster;
  return x == 0 || (grid.x % x == 0 && grid.y % y == 0 && grid.z % z == 0);
}

// Throws KernelArgumentError if the launch exceeds the limits of GPUs or those of the kernel.
// `shared`: bytes of dynamic shared memory.
void check_limits(const sw_kernel& launched, const Dim3& grid, const Dim3& block,
                  std::int64_t shared) {
  const char* kernel = launched.name;
  check_extent(kernel, "block", block, "x", block.x, max_block_threads);
  check_extent(kernel, "block", block, "y", block.y, max_block_threads);
  check_extent(kernel, "block", block, "z", block.z, max_block_z);
  check_extent(kernel, "block", block, "threads", block.x * block.y * block.z, max_block_threads);
  check_extent(kernel, "grid", grid, "x", grid.x, max_grid_x);
  check_extent(kernel, "grid", grid, "y", grid.y, max_grid_yz);
  check_extent(kernel, "grid", grid, "z", grid.z, max_grid_yz);
  if (shared < 0 || shared > max_shared)
    fail<KernelArgumentError>("kernel '", kernel, "': shared memory of ", shared,
                              " bytes a block, expected 0 to ", max_shared);
  if (!is_within(launched.bounds, grid, block)) [[unlikely]]
    fail_bounds(launched, grid, block);
}

// Bytes of stack for a thread of a kernel of `module`, at least config "cpu_stack_kb".
std::size_t thread_stack_bytes(const sw_module& module) {
  return std::max(static_cast<std::size_t>(module.stack_bytes), launch_settings().stack_bytes);
}

// A range with the launch's extents and arguments, but without blocks.
sw_range launch_range(const Dim3& grid, const Dim3& block, void* const* arguments) {
  sw_range range{};
  range.arguments = arguments;
  range.grid = extent(grid);
  range.block = extent(block);
  return range;
}

std::uint64_t block_count(const Dim3& grid) {
  return static_cast<std::uint64_t>(grid.x) * static_cast<std::uint64_t>(grid.y) *
         static_cast<std::uint64_t>(grid.z);
}

// A kernel and the parameters of its launch.
struct LaunchedKernel {
  const sw_kernel* kernel;
  const char* file;               // of the user's source, for messages
  std::size_t stack_bytes;        // per thread
  std::size_t shared_bytes;       // dynamic shared memory of a block
  bool reverse;                   // as `shuffle_seed`, see BlockRunner::set_thread_order
  FaultTrap::CodeRange code{};    // of the module
  FaultTrap* launcher = nullptr;  // of the thread that waits for the launch
  std::uint64_t shuffle_seed = 0;
  AccessCheck* check = nullptr;  // checks each access
  std::size_t shared_zone = 0;   // bytes of the red zones around dynamic shared memory
};

// Stacks of at least this many bytes are for kernels with recursion or large arrays.
constexpr std::size_t large_stack_bytes = 64 << 10;

// The instruction at which a signal ended the calling thread's last run; null if unknown.
thread_local const void* faulting_code = nullptr;

// A call of a member of sw_kernel, for KernelStack::call().
struct KernelRun {
  void (*run)(const sw_range*);
  const sw_range* range;
  static void call(const void* run) {
    const auto& self = *static_cast<const KernelRun*>(run);
    self.run(self.range);
  }
};

// Returns false if the kernel failed. A separate function, so that no local variable is changed
// between setjmp and longjmp.
bool try_run(KernelStack& stack, BlockRunner& runner, FaultTrap& trap,
             const LaunchedKernel& launched, void (*run)(const sw_range*), const sw_range& range) {
  const KernelRun kernel_run{run, &range};
  const auto disarm = [](FaultTrap* armed) { armed->disarm(); };
  const std::unique_ptr<FaultTrap, decltype(disarm)> scope(&trap, disarm);
  // NOLINTNEXTLINE(cert-err52-cpp): see BlockRunner::leave_kernel()
  if (setjmp(runner.escape()) != 0) return false;
  trap.arm(runner.escape(), launched.code, launched.launcher);
  std::exception_ptr thrown = stack.call(KernelRun::call, &kernel_run);
  if (thrown == nullptr) return true;
  runner.set_exception(std::move(thrown));
  return false;
}

// Throws the exception that ended a run: the library's, or one that the kernel threw.
[[noreturn]] void rethrow(const LaunchedKernel& launched, const std::exception_ptr& exception) {
  std::string what;
  try {
    std::rethrow_exception(exception);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    what = text(": ", error.what());
  } catch (...) {  // of a type without a text
  }
  fail<KernelFaultError>("cpu: kernel '", launched.kernel->name, "' of ", launched.file,
                         ": a thread threw a C++ exception", what,
                         ". Remedy: device code cannot throw; write an error code to an array");
}

// "a thread of block (0, 0, 0)" or "a thread of blocks (0, 0, 0) to (3, 0, 0)".
std::string blocks_text(const sw_range& range) {
  const auto index = [&](std::uint64_t block) {
    return extent_text(position_of(block, range.grid));
  };
  if (range.last - range.first == 1) return "a thread of block " + index(range.first);
  return text("a thread of blocks ", index(range.first), " to ", index(range.last - 1));
}

// The state that one thread of the pool keeps between launches.
class Worker {
 public:
  // The calling thread's worker.
  static Worker& current() {
    // On the heap: too large for thread-local storage.
    static thread_local const std::unique_ptr<Worker> worker = std::make_unique<Worker>();
    return *worker;
  }

  // Runs blocks [range.first, range.last), with its own values of sw_range::worker, dynamic_shared
  // and checked. Throws KernelFaultError if a thread fails: assert, __trap, divergent barriers, a
  // signal.
  void run(const LaunchedKernel& launched, sw_range range) {
    BlockRunner& runner = runner_for(launched.stack_bytes);
    runner.reserve_stack(launched.stack_bytes);
    runner.set_thread_order(launched.reverse, launched.shuffle_seed);
    range.worker = &runner;
    range.dynamic_shared =
        static_cast<char*>(dynamic_shared(launched.shared_bytes + 2 * launched.shared_zone)) +
        launched.shared_zone;
    range.checked = launched.check != nullptr ? 1 : 0;
    runner.set_check(launched.check);
    FaultTrap& trap = FaultTrap::current();
    if (trap.is_armed())
      fail<DeviceError>("cpu: kernel '", launched.kernel->name,
                        "' was launched by a signal handler that interrupts a kernel of the same "
                        "thread. Remedy: set a flag in the handler, and launch later");
    const StackLimitGuard guard;
    runner.limit_own_stack();
    if (try_run(stack_, runner, trap, launched, launched.kernel->run, range)) return;
    if (const std::exception_ptr exception = runner.take_exception()) {
      runner.reset_after_signal();
      rethrow(launched, exception);
    }
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
  // A block's dynamic shared memory, at least `bytes` long; the same until more bytes are
  // requested.
  void* dynamic_shared(std::size_t bytes) {
    if (bytes > shared_.get_deleter().bytes) {
      // From the memory pool, so that a kernel that writes past its end does not corrupt the C
      // library's heap.
      shared_ = std::unique_ptr<void, Free>(CpuMemoryPool::instance().allocate(bytes), Free{bytes});
    }
    return shared_.get();
  }

 private:
  struct Free {
    std::size_t bytes;  // size of the allocation
    void operator()(void* data) const noexcept {
      CpuMemoryPool::instance().deallocate(data, bytes);
    }
  };
  // A kernel that runs as loops keeps its indices in registers. It is run again, thread by thread,
  // to find the thread that fails; the contents of its arrays are undefined after the fault anyway.
  [[noreturn]] void fail_signal(const LaunchedKernel& launched, const sw_range& range,
                                BlockRunner& runner, const KernelFault& fault) {
    FaultTrap& trap = FaultTrap::current();
    std::string thread = runner.is_running() ? runner.running_thread() : "";
    runner.reset_after_signal();
    if (thread.empty()) {
      runner.limit_own_stack();
      runner.set_silent(true);
      const bool has_passed =
          try_run(stack_, runner, trap, launched, launched.kernel->run_slowly, range);
      runner.set_silent(false);
      runner.take_exception();
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
  // Large stacks are separate, because other kernels would run slower on them.
  BlockRunner& runner_for(std::size_t stack_bytes) {
    if (stack_bytes < large_stack_bytes) return runner_;
    if (!large_stack_runner_) large_stack_runner_ = std::make_unique<BlockRunner>();
    return *large_stack_runner_;
  }

  KernelStack& stack_ = KernelStack::current();
  BlockRunner runner_;
  std::unique_ptr<BlockRunner> large_stack_runner_;
  std::unique_ptr<void, Free> shared_{nullptr, Free{0}};
};

void run_in_parallel(const LaunchedKernel& launched, const sw_range& launch, std::uint64_t blocks) {
  ThreadPool& pool = ThreadPool::instance();
  // Enough chunks to balance the load, few enough that their overhead is negligible.
  const std::uint64_t chunks = std::min(blocks, static_cast<std::uint64_t>(pool.workers()) * 16);
  const auto first_block = [&](std::uint64_t chunk) {
    return blocks / chunks * chunk + std::min(chunk, blocks % chunks);
  };
  pool.run(chunks, Helpers::when_worth_it, [&](std::uint64_t chunk) {
    if (launched.reverse) chunk = chunks - 1 - chunk;
    sw_range range = launch;
    range.first = first_block(chunk);
    range.last = first_block(chunk + 1);
    Worker::current().run(launched, range);
  });
}

}  // namespace

CpuKernel::CpuKernel(Ref<CpuModule> module, const sw_module& unit, const sw_kernel* kernel)
    : module_(std::move(module)), unit_(unit), kernel_(kernel) {}

std::vector<runtime::LoadedKernel::ParameterInfo> CpuKernel::parameter_info() const {
  std::vector<ParameterInfo> parameter_info;
  for (int i = 0; i < kernel_->parameter_count; ++i)
    parameter_info.push_back({kernel_->parameters[i].offset, kernel_->parameters[i].size});
  return parameter_info;
}

std::string CpuKernel::parameter_types() const {
  // "... [with T = {float*, int}]" (GCC) or "... [T = <float *, int>]" (Clang).
  const std::string_view text = kernel_->types();
  const std::size_t open = text.rfind("T = ");
  const std::size_t close = text.find_last_of("}>");
  if (open == text.npos || close == text.npos || close < open + 5) return {};
  return std::string(text.substr(open + 5, close - open - 5));
}

KernelAttributes CpuKernel::attributes() const {
  KernelAttributes attributes;
  attributes.static_shared_bytes = module_->static_shared_bytes();
  attributes.local_bytes = static_cast<std::int64_t>(unit_.stack_bytes);
  attributes.architecture = processor_architecture();
  if (kernel_->bounds.max_threads != 0)
    attributes.max_threads_per_block = std::min<int>(attributes.max_threads_per_block,
                                                     static_cast<int>(kernel_->bounds.max_threads));
  return attributes;
}

void CpuKernel::launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
                       runtime::StreamState&, void* const* arguments) {
  check_limits(*kernel_, grid, block, shared_bytes);
  FaultTrap::install();
  const LaunchedKernel launched{kernel_,
                                unit_.file,
                                thread_stack_bytes(unit_),
                                static_cast<std::size_t>(shared_bytes),
                                launch_settings().reverse,
                                module_->code(),
                                &FaultTrap::current()};
  run_in_parallel(launched, launch_range(grid, block, arguments), block_count(grid));
  // Kernels share stdout's buffer with the program; flush it here, because a GPU's output appears
  // at the next synchronization, and a launch on the CPU is synchronous.
  if (unit_.prints != 0) std::fflush(stdout);
}

void CpuKernel::launch_with(const runtime::LaunchAttributes& attributes, const Dim3& grid,
                            const Dim3& block, std::int64_t shared_bytes,
                            runtime::StreamState& stream, void* const* arguments) {
  const Dim3& cluster = attributes.cluster;
  if (cluster.x * cluster.y * cluster.z != 1)
    fail<KernelArgumentError>(
        "kernel '", kernel_->name, "': cluster ", runtime::extents_text(cluster),
        " is for GPUs of compute capability 9.0 and newer. Remedy: on the CPU leave cluster= out");
  if (attributes.check == nullptr || !checks())
    return launch(grid, block, shared_bytes, stream, arguments);
  launch_checked(*attributes.check, grid, block, shared_bytes, arguments);
}

int CpuKernel::max_active_blocks(int threads, std::int64_t shared_bytes) {
  const auto& [x, y, z] = kernel_->bounds.cluster;
  check_limits(*kernel_, x != 0 ? Dim3{x, y, z} : Dim3{}, {threads, 1, 1}, shared_bytes);
  return 1;  // a worker runs one block at a time
}

namespace {

using runtime::LaunchCheck;
using ExecutionOrder = LaunchCheck::ExecutionOrder;

// The value of undefined bytes: another one in each order, so that a result that depends on
// undefined values differs.
unsigned char poison_of(const LaunchCheck& check) {
  if (check.order != ExecutionOrder::random)
    return check.order == ExecutionOrder::forward ? 0xff : 0;
  return static_cast<unsigned char>(check.seed >> 8 | 1u);
}

// Stack of the functions that check accesses, in addition to the kernel's own.
constexpr std::size_t check_stack_bytes = 16 << 10;
// Bytes of the red zones before and behind dynamic shared memory.
constexpr std::size_t shared_zone = 4096;

// Adds the arrays, and `bytes` bytes of dynamic shared memory at `shared`.
void add_regions(AccessCheck& memory, const LaunchCheck& check, char* shared, std::size_t bytes) {
  for (const runtime::RedZone& zone : check.red_zones)
    memory.add({zone.begin, zone.end, zone.data, zone.data_end, zone.name});
  memory.ignore(&runtime_table(), &runtime_table() + 1);
  memory.add({shared - shared_zone, shared + bytes + shared_zone, shared, shared + bytes,
              "dynamic shared memory", true});
}

}  // namespace

std::string CpuKernel::finding_message(const Finding& finding) const {
  std::string message = finding.text;
  const char* separator = ", ";
  for (const void* code : {finding.code, finding.other_code}) {
    const std::string line = code != nullptr ? module_->line_before(code) : "";
    if (line.empty()) continue;
    message += separator + line;
    separator = " and ";
  }
  if (!finding.remedy.empty()) message += ". Remedy: " + finding.remedy;
  return message;
}

// A launch under config kernel_check: runs one block after the other in the calling thread, in the
// order that `check` requests.
void CpuKernel::launch_checked(const LaunchCheck& check, const Dim3& grid, const Dim3& block,
                               std::int64_t shared_bytes, void* const* arguments) {
  check_limits(*kernel_, grid, block, shared_bytes);
  FaultTrap::install();
  const bool reverse = check.order == ExecutionOrder::reverse;
  const std::uint64_t seed = check.order == ExecutionOrder::random ? check.seed | 1u : 0;
  sw_range launch = launch_range(grid, block, arguments);
  AccessCheck memory({launch.grid, launch.block, check.races,
                      check.strict && !module_->has_addresses(), poison_of(check)});
  LaunchedKernel launched{kernel_, unit_.file, thread_stack_bytes(unit_) + check_stack_bytes,
                          static_cast<std::size_t>(shared_bytes), reverse};
  launched.shuffle_seed = seed;
  launched.check = &memory;
  launched.code = module_->code();
  launched.launcher = &FaultTrap::current();
  Worker& worker = Worker::current();
  // A run of no blocks makes the loader allocate the thread's variables, which describe_memory()
  // adds.
  worker.run(launched, launch);
  launched.shared_zone = shared_zone;
  char* shared = static_cast<char*>(worker.dynamic_shared(launched.shared_bytes + 2 * shared_zone));
  add_regions(memory, check, shared + shared_zone, launched.shared_bytes);
  module_->describe_memory(memory, kernel_->name);
  const std::uint64_t blocks = block_count(grid);
  const IndexOrder order = index_order(blocks, reverse, seed);
  try {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      // 128 bits: a grid has up to 2^63 blocks (2^31 along x and 2^16 along y and z).
      __extension__ using Wide = unsigned __int128;
      launch.first =
          static_cast<std::uint64_t>((order.first + static_cast<Wide>(order.step) * i) % blocks);
      launch.last = launch.first + 1;
      worker.run(launched, launch);
    }
  } catch (const KernelFaultError& error) {
    const Finding& finding = memory.finding();
    const void* code = std::exchange(faulting_code, nullptr);
    if (finding.text.empty())  // a signal, whose message names the kernel
      fail<KernelFaultError>(finding_message(
          {error.what(), code, nullptr,
           code != nullptr ? "compare the index with the extent before the access" : ""}));
    fail<KernelFaultError>("cpu: kernel '", kernel_->name, "' of ", unit_.file, ": ",
                           finding_message(finding));
  }
  if (check.findings == nullptr) return;
  check.findings->has_atomics |= memory.has_atomics();
  if (check.findings->suspect_access.empty() && !memory.suspect_access().text.empty())
    check.findings->suspect_access = finding_message(memory.suspect_access());
}

}  // namespace spanwise::cpu_backend
