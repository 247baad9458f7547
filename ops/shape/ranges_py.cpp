// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "shape_functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "python/array/array_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/devices.hpp"

/// arange and linspace of Python's numbers. Other arguments that NumPy accepts (arrays, other
/// number types, infinite values) are passed to spanwise._numpy.creation, where NumPy computes the
/// range.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// An int or float for which C++ computes the same range as NumPy.
struct RangeNumber {
  bool is_integer;
  std::int64_t integer;  // of an int
  double value;          // of a float; of an int too, exactly, where it is not too large
};

// Sums of two fit in 64 bits.
constexpr std::int64_t max_integer = std::int64_t{1} << 62;
// Sums of two are exact in float64.
constexpr std::int64_t max_exact_integer = std::int64_t{1} << 52;

std::optional<RangeNumber> range_number(PyObject* object) {
  if (PyFloat_CheckExact(object)) return RangeNumber{false, 0, PyFloat_AS_DOUBLE(object)};
  if (!PyLong_CheckExact(object)) return std::nullopt;
  int overflow = 0;
  const std::int64_t integer = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0 || integer <= -max_integer || integer >= max_integer) return std::nullopt;
  return RangeNumber{true, integer, static_cast<double>(integer)};
}

bool is_exact(const RangeNumber& number) {
  return !number.is_integer ||
         (-max_exact_integer <= number.integer && number.integer <= max_exact_integer);
}

// Large ranges are filled without the GIL.
template <class Fill>
Array fill_unlocked(std::int64_t count, const Fill& fill) {
  return without_gil(is_long(cpu, count * std::int64_t{sizeof(double)}), fill);
}

struct RangeArguments {
  RangeNumber start, stop, step;
  bool is_integer() const { return start.is_integer && stop.is_integer && step.is_integer; }
};

// Python's range(). nullopt for a step of 0, and if a number does not fit in `dtype`: NumPy then
// raises the error.
std::optional<Array> integer_range_of(const RangeArguments& range, DType dtype, Device device) {
  const std::int64_t start = range.start.integer, step = range.step.integer;
  const std::int64_t span = range.stop.integer - start;
  if (step == 0) return std::nullopt;
  const std::int64_t whole_steps = span / step;
  const std::int64_t count = whole_steps + (whole_steps * step != span ? 1 : 0);
  if ((span < 0) != (step < 0) || count <= 0)
    return ops::integer_range(start, step, 0, dtype, device);
  const auto fits = [&](std::int64_t value) {
    using Limits = std::numeric_limits<std::int32_t>;
    return dtype == int64 || (Limits::min() <= value && value <= Limits::max());
  };
  // NumPy checks the first two, even if the range has one element.
  if (!fits(start) || !fits(start + step) || !fits(start + (count - 1) * step)) return std::nullopt;
  return fill_unlocked(count,
                       [&] { return ops::integer_range(start, step, count, dtype, device); });
}

std::optional<Array> float_range_of(const RangeArguments& range, DType dtype, Device device) {
  if (!is_exact(range.start) || !is_exact(range.stop) || !is_exact(range.step)) return std::nullopt;
  const double start = range.start.value, step = range.step.value;
  const double span = range.stop.value - start, steps = span / step;
  // NumPy handles quotients that underflow or are not finite, and ranges too large for memory.
  constexpr double max_steps = 0x1p52;
  if (!std::isfinite(steps) || std::abs(steps) >= max_steps || (steps == 0 && span != 0))
    return std::nullopt;
  const auto count = static_cast<std::int64_t>(std::max(std::ceil(steps), 0.0));
  return fill_unlocked(count,
                       [&] { return ops::float_range(start, start + step, count, dtype, device); });
}

std::optional<Array> range_of(PyObject* start_arg, PyObject* stop_arg, PyObject* step_arg,
                              PyObject* dtype_arg, Device device) {
  const auto start = given(stop_arg) ? range_number(start_arg) : RangeNumber{true, 0, 0.0};
  const auto stop = range_number(given(stop_arg) ? stop_arg : start_arg);
  const auto step = given(step_arg) ? range_number(step_arg) : RangeNumber{true, 1, 1.0};
  if (!start || !stop || !step) return std::nullopt;
  const RangeArguments range{*start, *stop, *step};
  const DType dtype =
      given(dtype_arg) ? dtype_from(dtype_arg) : (range.is_integer() ? int64 : float64);
  const bool is_real = dtype == float64 || dtype == float32;
  if (is_real) return float_range_of(range, dtype, device);
  if (!range.is_integer() || (dtype != int64 && dtype != int32)) return std::nullopt;
  return integer_range_of(range, dtype, device);
}

