// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <memory>

#include "../compute.hpp"
#include "operation_body.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/call.hpp"

namespace spanwise::ops {
namespace {

using strided::ArrayRole;
using strided::BodyKernels;

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
    const Kernel& kernel =
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
    const Kernel* kernel = kernels_of(key_).find({call_.shape(), result_.device()});
    if (kernel == nullptr) return false;
    launch(*kernel, nullptr);
    return true;
  }

 private:
  // `has_negative`: where the kernel reports negative exponents; null if it does not check them.
  void launch(const Kernel& kernel, void* has_negative) const {
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

}  // namespace spanwise::ops
