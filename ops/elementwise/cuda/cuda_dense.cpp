// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>

#include "cuda_kernels.hpp"
#include "spanwise/config.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops {
namespace {

/// The properties that determine the kernel if all arrays are contiguous.
struct DenseKey {
  OpId op{};
  bool mixed = false;
  std::uint8_t numbers = 0;  ///< bit i: operand i is passed by value
  DType compute, result;
  std::array<DType, max_inputs> operands;
  Device device;

  friend bool operator==(const DenseKey&, const DenseKey&) = default;
};

struct CachedKernel {
  DenseKey key;
  const Kernel* kernel = nullptr;
  std::int64_t elements_per_block = 0;
};

// Per thread, so that it needs no lock. Loops of programs use few different kernels.
CachedKernel& slot_for(const DenseKey& key) noexcept {
  constexpr std::size_t slots = 32;
  thread_local std::array<CachedKernel, slots> known;
  const auto op = static_cast<std::size_t>(key.op);
  return known[(op * 5 + static_cast<std::size_t>(key.compute.itemsize()) + key.numbers) % slots];
}

/// One call; fits() if all arrays are contiguous, aligned and on one device.
class DenseCall {
 public:
  DenseCall(const Signature& signature, std::span<const Operand> operands, const Array& result)
      : signature_(signature), operands_(operands), result_(result) {
    fits_ = inspect();
  }

  bool fits() const noexcept { return fits_; }

  const CachedKernel* find() const noexcept {
    const CachedKernel& known = slot_for(key_);
    return known.kernel != nullptr && known.key == key_ ? &known : nullptr;
  }

  const CachedKernel& make() const {
    KernelShape shape = shape_of(signature_, operands_, result_);
    int widest = result_.dtype().itemsize();
    for (const Operand& operand : operands_)
      if (operand.array != nullptr) widest = std::max(widest, operand.dtype().itemsize());
    shape.width = std::max(1, 16 / widest);
    const Kernel& kernel = cuda_kernel_for(shape, result_.device());
    return slot_for(key_) = {key_, &kernel, steps_per_block(shape)};
  }

  void launch(const CachedKernel& known) const {
    const Stream stream = Stream::current(result_.device());
    std::array<Scalar, max_inputs> numbers{Scalar(false), Scalar(false), Scalar(false)};
    std::array<void*, max_inputs + 1> addresses;
    std::array<void*, max_inputs + 2> values;
    std::size_t count = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i, ++count) {
      if (const Array* array = operands_[i].array; array != nullptr) {
        order_use(stream, *array, false);
        addresses[i] = array->data();
        values[count] = &addresses[i];
      } else {
        numbers[i] = kernel_number(signature_, operands_[i], static_cast<int>(i));
        values[count] = const_cast<void*>(numbers[i].data());
      }
    }
    order_use(stream, result_, true);
    addresses[count] = result_.data();
    values[count] = &addresses[count];
    ++count;
    std::int64_t elements = result_.size();
    values[count++] = &elements;
    const std::int64_t grid = (elements - 1) / known.elements_per_block + 1;
    known.kernel->launch_raw({{grid, 1, 1}, {cuda_block, 1, 1}, 0, stream},
                             std::span(values.data(), count));
  }

 private:
  // Whether threads would overwrite elements that others have not read yet. A thread may overwrite
  // the elements that it reads.
  bool overlaps_unsafely(const Array& operand) const noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(operand.data());
    const auto target = reinterpret_cast<std::uintptr_t>(result_.data());
    if (begin == target) return operand.dtype().itemsize() != result_.dtype().itemsize();
    return begin < target + static_cast<std::uintptr_t>(result_.nbytes()) &&
           target < begin + static_cast<std::uintptr_t>(operand.nbytes());
  }

  bool inspect() {
    if (result_.readonly() || !result_.layout().is_row_major()) return false;
    key_.op = signature_.op;
    key_.mixed = signature_.mixed;
    key_.compute = signature_.compute;
    key_.result = result_.dtype();
    key_.device = result_.device();
    auto bits = reinterpret_cast<std::uintptr_t>(result_.data());
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      key_.operands[i] = operands_[i].dtype();
      const Array* array = operands_[i].array;
      if (array == nullptr) {
        key_.numbers |= static_cast<std::uint8_t>(1u << i);
        continue;
      }
      if (array->device() != key_.device || !(array->shape() == result_.shape()) ||
          !array->layout().is_row_major())
        return false;
      if (overlaps_unsafely(*array)) return false;
      bits |= reinterpret_cast<std::uintptr_t>(array->data());
    }
    return bits % 16 == 0 && !has_integer_exponents(signature_);
  }

  const Signature& signature_;
  std::span<const Operand> operands_;
  const Array& result_;
  DenseKey key_;
  bool fits_;
};

}  // namespace

bool launch_dense(const Signature& signature, std::span<const Operand> operands,
                  const Array& result) {
  const DenseCall dense(signature, operands, result);
  if (!dense.fits()) return false;
  const CachedKernel* known = dense.find();
  dense.launch(known != nullptr ? *known : dense.make());
  return true;
}

bool try_launch_compute(const Signature& signature, std::span<const Operand> operands,
                        const Array& result) {
  static constinit const config::Flag launch_blocking{"launch_blocking"};
  if (!result.device().is_cuda() || result.size() == 0) return false;
  if (signature.swapped || launch_blocking.get()) return false;
  const DenseCall dense(signature, operands, result);
  const CachedKernel* known = dense.fits() ? dense.find() : nullptr;
  if (known == nullptr) return false;
  dense.launch(*known);
  return true;
}

}  // namespace spanwise::ops
