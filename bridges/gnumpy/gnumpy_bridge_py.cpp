// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/interop/library_bridge.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"

/// Gnumpy's garray: C order over a flat CUDAMatrix (`_base`), or over an ndarray where Gnumpy
/// simulates on the CPU with npmat. The bridges of CUDAMat and NumPy import and export those.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The cache from which Gnumpy takes the memory of new arrays.

bool is_freed(py::handle matrix) { return !py::cast<bool>(matrix.attr("mat").attr("on_device")); }

// Gnumpy counts the bytes of its cached matrices, to decide when to free them.
void subtract_bytes(const py::module_& gnumpy, py::handle elements) {
  constexpr const char* counter = "__memoryInUse";
  const auto bytes = static_cast<std::int64_t>(sizeof(float)) * py::cast<std::int64_t>(elements);
  if (py::hasattr(gnumpy, counter))
    gnumpy.attr(counter) = py::cast<std::int64_t>(gnumpy.attr(counter)) - bytes;
}

// Changes the lists in place, because Gnumpy may be using one. Matrices that were in a list before
// the collection are valid, so a list from which Gnumpy is about to take one does not become empty.
void remove_freed(const py::module_& gnumpy) {
  const py::object cache = py::getattr(gnumpy, "_cmsForReuse", py::none());
  if (!py::isinstance<py::dict>(cache)) return;  // the interpreter clears its modules at exit
  for (const auto& [size, cached] : entries_of(cache.ptr())) {
    const auto matrices = py::reinterpret_borrow<py::list>(cached);
    for (std::size_t i = matrices.size(); i-- > 0;) {
      if (!is_freed(matrices[i])) continue;
      subtract_bytes(gnumpy, size);
      matrices.attr("pop")(i);
    }
  }
}

// Removes matrices whose memory is freed from the cache from which `gnumpy` takes the memory of
// new arrays.
//
// A garray that is destroyed puts its matrix into the cache. If both are destroyed in one garbage
// collection, as parts of a cycle, Python (since 3.4) finalizes all objects of the cycle first:
// the matrix frees its memory but stays in the cache, and an array that gets it fails with "Matrix
// is not in device memory". Therefore the cache is checked after each collection. Call this
// whenever garrays are seen; only the first call has an effect.
void watch_reuse_cache(const py::module_& gnumpy) {
  static PyObject* watched = nullptr;  // the module; guarded by the GIL
  if (watched == gnumpy.ptr()) [[likely]]
    return;
  watched = py::object(gnumpy).release().ptr();
  remove_freed(gnumpy);
  py::module_::import("gc")
      .attr("callbacks")
      .attr("append")(py::cpp_function([gnumpy](const std::string& phase, const py::dict& info) {
        if (phase == "stop" && py::cast<bool>(info["collected"])) remove_freed(gnumpy);
      }));
}

// Gnumpy is a module; in packages for Python 3 it is a module in a package of the same name.
constinit const ForeignClass garray_class("gnumpy", "garray"),
    packaged_class("gnumpy.gnumpy", "garray");
constinit const LegacyLibrary cudamat_of_gnumpy("cudamat", "gnumpy");
constinit const AttributeName shape_of_garray("shape"), base_of_garray("_base"),
    mode_of_gnumpy("_useGpu"), values_of_npmat("numpy_array");

py::module_ gnumpy_module() {
  py::module_ module = import_library(
      "gnumpy", "gnumpy", "see bridges/gnumpy/README.md for releases that run on Python 3");
  if (py::hasattr(module, "garray")) return module;
  return import_library("gnumpy.gnumpy", "gnumpy", "expected gnumpy.py, or a package around it");
}

bool simulates(PyObject* gnumpy) {
  const py::object mode = attribute_or_null(gnumpy, mode_of_gnumpy);
  return mode && PyUnicode_Check(mode.ptr()) &&
         PyUnicode_CompareWithASCIIString(mode.ptr(), "no") == 0;
}

// The module of the garray's class, which stays loaded as long as the class exists.
bool is_simulated(PyObject* garray) {
  const char* name = garray_class.has(garray) ? "gnumpy" : "gnumpy.gnumpy";
  const py::object module = loaded_module(name);
  if (!module) return false;
  if (simulates(module.ptr())) return true;
  watch_reuse_cache(py::reinterpret_borrow<py::module_>(module));
  return false;
}

// The matrix behind `_base`. Its columns are packed whatever shape Gnumpy last gave it, so only its
// address and number of elements are used.
ForeignView base_of(PyObject* garray, bool may_copy) {
  const py::object base = attribute_or_null(garray, base_of_garray);
  if (!base) fail<BridgeError>("gnumpy: a garray without base; expected a fully constructed one");
  if (!is_simulated(garray)) return find_bridge("cudamat")->view(base.ptr(), may_copy);
  const py::object values = attribute_or_null(base.ptr(), values_of_npmat);
  if (!values)
    fail<BridgeError>("gnumpy: in simulation a garray is over npmat's ", "CUDAMatrix; got a ",
                      Py_TYPE(base.ptr())->tp_name);
  if (!py::cast<bool>(values.attr("flags").attr("f_contiguous")))
    fail<BridgeError>(
        "gnumpy: npmat keeps the garray in rows, so its values are not where Gnumpy "
        "takes them to be; fix npmat.CUDAMatrix.reshape, see "
        "bridges/gnumpy/README.md");
  return find_bridge("numpy")->view(values.ptr(), may_copy);
}

