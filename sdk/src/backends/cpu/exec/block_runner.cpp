// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/block_runner.hpp"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

// By sw_barrier_op.
constexpr const char* barrier_names[] = {"__syncthreads()", "__syncthreads_count()",
                                         "__syncthreads_and()", "__syncthreads_or()"};

// The lane that `lane` reads (PTX ISA 8.8, shfl.sync); itself if the source is outside of its
// segment.
unsigned shuffle_source(int op, unsigned lane, const LaneCall& call) {
  const auto segment = static_cast<unsigned>(call.width) - 1;
  const auto distance = static_cast<unsigned>(call.lane);  // or lane, or mask
  const unsigned first = lane & ~segment, last = first | segment;
  if (op == sw_warp_shuffle) return first | (distance & segment);
  if (op == sw_warp_shuffle_up) return lane - first >= distance ? lane - distance : lane;
  if (op == sw_warp_shuffle_down) return last - lane >= distance ? lane + distance : lane;
  const unsigned source = lane ^ distance;
  return source <= last ? source : lane;
}

bool is_shuffle(int op) { return op >= sw_warp_shuffle && op <= sw_warp_shuffle_xor; }

void shuffle(const Warp::Group& group, LaneCall* calls, int poison) {
  for_each_lane(group.arrived, [&](unsigned lane) {
    LaneCall& call = calls[lane];
    const unsigned source = shuffle_source(group.op, lane, call);
    const std::uint64_t undefined =
        poison < 0 ? call.value : 0x0101010101010101u * static_cast<unsigned>(poison);
    call.result = (group.arrived >> source & 1u) != 0 ? calls[source].value : undefined;
  });
}

unsigned lanes_where(unsigned lanes, const LaneCall* calls, std::uint64_t value) {
  unsigned equal = 0;
  for_each_lane(lanes,
                [&](unsigned lane) { equal |= (calls[lane].value == value ? 1u : 0u) << lane; });
  return equal;
}

void match_any(const Warp::Group& group, LaneCall* calls) {
  for_each_lane(group.arrived, [&](unsigned lane) {
    calls[lane].result = lanes_where(group.arrived, calls, calls[lane].value);
  });
}

std::uint64_t reduce(int op, std::uint64_t a, std::uint64_t b) {
  const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
  const auto signed_x = static_cast<std::int32_t>(x), signed_y = static_cast<std::int32_t>(y);
  switch (op) {
    case sw_warp_add:
      return x + y;
    case sw_warp_min_signed:
      return signed_x < signed_y ? x : y;
    case sw_warp_max_signed:
      return signed_x > signed_y ? x : y;
    case sw_warp_min_unsigned:
      return std::min(x, y);
    case sw_warp_max_unsigned:
      return std::max(x, y);
    case sw_warp_and:
      return x & y;
    case sw_warp_or:
      return x | y;
    default:
      return x ^ y;
  }
}

std::uint64_t common_result(const Warp::Group& group, const LaneCall* calls) {
  const auto first = static_cast<unsigned>(std::countr_zero(group.arrived));
  const auto lanes_set = [&] { return group.arrived & ~lanes_where(group.arrived, calls, 0); };
  if (group.op == sw_warp_sync) return 0;
  if (group.op == sw_warp_ballot) return lanes_set();
  if (group.op == sw_warp_all) return lanes_set() == group.arrived ? 1 : 0;
  if (group.op == sw_warp_any) return lanes_set() != 0 ? 1 : 0;
  if (group.op == sw_warp_match_all) {
    const unsigned equal = lanes_where(group.arrived, calls, calls[first].value);
    return equal == group.arrived ? group.arrived : 0;
  }
  std::uint64_t sum = calls[first].value;
  for_each_lane(group.arrived & (group.arrived - 1),
                [&](unsigned lane) { sum = reduce(group.op, sum, calls[lane].value); });
  return sum;
}

// Whether the word that the thread of `call` waits for has another value than it waits on.
bool is_changed(const LaneCall& call) {
  const auto* word = reinterpret_cast<const unsigned*>(static_cast<std::uintptr_t>(call.value));
  return *static_cast<const volatile unsigned*>(word) != static_cast<unsigned>(call.width);
}

// Calls the module's function of a collective, which needs all lanes.
void call_module(const Warp::Group& group, LaneCall* calls) {
  std::array<sw_lane_call*, 32> lanes{};
  for_each_lane(group.arrived, [&](unsigned lane) {
    lanes[lane] = reinterpret_cast<sw_lane_call*>(calls[lane].value);
    calls[lane].result = group.arrived == ~0u ? 0 : 1;
  });
  if (group.arrived == ~0u) lanes[0]->run(lanes.data());
}

