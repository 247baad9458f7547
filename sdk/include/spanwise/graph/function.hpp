// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spanwise/error.hpp"
#include "spanwise/export.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise {

enum class UnusedInput { raise, warn, ignore };

/// How much is done to a graph before it runs, and while.
struct Mode {
  /// "fast_run": all rewrites. "fast_compile": those that cost little. "debug": as fast_run, and at
  /// each call every op is checked. "": config "mode".
  std::string name{};
  /// Names or tags of rewrites (see graph/rewrite.hpp) to add and to leave out; the latter wins.
  std::vector<std::string> including{}, excluding{};
};

struct FunctionOptions {
  std::string name{};
  std::optional<Device> device{};  ///< where it runs; default: default_device() at compile time
  std::vector<std::pair<Variable, Variable>> givens{};  ///< replace the first by the second
  UnusedInput on_unused_input = UnusedInput::raise;
  /// Shared variables and what each becomes after a call, computed from the values before it.
  std::vector<std::pair<Variable, Variable>> updates{};
  /// Inputs that the function may overwrite.
  std::vector<Variable> mutable_inputs{};
  /// By position: outputs that may share memory with inputs, shared variables and one another.
  std::vector<bool> borrowed_outputs{};
  Mode mode{};
  bool profile = false;  ///< measures each node at each call
  /// True: a result between nodes is let go of as soon as a call needs it no more. False: its
  /// memory stays for the next call. Default: config "allow_gc".
  std::optional<bool> allow_gc{};
  /// Where memory stays: what types fix the extents of is allocated while compiling.
  bool preallocate = false;
};

/// What one node cost in all calls: on a GPU device time, by events.
struct StepProfile {
  Ref<Apply> node{};
  std::int64_t calls = 0;
  double seconds = 0;
  std::int64_t output_bytes = 0;  ///< of the last call
};

/// What a function cost. Results that a GPU is still computing are waited for.
struct FunctionProfile {
  std::int64_t calls = 0;
  double call_seconds = 0;
  std::vector<StepProfile> steps{};  ///< in the order of toposort()
};

/// One run of one node: which, when (seconds from when the function was compiled, by the host's
/// clock) and for how long.
struct StepSpan {
  std::size_t step = 0;
  double start = 0, seconds = 0;
};

/// What one rewrite did to a function's graph while it was compiled.
struct RewriteReport {
  std::string name;
  int changes = 0;
  double seconds = 0;
};

/// A value that does not fit the input that it was given for. Python: also TypeError.
class SW_API InputError : public GraphError {
 public:
  using GraphError::GraphError;
};

/// A graph bound to storage and ready to call. Copying shares it. Calls from several threads are
/// right; one runs after the other. A function that calls itself throws GraphError, and so does one
/// of two whose ops call each other from two threads.
class SW_API CompiledFunction {
 public:
  explicit CompiledFunction(Ref<RefCounted> state) noexcept;

  /// One array per input, in order; gives one per output. An input on another device is copied to
  /// the function's. The results share memory with no input, constant or other result, and with
  /// nothing that the function keeps. Does not wait for the device.
  ///
  /// Shared variables get their updates when all is computed, all at one moment; after an error
  /// they are as before the call. Functions that update the same variable take turns.
  ///
  /// Throws InputError naming function and input where a value does not fit its type; an op's error
  /// keeps its type and gains the Apply node, its inputs' types, shapes and strides, and where it
  /// was made. After an error the function can be called again.
  std::vector<Array> operator()(std::span<const Array> inputs) const;
  std::vector<Array> operator()(std::initializer_list<Array> inputs) const {
    return (*this)(std::span(inputs.begin(), inputs.size()));
  }

  /// The same where that only queues work on a GPU, of inputs that are there: nothing, and nothing
  /// done, where it might wait for another thread, run ops that are not Spanwise's own, or compute
  /// on the host. For callers that hold a lock which others may need.
  std::optional<std::vector<Array>> call_at_once(std::span<const Array> inputs) const;

  const std::string& name() const noexcept;
  Device device() const noexcept;
  const std::vector<Variable>& inputs() const noexcept;
  /// Of the graph that runs: not the variables that were given where `givens` or copies changed it.
  const std::vector<Variable>& outputs() const noexcept;
  /// The shared variables that it changes, and the variables of the graph that runs which give
  /// their new values.
  const std::vector<std::pair<Variable, Variable>>& updates() const noexcept;
  /// The rewrites that ran, in order.
  const std::vector<RewriteReport>& rewrites() const noexcept;
  const std::string& mode() const noexcept;
  bool is_profiled() const noexcept;
  /// Nothing for a function that was compiled without `profile`. Waits for the call that runs.
  std::optional<FunctionProfile> profile() const;
  /// The first hundred thousand runs of its nodes, where it is profiled.
  std::vector<StepSpan> spans() const;
  double compile_seconds() const noexcept;
  /// The Apply nodes in the order in which they run.
  std::vector<Ref<Apply>> toposort() const;
  /// Drops intermediate results that are kept for reuse.
  void free() const;

 private:
  Ref<RefCounted> state_;
};

/// Compiles `outputs` as a function of `inputs`, which may be variables inside the graph. Throws
/// GraphError for an output that depends on a variable that is neither an input nor a constant, for
/// duplicate inputs, for inputs that no output needs (by `on_unused_input`), for givens of another
/// type, for updates of what is no shared variable or to another dtype or rank, and where an
/// overwritten variable would be read after.
SW_API CompiledFunction function(std::vector<Variable> inputs, std::vector<Variable> outputs,
                                 FunctionOptions options = {});

}  // namespace spanwise
