// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/kernels/kernel_arguments.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "python/array/array_object.hpp"
#include "python/interop/foreign_operands.hpp"
#include "python/interop/library_bridge.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::python {

namespace py = pybind11;

// An object of In, Out, InOut or Memory.
struct PyWrapped {
  PyObject_HEAD
  PyObject* array;  ///< an array of any library; for `memory` a spanwise.Array, or None if freed
  WrappedKind kind;
};

namespace {

// One of the four Python types; all have the struct PyWrapped.
struct WrapperType {
  WrappedKind kind;
  const char* module_name;  // the name in _core, which sw.driver imports
  const char* type_name;
  const char* doc;
};

constexpr std::array<WrapperType, 4> wrapper_types{{
    {WrappedKind::in, "_DriverIn", "spanwise.driver.In",
     "In(x)\n--\n\nA host array that a kernel reads: copied to the device before the call."},
    {WrappedKind::out, "_DriverOut", "spanwise.driver.Out",
     "Out(x)\n--\n\nA host array that a kernel fills: copied back after the kernel; the call waits "
     "for the copy.\nElements that the kernel does not write are undefined afterwards."},
    {WrappedKind::in_out, "_DriverInOut", "spanwise.driver.InOut",
     "InOut(x)\n--\n\nA host array that a kernel reads and writes: copied to the device before "
     "the kernel and\nback after it; the call waits for the copy."},
    {WrappedKind::memory, "_DriverMemory", "spanwise.driver.Memory",
     "Memory(array)\n--\n\nAn array's memory as a kernel argument for a pointer of any type."},
}};

// Set by module initialisation, constant afterwards.
std::array<PyTypeObject*, wrapper_types.size()> type_objects{};

template <std::size_t I>
PyObject* make(PyTypeObject* type, PyObject* args, PyObject* kwargs) noexcept {
  PyObject* array = nullptr;
  static const char* names[] = {"", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", const_cast<char**>(names), &array))
    return nullptr;
  if (wrapper_types[I].kind == WrappedKind::memory && !is_array(array)) {
    PyErr_Format(PyExc_TypeError, "spanwise.driver.Memory: expected a spanwise.Array, got %s",
                 Py_TYPE(array)->tp_name);
    return nullptr;
  }
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  auto* self = reinterpret_cast<PyWrapped*>(object);
  self->array = Py_NewRef(array);
  self->kind = wrapper_types[I].kind;
  return object;
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(reinterpret_cast<PyWrapped*>(object)->array);
  return 0;
}

int clear(PyObject* object) {
  Py_CLEAR(reinterpret_cast<PyWrapped*>(object)->array);
  return 0;
}

void wrapped_dealloc(PyObject* object) noexcept {
  PyObject_GC_UnTrack(object);
  clear(object);
  free_object(object);
}

PyObject* repr(PyObject* object) noexcept {
  return PyUnicode_FromFormat("%s(%R)", Py_TYPE(object)->tp_name,
                              reinterpret_cast<PyWrapped*>(object)->array);
}

template <std::size_t I>
void add_wrapper(py::module_& module) {
  static PyMemberDef own_members[] = {
      {"array", T_OBJECT, offsetof(PyWrapped, array),
       wrapper_types[I].kind == WrappedKind::memory ? 0 : READONLY, "The wrapped array."},
      {nullptr, 0, 0, 0, nullptr}};
  type_objects[I] = make_type(wrapper_types[I].type_name, sizeof(PyWrapped),
                              {slot(Py_tp_new, &make<I>),
                               slot(Py_tp_dealloc, &wrapped_dealloc),
                               slot(Py_tp_traverse, &traverse),
                               slot(Py_tp_clear, &clear),
                               slot(Py_tp_repr, &repr),
                               {Py_tp_members, own_members},
                               {Py_tp_doc, const_cast<char*>(wrapper_types[I].doc)}},
                              Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC);
  add_type(module, wrapper_types[I].module_name, type_objects[I]);
}

Array import_wrapped(const PyWrapped& wrapped) {
  if (wrapped.kind == WrappedKind::in) return import_array(wrapped.array);
  return OutputArray(wrapped.array, wrapped.kind == WrappedKind::out ? "Out" : "InOut");
}

// Null if `object` is none of the four.
const PyWrapped* wrapped_in(PyObject* object) noexcept {
  for (PyTypeObject* type : type_objects)
    if (Py_TYPE(object) == type || PyType_IsSubtype(Py_TYPE(object), type))
      return reinterpret_cast<const PyWrapped*>(object);
  return nullptr;
}

}  // namespace

HostArgument::HostArgument(const PyWrapped& wrapped, Device device, bool only_reads)
    : host_(import_wrapped(wrapped)), target_(device), kind_(wrapped.kind) {
  // A kernel that may write through a non-const pointer gets a copy of read-only memory.
  const bool is_protected = host_.readonly() && !only_reads;
  is_temporary_ = host_.device() != device || !host_.layout().is_row_major() || is_protected;
  if (!is_temporary_) device_ = host_;
}

void HostArgument::copy_in() {
  if (!is_temporary_) return;
  device_ = empty(host_.shape(), host_.dtype(), target_);
  if (kind_ != WrappedKind::out) copy(host_, device_);
}

void HostArgument::copy_out() const {
  if (is_copied_back()) copy(device_, host_);
}

namespace {

using Value = std::variant<KernelArg, ValueBytes>;

constinit const ForeignClass numpy_scalar("numpy", "generic"), numpy_struct("numpy", "void"),
    numpy_array("numpy", "ndarray");
constinit const ForeignClass ctypes_number("_ctypes", "_SimpleCData"),
    ctypes_struct("_ctypes", "Structure"), ctypes_union("_ctypes", "Union"),
    ctypes_pointer("_ctypes", "_Pointer");

std::string bytes_of(PyObject* object) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE) == 0) {
    std::string bytes(static_cast<const char*>(buffer.buf), static_cast<std::size_t>(buffer.len));
    PyBuffer_Release(&buffer);
    return bytes;
  }
  // Scalars of ml_dtypes have no buffer.
  PyErr_Clear();
  return py::handle(object).attr("tobytes")().cast<std::string>();
}

