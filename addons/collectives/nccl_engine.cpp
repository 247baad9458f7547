// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "nccl.hpp"
#include "spanwise/collectives/communicator.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"

// The engine "nccl": the library, which is loaded at run time, the connection of a rank, and its
// calls.
namespace spanwise::nccl {
namespace {

constexpr int oldest_version = 21800;  // the first with ncclCommSplit

// Stores the address of a function of `library` in `entry`; false if the library lacks it.
template <class F>
bool find_function(void* library, const char* name, F& entry) noexcept {
  entry = reinterpret_cast<F>(dlsym(library, name));
  return entry != nullptr;
}

// Null if the file cannot be loaded or is too old. The library is never closed, because its threads
// may still run then.
const Api* open_library(const std::string& path) {
  const std::lock_guard loading(loader_mutex());
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  Api api;
#define SW_FIND_FUNCTION(name, function, ...) &&find_function(handle, #function, api.name)
  const bool is_usable = true SW_NCCL_FUNCTIONS(SW_FIND_FUNCTION) &&
                         api.get_version(&api.version) == success && api.version >= oldest_version;
#undef SW_FIND_FUNCTION
  if (!is_usable) return nullptr;
  find_function(handle, "ncclAlltoAll", api.all_to_all);
  return new Api(api);
}

const Api* open_first_usable() {
  // First the one that is loaded already or in the loader's path.
  if (const Api* api = open_library("libnccl.so.2")) return api;
  for (const std::string& path : find_cuda_library("nccl"))
    if (const Api* api = open_library(path)) return api;
  return nullptr;
}

}  // namespace

const Api* library() {
  static NeverDestroyed<Mutex> mutex;
  static const Api* api = nullptr;
  static std::uint64_t failed_at = 0;  // config::version() of the last failed search
  const std::lock_guard lock(*mutex);
  if (api == nullptr && failed_at != config::version()) {
    failed_at = config::version();
    api = open_first_usable();
  }
  return api;
}

}  // namespace spanwise::nccl

namespace spanwise {
namespace {

/// How long abort() waits until the thread of a call has left NCCL; afterwards comm() is not freed.
constexpr std::chrono::seconds max_abort_wait{10};

/// The connection of one rank to the others by NCCL, and its end.
///
/// Calls go to a blocking communicator: for each call with a nonblocking one NCCL starts a thread
/// (ncclGroupEndInternal in its group.cc), which takes longer than a small all_reduce. It is split
/// from a nonblocking one with shared resources, for two reasons. Nonblocking ranks can be waited
/// for within a time limit while they connect. And the two have the same abort flag: aborting the
/// first ends a call that a thread is in at the second, which is freed when that thread has left.
class NcclConnection {
 public:
  NcclConnection(const nccl::Api& api, const Communicator::Options& options)
      : api_(api), device_(options.device), timeout_(options.timeout) {}
  /// abort(), except after close() and in a forked child.
  ~NcclConnection();
  NcclConnection(const NcclConnection&) = delete;
  NcclConnection& operator=(const NcclConnection&) = delete;

  /// Returns when all `size` ranks have called it with the same id. Throws ArgumentError, and
  /// CollectiveError after the time limit.
  void connect(const std::string& id, int rank, int size);
  /// The communicator for calls; valid while a Call exists.
  nccl::Comm comm() const noexcept { return comm_; }
  /// Throws CollectiveError where `result`, of the call that `action` names, is an error, and where
  /// abort() has ended the call, for which NCCL may return success.
  void check(nccl::Result result, std::string_view action) {
    if (result != nccl::success || is_ended_.load(std::memory_order_relaxed)) [[unlikely]]
      finish(comm_, result, action);
  }

  /// While it exists, the thread that created it may call NCCL with comm(), which is not freed.
  class Call {
   public:
    /// Throws CollectiveError after abort() and close().
    explicit Call(NcclConnection& connection);
    ~Call() { connection_.calls_.fetch_add(1); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    NcclConnection& connection_;
  };

