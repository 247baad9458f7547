// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dlpack_abi.hpp"
#include "dlpack_tensor.hpp"
#include "python/array/array_object.hpp"
#include "python/interop/dlpack_exchange.hpp"
#include "python/stream_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/gil.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"

/// DLPack in Python. Import: from capsules, from objects with __dlpack__, and through the C
/// exchange API, by which a type gives its tensors, and the stream of its queued work, without a
/// Python call. Export: Array.__dlpack__ and __dlpack_device__ (array API standard 2024.12, "Data
/// interchange"), and the C exchange API of spanwise.Array.
namespace spanwise::dlpack {

namespace py = pybind11;

using python::array_in;
using python::AttributeName;

namespace {

// The numbers of a tuple of two integers; nothing for other objects. Leaves no Python error.
std::optional<std::pair<long, long>> integer_pair_in(PyObject* object) noexcept {
  if (!PyTuple_Check(object) || PyTuple_GET_SIZE(object) != 2) return std::nullopt;
  // Either is often an IntEnum.
  const long first = PyLong_AsLong(PyTuple_GET_ITEM(object, 0)),
             second = PyLong_AsLong(PyTuple_GET_ITEM(object, 1));
  if (PyErr_Occurred() == nullptr) return std::pair(first, second);
  PyErr_Clear();
  return std::nullopt;
}

// Makes the consumer's stream wait for all of Spanwise's queued work on the array.
void order_consumer(const Stream& consumer, const Array& array) {
  if (!array.storage()) return;
  // The consumer may write, so it also waits for readers. The use of the legacy default stream can
  // be recorded, because it lives as long as the process; other streams may be destroyed at any
  // time.
  if (consumer.handle() == 1) return order_use(consumer, array, true);
  for (const Ref<StreamIdentity>& used : array.storage().uses().all())
    consumer.wait(Stream::of(*used));
}

// Capsules from other libraries.

// `release` for tensors from Python, whose deleter may need the GIL: it acquires the GIL itself
// while the interpreter runs. After that it is not called, and the memory is freed with the
// process.
template <auto release>
void release_python(void* context, void* data, std::size_t bytes, StreamUses& uses) noexcept {
  if (!Py_IsInitialized() && !python::holds_gil()) return;
  release(context, data, bytes, uses);
}

// Whether the object is a capsule with one of DLPack's names, used or not.
bool is_capsule(PyObject* object) noexcept {
  for (const char* expected :
       {capsule_name, versioned_capsule_name, used_capsule_name, used_versioned_capsule_name})
    if (PyCapsule_IsValid(object, expected) != 0) return true;
  return false;
}

// Takes the tensor out of a capsule and marks the capsule as used. Throws ArgumentError for a used
// capsule, BridgeError for other capsules.
ForeignView view_of_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, used_capsule_name) != 0 ||
      PyCapsule_IsValid(capsule, used_versioned_capsule_name) != 0)
    fail<ArgumentError>("dlpack: this capsule was used before, and can be used once only; call ",
                        "__dlpack__() again for another");
  if (PyCapsule_IsValid(capsule, versioned_capsule_name) != 0) {
    void* tensor = PyCapsule_GetPointer(capsule, versioned_capsule_name);
    PyCapsule_SetName(capsule, used_versioned_capsule_name);
    return view_of(static_cast<ManagedTensorVersioned*>(tensor),
                   &release_python<release_versioned>);
  }
  if (PyCapsule_IsValid(capsule, capsule_name) != 0) {
    void* tensor = PyCapsule_GetPointer(capsule, capsule_name);
    PyCapsule_SetName(capsule, used_capsule_name);
    return view_of(static_cast<ManagedTensor*>(tensor), &release_python<release_unversioned>);
  }
  const char* name = PyCapsule_GetName(capsule);
  fail<BridgeError>("dlpack: a capsule named \"", name != nullptr ? name : "",
                    "\"; expected \"dltensor_versioned\" or \"dltensor\"");
}

// The C exchange API of other libraries.

constinit const AttributeName api_name("__dlpack_c_exchange_api__");

// The first table of the chain with Spanwise's major version; null if there is none.
const ExchangeApi* find_compatible_table(void* table) noexcept {
  auto* header = static_cast<ExchangeHeader*>(table);
  while (header != nullptr && header->version.major != version.major) header = header->previous;
  return reinterpret_cast<const ExchangeApi*>(header);
}

