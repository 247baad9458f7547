// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "matmul_op.hpp"
#include "product.hpp"
#include "python/array/order.hpp"
#include "python/graph/variable.hpp"
#include "python/interop/foreign_operands.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"
#include "python/support/operators.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/error.hpp"

/// matmul, vecdot, matvec, vecmat, dot, inner, vdot, the operator @, and the contraction that
/// tensordot and einsum call.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::linalg::ContractedAxes;
using ops::linalg::Product;
using ops::linalg::ProductOptions;
using ops::linalg::ResultLayout;

/// Two operands as arrays. Arrays of any library stay on their device; lists and numbers are copied
/// to the other operand's device.
class Factors {
 public:
  Factors(PyObject* left, PyObject* right) {
    PyObject* const given[] = {left, right};
    ImportOptions options;
    for (const bool listed : {false, true})
      for (std::size_t i = 0; i < 2; ++i) {
        if (is_value(given[i]) != listed) continue;
        if (is_array(given[i]))
          arrays_[i] = &array_in(given[i]);
        else
          arrays_[i] = &imported_[i].emplace(listed ? import_array(given[i], options)
                                                    : import_array(given[i]));
        if (!options.device) options.device = arrays_[i]->device();
      }
  }
  const Array& left() const noexcept { return *arrays_[0]; }
  const Array& right() const noexcept { return *arrays_[1]; }

 private:
  static bool is_value(PyObject* object) noexcept {
    return PyList_Check(object) || PyTuple_Check(object) || PyFloat_Check(object) ||
           PyLong_Check(object) || PyComplex_Check(object);
  }
  const Array* arrays_[2] = {};
  std::optional<Array> imported_[2];
};

Casting product_casting(PyObject* word) {
  static constexpr const char* words[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  for (int i = 0; i < 5; ++i)
    if (PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, words[i]) == 0)
      return static_cast<Casting>(i);
  fail<ArgumentError>(
      "casting: expected \"no\", \"equiv\", \"safe\", \"same_kind\" or \"unsafe\", got ",
      std::string(py::repr(word)));
}

// The cost of a product, as the number of bytes that a copy would move in the same time: 1/8 byte
// per multiplication, and at least the operands' bytes.
std::int64_t weight_of(Product product, const Array& left, const Array& right) {
  const bool has_columns =
      right.rank() > 1 && (product == Product::matmul || product == Product::vecmat);
  const double columns = has_columns ? static_cast<double>(right.shape().back()) : 1.0;
  const double products = static_cast<double>(left.size()) * columns;
  const double bytes = static_cast<double>(left.nbytes()) + static_cast<double>(right.nbytes());
  return static_cast<std::int64_t>(std::min(std::max(bytes, products / 8), 1e15));
}

Array product_unlocked(Product product, const Factors& factors, const ProductOptions& options) {
  const Array &left = factors.left(), &right = factors.right();
  const Unlocked unlocked(left.device().is_cpu() ? right.device() : left.device(),
                          weight_of(product, left, right));
  return ops::linalg::multiply(product, left, right, options);
}

py::object from_linalg_module(const char* name) {
  return py::module_::import("spanwise._numpy.linalg").attr(name);
}

constexpr const char* product_names[] = {"matmul", "vecdot", "matvec", "vecmat"};

// A Python function moves other axes than the last ones to the end.
PyObject* call_with_axes(Product product, PyObject* const* values, Py_ssize_t count,
                         PyObject* words) {
  py::list arguments;
  arguments.append(product_names[static_cast<int>(product)]);
  for (Py_ssize_t i = 0; i < count; ++i) arguments.append(py::handle(values[i]));
  py::dict named;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(words); ++i)
    named[py::handle(PyTuple_GET_ITEM(words, i))] = py::handle(values[count + i]);
  return from_linalg_module("along_axes")(*arguments, **named).release().ptr();
}

// Returns the result of a graph node if an operand is a variable, else null.
PyObject* apply_matmul(const char* who, PyObject* left, PyObject* right, bool has_options) {
  if (!is_variable(left) && !is_variable(right)) return nullptr;
  if (has_options)
    fail<GraphError>(who,
                     ": out=, dtype=, order= and axes= are for arrays; a variable has no "
                     "memory yet. Use astype() and transposes");
  const Variable operands[] = {as_variable(left), as_variable(right)};
  return wrap_variable((*ops::linalg::matmul_op())(operands)[0]);
}

