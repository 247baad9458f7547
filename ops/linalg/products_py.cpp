// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>
#include <vector>

#include "factors_py.hpp"
#include "product.hpp"
#include "python/array/order.hpp"
#include "python/interop/foreign_operands.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "python/support/declared.hpp"
#include "python/support/dtype.hpp"
#include "python/support/operators.hpp"
#include "spanwise/core/error.hpp"

/// matmul, vecdot, matvec, vecmat, the operator @, and the contraction that tensordot and einsum
/// call.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::linalg::ProductKind;
using ops::linalg::ProductOptions;
using ops::linalg::ResultLayout;

py::object linalg_function(const char* name) {
  return py::module_::import("spanwise._numpy.linalg").attr(name);
}

constexpr const char* product_names[] = {"matmul", "vecdot", "matvec", "vecmat"};

// A Python function moves other axes than the last ones to the end.
PyObject* call_with_axes(ProductKind product, PyObject* const* values, Py_ssize_t count,
                         PyObject* kwnames) {
  py::list arguments;
  arguments.append(product_names[static_cast<int>(product)]);
  for (Py_ssize_t i = 0; i < count; ++i) arguments.append(py::handle(values[i]));
  py::dict named;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); ++i)
    named[py::handle(PyTuple_GET_ITEM(kwnames, i))] = py::handle(values[count + i]);
  return linalg_function("along_axes")(*arguments, **named).release().ptr();
}

ResultLayout layout_of_result(PyObject* order, const Factors& factors) {
  const Array* const operands[] = {&factors.left(), &factors.right()};
  switch (resolved_order(order_or(order, ArrayOrder::k), operands)) {
    case ArrayOrder::c:
      return ResultLayout::rows;
    case ArrayOrder::f:
      return ResultLayout::columns;
    default:
      return ResultLayout::as_operands;
  }
}

template <ProductKind product>
PyObject* product_call(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  // subok= is ignored, as in elementwise operations: there are no subclasses.
  static constexpr CallSignature<10> signature{
      product_names[static_cast<int>(product)],
      {"x1", "x2", "out", "casting", "order", "dtype", "axes", "axis", "keepdims", "subok"},
      2,
      3};
  const auto [x1, x2, out, casting, order, dtype, axes, axis, keepdims, subok] =
      signature.read(values, count, kwnames);
  if (product == ProductKind::matmul) {
    const bool has_options =
        given(out) || given(casting) || given(order) || given(dtype) || given(axes);
    if (PyObject* node = apply_matmul("matmul", x1, x2, has_options)) return node;
  }
  if (given(axes) || given(axis) || truth_or(keepdims, false))
    return call_with_axes(product, values, count, kwnames);
  const Factors factors(x1, x2);
  ProductOptions options;
  if (given(casting)) options.casting = casting_from(casting);
  if (given(dtype)) options.dtype = dtype_from(dtype);
  if (given(order)) options.layout = layout_of_result(order, factors);
  if (!given(out)) return wrap(product_unlocked(product, factors, options));
  PyObject* single = out;
  if (PyTuple_Check(out)) {
    if (PyTuple_GET_SIZE(out) != 1)
      throw py::value_error(text(signature.caller, ": out= must hold one array, got a tuple of ",
                                 PyTuple_GET_SIZE(out)));
    single = PyTuple_GET_ITEM(out, 0);
  }
  const Array target = writable_array(single);
  options.out = &target;
  product_unlocked(product, factors, options);
  return Py_NewRef(single);
}

// ---- contractions

std::vector<int> normalized_axes(PyObject* sequence, const Array& array) {
  if (!PyTuple_Check(sequence)) throw py::type_error("_contract: axes come as tuples");
  std::vector<int> axes(static_cast<std::size_t>(PyTuple_GET_SIZE(sequence)));
  for (std::size_t i = 0; i < axes.size(); ++i)
    axes[i] = array.layout().normalise_axis(
        integer_from(PyTuple_GET_ITEM(sequence, static_cast<Py_ssize_t>(i))));
  return axes;
}

