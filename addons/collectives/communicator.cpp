// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/collectives/communicator.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "spanwise/core/fork.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

// The collective operations and their rules, which are the same for all engines; the registries of
// engines and communicators; and the communicator: its calls, and its end by an error, by a time
// limit or by close().
namespace spanwise {
namespace {

constexpr std::array<std::string_view, 9> collective_names{
    "all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter",
    "all_to_all", "send",   "recv",      "barrier"};
constexpr std::array<std::string_view, 5> reduction_names{"sum", "prod", "min", "max", "mean"};

// The texts of the names, or of `name_of(item)` for each, with commas between them.
template <class Items, class Name = std::identity>
std::string listed(const Items& items, Name name_of = {}) {
  std::string all;
  for (const auto& item : items) all += text(all.empty() ? "" : ", ", name_of(item));
  return all;
}

template <class E, std::size_t n>
E collective_enum_named(const char* noun, const std::array<std::string_view, n>& names,
                        std::string_view name) {
  const auto entry = std::ranges::find(names, name);
  if (entry == names.end())
    fail<ArgumentError>("collectives: expected ", noun, " of ", listed(names), ", got \"", name,
                        '"');
  return static_cast<E>(entry - names.begin());
}

constexpr bool is_message(Collective op) noexcept {
  return op == Collective::send || op == Collective::recv;
}
constexpr bool is_reduction(Collective op) noexcept {
  return op == Collective::all_reduce || op == Collective::reduce ||
         op == Collective::reduce_scatter;
}
constexpr bool has_root(Collective op) noexcept {
  return op == Collective::reduce || op == Collective::broadcast;
}

constexpr std::uint64_t hashed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
  return hash ^ (hash >> 32);
}
std::uint64_t hashed(std::uint64_t hash, DType dtype, const Shape& shape) noexcept {
  hash = hashed(hash, static_cast<std::uint64_t>(dtype.code()) << 32 |
                          static_cast<std::uint64_t>(dtype.bits()) << 16 |
                          static_cast<std::uint64_t>(dtype.lanes()));
  for (const std::int64_t extent : shape) hash = hashed(hash, static_cast<std::uint64_t>(extent));
  return hashed(hash, shape.size());
}

// Throws unless `peer` is a rank, and for a message another rank than `rank`.
void check_peer(Collective op, int peer, int rank, int size) {
  if (!has_root(op) && !is_message(op)) return;
  if (peer < 0 || peer >= size)
    fail<ArgumentError>(name_of(op), ": expected a rank from 0 to ", size - 1, ", got ", peer);
  if (is_message(op) && peer == rank)
    fail<ArgumentError>(name_of(op), ": rank ", rank,
                        " would exchange a message with itself; copy the array");
}

}  // namespace

std::string_view name_of(Collective op) noexcept {
  return collective_names[static_cast<std::size_t>(op)];
}
std::string_view name_of(Reduction reduction) noexcept {
  return reduction_names[static_cast<std::size_t>(reduction)];
}
Collective collective_named(std::string_view name) {
  return collective_enum_named<Collective>("an operation", collective_names, name);
}
Reduction reduction_named(std::string_view name) {
  return collective_enum_named<Reduction>("op=", reduction_names, name);
}

int CollectiveCall::tag() const noexcept {
  const Array& array = op == Collective::send ? source : target;
  return static_cast<int>(hashed(0, array.dtype(), array.shape()) & 0x7FFF);
}

Shape Communicator::result_shape(Collective op, const Shape& shape, int size) {
  const bool gathers = op == Collective::all_gather;
  const bool divides = op == Collective::reduce_scatter || op == Collective::all_to_all;
  if (!gathers && !divides) return shape;
  Shape result = shape.empty() ? Shape{1} : shape;
  if (gathers) {
    if (__builtin_mul_overflow(result[0], static_cast<std::int64_t>(size), &result[0]))
      fail<LayoutError>("all_gather: ", size, " arrays of shape ", shape, " are too many elements");
    return result;
  }
  if (result[0] % size != 0)
    fail<LayoutError>(name_of(op), ": expected axis 0 to be a multiple of the ", size,
                      " ranks, got shape ", shape, "; pad the array");
  if (op == Collective::reduce_scatter) result[0] /= size;
  return result;
}