  /// To be called when a graph captures a call. comm() is then kept until the process ends, because
  /// NCCL frees a communicator only when its last graph is destroyed, and waits for that without a
  /// limit.
  void note_captured() noexcept { is_captured_.store(true, std::memory_order_relaxed); }

  /// The error of queued work, or that a call takes longer than the time limit; "" for neither.
  /// Never blocks. For a thread that calls it several times a second.
  std::string poll();
  /// Ends queued work and a call of another thread. May be called on any thread.
  void abort() noexcept;
  /// Frees the communicators; the queued work is complete.
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  void finish(nccl::Comm comm, nccl::Result result, std::string_view action);
  std::string reason(nccl::Comm comm, nccl::Result result) const;
  bool is_in_call() const noexcept { return calls_.load() % 2 == 1; }
  bool is_call_late();

  const std::uint32_t process_ = process_generation();
  const nccl::Api& api_;
  const Device device_;
  const std::chrono::milliseconds timeout_;
  nccl::Comm control_ = nullptr;         // nonblocking; the parent of comm_
  nccl::Comm comm_ = nullptr;            // blocking
  std::atomic<std::uint64_t> calls_{0};  // begun plus ended: odd inside a call
  std::atomic<bool> is_ended_{false}, is_captured_{false};
  Mutex end_mutex_;              // held by poll(), abort() and close(); guards the members below
  std::uint64_t seen_call_ = 0;  // the value of calls_ that poll() saw last, inside a call
  Clock::time_point seen_at_{};
};

NcclConnection::~NcclConnection() {
  if (process_ == process_generation()) abort();
}

void NcclConnection::connect(const std::string& id, int rank, int size) {
  const GpuContextGuard guard(device_);
  nccl::UniqueId unique{};
  if (id.size() != sizeof unique)
    fail<ArgumentError>("nccl: expected an id of ", sizeof unique, " bytes, got ", id.size());
  std::memcpy(&unique, id.data(), sizeof unique);
  nccl::Config bounded{.blocking = 0, .split_share = 1}, direct{.blocking = 1};
  nccl::Result result = api_.init(&control_, size, unique, rank, &bounded);
  finish(control_, result, "connecting the ranks");
  // Some versions return success while the split goes on; the parent's state then is in_progress.
  result = api_.split(control_, 0, rank, &comm_, &direct);
  finish(control_, result == nccl::success ? nccl::in_progress : result, "connecting the ranks");
}

NcclConnection::Call::Call(NcclConnection& connection) : connection_(connection) {
  connection_.calls_.fetch_add(1);
  if (!connection_.is_ended_.load()) [[likely]]
    return;
  connection_.calls_.fetch_add(1);
  fail<CollectiveError>("nccl: aborted");
}

// Waits while `result` is in_progress, which calls of a nonblocking communicator return. Throws
// CollectiveError for an error, after the time limit and after abort().
void NcclConnection::finish(nccl::Comm comm, nccl::Result result, std::string_view action) {
  const auto deadline = Clock::now() + timeout_;
  while (true) {
    if (is_ended_.load()) fail<CollectiveError>("nccl: ", action, ": aborted");
    if (result != nccl::in_progress) break;
    if (Clock::now() > deadline)
      fail<CollectiveError>("nccl: ", action, " did not end within ", timeout_.count() / 1000.0,
                            " s: a rank is late or has ended");
    std::this_thread::yield();
    if (api_.get_async_error(comm, &result) != nccl::success) break;
  }
  if (result != nccl::success)
    fail<CollectiveError>("nccl: ", action, " failed: ", reason(comm, result));
}

std::string NcclConnection::reason(nccl::Comm comm, nccl::Result result) const {
  const char* detail = comm != nullptr ? api_.get_last_error(comm) : "";
  return text("NCCL says ", api_.get_error_string(result), " (", result, ')',
              detail != nullptr && *detail != '\0' ? text(": ", detail) : std::string());
}

// The clock starts when poll() first sees the call, so that calls do not read it.
bool NcclConnection::is_call_late() {
  const std::uint64_t current = calls_.load();
  if (current % 2 == 0) return false;
  if (std::exchange(seen_call_, current) != current) seen_at_ = Clock::now();
  return Clock::now() - seen_at_ > timeout_;
}

std::string NcclConnection::poll() {
  const std::lock_guard lock(end_mutex_);
  if (is_ended_.load() || comm_ == nullptr) return {};
  if (is_call_late())
    return text("nccl: a call did not end within ", timeout_.count() / 1000.0,
                " s: a rank is late or has ended");
  nccl::Result state = nccl::success;
  const nccl::Result queried = api_.get_async_error(comm_, &state);
  if (queried != nccl::success) state = queried;
  return state == nccl::success || state == nccl::in_progress ? std::string()
                                                              : reason(comm_, state);
}

void NcclConnection::abort() noexcept {
  const std::lock_guard lock(end_mutex_);
  if (is_ended_.exchange(true) || control_ == nullptr) return;
  try {
    const GpuContextGuard guard(device_, /*relaxed_capture=*/true);
    api_.abort(control_);
    const auto deadline = Clock::now() + max_abort_wait;
    while (is_in_call() && Clock::now() < deadline) std::this_thread::yield();
    if (comm_ != nullptr && !is_in_call() && !is_captured_.load()) api_.abort(comm_);
  } catch (const std::exception&) {  // the context cannot be entered any more: nothing to end
  }
}

void NcclConnection::close() {
  const std::lock_guard lock(end_mutex_);
  if (is_ended_.exchange(true) || control_ == nullptr || is_captured_.load()) return;
  const GpuContextGuard guard(device_);
  api_.destroy(comm_);
  api_.destroy(control_);
}

/// How NCCL reduces a dtype: as `type`, an ncclDataType_t of which each element has
/// `numbers_per_element`, after a cast to `compute_dtype` where NCCL lacks the dtype.
struct NcclReduction {
  int type = nccl::uint8, op = nccl::sum, numbers_per_element = 1;
  DType compute_dtype{};
};

// The ncclDataType_t of the numbers of a dtype; nothing if NCCL has none.
std::optional<int> nccl_type_of(DType dtype) noexcept {
  if (dtype == int8) return nccl::int8;
  if (dtype == uint8 || dtype == bool_) return nccl::uint8;
  if (dtype == int32 || dtype == int16) return nccl::int32;
  if (dtype == uint32 || dtype == uint16) return nccl::uint32;
  if (dtype == int64) return nccl::int64;
  if (dtype == uint64) return nccl::uint64;
  if (dtype == float16) return nccl::float16;
  if (dtype == bfloat16) return nccl::bfloat16;
  if (dtype == float32 || dtype == complex64) return nccl::float32;
  if (dtype == float64 || dtype == complex128) return nccl::float64;
  return std::nullopt;
}

NcclReduction nccl_reduction(Reduction reduction, DType dtype) {
  NcclReduction result;
  constexpr std::array ops{nccl::sum, nccl::prod, nccl::min, nccl::max, nccl::average};
  result.op = ops[static_cast<std::size_t>(reduction)];
  result.compute_dtype = dtype == int16 ? int32 : dtype == uint16 ? uint32 : dtype;
  const std::optional<int> type = nccl_type_of(dtype);
  if (!type) fail<DTypeError>("nccl: NCCL does not reduce ", dtype, "; convert the array first");
  result.type = *type;
  if (dtype.is_bool()) {  // 0 and 1: the sum is "or" and the product "and", as in NumPy
    if (reduction == Reduction::sum) result.op = nccl::max;
    if (reduction == Reduction::prod) result.op = nccl::min;
  }
  if (dtype.is_complex()) {
    if (reduction == Reduction::prod)
      fail<DTypeError>("nccl: NCCL does not multiply ", dtype,
                       "; use all_gather and multiply, or engine=\"mpi\"");
    result.numbers_per_element = 2;
  }
  return result;
}

class NcclEngine final : public CommunicatorEngine {
 public:
  NcclEngine(const nccl::Api& api, const Communicator::Options& options)
      : api_(api),
        device_(options.device),
        rank_(options.rank),
        size_(options.size),
        connection_(api, options) {}
  void connect(const std::string& id) { connection_.connect(id, rank_, size_); }

