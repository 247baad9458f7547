// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "ufunc_py.hpp"

#include <structmember.h>

#include <cmath>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "python/array/index.hpp"
#include "python/graph/variable.hpp"
#include "python/interop/foreign_operands.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "python/support/operators.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"

/// The type spanwise.ufunc, and one object of it for each operation of the table.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::facts;
using ops::OpId;
using ops::OpTraits;

struct PyUfunc {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  OpId op;
  const char* name;
};

PyTypeObject* ufunc_type = nullptr;
PyObject* ufuncs[ops::op_count] = {};

Casting casting_argument(PyObject* word) {
  static constexpr const char* words[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  for (int i = 0; i < 5; ++i)
    if (PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, words[i]) == 0)
      return static_cast<Casting>(i);
  fail<ArgumentError>(
      "casting: expected \"no\", \"equiv\", \"safe\", \"same_kind\" or \"unsafe\", ", "got ",
      std::string(py::repr(word)));
}

// out= may be a tuple of one, as ufuncs of several results have it.
PyObject* single_out(const char* who, PyObject* out) {
  if (!PyTuple_Check(out)) return out;
  if (PyTuple_GET_SIZE(out) != 1) {
    PyErr_Format(PyExc_ValueError, "%s: out= must hold one array, got a tuple of %zd", who,
                 PyTuple_GET_SIZE(out));
    throw py::error_already_set();
  }
  return PyTuple_GET_ITEM(out, 0);
}

[[noreturn]] void refuse_call(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw py::error_already_set();
}

void read_option(const PyUfunc* self, PyObject* word, PyObject* value, CallOptions& options) {
  const auto is = [&](const char* name) {
    return PyUnicode_CompareWithASCIIString(word, name) == 0;
  };
  if (is("out")) {
    if (options.out != nullptr) refuse_call(text(self->name, "() got out by position and by name"));
    options.out = single_out(self->name, value);
  } else if (is("where")) {
    options.where = value == Py_True ? nullptr : value;
  } else if (is("dtype")) {
    if (value != Py_None) options.dtype = dtype_from(value);
  } else if (is("casting")) {
    options.casting = casting_argument(value);
  } else if (is("order")) {
    options.order = order_in(value, Order::k);
  } else if (is("subok")) {
    return;  // NumPy's subclasses come in as plain arrays anyway
  } else {
    refuse_call(text(self->name, "() has no argument '", std::string(py::str(word)),
                     "'; it has out, where, casting, order, dtype",
                     is("signature") ? ": say with dtype= what to compute in" : ""));
  }
}

PyObject* vectorcall_ufunc(PyObject* object, PyObject* const* values, size_t flags,
                           PyObject* words) noexcept {
  const auto* self = reinterpret_cast<const PyUfunc*>(object);
  try {
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    const int inputs = facts(self->op).inputs;
    if (count < inputs || count > inputs + 1)
      refuse_call(text(self->name, "() takes ", inputs,
                       " operands and perhaps out by position, got ", count));
    CallOptions options;
    if (count > inputs) options.out = values[inputs];
    const Py_ssize_t named = words != nullptr ? PyTuple_GET_SIZE(words) : 0;
    for (Py_ssize_t i = 0; i < named; ++i)
      read_option(self, PyTuple_GET_ITEM(words, i), values[count + i], options);
    if (options.out == Py_None) options.out = nullptr;
    return call_ufunc(self->op, values, options);
  } catch (...) {
    return raise_current();
  }
}

// ---- at

// The dtype in which the operation is done, for operands of an array's dtype and of the value's.
DType accumulating_dtype(OpId op, DType target, PyObject* value, const Array* array) {
  const char* name = facts(op).name;
  DType wanted = target;
  if (array != nullptr)
    wanted = promote(target, array->dtype());
  else if (PyComplex_Check(value))
    wanted = target.is_complex() ? target : complex128;
  else if (PyFloat_Check(value))
    wanted = target.is_complex() || target.is_floating() ? target : float64;
  else if (!PyBool_Check(value) && target.is_bool())
    wanted = int64;
  if (!can_cast(wanted, target, Casting::same_kind))
    fail<DTypeError>(name, ".at: cannot cast the result from ", wanted, " to ", target,
                     " under casting=\"same_kind\"; cast the values: b.astype(\"", target, "\")");
  const DType both[] = {wanted, wanted};
  (void)ops::resolve(op, both);  // says which dtypes it has
  return wanted;
}