// Clears the Python error that is set and returns its message, without the newline at the end of
// PyTorch's messages.
std::string take_error() {
  py::error_already_set error;
  return py::str(py::str(error.value()).attr("rstrip")());
}

std::uintptr_t stream_of(const ExchangeApi& api, Device device) {
  void* stream = nullptr;
  const auto type = static_cast<DeviceType>(device.kind());
  if (api.current_stream(type, device.ordinal(), &stream) != 0) throw py::error_already_set();
  return python::interface_stream(reinterpret_cast<std::uintptr_t>(stream));
}

// An object's tensor, by the exchange table of its type. Throws BridgeError if the object refuses.
ForeignView view_through(const ExchangeApi& api, PyObject* object) {
  ManagedTensorVersioned* tensor = nullptr;
  if (api.managed_from_object(object, &tensor) != 0 || tensor == nullptr) {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_BufferError, "it gave no reason");
    fail<BridgeError>("dlpack: a ", Py_TYPE(object)->tp_name, " refused: ", take_error());
  }
  ForeignView view = view_of(tensor, &release_python<release_versioned>);
  const DeviceKind kind = view.memory.device.kind();
  if (kind == DeviceKind::cuda || kind == DeviceKind::cuda_managed)
    view.streams.push_back(stream_of(api, view.memory.device));
  return view;
}

}  // namespace

const ExchangeApi* exchange_api_of(PyTypeObject* type) noexcept {
  // The attribute is on the type, so no code of the instance runs and the lookup cannot fail.
  PyObject* capsule = _PyType_Lookup(type, api_name.get());
  if (capsule == nullptr || !PyCapsule_CheckExact(capsule)) return nullptr;
  void* table = PyCapsule_GetPointer(capsule, exchange_capsule_name);
  if (table == nullptr) PyErr_Clear();
  return find_compatible_table(table);
}

}  // namespace spanwise::dlpack

namespace spanwise::python {

bool try_describe_through_exchange(const dlpack::ExchangeApi& api, PyObject* object,
                                   BorrowedTensor& memory) noexcept {
  dlpack::Tensor tensor;
  if (api.tensor_from_object == nullptr) return false;
  if (api.tensor_from_object(object, &tensor) == 0 && dlpack::try_describe(tensor, memory))
    return try_describe_stream(api, memory);
  PyErr_Clear();
  return false;
}

bool try_describe_stream(const dlpack::ExchangeApi& api, BorrowedTensor& memory) noexcept {
  if (memory.device.is_cpu()) return true;
  void* stream = nullptr;
  const auto type = static_cast<dlpack::DeviceType>(memory.device.kind());
  const int failed = api.current_stream(type, memory.device.ordinal(), &stream);
  memory.stream = interface_stream(reinterpret_cast<std::uintptr_t>(stream));
  if (failed != 0) PyErr_Clear();
  return failed == 0;
}

void order_library_stream(std::uintptr_t stream, const Array& array) {
  dlpack::order_consumer(Stream::foreign(array.device(), stream), array);
}

pybind11::object wrap_through_exchange(const dlpack::ExchangeApi& api, const Array& array,
                                       IsPersistentStream is_persistent_stream) {
  if (const Device device = array.device(); !device.is_cpu()) {
    const std::uintptr_t stream = dlpack::stream_of(api, device);
    // Recorded as a use: after the library has released the memory, its last work on it may still
    // run, and the next use of the memory must wait for that work.
    if (is_persistent_stream(stream, device.ordinal()))
      order_use(Stream::persistent(device, stream), array, true);
    else
      order_library_stream(stream, array);
  }
  void* object = nullptr;
  // managed_to_object() takes ownership of the tensor, also if it fails.
  if (api.managed_to_object(dlpack::exported(array), &object) != 0)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(static_cast<PyObject*>(object));
}

}  // namespace spanwise::python

