// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/strided/plan.hpp"

namespace spanwise::strided {

/// How a body uses one of its arrays.
struct BodyArray {
  std::string type;  ///< of its elements, in CUDA C; a trivial type unless it is used in place
  ArrayRole role;
};

/// What a CUDA kernel computes for each element; cuda_source() adds how arrays are read and
/// written. Names that begin with "sw_" are reserved for cuda_source().
struct Body {
  std::string name = "run";  ///< of the kernel
  std::string prelude{};     ///< before the kernel: types and functions
  /// In the plan's order. At most one mask, the last.
  std::vector<BodyArray> arrays{};
  /// Further parameters of the kernel, each followed by ", ". The statements may use them.
  std::string parameters{};
  /// Statements that each thread of the grid runs before and after the loop over its elements.
  std::string before{}, after{};
  /// Directives around the library's own text after the prelude: they remove macros of the user's
  /// code, which may have names of the library, and define them again.
  std::string hide_macros{}, show_macros{};
  /// Statements that compute one element: a function's body. Element k of `arrays` is sw_ek, an
  /// lvalue for written arrays, the offset for the index.
  std::string statements{};
};

/// CUDA C with one kernel. Its parameters: for each array the address of the first visited element,
/// for the index its value there as int64; Body::parameters; except for dense,
/// StridedPlan::numbers() as one struct; and, for dense and rows, StridedPlan::steps() as int64.
/// Blocks have block_threads threads.
std::string cuda_source(const Body& body, const PlanShape& shape);

/// Selects one of a body's kernels.
struct PlanKey {
  PlanShape shape;
  Device device;

  friend bool operator==(const PlanKey&, const PlanKey&) = default;
};
/// The kernel of a body of the library's own. Unlike a Kernel, which may be a user's, it is
/// launched without the checks of config "kernel_check", which themselves copy and fill arrays.
class BodyKernel {
 private:
  friend class StridedCall;
  explicit BodyKernel(Kernel kernel) noexcept : kernel_(std::move(kernel)) {}
  Kernel kernel_;
};

/// The compiled kernels of one body. Never destroy one that lives as long as the process: at exit
/// the GPU may be gone before static objects are destroyed.
using BodyKernels = KernelList<PlanKey, BodyKernel>;

/// The kernels of a family's bodies, by a key that determines the body. Thread-safe. Never destroy
/// one, as for BodyKernels.
template <class Key>
class BodyTable {
 public:
  BodyKernels& operator[](const Key& key) {
    return *all_.get(key, [] { return std::make_unique<BodyKernels>(); });
  }

 private:
  KernelTable<std::map<Key, std::unique_ptr<BodyKernels>>> all_;
};

/// Compiles the kernel of a body for a plan, without fused multiply-adds: products are rounded
/// before they are added, as on the host.
Kernel compile_body(const Body& body, const PlanShape& shape, Device device);

/// One loop over arrays on a GPU: add() them in the body's order, plan(), and launch the kernel for
/// shape(). The arrays and `shape` must live as long as this object.
class StridedCall {
 public:
  /// The shape that all arrays broadcast to, which has at least one element.
  explicit StridedCall(const Shape& shape) noexcept : broadcast_(shape) {}
  StridedCall(const StridedCall&) = delete;
  StridedCall& operator=(const StridedCall&) = delete;

  void add(const Array& array, ArrayRole role) noexcept {
    add(array, array.layout(), array.data(), array.dtype().itemsize(), role);
  }
  /// The memory of `array` as elements of another size and layout, the first of them at `data`.
  void add(const Array& array, const Layout& layout, const void* data, int itemsize,
           ArrayRole role) noexcept {
    planned_[count_] = {&layout, reinterpret_cast<std::uintptr_t>(data), itemsize, role};
    arrays_[count_++] = &array;
  }
  /// The offset of elements in `layout`, which broadcasts to this call's shape.
  void add_index(const Layout& layout) noexcept {
    planned_[count_] = {&layout, 0, 1, ArrayRole::index};
    arrays_[count_++] = nullptr;
  }

  /// Plans arrays that are all contiguous and aligned; returns false for others.
  bool try_plan_dense(const PlanOptions& options = {}) noexcept {
    return plan_.try_make_dense(broadcast_, arrays(), options);
  }
  void plan(const PlanOptions& options = {}) { plan_.make(broadcast_, arrays(), options); }
  const PlanShape& shape() const noexcept { return plan_.shape(); }
  bool is_contiguous() const noexcept { return plan_.is_contiguous(); }
  /// Bytes of an element of array k as the plan counts them.
  int itemsize(int k) const noexcept {
    return planned_[static_cast<std::size_t>(k)].itemsize * plan_.joined();
  }
  /// The address of array k's first visited element; for the index, its first value.
  std::uintptr_t start(int k) const noexcept {
    const PlanArray& array = planned_[static_cast<std::size_t>(k)];
    return array.address + static_cast<std::uintptr_t>(plan_.offset(k) * array.itemsize);
  }

  /// The kernel of a body for shape() on `device`, compiled at the first call from make_body().
  template <class MakeBody>
  const BodyKernel& kernel(BodyKernels& kernels, Device device, MakeBody&& make_body) const {
    return kernels.get({shape(), device},
                       [&] { return BodyKernel(compile_body(make_body(), shape(), device)); });
  }
  /// Queues the kernel on the device's current stream, after earlier work on the arrays.
  /// `body_arguments[i]` is the address of the value of parameter i of Body::parameters. Throws
  /// DeviceError.
  void launch(const BodyKernel& kernel, std::span<void* const> body_arguments) const;
  /// The same on `stream`, where the caller has ordered the arrays: for copies.
  void launch_ordered(const BodyKernel& kernel, std::span<void* const> body_arguments,
                      runtime::StreamState& stream) const;
  /// The same for a user's code, with the checks of config "kernel_check". `body_arguments` are the
  /// values of Body::parameters.
  void launch(const Kernel& kernel, const RawArguments& body_arguments) const;

 private:
  /// The values of a kernel's parameters.
  class Arguments;
  runtime::StreamState& order_arrays(Device device) const;
  std::span<const PlanArray> arrays() const noexcept { return {planned_.data(), count_}; }

  const Shape& broadcast_;
  std::size_t count_ = 0;
  std::array<PlanArray, max_arrays> planned_;
  std::array<const Array*, max_arrays> arrays_;  ///< null for the index
  StridedPlan plan_;
};

}  // namespace spanwise::strided
