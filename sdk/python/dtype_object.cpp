// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/dtype_object.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "python/array/array_object.hpp"
#include "python/interop/foreign_description.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"

/// spanwise.dtype: the dtype of names and of other libraries' dtypes, promotion and casting rules,
/// and the type itself, with the attributes of numpy.dtype.
namespace spanwise::python {

namespace py = pybind11;

namespace {

DType result_type(const py::args& operands) {
  if (operands.empty())
    fail<ArgumentError>("result_type: expected at least one array, dtype or number, got none");
  Promotion promotion;
  for (const py::handle operand : operands)
    if (!promotion.try_add_number(operand.ptr()))
      promotion.add(is_array(operand.ptr()) ? array_in(operand.ptr()).dtype()
                                            : dtype_from(operand));
  return promotion.result();
}

[[noreturn]] void refuse_casting(const std::string& rule) {
  fail<ArgumentError>(
      "casting: expected \"no\", \"equiv\", \"safe\", \"same_kind\" or \"unsafe\", got ", rule);
}

Casting casting_from(std::string_view rule) {
  if (rule == "no") return Casting::no;
  if (rule == "equiv") return Casting::equiv;
  if (rule == "safe") return Casting::safe;
  if (rule == "same_kind") return Casting::same_kind;
  if (rule == "unsafe") return Casting::unsafe;
  refuse_casting(text('"', rule, '"'));
}

}  // namespace

bool Promotion::try_add_number(PyObject* object) {
  const NumberKind kind = number_kind(object);
  weak_ = std::max(weak_, static_cast<int>(kind));
  return kind != NumberKind::none;
}

DType Promotion::result() const {
  const auto number = static_cast<NumberKind>(weak_);
  if (dtypes_.empty()) return number == NumberKind::none ? float64 : number_dtype(number, {});
  const DType strong = promote(dtypes_);
  return promote(strong, number_dtype(number, strong));
}

Casting casting_from(PyObject* rule) {
  if (!PyUnicode_Check(rule)) refuse_casting(py::repr(rule));
  return casting_from(text_in(rule));
}

void check_casting(DType from, DType to, const std::string& casting, const char* caller) {
  const Casting rule = casting_from(casting);
  if (rule != Casting::unsafe && !can_cast(from, to, rule))
    fail<DTypeError>(caller, ": cannot cast ", from, " to ", to, " under casting=\"", casting,
                     "\"; allow more with casting=\"unsafe\"");
}

// dtype_from(): the dtype of names, numpy.dtypes, scalar types and dtype objects of other
// libraries.

namespace {

// NumPy's names and one-character codes (numpy.org/doc/stable/reference/arrays.dtypes.html) as on
// 64-bit Linux; the canonical names are looked up first, as the most frequent.
struct DTypeNames {
  std::string_view canonical;
  DType dtype;
  std::string_view aliases;  // separated by spaces
};
constexpr DTypeNames all_names[] = {{"float32", float32, "single f"},
                                    {"float64", float64, "float double d"},
                                    {"int32", int32, "intc i"},
                                    {"int64", int64, "int long longlong intp l q"},
                                    {"uint8", uint8, "ubyte B"},
                                    {"bool", bool_, "bool_ ?"},
                                    {"float16", float16, "half e"},
                                    {"bfloat16", bfloat16, ""},
                                    {"int8", int8, "byte b"},
                                    {"int16", int16, "short h"},
                                    {"uint16", uint16, "ushort H"},
                                    {"uint32", uint32, "uintc I"},
                                    {"uint64", uint64, "uint ulong ulonglong uintp L Q"},
                                    {"complex64", complex64, "csingle F"},
                                    {"complex128", complex128, "complex cdouble D"}};

std::unordered_map<std::string_view, DType> make_aliases() {
  std::unordered_map<std::string_view, DType> aliases;
  for (const DTypeNames& names : all_names)
    for_each_word(names.aliases,
                  [&](std::string_view name) { aliases.emplace(name, names.dtype); });
  return aliases;
}

std::optional<DType> from_known_name(std::string_view name) {
  for (const DTypeNames& names : all_names)
    if (names.canonical == name) return names.dtype;
  static const auto& aliases = *new auto(make_aliases());
  const auto entry = aliases.find(name);
  return entry != aliases.end() ? std::optional(entry->second) : std::nullopt;
}

std::optional<DType> from_code(std::string_view code) {
  if (code.size() < 2 || code.size() > 3) return std::nullopt;
  const auto kind = code_of_kind(code[0]);
  const int bytes = std::atoi(std::string(code.substr(1)).c_str());
  if (!kind || bytes < 1 || bytes > 16) return std::nullopt;
  const DType dtype(*kind, bytes * 8);
  return dtype.is_computable() ? std::optional(dtype) : std::nullopt;
}

std::optional<DType> from_name(std::string_view name) {
  if (const auto dtype = from_known_name(name)) return dtype;
  std::string_view code = name;
  if (!code.empty() && std::strchr("=<|", code[0]) != nullptr) code.remove_prefix(1);
  if (code.size() == 1) return from_known_name(code);
  if (const auto dtype = from_code(code)) return dtype;
  try {
    return DType::parse(name);
  } catch (const DTypeError&) {
    return std::nullopt;
  }
}

std::string module_of(py::handle type) {
  const py::object name = py::getattr(type, "__module__", py::none());
  return py::isinstance<py::str>(name) ? std::string(text_in(name.ptr())) : std::string();
}

// numpy.dtype and similar objects: by name, in native byte order only. The names of structured
// dtypes ("void64") are not found.
std::optional<DType> from_numpy_dtype(py::handle object) {
  if (!py::hasattr(object, "itemsize") || !py::hasattr(object, "isnative")) return std::nullopt;
  if (!object.attr("isnative").cast<bool>()) return std::nullopt;
  const py::object name = object.attr("name");
  return py::isinstance<py::str>(name) ? from_name(text_in(name.ptr())) : std::nullopt;
}

// find(object), which takes microseconds, cached. Only objects that name a dtype are added, at most
// 128: dtypes of other byte orders and structs, which may be many, are not.
std::optional<DType> cached(py::handle object, std::optional<DType> (*find)(py::handle)) {
  static constexpr std::size_t max_cached = 128;
  static auto* const cache = new std::unordered_map<PyObject*, DType>;
  if (const auto entry = cache->find(object.ptr()); entry != cache->end()) return entry->second;
  const auto dtype = find(object);
  // The cache owns a reference, so that the address is not reused.
  if (dtype && cache->size() < max_cached) cache->emplace(object.inc_ref().ptr(), *dtype);
  return dtype;
}

std::optional<DType> from_type(py::handle type) {
  const auto* python_type = reinterpret_cast<const PyTypeObject*>(type.ptr());
  if (python_type == &PyBool_Type) return bool_;
  if (python_type == &PyLong_Type) return int64;
  if (python_type == &PyFloat_Type) return float64;
  if (python_type == &PyComplex_Type) return complex128;
  const std::string module = module_of(type);
  if (module != "numpy" && module != "ml_dtypes") return std::nullopt;
  const auto dtype = py::reinterpret_steal<py::object>(
      PyObject_CallOneArg(py::module_::import("numpy").attr("dtype").ptr(), type.ptr()));
  if (!dtype) {
    // Abstract types (numpy.generic, numpy.floating) have no dtype.
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
    PyErr_Clear();
    return std::nullopt;
  }
  // For abstract types older versions of NumPy return a default dtype, of another scalar type.
  return dtype.attr("type").ptr() == type.ptr() ? from_numpy_dtype(dtype) : std::nullopt;
}

std::optional<DType> find_dtype(py::handle object, bool through_attribute = true) {
  if (const DType* dtype = dtype_in(object)) return *dtype;
  if (py::isinstance<py::str>(object)) return from_name(text_in(object.ptr()));
  if (PyType_Check(object.ptr())) {
    if (const auto dtype = cached(object, &from_type)) return dtype;
  } else if (const auto dtype = cached(object, &from_numpy_dtype)) {
    return dtype;
  }
  // torch.dtype has no name attribute; str() of it is "torch.float32".
  const std::string torch_name = module_of(py::type::handle_of(object)) == "torch"
                                     ? std::string(py::str(object))
                                     : std::string();
  if (torch_name.starts_with("torch.")) return from_name(torch_name.substr(std::strlen("torch.")));
  // Scalar types of JAX, Numba and others have an attribute that is a dtype.
  if (through_attribute && py::hasattr(object, "dtype"))
    return find_dtype(object.attr("dtype"), false);
  return std::nullopt;
}

}  // namespace

DType dtype_from(py::handle object) {
  const auto dtype = find_dtype(object);
  // Arrays of other libraries have such dtypes, and are only moved.
  if (dtype && dtype->bits() > (dtype->is_complex() ? 128 : 64) && dtype_in(object) == nullptr)
    fail<DTypeError>("spanwise: ", *dtype, ", from ", std::string(py::repr(object)),
                     ", has no functions and no casts here; use x.astype(\"float64\")");
  if (dtype) return *dtype;
  if (py::isinstance<py::str>(object))
    return DType::parse(text_in(object.ptr()));  // throws, with a list of the names
  fail<DTypeError>(
      "spanwise: expected a dtype (\"float32\", spanwise.float32, numpy.float32, float, ...), got ",
      std::string(py::repr(object)), " of type ", Py_TYPE(object.ptr())->tp_name,
      "; byte-swapped and structured dtypes have to be converted by NumPy first: "
      "x.astype(\"float32\")");
}

std::optional<DType> try_dtype_from(py::handle object) noexcept {
  try {
    return find_dtype(object);
  } catch (py::error_already_set&) {
    return std::nullopt;  // raised by an attribute of the object
  } catch (...) {
    return std::nullopt;
  }
}

// The attributes of numpy.dtype on spanwise.dtype. Those that are equal for all numeric dtypes in
// native byte order are constants here; the others are read from the numpy.dtype.

namespace {

// The attribute `name` of the numpy.dtype. Throws AttributeError, as hasattr() expects, if
// has_numpy_dtype() is false.
py::object numpy_attribute(PyObject* self, const char* name) {
  const DType dtype = *dtype_in(self);
  if (!has_numpy_dtype(dtype)) {
    throw py::attribute_error(
        text("dtype.", name, ": NumPy has no dtype for ", dtype,
             "; install ml_dtypes, which has the narrow floats, for NumPy's attributes of it"));
  }
  return numpy_dtype(dtype).attr(name);
}

template <Literal name>
PyGetSetDef attribute_of_numpy(const char* doc) {
  return attribute<[](PyObject* self) { return numpy_attribute(self, name.text); }>(name.text, doc);
}

template <auto make>
PyGetSetDef constant_attribute(const char* name, const char* doc) {
  return attribute<[](PyObject*) { return make(); }>(name, doc);
}

py::object with_byte_order(PyObject* self, PyObject* new_order) {
  const py::str swapped("S");
  const py::handle order = new_order != nullptr ? py::handle(new_order) : py::handle(swapped);
  const py::object ordered = numpy_attribute(self, "newbyteorder")(order);
  if (!ordered.attr("isnative").cast<bool>()) return ordered;
  return py::reinterpret_borrow<py::object>(self);
}

PyGetSetDef attributes_of_numpy[] = {
    attribute_of_numpy<"type">("NumPy's scalar type."),
    attribute_of_numpy<"char">("NumPy's type character."),
    attribute_of_numpy<"num">("NumPy's type number."),
    attribute_of_numpy<"str">("Byte order, kind and bytes, as in the array interface: \"<f4\"."),
    attribute_of_numpy<"descr">("As in the array interface: [(\"\", \"<f4\")]."),
    attribute_of_numpy<"byteorder">("\"=\" (native), or \"|\" for dtypes of one byte."),
    attribute_of_numpy<"alignment">("The alignment in bytes of an element in NumPy's arrays."),
    attribute_of_numpy<"flags">("NumPy's flags of the dtype."),
    attribute_of_numpy<"isbuiltin">("1 for NumPy's own types, 2 for those of ml_dtypes."),
    attribute_of_numpy<"isalignedstruct">("False."),
    constant_attribute<[] { return py::none(); }>("names", "None: no dtype here has fields."),
    constant_attribute<[] { return py::none(); }>("fields", "None: no dtype here has fields."),
    constant_attribute<[] { return py::none(); }>("subdtype", "None: an element is one number."),
    constant_attribute<[] { return py::none(); }>("metadata", "None."),
    constant_attribute<[] { return py::tuple(); }>("shape", "(): an element is one number."),
    constant_attribute<[] { return py::int_(0); }>("ndim", "0: an element is one number."),
    constant_attribute<[] { return py::bool_(true); }>("isnative",
                                                       "True: elements are in native byte order."),
    constant_attribute<[] { return py::bool_(false); }>("hasobject",
                                                        "False: elements are numbers."),
    attribute<[](PyObject* self) { return Py_NewRef(self); }>("base", "The dtype itself."),
    {}};

PyMethodDef methods_of_numpy[] = {
    declared<"newbyteorder($self, new_order='S', /)",
             "The numpy.dtype in another byte order: \"<\", \">\", or \"S\" for the swapped one; "
             "the dtype\nitself for the native one.",
             &with_byte_order>(),
    {}};

}  // namespace

// spanwise.dtype. dtype_object() returns the same Python object for equal DTypes.

PyTypeObject* dtype_type = nullptr;

namespace {

// The Python objects of one dtype, never freed: the interpreter may end before or after static
// destructors.
struct DTypeObjects {
  DType dtype;
  PyObject* spanwise_dtype = nullptr;
  PyObject* numpy_dtype = nullptr;
};

[[gnu::noinline]] DTypeObjects& find_objects(DType dtype) {
  static auto& objects = *new std::unordered_map<std::uint32_t, DTypeObjects>;
  const auto key = static_cast<std::uint32_t>(dtype.code()) << 24 |
                   static_cast<std::uint32_t>(dtype.bits()) << 16 |
                   static_cast<std::uint32_t>(dtype.lanes());
  return objects.try_emplace(key, DTypeObjects{dtype}).first->second;
}

DTypeObjects& objects_of(DType dtype) {
  // A direct-mapped cache, indexed by code and log2(bits), at most 7.
  static constinit std::array<DTypeObjects*, 64> frequent{};
  const auto bits = static_cast<unsigned>(dtype.bits());
  DTypeObjects*& objects = frequent[(static_cast<unsigned>(dtype.code()) * 8 +
                                     static_cast<unsigned>(std::countr_zero(bits | 128))) %
                                    frequent.size()];
  if (objects == nullptr || objects->dtype != dtype) [[unlikely]]
    objects = &find_objects(dtype);
  return *objects;
}

[[gnu::noinline]] PyObject* make_numpy_dtype(DType dtype) {
  const py::module_ numpy = py::module_::import("numpy");
  py::object scalar_type;
  if (dtype.is_computable() && dtype != bfloat16) {
    scalar_type = py::str(dtype.name());
  } else {
    try {
      scalar_type = py::getattr(py::module_::import("ml_dtypes"), dtype.name().c_str(), py::none());
    } catch (py::error_already_set& e) {
      if (!e.matches(PyExc_ImportError)) throw;
      return nullptr;
    }
    if (scalar_type.is_none()) return nullptr;
  }
  return objects_of(dtype).numpy_dtype = numpy.attr("dtype")(scalar_type).release().ptr();
}

// Null if no installed library has the dtype.
PyObject* find_numpy_dtype(DType dtype) {
  PyObject* object = objects_of(dtype).numpy_dtype;
  return object != nullptr ? object : make_numpy_dtype(dtype);
}

const DType& dtype_of_self(PyObject* self) { return *dtype_in(self); }

// dtype(x), by the type's vectorcall: it needs no tuple of arguments.
PyObject* make_dtype(PyObject*, PyObject* const* values, std::size_t flags, PyObject* names) {
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (count != 1 || names != nullptr)
    throw py::type_error(text("dtype() takes one argument by position, got ",
                              names != nullptr ? "one by name" : std::to_string(count)));
  return dtype_object(dtype_from(values[0])).release().ptr();
}

// float32(x): NumPy's scalar of a number, an array of the dtype of an array or a sequence.
PyObject* call_dtype(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* const x = PyTuple_GET_SIZE(args) == 1 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  if (x != nullptr && kwargs == nullptr &&
      (is_array(x) || PyList_Check(x) != 0 || PyTuple_Check(x) != 0))
    return py::module_::import("spanwise._core")
        .attr("_asarray")(py::handle(x), py::handle(self))
        .release()
        .ptr();
  const DType dtype = dtype_of_self(self);
  const py::object scalar_type = numpy_dtype(dtype).attr("type");
  if (!dtype.is_computable() || dtype == bfloat16) {  // ml_dtypes 0.6 crashes for other values
    const auto number = py::reinterpret_steal<py::object>(
        PyObject_Call(reinterpret_cast<PyObject*>(&PyFloat_Type), args, kwargs));
    if (!number) throw py::error_already_set();
    return scalar_type(number).release().ptr();
  }
  return PyObject_Call(scalar_type.ptr(), args, kwargs);
}

PyObject* compare_dtypes(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  std::optional<DType> other_dtype = dtype_of_self(self);
  if (self != other) other_dtype = try_dtype_from(other);
  if (!other_dtype) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((*other_dtype == dtype_of_self(self)) == (operation == Py_EQ));
}

py::str name_of_dtype(PyObject* self) { return dtype_of_self(self).name(); }
py::str repr_of_dtype(PyObject* self) { return "spanwise." + dtype_of_self(self).name(); }
// NumPy's hash, since the dtypes are equal; NumPy is imported for it.
Py_hash_t hash_of_dtype(PyObject* self) {
  PyObject* numpy_dtype = find_numpy_dtype(dtype_of_self(self));
  return numpy_dtype != nullptr ? py::hash(numpy_dtype) : py::hash(name_of_dtype(self));
}

py::object numpy_dtype_of(PyObject* self) { return numpy_dtype(dtype_of_self(self)); }

// The numpy.dtype's class once NumPy is imported, for isinstance(dtype, numpy.dtype) in programs
// that take no other dtypes; type(dtype) stays spanwise.dtype.
PyObject* class_of_dtype(PyObject* self) {
  static constinit PyObject* name = nullptr;
  if (name == nullptr) name = py::str("numpy").release().ptr();
  const auto numpy = py::reinterpret_steal<py::object>(PyImport_GetModule(name));
  if (!numpy && PyErr_Occurred()) throw py::error_already_set();
  PyObject* numpy_dtype = numpy ? find_numpy_dtype(dtype_of_self(self)) : nullptr;
  return Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(numpy_dtype ? numpy_dtype : self)));
}

