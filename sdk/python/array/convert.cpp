// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "assign.hpp"
#include "order.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/declared.hpp"
#include "python/support/dtype.hpp"
#include "python/support/value.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"

/// Array's methods astype, copy, fill, to and sync.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// Whether `layout` has the order of axes of `copy`, the layout that a copy in `order` has.
bool has_order(ArrayOrder order, const Layout& layout, const Layout& copy) {
  if (order == ArrayOrder::k) return true;
  return copy.is_row_major() ? layout.is_row_major() : layout.is_column_major();
}

PyObject* astype(PyObject* self, PyObject* dtype, PyObject* order, PyObject* casting,
                 PyObject* copy, PyObject* device) {
  const Array& array = array_in(self);
  const DType target = dtype_from(dtype);
  const Device target_device = device_or(device, array.device());
  const ArrayOrder target_order = order_or(order, ArrayOrder::k);
  if (given(casting)) {
    check_casting(array.dtype(), target, value_of<std::string>(casting, "casting"), "astype");
  }
  if (!truth_or(copy, true) && target == array.dtype() && target_device == array.device() &&
      has_order(target_order, array.layout(),
                packed_layout(target_order, array.shape(), array.layout()))) {
    return Py_NewRef(self);
  }
  return wrap(copied(array, target, target_device, target_order));
}

PyObject* copy_with_order(PyObject* self, ArrayOrder order) {
  const Array& array = array_in(self);
  return wrap(copied(array, array.dtype(), array.device(), order));
}

PyObject* copy(PyObject* self, PyObject* order) {
  return copy_with_order(self, order_or(order, ArrayOrder::c));
}

// __copy__ and __deepcopy__: both copy the elements, as NumPy's do.
PyObject* copy_keeping_order(PyObject* self) { return copy_with_order(self, ArrayOrder::k); }

void fill(PyObject* self, PyObject* value) { assign(array_in(self), value); }

PyObject* to(PyObject* self, PyObject* device, PyObject* copy_argument) {
  const Array& array = array_in(self);
  const Device target = device_from(device);
  const CopyMode mode = copy_mode_from(copy_argument);
  if (mode != CopyMode::always && target == array.device()) return Py_NewRef(self);
  return wrap(without_gil([&] { return to_device(array, target, mode); }));
}

PyObject* sync(PyObject* self) {
  const Array array = array_in(self);
  if (array.storage()) {
    const GilRelease unlocked;
    for (const Ref<StreamIdentity>& user : array.storage().uses().all()) {
      Stream::of(*user).synchronize();
    }
  }
  return Py_NewRef(self);
}

PyMethodDef convert_methods[] = {
    declared<"astype($self, dtype, order='K', casting='unsafe', *, copy=True, device=None)",
             "A copy cast to `dtype`, on `device` if given; with copy=False the array itself where "
             "neither\ndtype, device nor order change. `order` is that of numpy.ndarray.astype. "
             "Raises DTypeError\nfor a cast that `casting` does not allow.",
             &astype>(),
    declared<"copy($self, order='C')",
             "A new array with the same elements, on the same device. `order` is 'C', 'F',\n'A' or "
             "'K', as in NumPy.",
             &copy>(),
    declared<"__copy__($self)", "", &copy_keeping_order>(),
    declared<"__deepcopy__($self, memo=None)", "",
             [](PyObject* self, PyObject*) { return copy_keeping_order(self); }>(),
    declared<"fill($self, value)", "Sets every element to `value`.", &fill>(),
    declared<"to($self, device, *, copy=None)",
             "The array on `device`: itself if it is on it, else a copy. copy=True always "
             "copies,\ncopy=False raises CopyNeededError instead.",
             &to>(),
    declared<"sync($self)",
             "Waits for all streams that use the array's memory, and returns the array.", &sync>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(array_convert, array_type) { add_array_methods(convert_methods); }

}  // namespace spanwise::python
