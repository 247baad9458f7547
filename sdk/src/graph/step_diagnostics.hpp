// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "graph/graph_program.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/graph/function.hpp"

/// What is reported about the steps of a function: the note of an error, and the errors that the
/// modes "debug" and "nan_guard" find.
namespace spanwise::graph {

/// The note about a node that failed in run(): its inputs' types, shapes and strides, and where it
/// was made.
std::string note_on_run(const std::string& function_name, const std::vector<Step>& steps,
                        std::size_t failed);
/// The note about a node whose make_thunk failed.
std::string note_on_compile(const std::string& function_name, const Apply& node);

/// Rethrows the current exception with its type unchanged and the text of `make_note` appended to
/// its message.
[[noreturn]] void rethrow_with_note(const std::function<std::string()>& make_note);

/// Mode "debug" (Theano's DebugMode, theano/compile/debugmode.py): calls `run`, which runs the
/// step, twice. Throws GraphError where the second run gives other values, where an input changes
/// that destroy_map does not name, and where memory is shared other than as view_map and
/// destroy_map declare.
void run_twice(const Step& step, const std::function<void()>& run);

/// Whether dtypes and shapes are equal, and the elements up to the effect of another order of
/// summation, for values that are computed from numbers of magnitude up to `largest`. With
/// `finite_only`, elements where `b` is not finite are not compared. `bits` are those of the
/// coarsest floating dtype that the values were computed in, if that is coarser than their own.
bool have_same_values(const Array& a, const Array& b, double largest, bool finite_only = false,
                      int bits = 64);

/// The largest magnitude of a finite element; 0 for arrays that are not of a floating dtype.
double largest_number(const Array& array);

/// Mode "nan_guard" (Theano's NanGuardMode, theano/compile/nanguardmode.py): calls `run`, which
/// runs the step. Throws GraphError where an input that no step computes, or an output, has a
/// number that `errors` names. `producers`: per input the position of the step that computes it, or
/// -1.
void run_guarded(const Step& step, const std::vector<int>& producers, const NanGuard& errors,
                 const std::function<void()>& run);

/// The part of run_guarded() about outputs. `ranges` describes inputs that the step has
/// overwritten;
/// "": all are as they were.
void check_outputs(const Step& step, const NanGuard& errors, const std::string& ranges = "");

}  // namespace spanwise::graph
