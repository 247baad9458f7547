// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <vector>

#include "compute.hpp"
#include "cuda_kernels.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/kernel.hpp"
#include "spanwise/stream.hpp"
#include "spanwise/walk.hpp"

namespace spanwise::ops {
namespace {

void refuse_exponents(bool none_is_negative) {
  require<ArgumentError>(none_is_negative,
                         "power: integers to negative integer powers are not allowed; expected "
                         "exponents >= 0, got negative ones; use float_power()");
}
// Exponents of integers must not be negative. A number is looked at here, an array by the kernel.
bool checks_exponent(const Signature& signature, std::span<const Operand> operands) {
  if (signature.op != OpId::power || signature.operand(1).code() != DTypeCode::int_) return false;
  if (operands[1].array != nullptr) return true;
  refuse_exponents(operands[1].scalar.as_int64() >= 0);
  return false;
}

class Launch {
 public:
  Launch(const Signature& signature, std::span<const Operand> operands, const Array& result,
         const Array* where)
      : operands_(operands), result_(result), where_(where), walk_(make_walk()) {
    shape_.signature = signature;
    shape_.inputs = static_cast<int>(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      shape_.operands[i] = operands[i].dtype();
      shape_.is_number[i] = operands[i].array == nullptr;
    }
    shape_.result = result.dtype();
    shape_.has_mask = where != nullptr;
    shape_.checks_exponent = checks_exponent(signature, operands);
    choose_kind();
  }