// The lane whose value `lane` gets by `call`; `lane` itself if `group` is no shuffle.
unsigned source_lane_of(const Warp::Group& group, unsigned lane, const LaneCall& call) {
  return is_shuffle(group.op) ? shuffle_source(group.op, lane, call) : lane;
}

// Computes the results of `group` for the lanes in it. `calls` are those of the warp's 32 lanes.
// The result of a shuffle from a lane that does not take part is undefined in CUDA; here it is
// bytes of the value `poison` or, if that is negative, the lane's own value.
void combine(const Warp::Group& group, LaneCall* calls, int poison) {
  if (is_shuffle(group.op)) return shuffle(group, calls, poison);
  if (group.op == sw_warp_match_any) return match_any(group, calls);
  if (group.op == sw_warp_call) return call_module(group, calls);
  const std::uint64_t result = common_result(group, calls);
  for_each_lane(group.arrived, [&](unsigned lane) { calls[lane].result = result; });
}

// "__shfl_down_sync", for messages.
std::string warp_op_name(int op) {
  static constexpr const char* names[sw_warp_op_count] = {
      "__syncwarp",        "__shfl_sync",       "__shfl_up_sync",      "__shfl_down_sync",
      "__shfl_xor_sync",   "__ballot_sync",     "__all_sync",          "__any_sync",
      "__match_any_sync",  "__match_all_sync",  "__reduce_add_sync",   "__reduce_min_sync",
      "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync",   "__reduce_and_sync",
      "__reduce_or_sync",  "__reduce_xor_sync", "a matrix instruction"};
  return op >= 0 && op < sw_warp_op_count ? names[op] : "warp collective";
}

// "0xffffffff"
std::string mask_text(unsigned mask) {
  std::ostringstream out;
  out << "0x" << std::hex << std::setw(8) << std::setfill('0') << mask;
  return out.str();
}

}  // namespace

IndexOrder index_order(std::uint64_t count, bool reverse, std::uint64_t seed) {
  if (seed == 0 || count <= 2) return reverse ? IndexOrder{count - 1, count - 1} : IndexOrder{};
  IndexOrder order{seed % count, seed / count % (count - 1) + 1};
  while (std::gcd(order.step, count) != 1) order.step = order.step % (count - 1) + 1;
  return order;
}

void BlockRunner::reserve_stack(std::size_t bytes) {
  if (!stacks_.reserve(bytes)) return;
  checks_stacks_ = stacks_.is_guarded();
  reset_fibers();
}

void BlockRunner::reset_fibers() {
  watch_.remove_all(stacks_.region());
  parked_.clear();
  parked_.reserve(FiberStacks::max_stacks + 1);  // switches store to elements, so no reallocation
  fibers_ = 0;
}

std::string BlockRunner::take_failure() {
  // After an escape, fibers are suspended within a kernel that has ended.
  if (std::exchange(is_aborting_, false)) reset_fibers();
  running_ = false;
  arrived_ = 0;
  for (Warp& warp : warps_) warp.group_count = 0;
  return std::exchange(failure_, {});
}

void BlockRunner::run(const sw_range& range, sw_block_function block, sw_thread_function thread,
                      const void* arguments) {
  range_ = &range;
  enter_block_ = block;
  run_thread_ = thread;
  arguments_ = arguments;
  block_ = range.first;
  if (block_ == range.last) return;
  prepare_block_shape(range.block);
  block_index_ = position_of(block_, range.grid);
  done_ = false;
  running_ = true;
  start_block();
  run_threads(0);
  running_ = false;
  check_stacks();
  if (check_ != nullptr) fail_unless(check_->finish_pending_store());
}

void BlockRunner::prepare_block_shape(const sw_extent& block) {
  count_ = block.x * block.y * block.z;
  const IndexOrder order = index_order(count_, reverse_, shuffle_seed_);
  first_ = static_cast<unsigned>(order.first);
  step_ = static_cast<unsigned>(order.step);
  if (block.x == shape_.x && block.y == shape_.y && block.z == shape_.z) return;
  shape_ = block;
  coordinates_.clear();
  for (unsigned z = 0; z < block.z; ++z)
    for (unsigned y = 0; y < block.y; ++y)
      for (unsigned x = 0; x < block.x; ++x) coordinates_.push_back({x, y, z});
}

