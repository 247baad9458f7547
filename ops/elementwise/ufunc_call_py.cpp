// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "elementwise_compute.hpp"
#include "graph/elementwise_op.hpp"
#include "python/array/array_copies.hpp"
#include "python/array/array_object.hpp"
#include "python/graph/variable_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "ufunc_py.hpp"

/// Calls of elementwise operations from Python, with arrays of any library, lists and numbers.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::max_inputs;
using ops::Operand;
using ops::OpId;
using ops::OpTraits;
using ops::traits_of;

/// The operands of one call, their dtypes and the device of the computation. They refer to the
/// Python objects, which must outlive them.
class UfuncOperands {
 public:
  UfuncOperands(OpId op, PyObject* const* values) : traits_(traits_of(op)), count_(traits_.inputs) {
    for (int i = 0; i < count_; ++i) read_operand(i, values[i]);
    find_device();
    for (int i = 0; i < count_; ++i) import_to_device(i, values[i]);
    determine_dtypes();
  }

  std::span<const Operand> operands() const {
    return {operands_.data(), static_cast<std::size_t>(count_)};
  }
  std::span<const DType> dtypes() const {
    return {dtypes_.data(), static_cast<std::size_t>(count_)};
  }
  Device device() const noexcept { return device_; }
  bool is_weak(int i) const noexcept { return number_kinds_[at(i)] != NumberKind::none; }
  const OpTraits& traits() const noexcept { return traits_; }
  /// The dtype by which a cast of Python number i to `dtype` is checked: `dtype` if it has the
  /// number's kind; for a number of a lower kind a narrow dtype, which casts to `dtype` safely.
  DType number_dtype(int i, DType dtype) const {
    const NumberKind kind = number_kinds_[at(i)];
    if (kind == NumberKind::int_ && !dtype.is_integer() && !dtype.is_bool()) return int8;
    if (kind == NumberKind::float_ && dtype.is_complex()) return float16;
    return python::number_dtype(kind, dtype);
  }

  /// Converts Python numbers to the dtypes of the computation. Throws OverflowError.
  void convert_numbers(const ops::OpSignature& signature, PyObject* const* values) {
    for (int i = 0; i < count_; ++i) {
      if (number_kinds_[at(i)] == NumberKind::none) continue;
      // compute() exchanges the operands later.
      const int position = signature.swapped ? 1 - i : i;
      operands_[at(i)].scalar = scalar_from(values[i], signature.operand(position));
    }
  }

 private:
  static std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }

  void read_operand(int i, PyObject* value) {
    if (is_array(value)) {
      operands_[at(i)].array = &array_in(value);
      return;
    }
    number_kinds_[at(i)] = number_kind(value);
    if (number_kinds_[at(i)] != NumberKind::none || is_sequence(value)) return;
    if (auto borrowed = borrowed_array(value)) {
      is_borrowed_[at(i)] = true;
      operands_[at(i)].array = &imported_[at(i)].emplace(*std::move(borrowed));
      return;
    }
    operands_[at(i)].array = &imported_[at(i)].emplace(import_array(value));
  }

  static bool is_sequence(PyObject* value) noexcept {
    return PyList_Check(value) || PyTuple_Check(value);
  }

  // The device of the first array of rank > 0, else of the first array on a GPU, else the default
  // one.
  void find_device() {
    const Array* first = nullptr;
    for (int i = 0; i < count_; ++i) {
      const Array* array = operands_[at(i)].array;
      if (array == nullptr) continue;
      if (first == nullptr ||
          (first->rank() == 0 && (array->rank() > 0 || (runs_on_host(first->device()) &&
                                                        !runs_on_host(array->device())))))
        first = array;
    }
    device_ = first != nullptr ? first->device() : default_device();
  }

  // Imports lists to the device of the arrays. A borrowed array does not keep its memory alive; it
  // is imported if a GPU reads it, which may be after the call.
  void import_to_device(int i, PyObject* value) {
    if (is_borrowed_[at(i)] && !runs_on_host(device_)) {
      imported_[at(i)] = import_array(value);
      return;
    }
    if (operands_[at(i)].array != nullptr || !is_sequence(value)) return;
    operands_[at(i)].array = &imported_[at(i)].emplace(import_array(value, {.device = device_}));
  }

  void determine_dtypes() {
    std::optional<DType> strong;  // the promotion of the arrays' dtypes
    // A condition does not take part in the promotion.
    const int first = traits_.has(ops::first_is_condition) ? 1 : 0;
    for (int i = 0; i < count_; ++i) {
      const Array* array = operands_[at(i)].array;
      if (array == nullptr) continue;
      dtypes_[at(i)] = array->dtype();
      if (i < first) continue;
      strong =
          strong && *strong != array->dtype() ? promote(*strong, array->dtype()) : array->dtype();
    }
    NumberKind highest = NumberKind::none;
    for (int i = first; i < count_; ++i) highest = std::max(highest, number_kinds_[at(i)]);
    // Without arrays, the highest kind of number determines the dtype.
    if (!strong && highest != NumberKind::none) strong = python::number_dtype(highest, {});
    for (int i = 0; i < count_; ++i)
      if (number_kinds_[at(i)] != NumberKind::none)
        dtypes_[at(i)] = i < first ? bool_ : python::number_dtype(number_kinds_[at(i)], strong);
  }

  const OpTraits& traits_;
  int count_;
  std::array<Operand, max_inputs> operands_;
  std::array<NumberKind, max_inputs> number_kinds_{};
  std::array<DType, max_inputs> dtypes_;
  std::array<std::optional<Array>, max_inputs> imported_;
  std::array<bool, max_inputs> is_borrowed_{};
  Device device_;
};

