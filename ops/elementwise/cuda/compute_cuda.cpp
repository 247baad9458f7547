// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <vector>

#include "../compute.hpp"
#include "cuda_kernels.hpp"
#include "cuda_plan.hpp"
#include "cuda_source.hpp"
#include "cuda_walk.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/kernel.hpp"
#include "spanwise/strided/walk.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops {
namespace {

void fail_negative_exponent(bool has_negative_exponent) {
  if (has_negative_exponent)
    fail<ArgumentError>(
        "power: integers to negative integer powers are not allowed; expected "
        "exponents >= 0, got negative ones; use float_power()");
}
// Whether the kernel must check exponents; the host checks a number.
bool checks_exponent(const Signature& signature, std::span<const Operand> operands) {
  if (!has_integer_exponents(signature)) return false;
  if (operands[1].array != nullptr) return true;
  fail_negative_exponent(operands[1].scalar.as_int64() < 0);
  return false;
}

class Launch {
 public:
  Launch(const Signature& signature, std::span<const Operand> operands, const Array& result,
         const Array* where)
      : operands_(operands),
        result_(result),
        where_(where),
        walk_(make_walk()),
        shape_(shape_of(signature, operands, result)) {
    shape_.has_mask = where != nullptr;
    shape_.checks_exponent = checks_exponent(signature, operands);
    choose_kind();
  }

  void run() {
    const Device device = result_.device();
    const Stream stream = Stream::current(device);
    const Kernel& kernel = cuda_kernel_for(shape_, device);
    for_each_array([&](const Array& array) { order_use(stream, array, &array == &result_); });
    std::optional<Array> negative;
    if (shape_.checks_exponent) order_use(stream, negative.emplace(zeros({}, int32, device)), true);
    std::vector<KernelArg> arguments;
    arguments.reserve(operands_.size() + 4);
    Scalar numbers[max_inputs] = {Scalar(false), Scalar(false), Scalar(false)};
    int walk_index = 0;  // index of the array in the walk
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].array != nullptr)
        arguments.push_back(address(*operands_[i].array, walk_index++));
      else
        arguments.push_back(number(numbers[i], static_cast<int>(i)));
    }
    arguments.push_back(address(result_, walk_index++));
    if (where_ != nullptr) arguments.push_back(address(*where_, walk_index));
    if (negative) arguments.push_back(address_of(negative->data()));
    if (cuda_walk_) arguments.push_back(KernelArg::bytes(cuda_walk_->bytes()));
    const std::int64_t steps = cuda_walk_ ? steps_of(shape_, *cuda_walk_) : walk_.size();
    if (shape_.kind != KernelShape::Kind::tiles) arguments.push_back(KernelArg(steps));
    const std::int64_t grid = (steps - 1) / steps_per_block(shape_) + 1;
    kernel.launch({{grid, 1, 1}, {cuda_block, 1, 1}, 0, stream}, arguments);
    // Waits for the kernel, since NumPy raises an error for negative exponents.
    if (negative) fail_negative_exponent(item(*negative).as_int64() != 0);
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

  // Packs of 16 bytes of the widest dtype, if all arrays are contiguous and aligned.
  void choose_kind() {
    if (walk_.is_dense()) {
      int widest = 1;
      for_each_array(
          [&](const Array& array) { widest = std::max(widest, array.dtype().itemsize()); });
      shape_.width = std::max(1, 16 / widest);
      if (fits_packs()) return;
    }
    shape_.is_large = walk_.size() > INT32_MAX;
    plan_on_cuda(shape_, cuda_walk_.emplace(walk_), operand_infos());
  }

  bool fits_packs() const {
    bool fits = true;
    for_each_array([&](const Array& array) {
      const auto pack = static_cast<std::uintptr_t>(shape_.width * array.dtype().itemsize());
      fits &= reinterpret_cast<std::uintptr_t>(array.data()) % pack == 0;
    });
    return fits;
  }

  // In the walk's order.
  std::vector<OperandInfo> operand_infos() {
    std::vector<OperandInfo> all;
    const auto add = [&](const Array& array, AccessPattern* pattern) {
      all.push_back(
          {reinterpret_cast<std::uintptr_t>(array.data()), array.dtype().itemsize(), pattern});
    };
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (operands_[i].array != nullptr) add(*operands_[i].array, &shape_.patterns[i]);
    add(result_, nullptr);
    if (where_ != nullptr) add(*where_, &shape_.patterns[operands_.size()]);
    return all;
  }

  static KernelArg address_of(const void* data) {
    return KernelArg::address(reinterpret_cast<std::uintptr_t>(data));
  }
  // The address of the first element of the walk's array `walk_index`.
  KernelArg address(const Array& array, int walk_index) const {
    const std::int64_t first =
        cuda_walk_ ? cuda_walk_->offset(walk_index) * array.dtype().itemsize() : 0;
    return address_of(static_cast<const std::byte*>(array.data()) + first);
  }

  KernelArg number(Scalar& kept, int index) const {
    kept = kernel_number(shape_.signature, operands_[static_cast<std::size_t>(index)], index);
    return KernelArg::bytes(std::span(static_cast<const std::byte*>(kept.data()),
                                      static_cast<std::size_t>(kept.dtype().itemsize())));
  }

  std::span<const Operand> operands_;
  const Array& result_;
  const Array* where_;
  Walk walk_;
  std::optional<CudaWalk> cuda_walk_;  // for all kinds but dense
  KernelShape shape_;
};

}  // namespace

void compute_on_cuda(const Signature& signature, std::span<const Operand> operands,
                     const Array& result, const Array* where) {
  if (where == nullptr && launch_dense(signature, operands, result)) return;
  Launch(signature, operands, result, where).run();
}

}  // namespace spanwise::ops