PyObject* contract_call(PyObject* name, PyObject* a, PyObject* b, PyObject* batch_of_a,
                        PyObject* batch_of_b, PyObject* sum_of_a, PyObject* sum_of_b) {
  const Factors factors(a, b);
  const Array &left = factors.left(), &right = factors.right();
  const std::vector<int> left_batch = normalized_axes(batch_of_a, left),
                         right_batch = normalized_axes(batch_of_b, right);
  const std::vector<int> left_sum = normalized_axes(sum_of_a, left),
                         right_sum = normalized_axes(sum_of_b, right);
  if (left_batch.size() != right_batch.size() || left_sum.size() != right_sum.size())
    fail<ArgumentError>("_contract: expected as many axes of the left array as of the right one");
  const char* caller = text_in(name).data();
  return wrap(without_gil(is_long(left, right), [&] {
    return ops::linalg::contract(caller, left, right,
                                 {left_batch, right_batch, left_sum, right_sum});
  }));
}

// ---- the operator

bool declines_product(PyObject* object, bool in_place = false) {
  return !is_array(object) && declines_operand(object, in_place);
}

PyObject* matmul_operator(PyObject* left, PyObject* right) noexcept {
  try {
    if (declines_product(left) || declines_product(right)) Py_RETURN_NOTIMPLEMENTED;
    return wrap(product_unlocked(ProductKind::matmul, Factors(left, right), {}));
  } catch (const BridgeError&) {
    Py_RETURN_NOTIMPLEMENTED;
  } catch (...) {
    return raise_current();
  }
}

PyObject* matmul_in_place(PyObject* self, PyObject* other) noexcept {
  try {
    if (declines_product(other, /*in_place=*/true)) Py_RETURN_NOTIMPLEMENTED;
    const Factors factors(self, other);
    if (factors.left().rank() < 1 || factors.right().rank() < 2)
      fail<LayoutError>(
          "matmul: inplace matrix multiplication requires the first operand to have "
          "at least one and the second at least two dimensions, got shapes ",
          factors.left().shape(), " and ", factors.right().shape());
    const Array& target = factors.left();
    // Batch axes of the second operand would add axes to the result.
    if (factors.right().rank() > std::max(factors.left().rank(), 2))
      fail<LayoutError>("matmul: the result of shapes ", factors.left().shape(), " and ",
                        factors.right().shape(),
                        " does not fit into the first operand; write a = a @ b");
    product_unlocked(ProductKind::matmul, factors, {.out = &target});
    return Py_NewRef(self);
  } catch (const BridgeError&) {
    Py_RETURN_NOTIMPLEMENTED;
  } catch (...) {
    return raise_current();
  }
}

#define SW_PRODUCT \
  "(x1, x2, /, out=None, *, casting='same_kind', order='K', dtype=None, axes=None)\n--\n\n"

PyMethodDef product_functions[] = {
    method<&product_call<ProductKind::matmul>>(
        "matmul",
        "matmul" SW_PRODUCT "The matrix product over the last two axes, as numpy.matmul."),
    method<&product_call<ProductKind::vecdot>>(
        "vecdot",
        "vecdot(x1, x2, /, out=None, *, casting='same_kind', order='K', dtype=None, axes=None, "
        "axis=-1, keepdims=False)\n--\n\nThe sum of conj(x1) * x2 along an axis, as numpy.vecdot."),
    method<&product_call<ProductKind::matvec>>(
        "matvec", "matvec" SW_PRODUCT "The products of matrices and vectors, as numpy.matvec."),
    method<&product_call<ProductKind::vecmat>>(
        "vecmat",
        "vecmat" SW_PRODUCT "The products of conjugated vectors and matrices, as numpy.vecmat."),
    declared<"_contract(caller, left, right, left_batch, right_batch, left_sum, right_sum)",
             "The sums over left_sum and right_sum, with the axes (batch..., left's others..., "
             "right's others...).",
             &contract_call>(),
    {nullptr, nullptr, 0, nullptr}};

#undef SW_PRODUCT

}  // namespace

SW_BIND(products) {
  add_functions(module, product_functions);
  products_of_arrays = {&matmul_operator, &matmul_in_place};
}

}  // namespace spanwise::python
