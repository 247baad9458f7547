// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "python/support/call.hpp"
#include "reduce.hpp"
#include "spanwise/graph/variable.hpp"

/// Calls of the reductions from Python: reads the arguments and computes, of arrays and variables.
namespace spanwise::python {

/// The arguments of a reduction, null where absent.
struct ReduceCall {
  PyObject *array, *axis, *dtype, *out, *keepdims, *initial, *where, *ddof, *mean, *correction;
};

/// An array of any library as an Array.
Array reduce_input(PyObject* object);
/// out= as a writable array; nullopt if absent.
std::optional<Array> reduce_out(PyObject* out);

/// The reduction of an array; `out` is call.out as an array.
Array reduced(ops::reduce::Operation op, const ReduceCall& call, const Array& array,
              const std::optional<Array>& out);
/// The reduction of a variable of a graph, as a new reference to a variable.
PyObject* reduce_variable(ops::reduce::Operation op, const ReduceCall& call);
/// The reduction of an array or a variable, as a new reference.
PyObject* reduce_call(ops::reduce::Operation op, const ReduceCall& call);

/// The cumulative sum or product of a variable, as a new reference. Flattens the variable if no
/// axis is given, as NumPy does.
PyObject* scan_variable(const char* caller, const Variable& variable, PyObject* axis,
                        PyObject* dtype, PyObject* out);

}  // namespace spanwise::python