void accumulate_at(OpId op, PyObject* target, PyObject* key, PyObject* value) {
  const char* name = facts(op).name;
  if (is_variable(target))
    fail<GraphError>(name, ".at: a variable has no memory yet; use tensor.inc_subtensor(x[i], y)");
  const Array array = writable_array(target);
  const py::object owned = is_python_number(value)
                               ? py::reinterpret_borrow<py::object>(value)
                               : py::reinterpret_steal<py::object>(wrap(import_array(value)));
  const Array* values = is_array(owned.ptr()) ? &array_in(owned.ptr()) : nullptr;
  const DType computed = accumulating_dtype(op, array.dtype(), value, values);
  // Values of a wider dtype are not cut before they are used.
  const bool is_wider = computed != array.dtype();
  const auto place =
      py::reinterpret_steal<py::object>(wrap(is_wider ? astype(array, computed) : array));
  array_indexing.accumulate(name, place.ptr(), key, owned.ptr());
  if (is_wider) copy(array_in(place.ptr()), array);
}

PyObject* ufunc_at(PyObject* object, PyObject* const* arguments, Py_ssize_t count) noexcept {
  const auto* self = reinterpret_cast<const PyUfunc*>(object);
  try {
    if (count != 3)
      refuse_call(text(self->name, ".at() takes an array, an index and values, got ", count,
                       count == 1 ? " argument" : " arguments"));
    accumulate_at(self->op, arguments[0], arguments[1], arguments[2]);
    Py_RETURN_NONE;
  } catch (...) {
    return raise_current();
  }
}

// ---- attributes

constexpr const char* type_letters = "?bBhHiIlLeEfdFD";  // NumPy's; E is ml_dtypes' bfloat16

char letter_of(DType dtype) { return type_letters[ops::place_of(dtype)]; }

py::list types_of(OpId op) {
  const OpTraits& known = facts(op);
  py::list types;
  // Of truths every dtype has one, and an identity takes exact numbers though they are not
  // computed.
  unsigned dtypes = (known.traits & ops::boolean_inputs) != 0 ? ops::anything : known.dtypes;
  if ((known.traits & ops::exact_is_kept) != 0) dtypes |= ops::booleans | ops::integers;
  if ((known.traits & ops::no_bool) != 0) dtypes &= ~unsigned{ops::booleans};
  for (int place = 0; place < ops::dtype_count; ++place) {
    if ((dtypes >> place & 1u) == 0) continue;
    const DType dtype = ops::dtypes_in_order[place];
    const std::vector<DType> operands(static_cast<std::size_t>(known.inputs), dtype);
    const ops::Signature signature = ops::resolve(op, operands);
    std::string entry(operands.size(), letter_of(dtype));
    if ((known.traits & ops::chooses) != 0) entry[0] = '?';
    types.append(entry + "->" + letter_of(signature.result));
  }
  return types;
}

py::object identity_of(OpId op) {
  switch (op) {
    case OpId::add:
    case OpId::logical_or:
    case OpId::logical_xor:
    case OpId::bitwise_or:
    case OpId::bitwise_xor:
    case OpId::hypot:
      if (op == OpId::logical_or || op == OpId::logical_xor) return py::bool_(false);
      return py::int_(0);
    case OpId::multiply:
      return py::int_(1);
    case OpId::logical_and:
      return py::bool_(true);
    case OpId::bitwise_and:
      return py::int_(-1);
    case OpId::logaddexp:
    case OpId::logaddexp2:
      return py::float_(-HUGE_VAL);
    default:
      return py::none();
  }
}

template <class F>
PyObject* ufunc_attribute(PyObject* self, F&& make) noexcept {
  try {
    return make(reinterpret_cast<const PyUfunc*>(self)->op).release().ptr();
  } catch (...) {
    return raise_current();
  }
}
PyObject* get_ufunc_name(PyObject* self, void*) noexcept {
  return ufunc_attribute(self,
                         [self](OpId) { return py::str(reinterpret_cast<PyUfunc*>(self)->name); });
}
PyObject* get_nin(PyObject* self, void*) noexcept {
  return ufunc_attribute(self, [](OpId op) { return py::int_(facts(op).inputs); });
}
PyObject* get_nout(PyObject* self, void*) noexcept {
  return ufunc_attribute(self, [](OpId) { return py::int_(1); });
}
PyObject* get_nargs(PyObject* self, void*) noexcept {
  return ufunc_attribute(self, [](OpId op) { return py::int_(facts(op).inputs + 1); });
}
PyObject* get_types(PyObject* self, void*) noexcept { return ufunc_attribute(self, types_of); }
PyObject* get_identity(PyObject* self, void*) noexcept {
  return ufunc_attribute(self, identity_of);
}
PyObject* get_ufunc_doc(PyObject* self, void*) noexcept {
  return ufunc_attribute(self, [](OpId op) {
    const OpTraits& known = facts(op);
    const char* operands = known.inputs == 1 ? "x" : known.inputs == 2 ? "x1, x2" : "x1, x2, x3";
    return py::str(text(known.name, "(", operands,
                        ", /, out=None, *, where=True, casting='same_kind', order='K', "
                        "dtype=None)\n\nElement by element, as numpy.",
                        known.name, " where NumPy has it; arrays of any library, one device."));
  });
}
PyObject* ufunc_repr(PyObject* self) noexcept {
  return PyUnicode_FromFormat("<ufunc '%s'>", reinterpret_cast<PyUfunc*>(self)->name);
}
// Pickled as its name in spanwise.
PyObject* reduce_ufunc(PyObject* self, PyObject*) noexcept {
  return PyUnicode_FromString(reinterpret_cast<PyUfunc*>(self)->name);
}

