// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/copy.hpp"

#include "runtime/copy_steps.hpp"
#include "runtime/dense.hpp"
#include "runtime/ordering.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"

namespace spanwise {
namespace {

using runtime::as_computable;
using runtime::execution_device;

void check_writable(const Array& target, const char* who) {
  require<ReadOnlyError>(!target.readonly(), who, ": ", target,
                         " was handed out for reading only; write to a copy of it");
}

void check_dtypes(DType source, DType target) {
  if (source == target) return;
  for (const DType dtype : {source, target})
    require<DTypeError>(dtype.is_computable(), "copy: no cast from ", source, " to ", target,
                        ", since ", dtype,
                        " cannot be computed on; expected equal dtypes or computable ones. Cast in "
                        "the library that "
                        "made it, or move its bytes with reinterpret(uint8)");
}

// Both windows hold the same elements at the same places, so there is nothing to move.
bool is_same_window(const Array& a, const Array& b) noexcept {
  return a.dtype() == b.dtype() && a.data() == b.data() &&
         runtime::same_steps(a.layout(), b.layout());
}

}  // namespace

void copy(const Array& source, const Array& target) {
  check_writable(target, "copy");
  check_dtypes(source.dtype(), target.dtype());
  const Array stretched = source.broadcast_to(target.shape());
  if (target.size() == 0 || is_same_window(stretched, target)) return;
  const auto [from, to] = as_computable(source, target);
  if (may_share_memory(source, target)) {
    // Read all of it before the first write. What is stretched is kept once.
    const Array kept = runtime::empty_like(from, from.dtype(), execution_device(from.device()));
    runtime::copy_on_device(from, kept);
    runtime::copy_anywhere(kept, to);
  } else {
    runtime::copy_anywhere(from, to);
  }
}

void fill(const Array& target, const Scalar& value) {
  check_writable(target, "fill");
  check_dtypes(value.dtype(), target.dtype());
  const Scalar element = value.cast(target.dtype());
  if (target.size() == 0) return;
  if (target.dtype().is_computable()) return runtime::fill_on_device(target, element);
  std::byte bytes[sizeof(Scalar)];
  std::memcpy(bytes, element.data(), static_cast<std::size_t>(target.dtype().itemsize()));
  copy(Array(Storage::adopt(bytes, static_cast<std::size_t>(target.dtype().itemsize()), cpu,
                            nullptr, nullptr),
             Layout{}, target.dtype()),
       target);
}

}  // namespace spanwise