namespace spanwise::dlpack {
namespace {

// Objects with __dlpack__, and the bridge.

constinit const AttributeName method_name("__dlpack__"), device_name("__dlpack_device__");
constinit const AttributeName stream_keyword("stream"), version_keyword("max_version"),
    copy_keyword("copy");

// Keyword arguments of a vectorcall.
class KeywordArguments {
 public:
  void add(const AttributeName& keyword, PyObject* value) {
    names_[count_] = keyword.get();
    values_[++count_] = value;
  }
  // Calls object.__dlpack__(**keywords); returns null with a Python error set on failure.
  py::object call(PyObject* object) {
    values_[0] = object;
    py::tuple names(count_);
    for (std::size_t i = 0; i < count_; ++i) names[i] = py::handle(names_[i]);
    return py::reinterpret_steal<py::object>(PyObject_VectorcallMethod(
        method_name.get(), values_.data(), 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
        count_ == 0 ? nullptr : names.ptr()));
  }

 private:
  std::size_t count_ = 0;
  std::array<PyObject*, 3> names_{};
  std::array<PyObject*, 4> values_{};
};

py::object version_tuple() {
  static constinit PyObject* pair = nullptr;  // guarded by the GIL
  if (pair == nullptr) pair = py::make_tuple(version.major, version.minor).release().ptr();
  return py::reinterpret_borrow<py::object>(pair);
}

// Clears the BufferError or NotImplementedError that is set and returns its message; throws other
// errors.
std::string take_refusal() {
  if (PyErr_ExceptionMatches(PyExc_BufferError) == 0 &&
      PyErr_ExceptionMatches(PyExc_NotImplementedError) == 0)
    throw py::error_already_set();
  const py::error_already_set error;
  return std::string(py::str(error.value()));
}

TensorDevice reported_device(PyObject* object) {
  const auto pair =
      py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(object, device_name.get()));
  if (!pair)
    fail<BridgeError>("dlpack: a ", Py_TYPE(object)->tp_name, " refused: ", take_refusal());
  const auto numbers = integer_pair_in(pair.ptr());
  if (!numbers)
    fail<BridgeError>("dlpack: __dlpack_device__() of a ", Py_TYPE(object)->tp_name, " returned ",
                      std::string(py::repr(pair)), "; expected (device type, device id)");
  return {static_cast<DeviceType>(numbers->first), static_cast<std::int32_t>(numbers->second)};
}

py::object call_dlpack(PyObject* object, const py::object& stream, bool may_copy) {
  KeywordArguments keywords;
  if (stream) keywords.add(stream_keyword, stream.ptr());
  KeywordArguments plain = keywords;
  keywords.add(version_keyword, version_tuple().ptr());
  if (!may_copy) keywords.add(copy_keyword, Py_False);
  py::object capsule = keywords.call(object);
  // Methods from before 1.0 do not have the arguments max_version and copy, and always share.
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    capsule = plain.call(object);
  }
  if (capsule) return capsule;
  const std::string reason = take_refusal();
  if (!may_copy) {
    throw SharingError("dlpack", {text("a ", Py_TYPE(object)->tp_name, " refused: ", reason),
                                  "allow a copy (copy=None, copyif=True)"});
  }
  fail<BridgeError>("dlpack: a ", Py_TYPE(object)->tp_name, " refused: ", reason);
}

class DlpackBridge final : public Bridge {
 public:
  std::string_view name() const override { return "dlpack"; }
  BridgePriority priority() const override { return BridgePriority::dlpack; }
  std::string_view protocols() const override { return "DLPack 1.3, C exchange API"; }

  bool accepts(PyObject* object) const override {
    if (PyType_Check(object)) return false;
    if (is_capsule(object) || exchange_api_of(Py_TYPE(object)) != nullptr) return true;
    return static_cast<bool>(python::attribute_or_null(object, method_name));
  }
  bool speaks_dlpack(PyObject*) const override { return true; }

  ForeignView view(PyObject* object, bool may_copy) const override {
    if (PyCapsule_CheckExact(object)) return view_of_capsule(object);
    if (const ExchangeApi* api = exchange_api_of(Py_TYPE(object)))
      return view_through(*api, object);
    const Device device = device_from(reported_device(object));
    // The producer makes Spanwise's current stream wait for its work.
    py::object stream;
    if (device.is_cuda() || device.kind() == DeviceKind::cuda_managed) {
      const Device worker(DeviceKind::cuda, device.ordinal());
      stream = py::int_(Stream::current(worker).handle());
    }
    const py::object capsule = call_dlpack(object, stream, may_copy);
    if (!PyCapsule_CheckExact(capsule.ptr()))
      fail<BridgeError>("dlpack: __dlpack__() of a ", Py_TYPE(object)->tp_name, " returned a ",
                        Py_TYPE(capsule.ptr())->tp_name, "; expected a capsule");
    return view_of_capsule(capsule.ptr());
  }
};