void BlockRunner::start_block() {
  // No thread waits between blocks, so the numbers of barriers may restart; a block has far fewer
  // than 2^28 barriers.
  if (generation_ > 0xf0000000u) generation_ = first_generation;
  for (unsigned t = 0; t < count_; ++t) threads_[t].state = unstarted;
  for (unsigned w = 0; w * 32 < count_; ++w) {
    const unsigned lanes = count_ - w * 32;
    warps_[w].alive = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    warps_[w].group_count = 0;
  }
  live_ = count_;
  for (NamedBarrier& barrier : named_)
    if (barrier.arrived != 0) barrier = {};
  if (check_ != nullptr) start_check();
  enter_block_(block_index_.x, block_index_.y, block_index_.z);
  current_ = first_;
}

bool BlockRunner::next_block() {
  if (++block_ >= range_->last) return false;
  if (++block_index_.x == range_->grid.x) {
    block_index_.x = 0;
    if (++block_index_.y == range_->grid.y) {
      block_index_.y = 0;
      ++block_index_.z;
    }
  }
  start_block();
  return true;
}

// Sets the stack limit, which stacks of known depth do not need, and switches.
inline __attribute__((always_inline)) void BlockRunner::switch_to_fiber(StackPointer* from,
                                                                        StackPointer to,
                                                                        std::int32_t fiber) {
  if (checks_stacks_)
    set_stack_limit(fiber == 0 ? KernelStack::current().memory().data() : stacks_.low(fiber - 1));
  watch_.switch_to(from, to, fiber);
}

// Parks the running stack, `fiber`, and resumes the suspended thread `next` or, if that is
// `no_thread`, the worker's own stack.
inline __attribute__((always_inline)) void BlockRunner::park_and_resume(std::int32_t fiber,
                                                                        unsigned next) {
  SuspendedFiber target;
  if (next == no_thread) {
    const auto own = std::ranges::find(parked_, 0, &SuspendedFiber::fiber);
    target = *own;
    parked_.erase(own);
  } else {
    current_ = next;
    target = {threads_[next].stack, threads_[next].fiber};
    prefetch_stack(threads_[after(next)].stack);
  }
  parked_.push_back({nullptr, fiber});
  switch_to_fiber(&parked_.back().stack, target.stack, target.fiber);
}

inline __attribute__((always_inline)) void BlockRunner::end_thread() {
  threads_[current_].state = ended;
  --live_;
  if (check_ != nullptr && !returned_.test(current_)) passed_end_.set(current_);
  Warp& warp = warps_[current_ / 32];
  warp.alive &= ~(1u << current_ % 32);
  if (warp.group_count > 0) release_groups(current_ / 32);
  if (arrived_ == live_ && arrived_ > 0) release_barrier();
}

void BlockRunner::fiber_entry(void* runner) {
  auto& self = *static_cast<BlockRunner*>(runner);
  self.watch_.entered();
  try {
    self.run_threads(self.threads_[self.current_].fiber);
  } catch (...) {
    self.exception_ = std::current_exception();
  }
  self.leave_kernel();  // after the handler: longjmp does not end it
}

// Runs threads on the running stack, `fiber`. On the worker's own stack it returns when all blocks
// are done; on other stacks it never returns.
void BlockRunner::run_threads(std::int32_t fiber) {
  for (;;) {
    Thread& thread = threads_[current_];
    thread.state = ready;
    thread.fiber = fiber;
    const sw_extent& index = coordinates_[current_];
    run_thread_(arguments_, index.x, index.y, index.z);
    end_thread();
    if (live_ == 0) {
      if (next_block()) continue;
      if (fiber == 0) return;
      done_ = true;
    }
    const unsigned next = done_ ? no_thread : next_runnable();
    if (next != no_thread && threads_[next].state == unstarted) {
      current_ = next;
      continue;
    }
    park_and_resume(fiber, next);
    if (is_aborting_) leave_kernel();
    if (done_ && fiber == 0) return;
  }
}

void BlockRunner::limit_own_stack() const {
  if (checks_stacks_) set_stack_limit(KernelStack::current().memory().data());
}

// A stack on which a thread can start.
BlockRunner::SuspendedFiber BlockRunner::take_fiber() {
  if (!parked_.empty()) {
    const SuspendedFiber fiber = parked_.back();
    parked_.pop_back();
    if (!parked_.empty()) prefetch_stack(parked_.back().stack);
    return fiber;
  }
  const auto stack = stacks_.prepare(fibers_++);
  watch_.add(fibers_, stack);
  return {make_stack(stack.data(), stack.size(), fiber_entry, this), fibers_};
}