void Communicator::check_reduction(Collective op, Reduction reduction, DType dtype) {
  if (!is_reduction(op)) return;
  if (!dtype.is_computable())
    fail<DTypeError>(name_of(op), ": dtype ", dtype, " has no arithmetic; convert the array first");
  const bool compares = reduction == Reduction::min || reduction == Reduction::max;
  if (compares && dtype.is_complex())
    fail<DTypeError>(name_of(op), ": op=\"", name_of(reduction), "\" is not defined for ", dtype,
                     "; reduce real and imaginary parts");
  if (reduction == Reduction::mean && !dtype.is_complex() && !dtype.is_floating())
    fail<DTypeError>(name_of(op), ": op=\"mean\" is not exact in ", dtype,
                     "; use op=\"sum\", or convert the array to a floating dtype");
}

namespace {

struct EngineTypes {
  Mutex mutex;
  std::map<std::string, CommunicatorEngineType, std::less<>> types;
};
EngineTypes& engine_types() {
  static NeverDestroyed<EngineTypes> types;
  return *types;
}

}  // namespace

bool register_communicator_engine(CommunicatorEngineType type) {
  EngineTypes& registered = engine_types();
  const std::lock_guard lock(registered.mutex);
  std::string name = type.name;
  return registered.types.emplace(std::move(name), std::move(type)).second;
}

const CommunicatorEngineType& communicator_engine(std::string_view name) {
  EngineTypes& registered = engine_types();
  const std::lock_guard lock(registered.mutex);
  const auto entry = registered.types.find(name);
  if (entry != registered.types.end()) return entry->second;
  fail<ArgumentError>("collectives: expected an engine of the library, one of ",
                      listed(registered.types, [](const auto& type) { return type.first; }),
                      ", got \"", name, '"');
}

/// A call that is prepared, but not given to the engine.
struct Communicator::Pending {
  CollectiveCall call;  ///< with the packed arrays
  CallDescription description;
  Array result{};            ///< where the caller expects the elements
  bool copies_back = false;  ///< the engine writes to call.target, which is copied to `result`
  bool overlap = false;
  std::int64_t message = -1;  ///< number of a send or recv between its two ranks; -1: no message
};

/// Work of a GPU that poll() checks: complete when `event` is.
struct Communicator::Queued {
  using Clock = std::chrono::steady_clock;
  Event event;
  /// Set when poll() first sees the work. Until then, a later call replaces this object.
  Clock::time_point deadline = Clock::time_point::max();
  std::string text{};  ///< the last call included, for the error
  bool is_seen() const noexcept { return deadline != Clock::time_point::max(); }
};

namespace {

// A reason that needs no memory.
constexpr const char* out_of_memory = "out of memory";

// The open communicators, and the numbers of the next graph nodes that use them, by name. Never
// destroyed: threads may use them until the process exits.
struct CommunicatorNames {
  Mutex mutex;
  std::map<std::string, Communicator*, std::less<>> open;
  std::map<std::string, std::int64_t, std::less<>> next_node;
};
CommunicatorNames& communicator_names() {
  static NeverDestroyed<CommunicatorNames> names;
  return *names;
}

}  // namespace

Communicator::~Communicator() {
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  // Another communicator may have the name: make() refused this one, or gave it away.
  const auto entry = names.open.find(name());
  if (entry != names.open.end() && entry->second == this) names.open.erase(entry);
}

Ref<Communicator> Communicator::make(Options options, Ref<CommunicatorEngine> engine,
                                     Ref<CommunicatorMonitor> monitor) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size)
    fail<ArgumentError>("communicator: expected a rank from 0 to size - 1, got rank ", options.rank,
                        " of ", options.size);
  Ref<Communicator> result(
      new Communicator(std::move(options), std::move(engine), std::move(monitor)));
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  Communicator*& named = names.open[result->name()];
  // Without references, its destructor waits for the mutex on another thread.
  if (named != nullptr && named->use_count() > 0)
    fail<ArgumentError>("communicator: the name \"", result->name(),
                        "\" is in use; close the other one, or pass another name=");
  named = result.get();
  return result;
}

