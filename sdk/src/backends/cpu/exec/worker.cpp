// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/worker.hpp"

#include <utility>

#include "backends/cpu/exec/stack_limit.hpp"
#include "backends/cpu/memory/memory_pool.hpp"
#include "spanwise/error.hpp"

namespace spanwise::host {
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
  const std::string place = file != nullptr ? text(file, ":", line) : text("line ", line);
  return text(what, ", ", place, ", in thread (", thread.x, ", ", thread.y, ", ", thread.z,
              ") of block (", block.x, ", ", block.y, ", ", block.z, ")");
}
void fail_thread(void* worker, const char* what, const char* file, int line, const sw_extent* block,
                 const sw_extent* thread) {
  blocks_of(worker).fail([&] { return failure_message(what, file, line, *block, *thread); });
}

void out_of_stack(void* worker, const sw_extent* block, const sw_extent* thread) {
  blocks_of(worker).fail_stack(*block, *thread);
}

thread_local const void* faulting_code = nullptr;

std::string where_beside(const sw_fence& red_zone, const char* address) {
  const auto distance = [](const char* a, const char* b) { return text(b - a, " bytes "); };
  if (address < red_zone.data) return distance(address, red_zone.data) + "before its first byte";
  return distance(red_zone.data, address) +
         text("behind its first byte, and it has ", red_zone.data_end - red_zone.data);
}

void out_of_bounds(void* worker, const sw_fence* red_zone, const char* address,
                   unsigned long long bytes, int writes, const void* code, const sw_extent* block,
                   const sw_extent* thread) {
  faulting_code = code;
  blocks_of(worker).fail([&] {
    const std::string what = red_zone->argument < 0
                                 ? "dynamic shared memory"
                                 : text("the array of argument ", red_zone->argument + 1);
    return text(writes != 0 ? "writes " : "reads ", bytes, " bytes outside of ", what, ", ",
                where_beside(*red_zone, address), ", in thread (", thread->x, ", ", thread->y, ", ",
                thread->z, ") of block (", block->x, ", ", block->y, ", ", block->z, ")");
  });
}

// A separate function, so that no local variable is live across the longjmp.
bool run_guarded(BlockRunner& blocks, const sw_kernel& kernel, const sw_range& range) {
  if (setjmp(blocks.escape()) != 0) return false;
  kernel.run(&range);
  return true;
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

// Makes the last red zone that of dynamic shared memory.
void* Worker::fenced_shared(std::size_t bytes, std::vector<sw_fence>& red_zones) {
  constexpr std::size_t room = 4096;
  char* data = static_cast<char*>(dynamic_shared(bytes + room));
  if (red_zones.empty() || red_zones.back().argument >= 0) red_zones.push_back({});
  red_zones.back() = {data, data + bytes + room, data, data + bytes, -1};
  return data;
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
  if (launched.red_zones == nullptr) {
    range.dynamic_shared = dynamic_shared(launched.shared_bytes);
  } else {
    range.dynamic_shared = fenced_shared(launched.shared_bytes, *launched.red_zones);
    check_ = {launched.red_zones->data(), static_cast<int>(launched.red_zones->size())};
    range.check = &check_;
  }
  const StackLimitGuard guard;
  blocks.limit_own_stack();
  const bool good = run_guarded(blocks, *launched.kernel, range);
  check_ = {};
  if (good) return;
  fail<DeviceError>("cpu: kernel '", launched.kernel->name, "' of ", launched.file, ": ",
                    blocks.take_failure());
}

const sw_runtime& runtime_table() {
  static constexpr sw_runtime table{run_blocks,  barrier,     barrier_vote, warp,
                                    active_mask, fail_thread, out_of_stack, out_of_bounds};
  return table;
}

}  // namespace spanwise::host