// resolve() for operands of one dtype; cached, since it would dominate calls on small arrays.
const ops::OpSignature& cached_signature(OpId op, DType dtype) {
  struct CachedSignature {
    std::atomic<bool> is_set{false};
    ops::OpSignature signature;
  };
  static CachedSignature* const entries = new CachedSignature[ops::op_count * ops::dtype_count];
  const int index = ops::dtype_index(dtype);
  const std::array<DType, max_inputs> dtypes{dtype, dtype, dtype};
  const auto all = std::span(dtypes.data(), static_cast<std::size_t>(traits_of(op).inputs));
  if (index < 0) resolve(op, all);  // throws
  // Written only with the GIL held.
  CachedSignature& entry = entries[static_cast<int>(op) * ops::dtype_count + index];
  if (!entry.is_set.load(std::memory_order_acquire)) {
    entry.signature = resolve(op, all);
    entry.is_set.store(true, std::memory_order_release);
  }
  return entry.signature;
}

// ---- results

Array new_call_result(const CallOptions& options, std::span<const Operand> operands,
                      const Shape& shape, DType dtype, Device device) {
  std::array<const Array*, max_inputs> arrays;
  std::transform(operands.begin(), operands.end(), arrays.begin(),
                 [](const Operand& operand) { return operand.array; });
  const ArrayOrder order = resolved_order(options.order, std::span(arrays.data(), operands.size()));
  if (order == ArrayOrder::k) return new_result(operands, shape, dtype, device);
  return empty_in(packed_layout(order, shape), dtype, device);
}

