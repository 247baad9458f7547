// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "python/interop/dlpack_exchange.hpp"
#include "python/interop/library_bridge.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const ForeignClass array_class("jax", "Array"), tracer_class("jax.core", "Tracer");

// Alignments in bytes: that of XLA's own allocations, which its CPU client needs to share memory,
// and that which its GPU kernels need: XLA accepts less on a GPU, but fails when it computes
// (xla/service/gpu/gpu_constants.h: kEntryParameterAlignBytes).
constexpr std::uintptr_t cpu_alignment = 64, gpu_alignment = 16;

// C order except for a permutation of the axes: what an XLA layout can express.
bool is_permuted_row_major(const Layout& layout) {
  std::vector<int> axes;
  for (int axis = 0; axis < layout.rank(); ++axis)
    if (layout.shape[axis] != 1) axes.push_back(axis);
  std::sort(axes.begin(), axes.end(),
            [&](int a, int b) { return layout.strides[a] < layout.strides[b]; });
  std::int64_t step = 1;
  for (const int axis : axes) {
    if (layout.strides[axis] != step) return false;
    step *= layout.shape[axis];
  }
  return true;
}

// Without x64, JAX silently converts the array to half the width, which copies.
bool is_narrowed(DType dtype) {
  const bool wide = dtype == float64 || dtype == int64 || dtype == uint64 || dtype == complex128;
  return wide && !py::cast<bool>(py::module_::import("jax").attr("config").attr("jax_enable_x64"));
}

// Throws an error with the reason for a failed DLPack export if DLPack's message does not give it;
// otherwise returns.
void explain_jax_refusal(py::handle array) {
  if (py::cast<bool>(array.attr("is_deleted")()))
    fail<ArgumentError>(
        "jax: an array that was deleted, or donated to a compiled function; "
        "expected one that still has its memory");
  const py::object dtype = array.attr("dtype");
  const py::module_ dtypes = py::module_::import("jax.dtypes");
  const bool is_key =
      py::cast<bool>(dtypes.attr("issubdtype")(dtype, py::handle(dtypes.attr("prng_key"))));
  const std::string name = py::str(dtype);
  if (is_key)
    fail<DTypeError>("jax: random keys (", name,
                     ") are no numbers; expected an array of numbers, pass jax.random.key_data(x)");
  const std::size_t devices = py::len(array.attr("devices")());
  if (devices != 1)
    fail<ArgumentError>("jax: an array on ", devices,
                        " devices; expected one on a single device, pass "
                        "x.addressable_data(i), or jax.device_put(x, device)");
  fail<DTypeError>("jax: elements of ", name, " have no form that DLPack could carry; ",
                   "cast them first: x.astype(\"int8\"), x.astype(\"float32\")");
}

class JaxBridge final : public LibraryBridge {
 public:
  JaxBridge() : LibraryBridge("jax", "DLPack without version", array_class) {}

  bool speaks_dlpack(PyObject*) const override { return true; }

  ForeignView view(PyObject* object, bool may_copy) const override {
    if (tracer_class.has(object))
      fail<ArgumentError>("jax: a traced array has no memory yet; expected a concrete one, call ",
                          "spanwise outside of jit, grad and vmap, or through jax.pure_callback");
    ForeignView view = view_memory(object, may_copy);
    view.memory.readonly = true;  // arrays are immutable, which unversioned DLPack cannot express
    return view;
  }

  std::optional<ShareBlocker> share_blocker(const Array& array) const override {
    const py::module_ jax = import_library("jax", "jax");
    const std::string dtype = array.dtype().name();
    check_dtype(array.dtype(),
                py::hasattr(jax.attr("numpy"), (dtype == "bool" ? "bool_" : dtype).c_str()));
    if (is_narrowed(array.dtype()))
      fail<DTypeError>("jax: ", dtype, " would be narrowed; call ",
                       "jax.config.update(\"jax_enable_x64\", True), or cast it first");
    if (array.size() == 0) return std::nullopt;
    if (!is_permuted_row_major(array.layout())) {
      return ShareBlocker{text("its strides ", strides_text(array), " for shape ", array.shape(),
                               " are no C order of permuted axes, the only layouts that JAX has"),
                          "allow a copy (copyif=True)"};
    }
    if (array.device().is_cpu())
      return alignment_blocker(array, cpu_alignment, "JAX requires on the CPU");
    return alignment_blocker(array, gpu_alignment, "JAX requires on a GPU");
  }

  PyObject* wrap(const Array& array) const override {
    // copy=False: otherwise JAX copies silently if it cannot share for a reason that
    // share_blocker() does not check.
    return py::module_::import("jax.dlpack")
        .attr("from_dlpack")(as_immutable_producer(array), py::arg("copy") = false)
        .release()
        .ptr();
  }

 private:
  static ForeignView view_memory(PyObject* object, bool may_copy) {
    try {
      return find_bridge("dlpack")->view(object, may_copy);
    } catch (const DeviceError&) {
      throw;
    } catch (const std::exception&) {
      explain_jax_refusal(object);
      throw;
    }
  }
};

const JaxBridge jax_bridge;
[[maybe_unused]] const bool jax_registered = register_bridge(jax_bridge);

}  // namespace
}  // namespace spanwise::python
