// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/graph/variable_object.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/graph/shared.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"

/// spanwise.Variable, Constant and SharedVariable: operators, the methods of shared variables,
/// array methods, which spanwise.graph._variable implements as functions of the variable, and the
/// types.
namespace spanwise::python {

namespace py = pybind11;

PyTypeObject* variable_type = nullptr;

namespace {

PyTypeObject* constant_type = nullptr;
PyTypeObject* shared_type = nullptr;

DType default_float() { return DType::parse(config::get("floatX")); }

// The registered op of an operator. Never destroyed, so that it is valid during finalization.
template <Literal name>
const Op& operation() {
  static auto& op = *new Ref<const Op>(make_op(name.text));
  return *op;
}

// Whether no bridge imports the object: the operator then returns NotImplemented, so that Python
// tries the object's reflected method.
bool is_foreign(PyObject* value) {
  if (is_variable(value) || is_weak_number(value) || is_array(value)) return false;
  try {
    import_array(value);
    return false;
  } catch (const BridgeError&) {
    return true;
  }
}

template <Literal name>
PyObject* variable_binary(PyObject* left, PyObject* right) {
  if (is_foreign(left) || is_foreign(right)) Py_RETURN_NOTIMPLEMENTED;
  const auto dtype_of = [](PyObject* value) -> std::optional<DType> {
    if (!is_variable(value)) return std::nullopt;
    return variable_in(value).type().dtype();
  };
  const Variable operands[] = {as_variable(left, dtype_of(right)),
                               as_variable(right, dtype_of(left))};
  return wrap_variable(operation<name>()(operands)[0]);
}

template <Literal name>
PyObject* variable_unary(PyObject* self) {
  return wrap_variable(operation<name>()(std::span(&variable_in(self), 1))[0]);
}

template <Literal name>
PyType_Slot binary(int id) {
  return slot(id, guarded<&variable_binary<name>>);
}
template <Literal name>
PyType_Slot unary(int id) {
  return slot(id, guarded<&variable_unary<name>>);
}

PyObject* variable_power(PyObject* left, PyObject* right, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return variable_binary<"power">(left, right);
}

PyObject* variable_divmod(PyObject* left, PyObject* right) {
  auto quotient = py::reinterpret_steal<py::object>(variable_binary<"floor_divide">(left, right));
  if (!quotient || quotient.is(py::handle(Py_NotImplemented))) return quotient.release().ptr();
  const auto remainder =
      py::reinterpret_steal<py::object>(variable_binary<"remainder">(left, right));
  return remainder ? PyTuple_Pack(2, quotient.ptr(), remainder.ptr()) : nullptr;
}

PyObject* positive(PyObject* self) noexcept { return Py_NewRef(self); }

PyObject* compare_variables(PyObject* self, PyObject* other, int operation) noexcept {
  if (operation == Py_LT) return guarded<&variable_binary<"less">>(self, other);
  if (operation == Py_LE) return guarded<&variable_binary<"less_equal">>(self, other);
  if (operation == Py_GT) return guarded<&variable_binary<"greater">>(self, other);
  if (operation == Py_GE) return guarded<&variable_binary<"greater_equal">>(self, other);
  Py_RETURN_NOTIMPLEMENTED;
}

PyType_Slot variable_number_slots[] = {binary<"add">(Py_nb_add),
                                       binary<"subtract">(Py_nb_subtract),
                                       binary<"multiply">(Py_nb_multiply),
                                       binary<"divide">(Py_nb_true_divide),
                                       binary<"floor_divide">(Py_nb_floor_divide),
                                       binary<"remainder">(Py_nb_remainder),
                                       binary<"left_shift">(Py_nb_lshift),
                                       binary<"right_shift">(Py_nb_rshift),
                                       binary<"bitwise_and">(Py_nb_and),
                                       binary<"bitwise_or">(Py_nb_or),
                                       binary<"bitwise_xor">(Py_nb_xor),
                                       unary<"negative">(Py_nb_negative),
                                       unary<"absolute">(Py_nb_absolute),
                                       unary<"invert">(Py_nb_invert),
                                       slot(Py_nb_power, guarded<&variable_power>),
                                       binary<"matmul">(Py_nb_matrix_multiply),
                                       slot(Py_nb_divmod, guarded<&variable_divmod>),
                                       slot(Py_nb_positive, positive),
                                       {0, nullptr}};

// The methods of spanwise.SharedVariable, and its constructor function.

SharedValue& shared_in(PyObject* self) { return *variable_in(self).container(); }

CopyMode mode_of(bool borrow) { return borrow ? CopyMode::if_needed : CopyMode::always; }

PyObject* get_shared_value(PyObject* self, PyObject* borrow, PyObject*) {
  const bool shares = truth_or(borrow, false);
  return wrap(without_gil([&] {
    const Array value = shared_in(self).get();
    return shares ? value : copy(value);
  }));
}

void set_shared_value(PyObject* self, PyObject* new_value, PyObject* borrow) {
  SharedValue& shared = shared_in(self);
  const CopyMode mode = mode_of(truth_or(borrow, false));
  const Array value = input_from(new_value, shared.type(), {});
  shared.check(value);
  without_gil([&] { shared.set(to_device(value, shared.device(), mode)); });
}

PyObject* refuse_value(PyObject*) {
  PyErr_SetString(PyExc_AttributeError,
                  "a shared variable has no attribute value: read it with get_value(), and change "
                  "it with set_value()");
  return nullptr;
}

int set_default_update(PyObject* self, PyObject* update, void*) {
  PyObject* new_update = update == nullptr ? Py_None : update;
  PyObject* none = call_with_self(python_function<"graph._function", "set_default_update">(), self,
                                  &new_update, 1);
  Py_XDECREF(none);
  return none == nullptr ? -1 : 0;
}

// The device of a shared variable: `target` unless it is None; the host for integers of rank 0,
// which serve as counts and indices; else the default device.
Device device_of_shared(py::handle target, const Array& value) {
  if (!target.is_none()) return device_from(target);
  const bool is_count =
      value.rank() == 0 && (value.dtype().is_integer() || value.dtype().is_bool());
  return is_count ? cpu : default_device();
}

Variable make_shared_variable(py::handle value, const std::optional<std::string>& name, bool borrow,
                              py::handle target) {
  if (is_variable(value.ptr()))
    fail<GraphError>("shared: expected a value, got a variable; pass its value, x.eval()");
  const Array array = import_array(value.ptr());
  const Device device = device_of_shared(target, array);
  const GilRelease unlocked;
  return shared(to_device(array, device, mode_of(borrow)), name.value_or(""), device);
}

PyMethodDef shared_methods[] = {
    declared<"get_value($self, borrow=False, return_internal_type=False)",
             "A copy of the value, on the variable's device; with borrow=True the variable's own "
             "array. `return_internal_type` is ignored.",
             &get_shared_value>(),
    declared<"set_value($self, value, borrow=False)",
             "Sets a copy of an array of any library, or a number, as the value; with borrow=True "
             "the array itself if it is on the variable's device. Raises InputError for another "
             "dtype or shape.",
             &set_shared_value>(),
    {}};

PyGetSetDef shared_attributes[] = {
    attribute<&refuse_value>("value", "Raises AttributeError; see get_value()."),
    attribute<[](PyObject* self) { return device_object(shared_in(self).device()); }>(
        "device", "The device of its value."),
    attribute<&result_in_python<"graph._function", "default_update_of">, &set_default_update>(
        "default_update",
        "The value after each call of a function that reads the variable, a variable of its dtype "
        "and rank; None for none. See no_default_updates= of function(). Raises GraphError for "
        "another type. The two keep each other alive until it is set to None, except the next "
        "state "
        "of a random draw, which is None once the draw does not exist any more."),
    {}};

// The array methods of variables. They are implemented in spanwise.graph._variable, as functions
// whose first argument is the variable.

// The attribute spanwise.graph._variable.<function>(self).
template <Literal function>
PyGetSetDef forwarded_attribute(const char* name, const char* doc) {
  return attribute<&result_in_python<"graph._variable", function>>(name, doc);
}

// The first extent; -1 with a TypeError, the variable's label followed by `problem`, if it is not
// fixed.
Py_ssize_t fixed_length(PyObject* self, const char* problem) {
  const Shape& shape = variable_in(self).type().shape();
  if (!shape.empty() && shape[0] != TensorType::any) return shape[0];
  PyErr_Format(PyExc_TypeError, "%s %s", variable_in(self).label().c_str(), problem);
  return -1;
}

Py_ssize_t length(PyObject* self) {
  return fixed_length(self,
                      "has no length yet: its first extent is not fixed. Ask for x.shape[0], a "
                      "variable of the graph");
}

PyObject* iterate(PyObject* self) {
  const bool is_fixed =
      fixed_length(self,
                   "cannot be iterated over: its first extent is not fixed. Perhaps sum, min, max, "
                   "any or all of Python was called, where the method or T.sum was meant; or "
                   "several results were expected of a call that has one, such as sw.graph.scan, "
                   "which returns updates only with return_updates=True") >= 0;
  return is_fixed ? result_in_python<"graph._variable", "items">(self) : nullptr;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return call_with_self(python_function<"graph._variable", "getitem">(), self, &key, 1);
}

PyMethodDef variable_methods[] = {
    in_python<"graph._variable", "eval($self, inputs_to_values=None, /)",
              "The value for given values of the inputs: z.eval({x: 1.0}).", "evaluate">(),
    in_python<"printing", "_repr_html_($self)", "The graph as a picture, for notebooks.",
              "_html">(),
    in_python<"graph._variable", "transfer($self, target, /)",
              "The variable copied to a device (a name or a spanwise.device).">(),
    in_python<"graph._variable", "dot($self, other, /)", "spanwise.dot(self, other).">(),
    in_python<"graph._variable", "clone($self, name=None, /)",
              "A new variable of the same type, without an owner.">(),
    in_python<"graph._variable", "reshape($self, *shape, ndim=None)",
              "The elements in another shape, in C order. Extents are integers or variables, or "
              "one vector of them; one may be -1. `ndim` is the rank of the result.">(),
    in_python<"graph._variable", "transpose($self, *axes)",
              "View with the axes in the given order, by default reversed.">(),
    in_python<"graph._variable", "dimshuffle($self, *pattern)",
              "View with the axes in the given order; 'x' is a new axis of extent 1. Axes that are "
              "left out must have extent 1.">(),
    in_python<"graph._variable", "swapaxes($self, axis1, axis2)",
              "View with two axes exchanged.">(),
    in_python<"graph._variable", "squeeze($self, axis=None)",
              "View without the axes `axis`, whose extent must be 1; by default without those "
              "whose type fixes extent 1.">(),
    in_python<"graph._variable", "ravel($self, order='C')", "A vector in C order.">(),
    in_python<"graph._variable", "flatten($self, ndim=1)",
              "Reshaped in C order to `ndim` axes: the last one joins all remaining axes.">(),
    in_python<"graph._variable", "broadcast_to($self, shape)",
              "View broadcast to `shape`, of integers and variables.">(),
    in_python<"graph._variable", "astype($self, dtype, copy=True)",
              "Cast to `dtype`; the variable itself if it has that dtype.">(),
    in_python<
        "graph._variable", "take($self, indices, axis=None)",
        "The slices `indices` along `axis`; without `axis` elements of the flattened variable.">(),
    in_python<"graph._variable", "clip($self, min=None, max=None)", "Limited to [min, max].">(),
    in_python<"graph._variable", "round($self, decimals=0)", "Rounded, halves to even.",
              "round_">(),
    in_python<"graph._variable", "conj($self)", "The complex conjugate.">(),
    in_python<"graph._pickle", "__reduce__($self)", "", "reduce_variable">(),
    in_python<"graph._variable", "__array__($self, dtype=None, copy=None)",
              "Raises TypeError: it has no value.", "refuse_array">(),
    in_python<"graph._variable", "__array_function__($self, func, types, args, kwargs, /)",
              "numpy.<function>(variable): a node of the graph.", "array_function">(),
    in_python<"graph._variable", "__array_ufunc__($self, ufunc, method, *inputs, **options)",
              "numpy.<ufunc>(variable): a node of the graph.", "array_ufunc">(),
    {}};

PyGetSetDef shape_attributes[] = {
    forwarded_attribute<"shape">("shape",
                                 "The shape, an int64 vector on the host; shape[0] is a variable."),
    forwarded_attribute<"size">("size", "The number of elements, a variable."),
    forwarded_attribute<"transpose">("T", "View with all axes reversed."),
    forwarded_attribute<"matrix_transpose">("mT", "View with the last two axes exchanged."),
    {}};

PyType_Slot variable_item_slots[] = {slot(Py_mp_subscript, guarded<&subscript>),
                                     slot(Py_mp_length, guarded<&length>),
                                     slot(Py_tp_iter, guarded<&iterate>),
                                     {0, nullptr}};

// Held while a weak reference to a node becomes a reference, or the node ends.
Mutex& weak_nodes_mutex() {
  static NeverDestroyed<Mutex> mutex;
  return *mutex;
}

// The attachment of a variable or an Apply.
struct PythonState {
  PythonState() = default;
  PythonState(const PythonState&) = delete;
  PythonState& operator=(const PythonState&) = delete;
  ~PythonState() {
    if (weak == nullptr) return;
    const std::lock_guard lock(weak_nodes_mutex());
    *weak = nullptr;
  }

