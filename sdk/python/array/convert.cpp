// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "assign.hpp"
#include "order.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "python/support/dtype.hpp"
#include "python/support/gil.hpp"
#include "python/support/value.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"
#include "spanwise/stream.hpp"

/// Array's methods astype, copy, fill, to and sync.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// Whether `layout` has the order of axes that a copy in `order`, with the layout `copied`, would
// have.
bool has_order(Order order, const Layout& layout, const Layout& copied) {
  if (order == Order::k) return true;
  return copied.is_row_major() ? layout.is_row_major() : layout.is_column_major();
}

PyObject* astype(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<5> signature{
      "astype", {"dtype", "order", "casting", "copy", "device"}, 1, 3};
  const auto [dtype, order, casting, copy, device] = signature.read(values, count, kwnames);
  const Array& array = array_in(self);
  const DType target = dtype_from(dtype);
  const Device target_device = device_in(device, array.device());
  const Order wanted = order_in(order, Order::k);
  if (given(casting)) {
    check_casting(array.dtype(), target, value_of<std::string>(casting, "casting"), "astype");
  }
  if (!truth_in(copy, true) && target == array.dtype() && target_device == array.device() &&
      has_order(wanted, array.layout(), layout_in(wanted, array.shape(), array.layout()))) {
    return Py_NewRef(self);
  }
  return wrap(copied(array, target, target_device, wanted));
}

PyObject* copy_with_order(PyObject* self, Order order) {
  const Array& array = array_in(self);
  return wrap(copied(array, array.dtype(), array.device(), order));
}

PyObject* copy(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<1> signature{"copy", {"order"}, 0, 1};
  const auto [order] = signature.read(values, count, kwnames);
  return copy_with_order(self, order_in(order, Order::c));
}

// __copy__ and __deepcopy__: both copy the elements, as NumPy's do.
PyObject* copy_keeping_order(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
  return copy_with_order(self, Order::k);
}

PyObject* fill(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<1> signature{"fill", {"value"}, 1, 1};
  const auto [value] = signature.read(values, count, kwnames);
  assign(array_in(self), value);
  Py_RETURN_NONE;
}

PyObject* to(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<2> signature{"to", {"device", "copy"}, 1, 1};
  const auto [device, copy_argument] = signature.read(values, count, kwnames);
  const Array& array = array_in(self);
  const Device target = device_from(device);
  const CopyMode mode = mode_in(copy_argument);
  if (mode != CopyMode::always && target == array.device()) return Py_NewRef(self);
  Array moved;
  {
    const GilRelease unlocked;
    moved = to_device(array, target, mode);
  }
  return wrap(std::move(moved));
}

PyObject* sync(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
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
    method<&astype>(
        "astype",
        "astype($self, dtype, order='K', casting='unsafe', *, copy=True, device=None)\n--\n\n"
        "A copy cast to `dtype`, on `device` if given; with copy=False the array itself where "
        "neither\ndtype, device nor order change. `order` is that of numpy.ndarray.astype. Raises "
        "DTypeError\nfor a cast that `casting` does not allow."),
    method<&copy>("copy",
                  "copy($self, order='C')\n--\n\nA new array with the same elements, on the "
                  "same device. `order` is 'C', 'F',\n'A' or 'K', as in NumPy."),
    method<&copy_keeping_order>("__copy__", "__copy__($self)\n--\n\n"),
    method<&copy_keeping_order>("__deepcopy__", "__deepcopy__($self, memo=None)\n--\n\n"),
    method<&fill>("fill", "fill($self, value)\n--\n\nSets every element to `value`."),
    method<&to>("to",
                "to($self, device, *, copy=None)\n--\n\n"
                "The array on `device`: itself if it is on it, else a copy. copy=True always "
                "copies,\ncopy=False raises CopyNeededError instead."),
    method<&sync>("sync",
                  "sync($self)\n--\n\n"
                  "Waits for all streams that use the array's memory, and returns the array."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(array_convert, array_type) { add_array_methods(convert_methods); }

}  // namespace spanwise::python
