// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/copy.hpp"

#include <cstdint>
#include <cstring>

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

// Memory of the host's own, on which no device has work queued.
bool is_idle_host(const Array& array) noexcept {
  return array.device().is_cpu() && array.storage() && array.storage().uses().none();
}

// Few bytes in C order are moved here and now: on its way to the back end a copy would cost several
// times what it takes. All is read before it is written, so the two may overlap.
bool copied_at_once(const Array& source, const Array& target) noexcept {
  constexpr std::int64_t few = 1 << 14;
  if (source.dtype() != target.dtype() || source.shape() != target.shape()) return false;
  const std::int64_t bytes = target.nbytes();
  if (bytes > few || !is_idle_host(source) || !is_idle_host(target)) return false;
  if (!source.layout().is_row_major() || !target.layout().is_row_major()) return false;
  if (bytes > 0) std::memmove(target.data(), source.data(), static_cast<std::size_t>(bytes));
  return true;
}

bool filled_at_once(const Array& target, const Scalar& element) noexcept {
  constexpr std::int64_t few = 1 << 10;
  const std::int64_t bytes = target.nbytes();
  if (bytes > few || !is_idle_host(target) || !target.layout().is_row_major()) return false;
  auto* place = static_cast<std::byte*>(target.data());
  const std::int64_t size = element.dtype().itemsize();
  for (std::int64_t at = 0; at < bytes; at += size)
    std::memcpy(place + at, element.data(), static_cast<std::size_t>(size));
  return true;
}

}  // namespace

void copy(const Array& source, const Array& target) {
  check_writable(target, "copy");
  if (copied_at_once(source, target)) return;
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
  const Scalar element = value.dtype() == target.dtype() ? value : value.cast(target.dtype());
  if (target.size() == 0 || filled_at_once(target, element)) return;
  if (target.dtype().is_computable()) return runtime::fill_on_device(target, element);
  std::byte bytes[sizeof(Scalar)];
  std::memcpy(bytes, element.data(), static_cast<std::size_t>(target.dtype().itemsize()));
  copy(Array(Storage::adopt(bytes, static_cast<std::size_t>(target.dtype().itemsize()), cpu,
                            nullptr, nullptr),
             Layout{}, target.dtype()),
       target);
}

}  // namespace spanwise