// Suspends the running thread and continues with `next`.
void BlockRunner::suspend_for(unsigned next) {
  Thread& self = threads_[current_];
  Thread& target = threads_[next];
  if (&self == &target) return;
  if (checks_stacks_) check_stack(self.fiber);
  current_ = next;
  if (target.state == unstarted) {
    const SuspendedFiber fiber = take_fiber();
    target.state = ready;
    target.fiber = fiber.fiber;
    switch_to_fiber(&self.stack, fiber.stack, fiber.fiber);
  } else {
    switch_to_fiber(&self.stack, target.stack, target.fiber);
  }
  if (is_aborting_) [[unlikely]]
    leave_kernel();
}

void BlockRunner::wait() { suspend_for(next_runnable()); }

unsigned BlockRunner::find_runnable() const {
  unsigned t = current_;
  for (unsigned n = 0; n < count_; ++n) {
    t = after(t);
    if (is_runnable(threads_[t].state)) return t;
  }
  return no_thread;
}

// next_runnable() where the next thread in order is not runnable.
unsigned BlockRunner::search_runnable() {
  unsigned next = find_runnable();
  if (next == no_thread && try_release_converged()) next = find_runnable();
  if (next == no_thread) fail_deadlock();
  return next;
}

// Barriers of a block, and collectives of its warps.

void BlockRunner::begin_barrier(int op, int line) {
  if (!running_) fail_undetected("a barrier", line);
  barrier_op_ = op;
  barrier_line_ = line;
  votes_ = 0;
}

int BlockRunner::barrier_vote(int op, int predicate, int line) {
  if (arrived_ == 0) begin_barrier(op, line);
  if (barrier_line_ != line || barrier_op_ != op) fail_divergence(op, line);
  votes_ += predicate;
  const std::uint32_t mine = generation_;
  if (++arrived_ == live_) {
    release_barrier();
  } else {
    threads_[current_].state = mine;
    wait();
  }
  return results_[mine & 1u];
}

// Makes all threads that wait for the current barrier runnable by a new generation, without writing
// to each.
void BlockRunner::release_barrier() {
  FaultTrap::poll();
  if (check_ != nullptr) [[unlikely]]
    check_barrier();
  const int threads = static_cast<int>(arrived_);
  int result = votes_;
  if (barrier_op_ == sw_barrier_and) result = votes_ == threads ? 1 : 0;
  if (barrier_op_ == sw_barrier_or) result = votes_ > 0 ? 1 : 0;
  results_[generation_ & 1u] = result;
  arrived_ = 0;
  ++generation_;
}

void BlockRunner::watch(const unsigned* word, unsigned value, int line) {
  if (!running_) fail_undetected("a wait for a barrier", line);
  LaneCall& call = calls_[current_];
  call.value = reinterpret_cast<std::uintptr_t>(word);
  call.width = static_cast<int>(value);
  call.line = line;
  if (!is_changed(call)) {
    threads_[current_].state = watching;
    wait();
  }
  if (check_ != nullptr) fail_unless(check_->barrier());
}

void BlockRunner::named_barrier(unsigned id, unsigned count, int waits, int line) {
  if (!running_) fail_undetected("bar.sync", line);
  if (id >= named_.size() || count == 0 || count > count_)
    fail([&] {
      return text(thread_label(current_), " calls bar.sync in line ", line, " with barrier ", id,
                  " and ", count, " threads; expected 0 to ", named_.size() - 1, " and 1 to ",
                  count_);
    });
  NamedBarrier& barrier = named_[id];
  if (barrier.arrived > 0 && barrier.expected != count)
    fail([&] {
      return text(thread_label(current_), " calls bar.sync in line ", line, " for ", count,
                  " threads, but barrier ", id, " waits for ", barrier.expected,
                  ". All calls for one barrier must give the same number");
    });
  barrier.expected = count;
  if (++barrier.arrived == count) {
    FaultTrap::poll();
    if (check_ != nullptr) fail_unless(check_->barrier());
    for (unsigned t = 0; t < count_; ++t)
      if (barrier.waiting.test(t)) threads_[t].state = ready;
    barrier = {};
    return;
  }
  if (waits == 0) return;
  barrier.waiting.set(current_);
  calls_[current_].line = line;
  threads_[current_].state = in_collective;
  wait_in_collective();
}

