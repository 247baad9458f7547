// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "backends/cuda/context.hpp"
#include "backends/cuda/nccl.hpp"
#include "spanwise/communicator.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"

namespace spanwise::cuda {
namespace {

/// How NCCL reduces a dtype: as `type` with `per_element` numbers an element, after a cast to
/// `computed` where NCCL lacks the dtype.
struct NcclReduction {
  int type = nccl::uint8, op = nccl::sum, per_element = 1;
  DType computed{};
};

bool nccl_type_of(DType dtype, int& type) noexcept {
  if (dtype == int8) return type = nccl::int8, true;
  if (dtype == uint8 || dtype == bool_) return type = nccl::uint8, true;
  if (dtype == int32 || dtype == int16) return type = nccl::int32, true;
  if (dtype == uint32 || dtype == uint16) return type = nccl::uint32, true;
  if (dtype == int64) return type = nccl::int64, true;
  if (dtype == uint64) return type = nccl::uint64, true;
  if (dtype == float16) return type = nccl::float16, true;
  if (dtype == bfloat16) return type = nccl::bfloat16, true;
  if (dtype == float32 || dtype == complex64) return type = nccl::float32, true;
  if (dtype == float64 || dtype == complex128) return type = nccl::float64, true;
  return false;
}

int nccl_op_of(Reduction reduction) noexcept {
  constexpr std::array ops{nccl::sum, nccl::prod, nccl::min, nccl::max, nccl::average};
  return ops[static_cast<std::size_t>(reduction)];
}

NcclReduction nccl_reduction(Reduction reduction, DType dtype) {
  NcclReduction created;
  created.op = nccl_op_of(reduction);
  created.computed = dtype == int16 ? int32 : dtype == uint16 ? uint32 : dtype;
  if (!nccl_type_of(dtype, created.type))
    fail<DTypeError>("nccl: it does not reduce ", dtype, "; convert the array first");
  if (dtype.is_bool()) {  // 0 and 1: the sum is "or" and the product "and", as in NumPy
    if (reduction == Reduction::sum) created.op = nccl::max;
    if (reduction == Reduction::prod) created.op = nccl::min;
  }
  if (dtype.is_complex()) {
    if (reduction == Reduction::prod)
      fail<DTypeError>("nccl: it does not multiply ", dtype,
                       "; use all_gather and multiply, or engine=\"mpi\"");
    created.per_element = 2;
  }
  return created;
}

class NcclEngine final : public CommunicatorEngine {
 public:
  NcclEngine(const nccl::Api& api, DeviceContext& context, const Communicator::Options& options)
      : api_(api),
        context_(context),
        rank_(options.rank),
        size_(options.size),
        timeout_(options.timeout) {}
  ~NcclEngine() override {
    if (comm_ != nullptr && driver_survives()) abort();
  }

  void connect(const std::string& id) {
    nccl::UniqueId unique{};
    if (id.size() != sizeof unique)
      fail<ArgumentError>("nccl: expected an id of ", sizeof unique, " bytes, got ", id.size());
    std::memcpy(&unique, id.data(), sizeof unique);
    const ContextGuard guard(context_);
    nccl::Config config;
    const nccl::Result result = api_.init(&comm_, size_, unique, rank_, &config);
    settle(result, "connecting the ranks");
  }

  std::string_view name() const noexcept override { return "nccl"; }
  Device device() const noexcept override { return context_.device; }

  void run(std::span<const CollectiveCall> calls, const Stream& stream) override {
    const ContextGuard guard(context_);
    const auto raw = reinterpret_cast<CUstream>(stream.handle());
    if (calls.size() == 1 && !needs_group(calls[0].op)) {
      const nccl::Result result = queue(calls[0], raw);
      if (result != nccl::success) [[unlikely]]
        settle(result, name_of(calls[0].op));
    } else {
      run_group(calls, raw);
    }
    for (const auto& [from, to] : copies_) copy(from, to);
    copies_.clear();
  }

  void run_group(std::span<const CollectiveCall> calls, CUstream raw) {
    settle(api_.group_start(), "starting a group");
    nccl::Result result = nccl::success;
    for (const CollectiveCall& call : calls) {
      const nccl::Result queued = queue(call, raw);
      if (queued != nccl::success && queued != nccl::in_progress && result == nccl::success)
        result = queued;
    }
    const nccl::Result ended = api_.group_end();
    settle(result == nccl::success ? ended : result, "a group");
  }

  std::string poll() override {
    nccl::Result state = nccl::success;
    if (is_aborted_.load(std::memory_order_acquire) || comm_ == nullptr) return {};
    const nccl::Result asked = api_.get_async_error(comm_, &state);
    if (asked != nccl::success) state = asked;
    return state == nccl::success || state == nccl::in_progress ? std::string() : reason(state);
  }

  void abort() noexcept override {
    if (is_aborted_.exchange(true) || comm_ == nullptr) return;
    const ContextGuard guard(context_, std::nothrow);
    const RelaxedCaptureMode relaxed(context_.api);
    if (guard.ok()) api_.abort(comm_);
  }

  void close() override {
    if (is_aborted_.load() || comm_ == nullptr) return;
    const ContextGuard guard(context_);
    settle(api_.finalize(comm_), "closing the communicator");
    if (!is_aborted_.exchange(true)) api_.destroy(comm_);
  }

 private:
  bool needs_group(Collective op) const noexcept {
    return op == Collective::all_to_all && api_.all_to_all == nullptr;
  }

