// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "call.hpp"

/// Functions and methods whose parameters are read from their declaration, which help() shows.
namespace spanwise::python {

namespace detail {

/// The identifiers of "take(a, indices, axis=None, *, out=None)", each followed by a null
/// character: the name of the function, then its parameters.
template <std::size_t size>
struct FunctionSignature {
  char identifiers[size]{};
  std::size_t starts[16]{};  ///< of the parameters in `identifiers`
  std::size_t count = 0;
  int required = 0, positional = -1;
  bool is_method = false;

  consteval explicit FunctionSignature(const Literal<size>& literal) {
    std::size_t end = 0, start = 0;
    int depth = 0;
    bool is_default = false, is_quoted = false;
    for (const char c : std::string_view(literal.text, size - 1)) {
      is_quoted ^= c == '\'';
      const bool is_end = !is_quoted && depth == 1 && (c == ',' || c == ')');
      if (!is_quoted) depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (is_end || (depth == 1 && c == '(')) {
        if (is_end) add(start, std::string_view(identifiers + start, end - start), is_default);
        identifiers[end++] = '\0';
        start = end;
        is_default = false;
      } else if (c == '=' && depth == 1) {
        is_default = true;
      } else if (!is_default && c != ' ') {
        identifiers[end++] = c;
      }
    }
    if (positional < 0) positional = static_cast<int>(count);
  }

  constexpr void add(std::size_t start, std::string_view identifier, bool is_default) {
    if (identifier == "$self") {
      is_method = true;
    } else if (identifier == "*") {
      positional = static_cast<int>(count);
    } else if (!identifier.empty() && identifier != "/") {
      starts[count++] = start;
      required += !is_default;
    }
  }
};

template <Literal declaration, auto function, auto quick>
struct DeclaredFunction {
  static constexpr FunctionSignature parsed{declaration};
  static constexpr auto names = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<const char*, parsed.count>{parsed.identifiers + parsed.starts[i]...};
  }
  (std::make_index_sequence<parsed.count>());

  static auto parse_and_call(PyObject* self, PyObject* const* values, Py_ssize_t count,
                             PyObject* kwnames) {
    constexpr std::size_t first = parsed.is_method ? 1 : 0;
    std::array<PyObject*, parsed.count + first> all{};
    if constexpr (parsed.is_method) all[0] = self;
    read_arguments(parsed.identifiers, names.data(), static_cast<int>(parsed.count),
                   parsed.required, parsed.positional, all.data() + first, values, count, kwnames);
    return std::apply(function, all);
  }

  static PyObject* call(PyObject* self, PyObject* const* values, Py_ssize_t count,
                        PyObject* kwnames) noexcept {
    if constexpr (!std::is_null_pointer_v<decltype(quick)>) {
      if (count == 1 && kwnames == nullptr) {
        PyObject* result = guarded<+quick>(values[0]);
        if (result != nullptr || PyErr_Occurred() != nullptr) return result;
      }
      return call_not_inlined(self, values, count, kwnames);
    }
    return guarded<&parse_and_call>(self, values, count, kwnames);
  }
  // Not inlined, so that the stack frame in which quick() runs stays small.
  [[gnu::noinline]] static PyObject* call_not_inlined(PyObject* self, PyObject* const* values,
                                                      Py_ssize_t count,
                                                      PyObject* kwnames) noexcept {
    return guarded<&parse_and_call>(self, values, count, kwnames);
  }
};

template <Literal declaration, Literal doc>
inline constexpr auto documentation = [] {
  constexpr std::string_view between = "\n--\n\n";
  std::array<char, sizeof declaration.text + between.size() + sizeof doc.text - 1> all{};
  char* next = std::copy_n(declaration.text, sizeof declaration.text - 1, all.data());
  next = std::copy_n(between.data(), between.size(), next);
  std::copy_n(doc.text, sizeof doc.text, next);
  return all;
}();

}  // namespace detail

/// The name at the start of a declaration.
template <Literal declaration>
inline constexpr auto declared_name = [] {
  Literal name = declaration;
  bool is_name = true;
  for (char& c : name.text) {
    is_name = is_name && c != '(';
    if (!is_name) c = '\0';
  }
  return name;
}();

/// An entry of a method table: `function` under the name and with the parameters of `declaration`:
/// "clip($self, min=None, *, out=None)" for a method. It takes a PyObject* for each parameter,
/// borrowed, null where absent; of a method the object comes first. See `guarded` for its result.
///
/// A call with one positional argument x returns quick(x), in a small stack frame, unless that is
/// null without a Python error.
template <Literal declaration, Literal doc, auto function, auto quick = nullptr>
PyMethodDef declared() {
  using Entry = detail::DeclaredFunction<declaration, function, quick>;
  if constexpr (Entry::parsed.is_method && Entry::parsed.count == 0)
    return {Entry::parsed.identifiers, guarded<&detail::result_of<+function, PyObject>>,
            METH_NOARGS, detail::documentation<declaration, doc>.data()};
  return {Entry::parsed.identifiers, as_c_function(&Entry::call), METH_FASTCALL | METH_KEYWORDS,
          detail::documentation<declaration, doc>.data()};
}

}  // namespace spanwise::python
