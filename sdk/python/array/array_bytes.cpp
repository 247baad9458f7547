// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/array/array_copies.hpp"
#include "python/array/array_object.hpp"
#include "python/array/array_slots.hpp"
#include "python/dtype_object.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/devices.hpp"

/// The bytes of arrays for others: the buffer protocol and pickles.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The shape and strides that a Py_buffer points to; freed when the buffer is released.
struct ExportedBuffer {
  std::vector<Py_ssize_t> shape, strides;
};

// The class of the error for an array of a GPU, derived from BufferError and TypeError, which
// memoryview() raises for objects without the protocol. Numba reads an argument of a kernel by the
// CUDA Array Interface only after a TypeError.
PyObject* no_buffer_error = nullptr;

bool requests(int flags, int form) noexcept { return (flags & form) == form; }

void check_request(const Array& array, int flags) {
  const auto refuse = [&](const char* why, const char* remedy, PyObject* type = PyExc_BufferError) {
    PyErr_Format(type, "Array: %s (%s); %s", why, text(array).c_str(), remedy);
    throw py::error_already_set();
  };
  if (!array.device().is_cpu()) {
    refuse("the memory of a GPU has no host buffer",
           "copy it to the host with a.numpy() or a.to('cpu')", no_buffer_error);
  }
  if ((flags & PyBUF_WRITABLE) != 0 && array.readonly()) {
    refuse("a writable buffer of read-only memory was requested", "copy it first: a.copy()");
  }
  const bool row_major = array.layout().is_row_major(),
             column_major = array.layout().is_column_major();
  const char* remedy = "copy it first: spanwise.ascontiguousarray(a)";
  if (requests(flags, PyBUF_C_CONTIGUOUS) && !row_major) refuse("it is not C-contiguous", remedy);
  if (requests(flags, PyBUF_F_CONTIGUOUS) && !column_major)
    refuse("it is not Fortran-contiguous", remedy);
  if (requests(flags, PyBUF_ANY_CONTIGUOUS) && !row_major && !column_major)
    refuse("it is not contiguous", remedy);
  if (!requests(flags, PyBUF_STRIDES) && !row_major) {
    refuse("a buffer without strides was requested, but the array is not C-contiguous", remedy);
  }
}

void fill_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Array& array = array_in(self);
  check_request(array, flags);
  const char* format = buffer_format(array.dtype());
  if (format == nullptr && requests(flags, PyBUF_FORMAT)) {
    PyErr_Format(PyExc_BufferError,
                 "Array: the buffer protocol has no format for dtype %s; pass a.view('uint%d')",
                 array.dtype().name().c_str(), array.dtype().itemsize() * 8);
    throw py::error_already_set();
  }
  auto exported = std::make_unique<ExportedBuffer>();
  exported->shape.assign(array.shape().begin(), array.shape().end());
  for (const std::int64_t stride : array.strides())
    exported->strides.push_back(stride * array.dtype().itemsize());
  // Not null for an empty array: consumers may treat a null pointer as an error.
  static char placeholder[16];
  view->buf = array.data() != nullptr ? array.data() : placeholder;
  view->len = array.nbytes();
  view->itemsize = array.dtype().itemsize();
  view->readonly = array.readonly();
  view->ndim = array.rank();
  view->format = requests(flags, PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->shape = requests(flags, PyBUF_ND) ? exported->shape.data() : nullptr;
  view->strides = requests(flags, PyBUF_STRIDES) ? exported->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = exported.release();
  Py_INCREF(self);
  view->obj = self;
}

}  // namespace

int array_get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  fill_buffer(self, view, flags);
  return 0;
}

void array_release_buffer(PyObject*, Py_buffer* view) noexcept {
  delete static_cast<ExportedBuffer*>(view->internal);
  view->internal = nullptr;
}

// Pickling through host bytes in the array's own order of axes; an axis of stride 0 is written
// once. From protocol 5 on the bytes are a PickleBuffer, which can be transferred out of band (PEP
// 574) and whose memory the unpickled array shares.