py::tuple reduce_dtype(PyObject* self) {
  return py::make_tuple(py::type::of(py::handle(self)), py::make_tuple(name_of_dtype(self)));
}

// The attribute get(dtype).
template <auto get>
PyGetSetDef of_dtype(const char* name, const char* doc) {
  return attribute<[](PyObject* self) { return py::cast(get(dtype_of_self(self))); }>(name, doc);
}

PyGetSetDef attributes_of_dtype[] = {
    of_dtype<[](DType d) { return d.name(); }>("name", "\"float32\", ..."),
    of_dtype<[](DType d) { return d.itemsize(); }>("itemsize", "Bytes of one element."),
    of_dtype<[](DType d) { return kind_letter(d); }>(
        "kind", "NumPy's kind: b, i, u, f, c; V for dtypes that NumPy itself does not have."),
    of_dtype<[](DType d) { return d.bits(); }>("bits", "Bits of one lane."),
    of_dtype<[](DType d) { return d.lanes(); }>(
        "lanes", "Numbers per element: 1, or more for vector types."),
    of_dtype<[](DType d) { return d.is_computable(); }>(
        "is_computable",
        "Whether it can be cast and computed with; other dtypes can only be copied."),
    attribute<&class_of_dtype>("__class__", "The numpy.dtype's class once NumPy is imported."),
    attribute<&numpy_dtype_of>("__numpy_dtype__", "The result of numpy.dtype(self)."),
    // NumPy before 2.4 reads .dtype instead.
    attribute<&numpy_dtype_of>("dtype", "The numpy.dtype."),
    {}};