/// The cached properties of a NumPy scalar type.
struct ScalarType {
  DType dtype;
  /// NumPy's own scalar types store the value right after PyObject_HEAD (numpy/arrayscalars.h, part
  /// of NumPy's C API); reading it there is many times faster than through the buffer protocol.
  bool value_follows_head;
};

// The value follows PyObject_HEAD at its alignment, which for a complex number is that of a part.
std::size_t value_offset(DType dtype) {
  const int part = dtype.is_complex() ? dtype.itemsize() / 2 : dtype.itemsize();
  const auto alignment = static_cast<std::size_t>(std::min(part, 8));
  return (sizeof(PyObject) + alignment - 1) / alignment * alignment;
}

const char* value_in(PyObject* scalar, DType dtype) {
  return reinterpret_cast<const char*>(scalar) + value_offset(dtype);
}

// Checks the layout once per type: true only for a class of the numpy module, if the buffer
// protocol gives the same bytes.
bool value_follows_head(PyObject* scalar, DType dtype) {
  PyTypeObject* type = Py_TYPE(scalar);
  const py::handle class_object(reinterpret_cast<PyObject*>(type));
  const py::object numpy_type =
      py::getattr(py::module_::import("numpy"), class_object.attr("__name__"), py::none());
  const std::string bytes = bytes_of(scalar);
  return numpy_type.is(class_object) &&
         bytes.size() == static_cast<std::size_t>(dtype.itemsize()) &&
         static_cast<std::size_t>(type->tp_basicsize) >= value_offset(dtype) + bytes.size() &&
         std::memcmp(value_in(scalar, dtype), bytes.data(), bytes.size()) == 0;
}

// The scalar types with value_follows_head, in the order of their first use; searched linearly by
// address, which is fastest for the few types that a program uses.
struct CachedType {
  PyTypeObject* type;
  DType dtype;
};
constinit std::array<CachedType, 16> number_types{};
constinit std::size_t number_type_count = 0;

