// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "product.hpp"
#include "python/array/array_copies.hpp"
#include "python/array/array_hooks.hpp"
#include "python/array/array_object.hpp"
#include "python/dtype_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/interop/foreign_operands.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"

/// matmul, vecdot, matvec, vecmat, the operator @, dot, inner, vdot, and the contraction that
/// tensordot and einsum call.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::linalg::ProductKind;
using ops::linalg::ProductOptions;
using ops::linalg::ResultLayout;

/// Two operands as arrays, on the devices that import_operands() determines.
class Factors {
 public:
  Factors(PyObject* left, PyObject* right) {
    PyObject* const operands[] = {left, right};
    import_operands(operands, [&](std::size_t i, const ImportOptions& options) {
      if (is_array(operands[i]))
        arrays_[i] = &array_in(operands[i]);
      else
        arrays_[i] = &imported_[i].emplace(import_array(operands[i], options));
      return arrays_[i]->device();
    });
  }
  const Array& left() const noexcept { return *arrays_[0]; }
  const Array& right() const noexcept { return *arrays_[1]; }

 private:
  const Array* arrays_[2] = {};
  std::optional<Array> imported_[2];
};

// The cost of a product, as the number of bytes that a copy would move in the same time: 1/8 byte
// per multiplication, and at least the operands' bytes.
std::int64_t equivalent_bytes(ProductKind product, const Array& left, const Array& right) {
  const bool has_columns =
      right.rank() > 1 && (product == ProductKind::matmul || product == ProductKind::vecmat);
  const double columns = has_columns ? static_cast<double>(right.shape().back()) : 1.0;
  const double products = static_cast<double>(left.size()) * columns;
  const double bytes = static_cast<double>(left.nbytes()) + static_cast<double>(right.nbytes());
  return static_cast<std::int64_t>(std::min(std::max(bytes, products / 8), 1e15));
}

// The product, computed without the GIL unless it is short.
Array product_unlocked(ProductKind product, const Factors& factors, const ProductOptions& options) {
  const Array &left = factors.left(), &right = factors.right();
  const GilRelease unlocked(is_long(left.device().is_cpu() ? right.device() : left.device(),
                                    equivalent_bytes(product, left, right)));
  return ops::linalg::multiply(product, left, right, options);
}

// Returns the result of a graph node if an operand is a variable, else null.
PyObject* apply_matmul(const char* caller, PyObject* left, PyObject* right, bool has_options) {
  if (!is_variable(left) && !is_variable(right)) return nullptr;
  if (has_options)
    fail<GraphError>(caller,
                     ": out=, dtype=, order= and axes= are for arrays; a variable has no "
                     "memory yet. Use astype() and transposes");
  const Variable operands[] = {as_variable(left), as_variable(right)};
  return wrap_variable((*ops::linalg::matmul_op())(operands)[0]);
}

// ---- matmul, vecdot, matvec, vecmat

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
  const OutputArray target(single, signature.caller);
  options.out = &target.array();
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

bool declines_product(PyObject* object) { return !is_array(object) && declines_operand(object); }

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
    if (declines_product(other)) Py_RETURN_NOTIMPLEMENTED;
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

// ---- dot, inner and vdot

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
  const OutputArray output(out, "dot");
  const Array& target = output;
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

SW_BIND(products) {
  add_functions(module, product_functions);
  products_of_arrays = {&matmul_operator, &matmul_in_place};
}

SW_BIND(dot_products, array_type) {
  add_array_methods(dot_methods);
  add_functions(module, dot_functions);
}

}  // namespace spanwise::python