PyMethodDef methods_of_dtype[] = {declared<"__reduce__($self)", "", &reduce_dtype>(), {}};

constexpr const char* dtype_doc =
    "dtype(x, /)\n--\n\n"
    "The type of one element, from a name, a NumPy dtype or scalar type, a Python type, or an\n"
    "object with a .dtype. Equal to the corresponding numpy.dtype, scalar type and name; the hash\n"
    "is the numpy.dtype's. A call of it makes NumPy's scalar of a number, as float32(0.5), and an\n"
    "array of an array or a sequence. Raises DTypeError.";

}  // namespace

py::object dtype_object(DType dtype) {
  PyObject*& object = objects_of(dtype).spanwise_dtype;
  if (object == nullptr) {
    auto* created = PyObject_New(PyDType, dtype_type);
    if (created == nullptr) throw py::error_already_set();
    created->dtype = dtype;
    object = reinterpret_cast<PyObject*>(created);
  }
  return py::reinterpret_borrow<py::object>(object);
}

bool has_numpy_dtype(DType dtype) { return find_numpy_dtype(dtype) != nullptr; }

py::object numpy_dtype(DType dtype) {
  PyObject* object = find_numpy_dtype(dtype);
  if (object == nullptr)
    fail<DTypeError>(
        "spanwise: NumPy has no dtype for ", dtype,
        "; install ml_dtypes, which has the narrow floats, or convert with a.astype(\"float32\")");
  return py::reinterpret_borrow<py::object>(object);
}

