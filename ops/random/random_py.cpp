// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string_view>

#include "draw.hpp"
#include "python/bind.hpp"
#include "python/py_array.hpp"
#include "python/py_call.hpp"
#include "spanwise/error.hpp"

/// What spanwise/random.py is made of; arguments have been checked there.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using ops::random::Kind;
using ops::random::Numbers;
using ops::random::Source;

std::uint64_t word_from(PyObject* number) {
  const unsigned long long value = PyLong_AsUnsignedLongLongMask(number);
  if (value == ~0ull && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

double real_from(PyObject* number) {
  const double value = PyFloat_AsDouble(number);
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  return value;
}

// (key, stream, position)
Source source_from(PyObject* object) {
  require<ArgumentError>(PyTuple_Check(object) && PyTuple_GET_SIZE(object) == 3,
                         "random: expected a source of three numbers");
  return {word_from(PyTuple_GET_ITEM(object, 0)),
          static_cast<std::uint32_t>(word_from(PyTuple_GET_ITEM(object, 1))),
          word_from(PyTuple_GET_ITEM(object, 2))};
}

Kind kind_from(PyObject* object) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text == nullptr) throw py::error_already_set();
  const std::string_view name(text, static_cast<std::size_t>(size));
  if (name == "uniform") return Kind::uniform;
  if (name == "normal") return Kind::normal;
  if (name == "exponential") return Kind::exponential;
  if (name == "words") return Kind::words;
  fail<ArgumentError>("random: there are no numbers called ", name);
}

PyObject* drawn(const Numbers& numbers, PyObject* out) {
  const Array target = array_in(out);
  {
    const Unlocked unlocked(target);
    ops::random::draw(numbers, target);
  }
  return Py_NewRef(out);
}

PyObject* random_draw(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<5> signature{
      "_random_draw", {"out", "source", "kind", "shift", "scale"}, 5, 5};
  const auto [out, source, kind, shift, scale] = signature.read(values, count, words);
  Numbers numbers;
  numbers.kind = kind_from(kind);
  numbers.source = source_from(source);
  numbers.shift = real_from(shift);
  numbers.scale = real_from(scale);
  return drawn(numbers, out);
}

PyObject* random_integers(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<4> signature{
      "_random_integers", {"out", "source", "low", "span"}, 4, 4};
  const auto [out, source, low, span] = signature.read(values, count, words);
  Numbers numbers;
  numbers.source = source_from(source);
  numbers.low = word_from(low);
  numbers.span = word_from(span);
  const bool is_narrow = numbers.span - 1 < std::uint64_t{1} << 32;
  numbers.kind = is_narrow ? Kind::integers : Kind::wide_integers;
  return drawn(numbers, out);
}

PyObject* random_integers_within(PyObject*, PyObject* const* values, Py_ssize_t count,
                                 PyObject* words) {
  static constexpr Signature<4> signature{
      "_random_integers_within", {"out", "source", "lows", "spans"}, 4, 4};
  const auto [out, source, lows, spans] = signature.read(values, count, words);
  const Array first = array_in(lows), second = array_in(spans);
  Numbers numbers;
  numbers.kind = Kind::integers_within;
  numbers.source = source_from(source);
  numbers.lows = &first;
  numbers.spans = &second;
  return drawn(numbers, out);
}

PyObject* random_picks(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* words) {
  static constexpr Signature<3> signature{"_random_picks", {"out", "source", "table"}, 3, 3};
  const auto [out, source, table] = signature.read(values, count, words);
  const Array cumulated = array_in(table);
  Numbers numbers;
  numbers.kind = Kind::picks;
  numbers.source = source_from(source);
  numbers.table = &cumulated;
  return drawn(numbers, out);
}

PyObject* random_permutation(PyObject*, PyObject* const* values, Py_ssize_t count,
                             PyObject* words) {
  static constexpr Signature<3> signature{"_random_permutation", {"out", "source", "size"}, 3, 3};
  const auto [out, source, size] = signature.read(values, count, words);
  const Array target = array_in(out);
  const Source from = source_from(source);
  const std::int64_t all = integer_from(size);
  {
    const Unlocked unlocked(target);
    ops::random::permutation(from, all, target);
  }
  return Py_NewRef(out);
}

PyMethodDef random_functions[] = {
    method<&random_draw>("_random_draw", "_random_draw(out, source, kind, shift, scale)\n--\n\n"),
    method<&random_integers>("_random_integers",
                             "_random_integers(out, source, low, span)\n--\n\n"),
    method<&random_integers_within>("_random_integers_within",
                                    "_random_integers_within(out, source, lows, spans)\n--\n\n"),
    method<&random_picks>("_random_picks", "_random_picks(out, source, table)\n--\n\n"),
    method<&random_permutation>("_random_permutation",
                                "_random_permutation(out, source, size)\n--\n\n"),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(random, 66) {
  if (PyModule_AddFunctions(module.ptr(), random_functions) < 0) throw py::error_already_set();
}

}  // namespace spanwise::python