  PyObject* wrapper = nullptr;  ///< the live wrapper, a borrowed reference
  SharedObject tag;
  std::shared_ptr<Apply*> weak;  ///< of an Apply: what WeakOutput has
};

PythonState& python_state_in(std::shared_ptr<void>& attachment) {
  if (attachment == nullptr) attachment = std::make_shared<PythonState>();
  return *static_cast<PythonState*>(attachment.get());
}

void variable_dealloc(PyObject* object) noexcept {
  auto* self = reinterpret_cast<PyVariable*>(object);
  if (self->weakrefs != nullptr) PyObject_ClearWeakRefs(object);
  if (const auto state = static_cast<PythonState*>(self->variable.attachment().get()))
    if (state->wrapper == object) state->wrapper = nullptr;
  self->variable.~Variable();
  free_object(object);
}

PyObject* variable_richcompare(PyObject* self, PyObject* other, int operation) noexcept {
  if (operation != Py_EQ && operation != Py_NE) return compare_variables(self, other, operation);
  if (!is_variable(other)) Py_RETURN_NOTIMPLEMENTED;
  const bool same = variable_in(self) == variable_in(other);
  return PyBool_FromLong(same == (operation == Py_EQ));
}

Py_hash_t hash(PyObject* self) noexcept {
  const auto hash = static_cast<Py_hash_t>(std::hash<Variable>()(variable_in(self)) >> 4);
  return hash == -1 ? -2 : hash;
}

int refuse_bool(PyObject* self) {
  PyErr_Format(PyExc_TypeError,
               "%s has no value yet, so it is neither true nor false; compile it with function(), "
               "or call its eval({...})",
               variable_in(self).label().c_str());
  return -1;
}

// float(x), int(x) and range(x): a variable has no value that Python could use.
PyObject* refuse_number(PyObject* self) {
  PyErr_Format(PyExc_TypeError,
               "%s is a graph variable, which has no value yet, so it is no Python number; "
               ".eval({...}) computes it, and T.arange and slices take variables",
               variable_in(self).label().c_str());
  return nullptr;
}

int refuse_assignment(PyObject* self, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError,
               "%s is a graph variable, whose items cannot be assigned to; "
               "T.set_subtensor(x[index], values) gives a variable with other items",
               variable_in(self).label().c_str());
  return -1;
}

// PyObject_GenericGetAttr(), with a remedy in the error for methods of arrays that need a value.
PyObject* get_attribute(PyObject* self, PyObject* name) {
  PyObject* value = PyObject_GenericGetAttr(self, name);
  if (value != nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) return value;
  static constexpr std::array needing_a_value{"tolist", "item", "numpy", "tobytes", "fill",
                                              "to",     "get",  "ptr",   "base"};
  const std::string_view asked = text_in(name);
  if (std::ranges::find(needing_a_value, asked) == needing_a_value.end()) return nullptr;
  PyErr_Clear();
  PyErr_Format(PyExc_AttributeError,
               "%s is a graph variable, which has no value yet and therefore no attribute '%U'; "
               ".eval({...}) computes it",
               variable_in(self).label().c_str(), name);
  return nullptr;
}

PyObject* label(PyObject* self) { return py::str(variable_in(self).label()).release().ptr(); }

py::object get_broadcastable(PyObject* self) {
  return py::cast(variable_in(self).type()).attr("broadcastable");
}
py::object get_variable_name(PyObject* self) {
  const std::string& name = variable_in(self).name();
  if (name.empty()) return py::none();
  return py::str(name);
}
int set_variable_name(PyObject* self, PyObject* value, void*) {
  variable_in(self).set_name(given(value) ? std::string(text_in(value)) : "");
  return 0;
}
py::object get_owner(PyObject* self) {
  Apply* owner = variable_in(self).owner();
  if (owner == nullptr) return py::none();
  return py::cast(Ref<Apply>(owner));
}
py::object get_index(PyObject* self) {
  if (variable_in(self).owner() == nullptr) return py::none();
  return py::int_(variable_in(self).index());
}
py::object get_data(PyObject* self) { return py::cast(*variable_in(self).value()); }

PyGetSetDef variable_attributes[] = {
    attribute<[](PyObject* self) { return py::cast(variable_in(self).type()); }>("type",
                                                                                 "Its TensorType."),
    attribute<[](PyObject* self) { return dtype_object(variable_in(self).type().dtype()); }>(
        "dtype"),
    attribute<[](PyObject* self) { return py::int_(variable_in(self).type().rank()); }>("ndim"),
    attribute<&get_broadcastable>("broadcastable", "Which axes have the fixed extent 1."),
    attribute<&get_variable_name, &set_variable_name>("name", "A str or None."),
    attribute<&get_owner>("owner", "The Apply that computes it, or None."),
    attribute<&get_index>("index", "Its index among the owner's outputs; None without an owner."),
    attribute<[](PyObject* self) { return tag_of(variable_in(self).attachment()); }>(
        "tag", "A namespace for attributes that programs add."),
    {}};

PyGetSetDef constant_attributes[] = {attribute<&get_data>("data", "The value, a read-only Array."),
                                     attribute<&get_data>("value", "The value, a read-only Array."),
                                     {}};

PyMemberDef variable_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyVariable, weakrefs), READONLY, nullptr}, {}};