unsigned long long BlockRunner::warp(int op, unsigned mask, unsigned long long value, int lane,
                                     int width, int line) {
  const unsigned me = current_, bit = 1u << me % 32;
  Warp& warp = warps_[me / 32];
  Warp::Group* group = &warp.groups[0];
  const bool joins_only_group = warp.group_count == 1 && group->mask == mask && group->op == op;
  if (!joins_only_group || (mask & bit) == 0) [[unlikely]]
    group = &join_group(warp, op, mask, line);
  group->arrived |= bit;
  // Member by member: copying a temporary struct would load it right after it was stored in pieces.
  LaneCall& call = calls_[me];
  call.value = value;
  call.lane = lane;
  call.width = width;
  call.line = line;
  if (is_complete(warp, *group)) {
    complete_group(me / 32, *group);
    return calls_[me].result;
  }
  Thread& thread = threads_[me];
  thread.state = in_collective;
  const unsigned next = after(me);
  if (next / 32 == me / 32 && threads_[next].state == ready && !checks_stacks_)
    resume(thread, next, threads_[next]);
  else
    wait_in_collective();
  return calls_[me].result;
}

// The group of the collectives of `warp` that the running lane takes part in by a call.
Warp::Group& BlockRunner::join_group(Warp& warp, int op, unsigned mask, int line) {
  if (!running_) fail_undetected("a warp collective", line);
  if ((mask >> current_ % 32 & 1u) == 0)
    fail([&] {
      return text(thread_label(current_), " calls ", warp_op_name(op), " in line ", line,
                  " with the mask ", mask_text(mask),
                  ", which leaves out the calling lane. A lane must name itself");
    });
  for (int i = 0; i < warp.group_count; ++i) {
    Warp::Group& group = warp.groups[i];
    if (group.mask != mask) continue;
    if (group.op != op)
      fail([&] {
        return text(thread_label(current_), " calls ", warp_op_name(op), " in line ", line,
                    " while lanes of its warp wait for it at ", warp_op_name(group.op), " in line ",
                    group.line, ". All lanes of the mask must reach the same call");
      });
    return group;
  }
  // Each group has a lane that waits in no other group, so there are at most 32.
  Warp::Group& group = warp.groups[warp.group_count++];
  group = {mask, 0, op, line};
  return group;
}

bool BlockRunner::is_complete(const Warp& warp, const Warp::Group& group) {
  return (group.arrived & warp.alive) == (group.mask & warp.alive);
}

// Continues with lanes of the same warp first, so that the collective completes soon and few stacks
// are used meanwhile.
void BlockRunner::wait_in_collective() {
  const unsigned next = runnable_lane();
  next != no_thread ? suspend_for(next) : wait();
}

// Another lane of the running thread's warp that can run.
unsigned BlockRunner::runnable_lane() const {
  const unsigned base = current_ / 32 * 32;
  const unsigned lanes = count_ - base < 32 ? count_ - base : 32;
  for (unsigned n = 1, lane = current_ - base; n < lanes; ++n) {
    lane = reverse_ ? (lane == 0 ? lanes - 1 : lane - 1) : (lane + 1 == lanes ? 0 : lane + 1);
    if (is_runnable(threads_[base + lane].state)) return base + lane;
  }
  return no_thread;
}

// Lanes in step. A lane waits until no other lane of its warp can run. Those that wait at the
// lowest address in the code continue together: the others are at statements that follow, where
// these arrive later, or in another branch.
void BlockRunner::step(const void* code) {
  // Code of the module that runs before run(): what a lane stored in an earlier launch, which a
  // fault may have ended, must not suspend it.
  if (!running_) return;
  FaultTrap::poll();
  threads_[current_].state = stepping;
  steps_[current_] = reinterpret_cast<std::uintptr_t>(code) - 1;  // null becomes the last
  if (code == nullptr) return wait();
  const unsigned me = current_;
  unsigned next = runnable_lane();
  if (next == no_thread) {
    release_step(me / 32);
    if (threads_[me].state == ready) return;
    next = runnable_lane();
  }
  suspend_for(next);
}

bool BlockRunner::release_step(unsigned warp) {
  const unsigned base = warp * 32, end = std::min(base + 32, count_);
  std::uintptr_t first = 0;
  bool has_released = false;
  for (unsigned t = base; t < end; ++t)
    if (threads_[t].state == stepping && (!has_released || steps_[t] < first)) {
      first = steps_[t];
      has_released = true;
    }
  for (unsigned t = base; t < end; ++t)
    if (threads_[t].state == stepping && steps_[t] == first) threads_[t].state = ready;
  return has_released;
}

