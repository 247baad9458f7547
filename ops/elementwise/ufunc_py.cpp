// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "ufunc_py.hpp"

#include <pybind11/eval.h>
#include <structmember.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "elementwise_compute.hpp"
#include "python/array/array_hooks.hpp"
#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"

/// The type spanwise.ufunc and its instances, one per operation of the table.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::OpId;
using ops::OpTraits;
using ops::traits_of;

// The dtype of the computation on an array of dtype `target` and `value`, which is a Python number
// or has been imported as `array`.
DType accumulating_dtype(OpId op, DType target, PyObject* value, const Array* array) {
  const char* name = traits_of(op).name;
  DType compute = target;
  if (array != nullptr)
    compute = promote(target, array->dtype());
  else if (PyComplex_Check(value))
    compute = target.is_complex() ? target : complex128;
  else if (PyFloat_Check(value))
    compute = target.is_complex() || target.is_floating() ? target : float64;
  else if (!PyBool_Check(value) && target.is_bool())
    compute = int64;
  if (!can_cast(compute, target, Casting::same_kind))
    fail<DTypeError>(name, ".at: cannot cast the result from ", compute, " to ", target,
                     " under casting=\"same_kind\"; cast the values: b.astype(\"", target, "\")");
  const DType operands[] = {compute, compute};
  (void)ops::resolve(op, operands);  // throws DTypeError for dtypes without the operation
  return compute;
}

// numpy.ufunc.at: accumulates `value` into the elements of `target` that `key` selects.
void accumulate_at(OpId op, PyObject* target, PyObject* key, PyObject* value) {
  const char* name = traits_of(op).name;
  if (is_variable(target))
    fail<GraphError>(name, ".at: a variable has no memory yet; use tensor.inc_subtensor(x[i], y)");
  const Array array = OutputArray(target, text(name, ".at"));
  const py::object operand = is_weak_number(value) ? py::reinterpret_borrow<py::object>(value)
                                                   : object_of(import_array(value));
  const Array* values = is_array(operand.ptr()) ? &array_in(operand.ptr()) : nullptr;
  const DType computed = accumulating_dtype(op, array.dtype(), value, values);
  // Values of a wider dtype are not rounded before the operation.
  const bool is_wider = computed != array.dtype();
  const py::object accumulator = object_of(is_wider ? astype(array, computed) : array);
  array_indexing.accumulate(name, accumulator.ptr(), key, operand.ptr());
  if (is_wider) copy(array_in(accumulator.ptr()), array);
}

// NumPy's type characters; E is bfloat16 of ml_dtypes.
constexpr const char* type_characters = "?bBhHiIlLeEfdFD";

char type_character(DType dtype) { return type_characters[ops::dtype_index(dtype)]; }

// numpy.ufunc.types: "dd->d".
py::list types_of(OpId op) {
  const OpTraits& traits = traits_of(op);
  py::list types;
  // All dtypes convert to bool, and operations with keeps_integers accept integers.
  unsigned dtypes = traits.has(ops::boolean_inputs) ? ops::any_dtype : traits.dtypes;
  if (traits.has(ops::keeps_integers)) dtypes |= ops::booleans | ops::integers;
  if (traits.has(ops::no_bool)) dtypes &= ~unsigned{ops::booleans};
  for (int index = 0; index < ops::dtype_count; ++index) {
    if ((dtypes >> index & 1u) == 0) continue;
    const DType dtype = ops::dtypes_in_order[index];
    const std::vector<DType> operands(static_cast<std::size_t>(traits.inputs), dtype);
    const ops::OpSignature signature = ops::resolve(op, operands);
    std::string entry(operands.size(), type_character(dtype));
    if (traits.has(ops::first_is_condition)) entry[0] = '?';
    types.append(entry + "->" + type_character(signature.result));
  }
  return types;
}