namespace {

bool is_repeated(const Layout& layout, int axis) {
  return layout.strides[axis] == 0 && layout.shape[axis] > 1;
}

// A view in which axes of stride 0 have extent 1: each element in memory once.
Array without_repeats(const Array& array) {
  Layout layout = array.layout();
  if (layout.size() == 0) return array;
  for (int axis = 0; axis < layout.rank(); ++axis)
    if (is_repeated(layout, axis)) layout.shape[axis] = 1;
  return array.with_layout(std::move(layout));
}

bool is_packed(const Layout& layout, const Layout& packed) {
  for (int axis = 0; axis < layout.rank(); ++axis)
    if (layout.shape[axis] != 1 && layout.strides[axis] != packed.strides[axis]) return false;
  return true;
}

// The strides in bytes, or None where the elements lie in C order.
py::object strides_to_write(const Array& array, const Array& host) {
  const Layout& layout = array.layout();
  const std::int64_t item = array.dtype().itemsize();
  py::tuple strides(static_cast<std::size_t>(layout.rank()));
  bool is_c_order = true;
  for (int axis = 0; axis < layout.rank(); ++axis) {
    const bool repeats = layout.size() > 0 && is_repeated(layout, axis);
    is_c_order &= !repeats;
    strides[static_cast<std::size_t>(axis)] = repeats ? 0 : host.strides()[axis] * item;
  }
  if (layout.size() == 0 || (is_c_order && host.layout().is_row_major())) return py::none();
  return strides;
}

// The elements as uint8, since the buffer protocol has no format for some dtypes.
py::object content_of(const Array& host, std::int64_t protocol) {
  const Array bytes(
      host.storage(),
      Layout{Shape{host.nbytes()}, Strides{1}, host.layout().offset * host.dtype().itemsize()},
      uint8);
  const py::object content = py::cast(bytes);
  if (protocol >= 5) return py::module_::import("pickle").attr("PickleBuffer")(content);
  return owned(PyBytes_FromObject(content.ptr()));
}

py::object reduce(PyObject* self, std::int64_t protocol) {
  const py::handle object(self);
  const Array& array = array_in(self);
  const Array whole = without_repeats(array);
  const Layout packed = whole.layout().packed(whole.shape());
  const bool is_dense = whole.size() == 0 || is_packed(whole.layout(), packed);
  Array host =
      on_host(is_dense ? whole : copied(whole, whole.dtype(), whole.device(), ArrayOrder::k));
  if (host.size() > 0 && is_packed(host.layout(), packed))
    host = host.with_layout({host.shape(), packed.strides, host.layout().offset});
  // None for a writeable array from protocol 5 on: the unpickled array is then writeable if its
  // buffer is.
  py::object readonly = py::none();
  if (array.readonly() || protocol < 5) readonly = py::bool_(array.readonly());
  const bool is_plain = Py_TYPE(self) == array_type;
  const py::tuple arguments =
      py::make_tuple(content_of(host, protocol), array.dtype().name(), object.attr("shape"),
                     strides_to_write(array, host), array.device().name(), readonly,
                     is_plain ? py::object(py::none()) : py::object(py::type::of(object)));
  return py::make_tuple(py::module_::import("spanwise._numpy.array_methods").attr("rebuild_array"),
                        arguments, py::getattr(object, "__dict__", py::none()));
}

PyMethodDef pickle_methods[] = {
    declared<"__reduce_ex__($self, protocol, /)", "",
             [](PyObject* self, PyObject* protocol) {
               return reduce(self, integer_from(protocol));
             }>(),
    declared<"__reduce__($self)", "", [](PyObject* self) { return reduce(self, 2); }>(),
    {}};

// This process's default device for an array of a GPU, whose ordinal has a meaning only in the
// process that wrote the pickle.
Device device_in_this_process(const std::string& name) {
  const Device recorded = Device::parse(name);
  if (!recorded.is_cpu()) return default_device();
  const std::vector<Device> present = devices();
  return std::find(present.begin(), present.end(), recorded) != present.end() ? recorded : cpu;
}

[[noreturn]] void refuse_pickle(const std::string& finding) {
  fail<ArgumentError>("pickle: ", finding, "; the pickle is damaged");
}

// The layout in elements from byte strides; C order without strides.
Layout layout_to_read(const Shape& shape, const std::optional<std::vector<std::int64_t>>& strides,
                      std::int64_t item) {
  Layout layout = Layout::row_major(shape);
  if (item < 1) refuse_pickle("expected a dtype of whole bytes");
  if (!strides) return layout;
  if (strides->size() != static_cast<std::size_t>(shape.size()))
    refuse_pickle(
        text("expected ", shape.size(), " strides for shape ", shape, ", got ", strides->size()));
  for (int axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t stride = (*strides)[static_cast<std::size_t>(axis)];
    if (stride < 0 || stride % item != 0)
      refuse_pickle(text("expected strides that are multiples of ", item, ", got ", stride));
    layout.strides[axis] = stride / item;
  }
  return layout;
}

// The bytes from the first element to the end of the last, for strides >= 0.
std::int64_t byte_extent(const Layout& layout, std::int64_t item) {
  std::int64_t last = 0, step = 0, bytes = 0;
  if (layout.size() == 0) return 0;
  for (int axis = 0; axis < layout.rank(); ++axis)
    if (__builtin_mul_overflow(layout.shape[axis] - 1, layout.strides[axis], &step) ||
        __builtin_add_overflow(last, step, &last))
      refuse_pickle(text("the strides ", strides_text(layout.strides, static_cast<int>(item)),
                         " reach too far"));
  if (__builtin_mul_overflow(last + 1, item, &bytes))
    refuse_pickle(text("the strides ", strides_text(layout.strides, static_cast<int>(item)),
                       " reach too far"));
  return bytes;
}

// Storage over the buffer, which a memoryview keeps exported. Contiguous in any order, as for
// pickle.PickleBuffer.raw().
Storage storage_over(const py::object& content, std::int64_t expected, const Shape& shape,
                     DType dtype) {
  const py::object holder = owned(PyMemoryView_FromObject(content.ptr()));
  const Py_buffer& buffer = *PyMemoryView_GET_BUFFER(holder.ptr());
  if (PyBuffer_IsContiguous(&buffer, 'A') == 0)
    fail<ArgumentError>("pickle: expected a contiguous buffer of ", expected,
                        " bytes, got a strided one; pass its copy: bytes(buffer)");
  if (buffer.len != expected)
    refuse_pickle(
        text("expected ", expected, " bytes for ", dtype, ' ', shape, ", got ", buffer.len));
  return storage_owned_by(holder.ptr(), buffer.buf, static_cast<std::size_t>(buffer.len), cpu,
                          buffer.readonly != 0);
}

py::object array_from_buffer(const py::object& content, const std::string& dtype_name,
                             const Shape& shape,
                             const std::optional<std::vector<std::int64_t>>& strides,
                             const std::string& device_name, std::optional<bool> readonly) {
  const DType dtype = DType::parse(dtype_name);
  const Layout layout = layout_to_read(shape, strides, dtype.itemsize());
  const std::int64_t bytes = byte_extent(layout, dtype.itemsize());
  const Storage storage = storage_over(content, bytes, shape, dtype);
  const Device device = device_in_this_process(device_name);
  const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  const bool is_aligned = address % static_cast<std::uintptr_t>(alignment_of(dtype, cpu)) == 0;
  const bool is_shareable = is_aligned && !(storage.readonly() && readonly == false);
  // Copies the raw bytes, so that the strides remain valid.
  Array line(storage, Layout::row_major(Shape{bytes}), uint8);
  if (!device.is_cpu() || !is_shareable) {
    const GilRelease unlocked;
    line = device.is_cpu() ? copy(line) : to_device(line, device);
  }
  Array array(line.storage(), layout, dtype);
  if (readonly == true) array = array.as_readonly();
  return py::cast(std::move(array));
}

}  // namespace

SW_BIND(array_buffer) {
  const py::tuple bases =
      py::make_tuple(py::handle(PyExc_BufferError), py::handle(PyExc_TypeError));
  no_buffer_error = PyErr_NewExceptionWithDoc(
      "spanwise.NoBufferError", "The array is not in the host's memory.", bases.ptr(), nullptr);
  if (no_buffer_error == nullptr) throw py::error_already_set();
}

SW_BIND(array_pickle, array_type) {
  add_array_methods(pickle_methods);
  module.def("_array_from_buffer", &array_from_buffer);
}

}  // namespace spanwise::python
