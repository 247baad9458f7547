// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "import.hpp"

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>
#include <string>

#include "foreign_operands.hpp"
#include "lifetime.hpp"
#include "python/graph/variable.hpp"
#include "spanwise/python/binding.hpp"
#include "sequence.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

std::string type_name(PyObject* object) { return Py_TYPE(object)->tp_name; }

[[noreturn]] void fail_unknown(PyObject* object) {
  std::string names;
  for (const Bridge* bridge : registered_bridges())
    names += (names.empty() ? "" : ", ") + std::string(bridge->name());
  fail<BridgeError>(
      "asarray: an object of type ", type_name(object),
      " is not an array that Spanwise can import; expected a number, a nested sequence, or an "
      "array offering __dlpack__, __cuda_array_interface__, __array_interface__, the "
      "buffer protocol or __array__ (tried: ",
      names, "); convert it with its own library first");
}

void check_lazy(PyObject* object, bool may_copy, bool may_compute) {
  if (!is_lazy(object)) return;
  if (is_variable(object))
    fail<BridgeError>(
        "spanwise: expected an array, got a variable of a graph; spanwise.tensor has the functions "
        "of variables, and x.eval() or spanwise.function() computes one");
  if (!may_compute)
    fail<BridgeError>(
        "spanwise: a ", type_name(object),
        " computes when it is made an array, which only a "
        "conversion may ask for; apply the function to its blocks, x.map_blocks(f), or convert it "
        "first: spanwise.asarray(x)");
  if (!may_copy)
    throw SharingError("asarray",
                       {text("a ", type_name(object), " has no memory before it is computed"),
                        "compute it first, or allow a copy (copy=None, copyif=True)"});
}

// Whether `options` ask for nothing but the object's memory, which describe() and share() provide.
bool permits_fast_path(const ImportOptions& options) noexcept {
  return options.copy != CopyMode::always && !options.dtype && !options.device && !options.writable;
}

// The Array of a view, with the conversions of `options`; updates the bridge's counters. `prefix`
// begins messages.
Array finish_import(BridgeMatch& match, const ImportOptions& options, std::string_view prefix) {
  ForeignView& view = match.view;
  if (view.created) {
    if (options.copy == CopyMode::never)
      throw SharingError(prefix, {"numbers have no memory to share", "leave copy=False out"});
    return adapt(*std::move(view.array), {.dtype = options.dtype, .device = options.device}, prefix,
                 true);
  }
  const CopyMode mode = unless_strict(options.copy);
  const bool always = mode == CopyMode::always;
  Array array = take(view, always ? CopyMode::if_needed : mode, prefix);
  const bool converts = (options.dtype && *options.dtype != array.dtype()) ||
                        (options.device && *options.device != array.device());
  if (converts || always || options.writable)
    array = adapt(std::move(array), options, prefix, view.copied);
  match.bridge->count_import(view.copied || converts || always, array.nbytes());
  return array;
}

}  // namespace

std::optional<BridgeMatch> find_view(PyObject* object, bool may_copy, bool may_compute) {
  PyTypeObject* type = Py_TYPE(object);
  // A class has the protocol methods of its instances as attributes, which do not apply to itself.
  if (PyType_Check(object)) {
    fail<BridgeError>("asarray: ", std::string(py::repr(object)),
                      " is a class; expected an array, which may be one of its instances");
  }
  const Bridge* cached = bridge_of_type(type);
  std::optional<BridgeMatch> match;
  std::string refusals;
  // Constructed in place, since a ForeignView has some hundred bytes.
  const auto attempt = [&](const Bridge& bridge) {
    if (bridge.is_conversion()) check_lazy(object, may_copy, may_compute);
    try {
      match.emplace(bridge, object, may_copy);
      return true;
    } catch (const BridgeError& refusal) {
      refusals += (refusals.empty() ? "" : "; ") + std::string(refusal.what());
      return false;
    }
  };
  if (cached != nullptr && attempt(*cached)) return match;
  for (const Bridge* bridge : registered_bridges()) {
    if (bridge == cached || !bridge->accepts(object) || !attempt(*bridge)) continue;
    // The cached bridge of a type is not replaced.
    if (cached == nullptr) remember_bridge(type, *bridge);
    return match;
  }
  if (!refusals.empty())
    fail<BridgeError>("asarray: an object of type ", type_name(object),
                      " cannot be imported: ", refusals);
  return match;
}

