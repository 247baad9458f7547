// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "reduce.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/variable.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/creation.hpp"

/// sum, prod, min, ... as functions that take any library's array or a variable of a graph, and as
/// methods of both: the same code, the array being the first argument or `self`.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::reduce::AxisSet;
using ops::reduce::Operation;
using ops::reduce::Options;

/// The arguments of a reduction, null where absent.
struct ReduceCall {
  PyObject *array, *axis, *dtype, *out, *keepdims, *initial, *where, *ddof, *mean, *correction;
};

// An array of any library as an Array.
Array reduce_input(PyObject* object) {
  return is_array(object) ? array_in(object) : import_array(object);
}

// out=; nullopt if absent.
std::optional<OutputArray> reduce_out(PyObject* out, const char* caller) {
  if (!given(out)) return {};
  return OutputArray(out, caller);
}

// None means all axes. For rank 0, axis 0 and -1 are accepted, as in NumPy.
template <class Normalise>
AxisSet reduce_axes_in(int rank, PyObject* axis, Normalise&& normalise) {
  AxisSet axes;
  if (!given(axis)) {
    for (int i = 0; i < rank; ++i) axes.set(static_cast<std::size_t>(i));
    return axes;
  }
  if (!PyTuple_Check(axis)) {
    const std::int64_t number = integer_from(axis);
    if (rank > 0 || number < -1 || number > 0)
      axes.set(static_cast<std::size_t>(normalise(number)));
    return axes;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(axis); ++i) {
    const int index = normalise(integer_from(PyTuple_GET_ITEM(axis, i)));
    if (axes[static_cast<std::size_t>(index)])
      fail<ArgumentError>("duplicate value in 'axis': ", std::string(py::repr(axis)));
    axes.set(static_cast<std::size_t>(index));
  }
  return axes;
}

// Lists and masks of rank 0 are copied to the array's device.
std::optional<Array> reduce_mask(PyObject* where, Device device) {
  if (!given(where) || where == Py_True) return {};
  if (where == Py_False) return full(Shape{}, Scalar(false), bool_, device);
  Array mask = reduce_input(where);
  if (PyList_Check(where) || mask.rank() == 0) mask = to_device(mask, device);
  return mask;
}

Scalar reduce_initial_in(PyObject* initial, DType dtype) {
  if (is_python_scalar(initial)) return scalar_from(initial, dtype);
  return item(reduce_input(initial)).cast(dtype);
}