const DlpackBridge dlpack_bridge;
[[maybe_unused]] const bool dlpack_registered = register_bridge(dlpack_bridge);

// Export: capsules.

// The stream that `__dlpack__(stream=)` means for an array on `device`: none on the CPU and for -1,
// the legacy default stream for None. Throws ArgumentError for invalid numbers.
std::optional<Stream> consumer_stream(std::optional<std::int64_t> stream, Device device) {
  if (device.is_cpu()) {
    if (stream)
      fail<ArgumentError>("__dlpack__: stream ", stream.value_or(0),
                          " for an array on the CPU, which has no streams; expected None");
    return std::nullopt;
  }
  const std::int64_t handle = stream.value_or(1);  // None: the legacy default stream
  if (handle == 0 || handle < -1)
    fail<ArgumentError>("__dlpack__: stream ", handle,
                        "; expected -1 (no order), 1 (legacy default), 2 (per-thread default) or "
                        "the address of a CUstream");
  if (handle == -1) return std::nullopt;
  return Stream::foreign(device, static_cast<std::uintptr_t>(handle));
}

// The destructor of capsules whose tensor was not taken. It runs wherever Python drops the capsule,
// also while an exception is set.
template <class Managed>
void delete_capsule(PyObject* capsule) noexcept {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  for (const char* name : {capsule_name, versioned_capsule_name})
    if (PyCapsule_IsValid(capsule, name) != 0) {
      auto* tensor = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
      tensor->deleter(tensor);
      break;
    }
  PyErr_Restore(type, value, traceback);
}

template <class Managed>
PyObject* new_capsule(Managed* tensor, const char* name) noexcept {
  PyObject* capsule = PyCapsule_New(tensor, name, &delete_capsule<Managed>);
  if (capsule == nullptr) tensor->deleter(tensor);
  return capsule;
}

// A capsule with a new managed tensor, which is deleted with the capsule if no consumer takes it.
// Returns a new reference, or null with a Python error set if out of memory.
PyObject* capsule_of(const Array& array, bool versioned, std::uint64_t extra_flags = 0) {
  if (versioned) return new_capsule(exported(array, extra_flags), versioned_capsule_name);
  return new_capsule(exported_unversioned(array), capsule_name);
}

struct ExportRequest {
  std::optional<std::int64_t> stream{};  ///< the consumer's; nothing for None
  bool versioned = false;
  std::optional<TensorDevice> device{};
  CopyMode copy = CopyMode::if_needed;
};

std::pair<long, long> integer_pair_from(PyObject* object, const char* argument) {
  if (const auto pair = integer_pair_in(object)) return *pair;
  throw py::type_error(text("__dlpack__: ", argument, " is a ", Py_TYPE(object)->tp_name,
                            "; expected None or a tuple of two integers"));
}

ExportRequest parse_request(PyObject* stream, PyObject* max_version, PyObject* device,
                            PyObject* copy) {
  ExportRequest request;
  request.copy = python::copy_mode_from(copy);
  if (python::given(stream)) {
    request.stream = PyLong_AsLongLong(stream);
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  }
  if (python::given(max_version))
    request.versioned = integer_pair_from(max_version, "max_version").first >= 1;
  if (python::given(device)) {
    const auto [type, id] = integer_pair_from(device, "dl_device");
    request.device = TensorDevice{static_cast<DeviceType>(type), static_cast<std::int32_t>(id)};
  }
  return request;
}

// Copies to the host, the only other device that every producer must support.
Array to_host(const Array& array, const ExportRequest& request) {
  const TensorDevice requested = *request.device;
  const bool is_possible = requested.type == DeviceType::cpu && !array.device().is_cpu();
  if (!is_possible || request.copy == CopyMode::never) {
    throw SharingError("__dlpack__", {text("the array is on ", array.device(), ", and device (",
                                           static_cast<int>(requested.type), ", ", requested.id,
                                           ") was requested"),
                                      "move it first: x.to(...)"});
  }
  if (request.stream)
    fail<ArgumentError>("__dlpack__: stream ", request.stream.value_or(0),
                        " with dl_device=(1, 0); expected None, since the host has no streams");
  const python::GilRelease unlocked;
  return to_device(array, cpu);
}

