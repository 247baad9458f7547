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

struct FunctionOptions {
  std::string name{};
  std::optional<Device> device{};  ///< where it runs; default: default_device() at compile time
  std::vector<std::pair<Variable, Variable>> givens{};  ///< replace the first by the second
  UnusedInput on_unused_input = UnusedInput::raise;
};

/// A value that does not fit the input that it was given for. Python: also TypeError.
class SW_API InputError : public GraphError {
 public:
  using GraphError::GraphError;
};

/// A graph bound to storage and ready to call. Copying shares it. Calls from several threads are
/// right; they take turns. A function that calls itself throws GraphError.
class SW_API CompiledFunction {
 public:
  explicit CompiledFunction(Ref<RefCounted> state) noexcept;

  /// One array per input, in order; gives one per output. An input on another device is copied to
  /// the function's. The results share memory with no input, constant or other result, and with
  /// nothing that the function keeps. Does not wait for the device.
  ///
  /// Throws InputError naming function and input where a value does not fit its type; an op's error
  /// keeps its type and gains the Apply node, its inputs' types, shapes and strides, and where it
  /// was made. After an error the function can be called again.
  std::vector<Array> operator()(std::span<const Array> inputs) const;
  std::vector<Array> operator()(std::initializer_list<Array> inputs) const {
    return (*this)(std::span(inputs.begin(), inputs.size()));
  }

  const std::string& name() const noexcept;
  Device device() const noexcept;
  const std::vector<Variable>& inputs() const noexcept;
  /// Of the graph that runs: not the variables that were given where `givens` or copies changed it.
  const std::vector<Variable>& outputs() const noexcept;
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
/// type, and where an overwritten variable would be read after.
SW_API CompiledFunction function(std::vector<Variable> inputs, std::vector<Variable> outputs,
                                 FunctionOptions options = {});

}  // namespace spanwise