ResultLayout layout_of_result(PyObject* order, const Factors& factors) {
  const Array* const operands[] = {&factors.left(), &factors.right()};
  switch (settled(order_in(order, Order::k), operands)) {
    case Order::c:
      return ResultLayout::rows;
    case Order::f:
      return ResultLayout::columns;
    default:
      return ResultLayout::as_operands;
  }
}

template <Product product>
PyObject* product_call(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  // subok= is ignored, as in elementwise operations: there are no subclasses.
  static constexpr Signature<10> signature{
      product_names[static_cast<int>(product)],
      {"x1", "x2", "out", "casting", "order", "dtype", "axes", "axis", "keepdims", "subok"},
      2,
      3};
  const auto [x1, x2, out, casting, order, dtype, axes, axis, keepdims, subok] =
      signature.read(values, count, words);
  if (product == Product::matmul) {
    const bool has_options =
        given(out) || given(casting) || given(order) || given(dtype) || given(axes);
    if (PyObject* node = apply_matmul("matmul", x1, x2, has_options)) return node;
  }
  if (given(axes) || given(axis) || truth_in(keepdims, false))
    return call_with_axes(product, values, count, words);
  const Factors factors(x1, x2);
  ProductOptions options;
  if (given(casting)) options.casting = product_casting(casting);
  if (given(dtype)) options.dtype = dtype_from(dtype);
  if (given(order)) options.layout = layout_of_result(order, factors);
  if (!given(out)) return wrap(product_unlocked(product, factors, options));
  PyObject* single = out;
  if (PyTuple_Check(out)) {
    if (PyTuple_GET_SIZE(out) != 1)
      throw py::value_error(text(signature.who, ": out= must hold one array, got a tuple of ",
                                 PyTuple_GET_SIZE(out)));
    single = PyTuple_GET_ITEM(out, 0);
  }
  const Array target = writable_array(single);
  options.out = &target;
  product_unlocked(product, factors, options);
  return Py_NewRef(single);
}

// ---- dot

// As in NumPy, a Python number is not a weak scalar here: it becomes an array of rank 0 on the
// other factor's device.
PyObject* multiply_by_number(const Factors& factors, PyObject* out) {
  const py::object core = py::module_::import("spanwise._core");
  py::dict options;
  if (given(out)) options["out"] = py::handle(out);
  const auto left = py::reinterpret_steal<py::object>(wrap(factors.left())),
             right = py::reinterpret_steal<py::object>(wrap(factors.right()));
  return core.attr("multiply")(left, right, **options).release().ptr();
}

int rank_of_operand(PyObject* operand) {
  return is_variable(operand) ? variable_in(operand).type().rank() : import_array(operand).rank();
}

// Variables: only products of matrices and vectors, or by a number.
PyObject* dot_of_variables(PyObject* a, PyObject* b, bool has_out) {
  const int left = rank_of_operand(a), right = rank_of_operand(b);
  if (left == 0 || right == 0)
    return py::module_::import("spanwise._core")
        .attr("multiply")(py::handle(a), py::handle(b))
        .release()
        .ptr();
  if (left > 2 || right > 2)
    fail<GraphError>("dot: variables of rank ", left, " and ", right,
                     "; expected at most 2. Use @ (matmul), which takes batches");
  return apply_matmul("dot", a, b, has_out);
}

// Sums over the last axis of `left` and the last but one of `right`; the result has left's other
// axes, then right's.
Array dot_of_many(const Array& left, const Array& right) {
  const int left_axis = left.rank() - 1, right_axis = std::max(right.rank() - 2, 0);
  const Unlocked unlocked(left, right);
  return ops::linalg::contract("dot", left, right, {{}, {}, {&left_axis, 1}, {&right_axis, 1}});
}

