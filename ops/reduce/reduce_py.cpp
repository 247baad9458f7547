// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <optional>
#include <utility>

#include "python/graph/variable.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/declared.hpp"
#include "reduce.hpp"
#include "reduce_call_py.hpp"
#include "spanwise/runtime/creation.hpp"

/// sum, prod, min, ... as functions that take any library's array or a variable of a graph, and as
/// methods of both: the same code, the array being the first argument or `self`.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::reduce::Operation;

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
  const std::optional<Array> target = reduce_out(out);
  const std::optional<DType> requested =
      given(dtype) ? std::optional(dtype_from(dtype)) : std::nullopt;
  const bool flattens = !given(axis) || array.rank() == 0;
  Array result = without_gil(is_long(array), [&] {
    if (flattens && array.rank() != 1) array = reshape(array, Shape{array.size()});
    return ops::reduce::scan(op, array, along, requested, target ? &*target : nullptr);
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