  std::string reason(nccl::Result result) const {
    const char* detail = comm_ != nullptr ? api_.get_last_error(comm_) : "";
    return text("NCCL says ", api_.get_error_string(result), " (", result, ')',
                detail != nullptr && *detail != '\0' ? text(": ", detail) : std::string());
  }

  // Waits until NCCL has set up what the call needs; the first use of a connection takes time.
  // The communicator is nonblocking, so that this wait can be bounded.
  void settle(nccl::Result result, std::string_view what) {
    const auto deadline = std::chrono::steady_clock::now() + timeout_;
    while (result == nccl::in_progress) {
      if (is_aborted_.load(std::memory_order_acquire))
        fail<CollectiveError>("nccl: ", what, ": aborted");
      if (std::chrono::steady_clock::now() > deadline)
        fail<CollectiveError>("nccl: ", what, " did not end within ", timeout_.count() / 1000.0,
                              " s: a rank is late or has ended");
      std::this_thread::yield();
      if (api_.get_async_error(comm_, &result) != nccl::success) break;
    }
    if (result != nccl::success) fail<CollectiveError>("nccl: ", what, " failed: ", reason(result));
  }

  nccl::Result queue(const CollectiveCall& call, CUstream stream) {
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
                              call.peer, comm_, stream);
      case all_gather:
        return api_.all_gather(from, to, bytes(call.source), nccl::uint8, comm_, stream);
      case all_to_all:
        return queue_all_to_all(call, stream);
      case send:
        return api_.send(from, bytes(call.source), nccl::uint8, call.peer, comm_, stream);
      case recv:
        return api_.recv(to, bytes(call.target), nccl::uint8, call.peer, comm_, stream);
      case barrier:
        break;
    }
    return queue_barrier(stream);
  }

  nccl::Result queue_reduction(const CollectiveCall& call, CUstream stream) {
    const DType dtype = call.source.dtype();
    const NcclReduction how = nccl_reduction(call.reduction, dtype);
    const bool receives = call.op != Collective::reduce || call.peer == rank_;
    if (how.computed == dtype) return reduce_arrays(call, how, call.source, call.target, stream);
    const Array source = astype(call.source, how.computed);
    if (!receives) return reduce_arrays(call, how, source, source, stream);
    const Array target = empty(call.target.shape(), how.computed, context_.device);
    copies_.emplace_back(target, call.target);
    return reduce_arrays(call, how, source, target, stream);
  }

  nccl::Result reduce_arrays(const CollectiveCall& call, const NcclReduction& how,
                             const Array& source, const Array& target, CUstream stream) const {
    const bool blocks = call.op == Collective::reduce_scatter;
    const auto count = static_cast<std::size_t>((blocks ? target : source).size()) *
                       static_cast<std::size_t>(how.per_element);
    const void* from = source.data();
    void* to = target.data();
    if (call.op == Collective::all_reduce)
      return api_.all_reduce(from, to, count, how.type, how.op, comm_, stream);
    if (blocks) return api_.reduce_scatter(from, to, count, how.type, how.op, comm_, stream);
    return api_.reduce(from, to, count, how.type, how.op, call.peer, comm_, stream);
  }

  nccl::Result queue_all_to_all(const CollectiveCall& call, CUstream stream) const {
    const std::size_t block =
        static_cast<std::size_t>(call.source.nbytes()) / static_cast<std::size_t>(size_);
    const auto* from = static_cast<const std::byte*>(call.source.data());
    auto* to = static_cast<std::byte*>(call.target.data());
    if (api_.all_to_all != nullptr)
      return api_.all_to_all(from, to, block, nccl::uint8, comm_, stream);
    for (int peer = 0; peer < size_; ++peer) {
      const std::size_t at = block * static_cast<std::size_t>(peer);
      api_.send(from + at, block, nccl::uint8, peer, comm_, stream);
      const nccl::Result result = api_.recv(to + at, block, nccl::uint8, peer, comm_, stream);
      if (result != nccl::success && result != nccl::in_progress) return result;
    }
    return nccl::success;
  }

  nccl::Result queue_barrier(CUstream stream) {
    if (!one_) one_ = zeros(Shape{1}, float32, context_.device);
    order_use(Stream::current(context_.device), *one_, true);
    return api_.all_reduce(one_->data(), one_->data(), 1, nccl::float32, nccl::sum, comm_, stream);
  }

  const nccl::Api& api_;
  DeviceContext& context_;
  int rank_, size_;
  std::chrono::milliseconds timeout_;
  nccl::Comm comm_ = nullptr;
  std::atomic<bool> is_aborted_{false};
  std::optional<Array> one_;                     // operand of barriers
  std::vector<std::pair<Array, Array>> copies_;  // results that are cast when the group has ended
};

const nccl::Api& nccl_library() {
  const nccl::Api* api = nccl::library();
  if (api == nullptr)
    fail<DeviceError>(
        "nccl: found no libnccl.so.2 of version 2.14 or newer; pip install nvidia-nccl-cu13 (or "
        "-cu12), or set cuda_library_path");
  return *api;
}

std::string why_no_nccl() {
  if (driver_status().device_count == 0) return driver_status().why_absent;
  return nccl::library() != nullptr ? std::string()
                                    : std::string("found no libnccl.so.2 of version 2.14 or newer");
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
  auto engine =
      make_ref<NcclEngine>(nccl_library(), DeviceContext::of(options.device.ordinal()), options);
  engine->connect(id);
  return engine;
}

[[maybe_unused]] const bool nccl_registered = register_communicator_engine(
    {.name = "nccl", .why_absent = why_no_nccl, .make_id = make_nccl_id, .start = start_nccl});

}  // namespace
}  // namespace spanwise::cuda