PyObject* dot_call(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<3> signature{"dot", {"a", "b", "out"}, 2, 3};
  const auto [a, b, out] = signature.read(values, count, words);
  if (is_variable(a) || is_variable(b)) return dot_of_variables(a, b, given(out));
  const Factors factors(a, b);
  const Array &left = factors.left(), &right = factors.right();
  if (left.rank() == 0 || right.rank() == 0) return multiply_by_number(factors, out);
  const std::int64_t wanted = left.shape().back();
  const int axis = std::max(right.rank() - 2, 0);
  if (wanted != right.shape()[axis])
    fail<LayoutError>("dot: shapes ", left.shape(), " and ", right.shape(),
                      " not aligned: ", wanted, " (dim ", left.rank() - 1,
                      ") != ", right.shape()[axis], " (dim ", axis, ")");
  const bool is_plain = left.rank() <= 2 && right.rank() <= 2;
  if (!given(out)) {
    if (is_plain) return wrap(product_unlocked(Product::matmul, factors, {}));
    return wrap(dot_of_many(left, right));
  }
  const Array target = writable_array(out);
  const DType dtype =
      left.dtype() == right.dtype() ? left.dtype() : promote(left.dtype(), right.dtype());
  const int rank = left.rank() + right.rank() - 2;
  if (target.dtype() != dtype || target.rank() != rank)
    fail<ArgumentError>("dot: output array is not acceptable: expected ", dtype, " of rank ", rank,
                        ", got ", target);
  if (is_plain) {
    ProductOptions options;
    options.out = &target;
    product_unlocked(Product::matmul, factors, options);
    return Py_NewRef(out);
  }
  const Array made = dot_of_many(left, right);
  if (made.shape() != target.shape())
    fail<LayoutError>("dot: the result has shape ", made.shape(), ", got an out of shape ",
                      target.shape());
  const Unlocked unlocked(target);
  copy(made, target);
  return Py_NewRef(out);
}

PyObject* dot_method(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<2> signature{"dot", {"b", "out"}, 1, 2};
  const auto [b, out] = signature.read(values, count, words);
  PyObject* const all[] = {self, b, out != nullptr ? out : Py_None};
  return dot_call(nullptr, all, 3, nullptr);
}

PyObject* inner_call(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<2> signature{"inner", {"a", "b"}, 2, 2};
  const auto [a, b] = signature.read(values, count, words);
  const Factors factors(a, b);
  const Array &left = factors.left(), &right = factors.right();
  if (left.rank() == 0 || right.rank() == 0) return multiply_by_number(factors, nullptr);
  const int left_axis = left.rank() - 1, right_axis = right.rank() - 1;
  Array result = [&] {
    const Unlocked unlocked(left, right);
    return ops::linalg::contract("inner", left, right, {{}, {}, {&left_axis, 1}, {&right_axis, 1}});
  }();
  return wrap(std::move(result));
}

PyObject* vdot_call(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<2> signature{"vdot", {"a", "b"}, 2, 2};
  const auto [a, b] = signature.read(values, count, words);
  const Factors factors(a, b);
  const Array &left = factors.left(), &right = factors.right();
  if (left.size() != right.size())
    fail<LayoutError>("vdot: expected arrays of one size, got shapes ", left.shape(), " and ",
                      right.shape(), "; cut or reshape one of them");
  Array result = [&] {
    const Unlocked unlocked(left, right);
    // Without reshape() for vectors, the usual case.
    if (left.rank() == 1 && right.rank() == 1)
      return ops::linalg::multiply(Product::vecdot, left, right);
    return ops::linalg::multiply(Product::vecdot, reshape(left, Shape{left.size()}),
                                 reshape(right, Shape{right.size()}));
  }();
  return wrap(std::move(result));
}

// ---- contractions

std::vector<int> axes_in(PyObject* sequence, const Array& array) {
  if (!PyTuple_Check(sequence)) throw py::type_error("_contract: axes come as tuples");
  std::vector<int> axes(static_cast<std::size_t>(PyTuple_GET_SIZE(sequence)));
  for (std::size_t i = 0; i < axes.size(); ++i)
    axes[i] = array.layout().normalise_axis(
        integer_from(PyTuple_GET_ITEM(sequence, static_cast<Py_ssize_t>(i))));
  return axes;
}