  std::string_view name() const noexcept override { return "nccl"; }
  Device device() const noexcept override { return device_; }

  void run(std::span<const CollectiveCall> calls, const Stream& stream) override {
    const GpuContextGuard guard(device_);
    const auto raw = reinterpret_cast<nccl::Stream>(stream.handle());
    if (stream.is_captured()) [[unlikely]]
      connection_.note_captured();
    {
      const NcclConnection::Call current(connection_);
      if (calls.size() == 1 && !needs_group(calls[0].op))
        connection_.check(queue(calls[0], raw), name_of(calls[0].op));
      else
        run_group(calls, raw);
    }
    for (const auto& [from, to] : copies_) copy(from, to);
    copies_.clear();
  }

  void run_group(std::span<const CollectiveCall> calls, nccl::Stream raw) {
    connection_.check(api_.group_start(), "starting a group");
    nccl::Result result = nccl::success;
    for (const CollectiveCall& call : calls) {
      const nccl::Result queued = queue(call, raw);
      if (queued != nccl::success && queued != nccl::in_progress && result == nccl::success)
        result = queued;
    }
    const nccl::Result ended = api_.group_end();
    connection_.check(result == nccl::success ? ended : result, "a group");
  }

  std::string poll() override { return connection_.poll(); }
  void abort() noexcept override { connection_.abort(); }
  void close() override { connection_.close(); }