Ref<Communicator> Communicator::find(std::string_view name) {
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  const auto entry = names.open.find(name);
  if (entry == names.open.end() || !entry->second->try_add_ref()) return nullptr;
  return Ref<Communicator>::adopt(entry->second);
}

std::int64_t Communicator::next_node(std::string_view name) {
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  return names.next_node[std::string(name)]++;
}

void Communicator::note_node(std::string_view name, std::int64_t used) {
  CommunicatorNames& names = communicator_names();
  const std::lock_guard lock(names.mutex);
  std::int64_t& next = names.next_node[std::string(name)];
  next = std::max(next, used + 1);
}

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
  if (is_reduction(call.op)) all += text('(', name_of(call.reduction), ')');
  const bool sends = call.op == Collective::reduce || call.op == Collective::send;
  if (has_root(call.op) || is_message(call.op))
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

bool Communicator::is_checked(const CallDescription& call) const noexcept {
  return options_.checked_calls < 0 || call.number < options_.checked_calls;
}

Communicator::Digest Communicator::digest() const {
  const std::lock_guard lock(mutex_);
  return digest_;
}

bool Communicator::agrees_with(const Digest& other) const {
  const std::lock_guard lock(mutex_);
  const std::int64_t later = digest_.count - other.count;
  if (later < 0 || later >= std::ssize(hashes_) || other.count <= 0) return true;
  return hashes_[static_cast<std::size_t>(other.count) % hashes_.size()] == other.hash;
}

Communicator::Pending Communicator::prepare(Collective op, const Array& source,
                                            const CollectiveOptions& options) {
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
    const std::lock_guard lock(mutex_);
    if (!own_stream_) own_stream_ = Stream::create(engine_->device());
    guard.emplace(*own_stream_);
  }
  Pending pending = prepare(op, source, options);
  Array result = pending.result;
  if (is_in_group())
    group_.push_back(std::move(pending));
  else
    start({&pending, 1});
  return result;
}

void Communicator::barrier() {
  check_usable();
  if (is_in_group()) fail<ArgumentError>("barrier: expected to be called outside a group");
  Pending pending{};
  start({&pending, 1});
  if (!engine_->device().is_cpu()) Stream::current(engine_->device()).synchronize();
  check_usable();
}