PyObject* contract_call(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<7> signature{
      "_contract",
      {"who", "left", "right", "left_batch", "right_batch", "left_sum", "right_sum"},
      7,
      7};
  const auto given = signature.read(values, count, words);
  const Factors factors(given[1], given[2]);
  const Array &left = factors.left(), &right = factors.right();
  const std::vector<int> left_batch = axes_in(given[3], left),
                         right_batch = axes_in(given[4], right);
  const std::vector<int> left_sum = axes_in(given[5], left), right_sum = axes_in(given[6], right);
  if (left_batch.size() != right_batch.size() || left_sum.size() != right_sum.size())
    fail<ArgumentError>("_contract: axes come in pairs");
  const char* who = PyUnicode_AsUTF8(given[0]);
  if (who == nullptr) throw py::error_already_set();
  Array result = [&] {
    const Unlocked unlocked(left, right);
    return ops::linalg::contract(who, left, right, {left_batch, right_batch, left_sum, right_sum});
  }();
  return wrap(std::move(result));
}

// ---- the operator

bool declines_foreign(PyObject* object, bool in_place) {
  if (object == Py_None || PyUnicode_Check(object) || PyBytes_Check(object) || PyDict_Check(object))
    return true;
  return in_place ? takes_in_place_operators(object) : takes_operators(object);
}

inline bool declines_product(PyObject* object, bool in_place = false) {
  return !is_array(object) && declines_foreign(object, in_place);
}

PyObject* matmul_operator(PyObject* left, PyObject* right) noexcept {
  try {
    if (declines_product(left) || declines_product(right)) Py_RETURN_NOTIMPLEMENTED;
    return wrap(product_unlocked(Product::matmul, Factors(left, right), {}));
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
    const Array target = factors.left();
    ProductOptions options;
    options.out = &target;
    // Batch axes of the second operand would add axes to the result.
    const int extra = factors.right().rank() - std::max(factors.left().rank(), 2);
    if (extra > 0)
      fail<LayoutError>("matmul: the result of shapes ", factors.left().shape(), " and ",
                        factors.right().shape(), " does not fit into the first operand");
    product_unlocked(Product::matmul, factors, options);
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
    method<&product_call<Product::matmul>>(
        "matmul",
        "matmul" SW_PRODUCT "The matrix product over the last two axes, as numpy.matmul."),
    method<&product_call<Product::vecdot>>(
        "vecdot",
        "vecdot(x1, x2, /, out=None, *, casting='same_kind', order='K', dtype=None, axes=None, "
        "axis=-1, keepdims=False)\n--\n\nThe sum of conj(x1) * x2 along an axis, as numpy.vecdot."),
    method<&product_call<Product::matvec>>(
        "matvec", "matvec" SW_PRODUCT "Matrices with vectors, as numpy.matvec."),
    method<&product_call<Product::vecmat>>(
        "vecmat", "vecmat" SW_PRODUCT "Conjugated vectors with matrices, as numpy.vecmat."),
    method<&dot_call>("dot",
                      "dot(a, b, out=None)\n--\n\n"
                      "The sum over a's last axis and b's last but one, as numpy.dot."),
    method<&inner_call>("inner",
                        "inner(a, b)\n--\n\nThe sum over the last axis of both, as numpy.inner."),
    method<&vdot_call>("vdot",
                       "vdot(a, b)\n--\n\n"
                       "The sum of conj(a) * b over all elements, both flattened; as numpy.vdot."),
    method<&contract_call>(
        "_contract",
        "_contract(who, left, right, left_batch, right_batch, left_sum, "
        "right_sum)\n--\n\n"
        "(batch..., left's others..., right's others...), summed over the rest."),
    {nullptr, nullptr, 0, nullptr}};

#undef SW_PRODUCT

PyMethodDef product_methods[] = {
    method<&dot_method>("dot", "dot($self, b, out=None)\n--\n\nspanwise.dot(self, b, out)."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(products, 65) {
  add_array_methods(product_methods);
  add_functions(module, product_functions);
  products_of_arrays = {&matmul_operator, &matmul_in_place};
}

}  // namespace spanwise::python