 private:
  bool needs_group(Collective op) const noexcept {
    return op == Collective::all_to_all && api_.all_to_all == nullptr;
  }

  nccl::Result queue(const CollectiveCall& call, nccl::Stream stream) {
    using enum Collective;
    const void* from = call.source.data();
    void* to = call.target.data();
    const auto bytes = [](const Array& array) { return static_cast<std::size_t>(array.nbytes()); };
    switch (call.op) {
      case all_reduce:
      case reduce:
      case reduce_scatter:
        return queue_reduction(call, stream);
      case broadcast:
        return api_.broadcast(call.peer == rank_ ? from : to, to, bytes(call.target), nccl::uint8,
                              call.peer, connection_.comm(), stream);
      case all_gather:
        return api_.all_gather(from, to, bytes(call.source), nccl::uint8, connection_.comm(),
                               stream);
      case all_to_all:
        return queue_all_to_all(call, stream);
      case send:
        return api_.send(from, bytes(call.source), nccl::uint8, call.peer, connection_.comm(),
                         stream);
      case recv:
        return api_.recv(to, bytes(call.target), nccl::uint8, call.peer, connection_.comm(),
                         stream);
      case barrier:
        break;
    }
    return queue_barrier(stream);
  }

  nccl::Result queue_reduction(const CollectiveCall& call, nccl::Stream stream) {
    const DType dtype = call.source.dtype();
    const NcclReduction reduction = nccl_reduction(call.reduction, dtype);
    const bool receives = call.op != Collective::reduce || call.peer == rank_;
    if (reduction.compute_dtype == dtype)
      return reduce_arrays(call, reduction, call.source, call.target, stream);
    const Array source = astype(call.source, reduction.compute_dtype);
    if (!receives) return reduce_arrays(call, reduction, source, source, stream);
    const Array target = empty(call.target.shape(), reduction.compute_dtype, device_);
    copies_.emplace_back(target, call.target);
    return reduce_arrays(call, reduction, source, target, stream);
  }

