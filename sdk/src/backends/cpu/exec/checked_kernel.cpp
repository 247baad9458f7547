// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Launches under config kernel_check.

#include "backends/cpu/exec/launch_plan.hpp"
#include "backends/cpu/exec/worker.hpp"
#include "backends/cpu/jit/cpu_module.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
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

// Runs one block after the other in the calling thread, in the order that `check` requests.
void CpuKernel::launch_checked(const LaunchCheck& check, const Dim3& grid, const Dim3& block,
                               std::int64_t shared_bytes, void* const* arguments) {
  check_limits(kernel_->name, grid, block, shared_bytes);
  FaultTrap::install();
  const bool reverse = check.order == ExecutionOrder::reverse;
  const std::uint64_t seed = check.order == ExecutionOrder::random ? check.seed | 1u : 0;
  sw_range launch = launch_range(grid, block, arguments);
  AccessCheck memory({launch.grid, launch.block, check.races,
                      check.strict && !module_->has_addresses(), poison_of(check)});
  LaunchedKernel launched{kernel_, unit_.file, stack_need(unit_) + check_stack_bytes,
                          static_cast<std::size_t>(shared_bytes), reverse};
  launched.shuffle_seed = seed;
  launched.check = &memory;
  launched.may_hide_returns = unit_.checked == 2;
  launched.code = module_->code();
  launched.launcher = &FaultTrap::current();
  Worker& worker = Worker::current();
  // A run of no blocks makes the loader allocate the thread's variables, which describe_memory()
  // adds.
  worker.run(launched, launch);
  launched.shared_zone = shared_zone;
  char* shared = static_cast<char*>(worker.dynamic_shared(launched.shared_bytes + 2 * shared_zone));
  add_regions(memory, check, shared + shared_zone, launched.shared_bytes);
  module_->describe_memory(memory);
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
    const void* code = Worker::take_faulting_code();
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
