// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/interop/convert.hpp"
#include "python/interop/import.hpp"
#include "python/interop/library.hpp"
#include "python/support/array.hpp"
#include "python/support/declared.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"

/// to_cudamat() and from_cudamat(), which take one more argument than those of other libraries.
///
/// Theano passed the memory of a C-order (m, n) matrix to CUDAMat as an (m, n) matrix, although
/// CUDAMat is column-major: the values were permuted, and programs relied on that (theano 0.9,
/// theano/misc/cudamat_utils.py). This equals an array with other strides over the same memory, so
/// the bridge itself does not handle it.
namespace spanwise::python {

namespace py = pybind11;

namespace {

const Bridge& cudamat() { return *find_bridge("cudamat"); }

Array with_strides(const Array& array, Strides strides) {
  return array.with_layout(Layout{array.shape(), std::move(strides), array.layout().offset});
}

// A C-order matrix, reinterpreted as one with packed columns: the values are permuted.
Array read_by_columns(const Array& array) { return with_strides(array, {1, array.shape()[0]}); }
Array read_by_rows(const Array& array) { return with_strides(array, {array.shape()[1], 1}); }

Array in_c_order(const Array& array, CopyMode mode) {
  if (array.rank() != 2)
    fail<BridgeError>("to_cudamat: got an array of shape ", array.shape(), "; expected a matrix");
  if (array.layout().is_row_major()) return array;
  if (mode == CopyMode::never || StrictCopies::active()) {
    throw SharingError("to_cudamat",
                       {text("its strides ", strides_text(array), " for shape ", array.shape(),
                             " are not C order, which theano_layout=True needs"),
                        "allow a copy (copyif=True), or leave theano_layout out"});
  }
  const GilRelease unlocked;
  return copy(array);
}

py::object to_cudamat(PyObject* x, PyObject* copyif, PyObject* theano_layout) {
  const CopyMode mode = copyif_mode_from(copyif);
  if (!truth_or(theano_layout, false) || cudamat().accepts(x)) return convert(x, cudamat(), mode);
  const Array array = in_c_order(import_array(x, {.copy = mode}), mode);
  const py::object permuted = object_of(array.size() == 0 ? array : read_by_columns(array));
  return convert(permuted, cudamat(), mode);
}

PyObject* from_cudamat(PyObject* x, PyObject* copyif, PyObject* theano_layout) {
  const Array array = import_through(cudamat(), x, {.copy = copyif_mode_from(copyif)});
  return wrap(truth_or(theano_layout, false) && array.size() != 0 ? read_by_rows(array) : array);
}

PyMethodDef cudamat_functions[] = {
    declared<
        "to_cudamat(x, copyif=False, *, theano_layout=False)",
        "`x`, any library's float32 matrix, as a CUDAMatrix that shares its memory, which must be "
        "in\npacked columns (Fortran order); otherwise raises CopyNeededError, or returns a "
        "copy with\ncopyif=True. theano_layout=True passes the memory of a matrix in C order "
        "unchanged, as Theano\ndid: CUDAMat reads it by columns, so the values are permuted.",
        &to_cudamat>(),
    declared<"from_cudamat(x, copyif=False, *, theano_layout=False)",
             "`x`, a CUDAMatrix, as a spanwise.Array that shares its memory, in Fortran "
             "order;\ntheano_layout=True reads the memory as C order, as Theano did.",
             &from_cudamat>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(cudamat_functions, bridge_functions) {
  add_functions(module, cudamat_functions);  // replaces the generic functions
}

}  // namespace spanwise::python