  nccl::Result reduce_arrays(const CollectiveCall& call, const NcclReduction& reduction,
                             const Array& source, const Array& target, nccl::Stream stream) const {
    const bool is_scatter = call.op == Collective::reduce_scatter;
    const auto count = static_cast<std::size_t>((is_scatter ? target : source).size()) *
                       static_cast<std::size_t>(reduction.numbers_per_element);
    const void* from = source.data();
    void* to = target.data();
    if (call.op == Collective::all_reduce)
      return api_.all_reduce(from, to, count, reduction.type, reduction.op, connection_.comm(),
                             stream);
    if (is_scatter)
      return api_.reduce_scatter(from, to, count, reduction.type, reduction.op, connection_.comm(),
                                 stream);
    return api_.reduce(from, to, count, reduction.type, reduction.op, call.peer, connection_.comm(),
                       stream);
  }

  nccl::Result queue_all_to_all(const CollectiveCall& call, nccl::Stream stream) const {
    const std::size_t block =
        static_cast<std::size_t>(call.source.nbytes()) / static_cast<std::size_t>(size_);
    const auto* from = static_cast<const std::byte*>(call.source.data());
    auto* to = static_cast<std::byte*>(call.target.data());
    if (api_.all_to_all != nullptr)
      return api_.all_to_all(from, to, block, nccl::uint8, connection_.comm(), stream);
    for (int peer = 0; peer < size_; ++peer) {
      const std::size_t at = block * static_cast<std::size_t>(peer);
      api_.send(from + at, block, nccl::uint8, peer, connection_.comm(), stream);
      const nccl::Result result =
          api_.recv(to + at, block, nccl::uint8, peer, connection_.comm(), stream);
      if (result != nccl::success && result != nccl::in_progress) return result;
    }
    return nccl::success;
  }

  nccl::Result queue_barrier(nccl::Stream stream) {
    if (!barrier_operand_) barrier_operand_ = zeros(Shape{1}, float32, device_);
    order_use(Stream::current(device_), *barrier_operand_, true);
    return api_.all_reduce(barrier_operand_->data(), barrier_operand_->data(), 1, nccl::float32,
                           nccl::sum, connection_.comm(), stream);
  }

  const nccl::Api& api_;
  const Device device_;
  int rank_, size_;
  NcclConnection connection_;
  std::optional<Array> barrier_operand_;         // one number, which a barrier sums
  std::vector<std::pair<Array, Array>> copies_;  // results that are cast when the group has ended
};

const nccl::Api& nccl_library() {
  const nccl::Api* api = nccl::library();
  if (api == nullptr)
    fail<DeviceError>(
        "nccl: found no libnccl.so.2 of version 2.18 or newer; pip install nvidia-nccl-cu13 (or "
        "-cu12), or set cuda_library_path");
  return *api;
}

std::string why_no_nccl() {
  if (std::string reason = why_no_cuda(); !reason.empty()) return reason;
  return nccl::library() != nullptr ? std::string()
                                    : std::string("found no libnccl.so.2 of version 2.18 or newer");
}

std::string make_nccl_id() {
  const nccl::Api& api = nccl_library();
  nccl::UniqueId id{};
  const nccl::Result result = api.get_unique_id(&id);
  if (result != nccl::success)
    fail<CollectiveError>("nccl: making the id of a communicator failed: ",
                          api.get_error_string(result));
  return std::string(id.bytes, sizeof id.bytes);
}

Ref<CommunicatorEngine> start_nccl(const std::string& id, const Communicator::Options& options) {
  if (!options.device.is_cuda())
    fail<ArgumentError>("nccl: expected a cuda device, got ", options.device);
  auto engine = make_ref<NcclEngine>(nccl_library(), options);
  engine->connect(id);
  return engine;
}

[[maybe_unused]] const bool nccl_registered =
    register_communicator_engine({.name = "nccl",
                                  .unavailable_reason = why_no_nccl,
                                  .make_id = make_nccl_id,
                                  .start = start_nccl});

}  // namespace

}  // namespace spanwise
