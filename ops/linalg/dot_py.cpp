// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "factors_py.hpp"
#include "product.hpp"
#include "python/graph/variable.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/declared.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"

/// dot, inner and vdot.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::linalg::ProductKind;

// multiply(left, right, out)
PyObject* multiply(py::handle left, py::handle right, PyObject* out = Py_None) {
  const py::object function = py::module_::import("spanwise._core").attr("multiply");
  return function(left, right, py::handle(out)).release().ptr();
}

// As in NumPy, a Python number is not a weak scalar here: it becomes an array of rank 0 on the
// other factor's device.
PyObject* multiply_by_number(const Factors& factors, PyObject* out) {
  return multiply(object_of(factors.left()), object_of(factors.right()),
                  given(out) ? out : Py_None);
}

int rank_of_operand(PyObject* operand) {
  return is_variable(operand) ? variable_in(operand).type().rank() : import_array(operand).rank();
}

// Of variables, dot takes matrices, vectors and numbers only.
PyObject* dot_of_variables(PyObject* a, PyObject* b, bool has_out) {
  const int left = rank_of_operand(a), right = rank_of_operand(b);
  if (left == 0 || right == 0) return multiply(a, b);
  if (left > 2 || right > 2)
    fail<GraphError>("dot: variables of rank ", left, " and ", right,
                     "; expected at most 2. Use @ (matmul), which takes batches");
  return apply_matmul("dot", a, b, has_out);
}

// Sums over the last axis of the left factor and `right_axis` of the right one; the result has
// left's other axes, then right's.
Array summed_over(const char* caller, const Factors& factors, int right_axis) {
  const Array &left = factors.left(), &right = factors.right();
  const int left_axis = left.rank() - 1;
  const GilRelease unlocked(is_long(left, right));
  return ops::linalg::contract(caller, left, right, {{}, {}, {&left_axis, 1}, {&right_axis, 1}});
}

PyObject* dot_call(PyObject* a, PyObject* b, PyObject* out) {
  if (is_variable(a) || is_variable(b)) return dot_of_variables(a, b, given(out));
  const Factors factors(a, b);
  const Array &left = factors.left(), &right = factors.right();
  if (left.rank() == 0 || right.rank() == 0) return multiply_by_number(factors, out);
  const std::int64_t depth = left.shape().back();
  const int axis = std::max(right.rank() - 2, 0);
  if (depth != right.shape()[axis])
    fail<LayoutError>("dot: shapes ", left.shape(), " and ", right.shape(), " not aligned: ", depth,
                      " (dim ", left.rank() - 1, ") != ", right.shape()[axis], " (dim ", axis, ")");
  const bool is_matmul = left.rank() <= 2 && right.rank() <= 2;
  if (!given(out)) {
    if (is_matmul) return wrap(product_unlocked(ProductKind::matmul, factors, {}));
    return wrap(summed_over("dot", factors, axis));
  }
  const Array target = writable_array(out);
  const DType dtype =
      left.dtype() == right.dtype() ? left.dtype() : promote(left.dtype(), right.dtype());
  const int rank = left.rank() + right.rank() - 2;
  if (target.dtype() != dtype || target.rank() != rank)
    fail<ArgumentError>("dot: output array is not acceptable: expected ", dtype, " of rank ", rank,
                        ", got ", target);
  if (is_matmul) {
    product_unlocked(ProductKind::matmul, factors, {.out = &target});
    return Py_NewRef(out);
  }
  const Array result = summed_over("dot", factors, axis);
  if (result.shape() != target.shape())
    fail<LayoutError>("dot: the result has shape ", result.shape(), ", got an out of shape ",
                      target.shape());
  const GilRelease unlocked(is_long(target));
  copy(result, target);
  return Py_NewRef(out);
}

PyObject* inner_call(PyObject* a, PyObject* b) {
  const Factors factors(a, b);
  const Array &left = factors.left(), &right = factors.right();
  if (left.rank() == 0 || right.rank() == 0) return multiply_by_number(factors, nullptr);
  return wrap(summed_over("inner", factors, right.rank() - 1));
}

PyObject* vdot_call(PyObject* a, PyObject* b) {
  const Factors factors(a, b);
  const Array &left = factors.left(), &right = factors.right();
  if (left.size() != right.size())
    fail<LayoutError>("vdot: expected arrays of one size, got shapes ", left.shape(), " and ",
                      right.shape(), "; slice or reshape one of them");
  return wrap(without_gil(is_long(left, right), [&] {
    // Without reshape() for vectors, the usual case.
    if (left.rank() == 1 && right.rank() == 1)
      return ops::linalg::multiply(ProductKind::vecdot, left, right);
    return ops::linalg::multiply(ProductKind::vecdot, reshape(left, Shape{left.size()}),
                                 reshape(right, Shape{right.size()}));
  }));
}

PyMethodDef dot_functions[] = {
    declared<"dot(a, b, out=None)",
             "The sum over a's last axis and b's last but one, as numpy.dot.", &dot_call>(),
    declared<"inner(a, b)", "The sum over the last axis of both, as numpy.inner.", &inner_call>(),
    declared<"vdot(a, b)",
             "The sum of conj(a) * b over all elements, both flattened; as numpy.vdot.",
             &vdot_call>(),
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef dot_methods[] = {
    declared<"dot($self, b, out=None)", "spanwise.dot(self, b, out).", &dot_call>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(dot_products, array_type) {
  add_array_methods(dot_methods);
  add_functions(module, dot_functions);
}

}  // namespace spanwise::python