// The shape of Gnumpy's bases: one column.
Array as_column(const Array& array) { return *array.try_reshape({array.size(), 1}); }

class GnumpyBridge final : public LibraryBridge {
 public:
  GnumpyBridge()
      : LibraryBridge("gnumpy", "garray over struct cudamat, or npmat", garray_class,
                      &packaged_class) {}

  ForeignView view(PyObject* garray, bool may_copy) const override {
    const Shape shape = integers_of(garray, shape_of_garray, "gnumpy");
    const std::int64_t size = Layout::row_major(shape).size();  // checked
    ForeignView view;
    if (size == 0) {  // its base is a placeholder of another size
      view.memory.dtype = float32;
      view.memory.shape = shape;
      if (!is_simulated(garray)) cudamat_of_gnumpy.set_device(view);
    } else {
      view = base_of(garray, may_copy);
      const std::int64_t base_size = Layout::row_major(view.memory.shape).size();
      if (base_size != size)
        fail<BridgeError>("gnumpy: a garray of shape ", shape, " over a base of ", base_size,
                          " elements; expected ", size);
    }
    view.memory.shape = shape;
    view.memory.byte_strides = Strides{};
    view.memory.row_major = true;
    // The garray, not its base: when the garray is destroyed, Gnumpy reuses the base for the next
    // array.
    view.owner = python_owner(garray);
    return view;
  }

  std::optional<ShareBlocker> share_blocker(const Array& array) const override {
    const py::module_ gnumpy = gnumpy_module();
    const DType dtype =
        simulates(gnumpy.ptr()) ? dtype_from(gnumpy.attr("_cudamat").attr("__DTYPE__")) : float32;
    if (array.dtype() != dtype)
      fail<DTypeError>("gnumpy: got dtype ", array.dtype(), "; expected ", dtype,
                       ", cast it first: x.astype(\"", dtype, "\")");
    cudamat_of_gnumpy.check_count(array);
    if (array.size() == 0) return std::nullopt;
    if (auto blocker = placement_blocker(gnumpy, array)) return blocker;
    return order_blocker(array, "Gnumpy");
  }

  PyObject* wrap(const Array& array) const override {
    const py::module_ gnumpy = gnumpy_module();
    gnumpy.attr("_init_gpu")();
    if (!simulates(gnumpy.ptr())) watch_reuse_cache(gnumpy);
    const py::tuple shape = integer_tuple(array.shape());
    if (array.size() == 0) return gnumpy.attr("zeros")(shape).release().ptr();
    // Gnumpy does not reuse the memory of a garray that is an alias. The alias must refer to a
    // garray; one without attributes needs no cleanup when it is destroyed.
    const py::object garray = gnumpy.attr("garray");
    const py::object sentinel =
        py::module_::import("builtins").attr("object").attr("__new__")(garray);
    return garray(base_around(gnumpy, array), shape, sentinel).release().ptr();
  }

  Array exportable_copy(const Array& array) const override {
    const bool on_host = [] {
      const GilAcquire locked;
      return simulates(gnumpy_module().ptr());
    }();
    return on_host ? copy_on_host(array) : cudamat_of_gnumpy.copied(array);
  }

 private:
  static std::optional<ShareBlocker> placement_blocker(const py::module_& gnumpy,
                                                       const Array& array) {
    if (!simulates(gnumpy.ptr())) return cudamat_of_gnumpy.share_blocker(array);
    if (!array.device().is_cpu()) {
      return ShareBlocker{
          text("its memory is on ", array.device(), ", and Gnumpy simulates on the CPU"),
          "allow a copy (copyif=True), or move it first: x.to(\"cpu\")"};
    }
    return readonly_share_blocker(array, "gnumpy");
  }

  static py::object base_around(const py::module_& gnumpy, const Array& array) {
    if (!simulates(gnumpy.ptr())) return owned(find_bridge("cudamat")->wrap(as_column(array)));
    const py::object values = owned(find_bridge("numpy")->wrap(as_column(array)));
    return gnumpy.attr("_cudamat").attr("CUDAMatrix")(values, py::arg("ref") = false);
  }
};

const GnumpyBridge gnumpy_bridge;
[[maybe_unused]] const bool gnumpy_registered = register_bridge(gnumpy_bridge);

}  // namespace

// Aliases by the name of Gnumpy's class, which the names of Theano's functions contain, too.
SW_BIND(gnumpy_names, bridge_functions) {
  module.attr("to_garray") = module.attr("to_gnumpy");
  module.attr("from_garray") = module.attr("from_gnumpy");
}

}  // namespace spanwise::python
