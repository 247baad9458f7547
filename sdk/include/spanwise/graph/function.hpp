// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spanwise/core/error.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/graph/op.hpp"

namespace spanwise {

/// What function() does about an input that no output needs: throws GraphError, warns or ignores
/// it.
enum class UnusedInput { raise, warn, ignore };

/// What mode "nan_guard" reports: NaN, infinite numbers, and finite ones of magnitude above 1e10.
struct NanGuard {
  bool nan_is_error = true, inf_is_error = true, big_is_error = true;
};

/// Selects the rewrites of a graph and the checks of its calls.
struct Mode {
  /// "fast_run": all rewrites. "fast_compile": the cheap ones. "debug": as fast_run, and each call
  /// checks every op, and compares the results with those of the graph without rewrites.
  /// "nan_guard": as fast_run without fusion and in-place ops, and each call throws GraphError
  /// naming the first node whose output has a number that `nan_guard` lists. "": config "mode".
  std::string name{};
  /// Names or tags of rewrites (graph/rewrite.hpp) to add and to exclude; excluding takes
  /// precedence.
  std::vector<std::string> including{}, excluding{};
  NanGuard nan_guard{};
};

struct FunctionOptions {
  std::string name{};
  std::optional<Device> device{};  ///< default: default_device() at compile time
  std::vector<std::pair<Variable, Variable>> givens{};  ///< replace the first by the second
  UnusedInput on_unused_input = UnusedInput::raise;
  /// Shared variables and their values after a call, computed from the values before the call.
  std::vector<std::pair<Variable, Variable>> updates{};
  /// Inputs that the function may overwrite.
  std::vector<Variable> mutable_inputs{};
  /// By position: outputs that may share memory with inputs, shared variables and one another.
  std::vector<bool> borrowed_outputs{};
  Mode mode{};
  bool profile = false;  ///< measures each node at each call
  /// True: an intermediate result is released after its last reader has run. False: its buffer is
  /// kept for the next call. Default: config "allow_gc".
  std::optional<bool> allow_gc{};
  /// Allocates intermediate results of statically known shape while compiling. Requires allow_gc to
  /// be false.
  bool preallocate = false;
};

/// Cost of one node over all calls: host time, or on a GPU the device time between events.
struct StepProfile {
  Ref<Apply> node{};
  std::int64_t calls = 0;
  double seconds = 0;
  std::int64_t output_bytes = 0;  ///< of the last call
};

/// Cost of a function. Obtaining it waits for the GPU work of earlier calls.
struct FunctionProfile {
  std::int64_t calls = 0;
  double call_seconds = 0;
  std::vector<StepProfile> steps{};  ///< in the order of toposort()
};

/// One run of one node: step index in toposort(), start in seconds since the function was compiled
/// (host clock), and duration in seconds.
struct StepSpan {
  std::size_t step = 0;
  double start = 0, seconds = 0;
};

/// Number of changes and duration of one rewrite while a function was compiled.
struct RewriteReport {
  std::string name;
  int changes = 0;
  double seconds = 0;
};

/// A value that does not match the type of its input. Python: also TypeError.
class SW_API InputError : public GraphError {
 public:
  using GraphError::GraphError;
};

/// A compiled graph. Copying shares it. Concurrent calls are serialised. Recursive calls, and calls
/// of two functions whose ops call each other from two threads, throw GraphError.
class SW_API CompiledFunction {
 public:
  explicit CompiledFunction(Ref<RefCounted> state) noexcept;

  /// Takes one array per input, in order; returns one per output. An input on another device is
  /// copied to the input's device. Unless declared in borrowed_outputs, results share memory with
  /// no input, constant, shared variable or other result. Does not wait for the device.
  ///
  /// Shared variables are updated atomically after all outputs are computed; after an error they
  /// keep their values. Functions that update the same variable run one at a time.
  ///
  /// Throws InputError naming function and input where a value does not match its type. An op's
  /// error keeps its type and gets a note with the Apply node, its inputs' types, shapes and
  /// strides, and where the node was made. After an error the function can be called again.
  std::vector<Array> operator()(std::span<const Array> inputs) const;
  std::vector<Array> operator()(std::initializer_list<Array> inputs) const {
    return (*this)(std::span(inputs.begin(), inputs.size()));
  }

  /// The same for results in memory of the caller's: `buffers` has one array for each output, of
  /// its dtype and shape, C-contiguous, without other references. The op that computes an output
  /// writes into the buffer where it can; the result is another array where it has not.
  std::vector<Array> call_with_buffers(std::span<const Array> inputs,
                                       std::vector<Array> buffers) const;

  /// The same for callers that hold a lock which other threads may need (the GIL), where the call
  /// only queues GPU work. Returns nullopt, having done nothing, where the function updates shared
  /// variables, an input would have to be copied to another device, another call is running, or a
  /// node is not asynchronous (Thunk::is_async()).
  std::optional<std::vector<Array>> call_at_once(std::span<const Array> inputs) const;

  const std::string& name() const noexcept;
  Device device() const noexcept;
  const std::vector<Variable>& inputs() const noexcept;
  /// The outputs of the rewritten graph; not the variables that were passed to function() where
  /// `givens` or rewrites replaced them.
  const std::vector<Variable>& outputs() const noexcept;
  /// The shared variables that it updates, and the variables of the rewritten graph that compute
  /// their new values.
  const std::vector<std::pair<Variable, Variable>>& updates() const noexcept;
  /// Reports of the rewrites that ran, in order.
  const std::vector<RewriteReport>& rewrites() const noexcept;
  const std::string& mode() const noexcept;
  bool is_profiled() const noexcept;
  /// nullopt for a function compiled without `profile`. Waits for a running call.
  std::optional<FunctionProfile> profile() const;
  /// The first 100000 runs of its nodes; empty for a function compiled without `profile`.
  std::vector<StepSpan> spans() const;
  double compile_seconds() const noexcept;
  /// The calls that repeated a recorded call on a GPU without running the nodes' thunks.
  std::int64_t repeated_calls() const;
  /// The Apply nodes in execution order.
  std::vector<Ref<Apply>> toposort() const;
  /// Releases the buffers of intermediate results that are kept for the next call.
  void free() const;

 private:
  Ref<RefCounted> state_;
};

/// Compiles `outputs` as a function of `inputs`, which may be variables inside the graph. Throws
/// GraphError for an output that depends on a variable which is neither input, constant nor shared;
/// for duplicate inputs; for inputs that no output needs (see `on_unused_input`); for givens of
/// another type; for updates of a variable that is not shared or with another dtype or rank; and
/// where a variable would be read after it is overwritten.
SW_API CompiledFunction function(std::vector<Variable> inputs, std::vector<Variable> outputs,
                                 FunctionOptions options = {});

}  // namespace spanwise