PyTypeObject* type_for(const Variable& variable) noexcept {
  if (variable.value() != nullptr) return constant_type;
  return variable.container() != nullptr ? shared_type : variable_type;
}

PyTypeObject* make_variable_type(const char* name, const char* doc, std::vector<PyType_Slot> slots,
                                 PyTypeObject* base) {
  slots.push_back({Py_tp_doc, const_cast<char*>(doc)});
  return make_type(name, sizeof(PyVariable), std::move(slots),
                   Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, base);
}

// Values of inputs and shared variables.

// bool < integer < float < complex: a number converts to its own kind and to higher ones, of any
// width.
NumberKind kind_of_dtype(DType dtype) {
  if (dtype.is_bool()) return NumberKind::bool_;
  if (dtype.is_integer()) return NumberKind::int_;
  return dtype.is_floating() ? NumberKind::float_ : NumberKind::complex;
}

bool is_list(PyObject* value) { return PyList_Check(value) || PyTuple_Check(value); }

// Whether Python numbers, whose dtype as an array is `natural`, may become `target`: a narrower
// float only if allow_downcast is not false.
bool may_narrow(const InputRule& rule, DType natural, DType target) {
  const bool is_narrower =
      target.is_floating() && natural.is_floating() && target.bits() < natural.bits();
  return !is_narrower || rule.allow_downcast != false;
}

