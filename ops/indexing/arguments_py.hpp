// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <span>

#include "indexing.hpp"
#include "python/array/assign.hpp"
#include "python/support/array.hpp"
#include "python/support/call.hpp"
#include "python/support/gil.hpp"
#include "python/support/scalar.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/scalar.hpp"
#include "spanwise/core/storage.hpp"
#include "spanwise/core/device.hpp"

/// Conversions of the Python arguments of this op family.
namespace spanwise::python {

/// Indices or a mask: any library's array, nested lists, or a number. An empty list has an integer
/// dtype, as in NumPy.
inline Array index_array_in(PyObject* object) {
  if (is_array(object)) return array_in(object);
  if (PyList_Check(object) || PyTuple_Check(object)) {
    const Array listed = import_array(object, {.device = cpu});  // checked on the host
    return listed.size() == 0 && listed.dtype() == float64 ? astype(listed, int64) : listed;
  }
  return import_array(object);
}

/// The value of a[k] = v for a `target` array. A number on the host is not copied: the array refers
/// to this object and must not outlive it.
class ValueArray {
 public:
  ValueArray(PyObject* object, const Array& target) {
    if (!is_python_scalar(object)) {
      array_ = assignable(object, target.dtype());
      return;
    }
    number_ = scalar_from(object, target.dtype());
    const auto bytes = static_cast<std::size_t>(target.dtype().itemsize());
    array_ = !runs_on_host(target.device())
                 ? full(Shape{}, number_, target.dtype(), target.device())
                 : Array(Storage::adopt(const_cast<void*>(number_.data()), bytes, cpu, nullptr,
                                        nullptr, /*readonly=*/true),
                         Layout{}, target.dtype());
  }
  ValueArray(const ValueArray&) = delete;
  ValueArray& operator=(const ValueArray&) = delete;
  const Array& array() const noexcept { return array_; }

 private:
  Scalar number_{false};
  Array array_;
};

/// is_long() of the array or of an index array of `key`.
inline bool is_long(const Array& array, std::span<const ops::IndexPart> key) noexcept {
  return is_long(array) || std::ranges::any_of(key, [](const ops::IndexPart& part) {
           const auto* indices = std::get_if<Array>(&part);
           return indices != nullptr && is_long(*indices);
         });
}

}  // namespace spanwise::python