// The properties of a scalar's type, cached: reading scalar.dtype takes longer than a launch.
const ScalarType& scalar_type_of(PyObject* scalar) {
  static auto& cache = *new std::unordered_map<PyTypeObject*, ScalarType>;
  PyTypeObject* type = Py_TYPE(scalar);
  if (const auto entry = cache.find(type); entry != cache.end()) return entry->second;
  const DType dtype = dtype_from(py::handle(scalar).attr("dtype"));
  const bool follows_head = value_follows_head(scalar, dtype);
  Py_INCREF(type);  // keeps the address from being reused
  if (follows_head && number_type_count < number_types.size())
    number_types[number_type_count++] = {type, dtype};
  return cache.emplace(type, ScalarType{dtype, follows_head}).first->second;
}

Value numpy_value(PyObject* scalar) {
  if (numpy_struct.has(scalar)) return bytes_of(scalar);
  const auto& [dtype, follows_head] = scalar_type_of(scalar);
  if (follows_head) [[likely]]
    return KernelArg(Scalar(dtype, value_in(scalar, dtype)));
  std::string bytes = bytes_of(scalar);
  // A scalar whose size differs from its dtype's (an aligned long double) is passed as bytes.
  if (bytes.size() != static_cast<std::size_t>(dtype.itemsize()) || dtype.itemsize() > 16)
    return bytes;
  return KernelArg(Scalar(dtype, bytes.data()));
}

// The kind of a ctypes simple type, from its code (as in the struct module).
std::optional<DTypeCode> ctypes_code(char code) {
  constexpr std::string_view signed_codes = "bhilqc", unsigned_codes = "BHILQ",
                             floating_codes = "fd";
  if (signed_codes.find(code) != std::string_view::npos) return DTypeCode::int_;
  if (unsigned_codes.find(code) != std::string_view::npos) return DTypeCode::uint;
  if (floating_codes.find(code) != std::string_view::npos) return DTypeCode::float_;
  if (code == '?') return DTypeCode::bool_;
  return std::nullopt;
}

KernelArg address_in(const std::string& bytes) {
  std::uintptr_t address = 0;
  std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof address));
  return KernelArg::address(address);
}

Value ctypes_value(PyObject* object) {
  const std::string code = py::handle(object).attr("_type_").cast<std::string>();
  std::string bytes = bytes_of(object);
  if (code == "P" || code == "z" || code == "Z") return address_in(bytes);
  const auto kind = code.size() == 1 ? ctypes_code(code[0]) : std::nullopt;
  if (!kind) return bytes;
  return KernelArg(Scalar(DType(*kind, 8 * static_cast<int>(bytes.size())), bytes.data()));
}

}  // namespace

namespace {

// The element of an ndarray of one record, as a NumPy scalar; null for other arrays.
py::object single_record(PyObject* array) {
  constexpr int npy_void = 20;
  const auto* descriptor = py::detail::array_proxy(array)->descr;
  if (py::detail::array_descriptor_proxy(descriptor)->type_num != npy_void) return {};
  const py::handle x(array);
  if (x.attr("size").cast<std::int64_t>() != 1) return {};
  return x.attr("reshape")(py::make_tuple())[py::make_tuple()];
}

}  // namespace

std::string struct_mismatch(PyObject* value, const std::string& type, std::string_view source) {
  // What fits, by a hash of the source, whose memory another text may have later. The set owns a
  // reference to each dtype or class.
  static auto& matches = *new std::set<std::tuple<std::size_t, std::string, PyObject*>>;
  constexpr std::size_t max_matches = 128;
  py::object fields = py::reinterpret_borrow<py::object>(py::type::handle_of(value));
  if (!ctypes_struct.has(value)) fields = py::getattr(value, "dtype", py::none());
  if (fields.is_none()) return {};
  std::tuple key(std::hash<std::string_view>{}(source), type, fields.ptr());
  if (matches.contains(key)) return {};
  const py::handle compare(python_function<"kernels._struct_fields", "field_mismatch">());
  std::string problem = compare(source, type, fields).cast<std::string>();
  if (problem.empty() && matches.size() < max_matches) {
    matches.insert(std::move(key));
    fields.release();
  }
  return problem;
}