Array cast(const Array& array, DType dtype, const InputRule& rule) {
  const bool is_allowed =
      rule.allow_downcast == true || can_cast(array.dtype(), dtype, Casting::safe);
  if (!is_allowed)
    fail<InputError>("expected dtype ", dtype, ", got ", array.dtype(),
                     "; cast the value, or pass allow_input_downcast=True to function()");
  const GilRelease unlocked;
  return astype(array, dtype);
}

Array from_number(PyObject* value, DType dtype, const InputRule& rule) {
  const bool fits = rule.allow_downcast == true || (number_kind(value) <= kind_of_dtype(dtype) &&
                                                    may_narrow(rule, float64, dtype));
  if (!fits)
    fail<InputError>("expected dtype ", dtype, ", got the Python number ",
                     std::string(py::repr(value)), "; convert it");
  const Scalar scalar = scalar_from(value, dtype);
  return full(Shape{}, scalar, dtype, cpu);
}

Array from_list(py::handle value, DType dtype, const InputRule& rule) {
  const Array natural = import_array(value.ptr());
  if (natural.dtype() == dtype) return natural;
  const bool fits = kind_of_dtype(natural.dtype()) <= kind_of_dtype(dtype) &&
                    may_narrow(rule, natural.dtype(), dtype);
  if (!fits) return cast(natural, dtype, rule);
  return import_array(value.ptr(), {.dtype = dtype});  // throws for out-of-range integers
}

}  // namespace

