// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/failure.hpp"

#include <exception>
#include <sstream>
#include <typeinfo>

#include "graph/hooks_in_use.hpp"
#include "spanwise/communicator.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/error.hpp"
#include "spanwise/graph/function.hpp"

namespace spanwise::graph {
namespace {

// Values are shown only for few elements in host memory.
constexpr std::int64_t max_shown = 5;

using Show = std::function<void(std::ostream& out, const Array& value)>;

std::string list(const std::vector<Ref<Cell>>& cells, const Show& show) {
  std::ostringstream out;
  out << '[';
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out << (i ? ", " : "");
    if (cells[i]->value)
      show(out, *cells[i]->value);
    else
      out << "no value";
  }
  out << ']';
  return out.str();
}

void show_shape(std::ostream& out, const Array& value) { out << value.shape(); }

void show_strides(std::ostream& out, const Array& value) {
  Strides bytes = value.strides();
  for (std::int64_t& stride : bytes) stride *= value.dtype().itemsize();
  out << bytes;
}

void show_elements(std::ostream& out, const Array& value) {
  if (value.rank() == 0) {
    out << item(value);
    return;
  }
  out << '[';
  for (std::int64_t i = 0; i < value.shape()[0]; ++i) {
    out << (i ? ", " : "");
    show_elements(out, value.index(0, i));
  }
  out << ']';
}

void show_value(std::ostream& out, const Array& value) {
  const bool cheap =
      value.device().is_cpu() && value.size() <= max_shown && value.dtype().is_computable();
  if (cheap)
    show_elements(out, value);
  else
    out << "not shown";
}

std::string types(std::span<const Variable> variables) {
  std::string types = "[";
  for (std::size_t i = 0; i < variables.size(); ++i)
    types += (i ? ", " : "") + variables[i].type().name();
  return types + "]";
}

std::string clients(const std::vector<Step>& steps, const Step& failed) {
  std::string all = "[";
  for (std::size_t output = 0; output < failed.outputs.size(); ++output) {
    all += output ? ", [" : "[";
    bool first = true;
    for (const Step& step : steps) {
      for (const Ref<Cell>& input : step.inputs) {
        if (input != failed.outputs[output]) continue;
        all += (first ? "" : ", ") + step.node->label();
        first = false;
        break;
      }
    }
    all += "]";
  }
  return all + "]";
}

std::string created_at(const Apply& node) {
  return node.trace().empty() ? "" : "\nCreated at:\n" + node.trace();
}

// Throws a copy with the note if the exception's class is exactly E; exceptions of classes derived
// elsewhere would be sliced.
template <class E, class Make>
void again_if(const std::exception& exception, const Make& make) {
  if (typeid(exception) == typeid(E)) throw make(static_cast<const E&>(exception));
}

void again_with(const std::exception& exception, const std::string& note) {
  const std::string message = text(exception.what(), "\n", note);
  const auto plain = [&]<class E>(const E&) { return E(message); };
  const auto device = [&]<class E>(const E& e) { return E(message, e.code(), e.name()); };
  again_if<OutOfMemoryError>(exception, device);
  again_if<DeviceError>(exception, device);
  again_if<CompileError>(
      exception, [&](const CompileError& e) { return CompileError(message, e.log(), e.source()); });
  again_if<CollectiveError>(exception, [&](const CollectiveError& e) {
    return CollectiveError(message, e.number(), e.op(), e.calls());
  });
  again_if<ArgumentError>(exception, plain);
  again_if<LayoutError>(exception, plain);
  again_if<BoundsError>(exception, plain);
  again_if<DTypeError>(exception, plain);
  again_if<CopyNeededError>(exception, plain);
  again_if<ReadOnlyError>(exception, plain);
  again_if<BridgeError>(exception, plain);
  again_if<KernelArgumentError>(exception, plain);
  again_if<InputError>(exception, plain);
  again_if<GraphError>(exception, plain);
  again_if<Error>(exception, plain);
}

}  // namespace

// Follows Theano's message (theano/gof/link.py, raise_with_op).
std::string note_on_run(const std::string& function_name, const std::vector<Step>& steps,
                        std::size_t failed) {
  const Step& step = steps[failed];
  return text("Apply node that caused the error: ", step.node->label(),
              "\nToposort index: ", failed, " of function ", function_name,
              "\nInputs types: ", types(step.node->inputs()),
              "\nInputs shapes: ", list(step.inputs, show_shape),
              "\nInputs strides: ", list(step.inputs, show_strides),
              "\nInputs values: ", list(step.inputs, show_value),
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
    again_with(error, note);
    throw;
  } catch (...) {
    note_foreign(exception, note);
    throw;
  }
}

}  // namespace spanwise::graph