void check_cast(const OpTraits& op, const char* subject, DType from, DType to, Casting casting) {
  if (casting == Casting::unsafe || can_cast(from, to, casting)) return;
  static constexpr const char* rules[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  fail<DTypeError>(op.name, ": cannot cast ", subject, " from ", from, " to ", to,
                   " under casting=\"", rules[static_cast<int>(casting)],
                   "\"; allow more with casting=\"unsafe\", or choose another dtype");
}

void check_out_fits(const OpTraits& op, const Shape& shape, const Array& out) {
  if (shape == out.shape()) return;
  const Shape both[] = {shape, out.shape()};
  bool fits = false;
  try {
    fits = broadcast_shapes(both) == out.shape();
  } catch (const LayoutError&) {
  }
  if (!fits)
    fail<LayoutError>(op.name, ": the operands broadcast to shape ", shape,
                      ", which does not broadcast to out's shape ", out.shape(),
                      "; pass an out of that shape");
}

std::optional<Array> mask_from(const OpTraits& op, PyObject* where, Device device) {
  if (where == nullptr || where == Py_True || where == Py_None) return {};
  Array mask =
      where == Py_False ? full(Shape{}, Scalar(false), bool_, device) : import_array(where);
  if (!mask.dtype().is_bool())
    fail<DTypeError>(op.name, ": where= must be bool, got ", mask.dtype(), "; compare it with 0");
  if (mask.device() != device && mask.rank() == 0) mask = to_device(mask, device);
  if (mask.device() != device)
    fail<DeviceError>(op.name, ": where= is on ", mask.device(), " and the result on ", device,
                      "; move it with .to(\"", device, "\")");
  return mask;
}

// Releases the GIL for large arrays.
void compute_unlocked(const ops::OpSignature& signature, std::span<const Operand> operands,
                      const Array& result, const Array* where, bool is_disjoint) {
  if (where == nullptr && ops::try_launch_compute(signature, operands, result, is_disjoint)) return;
  const GilRelease unlocked(is_long(result));
  if (is_disjoint)
    compute_disjoint(signature, operands, result, where);
  else
    compute(signature, operands, result, where);
}

// ---- comparisons with Python integers that no element can equal

// -1 or 1 if the number is below or above all values of the integer dtype, else 0.
int side_of_range(PyObject* number, DType dtype) {
  if (!PyLong_CheckExact(number) || !dtype.is_integer()) return 0;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow < 0) return -1;
  if (overflow > 0) {
    if (dtype != uint64) return 1;
    PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred() == nullptr) return 0;
    PyErr_Clear();
    return 1;
  }
  const Scalar scalar(static_cast<std::int64_t>(value));
  return scalar.fits(dtype) ? 0 : value < 0 ? -1 : 1;
}

// The result of `array op number` for all elements if the number is below (-1) or above (1) all of
// them.
bool compare_out_of_range(OpId op, int side) {
  switch (op) {
    case OpId::less:
    case OpId::less_equal:
      return side > 0;
    case OpId::greater:
    case OpId::greater_equal:
      return side < 0;
    default:
      return op == OpId::not_equal;
  }
}

std::optional<bool> constant_comparison(OpId op, const UfuncOperands& operands,
                                        PyObject* const* values) {
  if (!traits_of(op).has(ops::compares)) return {};
  for (int i = 0; i < 2; ++i) {
    const Array* array = operands.operands()[static_cast<std::size_t>(1 - i)].array;
    if (!operands.is_weak(i) || array == nullptr) continue;
    const int side = side_of_range(values[i], array->dtype());
    if (side == 0) continue;
    return compare_out_of_range(op, i == 1 ? side : -side);
  }
  return {};
}

// Checks that `casting` permits the casts of operands to the dtypes of the computation. A Python
// number has a kind but no dtype; it must not be cast to a lower kind.
void check_operands(const UfuncOperands& operands, const ops::OpSignature& signature,
                    Casting casting) {
  const OpTraits& traits = operands.traits();
  if ((traits.traits & (ops::boolean_inputs | ops::first_is_condition)) != 0 || signature.mixed)
    return;
  for (int i = 0; i < traits.inputs; ++i) {
    const DType to = signature.operand(i);
    if (operands.is_weak(i))
      check_cast(traits, "a Python number", operands.number_dtype(i, to), to, casting);
    else
      check_cast(traits, "an operand", operands.dtypes()[static_cast<std::size_t>(i)], to, casting);
  }
}

// ---- variables of graphs

PyObject* apply_to_variables(OpId op, PyObject* const* values, int count,
                             const CallOptions& options) {
  if (given(options.out) || options.where != nullptr || options.dtype)
    fail<GraphError>(traits_of(op).name,
                     ": out=, where= and dtype= are for arrays; a variable has ",
                     "no memory yet. Use where() and astype()");
  std::optional<DType> promoted;
  const int first = traits_of(op).has(ops::first_is_condition) ? 1 : 0;
  for (int i = first; i < count; ++i) {
    if (!is_variable(values[i])) continue;
    const DType dtype = variable_in(values[i]).type().dtype();
    promoted = promoted ? promote(*promoted, dtype) : dtype;
  }
  std::vector<Variable> operands;
  for (int i = 0; i < count; ++i) operands.push_back(as_variable(values[i], promoted));
  return wrap_variable((*ops::elementwise_op(op))(operands)[0]);
}