Variable as_variable(py::handle value, std::optional<DType> other_dtype) {
  if (is_variable(value.ptr())) return variable_in(value.ptr());
  if (const NumberKind kind = number_kind(value.ptr()); kind != NumberKind::none) {
    // The setting is read only where it applies.
    const DType floats = kind == NumberKind::float_ ? default_float() : float64;
    const Scalar scalar = scalar_from(value.ptr(), number_dtype(kind, other_dtype, floats));
    return Variable::constant(full(Shape{}, scalar, scalar.dtype(), cpu));
  }
  // A copy, since the caller may modify the array.
  const Array array = import_array(value.ptr());
  const GilRelease unlocked;
  return Variable::constant(copy(array));
}

Array input_from(py::handle value, const TensorType& type, const InputRule& rule) {
  const DType dtype = type.dtype();
  if (rule.strict) {
    if (is_weak_number(value.ptr()) || is_list(value.ptr()))
      fail<InputError>("expected an array of dtype ", dtype, " (strict), got ",
                       std::string(py::repr(value)));
    const Array array = import_array(value.ptr());
    if (array.dtype() != dtype)
      fail<InputError>("expected dtype ", dtype, " (strict), got ", array.dtype());
    return array;
  }
  if (is_weak_number(value.ptr())) return from_number(value.ptr(), dtype, rule);
  if (is_list(value.ptr())) return from_list(value, dtype, rule);
  Array array = import_array(value.ptr());
  return array.dtype() == dtype ? array : cast(array, dtype, rule);
}

