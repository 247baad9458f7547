// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/communicator.hpp"

#include <cstddef>
#include <mutex>
#include <utility>

#include "runtime/backend.hpp"
#include "runtime/collectives/calls.hpp"
#include "runtime/collectives/pending.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise {
Communicator::Communicator(Options options, Ref<CommunicatorEngine> engine,
                           Ref<CommunicatorMonitor> monitor)
    : options_(std::move(options)),
      engine_(std::move(engine)),
      monitor_(std::move(monitor)),
      sent_(static_cast<std::size_t>(options_.size)),
      received_(static_cast<std::size_t>(options_.size)) {}

void Communicator::check_usable() const {
  if (process_ != process_generation())
    fail<CollectiveError>("communicator ", name(),
                          ": it belongs to the parent of this process, which was forked; call "
                          "spanwise.collectives.init() in the child");
  if (is_usable_.load(std::memory_order_acquire)) return;
  throw CollectiveError(text("communicator ", name(), ": ", failure()), -1, {},
                        monitor_ ? monitor_->last_calls() : std::vector<std::string>{});
}

std::string Communicator::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Communicator::CallDescription Communicator::describe(Collective op, const Array& source,
                                                     const CollectiveOptions& options) const {
  return {op,
          options.reduction,
          options.peer,
          -1,
          source.dtype(),
          source.shape(),
          std::string(options.label)};
}

std::string Communicator::text_of(const CallDescription& call) const {
  if (call.op == Collective::barrier) return "barrier";
  std::string all(name_of(call.op));
  if (runtime::is_reduction(call.op)) all += text('(', name_of(call.reduction), ')');
  const bool sends = call.op == Collective::reduce || call.op == Collective::send;
  if (runtime::has_root(call.op) || runtime::is_message(call.op))
    all += text(sends ? " to rank " : " from rank ", call.peer);
  all += text(" of ", call.dtype, ' ', call.shape);
  if (!call.label.empty()) all += text(" (", call.label, ')');
  return all;
}

std::string Communicator::last_call() const {
  const std::lock_guard lock(mutex_);
  if (!last_) return "no call yet";
  return text("call ", last_->number, ": ", text_of(*last_));
}

Communicator::Pending Communicator::prepare(Collective op, const Array& source,
                                            const CollectiveOptions& options) {
  using namespace runtime;
  check_peer(op, options.peer, rank(), size());
  check_reduction(op, options.reduction, source.dtype());
  const Shape shape = result_shape(op, source.shape(), size());
  const Device engine_device = engine_->device(), source_device = working_device(source.device());
  Pending pending{{op, options.reduction, options.peer, {}, {}},
                  describe(op, source, options),
                  {},
                  false,
                  options.overlap,
                  -1};
  const bool at_root = !has_root(op) || options.peer == rank();
  const bool sends = op != Collective::recv && (op != Collective::broadcast || at_root);
  const bool receives = op != Collective::send && (op != Collective::reduce || at_root);
  if (options.out != nullptr) {
    const Array& out = *options.out;
    if (out.readonly()) fail<ReadOnlyError>(name_of(op), ": out is read-only");
    if (out.dtype() != source.dtype() || out.shape() != shape)
      fail<LayoutError>(name_of(op), ": expected out of ", source.dtype(), ' ', shape, ", got ",
                        out.dtype(), ' ', out.shape());
    pending.result = out;
  } else if (receives) {
    pending.result = empty(shape, source.dtype(), source_device);
  }
  if (op == Collective::send) pending.result = source;
  CollectiveCall& call = pending.call;
  if (receives) {
    const Array& result = pending.result;
    const bool direct =
        result.layout().is_row_major() && working_device(result.device()) == engine_device;
    call.target = direct ? result : empty(shape, source.dtype(), engine_device);
    pending.copies_back = !direct;
  }
  if (sends) {
    const Array moved = to_device(source, engine_device);
    const bool in_place = op != Collective::all_gather && op != Collective::reduce_scatter &&
                          op != Collective::all_to_all && moved.data() == call.target.data() &&
                          moved.layout().is_row_major();
    const bool overlaps = receives && !in_place && may_share_memory(moved, call.target);
    call.source = contiguous(moved, overlaps ? CopyMode::always : CopyMode::if_needed);
  }
  return pending;
}

Array Communicator::run(Collective op, const Array& source, const CollectiveOptions& options) {
  check_usable();
  std::optional<StreamGuard> guard;
  if (options.overlap && !engine_->device().is_cpu()) {
    if (!own_stream_) own_stream_ = Stream::create(engine_->device());
    guard.emplace(*own_stream_);
  }
  Pending pending = prepare(op, source, options);
  Array result = pending.result;
  if (in_group_)
    group_.push_back(std::move(pending));
  else
    start({&pending, 1});
  return result;
}