constexpr const char* at_doc =
    "at($self, a, indices, b, /)\n--\n\n"
    "a[indices] = op(a[indices], b), in place, once for each time that an element is named: "
    "unlike\n"
    "a[indices] += b, which names it once. For add, subtract, multiply, maximum and minimum.\n\n"
    "`a` is any library's array, `indices` what a[...] takes, `b` broadcasts to a[indices]. The\n"
    "result must go into a's dtype by \"same_kind\" (numpy.ufunc.at casts anything). On the CPU in "
    "C\n"
    "order. On a GPU in no particular order, by atomic functions queued on the current stream:\n"
    "integers, maxima and minima come out the same each time, sums and products of floats may "
    "differ\n"
    "in their last bits where an element is named more than once; and products, maxima and minima\n"
    "of complex128 are refused.";

PyTypeObject* make_ufunc_type() {
  static PyGetSetDef attributes[] = {
      {"__name__", get_ufunc_name, nullptr, nullptr, nullptr},
      {"__qualname__", get_ufunc_name, nullptr, nullptr, nullptr},
      {"__doc__", get_ufunc_doc, nullptr, nullptr, nullptr},
      {"nin", get_nin, nullptr, "How many operands it takes.", nullptr},
      {"nout", get_nout, nullptr, "How many results it gives.", nullptr},
      {"nargs", get_nargs, nullptr, "nin + nout", nullptr},
      {"identity", get_identity, nullptr, "What leaves the other operand as it is, or None.",
       nullptr},
      {"types", get_types, nullptr, "The dtypes of operands and result, in NumPy's letters.",
       nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyUfunc, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyMethodDef methods[] = {
      {"__reduce__", reduce_ufunc, METH_NOARGS, nullptr},
      {"at", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(ufunc_at)), METH_FASTCALL,
       at_doc},
      {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_repr, reinterpret_cast<void*>(ufunc_repr)},
                                {Py_tp_getset, attributes},
                                {Py_tp_members, members},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec = {
      "spanwise.ufunc", sizeof(PyUfunc), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

py::object make_ufunc(OpId op) {
  auto* object = PyObject_New(PyUfunc, ufunc_type);
  if (object == nullptr) throw py::error_already_set();
  object->vectorcall = &vectorcall_ufunc;
  object->op = op;
  object->name = facts(op).name;
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(object));
}

// Other names of the same operation: NumPy's and the array API's.
struct UfuncAlias {
  const char* name;
  OpId op;
};
constexpr UfuncAlias ufunc_aliases[] = {{"true_divide", OpId::divide},
                                        {"mod", OpId::remainder},
                                        {"abs", OpId::absolute},
                                        {"conj", OpId::conjugate},
                                        {"radians", OpId::deg2rad},
                                        {"degrees", OpId::rad2deg},
                                        {"pow", OpId::power},
                                        {"asin", OpId::arcsin},
                                        {"acos", OpId::arccos},
                                        {"atan", OpId::arctan},
                                        {"atan2", OpId::arctan2},
                                        {"asinh", OpId::arcsinh},
                                        {"acosh", OpId::arccosh},
                                        {"atanh", OpId::arctanh},
                                        {"bitwise_not", OpId::invert},
                                        {"bitwise_invert", OpId::invert},
                                        {"bitwise_left_shift", OpId::left_shift},
                                        {"bitwise_right_shift", OpId::right_shift}};

}  // namespace

SW_BIND(ufuncs, 85) {
  ufunc_type = make_ufunc_type();
  module.add_object("ufunc",
                    py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(ufunc_type)));
  for (int i = 0; i < ops::op_count; ++i) {
    const auto op = static_cast<OpId>(i);
    const py::object made = make_ufunc(op);
    ufuncs[i] = made.ptr();
    // Python functions with optional arguments have these names.
    const bool has_function = op == OpId::clip || op == OpId::where || op == OpId::angle;
    module.add_object(((has_function ? "_" : "") + std::string(facts(op).name)).c_str(), made);
  }
  for (const UfuncAlias& alias : ufunc_aliases)
    module.add_object(alias.name,
                      py::reinterpret_borrow<py::object>(ufuncs[static_cast<int>(alias.op)]));
}

}  // namespace spanwise::python