// power(x, 0.5) is sqrt(x), as x ** 0.5 is; the two differ where x is -inf or -0.0.
bool is_square_root(OpId op, PyObject* const* values, const UfuncOperands& operands,
                    const ops::OpSignature& signature) {
  if (op != OpId::power || !PyFloat_CheckExact(values[1])) return false;
  const DType dtype = signature.operand(0);
  return PyFloat_AS_DOUBLE(values[1]) == 0.5 && (dtype == float32 || dtype == float64) &&
         operands.dtypes()[0].is_floating();
}

PyObject* call_on_arrays(OpId op, PyObject* const* values, const CallOptions& options) {
  const OpTraits& traits = traits_of(op);
  UfuncOperands operands(op, values);
  const auto dtypes = operands.dtypes();
  const bool uniform = !options.dtype && std::all_of(dtypes.begin(), dtypes.end(),
                                                     [&](DType d) { return d == dtypes[0]; });
  const ops::OpSignature signature =
      uniform ? cached_signature(op, dtypes[0]) : resolve(op, dtypes, options.dtype);
  if (is_square_root(op, values, operands, signature))
    return call_on_arrays(OpId::sqrt, values, options);
  const std::optional<bool> constant = constant_comparison(op, operands, values);
  if (options.dtype || options.casting != Casting::same_kind)
    check_operands(operands, signature, options.casting);
  if (!constant) operands.convert_numbers(signature, values);
  const bool has_out = given(options.out);
  std::optional<OutputArray> out;
  if (has_out) out.emplace(options.out, traits.name);
  const Device device = out ? (*out)->device() : operands.device();
  const std::optional<Array> mask = mask_from(traits, options.where, device);
  const Array* where = mask ? &*mask : nullptr;
  const Shape shape = common_shape(traits.name, operands.operands(), where);
  if (out) {
    check_out_fits(traits, shape, *out);
    check_cast(traits, "the result", signature.result, (*out)->dtype(), options.casting);
  }
  Array result =
      out ? out->array()
          : new_call_result(options, operands.operands(), shape, signature.result, device);
  if (constant) {
    const Operand number{nullptr, Scalar(*constant)};
    const ops::OpSignature copy{OpId::positive, bool_, bool_};
    compute_unlocked(copy, {&number, 1}, result, where, false);
  } else {
    compute_unlocked(signature, operands.operands(), result, where, !out);
  }
  return has_out ? Py_NewRef(options.out) : wrap(std::move(result));
}

// The fast path: one array, or two of the same dtype and shape on one device, without options.
// Returns null for other operands.
PyObject* try_call_simple(OpId op, PyObject* const* values, int count) {
  if (count > 2 || !is_array(values[0]) || !is_array(values[count - 1])) return nullptr;
  const Array &a = array_in(values[0]), &b = array_in(values[count - 1]);
  if (a.device() != working_device(a.device())) return nullptr;
  if (count == 2 && (a.dtype() != b.dtype() || a.shape() != b.shape() || a.device() != b.device()))
    return nullptr;
  const ops::OpSignature& signature = cached_signature(op, a.dtype());
  const std::array<Operand, 2> operands{Operand{&a, Scalar(false)}, Operand{&b, Scalar(false)}};
  const std::span all(operands.data(), static_cast<std::size_t>(count));
  const bool is_row_major =
      a.rank() < 2 || (a.layout().is_row_major() && b.layout().is_row_major());
  Array result = is_row_major ? empty(a.shape(), signature.result, a.device())
                              : new_result(all, a.shape(), signature.result, a.device());
  compute_unlocked(signature, all, result, nullptr, true);
  return wrap(std::move(result));
}

}  // namespace

PyObject* call_ufunc(OpId op, PyObject* const* operands, const CallOptions& options) {
  const int count = traits_of(op).inputs;
  const bool has_defaults = options.out == nullptr && options.where == nullptr && !options.dtype &&
                            options.order == ArrayOrder::k && options.casting == Casting::same_kind;
  if (has_defaults)
    if (PyObject* result = try_call_simple(op, operands, count); result != nullptr) return result;
  if (std::any_of(operands, operands + count, &is_variable))
    return apply_to_variables(op, operands, count, options);
  return call_on_arrays(op, operands, options);
}

}  // namespace spanwise::python
