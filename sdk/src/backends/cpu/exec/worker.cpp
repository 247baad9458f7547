// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/worker.hpp"

#include <cstdlib>
#include <new>

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

// On its own, so that no variable lives across the jump.
bool run_guarded(BlockRunner& blocks, const sw_kernel& kernel, const sw_range& range) {
  if (setjmp(blocks.escape()) != 0) return false;
  kernel.run(&range);
  return true;
}

}  // namespace

void Worker::Free::operator()(void* data) const noexcept { std::free(data); }

Worker& Worker::current() {
  // Large, so not in the thread's own block of variables.
  static thread_local const std::unique_ptr<Worker> worker = std::make_unique<Worker>();
  return *worker;
}

void* Worker::dynamic_shared(std::size_t bytes) {
  if (bytes > shared_bytes_) {
    constexpr std::size_t alignment = 256;
    const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
    shared_.reset(std::aligned_alloc(alignment, size));
    shared_bytes_ = shared_ ? size : 0;
    require<OutOfMemoryError>(shared_ != nullptr, "cpu: no memory for ", bytes,
                              " bytes of dynamic shared memory");
  }
  return shared_.get();
}

// Kernels of unknown depth have stacks of their own, so that they slow down nobody else.
BlockRunner& Worker::blocks_for(std::size_t stack_bytes) {
  if (stack_bytes < deep_from) return blocks_;
  if (!deep_blocks_) deep_blocks_ = std::make_unique<BlockRunner>();
  return *deep_blocks_;
}

void Worker::run(const LaunchedKernel& launched, sw_range range) {
  BlockRunner& blocks = blocks_for(launched.stack_bytes);
  blocks.reserve_stack(launched.stack_bytes);
  blocks.set_reverse(launched.reverse);
  range.worker = &blocks;
  range.dynamic_shared = dynamic_shared(launched.shared_bytes);
  if (run_guarded(blocks, *launched.kernel, range)) return;
  fail<DeviceError>("cpu: kernel '", launched.kernel->name, "' of ", launched.file, ": ",
                    blocks.take_failure());
}

const sw_runtime& runtime_table() {
  static constexpr sw_runtime table{run_blocks, barrier,     barrier_vote,
                                    warp,       active_mask, fail_thread};
  return table;
}

}  // namespace spanwise::host