void BlockRunner::complete_group(unsigned warp, Warp::Group& group) {
  if (check_ != nullptr) [[unlikely]]
    check_collective(warp, group);
  combine(group, &calls_[warp * 32], check_ != nullptr ? check_->poison() : -1);
  for_each_lane(group.arrived, [&](unsigned lane) {
    Thread& thread = threads_[warp * 32 + lane];
    if (thread.state == in_collective) thread.state = ready;
  });
  group = warps_[warp].groups[--warps_[warp].group_count];
}

// Completes the collectives that lacked only a lane that has ended.
void BlockRunner::release_groups(unsigned warp) {
  Warp& lanes = warps_[warp];
  for (int i = lanes.group_count - 1; i >= 0; --i)
    if (is_complete(lanes, lanes.groups[i])) complete_group(warp, lanes.groups[i]);
}

unsigned BlockRunner::active_mask(int line) {
  if (!running_) fail_undetected("__activemask()", line);
  const unsigned me = current_;
  calls_[me].line = line;
  threads_[me].state = converging;
  wait_in_collective();
  return static_cast<unsigned>(calls_[me].result);
}

// Called if no thread is runnable: the lanes of a warp that wait at the same __activemask(), or in
// step(), have converged there, or words that threads watch have changed. Makes them runnable and
// returns whether there were any.
bool BlockRunner::try_release_converged() {
  bool has_released = false;
  for (unsigned warp = 0; warp * 32 < count_; ++warp) has_released |= release_step(warp);
  for (unsigned t = 0; t < count_; ++t)
    if (threads_[t].state == watching && is_changed(calls_[t])) {
      threads_[t].state = ready;
      has_released = true;
    }
  if (has_released) return true;
  for (unsigned t = 0; t < count_; ++t) {
    if (threads_[t].state != converging) continue;
    unsigned lanes = 0;
    const unsigned base = t / 32 * 32;
    for (unsigned peer = base; peer < base + 32 && peer < count_; ++peer)
      if (threads_[peer].state == converging && calls_[peer].line == calls_[t].line)
        lanes |= 1u << (peer - base);
    for_each_lane(lanes, [&](unsigned lane) {
      calls_[base + lane].result = lanes;
      threads_[base + lane].state = ready;
    });
    has_released = true;
  }
  return has_released;
}

// Checks at the barriers and collectives of checked kernels (config kernel_check).

void BlockRunner::start_check() {
  returned_.reset();
  passed_end_.reset();
  const auto own = KernelStack::current().memory();  // local variables of threads on fiber 0
  check_->ignore(own.data(), own.data() + own.size());
  fail_unless(check_->start_block(block_, count_));
}

// A thread that leaves the kernel by a return statement counts as arrived. A thread that reaches
// the end of the kernel has skipped the barrier at which others wait.
void BlockRunner::check_barrier() {
  fail_unless(check_->barrier());
  if (arrived_ == 0 || passed_end_.none()) return;
  unsigned passed = 0, waiting = 0;
  while (!passed_end_.test(passed)) ++passed;
  while (waiting < count_ && threads_[waiting].state != generation_) ++waiting;
  if (waiting == count_) waiting = current_;  // the last to arrive
  fail([&] {
    return text("divergent barrier: ", thread_label(passed), " has ended without the ",
                awaited_call(waiting), " that ", thread_label(waiting),
                " has reached. Every thread of a block that has not returned must reach the same "
                "barrier; move it out of the condition");
  });
}

void BlockRunner::check_collective(unsigned warp, const Warp::Group& group) {
  fail_unless(check_->collective(warp, group.arrived));
  const unsigned first = warp * 32;
  for_each_lane(group.mask & ~group.arrived, [&](unsigned lane) {
    const unsigned thread = first + lane;
    if (thread >= count_ || !passed_end_.test(thread)) return;
    fail([&] {
      return text("wrong mask: ", thread_label(thread), " has ended without the ",
                  warp_op_name(group.op), " in line ", group.line, " whose mask ",
                  mask_text(group.mask),
                  " names it. Every lane of a mask that has not returned must make the call; use "
                  "__ballot_sync() for the mask of a condition");
    });
  });
  for_each_lane(group.arrived, [&](unsigned lane) {
    const unsigned source = source_lane_of(group, lane, calls_[first + lane]);
    if ((group.arrived >> source & 1u) != 0) return;
    check_->suspect({text(thread_label(first + lane), " reads lane ", source, " by ",
                          warp_op_name(group.op), " in line ", calls_[first + lane].line,
                          ", which does not take part in it (mask ", mask_text(group.mask), ")"),
                     nullptr, nullptr, "name in the mask every lane that is read"});
  });
}

// Failures: how a kernel is left, and the messages.