bool is_elsewhere(const Array& array, const ExportRequest& request) {
  if (!request.device) return false;
  const TensorDevice own = device_of(array), requested = *request.device;
  return requested.type != own.type || (own.type != DeviceType::cpu && requested.id != own.id);
}

// Whether a function of torch is the caller: its releases up to 2.11 abort the process for negative
// strides, and later ones refuse them; the consumer cannot be identified otherwise.
bool is_called_by_torch() noexcept {
  PyObject* globals = PyEval_GetGlobals();
  PyObject* name = globals != nullptr ? PyDict_GetItemString(globals, "__name__") : nullptr;
  if (name == nullptr || !PyUnicode_Check(name)) return false;
  const char* module = PyUnicode_AsUTF8(name);
  if (module == nullptr) PyErr_Clear();
  return module != nullptr && std::string_view(module).starts_with("torch.");
}

// Refuses what torch takes wrongly: torch ignores the read-only flag of a tensor, and writes to it.
void refuse_for_torch(const Array& array) {
  if (array.readonly() && is_called_by_torch())
    throw SharingError("__dlpack__",
                       {"the array is read-only, and torch's tensors can always be written",
                        "pass x.copy(), or spanwise.to_torch(x, copyif=True)"});
  const Layout& layout = array.layout();
  for (int axis = 0; axis < layout.rank(); ++axis) {
    if (layout.strides[axis] >= 0 || layout.shape[axis] <= 1 || array.size() == 0) continue;
    if (!is_called_by_torch()) return;
    throw SharingError("__dlpack__",
                       {text("its strides ", strides_text(array), " are negative on axis ", axis,
                             ", which torch cannot represent"),
                        "pass x.copy(), or spanwise.to_torch(x, copyif=True)"});
  }
}

PyObject* export_array(const Array& source, const ExportRequest& request) {
  if (is_elsewhere(source, request))
    return capsule_of(to_host(source, request), request.versioned, flag_is_copied);
  const std::optional<Stream> consumer = consumer_stream(request.stream, source.device());
  if (request.copy == CopyMode::always) {
    Array copied = source;
    {
      const python::GilRelease unlocked;
      std::optional<StreamGuard> guard;
      if (consumer) guard.emplace(*consumer);  // the copy is queued on the consumer's stream
      copied = copy(source);
    }
    if (consumer) order_consumer(*consumer, copied);
    return capsule_of(copied, request.versioned, flag_is_copied);
  }
  if (source.readonly() && !request.versioned) {
    throw SharingError("__dlpack__",
                       {"the array is read-only, which DLPack can express from version 1.0 on only",
                        "ask for max_version=(1, 0), or for copy=True"});
  }
  refuse_for_torch(source);
  if (consumer) order_consumer(*consumer, source);
  return capsule_of(source, request.versioned);
}

PyObject* dlpack(PyObject* self, PyObject* stream, PyObject* max_version, PyObject* device,
                 PyObject* copy) {
  return export_array(array_in(self), parse_request(stream, max_version, device, copy));
}

PyObject* dlpack_device(PyObject* self) {
  const TensorDevice device = device_of(array_in(self));
  return Py_BuildValue("(ii)", static_cast<int>(device.type), static_cast<int>(device.id));
}

PyMethodDef dlpack_methods[] = {
    python::declared<
        "__dlpack__($self, /, *, stream=None, max_version=None, dl_device=None, copy=None)",
        "A DLPack capsule that shares the array's memory. `stream` is the consumer's, and is made "
        "to\nwait for queued work. Read-only arrays need max_version >= (1, 0).",
        &dlpack>(),
    python::declared<"__dlpack_device__($self, /)", "DLPack's (device type, device id).",
                     &dlpack_device>(),
    {}};

// See as_immutable_producer().
struct ImmutableProducer {
  Array array;