const char* buffer_format(DType dtype) noexcept {
  // "l" and not "q": NumPy reads "l" as its int64, but "q" as its distinct type long long.
  static constexpr std::pair<DType, const char*> formats[] = {
      {bool_, "?"},   {int8, "b"},    {uint8, "B"},      {int16, "h"},      {uint16, "H"},
      {int32, "i"},   {uint32, "I"},  {int64, "l"},      {uint64, "L"},     {float16, "e"},
      {float32, "f"}, {float64, "d"}, {complex64, "Zf"}, {complex128, "Zd"}};
  for (const auto& [known, format] : formats)
    if (known == dtype) return format;
  return nullptr;
}

SW_BIND(promotion) {
  module.def("result_type", &result_type,
             "The result dtype of an operation on arrays, dtypes and Python numbers.");
  module.def("promote_types", py::overload_cast<DType, DType>(&promote), py::arg("type1"),
             py::arg("type2"), "The smallest dtype to which both cast safely.");
  module.def(
      "can_cast",
      [](py::handle from, DType to, const std::string& casting) {
        if (is_weak_number(from.ptr()))
          fail<DTypeError>("can_cast: expected a dtype or an array, got the Python number ",
                           std::string(py::repr(from)),
                           ", whose dtype depends on the other operand; name a dtype");
        return can_cast(dtype_from(from), to, casting_from(casting));
      },
      py::arg("from_"), py::arg("to"), py::arg("casting") = "safe",
      "Whether a cast from a dtype or array is allowed by the rule `casting`.");
}