void Communicator::barrier() {
  check_usable();
  if (in_group_) fail<ArgumentError>("barrier: expected to be called outside a group");
  Pending pending{};
  start({&pending, 1});
  if (!engine_->device().is_cpu()) Stream::current(engine_->device()).synchronize();
  check_usable();
}

void Communicator::begin_group() {
  check_usable();
  if (in_group_) fail<ArgumentError>("group: communicator ", name(), " has an open group already");
  in_group_ = true;
}

void Communicator::end_group() {
  if (!in_group_) fail<ArgumentError>("group: communicator ", name(), " has no open group");
  in_group_ = false;
  std::vector<Pending> calls = std::exchange(group_, {});
  if (calls.empty()) return;
  check_usable();
  std::optional<StreamGuard> guard;
  if (own_stream_ && calls.front().overlap) guard.emplace(*own_stream_);
  start(calls);
}

void Communicator::cancel_group() noexcept {
  in_group_ = false;
  group_.clear();
}

void Communicator::note_start(Pending& pending) {
  const Collective op = pending.call.op;
  const auto peer = static_cast<std::size_t>(pending.call.peer);
  if (op == Collective::send)
    pending.description.number = pending.message = sent_[peer]++;
  else if (op == Collective::recv)
    pending.description.number = pending.message = received_[peer]++;
  else
    pending.description.number = collectives_++;
  const std::lock_guard lock(mutex_);
  last_ = pending.description;
}

void Communicator::start(std::span<Pending> calls) {
  for (Pending& pending : calls) note_start(pending);
  agree(calls);
  const Stream stream = Stream::current(engine_->device());
  for (const Pending& pending : calls) {
    if (pending.call.source.storage()) order_use(stream, pending.call.source, false);
    if (pending.call.target.storage()) order_use(stream, pending.call.target, true);
  }
  run_on_engine(calls, stream);
  for (const Pending& pending : calls)
    if (pending.copies_back) copy(pending.call.target, pending.result);
  if (!engine_->device().is_cpu()) note_queued(stream);
}

void Communicator::agree(std::span<const Pending> calls) {
  if (!monitor_ || size() == 1) return;
  std::vector<CommunicatorMonitor::Item> items;
  for (const Pending& pending : calls) {
    const CallDescription& call = pending.description;
    if (options_.checked_calls >= 0 && call.number >= options_.checked_calls) continue;
    if (pending.message < 0) {
      items.push_back({text("call ", call.number), {}, text_of(call)});
      continue;
    }
    const bool sends = call.op == Collective::send;
    const int from = sends ? rank() : call.peer, to = sends ? call.peer : rank();
    items.push_back({text("message ", call.number, " from rank ", from, " to rank ", to),
                     {from, to},
                     text(call.dtype, ' ', call.shape)});
  }
  if (items.empty()) return;
  monitor_->agree(items, calls.front().description.number, text_of(calls.front().description));
}

void Communicator::run_on_engine(std::span<const Pending> calls, const Stream& stream) {
  // The ranks have equal shapes: where one has no elements to move, none has.
  const auto moves_nothing = [](const CollectiveCall& call) {
    return call.op != Collective::barrier && call.source.size() == 0 && call.target.size() == 0;
  };
  try {
    if (calls.size() == 1) {
      if (!moves_nothing(calls.front().call)) engine_->run({&calls.front().call, 1}, stream);
      return;
    }
    std::vector<CollectiveCall> all;
    for (const Pending& pending : calls)
      if (!moves_nothing(pending.call)) all.push_back(pending.call);
    if (!all.empty()) engine_->run(all, stream);
  } catch (const CollectiveError& error) {
    fail_current(error.what());
  }
}

// Aborts the communicator, since this rank's calls no longer match those of the others, and throws.
void Communicator::fail_current(std::string reason) {
  std::string op;
  std::int64_t number = -1;
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) reason = failure_;  // another thread has aborted it: its reason
    if (last_) op = text_of(*last_), number = last_->number;
  }
  const std::string message = text("communicator ", name(), ", rank ", rank(), " of ", size(),
                                   ", call ", number, ", ", op, ": ", reason);
  if (monitor_) monitor_->report(message);
  std::vector<std::string> calls = monitor_ ? monitor_->last_calls() : std::vector<std::string>{};
  abort(message);
  std::string all = message;
  for (std::size_t i = 0; i < calls.size(); ++i) all += text("\n  rank ", i, ": ", calls[i]);
  throw CollectiveError(all, number, op, std::move(calls));
}

}  // namespace spanwise
