// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "draw.hpp"
#include "python/array/array_object.hpp"
#include "python/support/c_api.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/creation.hpp"

/// Functions that spanwise/random.py calls with checked arguments.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::random::Counter;
using ops::random::Distribution;
using ops::random::DrawSpec;
using ops::random::SequencePosition;

std::uint64_t uint64_from(PyObject* number) {
  const unsigned long long value = PyLong_AsUnsignedLongLongMask(number);
  if (value == ~0ull && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

double real_from(PyObject* number) {
  const double value = PyFloat_AsDouble(number);
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

constexpr const char* counter_name = "spanwise.random.counter";

Counter& counter_in(PyObject* capsule) {
  void* counter = PyCapsule_GetPointer(capsule, counter_name);
  if (counter == nullptr) throw py::error_already_set();
  return *static_cast<Counter*>(counter);
}

py::object random_counter(PyObject* key, PyObject* stream, PyObject* position) {
  auto created = std::make_unique<Counter>(SequencePosition{
      uint64_from(key), static_cast<std::uint32_t>(uint64_from(stream)), uint64_from(position)});
  py::object capsule = owned(PyCapsule_New(created.get(), counter_name, [](PyObject* object) {
    delete static_cast<Counter*>(PyCapsule_GetPointer(object, counter_name));
  }));
  created.release();  // NOLINT(bugprone-unused-return-value): the capsule has it now
  return capsule;
}

// Returns the counter's position, then advances it by `move` blocks.
PyObject* random_position(PyObject* counter, PyObject* move) {
  const auto blocks = static_cast<std::int64_t>(uint64_from(move));
  return PyLong_FromUnsignedLongLong(counter_in(counter).take(blocks).position);
}

Distribution kind_from(PyObject* object) {
  const std::string_view name = text_in(object);
  if (name == "uniform") return Distribution::uniform;
  if (name == "normal") return Distribution::normal;
  if (name == "exponential") return Distribution::exponential;
  if (name == "words") return Distribution::words;
  fail<ArgumentError>(
      "random: expected \"uniform\", \"normal\", \"exponential\" or \"words\", got ", name);
}

// Draws into the array `out`, of which it returns a new reference.
PyObject* draw_into(PyObject* counter, const DrawSpec& spec, PyObject* out) {
  const Array target = checked_array(out, "out");
  Counter& generator = counter_in(counter);
  without_gil(is_long(target), [&] { ops::random::draw(generator, spec, target); });
  return Py_NewRef(out);
}

DrawSpec floating_spec(PyObject* kind, PyObject* shift, PyObject* scale) {
  return {.kind = kind_from(kind), .shift = real_from(shift), .scale = real_from(scale)};
}

PyObject* random_draw(PyObject* counter, PyObject* kind, PyObject* out, PyObject* shift,
                      PyObject* scale) {
  return draw_into(counter, floating_spec(kind, shift, scale), out);
}

// Draws into a new array, in one call, since most draws are small.
PyObject* random_new(PyObject* counter, PyObject* kind, PyObject* size, PyObject* dtype,
                     PyObject* device, PyObject* shift, PyObject* scale, PyObject* caller) {
  const DrawSpec spec = floating_spec(kind, shift, scale);
  const DType element = dtype_or(dtype, float64);
  if (element != float64 && element != float32 && element != float16 && element != bfloat16)
    fail<DTypeError>(std::string(py::str(caller)), ": Unsupported dtype ", element,
                     "; expected float16, bfloat16, float32 or float64");
  const Shape shape = given(size) ? shape_from(size) : Shape{};
  const Device target_device = given(device) ? device_from(device) : default_device();
  Counter& generator = counter_in(counter);
  const Array target = empty(shape, element, target_device);
  without_gil(is_long(target), [&] { ops::random::draw(generator, spec, target); });
  return wrap(target);
}

PyObject* random_integers(PyObject* counter, PyObject* out, PyObject* low, PyObject* span) {
  DrawSpec spec;
  spec.low = uint64_from(low);
  spec.span = uint64_from(span);
  const bool is_narrow = spec.span - 1 < std::uint64_t{1} << 32;
  spec.kind = is_narrow ? Distribution::integers : Distribution::wide_integers;
  return draw_into(counter, spec, out);
}

PyObject* random_integers_within(PyObject* counter, PyObject* out, PyObject* lows,
                                 PyObject* spans) {
  const Array first = checked_array(lows, "lows"), second = checked_array(spans, "spans");
  return draw_into(counter,
                   {.kind = Distribution::integers_within, .lows = &first, .spans = &second}, out);
}

PyObject* random_picks(PyObject* counter, PyObject* out, PyObject* table) {
  const Array cumulated = checked_array(table, "table");
  return draw_into(counter, {.kind = Distribution::picks, .table = &cumulated}, out);
}

PyObject* random_permutation(PyObject* counter, PyObject* out, PyObject* size) {
  const Array target = checked_array(out, "out");
  Counter& generator = counter_in(counter);
  const std::int64_t count = integer_from(size);
  without_gil(is_long(target), [&] { ops::random::permutation(generator, count, target); });
  return Py_NewRef(out);
}

PyMethodDef random_functions[] = {
    declared<"_random_counter(key, stream, position)", "", &random_counter>(),
    declared<"_random_position(counter, move)", "", &random_position>(),
    declared<"_random_new(counter, kind, size, dtype, device, shift, scale, caller)", "",
             &random_new>(),
    declared<"_random_draw(counter, kind, out, shift, scale)", "", &random_draw>(),
    declared<"_random_integers(counter, out, low, span)", "", &random_integers>(),
    declared<"_random_integers_within(counter, out, lows, spans)", "", &random_integers_within>(),
    declared<"_random_picks(counter, out, table)", "", &random_picks>(),
    declared<"_random_permutation(counter, out, size)", "", &random_permutation>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(random) { add_functions(module, random_functions); }

}  // namespace spanwise::python