std::optional<Value> value_from(PyObject* object) {
  if (PyComplex_CheckExact(object)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    return KernelArg(Scalar(std::complex<double>(value.real, value.imag)));
  }
  if (numpy_scalar.has(object)) return numpy_value(object);
  if (PyBytes_Check(object)) return bytes_of(object);
  if (numpy_array.has(object)) {
    const py::object record = single_record(object);
    return record ? std::optional<Value>(numpy_value(record.ptr())) : std::nullopt;
  }
  // Types of ctypes have metaclasses; other types skip the checks below.
  if (Py_TYPE(Py_TYPE(object)) == &PyType_Type) return std::nullopt;
  if (ctypes_struct.has(object) || ctypes_union.has(object)) return bytes_of(object);
  if (ctypes_number.has(object)) return ctypes_value(object);
  if (ctypes_pointer.has(object)) return address_in(bytes_of(object));
  return std::nullopt;
}

std::optional<KernelArg> cached_type_number(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  for (std::size_t i = 0; i < number_type_count; ++i) {
    const auto& [cached, dtype] = number_types[i];
    if (cached == type) return KernelArg(Scalar(dtype, value_in(object, dtype)));
  }
  return std::nullopt;
}

KernelArg integer_argument(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) [[likely]]
    return KernelArg::integer(value);
  const unsigned long long large = PyLong_AsUnsignedLongLong(object);
  if (overflow > 0 && PyErr_Occurred() == nullptr) return KernelArg(Scalar(std::uint64_t{large}));
  PyErr_Clear();
  fail<KernelArgumentError>("expected an integer of at most 64 bits, got ",
                            std::string(py::repr(object)), ". Remedy: split it, or pass an array");
}

// The elements of inline_arguments_ are constructed by placement new and not destroyed.
static_assert(std::is_trivially_destructible_v<KernelArg>);

namespace {

// Containers that sw.asarray() would copy: what the kernel writes to the copy would be lost.
bool is_plain_container(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object) || PyUnicode_Check(object) ||
         PyDict_Check(object) || PyAnySet_Check(object);
}

}  // namespace

PackedArguments::PackedArguments(const Kernel& kernel, PyObject* const* values, std::size_t count)
    : kernel_(kernel), count_(count), arguments_(reinterpret_cast<KernelArg*>(inline_arguments_)) {
  if (count > inline_count) [[unlikely]] {
    heap_arguments_.resize(count, KernelArg(nullptr));
    arguments_ = heap_arguments_.data();
  }
  for (std::size_t i = 0; i < count; ++i)
    new (arguments_ + i) KernelArg(argument_from(i, values[i]));
}

KernelArg PackedArguments::argument_from(std::size_t index, PyObject* object) {
  if (Py_TYPE(object) == array_type) [[likely]]
    return array_in(object);
  if (PyFloat_CheckExact(object)) return KernelArg::real(PyFloat_AS_DOUBLE(object));
  if (object == Py_None) return nullptr;  // a null pointer
  try {
    return argument_of_rarer_type(index, object);
  } catch (...) {
    rethrow_for_argument(index);
  }
}

KernelArg PackedArguments::argument_of_rarer_type(std::size_t index, PyObject* object) {
  if (PyLong_CheckExact(object)) return integer_argument(object);
  if (const auto number = cached_type_number(object)) return *number;
  if (is_array(object)) return array_in(object);
  if (PyBool_Check(object)) return Scalar(object == Py_True);
  if (const PyWrapped* wrapped = wrapped_in(object)) return wrapped_argument(index, *wrapped);
  if (auto value = value_from(object)) {
    if (const auto* argument = std::get_if<KernelArg>(&*value)) return *argument;
    if (structs_.capacity() == 0) structs_.reserve(count_);
    check_struct(index, object);
    const ValueBytes& bytes = structs_.emplace_back(std::get<ValueBytes>(std::move(*value)));
    return KernelArg::bytes(std::as_bytes(std::span(bytes)));
  }
  if (PyFloat_Check(object)) return KernelArg::real(PyFloat_AS_DOUBLE(object));
  if (PyLong_Check(object)) return integer_argument(object);
  return foreign_array(object);
}