Array adapt(Array array, const ImportOptions& options, std::string_view prefix,
            bool is_private_copy) {
  const CopyMode mode = unless_strict(options.copy);
  const auto refuse = [&](const std::string& reason) {
    if (mode == CopyMode::never) {
      throw SharingError(prefix,
                         {reason, "allow a copy (copy=None, copyif=True), or leave it as it is"});
    }
  };
  if (options.dtype && *options.dtype != array.dtype()) {
    refuse(text("its dtype is ", array.dtype(), ", and ", *options.dtype, " was requested"));
    array = without_gil([&] { return astype(array, *options.dtype); });
    is_private_copy = true;
  }
  if (options.device && *options.device != array.device()) {
    refuse(text("it is on ", array.device(), ", and ", *options.device, " was requested"));
    array = without_gil([&] { return to_device(array, *options.device); });
    is_private_copy = true;
  }
  if (options.copy == CopyMode::always && !is_private_copy)
    array = without_gil([&] { return copy(array); });
  if (options.writable && array.readonly())
    fail<ReadOnlyError>(prefix, ": ", array,
                        " is read-only; expected writable memory, pass a copy");
  return array;
}

std::optional<Array> import_foreign(PyObject* object, const ImportOptions& options,
                                    const Bridge* only) {
  if (permits_fast_path(options)) {
    BorrowedTensor memory;
    if (const Bridge* cached = describe(object, memory, only))
      if (auto array = share(memory, python_owner(object))) {
        cached->count_shared_import();
        return array;
      }
  }
  const bool may_copy = unless_strict(options.copy) != CopyMode::never;
  if (only != nullptr) {
    if (!only->accepts(object)) return std::nullopt;
    BridgeMatch match(*only, object, may_copy);
    return finish_import(match, options, only->name());
  }
  auto match = find_view(object, may_copy, options.may_compute);
  if (!match) return std::nullopt;
  return finish_import(*match, options, match->bridge->name());
}

Array import_through(const Bridge& bridge, PyObject* object, const ImportOptions& options) {
  if (auto array = import_foreign(object, options, &bridge)) return *std::move(array);
  fail<BridgeError>("from_", bridge.name(), ": expected an array of ", bridge.name(),
                    ", got an object of type ", type_name(object),
                    "; spanwise.asarray() takes any array");
}

std::optional<Array> borrowed_array(PyObject* object) {
  BorrowedTensor memory;
  const Bridge* cached = describe(object, memory);
  // Not for GPU memory: the GPU reads asynchronously, when the object may be gone.
  if (cached == nullptr || !memory.device.is_cpu()) return std::nullopt;
  std::optional<Array> array = share(memory, ForeignOwner());
  if (array) cached->count_shared_import();
  return array;
}

std::optional<SmallMemory> small_memory(PyObject* object) {
  constexpr std::int64_t max_bytes = 1 << 14;
  BorrowedTensor memory;
  const Bridge* cached = describe(object, memory);
  if (cached == nullptr || !memory.device.is_cpu()) return std::nullopt;
  const std::int64_t item = memory.dtype.itemsize(), size = memory.packed_size();
  // False for vector types and for elements of less than a byte.
  const bool is_whole_bytes = item * 8 == memory.dtype.bits();
  if (!is_whole_bytes || size == 0 || size > max_bytes / item) return std::nullopt;
  cached->count_shared_import();
  const std::span shape(memory.shape, static_cast<std::size_t>(memory.rank));
  return SmallMemory{memory.data, memory.dtype, Shape(shape), size * item};
}

PyObject* shared_object(PyObject* object, const Bridge* only) {
  BorrowedTensor memory;
  const Bridge* cached = describe(object, memory, only);
  PyObject* shared = cached != nullptr ? wrap_shared(memory, quick_owner(object)) : nullptr;
  if (shared != nullptr) cached->count_shared_import();
  return shared;
}

Array import_array(PyObject* object, const ImportOptions& options) {
  if (is_array(object)) return adapt(array_in(object), options, "asarray", false);
  const bool plain = PyList_CheckExact(object) || PyTuple_CheckExact(object) ||
                     PyFloat_CheckExact(object) || PyLong_CheckExact(object);
  if (!plain)
    if (auto array = import_foreign(object, options)) return *std::move(array);
  if (!is_nested_sequence(object)) fail_unknown(object);
  if (options.copy == CopyMode::never) {
    throw SharingError("asarray",
                       {"numbers and sequences have no memory to share", "leave copy=False out"});
  }
  return array_from_sequence(object, options.dtype, options.device.value_or(default_device()),
                             options.may_compute);
}

Array writable_array(PyObject* object) {
  if (is_array(object)) return array_in(object);
  return import_array(object, {.copy = CopyMode::never, .writable = true});
}

}  // namespace spanwise::python