  py::object capsule(const py::object& stream) const {
    const auto number = stream.cast<std::optional<std::int64_t>>();
    if (const auto consumer = consumer_stream(number, array.device()))
      order_consumer(*consumer, array);
    return python::owned(capsule_of(array, /*versioned=*/false));
  }
};

// The C exchange API of spanwise.Array. C code calls these functions, so none may throw.

int allocate(Tensor* prototype, ManagedTensorVersioned** out, void* error_context,
             SetErrorFn set_error) noexcept {
  try {
    // Only dtype, shape and device are valid; the other fields may have any value.
    Tensor requested = *prototype;
    requested.strides = nullptr;
    const ForeignMemory memory = memory_of(requested, false);
    *out = exported(empty(memory.shape, memory.dtype, memory.device));
    return 0;
  } catch (const OutOfMemoryError& error) {
    set_error(error_context, "MemoryError", error.what());
  } catch (const std::bad_alloc&) {
    set_error(error_context, "MemoryError", "spanwise: no host memory left");
  } catch (const std::exception& error) {
    set_error(error_context, "ValueError", error.what());
  }
  return -1;
}

const Array& array_of(void* object) {
  auto* array = static_cast<PyObject*>(object);
  if (!python::is_array(array))
    fail<BridgeError>("dlpack: expected a spanwise.Array, got a ", Py_TYPE(array)->tp_name);
  return python::array_in(array);
}

// The array of an exchange with C code, which gets an address and writes to it: a tensor without
// owner has no flags, and consumers of managed ones (apache-tvm-ffi) pass the address on without
// the read-only flag.
const Array& writable_array_of(void* object) {
  const Array& array = array_of(object);
  if (array.readonly())
    throw SharingError("dlpack", {"the array is read-only, and functions that take arrays through "
                                  "DLPack's C exchange API may write to any of them",
                                  "pass x.copy()"});
  return array;
}

int managed_from_object(void* object, ManagedTensorVersioned** out) {
  *out = exported(writable_array_of(object));
  return 0;
}

int managed_to_object(ManagedTensorVersioned* tensor, void** out_object) {
  ForeignView view = view_of(tensor, &release_versioned);
  view.copied = false;  // the producer's only choice was a copy, so do not reject it
  PyObject* array = python::wrap(take(view, CopyMode::if_needed, "dlpack"));
  *out_object = array;
  return array != nullptr ? 0 : -1;
}

int tensor_from_object(void* object, Tensor* out) {
  *out = borrowed(writable_array_of(object));
  return 0;
}

int current_stream(DeviceType type, std::int32_t id, void** out_stream) {
  *out_stream = nullptr;
  if (type == DeviceType::cuda || type == DeviceType::cuda_managed) {
    const Device device(DeviceKind::cuda, id);
    *out_stream = reinterpret_cast<void*>(Stream::current(device).handle());
  }
  return 0;
}

constexpr ExchangeApi exchange_api{{version, nullptr},
                                   &allocate,
                                   python::guarded<&managed_from_object>,
                                   python::guarded<&managed_to_object>,
                                   python::guarded<&tensor_from_object>,
                                   python::guarded<&current_stream>};

}  // namespace

SW_BIND(bridge_dlpack, array_type) {
  python::add_array_methods(dlpack_methods);
  auto* table = const_cast<ExchangeApi*>(&exchange_api);
  const py::object capsule = python::owned(PyCapsule_New(table, exchange_capsule_name, nullptr));
  py::setattr(reinterpret_cast<PyObject*>(python::array_type), "__dlpack_c_exchange_api__",
              capsule);
}

SW_BIND(bridge_immutable_producer) {
  py::class_<ImmutableProducer>(module, "_ImmutableProducer")
      .def(
          "__dlpack__",
          [](const ImmutableProducer& self, const py::object& stream, const py::kwargs&) {
            return self.capsule(stream);
          },
          py::kw_only(), py::arg("stream") = py::none())
      .def("__dlpack_device__", [](const ImmutableProducer& self) {
        const TensorDevice device = device_of(self.array);
        return py::make_tuple(static_cast<int>(device.type), device.id);
      });
}

}  // namespace spanwise::dlpack

pybind11::object spanwise::python::as_immutable_producer(const Array& array) {
  return pybind11::cast(dlpack::ImmutableProducer{array});
}