KernelArg PackedArguments::wrapped_argument(std::size_t index, const PyWrapped& wrapped) {
  if (wrapped.kind == WrappedKind::memory) {
    if (wrapped.array == nullptr || !is_array(wrapped.array))
      fail<KernelArgumentError>("expected memory of a device, got an allocation that was freed");
    return KernelArg::memory(array_in(wrapped.array));
  }
  const auto parameters = kernel_.parameters();
  const bool only_reads = index < parameters.size() && parameters[index].is_const;
  if (host_arguments_.capacity() == 0) host_arguments_.reserve(count_);
  return host_arguments_.emplace_back(wrapped, kernel_.device(), only_reads).on_device();
}

void PackedArguments::check_struct(std::size_t index, PyObject* object) const {
  if (index >= kernel_.parameters().size()) return;
  const std::string problem =
      struct_mismatch(object, kernel_.parameters()[index].type, kernel_.source());
  if (!problem.empty()) throw KernelArgumentError(problem);
}

KernelArg PackedArguments::foreign_array(PyObject* object) {
  if (is_plain_container(object))
    fail<KernelArgumentError>("expected an array or a number, got a ", Py_TYPE(object)->tp_name,
                              ". Remedy: make an array of it, sw.array(x)");
  if (foreign_arrays_.capacity() == 0) foreign_arrays_.reserve(count_);
  try {
    return foreign_arrays_.emplace_back(import_array(object, {.copy = CopyMode::never}));
  } catch (const BridgeError&) {
    // Allocations of PyCUDA and others are no arrays, but have __index__: their address.
    if (!PyIndex_Check(object) || is_lazy(object)) throw;
    return integer_argument(owned(PyNumber_Index(object)).ptr());
  }
}

void PackedArguments::rethrow_for_argument(std::size_t index) const {
  const auto parameters = kernel_.parameters();
  std::string prefix =
      text("kernel '", kernel_.name(), "', argument ", index + 1, " of ", parameters.size());
  if (index < parameters.size() && !parameters[index].type.empty())
    prefix += text(" ('", parameters[index].type, " ", parameters[index].name, "')");
  prefix += ": ";
  try {
    throw;
  } catch (const ReadOnlyError& error) {
    throw ReadOnlyError(prefix + error.what());
  } catch (const CopyNeededError& error) {
    throw CopyNeededError(prefix + error.what());
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const DeviceError&) {
    throw;
  } catch (const Error& error) {
    throw KernelArgumentError(prefix + error.what());
  }
}

bool PackedArguments::needs_transfers() const noexcept {
  for (const HostArgument& argument : host_arguments_)
    if (argument.needs_transfer()) return true;
  return false;
}

void PackedArguments::check_outputs() const {
  for (const HostArgument& a : host_arguments_)
    for (const HostArgument* b = &a + 1; b != host_arguments_.data() + host_arguments_.size(); ++b)
      if (a.is_copied_back() && b->is_copied_back() && may_share_memory(a.host(), b->host()))
        fail<KernelArgumentError>("kernel '", kernel_.name(), "': two of Out and InOut hold ",
                                  a.host(), " and ", b->host(),
                                  ", which share memory; one result would replace the other. "
                                  "Remedy: pass separate arrays");
}

void PackedArguments::copy_in() {
  check_outputs();
  for (HostArgument& argument : host_arguments_) argument.copy_in();
}

void PackedArguments::copy_out() const {
  for (const HostArgument& argument : host_arguments_) argument.copy_out();
}

SW_BIND(kernels_host) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (add_wrapper<I>(module), ...);
  }(std::make_index_sequence<wrapper_types.size()>());
}

}  // namespace spanwise::python
