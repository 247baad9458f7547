// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/graph/variable.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "python/support/scalar.hpp"
#include "reduce.hpp"
#include "reduce_op.hpp"
#include "spanwise/axis_error.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"

/// sum, prod, min, ... as functions that take any library's array or a variable of a graph, and as
/// methods of both: the same code, the array being the first argument or `self`.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::reduce::AxisSet;
using ops::reduce::Op;
using ops::reduce::Options;

/// The arguments of a call, null where absent.
struct ReduceCall {
  PyObject *array, *axis, *dtype, *out, *keepdims, *initial, *where, *ddof, *mean, *correction;
};

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
    const int place = normalise(integer_from(PyTuple_GET_ITEM(axis, i)));
    if (axes[static_cast<std::size_t>(place)])
      fail<ArgumentError>("duplicate value in 'axis': ", std::string(py::repr(axis)));
    axes.set(static_cast<std::size_t>(place));
  }
  return axes;
}

Array reduce_input(PyObject* object) {
  return is_array(object) ? array_in(object) : import_array(object);
}

std::optional<Array> reduce_out(PyObject* out) {
  if (!given(out)) return {};
  return writable_array(out);
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

// Releases the GIL, except for small work on the CPU, which takes less time than that.
template <class F>
Array reduce_unlocked(const Array& array, F&& f) {
  const Unlocked unlocked(array.device(), array.nbytes());
  return f();
}

Array reduced(Op op, const ReduceCall& call, const Array& array, const std::optional<Array>& out) {
  Options options;
  options.axes = reduce_axes_in(array.rank(), call.axis, [&](std::int64_t axis) {
    return array.layout().normalise_axis(axis);
  });
  options.keepdims = truth_in(call.keepdims, false);
  if (given(call.dtype)) options.dtype = dtype_from(call.dtype);
  if (out) options.out = &*out;
  if (given(call.initial))
    options.initial = reduce_initial_in(
        call.initial, ops::reduce::result_dtype(op, array.dtype(), options.dtype));
  const std::optional<Array> mask = reduce_mask(call.where, array.device());
  if (mask) options.where = &*mask;
  std::optional<Array> mean;
  if (given(call.mean)) options.mean = &mean.emplace(reduce_input(call.mean));
  options.correction = reduce_correction_in(call);
  return reduce_unlocked(array, [&] { return ops::reduce::reduce(op, array, options); });
}

// ---- variables of graphs

PyObject* reduce_variable(Op op, const ReduceCall& call) {
  const char* who = ops::reduce::name_of(op);
  const bool has_mask = given(call.where) && call.where != Py_True;
  if (given(call.out) || given(call.initial) || has_mask || given(call.mean))
    fail<GraphError>(who,
                     ": out=, initial=, where= and mean= are for arrays; of a variable "
                     "choose elements by T.where()");
  const Variable& variable = variable_in(call.array);
  const int rank = variable.type().rank();
  Options options;
  options.axes = reduce_axes_in(rank, call.axis,
                                [&](std::int64_t axis) { return variable_axis(variable, axis); });
  options.keepdims = truth_in(call.keepdims, false);
  if (given(call.dtype)) options.dtype = dtype_from(call.dtype);
  options.correction = reduce_correction_in(call);
  const OpProperties properties = ops::reduce::properties_for(op, rank, options);
  return wrap_variable(apply_op(who, properties, std::span(&variable, 1)));
}

// Flattens the variable if no axis is given, as NumPy does.
PyObject* scan_variable(const char* who, const Variable& given_variable, PyObject* axis,
                        PyObject* dtype, PyObject* out) {
  if (given(out)) fail<GraphError>(who, ": out= is for arrays; a variable has no memory yet");
  Variable variable = given_variable;
  const bool flattens = !given(axis) || variable.type().rank() == 0;
  const int along = flattens ? 0 : variable_axis(variable, integer_from(axis));
  if (flattens && variable.type().rank() != 1)
    variable =
        apply_op("reshape", {{"shape", std::vector<std::int64_t>{-1}}}, std::span(&variable, 1));
  OpProperties properties{{"axis", std::vector<std::int64_t>{along}}};
  if (given(dtype)) properties.emplace("dtype", text(dtype_from(dtype)));
  return wrap_variable(apply_op(who, properties, std::span(&variable, 1)));
}

PyObject* reduce_call(Op op, const ReduceCall& call) {
  if (is_variable(call.array)) return reduce_variable(op, call);
  const Array array = reduce_input(call.array);
  const std::optional<Array> out = reduce_out(call.out);
  Array result = reduced(op, call, array, out);
  return out ? Py_NewRef(call.out) : wrap(std::move(result));
}

// ---- one function for each list of parameters

template <Op op>
PyObject* sum_like(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<7> signature{
      op == Op::sum    ? "sum"
      : op == Op::prod ? "prod"
                       : "nansum",
      {"a", "axis", "dtype", "out", "keepdims", "initial", "where"},
      1,
      7};
  const auto [a, axis, dtype, out, keepdims, initial, where] = signature.read(values, count, words);
  return reduce_call(op, {a, axis, dtype, out, keepdims, initial, where, {}, {}, {}});
}

template <Op op>
PyObject* min_like(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<6> signature{
      op == Op::min ? "min" : "max", {"a", "axis", "out", "keepdims", "initial", "where"}, 1, 6};
  const auto [a, axis, out, keepdims, initial, where] = signature.read(values, count, words);
  return reduce_call(op, {a, axis, {}, out, keepdims, initial, where, {}, {}, {}});
}

template <Op op>
PyObject* any_like(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<5> signature{
      op == Op::any ? "any" : "all", {"a", "axis", "out", "keepdims", "where"}, 1, 4};
  const auto [a, axis, out, keepdims, where] = signature.read(values, count, words);
  return reduce_call(op, {a, axis, {}, out, keepdims, {}, where, {}, {}, {}});
}

PyObject* mean_call(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<6> signature{
      "mean", {"a", "axis", "dtype", "out", "keepdims", "where"}, 1, 5};
  const auto [a, axis, dtype, out, keepdims, where] = signature.read(values, count, words);
  return reduce_call(Op::mean, {a, axis, dtype, out, keepdims, {}, where, {}, {}, {}});
}

template <Op op>
PyObject* var_like(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<9> signature{
      op == Op::var ? "var" : "std",
      {"a", "axis", "dtype", "out", "ddof", "keepdims", "where", "mean", "correction"},
      1,
      6};
  const auto [a, axis, dtype, out, ddof, keepdims, where, mean, correction] =
      signature.read(values, count, words);
  return reduce_call(op, {a, axis, dtype, out, keepdims, {}, where, ddof, mean, correction});
}

PyObject* ptp_call(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<4> signature{"ptp", {"a", "axis", "out", "keepdims"}, 1, 4};
  const auto [a, axis, out, keepdims] = signature.read(values, count, words);
  return reduce_call(Op::ptp, {a, axis, {}, out, keepdims, {}, {}, {}, {}, {}});
}

// One axis, or none for the flattened array, which need not be created: indices count in C order.
template <Op op>
PyObject* argmin_like(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<4> signature{
      op == Op::argmin ? "argmin" : "argmax", {"a", "axis", "out", "keepdims"}, 1, 3};
  const auto [a, axis, out, keepdims] = signature.read(values, count, words);
  if (given(axis) && PyTuple_Check(axis))
    throw py::type_error("argmin and argmax take one axis or None, not a tuple");
  return reduce_call(op, {a, axis, {}, out, keepdims, {}, {}, {}, {}, {}});
}

PyObject* count_nonzero_call(PyObject*, PyObject* const* values, Py_ssize_t count,
                             PyObject* words) {
  static constexpr Signature<3> signature{"count_nonzero", {"a", "axis", "keepdims"}, 1, 2};
  const auto [a, axis, keepdims] = signature.read(values, count, words);
  if (!given(axis) && !truth_in(keepdims, false) && is_array(a))
    if (const auto total = ops::reduce::count_at_once(array_in(a))) {
      const Array result = empty(Shape{}, int64, array_in(a).device());
      *static_cast<std::int64_t*>(result.data()) = *total;
      return wrap(result);
    }
  const ReduceCall call{a, axis, {}, {}, keepdims, {}, {}, {}, {}, {}};
  if (is_variable(a)) return reduce_variable(Op::count_nonzero, call);
  return wrap(reduced(Op::count_nonzero, call, reduce_input(a), {}));
}

template <Op op>
PyObject* scan_like(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<4> signature{
      op == Op::sum ? "cumsum" : "cumprod", {"a", "axis", "dtype", "out"}, 1, 4};
  const auto [a, axis, dtype, out] = signature.read(values, count, words);
  if (is_variable(a)) return scan_variable(signature.who, variable_in(a), axis, dtype, out);
  Array array = reduce_input(a);
  int along = 0;
  if (given(axis) && array.rank() > 0)
    along = array.layout().normalise_axis(integer_from(axis));
  else if (given(axis) && (integer_from(axis) < -1 || integer_from(axis) > 0))
    array.layout().normalise_axis(integer_from(axis));  // throws
  const std::optional<Array> target = reduce_out(out);
  const std::optional<DType> wanted =
      given(dtype) ? std::optional(dtype_from(dtype)) : std::nullopt;
  const bool flattens = !given(axis) || array.rank() == 0;
  Array result = reduce_unlocked(array, [&] {
    if (flattens && array.rank() != 1) array = reshape(array, Shape{array.size()});
    return ops::reduce::scan(op, array, along, wanted, target ? &*target : nullptr);
  });
  return target ? Py_NewRef(out) : wrap(std::move(result));
}

// The method for a function: self is the first argument.
template <FastCall function>
PyObject* of_self(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  constexpr Py_ssize_t most = 15;
  const Py_ssize_t all = count + (words != nullptr ? PyTuple_GET_SIZE(words) : 0);
  if (all > most) throw py::type_error("a reduction takes at most 9 arguments");
  std::array<PyObject*, most + 1> shifted;
  shifted[0] = self;
  std::copy_n(values, all, shifted.begin() + 1);
  return function(nullptr, shifted.data(), count + 1, words);
}

#define SW_SUM_LIKE "axis=None, dtype=None, out=None, keepdims=False, initial="
#define SW_MIN_LIKE "axis=None, out=None, keepdims=False, initial=None, where=True"
#define SW_ANY_LIKE "axis=None, out=None, keepdims=False, *, where=True"
#define SW_MEAN_LIKE "axis=None, dtype=None, out=None, keepdims=False, *, where=True"
#define SW_VAR_LIKE                                                                     \
  "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, " \
  "correction=None"
#define SW_PLACE_LIKE "axis=None, out=None, *, keepdims=False"
#define SW_SCAN_LIKE "axis=None, dtype=None, out=None"

// F(function, name, parameters after the array, docstring)
#define SW_METHODS(F)                                                                              \
  F(sum_like<Op::sum>, "sum", SW_SUM_LIKE "0, where=True",                                         \
    "The sum over the axes; integers in 64 bits, float32 and narrower as exactly as float64.")     \
  F(sum_like<Op::prod>, "prod", SW_SUM_LIKE "1, where=True", "The product over the axes.")         \
  F(min_like<Op::min>, "min", SW_MIN_LIKE,                                                         \
    "The smallest element over the axes; NaN where one is.")                                       \
  F(min_like<Op::max>, "max", SW_MIN_LIKE, "The largest element over the axes; NaN where one is.") \
  F(any_like<Op::any>, "any", SW_ANY_LIKE, "Whether any element over the axes is not zero.")       \
  F(any_like<Op::all>, "all", SW_ANY_LIKE, "Whether no element over the axes is zero.")            \
  F(mean_call, "mean", SW_MEAN_LIKE, "The mean over the axes; of integers as float64.")            \
  F(var_like<Op::var>, "var", SW_VAR_LIKE, "The variance over the axes, divided by n - ddof.")     \
  F(var_like<Op::std>, "std", SW_VAR_LIKE, "The root of the variance over the axes.")              \
  F(argmin_like<Op::argmin>, "argmin", SW_PLACE_LIKE, "Where the smallest element stands first.")  \
  F(argmin_like<Op::argmax>, "argmax", SW_PLACE_LIKE, "Where the largest element stands first.")   \
  F(scan_like<Op::sum>, "cumsum", SW_SCAN_LIKE, "Each element with the sum of those before it.")   \
  F(scan_like<Op::prod>, "cumprod", SW_SCAN_LIKE, "Each element times those before it.")

#define SW_METHOD(function, name, parameters, words) \
  method<&of_self<&(function)>>(name, name "($self, " parameters ")\n--\n\n" words),
#define SW_FUNCTION(function, name, parameters, words) \
  method<&(function)>(name, name "(a, " parameters ")\n--\n\n" words),

PyMethodDef reduce_methods[] = {SW_METHODS(SW_METHOD){nullptr, nullptr, 0, nullptr}};

PyMethodDef reduce_functions[] = {
    SW_METHODS(SW_FUNCTION)
        SW_FUNCTION(min_like<Op::min>, "amin", SW_MIN_LIKE, "min() by its other name.") SW_FUNCTION(
            min_like<Op::max>, "amax", SW_MIN_LIKE, "max() by its other name.")
            SW_FUNCTION(sum_like<Op::nansum>, "nansum", SW_SUM_LIKE "0, where=True",
                        "The sum over the axes of what is not NaN.")
                SW_FUNCTION(ptp_call, "ptp", "axis=None, out=None, keepdims=False",
                            "The largest element less the smallest, over the axes.")
                    SW_FUNCTION(count_nonzero_call, "count_nonzero", "axis=None, *, keepdims=False",
                                "How many elements over the axes are not zero."){nullptr, nullptr,
                                                                                 0, nullptr}};

#undef SW_ANY_LIKE
#undef SW_FUNCTION
#undef SW_MEAN_LIKE
#undef SW_METHOD
#undef SW_METHODS
#undef SW_MIN_LIKE
#undef SW_PLACE_LIKE
#undef SW_SCAN_LIKE
#undef SW_SUM_LIKE
#undef SW_VAR_LIKE

}  // namespace

SW_BIND(reductions, 64) {
  add_array_methods(reduce_methods);
  add_functions(module, reduce_functions);
}

SW_BIND(reductions_of_variables, 88) { add_variable_methods(reduce_methods); }

}  // namespace spanwise::python