// Calls the function of this name in spanwise._numpy.creation.
PyObject* call_numpy_version(const char* name, PyObject* const* values, Py_ssize_t count,
                             PyObject* kwnames) {
  const py::object function = py::module_::import("spanwise._numpy.creation").attr(name);
  return PyObject_Vectorcall(function.ptr(), values, static_cast<std::size_t>(count), kwnames);
}

PyObject* arange(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<5> signature{
      "arange", {"start", "stop", "step", "dtype", "device"}, 1, 4};
  const auto [start, stop, step, dtype, device] = signature.read(values, count, kwnames);
  const Device target = device_or(device, default_device());
  if (std::optional<Array> result = range_of(start, stop, step, dtype, target))
    return wrap(*std::move(result));
  return call_numpy_version("arange", values, count, kwnames);
}

std::optional<Array> linear_range_of(PyObject* start_arg, PyObject* stop_arg, std::int64_t count,
                                     bool has_end, DType dtype, Device device) {
  const auto start = range_number(start_arg), stop = range_number(stop_arg);
  if (!start || !stop || !is_exact(*start) || !is_exact(*stop)) return std::nullopt;
  if (count < 2 || (dtype != float64 && dtype != float32)) return std::nullopt;
  const double delta = stop->value - start->value;
  const double step = delta / static_cast<double>(has_end ? count - 1 : count);
  if (!std::isfinite(step) || step == 0) return std::nullopt;
  const auto end = has_end ? std::optional(stop->value) : std::nullopt;
  return fill_unlocked(
      count, [&] { return ops::linear_range(start->value, step, end, count, dtype, device); });
}

PyObject* linspace(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<8> signature{
      "linspace", {"start", "stop", "num", "endpoint", "retstep", "dtype", "axis", "device"}, 2, 7};
  const auto [start, stop, num, endpoint, retstep, dtype, axis, device] =
      signature.read(values, count, kwnames);
  const bool is_plain = retstep == nullptr && axis == nullptr;
  if (is_plain && (num == nullptr || PyLong_CheckExact(num))) {
    const std::int64_t size = num == nullptr ? 50 : integer_from(num);
    if (std::optional<Array> result =
            linear_range_of(start, stop, size, truth_or(endpoint, true),
                            python::dtype_or(dtype, float64), device_or(device, default_device())))
      return wrap(*std::move(result));
  }
  return call_numpy_version("linspace", values, count, kwnames);
}

// tril() and triu(): the matrices of a vector are its elements in every row.
PyObject* triangle(PyObject* m, PyObject* k, PyObject* keeps_lower) {
  Array matrices = import_array(m);
  const std::int64_t diagonal = integer_from(k);
  const bool lower = truth_or(keeps_lower, true);
  if (matrices.rank() == 0)
    fail<LayoutError>(lower ? "tril" : "triu",
                      ": expected an array of 1 dimension at least, got shape ()");
  if (matrices.rank() == 1) matrices = matrices.broadcast_to({matrices.size(), matrices.size()});
  return wrap(
      without_gil(is_long(matrices), [&] { return ops::triangle(matrices, diagonal, lower); }));
}

PyMethodDef range_functions[] = {
    declared<"_triangle(m, k, keeps_lower)",
             "A copy of the matrices `m` with zeros above the diagonal `k`, or below it.",
             &triangle>(),
    method<&arange>("arange",
                    "arange(start, stop=None, step=None, dtype=None, *, device=None)\n--\n\n"
                    "Evenly spaced values: arange([start,] stop[, step]), as numpy.arange."),
    method<&linspace>(
        "linspace",
        "linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, "
        "device=None)\n--\n\n"
        "`num` values from `start` to `stop`, as numpy.linspace; (values, step) with `retstep`."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(ranges) { add_functions(module, range_functions); }

}  // namespace spanwise::python
