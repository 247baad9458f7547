// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "python/array/array_object.hpp"
#include "python/interop/exchange.hpp"
#include "python/interop/foreign_description.hpp"
#include "python/interop/library_bridge.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"

/// Imports and exports CUDAMat's matrices by reading and writing the C struct inside the Python
/// object.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// CUDAMat's matrix as declared by its C functions (cudamat/cudamat.cuh): packed, column-major,
// float32.
struct CudamatStruct {
  float* data_host = nullptr;
  float* data_device = nullptr;
  int on_device = 0;
  int on_host = 0;
  int size[2] = {};   ///< rows and columns as stored, regardless of is_trans
  int is_trans = 0;   ///< used by dot and functions based on it, ignored by the rest
  int owns_data = 0;  ///< whether the memory is freed with the matrix
};
static_assert(sizeof(CudamatStruct) == 2 * sizeof(float*) + 6 * sizeof(int));
static_assert(offsetof(CudamatStruct, data_device) == sizeof(float*));
static_assert(offsetof(CudamatStruct, on_device) == 2 * sizeof(float*));
static_assert(offsetof(CudamatStruct, owns_data) == 2 * sizeof(float*) + 5 * sizeof(int));

constinit const ForeignClass matrix_class("cudamat", "CUDAMatrix"),
    transposed_class("cudamat", "TransposedCUDAMatrix");
constinit const LegacyLibrary cudamat_library("cudamat", "cudamat");
constinit const AttributeName mat_name("mat");

// The struct in the buffer of a ctypes structure, which `buffer` keeps exported.
CudamatStruct& struct_in(const py::buffer_info& buffer) {
  const auto bytes = static_cast<std::size_t>(buffer.size * buffer.itemsize);
  if (bytes != sizeof(CudamatStruct))
    fail<BridgeError>("cudamat: the matrix has a struct of ", bytes, " bytes; expected ",
                      sizeof(CudamatStruct), ", the layout of CUDAMat 0.1 to 0.3");
  return *static_cast<CudamatStruct*>(buffer.ptr);
}

CudamatStruct fields_of(PyObject* matrix) {
  const py::object mat = attribute_or_null(matrix, mat_name);
  if (!mat || PyObject_CheckBuffer(mat.ptr()) != 1)
    fail<BridgeError>("cudamat: a CUDAMatrix without its struct; expected a fully constructed one");
  return struct_in(py::buffer(mat).request(/*writable=*/true));
}

// The flag is ambiguous: asarray() ignores it, dot() treats it as a transposition.
void refuse_transposed(const CudamatStruct& fields) {
  if (fields.is_trans != 0)
    fail<ArgumentError>(
        "cudamat: the matrix is marked as transposed; its "
        "asarray() reads (",
        fields.size[0], ", ", fields.size[1],
        "), its dot() the transposed; call m.set_trans(False), and take .T of the "
        "array");
}

// Whether the columns are packed, the layout of CUDAMat. Strides of extents of 1 are ignored.
bool is_packed_columns(const Array& array) {
  const std::int64_t m = array.shape()[0], n = array.shape()[1];
  return (m == 1 || array.strides()[0] == 1) && (n == 1 || array.strides()[1] == m);
}

// The package and its struct have the same name; so may a module in it, which then contains the
// struct.
py::object struct_class(const py::module_& module) {
  const py::object member = module.attr("cudamat");
  return PyModule_Check(member.ptr()) ? py::object(member.attr("cudamat")) : member;
}

class CudamatBridge final : public LibraryBridge {
 public:
  CudamatBridge() : LibraryBridge("cudamat", "struct cudamat", matrix_class, &transposed_class) {}

  ForeignView view(PyObject* matrix, bool) const override {
    if (transposed_class.has(matrix))
      fail<ArgumentError>(
          "cudamat: m.T keeps neither its matrix nor its memory alive; pass m, and "
          "take .T of the array");
    const CudamatStruct fields = fields_of(matrix);
    refuse_transposed(fields);
    const std::int64_t rows = fields.size[0], columns = fields.size[1];
    ForeignView view{.owner = python_owner(matrix),
                     .memory = {.data = fields.data_device,
                                .dtype = float32,
                                .shape = {rows, columns},
                                .byte_strides = {4, 4 * rows}}};
    const bool has_memory = fields.on_device != 0 && fields.data_device != nullptr;
    if (!has_memory && rows * columns != 0)
      fail<ArgumentError>(
          "cudamat: the matrix is not in device memory; call m.copy_to_device() "
          "first");
    cudamat_library.set_device(view);
    return view;
  }

  std::optional<ShareBlocker> share_blocker(const Array& array) const override {
    import_library("cudamat", "cudamat", "build it from github.com/cudamat/cudamat");
    check_matrix(array);
    if (auto blocker = cudamat_library.share_blocker(array)) return blocker;
    if (is_packed_columns(array)) return std::nullopt;
    return ShareBlocker{text("its strides ", strides_text(array), " for shape ", array.shape(),
                             " are no packed columns, the only layout that CUDAMat has"),
                        "allow a copy (copyif=True), pass x.T where x is in C order, or ask for "
                        "Theano's reading (theano_layout=True)"};
  }

  PyObject* wrap(const Array& array) const override {
    const py::module_ module = py::module_::import("cudamat");
    const py::object mat = struct_class(module)();
    struct_in(py::buffer(mat).request(/*writable=*/true)) = {
        .data_device = static_cast<float*>(array.data()),
        .on_device = 1,
        .size = {static_cast<int>(array.shape()[0]), static_cast<int>(array.shape()[1])}};
    // The constructor makes T as a copy of the struct, which does not hold a reference to the
    // matrix.
    py::object result = module.attr("CUDAMatrix")(mat);
    const py::object owner = object_of(array);
    result.attr("_base") = owner;
    result.attr("T").attr("_base") = owner;
    cudamat_library.order(array);
    return result.release().ptr();
  }

  Array exportable_copy(const Array& array) const override {
    return cudamat_library.copied(array, /*column_major=*/true);
  }

 private:
  static void check_matrix(const Array& array) {
    if (array.dtype() != float32)
      fail<DTypeError>("cudamat: got dtype ", array.dtype(),
                       "; expected float32, cast it first: x.astype(\"float32\")");
    if (array.rank() != 2)
      fail<BridgeError>("cudamat: got an array of shape ", array.shape(),
                        "; expected a matrix, pass x[None, :] (one row) or x[:, None] (one "
                        "column) of a vector");
    if (array.size() == 0)
      fail<ArgumentError>(
          "cudamat: got an array of shape ", array.shape(),
          "; expected at least one element, since CUDAMat does not support empty matrices");
    cudamat_library.check_count(array);
  }
};

const CudamatBridge cudamat_bridge;
[[maybe_unused]] const bool cudamat_registered = register_bridge(cudamat_bridge);

// to_cudamat() and from_cudamat(), which take one more argument than those of other libraries.
//
// Theano passed the memory of a C-order (m, n) matrix to CUDAMat as an (m, n) matrix, although
// CUDAMat is column-major: the values were permuted, and programs relied on that (theano 0.9,
// theano/misc/cudamat_utils.py). This equals an array with other strides over the same memory, so
// the bridge itself does not handle it.

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
