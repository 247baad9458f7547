// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/element_loops.hpp"
#include "spanwise/core/error.hpp"
#include "strided/cpu/copy_loop.hpp"

namespace spanwise::strided {
namespace {

void copy_on_cpu(const Array& source, const Array& target, runtime::StreamState&) {
  if (target.size() == 0) return;
  StridedCopy copy(target, source.layout(), source.data(), source.dtype().itemsize());
  if (source.dtype() != target.dtype()) return copy.cast(source.dtype(), target.dtype());
  copy.move();
}

void fill_on_cpu(const Array& target, const Scalar& value, runtime::StreamState&) {
  if (value.dtype() != target.dtype())
    fail<DTypeError>("cpu fill: value is ", value.dtype(), ", array is ", target.dtype(),
                     "; expected one dtype");
  if (target.size() == 0) return;
  StridedCopy copy(target, Layout{}, value.data(), target.dtype().itemsize());
  if (!copy.try_set_bytes()) copy.move();
}

constexpr runtime::ElementLoops cpu_loops{copy_on_cpu, fill_on_cpu};
[[maybe_unused]] const auto previous_cpu_loops =
    runtime::register_element_loops(DeviceKind::cpu, &cpu_loops);

}  // namespace
}  // namespace spanwise::strided
