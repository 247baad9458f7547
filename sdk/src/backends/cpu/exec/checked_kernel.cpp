// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Launches under config kernel_check.
#include <numeric>

#include "backends/cpu/exec/launch_plan.hpp"
#include "backends/cpu/exec/worker.hpp"
#include "backends/cpu/jit/cpu_module.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cpu_backend {
namespace {

using runtime::LaunchCheck;
using ExecutionOrder = LaunchCheck::ExecutionOrder;

/// The order of blocks: forward, reverse, or pseudo-random with a step coprime to their number.
class BlockOrder {
 public:
  BlockOrder(const LaunchCheck& check, std::uint64_t blocks) : blocks_(blocks) {
    if (check.order == ExecutionOrder::reverse) {
      first_ = blocks - 1;
      step_ = blocks - 1;
    } else if (check.order == ExecutionOrder::random && blocks > 2) {
      first_ = check.seed % blocks;
      step_ = check.seed / 7 % (blocks - 1) + 1;
      while (std::gcd(step_, blocks) != 1) step_ = step_ % (blocks - 1) + 1;
    }
  }
  // The number of blocks is below 2^63 (at most 2^31 along x and 2^16 along y and z), so the
  // product needs 128 bits.
  std::uint64_t block(std::uint64_t i) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((first_ + static_cast<Wide>(step_) * i) % blocks_);
  }

 private:
  std::uint64_t blocks_, first_ = 0, step_ = 1;
};

// Different in each order, so that a result that depends on undefined values differs.
unsigned char poison_of(const LaunchCheck& check) {
  switch (check.order) {
    case ExecutionOrder::forward:
      return 0xff;
    case ExecutionOrder::reverse:
      return 0;
    case ExecutionOrder::random:
      break;
  }
  return static_cast<unsigned char>(check.seed >> 8 | 1u);
}

// For the functions that check accesses.
constexpr std::size_t check_stack_bytes = 16 << 10;
// Inaccessible memory on both sides of dynamic shared memory.
constexpr std::size_t shared_zone = 4096;

void add_memory(AccessCheck& memory, const LaunchCheck& check, char* shared, std::size_t bytes) {
  for (const runtime::RedZone& zone : check.red_zones)
    memory.add({zone.begin, zone.end, zone.data, zone.data_end, zone.name});
  memory.ignore(&runtime_table(), &runtime_table() + 1);
  memory.add({shared - shared_zone, shared + bytes + shared_zone, shared, shared + bytes,
              "dynamic shared memory", true});
}

}  // namespace

std::string CpuKernel::with_lines(const Finding& finding) const {
  std::string message = finding.text;
  std::string line, other;
  if (finding.code != nullptr) line = module_->line_before(finding.code);
  if (finding.other_code != nullptr) other = module_->line_before(finding.other_code);
  if (!line.empty()) message += ", " + line;
  if (!other.empty()) message += (line.empty() ? ", " : " and ") + other;
  if (!finding.remedy.empty()) message += ". Remedy: " + finding.remedy;
  return message;
}

// Runs one block after the other in the calling thread, in the order requested.
void CpuKernel::launch_checked(const LaunchCheck& check, const Dim3& grid, const Dim3& block,
                               std::int64_t shared_bytes, void* const* arguments) {
  check_limits(kernel_->name, grid, block, shared_bytes);
  FaultTrap::install();
  sw_range launch = range_of(grid, block, arguments);
  AccessCheck memory({launch.grid, launch.block, check.races,
                      check.strict && !module_->has_addresses(), poison_of(check)});
  LaunchedKernel launched{kernel_, unit_.file, stack_need(unit_) + check_stack_bytes,
                          static_cast<std::size_t>(shared_bytes),
                          check.order == ExecutionOrder::reverse};
  if (check.order == ExecutionOrder::random) launched.shuffle = check.seed | 1u;
  launched.check = &memory;
  launched.returns_hidden = unit_.checked == 2;
  launched.code = module_->code();
  launched.launcher = &FaultTrap::current();
  Worker& worker = Worker::current();
  // An empty range makes the loader allocate the thread's variables.
  worker.run(launched, launch);
  launched.shared_zone = shared_zone;
  char* shared = static_cast<char*>(worker.dynamic_shared(launched.shared_bytes + 2 * shared_zone));
  add_memory(memory, check, shared + shared_zone, launched.shared_bytes);
  module_->describe_memory(memory);
  const std::uint64_t blocks = block_count(grid);
  const BlockOrder order(check, blocks);
  try {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      launch.first = order.block(i);
      launch.last = launch.first + 1;
      worker.run(launched, launch);
    }
  } catch (const KernelFaultError& error) {
    const Finding& found = memory.finding();
    const void* code = Worker::take_faulting_code();
    if (found.text.empty())
      fail<KernelFaultError>(with_lines(
          {error.what(), code, nullptr,
           code != nullptr ? "compare the index with the extent before the access" : ""}));
    fail<KernelFaultError>("cpu: kernel '", kernel_->name, "' of ", unit_.file, ": ",
                           with_lines(found));
  }
  if (check.findings == nullptr) return;
  check.findings->has_atomics |= memory.has_atomics();
  if (check.findings->suspect_access.empty() && !memory.suspect_access().text.empty())
    check.findings->suspect_access = with_lines(memory.suspect_access());
}

}  // namespace spanwise::cpu_backend