PyObject* wrap_variable(const Variable& variable) noexcept {
  try {
    PythonState& state = python_state_in(variable.attachment());
    if (state.wrapper != nullptr) return Py_NewRef(state.wrapper);
    PyTypeObject* type = type_for(variable);
    auto* self = reinterpret_cast<PyVariable*>(type->tp_alloc(type, 0));
    if (self == nullptr) return nullptr;
    new (&self->variable) Variable(variable);
    state.wrapper = reinterpret_cast<PyObject*>(self);
    return state.wrapper;
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

namespace {

// An output of a node that it does not keep alive.
class WeakOutput {
 public:
  explicit WeakOutput(const Variable& output) : index_(output.index()) {
    if (output.owner() == nullptr)
      fail<GraphError>("WeakOutput: expected an output of a node, got ", output.label());
    std::shared_ptr<Apply*>& weak = python_state_in(output.owner()->attachment()).weak;
    if (weak == nullptr) weak = std::make_shared<Apply*>(output.owner());
    weak_ = weak;
  }
  // Null where the node does not exist any more.
  std::optional<Variable> get() const {
    const std::lock_guard lock(weak_nodes_mutex());
    if (*weak_ == nullptr || !(*weak_)->try_add_ref()) return std::nullopt;
    return Ref<Apply>::adopt(*weak_)->output(index_);
  }

 private:
  std::shared_ptr<Apply*> weak_;
  int index_;
};

}  // namespace

py::object tag_of(std::shared_ptr<void>& attachment) {
  SharedObject& tag = python_state_in(attachment).tag;
  if (tag == nullptr) tag = share_object(py::module_::import("types").attr("SimpleNamespace")());
  return py::reinterpret_borrow<py::object>(tag.get());
}

void add_variable_methods(PyMethodDef* methods) { add_methods(variable_type, methods); }

SW_BIND(graph_shared) {
  module.def("_shared", &make_shared_variable, py::arg("value"), py::arg("name"), py::arg("borrow"),
             py::arg("target"), py::pos_only());
}

SW_BIND(graph_weak_output, graph_variable) {
  py::class_<WeakOutput>(module, "_WeakOutput")
      .def(py::init([](const Variable& output) { return std::make_unique<WeakOutput>(output); }),
           py::arg("output"), py::pos_only())
      .def("__call__", member(&WeakOutput::get));
}

SW_BIND(graph_variable_methods, graph_variable) {
  add_variable_methods(variable_methods);
  add_attributes(variable_type, shape_attributes);
}

SW_BIND(graph_variable) {
  std::vector<PyType_Slot> slots{slot(Py_tp_dealloc, variable_dealloc),
                                 slot(Py_tp_richcompare, variable_richcompare),
                                 slot(Py_tp_hash, hash),
                                 slot(Py_tp_str, guarded<&label>),
                                 slot(Py_tp_repr, guarded<&label>),
                                 slot(Py_nb_bool, guarded<&refuse_bool>),
                                 slot(Py_nb_float, guarded<&refuse_number>),
                                 slot(Py_nb_int, guarded<&refuse_number>),
                                 slot(Py_nb_index, guarded<&refuse_number>),
                                 slot(Py_mp_ass_subscript, guarded<&refuse_assignment>),
                                 slot(Py_tp_getattro, guarded<&get_attribute>),
                                 {Py_tp_getset, variable_attributes},
                                 {Py_tp_members, variable_members}};
  for (const PyType_Slot* more : {variable_number_slots, variable_item_slots})
    for (; more->slot != 0; ++more) slots.push_back(*more);
  variable_type = make_variable_type(
      "spanwise.Variable", "A symbolic value: an input, a constant, or an output of an op.", slots,
      nullptr);
  constant_type = make_variable_type("spanwise.Constant", "A variable whose value is known.",
                                     {{Py_tp_getset, constant_attributes}}, variable_type);
  shared_type = make_variable_type(
      "spanwise.SharedVariable", "A variable with a value that functions read and update.",
      {{Py_tp_methods, shared_methods}, {Py_tp_getset, shared_attributes}}, variable_type);
  add_type(module, "SharedVariable", shared_type);
  add_type(module, "Variable", variable_type);
  add_type(module, "Constant", constant_type);
}

}  // namespace spanwise::python