// numpy.ufunc.identity.
py::object identity_of(OpId op) {
  switch (op) {
    case OpId::add:
    case OpId::bitwise_or:
    case OpId::bitwise_xor:
    case OpId::hypot:
      return py::int_(0);
    case OpId::logical_or:
    case OpId::logical_xor:
      return py::bool_(false);
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

// ---- the type

struct PyUfunc {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  OpId op;
  const char* name;
};

PyTypeObject* ufunc_type = nullptr;
PyObject* ufuncs[ops::op_count] = {};

// out= may be a tuple of one array, as for ufuncs of several results.
PyObject* single_out(const char* caller, PyObject* out) {
  if (!PyTuple_Check(out)) return out;
  if (PyTuple_GET_SIZE(out) != 1) {
    PyErr_Format(PyExc_ValueError, "%s: out= must hold one array, got a tuple of %zd", caller,
                 PyTuple_GET_SIZE(out));
    throw py::error_already_set();
  }
  return PyTuple_GET_ITEM(out, 0);
}

[[noreturn]] void refuse_call(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw py::error_already_set();
}

void read_option(const PyUfunc* self, PyObject* name, PyObject* value, CallOptions& options) {
  const auto is = [&](const char* option) {
    return PyUnicode_CompareWithASCIIString(name, option) == 0;
  };
  if (is("out")) {
    if (options.out != nullptr) refuse_call(text(self->name, "() got out by position and by name"));
    options.out = single_out(self->name, value);
  } else if (is("where")) {
    options.where = value == Py_True ? nullptr : value;
  } else if (is("dtype")) {
    if (value != Py_None) options.dtype = dtype_from(value);
  } else if (is("casting")) {
    options.casting = casting_from(value);
  } else if (is("order")) {
    options.order = order_or(value, ArrayOrder::k);
  } else if (is("subok")) {
    return;  // there are no subclasses
  } else {
    refuse_call(text(self->name, "() has no argument '", std::string(py::str(name)),
                     "'; it has out, where, casting, order, dtype",
                     is("signature") ? "; set the dtype of the computation with dtype=" : ""));
  }
}

PyObject* vectorcall_ufunc(PyObject* object, PyObject* const* values, size_t flags,
                           PyObject* kwnames) {
  const auto* self = reinterpret_cast<const PyUfunc*>(object);
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  const int inputs = traits_of(self->op).inputs;
  if (count < inputs || count > inputs + 1)
    refuse_call(text(self->name, "() takes ", inputs,
                     " operands and optionally out by position, got ", count));
  CallOptions options;
  if (count > inputs) options.out = values[inputs];
  const Py_ssize_t named = kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < named; ++i)
    read_option(self, PyTuple_GET_ITEM(kwnames, i), values[count + i], options);
  if (options.out == Py_None) options.out = nullptr;
  return call_ufunc(self->op, values, options);
}

PyObject* ufunc_at(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  const auto* self = reinterpret_cast<const PyUfunc*>(object);
  if (count != 3)
    refuse_call(text(self->name, ".at() takes an array, an index and values, got ", count,
                     count == 1 ? " argument" : " arguments"));
  accumulate_at(self->op, arguments[0], arguments[1], arguments[2]);
  return Py_NewRef(Py_None);
}

// ---- attributes

OpId op_of(PyObject* self) { return reinterpret_cast<const PyUfunc*>(self)->op; }
// Also the result of __reduce__: pickle finds the ufunc by its name in the module.
py::str name_of(PyObject* self) { return reinterpret_cast<const PyUfunc*>(self)->name; }

std::string parameters_of(PyObject* self) {
  const int inputs = traits_of(op_of(self)).inputs;
  return text(inputs == 1   ? "x"
              : inputs == 2 ? "x1, x2"
                            : "x1, x2, x3",
              ", /, out=None, *, where=True, casting='same_kind', order='K', dtype=None");
}
py::str doc_of(PyObject* self) {
  const char* name = traits_of(op_of(self)).name;
  return py::str(text(name, '(', parameters_of(self), ")\n\nElement by element, like numpy.", name,
                      " if NumPy has it; of arrays of any library on one device."));
}
// For inspect.signature(), which takes no other object that is not a function.
py::object signature_of(PyObject* self) {
  const py::object function = py::eval(text("lambda ", parameters_of(self), ": None"), py::dict());
  return py::module_::import("inspect").attr("signature")(function);
}
PyObject* ufunc_repr(PyObject* self) noexcept {
  return PyUnicode_FromFormat("<ufunc '%s'>", reinterpret_cast<PyUfunc*>(self)->name);
}

constexpr const char* at_doc =
    "at($self, a, indices, b, /)\n--\n\n"
    "a[indices] = op(a[indices], b), in place, once per occurrence of an index: a[indices] += b\n"
    "would use repeated indices once. For add, subtract, multiply, maximum and minimum.\n\n"
    "`a` is any library's array, `indices` an index as for a[...], `b` broadcasts to a[indices]. "
    "The\n"
    "result is cast to a's dtype under \"same_kind\" (numpy.ufunc.at casts anything). On the CPU "
    "in C\n"
    "order. On a GPU in no particular order, by atomic functions queued on the current stream:\n"
    "integers, maxima and minima are reproducible, sums and products of floats may differ in "
    "their\n"
    "last bits for repeated indices; products, maxima and minima of complex128 raise DTypeError.";

PyTypeObject* make_ufunc_type() {
  static PyGetSetDef attributes[] = {
      attribute<&name_of>("__name__"),
      attribute<&name_of>("__qualname__"),
      attribute<&doc_of>("__doc__"),
      attribute<&signature_of>("__signature__"),
      attribute<[](PyObject* self) { return py::int_(traits_of(op_of(self)).inputs); }>(
          "nin", "The number of operands."),
      attribute<[](PyObject*) { return py::int_(1); }>("nout", "The number of results."),
      attribute<[](PyObject* self) { return py::int_(traits_of(op_of(self)).inputs + 1); }>(
          "nargs", "nin + nout"),
      attribute<[](PyObject* self) { return identity_of(op_of(self)); }>(
          "identity", "The identity of the operation, or None."),
      attribute<[](PyObject* self) { return types_of(op_of(self)); }>(
          "types", "The dtypes of operands and result, as NumPy's type characters."),
      {}};
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyUfunc, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyMethodDef methods[] = {declared<"__reduce__($self)", "", &name_of>(),
                                  {"at", as_c_function(guarded<&ufunc_at>), METH_FASTCALL, at_doc},
                                  {nullptr, nullptr, 0, nullptr}};
  return make_type("spanwise.ufunc", sizeof(PyUfunc),
                   {slot(Py_tp_call, PyVectorcall_Call),
                    slot(Py_tp_repr, ufunc_repr),
                    {Py_tp_getset, attributes},
                    {Py_tp_members, members},
                    {Py_tp_methods, methods}},
                   Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION);
}

py::object make_ufunc(OpId op) {
  auto* object = PyObject_New(PyUfunc, ufunc_type);
  if (object == nullptr) throw py::error_already_set();
  object->vectorcall = guarded<&vectorcall_ufunc>;
  object->op = op;
  object->name = traits_of(op).name;
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(object));
}

// Aliases from NumPy and the array API.
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

SW_BIND(ufuncs) {
  ufunc_type = make_ufunc_type();
  module.add_object("ufunc",
                    py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(ufunc_type)));
  for (int i = 0; i < ops::op_count; ++i) {
    const auto op = static_cast<OpId>(i);
    const py::object ufunc = make_ufunc(op);
    ufuncs[i] = ufunc.ptr();
    // These names belong to Python functions with optional arguments.
    const bool has_function = op == OpId::clip || op == OpId::where || op == OpId::angle;
    module.add_object(((has_function ? "_" : "") + std::string(traits_of(op).name)).c_str(), ufunc);
  }
  for (const UfuncAlias& alias : ufunc_aliases)
    module.add_object(alias.name,
                      py::reinterpret_borrow<py::object>(ufuncs[static_cast<int>(alias.op)]));
}

}  // namespace spanwise::python