bool Communicator::is_in_group() const noexcept {
  return group_owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void Communicator::begin_group() {
  check_usable();
  std::thread::id owner;
  if (!group_owner_.compare_exchange_strong(owner, std::this_thread::get_id()))
    fail<ArgumentError>("group: communicator ", name(), " has an open group already",
                        is_in_group() ? "" : ", of another thread");
}

void Communicator::end_group() {
  if (!is_in_group())
    fail<ArgumentError>("group: communicator ", name(), " has no open group of this thread");
  std::vector<Pending> calls = std::exchange(group_, {});
  group_owner_ = std::thread::id();
  if (calls.empty()) return;
  check_usable();
  std::optional<StreamGuard> guard;
  if (own_stream_ && calls.front().overlap) guard.emplace(*own_stream_);
  start(calls);
}

void Communicator::cancel_group() noexcept {
  if (!is_in_group()) return;
  group_.clear();
  group_owner_ = std::thread::id();
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
  const CallDescription& call = pending.description;
  const std::lock_guard lock(mutex_);
  last_ = call;
  if (!monitor_ || is_message(op) || is_checked(call)) return;
  std::uint64_t hash = hashed(digest_.hash, static_cast<std::uint64_t>(op));
  if (is_reduction(op)) hash = hashed(hash, static_cast<std::uint64_t>(call.reduction));
  if (has_root(op)) hash = hashed(hash, static_cast<std::uint64_t>(call.peer));
  for (const char letter : call.label) hash = hashed(hash, static_cast<unsigned char>(letter));
  digest_ = {digest_.count + 1, hashed(hash, call.dtype, call.shape)};
  hashes_[static_cast<std::size_t>(digest_.count) % hashes_.size()] = digest_.hash;
}

void Communicator::start(std::span<Pending> calls) {
  // In a signal handler that interrupts a call of this thread.
  if (caller_.load(std::memory_order_relaxed) == std::this_thread::get_id())
    fail<ArgumentError>("communicator ", name(), ": this thread is inside a call of it already; ",
                        "use another communicator, see split()");
  std::unique_lock turn(call_mutex_, std::try_to_lock);
  if (!turn) {
    const InterpreterUnlocked unlocked;
    turn.lock();
    check_usable();
  }
  caller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  struct CallerReset {
    std::atomic<std::thread::id>& caller;
    ~CallerReset() { caller.store({}, std::memory_order_relaxed); }
  } const reset{caller_};
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
    if (!is_checked(call)) continue;
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

// The end of a communicator: time limits of queued work, errors of the engine, closing.

// The calling thread records the event: recording waits while the GPU's queue of work is full,
// and poll() must not wait. A rank alone needs no time limit, so only its stream is kept.
void Communicator::note_queued(const Stream& stream) {
  if (size() == 1) {
    const std::lock_guard lock(mutex_);
    if (queued_on_.get() != &stream.identity())
      queued_on_ = Ref<StreamIdentity>(&stream.identity());
    return;
  }
  if (stream.is_captured()) return;
  Queued call{.event = stream.record()};
  const std::lock_guard lock(mutex_);
  if (watching_.empty() || watching_.back().is_seen())
    watching_.push_back(std::move(call));
  else
    std::swap(watching_.back(), call);
}

// Why the communicator must be aborted now; "" if it need not be.
std::string Communicator::watch() {
  std::string reason = engine_->poll();
  if (!reason.empty()) return reason;
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  const auto running =
      std::ranges::find_if(watching_, [](const Queued& each) { return !each.event.query(); });
  watching_.erase(watching_.begin(), running);
  if (watching_.empty()) return {};
  if (Queued& newest = watching_.back(); !newest.is_seen()) {
    newest.deadline = now + options_.timeout;
    newest.text = last_ ? text_of(*last_) : std::string();
  }
  if (now < watching_.front().deadline) return {};
  return text("queued work up to ", watching_.front().text, " did not end within ",
              options_.timeout.count() / 1000.0, " s");
}

void Communicator::poll() noexcept try {
  if (!is_usable_.load(std::memory_order_acquire) || process_ != process_generation()) return;
  std::string reason;
  try {
    reason = watch();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (reason.empty()) return;
  if (monitor_) monitor_->report(text("rank ", rank(), ": ", reason));
  abort(reason);
} catch (const std::bad_alloc&) {
  abort(out_of_memory);
}

// Whether work of this communicator may be unfinished. Throws the errors of the device.
bool Communicator::is_busy() const {
  const std::lock_guard lock(mutex_);
  if (queued_on_) {
    const Stream stream = Stream::of(*queued_on_);
    return !stream.is_captured() && !stream.query();
  }
  return std::ranges::any_of(watching_, [](const Queued& each) { return !each.event.query(); });
}

bool Communicator::may_be_busy() const noexcept {
  try {
    return is_busy();
  } catch (const std::exception&) {
    return true;
  }
}

void Communicator::abort(std::string_view reason) noexcept {
  const bool has_queued = may_be_busy();
  std::string shown;
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) return;
    try {
      failure_ = shown = reason.empty() ? "it was aborted" : reason;
    } catch (const std::bad_alloc&) {
      failure_ = shown = out_of_memory;
    }
    is_usable_.store(false, std::memory_order_release);
  }
  if (has_queued) fail_next_wait(engine_->device(), std::move(shown));
  if (process_ == process_generation()) engine_->abort();
}

void Communicator::close() noexcept {
  if (!is_usable_.load(std::memory_order_acquire) || process_ != process_generation()) return;
  using Clock = std::chrono::steady_clock;
  try {
    const Clock::time_point deadline = Clock::now() + options_.timeout;
    while (is_busy() && Clock::now() < deadline && is_usable_.load()) {
      poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (is_usable_.load() && is_busy())
      return abort(text("closing: queued work did not end within ",
                        options_.timeout.count() / 1000.0, " s"));
    {
      const std::lock_guard lock(mutex_);
      if (!failure_.empty()) return;
      failure_ = "it is closed";
      is_usable_.store(false, std::memory_order_release);
      watching_.clear();
    }
    engine_->close();
  } catch (const std::exception& error) {
    abort(error.what());
  }
}

}  // namespace spanwise