SW_BIND(dtype_attributes, dtypes) {
  add_attributes(dtype_type, attributes_of_numpy);
  add_methods(dtype_type, methods_of_numpy);
}

SW_BIND(dtypes) {
  dtype_type = make_type("spanwise.dtype", sizeof(PyDType),
                         {slot(Py_tp_dealloc, &free_object),
                          slot(Py_tp_richcompare, guarded<&compare_dtypes>),
                          slot(Py_tp_hash, guarded<&hash_of_dtype>),
                          slot(Py_tp_call, guarded<&call_dtype>),
                          slot(Py_tp_repr, guarded<&repr_of_dtype>),
                          slot(Py_tp_str, guarded<&name_of_dtype>),
                          {Py_tp_getset, attributes_of_dtype},
                          {Py_tp_methods, methods_of_dtype},
                          {Py_tp_doc, const_cast<char*>(dtype_doc)}});
  dtype_type->tp_vectorcall = guarded<&make_dtype>;
  add_type(module, "dtype", dtype_type);
  for (const DType dtype : {bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                            float16, bfloat16, float32, float64, complex64, complex128}) {
    module.attr(dtype.name().c_str()) = dtype_object(dtype);
  }
  module.attr("bool_") = dtype_object(bool_);
}

}  // namespace spanwise::python
