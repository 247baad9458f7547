// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_compute.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "cpu/elementwise_loops.hpp"
#include "elementwise_body.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/strided_call.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {

using strided::ArrayRole;
using strided::BodyKernels;

// ---- on the CPU

namespace {

const Layout no_axes{};

// Whether only the first operand is a number: loops with a number take it as the second one.
bool has_number_first(const OpSignature& signature, std::span<const Operand> operands) {
  const auto is_number = [](const Operand& operand) {
    return operand.array == nullptr || operand.array->size() == 1;
  };
  return operands.size() == 2 && !signature.mixed && is_number(operands[0]) &&
         !is_number(operands[1]);
}

}  // namespace

const CpuLoops& cpu_loops_for(const OpSignature& signature) {
  struct CachedLoops {
    std::atomic<bool> is_set{false};
    CpuLoops loops;
  };
  static CachedLoops* const entries = new CachedLoops[op_count * (dtype_count + 1)];
  const int column = signature.mixed ? dtype_count : dtype_index(signature.compute);
  CachedLoops& entry = entries[static_cast<int>(signature.op) * (dtype_count + 1) + column];
  if (!entry.is_set.load(std::memory_order_acquire)) {
    static auto& mutex = *new Mutex;
    const CpuLoops loops = find_cpu_loops(signature);
    const std::lock_guard lock(mutex);
    entry.loops = loops;
    entry.is_set.store(true, std::memory_order_release);
  }
  return entry.loops;
}

void compute_on_cpu(const OpSignature& signature, std::span<const Operand> operands,
                    const Array& result, const Array* where) {
  if (has_number_first(signature, operands)) {
    if (const std::optional<OpId> swapped = swapped_op(signature.op)) {
      OpSignature exchanged = signature;
      exchanged.op = *swapped;
      const Operand both[] = {operands[1], operands[0]};
      return compute_on_cpu(exchanged, both, result, where);
    }
  }
  std::array<std::optional<Scalar>, max_inputs> numbers;
  std::array<strided::CpuOperand, max_inputs + 2> arrays;
  std::size_t count = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    const DType dtype = loop_dtype(signature, signature.operand(static_cast<int>(i)));
    if (operand.array != nullptr) {
      arrays[count++] = {*operand.array, dtype, ArrayRole::read};
      continue;
    }
    const Scalar& number = numbers[i].emplace(operand.scalar.cast(dtype));
    strided::CpuOperand& constant = arrays[count++];
    constant.layout = &no_axes;
    constant.data = static_cast<std::byte*>(const_cast<void*>(number.data()));
    constant.dtype = constant.compute = dtype;
  }
  arrays[count++] = {result, loop_dtype(signature, signature.result), ArrayRole::write};
  if (where != nullptr) arrays[count++] = {*where, bool_, ArrayRole::mask};
  strided::run_on_cpu(result.shape(), std::span(arrays.data(), count), cpu_loops_for(signature));
}

// ---- on GPUs

namespace {

// The kernels of an operation. There is a list for each operation and each set of operands that are
// passed by value, so that lists are short.
BodyKernels& kernels_of(const OperationKey& key) {
  using List = KernelList<OperationKey, std::unique_ptr<BodyKernels>>;
  static auto& lists = *new std::array<List, op_count << max_inputs>;
  List& list = lists[(static_cast<std::size_t>(key.op) << max_inputs) + key.numbers];
  return *list.get(key, [] { return std::make_unique<BodyKernels>(); });
}

[[noreturn]] void fail_negative_exponent() {
  fail<ArgumentError>(
      "power: integers to negative integer powers are not allowed; expected exponents >= 0, got "
      "negative ones; use float_power()");
}

bool has_integer_exponents(const OpSignature& signature) noexcept {
  return signature.op == OpId::power && signature.operand(1).code() == DTypeCode::int_;
}

// Whether the kernel must check exponents. An exponent that is a number is checked here.
bool checks_exponent(const OpSignature& signature, std::span<const Operand> operands) {
  if (!has_integer_exponents(signature)) return false;
  if (operands[1].array != nullptr) return true;
  if (operands[1].scalar.as_int64() < 0) fail_negative_exponent();
  return false;
}

/// One operation on arrays of one GPU.
class OperationCall {
 public:
  OperationCall(const OpSignature& signature, std::span<const Operand> operands,
                const Array& result, const Array* where)
      : signature_(signature),
        operands_(operands),
        result_(result),
        key_(signature, operands, result.dtype(), where != nullptr),
        call_(result.shape()) {
    for (const Operand& operand : operands)
      if (operand.array != nullptr) call_.add(*operand.array, ArrayRole::read);
    call_.add(result, ArrayRole::write);
    if (where != nullptr) call_.add(*where, ArrayRole::mask);
  }