// Switches to fiber 0 first: in builds with a sanitizer longjmp to escape() must stay within one
// stack, which that fiber shares with it.
void BlockRunner::leave_kernel() {
  const bool was_aborting = std::exchange(is_aborting_, running_);
  // NOLINTNEXTLINE(cert-err52-cpp): a kernel is left from any of its functions
  if (!running_ || was_aborting || threads_[current_].fiber == 0) std::longjmp(escape_, 1);
  StackPointer own = nullptr;  // parked, or of a suspended thread
  for (const SuspendedFiber& parked : parked_)
    if (parked.fiber == 0) own = parked.stack;
  for (unsigned t = 0; own == nullptr; ++t)
    if (threads_[t].state != unstarted && threads_[t].state != ended && threads_[t].fiber == 0)
      own = threads_[t].stack;
  StackPointer unused;
  watch_.switch_to(&unused, own, 0);
  std::abort();  // not reached
}

std::string BlockRunner::thread_label(unsigned thread) const {
  return thread_text(coordinates_[thread], block_index_);
}

// "__syncthreads() in line 12".
std::string BlockRunner::awaited_call(unsigned thread) const {
  const LaneCall& call = calls_[thread];
  if (threads_[thread].state == converging) return text("__activemask() in line ", call.line);
  if (threads_[thread].state == watching)
    return text("the wait for a cuda::barrier or pipeline in line ", call.line);
  if (threads_[thread].state != in_collective)
    return text(barrier_names[barrier_op_], " in line ", barrier_line_);
  for (std::size_t id = 0; id < named_.size(); ++id)
    if (named_[id].waiting.test(thread))
      return text("bar.sync ", id, ", ", named_[id].expected, " in line ", call.line);
  const Warp& warp = warps_[thread / 32];
  for (int i = 0; i < warp.group_count; ++i) {
    const Warp::Group& group = warp.groups[i];
    if ((group.arrived >> thread % 32 & 1u) != 0)
      return text(warp_op_name(group.op), " in line ", call.line, " with the mask ",
                  mask_text(group.mask));
  }
  return "a warp collective";
}

void BlockRunner::fail_divergence(int op, int line) {
  fail([&] {
    unsigned waiting = 0;
    while (threads_[waiting].state != generation_) ++waiting;
    return text("threads of one block are at different barriers: ", thread_label(current_), " at ",
                barrier_names[op], " in line ", line, ", thread ",
                extent_text(coordinates_[waiting]), " at ", awaited_call(waiting),
                ". Every thread of a block that has not returned must reach the same barrier");
  });
}

void BlockRunner::fail_deadlock() {
  fail([&] {
    // Call -> a thread that waits at it, and the number of such threads.
    std::map<std::string, std::pair<unsigned, int>> calls;
    for (unsigned t = 0; t < count_; ++t) {
      if (threads_[t].state == ended || threads_[t].state == unstarted) continue;
      auto& [example, count] = calls.try_emplace(awaited_call(t), t, 0).first->second;
      ++count;
    }
    std::string list;
    for (const auto& [call, threads] : calls)
      list += text(list.empty() ? "" : "; ", thread_label(threads.first), " waits at ", call, " (",
                   threads.second, threads.second == 1 ? " thread)" : " threads)");
    return text("threads of one block wait for one another for ever: ", list,
                ". Every lane of a mask, and every thread of a block, must reach the same call");
  });
}

// The threads of a kernel that has no barrier, as far as its source shows, run as a loop, in which
// they cannot wait.
void BlockRunner::fail_undetected(const char* call, int line) {
  fail([&] {
    return text(
        call, " in line ", line,
        " is reached by a way that the source does not show, such as a name that a macro pastes "
        "together. Call it by its name");
  });
}

// Threads of one kernel need similar amounts of stack, so checking a few is enough.
void BlockRunner::check_stacks() {
  for (int n = std::min(fibers_, 8); n > 0; --n) {
    last_checked_stack_ = last_checked_stack_ % fibers_ + 1;
    check_stack(last_checked_stack_);
  }
}

// The worker's KernelStack, fiber 0, is between inaccessible pages.
void BlockRunner::check_stack(std::int32_t fiber) {
  if (fiber == 0 || stacks_.is_intact(fiber - 1)) return;
  std::string message = stack_message(fiber);
  if (!running_) reset_fibers();
  fail([&] { return std::move(message); });
}