  void run() {
    const Device device = result_.device();
    const Stream stream = Stream::current(device);
    const Function& kernel = cuda_kernel_for(shape_, device);
    for_each_array([&](const Array& array) { order_use(stream, array, &array == &result_); });
    std::optional<Array> negative;
    if (shape_.checks_exponent) order_use(stream, negative.emplace(zeros({}, int32, device)), true);
    std::vector<KernelArg> arguments;
    arguments.reserve(operands_.size() + 4);
    Scalar numbers[max_inputs] = {Scalar(false), Scalar(false), Scalar(false)};
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].array != nullptr)
        arguments.push_back(address(*operands_[i].array));
      else
        arguments.push_back(number(numbers[i], static_cast<int>(i)));
    }
    arguments.push_back(address(result_));
    if (where_ != nullptr) arguments.push_back(address(*where_));
    if (negative) arguments.push_back(address(*negative));
    std::vector<std::int64_t> packed;
    if (shape_.kind != KernelShape::Kind::dense) {
      packed = packed_walk();
      arguments.push_back(KernelArg::bytes(std::as_bytes(std::span(packed))));
    }
    const bool is_rows = shape_.kind == KernelShape::Kind::rows;
    const std::int64_t steps = walk_.size() / (is_rows ? shape_.width : 1);
    arguments.push_back(KernelArg(steps));
    const std::int64_t grid = (steps - 1) / steps_per_block(shape_) + 1;
    kernel.launch({{grid, 1, 1}, {cuda_block, 1, 1}, 0, stream}, arguments);
    // NumPy raises, so this must wait for the answer.
    if (negative) refuse_exponents(item(*negative).as_int64() == 0);
  }

 private:
  template <class F>
  void for_each_array(F&& f) const {
    for (const Operand& operand : operands_)
      if (operand.array != nullptr) f(*operand.array);
    f(result_);
    if (where_ != nullptr) f(*where_);
  }

  Walk make_walk() const {
    const Layout* layouts[max_inputs + 2];
    std::size_t count = 0, leader = 0;
    for_each_array([&](const Array& array) {
      if (&array == &result_) leader = count;
      layouts[count++] = &array.layout();
    });
    return Walk(result_.shape(), std::span(layouts, count), static_cast<int>(leader));
  }

  // Packs of 16 bytes of the widest dtype, where every array lets itself be read so.
  void choose_kind() {
    int widest = 1;
    for_each_array(
        [&](const Array& array) { widest = std::max(widest, array.dtype().itemsize()); });
    shape_.width = std::max(1, 16 / widest);
    shape_.kind = KernelShape::Kind::dense;
    if (walk_.is_dense() && fits_packs(shape_.width)) return;
    shape_.rank = walk_.rank();
    shape_.is_large = walk_.size() > INT32_MAX;
    shape_.kind = KernelShape::Kind::rows;
    for (; shape_.width > 1 && is_along_rows(); shape_.width /= 2)
      if (fits_packs(shape_.width)) return note_what_stays();
    shape_.kind = KernelShape::Kind::strided;
    shape_.width = 1;
  }

  bool is_along_rows() const {
    const auto steps = walk_.strides(walk_.rank() - 1);
    return steps[result_operand()] == 1 && std::all_of(steps.begin(), steps.end(), [](auto step) {
             return step == 0 || step == 1;
           });
  }

  // Arrays that are contiguous along the last axis are so in packs of `width`, each aligned.
  bool fits_packs(std::int64_t width) const {
    const int inner = walk_.rank() - 1;
    bool fits = shape_.kind == KernelShape::Kind::dense || walk_.extent(inner) % width == 0;
    int operand = 0;
    for_each_array([&](const Array& array) {
      const auto pack = static_cast<std::uintptr_t>(width * array.dtype().itemsize());
      if (walk_.stride(inner, operand) == 1) {
        fits &= reinterpret_cast<std::uintptr_t>(array.data()) % pack == 0;
        for (int axis = 0; axis < inner; ++axis) fits &= walk_.stride(axis, operand) % width == 0;
      }
      ++operand;
    });
    return fits;
  }

  void note_what_stays() {
    const auto steps = walk_.strides(walk_.rank() - 1);
    std::size_t operand = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (operands_[i].array != nullptr) shape_.stays[i] = steps[operand++] == 0;
    if (where_ != nullptr) shape_.stays[operands_.size()] = steps[operand + 1] == 0;
  }

  // The result's place among the walk's operands: after those that are arrays.
  std::size_t result_operand() const {
    return static_cast<std::size_t>(walk_.operands()) - (where_ != nullptr ? 2 : 1);
  }

  static KernelArg address(const Array& array) {
    return KernelArg::address(reinterpret_cast<std::uintptr_t>(array.data()));
  }

  KernelArg number(Scalar& kept, int index) const {
    kept = kernel_number(shape_.signature, operands_[static_cast<std::size_t>(index)], index);
    return KernelArg::bytes(std::span(static_cast<const std::byte*>(kept.data()),
                                      static_cast<std::size_t>(kept.dtype().itemsize())));
  }

  // Of rows the last axis is counted in packs.
  std::vector<std::int64_t> packed_walk() const {
    const int inner = walk_.rank() - 1;
    const auto width = [&](int axis) {
      return axis == inner && shape_.kind == KernelShape::Kind::rows ? shape_.width : 1;
    };
    std::vector<std::int64_t> packed;
    packed.reserve(static_cast<std::size_t>(walk_.rank()) *
                   static_cast<std::size_t>(1 + walk_.operands()));
    for (int axis = 0; axis <= inner; ++axis) packed.push_back(walk_.extent(axis) / width(axis));
    for (int operand = 0; operand < walk_.operands(); ++operand)
      for (int axis = 0; axis <= inner; ++axis)
        packed.push_back(walk_.stride(axis, operand) * width(axis));
    return packed;
  }

  std::span<const Operand> operands_;
  const Array& result_;
  const Array* where_;
  Walk walk_;
  KernelShape shape_{};
};

}  // namespace

void compute_on_cuda(const Signature& signature, std::span<const Operand> operands,
                     const Array& result, const Array* where) {
  if (where == nullptr && launch_dense(signature, operands, result)) return;
  Launch(signature, operands, result, where).run();
}

}  // namespace spanwise::ops
