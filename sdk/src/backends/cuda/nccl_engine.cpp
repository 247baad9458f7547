// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "backends/cuda/context.hpp"
#include "backends/cuda/nccl.hpp"
#include "backends/cuda/nccl_connection.hpp"
#include "spanwise/runtime/communicator.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::cuda {
namespace {

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
  NcclEngine(const nccl::Api& api, DeviceContext& context, const Communicator::Options& options)
      : api_(api),
        context_(context),
        rank_(options.rank),
        size_(options.size),
        connection_(api, context, options) {}
  void connect(const std::string& id) { connection_.connect(id, rank_, size_); }

  std::string_view name() const noexcept override { return "nccl"; }
  Device device() const noexcept override { return context_.device; }

  void run(std::span<const CollectiveCall> calls, const Stream& stream) override {
    const ContextGuard guard(context_);
    const auto raw = reinterpret_cast<CUstream>(stream.handle());
    if (is_capturing(context_.api, raw)) [[unlikely]]
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

  void run_group(std::span<const CollectiveCall> calls, CUstream raw) {
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

  nccl::Result queue_reduction(const CollectiveCall& call, CUstream stream) {
    const DType dtype = call.source.dtype();
    const NcclReduction reduction = nccl_reduction(call.reduction, dtype);
    const bool receives = call.op != Collective::reduce || call.peer == rank_;
    if (reduction.compute_dtype == dtype)
      return reduce_arrays(call, reduction, call.source, call.target, stream);
    const Array source = astype(call.source, reduction.compute_dtype);
    if (!receives) return reduce_arrays(call, reduction, source, source, stream);
    const Array target = empty(call.target.shape(), reduction.compute_dtype, context_.device);
    copies_.emplace_back(target, call.target);
    return reduce_arrays(call, reduction, source, target, stream);
  }

  nccl::Result reduce_arrays(const CollectiveCall& call, const NcclReduction& reduction,
                             const Array& source, const Array& target, CUstream stream) const {
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

  nccl::Result queue_all_to_all(const CollectiveCall& call, CUstream stream) const {
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

  nccl::Result queue_barrier(CUstream stream) {
    if (!barrier_operand_) barrier_operand_ = zeros(Shape{1}, float32, context_.device);
    order_use(Stream::current(context_.device), *barrier_operand_, true);
    return api_.all_reduce(barrier_operand_->data(), barrier_operand_->data(), 1, nccl::float32,
                           nccl::sum, connection_.comm(), stream);
  }

  const nccl::Api& api_;
  DeviceContext& context_;
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
  if (driver_status().device_count == 0) return driver_status().unavailable_reason;
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
  auto engine =
      make_ref<NcclEngine>(nccl_library(), DeviceContext::of(options.device.ordinal()), options);
  engine->connect(id);
  return engine;
}

[[maybe_unused]] const bool nccl_registered =
    register_communicator_engine({.name = "nccl",
                                  .unavailable_reason = why_no_nccl,
                                  .make_id = make_nccl_id,
                                  .start = start_nccl});

}  // namespace
}  // namespace spanwise::cuda