double reduce_correction_in(const ReduceCall& call) {
  PyObject* number = given(call.correction) ? call.correction : call.ddof;
  if (given(call.correction) && given(call.ddof) && PyObject_IsTrue(call.ddof) == 1)
    throw py::value_error("ddof and correction can't be provided simultaneously");
  if (!given(number)) return 0;
  const double value = PyFloat_AsDouble(number);
  if (value == -1.0 && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

// The options that arrays and variables have in common.
template <class Normalise>
Options read_options(const ReduceCall& call, int rank, Normalise&& normalise) {
  return {.axes = reduce_axes_in(rank, call.axis, normalise),
          .keepdims = truth_or(call.keepdims, false),
          .dtype = given(call.dtype) ? std::optional(dtype_from(call.dtype)) : std::nullopt};
}

// The reduction of an array; `out` is call.out as an array.
Array reduced(Operation op, const ReduceCall& call, const Array& array,
              const std::optional<OutputArray>& out) {
  Options options = read_options(
      call, array.rank(), [&](std::int64_t axis) { return array.layout().normalise_axis(axis); });
  if (out) options.out = &out->array();
  if (given(call.initial))
    options.initial = reduce_initial_in(
        call.initial, ops::reduce::result_dtype(op, array.dtype(), options.dtype));
  const std::optional<Array> mask = reduce_mask(call.where, array.device());
  if (mask) options.where = &*mask;
  std::optional<Array> mean;
  if (given(call.mean)) options.mean = &mean.emplace(reduce_input(call.mean));
  options.correction = reduce_correction_in(call);
  const GilRelease unlocked(is_long(array.device(), array.nbytes()));
  return ops::reduce::reduce(op, array, options);
}

// ---- variables of graphs

// The reduction of a variable of a graph, as a new reference to a variable.
PyObject* reduce_variable(Operation op, const ReduceCall& call) {
  const char* caller = ops::reduce::name_of(op);
  const bool has_mask = given(call.where) && call.where != Py_True;
  if (given(call.out) || given(call.initial) || has_mask || given(call.mean))
    fail<GraphError>(caller,
                     ": out=, initial=, where= and mean= are for arrays; of a variable "
                     "choose elements by T.where()");
  const Variable& variable = variable_in(call.array);
  const int rank = variable.type().rank();
  Options options =
      read_options(call, rank, [&](std::int64_t axis) { return variable_axis(variable, axis); });
  options.correction = reduce_correction_in(call);
  const OpProperties properties = ops::reduce::properties_for(op, rank, options);
  return wrap_variable(apply_op(caller, properties, std::span(&variable, 1)));
}

// The cumulative sum or product of a variable, as a new reference. Flattens the variable if no axis
// is given, as NumPy does.
PyObject* scan_variable(const char* caller, const Variable& input, PyObject* axis, PyObject* dtype,
                        PyObject* out) {
  if (given(out)) fail<GraphError>(caller, ": out= is for arrays; a variable has no memory yet");
  Variable variable = input;
  const bool flattens = !given(axis) || variable.type().rank() == 0;
  const int along = flattens ? 0 : variable_axis(variable, integer_from(axis));
  if (flattens && variable.type().rank() != 1)
    variable =
        apply_op("reshape", {{"shape", std::vector<std::int64_t>{-1}}}, std::span(&variable, 1));
  OpProperties properties{{"axis", std::vector<std::int64_t>{along}}};
  if (given(dtype)) properties.emplace("dtype", text(dtype_from(dtype)));
  return wrap_variable(apply_op(caller, properties, std::span(&variable, 1)));
}

// The reduction of an array or a variable, as a new reference.
PyObject* reduce_call(Operation op, const ReduceCall& call) {
  if (is_variable(call.array)) return reduce_variable(op, call);
  const Array array = reduce_input(call.array);
  const auto out = reduce_out(call.out, ops::reduce::name_of(op));
  Array result = reduced(op, call, array, out);
  return out ? Py_NewRef(call.out) : wrap(std::move(result));
}

// ---- one function for each list of parameters

template <Operation op>
PyObject* sum_like(PyObject* a, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims,
                   PyObject* initial, PyObject* where) {
  return reduce_call(op, {a, axis, dtype, out, keepdims, initial, where, {}, {}, {}});
}

template <Operation op>
PyObject* min_like(PyObject* a, PyObject* axis, PyObject* out, PyObject* keepdims,
                   PyObject* initial, PyObject* where) {
  return reduce_call(op, {a, axis, {}, out, keepdims, initial, where, {}, {}, {}});
}

template <Operation op>
PyObject* any_like(PyObject* a, PyObject* axis, PyObject* out, PyObject* keepdims,
                   PyObject* where) {
  return reduce_call(op, {a, axis, {}, out, keepdims, {}, where, {}, {}, {}});
}

PyObject* mean_call(PyObject* a, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* keepdims,
                    PyObject* where) {
  return reduce_call(Operation::mean, {a, axis, dtype, out, keepdims, {}, where, {}, {}, {}});
}

template <Operation op>
PyObject* var_like(PyObject* a, PyObject* axis, PyObject* dtype, PyObject* out, PyObject* ddof,
                   PyObject* keepdims, PyObject* where, PyObject* mean, PyObject* correction) {
  return reduce_call(op, {a, axis, dtype, out, keepdims, {}, where, ddof, mean, correction});
}

PyObject* ptp_call(PyObject* a, PyObject* axis, PyObject* out, PyObject* keepdims) {
  return reduce_call(Operation::ptp, {a, axis, {}, out, keepdims, {}, {}, {}, {}, {}});
}

// One axis, or none for the flattened array, which need not be created: indices count in C order.
template <Operation op>
PyObject* argmin_like(PyObject* a, PyObject* axis, PyObject* out, PyObject* keepdims) {
  if (given(axis) && PyTuple_Check(axis))
    throw py::type_error("argmin and argmax take one axis or None, not a tuple");
  return reduce_call(op, {a, axis, {}, out, keepdims, {}, {}, {}, {}, {}});
}

PyObject* count_nonzero_call(PyObject* a, PyObject* axis, PyObject* keepdims) {
  if (!given(axis) && !truth_or(keepdims, false) && is_array(a))
    if (const auto total = ops::reduce::try_count_nonzero(array_in(a))) {
      const Array result = empty(Shape{}, int64, array_in(a).device());
      *static_cast<std::int64_t*>(result.data()) = *total;
      return wrap(result);
    }
  const ReduceCall call{a, axis, {}, {}, keepdims, {}, {}, {}, {}, {}};
  if (is_variable(a)) return reduce_variable(Operation::count_nonzero, call);
  return wrap(reduced(Operation::count_nonzero, call, reduce_input(a), {}));
}

template <Operation op>
PyObject* scan_like(PyObject* a, PyObject* axis, PyObject* dtype, PyObject* out) {
  if (is_variable(a))
    return scan_variable(op == Operation::sum ? "cumsum" : "cumprod", variable_in(a), axis, dtype,
                         out);
  Array array = reduce_input(a);
  int along = 0;
  if (given(axis) && array.rank() > 0)
    along = array.layout().normalise_axis(integer_from(axis));
  else if (given(axis) && (integer_from(axis) < -1 || integer_from(axis) > 0))
    array.layout().normalise_axis(integer_from(axis));  // throws
  const auto target = reduce_out(out, op == Operation::sum ? "cumsum" : "cumprod");
  const std::optional<DType> requested =
      given(dtype) ? std::optional(dtype_from(dtype)) : std::nullopt;
  const bool flattens = !given(axis) || array.rank() == 0;
  Array result = without_gil(is_long(array), [&] {
    if (flattens && array.rank() != 1) array = reshape(array, Shape{array.size()});
    return ops::reduce::scan(op, array, along, requested, target ? &target->array() : nullptr);
  });
  return target ? Py_NewRef(out) : wrap(std::move(result));
}

#define SW_SUM_LIKE "axis=None, dtype=None, out=None, keepdims=False, initial="
#define SW_MIN_LIKE "axis=None, out=None, keepdims=False, initial=None, where=True"
#define SW_ANY_LIKE "axis=None, out=None, keepdims=False, *, where=True"
#define SW_MEAN_LIKE "axis=None, dtype=None, out=None, keepdims=False, *, where=True"
#define SW_VAR_LIKE                                                                     \
  "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, " \
  "correction=None"
#define SW_ARG_LIKE "axis=None, out=None, *, keepdims=False"
#define SW_SCAN_LIKE "axis=None, dtype=None, out=None"

// F(function, name, parameters after the array, docstring)
#define SW_METHODS(F)                                                                             \
  F(sum_like<Operation::sum>, "sum", SW_SUM_LIKE "0, where=True",                                 \
    "The sum over the axes; integers in 64 bits, float32 and narrower as exactly as float64.")    \
  F(sum_like<Operation::prod>, "prod", SW_SUM_LIKE "1, where=True", "The product over the axes.") \
  F(min_like<Operation::min>, "min", SW_MIN_LIKE,                                                 \
    "The smallest element over the axes; NaN where one is.")                                      \
  F(min_like<Operation::max>, "max", SW_MIN_LIKE,                                                 \
    "The largest element over the axes; NaN where one is.")                                       \
  F(any_like<Operation::any>, "any", SW_ANY_LIKE,                                                 \
    "Whether any element over the axes is not zero.")                                             \
  F(any_like<Operation::all>, "all", SW_ANY_LIKE, "Whether no element over the axes is zero.")    \
  F(mean_call, "mean", SW_MEAN_LIKE, "The mean over the axes; of integers as float64.")           \
  F(var_like<Operation::var>, "var", SW_VAR_LIKE,                                                 \
    "The variance over the axes, divided by n - ddof.")                                           \
  F(var_like<Operation::std>, "std", SW_VAR_LIKE, "The root of the variance over the axes.")      \
  F(argmin_like<Operation::argmin>, "argmin", SW_ARG_LIKE,                                        \
    "The index of the first smallest element.")                                                   \
  F(argmin_like<Operation::argmax>, "argmax", SW_ARG_LIKE,                                        \
    "The index of the first largest element.")                                                    \
  F(scan_like<Operation::sum>, "cumsum", SW_SCAN_LIKE,                                            \
    "The sums of each element and those before it.")                                              \
  F(scan_like<Operation::prod>, "cumprod", SW_SCAN_LIKE,                                          \
    "The products of each element and those before it.")

// NOLINTBEGIN(bugprone-macro-parentheses): literals are joined
#define SW_METHOD(function, name, parameters, doc) \
  declared<name "($self, " parameters ")", doc, &function>(),
#define SW_FUNCTION(function, name, parameters, doc) \
  declared<name "(a, " parameters ")", doc, &function>(),
// NOLINTEND(bugprone-macro-parentheses)

PyMethodDef reduce_methods[] = {SW_METHODS(SW_METHOD){nullptr, nullptr, 0, nullptr}};

PyMethodDef reduce_functions[] = {
    SW_METHODS(SW_FUNCTION) SW_FUNCTION(min_like<Operation::min>, "amin", SW_MIN_LIKE,
                                        "The same as min().")
        SW_FUNCTION(min_like<Operation::max>, "amax", SW_MIN_LIKE, "The same as max().")
            SW_FUNCTION(sum_like<Operation::nansum>, "nansum", SW_SUM_LIKE "0, where=True",
                        "The sum over the axes of the elements that are not NaN.")
                SW_FUNCTION(ptp_call, "ptp", "axis=None, out=None, keepdims=False",
                            "The largest element minus the smallest, over the axes.")
                    SW_FUNCTION(count_nonzero_call, "count_nonzero", "axis=None, *, keepdims=False",
                                "The number of elements over the axes that are not zero."){
                        nullptr, nullptr, 0, nullptr}};

#undef SW_ANY_LIKE
#undef SW_FUNCTION
#undef SW_MEAN_LIKE
#undef SW_METHOD
#undef SW_METHODS
#undef SW_MIN_LIKE
#undef SW_ARG_LIKE
#undef SW_SCAN_LIKE
#undef SW_SUM_LIKE
#undef SW_VAR_LIKE

}  // namespace

SW_BIND(reductions, array_type) {
  add_array_methods(reduce_methods);
  add_functions(module, reduce_functions);
}

SW_BIND(reductions_of_variables, graph_variable) { add_variable_methods(reduce_methods); }

}  // namespace spanwise::python
