// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "convert.hpp"

#include <optional>

#include "foreign_operands.hpp"
#include "import.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/core/error.hpp"
#include "types.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

std::string exporting_bridges() {
  std::string names;
  for (const Bridge* bridge : registered_bridges())
    if (bridge->exports()) names += (names.empty() ? "" : ", ") + std::string(bridge->name());
  return names;
}

std::string function_name(const Bridge& target) { return "to_" + std::string(target.name()); }

// For an array without share blockers.
py::object shared_out(const Bridge& target, const Array& array) {
  py::object result = owned(target.wrap(array));
  target.count_shared_export();
  return result;
}

// Whether `object` is an array of `target`. bridge_of_type() decides for types cached with the
// bridge of a library; accepts(), which is slow for some libraries, for other types.
bool is_array_of(PyObject* object, const Bridge& target) {
  if (is_array(object)) return false;
  const Bridge* bridge = bridge_of_type(Py_TYPE(object));
  const bool is_cached_library = bridge != nullptr && !bridge->module().empty();
  return is_cached_library ? bridge == &target : target.accepts(object);
}

py::object exported(const Array& array, const Bridge& target, CopyMode mode) {
  std::optional<ShareBlocker> blocker = target.share_blocker(array);
  if (!blocker) return shared_out(target, array);
  if (unless_strict(mode) == CopyMode::never)
    throw SharingError(function_name(target), *std::move(blocker));
  const Array held = array;  // keeps the memory alive without the GIL
  py::object result = owned(target.wrap(without_gil([&] { return target.exportable_copy(held); })));
  target.count_export(true, array.nbytes());
  return result;
}

std::string order_of(const Layout& layout) {
  if (layout.is_row_major()) return "C-contiguous";
  return layout.is_column_major() ? "Fortran-contiguous" : "strided";
}

std::string description_of(const ForeignMemory& memory) {
  const std::string strides =
      memory.row_major ? "C-contiguous" : text("strides ", memory.byte_strides, " bytes");
  return text(memory.dtype, ' ', memory.shape, " on ", memory.device, ", ", strides);
}

ExchangeReport copy_report(const ShareBlocker& blocker, std::int64_t bytes, std::string layout) {
  return {false, blocker.reason, bytes, std::move(layout), blocker.remedy};
}

ExchangeReport share_report(const Array& array) {
  return {true, text(order_of(array.layout()), ' ', array.dtype(), " on ", array.device()), 0,
          text(array), ""};
}

// The array, if it can be imported without a copy; else the report of the copy.
struct ShareResult {
  std::optional<Array> array{};
  ExchangeReport copy{};
};

ShareResult try_share(PyObject* object) {
  if (is_array(object)) return {array_in(object), {}};
  std::optional<BridgeMatch> match = find_view(object, /*may_copy=*/false, /*may_compute=*/true);
  if (!match || match->view.created) {
    const Array result = import_array(object);
    return {{},
            copy_report({"numbers have no memory to share", "make an array of them first"},
                        result.nbytes(), text(result))};
  }
  ForeignView& view = match->view;
  if (auto array = share(view)) {
    if (!view.copied) return {std::move(array), {}};
    return {{},
            copy_report({"its producer exports copies", "ask the producer for its own memory"},
                        array->nbytes(), text(*array))};
  }
  const std::int64_t bytes = Layout{view.memory.shape, {}, 0}.size() * view.memory.dtype.itemsize();
  return {{}, copy_report(*find_share_blocker(view.memory), bytes, description_of(view.memory))};
}

// explain() with `target(array)` if the object can be imported without a copy.
template <class F>
ExchangeReport explain_by(py::handle object, F&& target) {
  try {
    const ShareResult shared = try_share(object.ptr());
    return shared.array ? target(*shared.array) : shared.copy;
  } catch (const SharingError& error) {
    if (is_lazy(object.ptr())) return copy_report(error.blocker(), 0, "not computed yet");
    // The producer would have to copy. The number of bytes is known only after a copy.
    const Array copied = import_array(object.ptr());
    return copy_report(error.blocker(), copied.nbytes(), text(copied));
  }
}

}  // namespace

const Bridge& target_bridge(std::string_view library) {
  const Bridge* bridge = find_bridge(library);
  if (bridge != nullptr && bridge->exports()) return *bridge;
  if (bridge != nullptr)
    fail<BridgeError>(
        "convert: ", library,
        " is a protocol, which has no class of arrays; supported: ", exporting_bridges());
  fail<ArgumentError>("convert: no library is called \"", library,
                      "\"; supported: ", exporting_bridges());
}

PyObject* shared_with(const Bridge& target, const Array& array) {
  return target.share_blocker(array) ? nullptr : shared_out(target, array).release().ptr();
}

py::object convert(py::handle object, const Bridge& target, CopyMode mode) {
  if (is_array(object.ptr())) return exported(array_in(object.ptr()), target, mode);
  if (is_array_of(object.ptr(), target)) return py::reinterpret_borrow<py::object>(object);
  return exported(import_array(object.ptr(), {.copy = mode, .may_compute = true}), target, mode);
}

ExchangeReport explain(py::handle object, const Bridge& target) {
  if (is_array_of(object.ptr(), target)) {
    const std::string name(target.name());
    return {true, "it is an array of " + name + " already", 0,
            std::string(py::str(py::type::of(object))), ""};
  }
  return explain_by(object, [&](const Array& array) {
    if (const auto blocker = target.share_blocker(array))
      return copy_report(*blocker, array.nbytes(), text(array));
    return share_report(array);
  });
}

ExchangeReport explain(py::handle object) {
  return explain_by(object, [](const Array& array) { return share_report(array); });
}

ExchangeReport explain(py::handle object, Device target) {
  return explain_by(object, [&](const Array& array) {
    if (array.device() == target) return share_report(array);
    return copy_report(
        {text("it is on ", array.device()), text("keep it there, or copy: x.to(\"", target, "\")")},
        array.nbytes(), text(array));
  });
}

}  // namespace spanwise::python