  void run() {
    key_.checks_exponent = checks_exponent(signature_, operands_);
    call_.plan();
    const Device device = result_.device();
    const strided::BodyKernel& kernel =
        call_.kernel(kernels_of(key_), device, [&] { return operation_body(key_); });
    if (!key_.checks_exponent) return launch(kernel, nullptr);
    const Array has_negative = zeros({}, int32, device);
    order_use(Stream::current(device), has_negative, true);
    launch(kernel, has_negative.data());
    // Waits for the kernel, since NumPy raises an error for negative exponents.
    if (item(has_negative).as_int64() != 0) fail_negative_exponent();
  }

  // Launches if all arrays are contiguous and of the result's shape, and the kernel is loaded;
  // returns false otherwise.
  bool try_launch() {
    if (!call_.try_plan_dense() || call_.shape().has_constants()) return false;
    const strided::BodyKernel* kernel = kernels_of(key_).find({call_.shape(), result_.device()});
    if (kernel == nullptr) return false;
    launch(*kernel, nullptr);
    return true;
  }

 private:
  // `has_negative`: where the kernel reports negative exponents; null if it does not check them.
  void launch(const strided::BodyKernel& kernel, void* has_negative) const {
    std::array<Scalar, max_inputs> numbers{Scalar(false), Scalar(false), Scalar(false)};
    std::array<void*, max_inputs + 1> parameters;
    std::size_t count = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].array != nullptr) continue;
      const DType dtype = signature_.operand(static_cast<int>(i));
      numbers[i] = operands_[i].scalar.cast(dtype);
      if (const DType computed = loop_dtype(signature_, dtype); computed != dtype)
        numbers[i] = numbers[i].cast(computed);
      parameters[count++] = const_cast<void*>(numbers[i].data());
    }
    if (has_negative != nullptr) parameters[count++] = &has_negative;
    call_.launch(kernel, std::span(parameters.data(), count));
  }

  const OpSignature& signature_;
  std::span<const Operand> operands_;
  const Array& result_;
  OperationKey key_;
  strided::StridedCall call_;
};

// Whether threads would overwrite elements that others have not read yet. A thread may overwrite
// the elements that it reads.
bool overlaps_unsafely(const Array& operand, const Array& result) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(operand.data());
  const auto target = reinterpret_cast<std::uintptr_t>(result.data());
  if (begin == target) return operand.dtype().itemsize() != result.dtype().itemsize();
  return begin < target + static_cast<std::uintptr_t>(result.nbytes()) &&
         target < begin + static_cast<std::uintptr_t>(operand.nbytes());
}

}  // namespace

void compute_on_cuda(const OpSignature& signature, std::span<const Operand> operands,
                     const Array& result, const Array* where) {
  OperationCall(signature, operands, result, where).run();
}

bool try_launch_compute(const OpSignature& signature, std::span<const Operand> operands,
                        const Array& result, bool is_disjoint) {
  static constinit const config::Flag launch_blocking{"launch_blocking"};
  if (!result.device().is_cuda() || result.size() == 0 || result.readonly()) return false;
  if (signature.swapped || launch_blocking.get() || has_integer_exponents(signature)) return false;
  for (const Operand& operand : operands) {
    const Array* array = operand.array;
    if (array != nullptr &&
        (array->device() != result.device() || (!is_disjoint && overlaps_unsafely(*array, result))))
      return false;
  }
  return OperationCall(signature, operands, result, nullptr).try_launch();
}

// ---- on the device of the result

