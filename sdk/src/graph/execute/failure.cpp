// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/failure.hpp"

#include <algorithm>
#include <exception>
#include <typeinfo>

#include "core/string_utils.hpp"
#include "graph/hooks_in_use.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise::graph {
namespace {

// Values are shown only for few elements in host memory.
constexpr std::int64_t max_shown = 5;

using ArrayText = std::string (*)(const Array& value);

std::string list(const std::vector<Ref<Cell>>& cells, ArrayText array_text) {
  const auto cell_text = [&](const Ref<Cell>& cell) {
    return cell->value ? array_text(*cell->value) : "no value";
  };
  return text('[', joined(cells, ", ", cell_text), ']');
}

std::string shape_text(const Array& value) { return text(value.shape()); }

std::string strides_text(const Array& value) {
  Strides bytes = value.strides();
  for (std::int64_t& stride : bytes) stride *= value.dtype().itemsize();
  return text(bytes);
}

std::string elements_text(const Array& value) {
  if (value.rank() == 0) return text(item(value));
  std::string elements;
  for (std::int64_t i = 0; i < value.shape()[0]; ++i)
    elements += (i ? ", " : "") + elements_text(value.index(0, i));
  return text('[', elements, ']');
}

std::string value_text(const Array& value) {
  const bool is_cheap =
      value.device().is_cpu() && value.size() <= max_shown && value.dtype().is_computable();
  return is_cheap ? elements_text(value) : "not shown";
}

std::string types(std::span<const Variable> variables) {
  const auto type_name = [](const Variable& variable) { return variable.type().name(); };
  return text('[', joined(variables, ", ", type_name), ']');
}

// For each output of the step, the nodes that read it.
std::string clients(const std::vector<Step>& steps, const Step& failed) {
  const auto readers = [&](const Ref<Cell>& output) {
    std::vector<std::string> labels;
    for (const Step& step : steps)
      if (std::ranges::find(step.inputs, output) != step.inputs.end())
        labels.push_back(step.node->label());
    return text('[', joined(labels), ']');
  };
  return text('[', joined(failed.outputs, ", ", readers), ']');
}

std::string created_at(const Apply& node) {
  return node.trace().empty() ? "" : "\nCreated at:\n" + node.trace();
}

// Throws make_copy(exception) if the exception's class is exactly E; a copy of a class derived
// elsewhere would be sliced.
template <class E, class Make>
void throw_copy_if(const std::exception& exception, const Make& make_copy) {
  if (typeid(exception) == typeid(E)) throw make_copy(static_cast<const E&>(exception));
}

// The same for classes that have only a message.
template <class... E>
void throw_message_if(const std::exception& exception, const std::string& message) {
  (throw_copy_if<E>(exception, [&](const E&) { return E(message); }), ...);
}

void throw_with_note(const std::exception& exception, const std::string& note) {
  const std::string message = text(exception.what(), "\n", note);
  const auto device_error = [&]<class E>(const E& e) { return E(message, e.code(), e.name()); };
  throw_copy_if<OutOfMemoryError>(exception, device_error);
  throw_copy_if<KernelFaultError>(exception, device_error);
  throw_copy_if<DeviceError>(exception, device_error);
  throw_copy_if<CompileError>(
      exception, [&](const CompileError& e) { return CompileError(message, e.log(), e.source()); });
  throw_copy_if<CollectiveError>(exception, [&](const CollectiveError& e) {
    return CollectiveError(message, e.number(), e.op(), e.calls());
  });
  throw_copy_if<SharingError>(exception,
                              [&](const SharingError& e) { return SharingError(e, message); });
  throw_message_if<ArgumentError, LayoutError, AxisError, BoundsError, DTypeError, CopyNeededError,
                   ReadOnlyError, BridgeError, KernelArgumentError, InputError, GraphError, Error>(
      exception, message);
}

}  // namespace

// Follows Theano's message (theano/gof/link.py, raise_with_op).
std::string note_on_run(const std::string& function_name, const std::vector<Step>& steps,
                        std::size_t failed) {
  const Step& step = steps[failed];
  return text("Apply node that caused the error: ", step.node->label(),
              "\nToposort index: ", failed, " of function ", function_name,
              "\nInputs types: ", types(step.node->inputs()),
              "\nInputs shapes: ", list(step.inputs, shape_text),
              "\nInputs strides: ", list(step.inputs, strides_text),
              "\nInputs values: ", list(step.inputs, value_text),
              "\nOutputs clients: ", clients(steps, step), created_at(*step.node));
}

std::string note_on_compile(const std::string& function_name, const Apply& node) {
  return text("Apply node that caused the error: ", node.label(), ", in make_thunk, for function ",
              function_name, "\nInputs types: ", types(node.inputs()), created_at(node));
}

void rethrow_with_note(const std::function<std::string()>& make_note) {
  const std::exception_ptr exception = std::current_exception();
  std::string note;
  try {
    note = make_note();
  } catch (const std::exception&) {
    // A failure to describe the node must not replace the original error.
    std::rethrow_exception(exception);
  }
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    throw_with_note(error, note);
    throw;
  } catch (...) {
    note_foreign(exception, note);
    throw;
  }
}

}  // namespace spanwise::graph
