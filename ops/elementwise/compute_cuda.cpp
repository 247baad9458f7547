// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compute.hpp"
#include "cuda_plan.hpp"
#include "cuda_source.hpp"
#include "cuda_walk.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/kernel.hpp"
#include "spanwise/stream.hpp"
#include "spanwise/walk.hpp"

namespace spanwise::ops {
namespace {

/// All that a KernelShape says, and the device: what is computed, and how the arrays lie.
struct KernelKey {
  std::uint64_t what, how;

  bool operator==(const KernelKey&) const = default;
};
struct KernelKeyHash {
  std::size_t operator()(const KernelKey& key) const noexcept {
    return static_cast<std::size_t>(key.what * 0x9e3779b97f4a7c15 ^ key.how);
  }
};

KernelKey key_of(const KernelShape& shape, Device device) {
  KernelKey key{static_cast<std::uint64_t>(shape.signature.op), 0};
  const auto add = [](std::uint64_t& word, auto value, int bits) {
    word = word << bits | static_cast<std::uint64_t>(value);
  };
  add(key.what, place_of(shape.signature.compute), 4);
  add(key.what, shape.signature.mixed, 1);
  for (int i = 0; i < max_inputs; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const bool is_there = i < shape.inputs;
    add(key.what, is_there ? place_of(shape.operands[index]) : 0, 4);
    add(key.what, is_there && shape.is_number[index], 1);
  }
  add(key.what, place_of(shape.result), 4);
  add(key.what, shape.has_mask, 1);
  add(key.what, shape.checks_exponent, 1);
  add(key.what, device.ordinal(), 8);
  for (const Lie lie : shape.lies) add(key.how, lie, 3);
  add(key.how, shape.kind, 2);
  add(key.how, shape.width, 5);
  add(key.how, shape.rank, 7);
  add(key.how, shape.is_large, 1);
  add(key.how, shape.has_tail, 1);
  add(key.how, shape.side_s, 8);
  add(key.how, shape.side_t, 8);
  return key;
}

// Compiled at first use, then found by its key. Never destroyed: arrays may outlive static objects.
const Function& cuda_kernel_for(const KernelShape& shape, Device device) {
  static auto& mutex = *new std::shared_mutex;
  static auto& known = *new std::unordered_map<KernelKey, Function, KernelKeyHash>;
  // A loop of a program asks for the same kernel again.
  thread_local std::pair<KernelKey, const Function*> last{{}, nullptr};
  const KernelKey key = key_of(shape, device);
  if (last.first == key && last.second != nullptr) return *last.second;
  {
    const std::shared_lock lock(mutex);
    if (const auto found = known.find(key); found != known.end())
      return *(last = {key, &found->second}).second;
  }
  ModuleOptions options;
  options.device = device;
  // As on the host, products are rounded before they are added.
  options.options = {"--fmad=false"};
  const Function made = SourceModule(cuda_source(shape), options).get_function("run");
  const std::unique_lock lock(mutex);
  return known.emplace(key, made).first->second;
}

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
    int place = 0;  // among the arrays, as the walk has them
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].array != nullptr)
        arguments.push_back(address(*operands_[i].array, place++));
      else
        arguments.push_back(number(numbers[i], static_cast<int>(i)));
    }
    arguments.push_back(address(result_, place++));
    if (where_ != nullptr) arguments.push_back(address(*where_, place));
    if (negative) arguments.push_back(address_of(negative->data()));
    if (lines_) arguments.push_back(KernelArg::bytes(lines_->bytes()));
    const std::int64_t steps = lines_ ? steps_of(shape_, *lines_) : walk_.size();
    if (shape_.kind != KernelShape::Kind::tiles) arguments.push_back(KernelArg(steps));
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
    shape_.kind = KernelShape::Kind::dense;
    if (walk_.is_dense()) {
      int widest = 1;
      for_each_array(
          [&](const Array& array) { widest = std::max(widest, array.dtype().itemsize()); });
      shape_.width = std::max(1, 16 / widest);
      if (fits_packs()) return;
    }
    shape_.is_large = walk_.size() > INT32_MAX;
    plan_on_cuda(shape_, lines_.emplace(walk_), strands());
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
  std::vector<Strand> strands() {
    std::vector<Strand> all;
    const auto add = [&](const Array& array, Lie* lie) {
      all.push_back(
          {reinterpret_cast<std::uintptr_t>(array.data()), array.dtype().itemsize(), lie});
    };
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (operands_[i].array != nullptr) add(*operands_[i].array, &shape_.lies[i]);
    add(result_, nullptr);
    if (where_ != nullptr) add(*where_, &shape_.lies[operands_.size()]);
    return all;
  }

  static KernelArg address_of(const void* data) {
    return KernelArg::address(reinterpret_cast<std::uintptr_t>(data));
  }
  // Of the walk's array at `place`: where its first element is.
  KernelArg address(const Array& array, int place) const {
    const std::int64_t first = lines_ ? lines_->offset(place) * array.dtype().itemsize() : 0;
    return address_of(static_cast<const std::byte*>(array.data()) + first);
  }

  // As its bytes in registers: a 16-bit float is a float there, unless the kernel has it as bits.
  KernelArg number(Scalar& kept, int index) const {
    const DType wanted = shape_.signature.operand(index);
    kept = operands_[static_cast<std::size_t>(index)].scalar.cast(wanted);
    const bool is_half = wanted == float16 || wanted == bfloat16;
    if (is_half && (facts(shape_.signature.op).traits & native_halves) == 0)
      kept = kept.cast(float32);
    return KernelArg::bytes(std::span(static_cast<const std::byte*>(kept.data()),
                                      static_cast<std::size_t>(kept.dtype().itemsize())));
  }

  std::span<const Operand> operands_;
  const Array& result_;
  const Array* where_;
  Walk walk_;
  std::optional<CudaWalk> lines_;  // of all kinds but dense
  KernelShape shape_{};
};

}  // namespace

void compute_on_cuda(const Signature& signature, std::span<const Operand> operands,
                     const Array& result, const Array* where) {
  Launch(signature, operands, result, where).run();
}

}  // namespace spanwise::ops