std::string BlockRunner::stack_message(std::int32_t fiber) const {
  if (fiber == 0)
    return text("a thread used more than the ", KernelStack::current().memory().size(),
                " bytes of its processor's stack. Recurse less deeply, or start the program with a "
                "larger stack (ulimit -s)");
  return text("a thread used more than its ", stacks_.stack_bytes(),
              " bytes of stack. Set config cpu_stack_kb higher, or recurse less deeply");
}

void* BlockRunner::allocate(std::size_t bytes) {
  FaultTrap::poll();
  const FaultTrap::Hold hold;
  return check_ != nullptr ? check_->heap().allocate(bytes) : DeviceHeap::allocate(bytes);
}

bool BlockRunner::release(void* address) {
  if (address == nullptr) return true;
  const FaultTrap::Hold hold;
  return check_ != nullptr ? check_->heap().release(address) : DeviceHeap::release(address);
}

// The text is made before it is printed: arguments that do not fit their conversions may fault, and
// no lock of stdout must be held then.
int BlockRunner::print(const char* format, std::va_list& arguments) {
  FaultTrap::poll();
  static thread_local std::array<char, 4096> short_text;
  std::va_list copied;
  va_copy(copied, arguments);
  const int length = std::vsnprintf(short_text.data(), short_text.size(), format, copied);
  va_end(copied);
  if (length < 0 || is_silent_) return length;
  const FaultTrap::Hold hold;
  const auto size = static_cast<std::size_t>(length);
  if (size < short_text.size()) {
    std::fwrite(short_text.data(), 1, size, stdout);
  } else {
    std::string all(size, ' ');
    std::vsnprintf(all.data(), size + 1, format, arguments);
    std::fwrite(all.data(), 1, size, stdout);
  }
  return length;
}

void BlockRunner::fail_stack(const sw_extent& block, const sw_extent& thread) {
  fail([&] {
    return text(stack_message(running_ ? threads_[current_].fiber : 0), ", in ",
                thread_text(thread, block));
  });
}

namespace {

BlockRunner& block_runner_of(void* worker) { return *static_cast<BlockRunner*>(worker); }

// A member function of BlockRunner as a function of sw_runtime.
template <auto Method>
struct RunnerCall;
template <class R, class... A, R (BlockRunner::*Method)(A...)>
struct RunnerCall<Method> {
  static R call(void* worker, A... arguments) {
    return (block_runner_of(worker).*Method)(arguments...);
  }
};

void run_blocks(const sw_range* range, sw_block_function block, sw_thread_function thread,
                const void* arguments) {
  block_runner_of(range->worker).run(*range, block, thread, arguments);
}

void fail_thread(void* worker, const char* problem, const char* file, int line,
                 const sw_extent* block, const sw_extent* thread) {
  block_runner_of(worker).fail([&] {
    const std::string location = file != nullptr ? text(", ", file, ":", line)
                                 : line > 0      ? text(", line ", line)
                                                 : "";
    return text(problem, location, ", in ", thread_text(*thread, *block));
  });
}

void out_of_stack(void* worker, const sw_extent* block, const sw_extent* thread) {
  block_runner_of(worker).fail_stack(*block, *thread);
}

int print(void* worker, const char* format, void* arguments) {
  return block_runner_of(worker).print(format, *static_cast<std::va_list*>(arguments));
}

void move(void* to, const void* from, unsigned long long bytes) { std::memmove(to, from, bytes); }
void set(void* to, int value, unsigned long long bytes) { std::memset(to, value, bytes); }

}  // namespace

const sw_runtime& runtime_table() {
  static constexpr sw_runtime table{.run_blocks = run_blocks,
                                    .barrier = RunnerCall<&BlockRunner::barrier>::call,
                                    .barrier_vote = RunnerCall<&BlockRunner::barrier_vote>::call,
                                    .watch = RunnerCall<&BlockRunner::watch>::call,
                                    .named_barrier = RunnerCall<&BlockRunner::named_barrier>::call,
                                    .warp = RunnerCall<&BlockRunner::warp>::call,
                                    .active_mask = RunnerCall<&BlockRunner::active_mask>::call,
                                    .step = RunnerCall<&BlockRunner::step>::call,
                                    .fail = fail_thread,
                                    .out_of_stack = out_of_stack,
                                    .allocate = RunnerCall<&BlockRunner::allocate>::call,
                                    .release = RunnerCall<&BlockRunner::release>::call,
                                    .print = print,
                                    .access = RunnerCall<&BlockRunner::access>::call,
                                    .fence = RunnerCall<&BlockRunner::fence>::call,
                                    .returns = RunnerCall<&BlockRunner::returns>::call,
                                    .move = move,
                                    .set = set};
  return table;
}

}  // namespace spanwise::cpu_backend
