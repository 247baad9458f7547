// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/interop/exchange.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/interop/foreign_operands.hpp"
#include "python/interop/nested_sequence.hpp"
#include "python/support/c_api.hpp"
#include "python/support/gil.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/creation.hpp"

/// The way of an array from one library to another, in its order: the bridge of an object's type;
/// the description of the object's memory; its import as an Array, shared or copied; the export of
/// the Array to the other library. Then the functions of the module that go this way:
/// from_dlpack(), convert(), to_X() and from_X() for each library X, explain(), bridges() and
/// strict_copies().
namespace spanwise::python {

namespace py = pybind11;

using namespace py::literals;

namespace {

// The cache from types of objects to the bridges that import them, keyed by the address of the
// type: Bridge::accepts() costs attribute lookups.

struct TypeEntry {
  PyTypeObject* type = nullptr;
  const Bridge* bridge = nullptr;
  PyObject* erase_on_destruction =
      nullptr;  // a weak reference to `type` whose callback erases the entry
};

// Open addressing over a power of two, at most half full; guarded by the GIL.
struct TypeTable {
  std::vector<TypeEntry> entries = std::vector<TypeEntry>(64);
  std::size_t count = 0;
  int shift = 58;  // the hash's upper bits choose the entry

  std::size_t first_slot(const PyTypeObject* type) const noexcept {
    // Fibonacci hashing: types lie at multiples of 16, so the low bits alone would collide.
    return static_cast<std::size_t>((reinterpret_cast<std::uint64_t>(type) * 0x9E3779B97F4A7C15u) >>
                                    shift);
  }
  TypeEntry& find(const PyTypeObject* type) noexcept {
    std::size_t i = first_slot(type);
    while (entries[i].type != nullptr && entries[i].type != type) i = (i + 1) % entries.size();
    return entries[i];
  }
  void insert(const TypeEntry& entry) {
    if (2 * (count + 1) > entries.size()) rebuild(2 * entries.size(), shift - 1, nullptr);
    find(entry.type) = entry;
    ++count;
  }
  // Erasing rebuilds the table, since linear probing must not leave holes.
  void rebuild(std::size_t size, int new_shift, const PyTypeObject* without) {
    std::vector<TypeEntry> old(size);
    old.swap(entries);
    shift = new_shift;
    for (const TypeEntry& entry : old)
      if (entry.type != nullptr && entry.type != without) find(entry.type) = entry;
  }
  void erase(const PyTypeObject* type) {
    if (find(type).type == nullptr) return;
    --count;
    rebuild(entries.size(), shift, type);
  }
};

TypeTable& table() {
  static NeverDestroyed<TypeTable> the_table;  // types may be destroyed after statics
  return *the_table;
}

// The last entry that was found, since most calls in a row are for one type. Guarded by the GIL.
struct RecentType {
  const PyTypeObject* type = nullptr;
  const Bridge* bridge = nullptr;
};
constinit RecentType recent_type;

[[gnu::noinline]] const Bridge* find_bridge_of_type(PyTypeObject* type) noexcept try {
  const Bridge* bridge = table().find(type).bridge;
  if (bridge != nullptr) recent_type = {type, bridge};
  return bridge;
} catch (const std::bad_alloc&) {
  return nullptr;  // the cache is optional
}

inline const Bridge* cached_bridge(PyTypeObject* type) noexcept {
  return type == recent_type.type ? recent_type.bridge : find_bridge_of_type(type);
}

// Callback of the weak reference: erases the entry of a destroyed type, whose address may be
// reused.
PyObject* erase_type(PyObject* address, PyObject* weak_reference) noexcept {
  auto* type = static_cast<PyTypeObject*>(PyLong_AsVoidPtr(address));
  if (recent_type.type == type) recent_type = {};
  try {
    table().erase(type);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  Py_DECREF(weak_reference);  // the reference that the entry held
  Py_RETURN_NONE;
}

PyObject* erase_on_destruction(PyTypeObject* type) noexcept {
  static PyMethodDef method = {"erase_type", &erase_type, METH_O, nullptr};
  PyObject* address = PyLong_FromVoidPtr(type);
  if (address == nullptr) return nullptr;
  PyObject* callback = PyCFunction_New(&method, address);
  Py_DECREF(address);
  if (callback == nullptr) return nullptr;
  PyObject* weak = PyWeakref_NewRef(reinterpret_cast<PyObject*>(type), callback);
  Py_DECREF(callback);
  return weak;
}

// Adds an entry, which is removed when the type is destroyed. Has no effect when out of memory.
void remember_bridge(PyTypeObject* type, const Bridge& bridge) noexcept {
  recent_type = {};
  try {
    if (TypeEntry& entry = table().find(type); entry.type != nullptr) {
      entry.bridge = &bridge;
      return;
    }
    PyObject* weak = nullptr;
    if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) {
      weak = erase_on_destruction(type);
      if (weak == nullptr) return PyErr_Clear();
    }
    table().insert({type, &bridge, weak});
  } catch (const std::bad_alloc&) {
    // The cache is optional.
  }
}

// The memory of an object: described by the bridge cached for its type, or viewed by the first
// bridge that can.

// The cached bridge if it can describe the memory (Bridge::try_describe()); else null: then call
// find_view(). With `only`, null for objects of other bridges. Leaves no Python error.
inline const Bridge* describe(PyObject* object, BorrowedTensor& memory,
                              const Bridge* only = nullptr) {
  const Bridge* bridge = cached_bridge(Py_TYPE(object));
  const bool is_candidate = bridge != nullptr && (only == nullptr || bridge == only);
  return is_candidate && bridge->try_describe(object, memory) ? bridge : nullptr;
}

// A view of an object, and the bridge that made it.
struct BridgeMatch {
  BridgeMatch(const Bridge& by, PyObject* object, bool may_copy)
      : bridge(&by), view(by.view(object, may_copy)) {}
  const Bridge* bridge;
  ForeignView view;
};

std::string type_name(PyObject* object) { return Py_TYPE(object)->tp_name; }

void check_lazy(PyObject* object, bool may_copy, bool may_compute) {
  if (!is_lazy(object)) return;
  if (is_variable(object))
    fail<BridgeError>(
        "spanwise: expected an array, got a variable of a graph; spanwise.tensor has the functions "
        "of variables, and x.eval() or spanwise.function() computes one");
  if (!may_compute)
    fail<BridgeError>(
        "spanwise: a ", type_name(object),
        " has an __array_ufunc__ of its own: making it an array computes it, or drops what its "
        "elements mean, such as units, which only a conversion may ask for; apply the function to "
        "its blocks, x.map_blocks(f), call its library's or numpy's function, or convert it first: "
        "spanwise.asarray(x)");
  if (!may_copy)
    throw SharingError("asarray",
                       {text("a ", type_name(object), " has no memory before it is computed"),
                        "compute it first, or allow a copy (copy=None, copyif=True)"});
}

// The view by the first bridge that can view `object`, which is cached for its type; nothing if no
// bridge accepts it. Throws the errors of import_foreign() about the object.
std::optional<BridgeMatch> find_view(PyObject* object, bool may_copy, bool may_compute) {
  PyTypeObject* type = Py_TYPE(object);
  // A class has the protocol methods of its instances as attributes, which do not apply to itself.
  if (PyType_Check(object)) {
    fail<BridgeError>("asarray: ", std::string(py::repr(object)),
                      " is a class; expected an array, which may be one of its instances");
  }
  const Bridge* cached = cached_bridge(type);
  std::optional<BridgeMatch> match;
  std::string refusals;
  // Constructed in place, since a ForeignView has some hundred bytes.
  const auto attempt = [&](const Bridge& bridge) {
    if (bridge.is_conversion())
      check_lazy(object, may_copy, may_compute);
    else if (!may_compute && overrides_ufuncs(object))
      check_lazy(object, /*may_copy=*/true, may_compute);
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

// The import: sharing where the memory allows it, else a copy.

// `mode`, but never where implicit copies are errors (spanwise.strict_copies()).
CopyMode unless_strict(CopyMode mode) noexcept {
  return mode == CopyMode::if_needed && StrictCopies::active() ? CopyMode::never : mode;
}

// Converts `array` to the dtype, device, and copy mode of `options`. With `is_private_copy` the
// memory is a copy already, so that CopyMode::always makes no other.
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
  return array;
}

// The Array of a view, with the conversions of `options`; updates the bridge's counters. `prefix`
// begins messages.
Array finish_import(BridgeMatch& match, const ImportOptions& options, std::string_view prefix) {
  ForeignView& view = match.view;
  if (view.created) {
    if (options.copy == CopyMode::never)
      throw SharingError(prefix,
                         {"a number has no memory to share",
                          "allow a copy (copy=None, copyif=True), or make an array of it first"});
    return adapt(*std::move(view.array), {.dtype = options.dtype, .device = options.device}, prefix,
                 true);
  }
  const CopyMode mode = unless_strict(options.copy);
  const bool always = mode == CopyMode::always;
  Array array = take(view, always ? CopyMode::if_needed : mode, prefix);
  const bool converts = (options.dtype && *options.dtype != array.dtype()) ||
                        (options.device && *options.device != array.device());
  if (converts || always) array = adapt(std::move(array), options, prefix, view.copied);
  match.bridge->count_import(view.copied || converts || always, array.nbytes());
  return array;
}

// Whether `options` ask for nothing but the object's memory, which describe() and share() provide.
bool permits_fast_path(const ImportOptions& options) noexcept {
  return options.copy != CopyMode::always && !options.dtype && !options.device;
}

[[noreturn]] void fail_unknown(PyObject* object) {
  if (PyUnicode_Check(object))
    fail<BridgeError>("asarray: expected an array, a number or a nested sequence, got the text ",
                      std::string(py::repr(object)));
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

}  // namespace

const Bridge* bridge_of_type(PyTypeObject* type) noexcept { return cached_bridge(type); }

PyObject* shared_object(PyObject* object, const Bridge* only) {
  BorrowedTensor memory;
  const Bridge* cached = describe(object, memory, only);
  PyObject* shared = cached != nullptr ? wrap_shared(memory, quick_owner(object)) : nullptr;
  if (shared != nullptr) cached->count_shared_import();
  return shared;
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

std::optional<DType> foreign_dtype(PyObject* object) {
  const auto match = find_view(object, /*may_copy=*/true, /*may_compute=*/false);
  if (!match) return std::nullopt;
  return match->view.array ? match->view.array->dtype() : match->view.memory.dtype;
}

Array import_through(const Bridge& bridge, PyObject* object, const ImportOptions& options) {
  if (auto array = import_foreign(object, options, &bridge)) return *std::move(array);
  fail<BridgeError>("from_", bridge.name(), ": expected an array of ", bridge.name(),
                    ", got an object of type ", type_name(object),
                    "; spanwise.asarray() takes any array");
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
                       {"numbers and sequences have no memory to share",
                        "allow a copy (copy=None, copyif=True), or make an array of them first"});
  }
  return array_from_sequence(object, options.dtype, options.device.value_or(default_device()),
                             options.may_compute);
}

Array import_output(PyObject* object, std::string_view caller, std::string_view argument) {
  const auto prefix = [&] {
    return argument.empty() ? std::string(caller) : text(caller, ": argument '", argument, "'");
  };
  if (PyUnicode_Check(object))
    fail<BridgeError>(prefix(), ": expected an array to write to, got the text ",
                      std::string(py::repr(object)), "; pass an array");
  try {
    Array array =
        is_array(object) ? array_in(object) : import_array(object, {.copy = CopyMode::never});
    if (array.readonly())
      fail<ReadOnlyError>(prefix(), ": cannot write to ", array,
                          "; pass an array that is not read-only, such as a copy");
    return array;
  } catch (const SharingError& error) {
    throw SharingError(prefix(), {text("cannot write to the memory of an object of type ",
                                       type_name(object), ": ", error.blocker().reason),
                                  "pass an array of spanwise.empty(), and copy from it"});
  }
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

// The export.

namespace {

std::string exporting_bridges() {
  std::string names;
  for (const Bridge* bridge : registered_bridges())
    if (bridge->exports()) names += (names.empty() ? "" : ", ") + std::string(bridge->name());
  return names;
}

// For an array without share blockers.
py::object shared_out(const Bridge& target, const Array& array) {
  py::object result = owned(target.wrap(array));
  target.count_shared_export();
  return result;
}

// Whether `object` is an array of `target`. cached_bridge() decides for types cached with the
// bridge of a library; accepts(), which is slow for some libraries, for other types.
bool is_array_of(PyObject* object, const Bridge& target) {
  if (is_array(object)) return false;
  const Bridge* bridge = cached_bridge(Py_TYPE(object));
  const bool is_cached_library = bridge != nullptr && !bridge->module().empty();
  return is_cached_library ? bridge == &target : target.accepts(object);
}

py::object exported(const Array& array, const Bridge& target, CopyMode mode) {
  std::optional<ShareBlocker> blocker = target.share_blocker(array);
  if (!blocker) return shared_out(target, array);
  if (unless_strict(mode) == CopyMode::never)
    throw SharingError("to_" + std::string(target.name()), *std::move(blocker));
  const Array held = array;  // keeps the memory alive without the GIL
  py::object result = owned(target.wrap(without_gil([&] { return target.exportable_copy(held); })));
  target.count_export(true, array.nbytes());
  return result;
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

py::object convert(py::handle object, const Bridge& target, CopyMode mode) {
  if (is_array(object.ptr())) return exported(array_in(object.ptr()), target, mode);
  if (is_array_of(object.ptr(), target)) return py::reinterpret_borrow<py::object>(object);
  return exported(import_array(object.ptr(), {.copy = mode, .may_compute = true}), target, mode);
}

// The functions of the module. Plain C functions without pybind11, since programs that mix
// libraries call them for every array.

namespace {

constinit const AttributeName dlpack_name("__dlpack__");

// Whether the bridge that is cached for the type knows that its objects have __dlpack__, which
// saves the lookup.
bool is_cached_as_dlpack(PyObject* object) {
  const Bridge* bridge = cached_bridge(Py_TYPE(object));
  return bridge != nullptr && bridge->speaks_dlpack(object);
}

bool offers_dlpack(PyObject* object) {
  return is_cached_as_dlpack(object) || PyCapsule_CheckExact(object) ||
         attribute_or_null(object, dlpack_name);
}

PyObject* shared_through_dlpack(PyObject* x) {
  return is_cached_as_dlpack(x) ? shared_object(x) : nullptr;
}

PyObject* from_dlpack(PyObject* x, PyObject* device, PyObject* copy) {
  if (!offers_dlpack(x))
    fail<BridgeError>("from_dlpack: a ", Py_TYPE(x)->tp_name,
                      " has no __dlpack__; spanwise.asarray() converts other arrays too");
  ImportOptions options{.copy = copy_mode_from(copy)};
  if (given(device)) options.device = device_from(device);
  return wrap(import_array(x, options));
}

PyObject* convert_to_named(PyObject* x, PyObject* library, PyObject* copyif) {
  if (!PyUnicode_Check(library)) throw py::type_error("convert(): library must be a str");
  const Bridge& target = target_bridge(std::string(py::str(py::handle(library))));
  return convert(x, target, copyif_mode_from(copyif)).release().ptr();
}

const Bridge& bridge_of_capsule(PyObject* self) {
  return *static_cast<const Bridge*>(PyCapsule_GetPointer(self, nullptr));
}

// All arguments. Not inlined, so that the stack frame of the fast path stays small; also below.
[[gnu::noinline]] PyObject* convert_to_library(const Bridge& target, PyObject* const* values,
                                               Py_ssize_t count, PyObject* names) {
  static constexpr CallSignature<2> signature{"to_<library>", {"x", "copyif"}, 1, 2};
  const auto [x, copyif] = signature.read(values, count, names);
  return convert(x, target, copyif_mode_from(copyif)).release().ptr();
}

PyObject* to_library(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  const Bridge& target = bridge_of_capsule(self);
  if (count == 1 && names == nullptr && is_array(values[0]))
    if (const Array& array = array_in(values[0]); !target.share_blocker(array))
      return shared_out(target, array).release().ptr();
  return convert_to_library(target, values, count, names);
}

[[gnu::noinline]] PyObject* import_from_library(const Bridge& source, PyObject* const* values,
                                                Py_ssize_t count, PyObject* names) {
  static constexpr CallSignature<2> signature{"from_<library>", {"x", "copyif"}, 1, 2};
  const auto [x, copyif] = signature.read(values, count, names);
  return wrap(import_through(source, x, {.copy = copyif_mode_from(copyif)}));
}

PyObject* from_library(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  const Bridge& source = bridge_of_capsule(self);
  if (count == 1 && names == nullptr) {
    PyObject* shared = shared_object(values[0], &source);
    if (shared != nullptr || PyErr_Occurred() != nullptr) return shared;
  }
  return import_from_library(source, values, count, names);
}

// Adds to_<library>() or from_<library>(). The definition and its strings are never freed, since
// the function refers to them.
void add_conversion(py::module_& module, const Bridge& bridge, bool is_export) {
  const std::string library(bridge.name());
  const auto* name = new std::string((is_export ? "to_" : "from_") + library);
  const auto* doc = new std::string(
      *name + "(x, copyif=False)\n--\n\n" +
      (is_export
           ? "`x`, any library's array, as an array of " + library + " that shares its memory.\n"
           : "`x`, an array of " + library + ", as a spanwise.Array that shares its memory.\n") +
      "If the memory cannot be shared: CopyNeededError, or a copy with copyif=True.");
  auto* definition =
      new PyMethodDef(is_export ? method<&to_library>(name->c_str(), doc->c_str())
                                : method<&from_library>(name->c_str(), doc->c_str()));
  const py::capsule self(static_cast<const void*>(&bridge));
  const py::str module_name = py::str(module.attr("__name__"));
  module.add_object(name->c_str(),
                    owned(PyCFunction_NewEx(definition, self.ptr(), module_name.ptr())));
}

PyMethodDef bridge_functions[] = {
    declared<
        "from_dlpack(x, /, *, device=None, copy=None)",
        "An Array from an object with __dlpack__, or from a DLPack capsule. Shares memory if "
        "it\ncan, else copies; copy=False raises CopyNeededError instead, copy=True always copies.",
        &from_dlpack, &shared_through_dlpack>(),
    declared<
        "convert(x, library, copyif=False)",
        "`x`, any library's array, as an array of \"numpy\", \"torch\", \"jax\", "
        "\"cupy\",\n\"numba\", \"pycuda\", \"cudamat\", \"gnumpy\", \"warp\" or \"tensorflow\". It "
        "shares the\nmemory of `x`; if that is not possible, it raises CopyNeededError, or returns "
        "a copy\nwith copyif=True. `x` itself if it is an array of that library.",
        &convert_to_named>(),
    {nullptr, nullptr, 0, nullptr}};

// What an exchange would do.
struct ExchangeReport {
  bool shares = false;
  std::string reason;      ///< one clause: "C-contiguous float32 on cpu"
  std::int64_t bytes = 0;  ///< number of bytes copied
  std::string layout;      ///< of the source array
  std::string remedy;      ///< how to avoid the copy; "" where memory is shared
};

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

// What convert() would do. Throws the errors of convert() that allowing a copy does not avoid.
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

// What importing `object` would do.
ExchangeReport explain(py::handle object) {
  return explain_by(object, [](const Array& array) { return share_report(array); });
}

// What moving `object` to the device `target` would do.
ExchangeReport explain(py::handle object, Device target) {
  return explain_by(object, [&](const Array& array) {
    if (array.device() == target) return share_report(array);
    return copy_report(
        {text("it is on ", array.device()), text("keep it there, or copy: x.to(\"", target, "\")")},
        array.nbytes(), text(array));
  });
}

std::string sentence(const ExchangeReport& exchange) {
  if (exchange.shares) return text("shares memory: ", exchange.reason);
  return text("copies ", exchange.bytes, " bytes: ", exchange.reason, " (", exchange.layout,
              "); remedy: ", exchange.remedy);
}

// A StrictCopies applies to the thread that constructs it, so each __enter__ makes one.
class StrictCopiesContext {
 public:
  void enter() { guards_.push_back(std::make_unique<StrictCopies>()); }
  void exit() {
    if (!guards_.empty()) guards_.pop_back();
  }

 private:
  std::vector<std::unique_ptr<StrictCopies>> guards_;
};

py::list bridge_rows() {
  py::list rows;
  for (const Bridge* bridge : registered_bridges()) {
    const BridgeCounts counts = bridge->counts();
    rows.append(py::dict(
        "name"_a = counts.name, "module"_a = bridge->module(), "protocols"_a = bridge->protocols(),
        "exports"_a = bridge->exports(), "imports_shared"_a = counts.imports_shared,
        "imports_copied"_a = counts.imports_copied, "exports_shared"_a = counts.exports_shared,
        "exports_copied"_a = counts.exports_copied, "bytes_copied"_a = counts.bytes_copied));
  }
  return rows;
}

}  // namespace

SW_BIND(bridge_functions) {
  add_functions(module, bridge_functions);
  for (const Bridge* bridge : registered_bridges()) {
    if (!bridge->exports()) continue;
    add_conversion(module, *bridge, /*is_export=*/true);
    add_conversion(module, *bridge, /*is_export=*/false);
  }
}

SW_BIND(bridge_report) {
  py::class_<ExchangeReport>(module, "Exchange",
                             "The effect of a conversion between two libraries.")
      .def_readonly("shares", &ExchangeReport::shares, "Whether memory would be shared.")
      .def_readonly("reason", &ExchangeReport::reason, "Why it shares or copies.")
      .def_readonly("bytes", &ExchangeReport::bytes, "Bytes that would be copied.")
      .def_readonly("layout", &ExchangeReport::layout,
                    "Dtype, shape, device and strides of the source.")
      .def_readonly("remedy", &ExchangeReport::remedy, "How to make it share; \"\" if it does.")
      .def("__str__", &sentence)
      .def("__repr__",
           [](const ExchangeReport& self) { return "<Exchange: " + sentence(self) + ">"; });
  module.def(
      "explain",
      [](py::handle x, const std::string& target) {
        if (target == "spanwise") return explain(x);
        const bool names_device =
            target.starts_with("cpu") || target == "cuda" || target.starts_with("cuda:");
        return names_device ? explain(x, Device::parse(target)) : explain(x, target_bridge(target));
      },
      py::arg("x"), py::arg("library"),
      "An Exchange: whether convert(x, library) would share or copy, why, and how many bytes. With "
      "\"spanwise\" as the library for asarray(x), with a device's name for x.to(device).");
  module.def("_bridge_rows", &bridge_rows);
  module.def(
      "bridges", [] { return py::module_::import("spanwise._bridges").attr("bridges")(); },
      "A list of BridgeInfo, printed as a table: each bridge's library, installed version, "
      "directions, protocols, and its exchanges so far.");
  py::class_<StrictCopiesContext>(module, "strict_copies",
                                  "with strict_copies(): implicit copies raise CopyNeededError on "
                                  "this thread.")
      .def(py::init([] { return std::make_unique<StrictCopiesContext>(); }))
      .def("__enter__",
           [](py::object self) {
             value_of<StrictCopiesContext&>(self, "strict_copies").enter();
             return self;
           })
      .def("__exit__", [](StrictCopiesContext& self, const py::args&) { self.exit(); });
}

}  // namespace spanwise::python
