// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <vector>

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/dtype.hpp"
#include "slots.hpp"
#include "spanwise/core/error.hpp"

/// The buffer protocol (PEP 3118) of arrays on the CPU. Buffers share the memory and have its
/// strides and read-only flag.
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

SW_BIND(array_buffer) {
  const py::tuple bases =
      py::make_tuple(py::handle(PyExc_BufferError), py::handle(PyExc_TypeError));
  no_buffer_error = PyErr_NewExceptionWithDoc(
      "spanwise.NoBufferError", "The array is not in the host's memory.", bases.ptr(), nullptr);
  if (no_buffer_error == nullptr) throw py::error_already_set();
}

}  // namespace spanwise::python