namespace {

// With arrays on a GPU, an operand of rank 0 on the host becomes a number.
Operand on_device(const OpTraits& op, const Operand& operand, Device device) {
  if (operand.array == nullptr) return operand;
  const Array& array = *operand.array;
  if (work_together(array.device(), device)) return operand;
  if (array.rank() != 0 || !runs_on_host(array.device()))
    fail<DeviceError>(op.name, ": operands are on ", array.device(), " and on ", device,
                      "; expected one device, move one of them with .to(\"", device, "\")");
  return {nullptr, item(array)};
}

void compute_after_waiting(const OpSignature& signature, std::span<const Operand> operands,
                           const Array& result, const Array* where) {
  for (const Operand& operand : operands)
    if (operand.array != nullptr) order_host_use(*operand.array, false);
  if (where != nullptr) order_host_use(*where, false);
  order_host_use(result, true);
  compute_on_cpu(signature, operands, result, where);
}

constexpr ElementwiseBackend cpu_backend{&compute_after_waiting}, cuda_backend{&compute_on_cuda};
[[maybe_unused]] const auto* const previous_cpu_backend =
    elementwise_backends.set(DeviceKind::cpu, &cpu_backend);
[[maybe_unused]] const auto* const previous_cuda_backend =
    elementwise_backends.set(DeviceKind::cuda, &cuda_backend);

bool all_on_device(std::span<const Operand> operands, Device device) noexcept {
  return std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.array == nullptr || operand.array->device() == device;
  });
}

}  // namespace

constinit DeviceTable<ElementwiseBackend> elementwise_backends{"elementwise"};

void compute_disjoint(const OpSignature& signature, std::span<const Operand> operands,
                      const Array& result, const Array* where) {
  if (result.size() == 0) return;
  const ElementwiseBackend& backend = elementwise_backends[result.device()];
  if (!signature.swapped && all_on_device(operands, result.device()))
    return backend.compute(signature, operands, result, where);
  std::array<Operand, max_inputs> converted;
  for (std::size_t i = 0; i < operands.size(); ++i)
    converted[i] = on_device(traits_of(signature.op), operands[i], result.device());
  if (signature.swapped) std::swap(converted[0], converted[1]);
  backend.compute(signature, std::span(converted.data(), operands.size()), result, where);
}

void compute(const OpSignature& signature, std::span<const Operand> operands, const Array& result,
             const Array* where) {
  const char* name = traits_of(signature.op).name;
  if (result.readonly())
    fail<ReadOnlyError>(name, ": cannot write to ", result, "; pass a writable out=");
  if (result.size() == 0) return;
  std::array<Operand, max_inputs> separate;
  std::array<std::optional<Array>, max_inputs + 1> copies;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    separate[i] = operands[i];
    if (operands[i].array != nullptr && overlaps_partially(*operands[i].array, result))
      separate[i].array = &copies[i].emplace(copy(*operands[i].array));
  }
  if (where != nullptr && may_share_memory(*where, result))
    where = &copies[max_inputs].emplace(copy(*where));
  const std::span<const Operand> all(separate.data(), operands.size());
  if (!result.layout().may_overlap_itself()) return compute_disjoint(signature, all, result, where);
  // If elements of the result share an address, copy() writes them in order.
  const Array temporary = copy(result);
  compute_disjoint(signature, all, temporary, where);
  copy(temporary, result);
}

Shape common_shape(const char* op, std::span<const Operand> operands, const Array* where) {
  std::array<const Array*, max_inputs + 1> arrays;
  std::size_t count = 0;
  for (const Operand& operand : operands)
    if (operand.array != nullptr) arrays[count++] = operand.array;
  if (where != nullptr) arrays[count++] = where;
  try {
    return broadcast_shape(std::span(arrays.data(), count));
  } catch (const LayoutError& error) {
    fail<LayoutError>(op, ": ", error.what());
  }
}

Layout layout_of_result(std::span<const Operand> operands, const Shape& shape) {
  std::array<const Layout*, max_inputs> layouts;
  std::size_t count = 0;
  for (const Operand& operand : operands)
    if (operand.array != nullptr) layouts[count++] = &operand.array->layout();
  return result_layout(shape, std::span(layouts.data(), count));
}

Array new_result(std::span<const Operand> operands, const Shape& shape, DType dtype,
                 Device device) {
  return empty_in(layout_of_result(operands, shape), dtype, device);
}

}  // namespace spanwise::ops
