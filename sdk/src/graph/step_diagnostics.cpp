// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>
#include <typeinfo>
#include <utility>

#include "core/string_utils.hpp"
#include "graph/graph_program.hpp"
#include "graph/step_diagnostics.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/hooks.hpp"
#include "spanwise/runtime/copy.hpp"

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
              "\nInputs shapes: ", list(step.inputs, shape_text), "\nInputs strides: ",
              list(step.inputs, [](const Array& value) { return strides_text(value); }),
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

namespace {

// `tolerance` is relative; `noise` is absolute, for sums whose terms cancel.
bool is_close(double a, double b, double tolerance, double noise) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b)) + noise;
}

Array on_host(const Array& value) { return contiguous(to_device(value, cpu)); }

}  // namespace

bool have_same_bytes(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const Array left = on_host(a), right = on_host(b);
  return left.nbytes() == 0 ||
         std::memcmp(left.data(), right.data(), static_cast<std::size_t>(left.nbytes())) == 0;
}

double largest_number(const Array& array) {
  if (!array.dtype().is_floating()) return 0;
  const Array values = on_host(astype(array, float64));
  const auto* x = static_cast<const double*>(values.data());
  double largest = 0;
  for (std::int64_t i = 0; i < values.size(); ++i)
    if (std::isfinite(x[i])) largest = std::max(largest, std::abs(x[i]));
  return largest;
}

bool have_same_values(const Array& a, const Array& b, double largest, bool finite_only, int bits) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (have_same_bytes(a, b)) return true;
  if (!a.dtype().is_floating()) return false;
  // `rounding` is 64 times the machine epsilon of float64 and float32, 8 times that of float16.
  bits = std::min<int>(bits, a.dtype().bits());
  const bool is_double = bits >= 64, is_single = bits == 32;
  const double tolerance = is_double ? 1e-9 : is_single ? 1e-4 : 1e-2;
  const double rounding = is_double ? 0x1p-46 : is_single ? 0x1p-17 : 0x1p-7;
  const double noise = tolerance * tolerance + rounding * largest;
  const Array left = on_host(astype(a, float64)), right = on_host(astype(b, float64));
  const auto* x = static_cast<const double*>(left.data());
  const auto* y = static_cast<const double*>(right.data());
  for (std::int64_t i = 0; i < left.size(); ++i)
    if (!is_close(x[i], y[i], tolerance, noise) && !(finite_only && !std::isfinite(y[i])))
      return false;
  return true;
}

namespace {

using Snapshot = std::vector<std::optional<Array>>;

// The values of the cells; with `copied` copies of their arrays.
Snapshot values_of(const std::vector<Ref<Cell>>& cells, bool copied) {
  Snapshot values;
  for (const Ref<Cell>& cell : cells) {
    values.emplace_back();
    if (cell->value) values.back() = copied ? copy(*cell->value) : *cell->value;
  }
  return values;
}

// Whether `map` names the input, or another input that is the same variable.
bool is_mapped(const Step& step, const AliasMap& map, std::size_t input) {
  for (const auto& [output, inputs] : map)
    for (const int mapped : inputs)
      if (step.inputs[static_cast<std::size_t>(mapped)] == step.inputs[input]) return true;
  return false;
}

double largest_magnitude(const Snapshot& inputs) {
  double largest = 0;
  for (const std::optional<Array>& input : inputs)
    if (input) largest = std::max(largest, largest_number(*input));
  return largest;
}

// Restores the contents of cells in its destructor, also if the second run throws.
class CellRestorer {
 public:
  explicit CellRestorer(const std::vector<Ref<Cell>>& cells)
      : cells_(cells), values_(values_of(cells, false)) {}
  ~CellRestorer() {
    for (std::size_t i = 0; i < values_.size(); ++i) cells_[i]->value = std::move(values_[i]);
  }
  CellRestorer(const CellRestorer&) = delete;
  CellRestorer& operator=(const CellRestorer&) = delete;

 private:
  const std::vector<Ref<Cell>>& cells_;
  Snapshot values_;
};

void check_inputs_kept(const Step& step, const Snapshot& before) {
  const Op& op = step.node->op();
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (!before[i] || is_mapped(step, op.destroy_map(), i)) continue;
    if (!step.inputs[i]->value || !have_same_bytes(*before[i], *step.inputs[i]->value))
      fail<GraphError>(op.name(), ": changed its input ", i,
                       ", which its destroy_map does not name; declare it there, or write to a "
                       "copy");
  }
}

void check_sharing(const Step& step, const Snapshot& inputs) {
  const Op& op = step.node->op();
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const auto& output = step.outputs[i]->value;
    if (!output || output->size() == 0) continue;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!inputs[k] || inputs[k]->size() == 0 || !may_share_memory(*output, *inputs[k])) continue;
      const bool declared =
          is_mapped(step, op.view_map(), k) || is_mapped(step, op.destroy_map(), k);
      if (!declared)
        fail<GraphError>(op.name(), ": output ", i, " shares memory with input ", k,
                         ", which neither view_map nor destroy_map says; declare it, or give a "
                         "copy");
    }
    for (std::size_t k = 0; k < i; ++k) {
      const auto& other = step.outputs[k]->value;
      const bool shares = other && other->size() > 0 && may_share_memory(*output, *other);
      if (shares && op.view_map().empty())
        fail<GraphError>(op.name(), ": outputs ", k, " and ", i,
                         " share memory; expected separate memory for each");
    }
  }
}

}  // namespace

void run_twice(const Step& step, const std::function<void()>& run) {
  const Snapshot before = values_of(step.inputs, true), arrays = values_of(step.inputs, false);
  run();
  check_sharing(step, arrays);
  check_inputs_kept(step, before);
  const Snapshot first = values_of(step.outputs, true);
  const CellRestorer inputs(step.inputs), outputs(step.outputs);
  // Runs again on copies of the inputs, into new outputs.
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i]) step.inputs[i]->value = copy(*before[i]);
  for (const Ref<Cell>& cell : step.outputs) cell->value.reset();
  run();
  const double largest = largest_magnitude(before);
  for (std::size_t i = 0; i < first.size(); ++i)
    if (!first[i] || !have_same_values(*first[i], *step.outputs[i]->value, largest))
      fail<GraphError>(step.node->op().name(), ": output ", i,
                       " differs when the node runs again on the same inputs; expected the same "
                       "values each time");
}

namespace {

// As in Theano's NanGuardMode.
constexpr double big = 1e10;

/// Counts and range of the numbers of an array; real and imaginary parts are separate numbers.
struct NumberCounts {
  std::int64_t nans = 0, infinities = 0, finite = 0;
  double smallest = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();

  void add(double x) {
    if (std::isnan(x)) {
      ++nans;
    } else if (std::isinf(x)) {
      ++infinities;
    } else {
      ++finite;
      smallest = std::min(smallest, x);
      greatest = std::max(greatest, x);
    }
  }
  bool is_big() const { return finite > 0 && std::max(-smallest, greatest) > big; }
};

bool can_hold_nan(const Array& array) {
  return array.dtype().is_floating() || array.dtype().is_complex();
}

NumberCounts count_numbers(const Array& array) {
  const bool is_complex = array.dtype().is_complex();
  const Array values = contiguous(to_device(astype(array, is_complex ? complex128 : float64), cpu));
  const auto* x = static_cast<const double*>(values.data());
  NumberCounts numbers;
  for (std::int64_t i = 0; i < values.size() * (is_complex ? 2 : 1); ++i) numbers.add(x[i]);
  return numbers;
}

std::string description_of(const NumberCounts& numbers) {
  std::vector<std::string> parts;
  if (numbers.nans > 0) parts.push_back(text(numbers.nans, " NaN"));
  if (numbers.infinities > 0) parts.push_back(text(numbers.infinities, " infinite"));
  const char* prefix = parts.empty() ? "from " : "others from ";
  if (numbers.finite > 0) parts.push_back(text(prefix, numbers.smallest, " to ", numbers.greatest));
  return parts.empty() ? "no elements" : joined(parts);
}

std::string allowed(const NanGuard& errors) {
  std::vector<std::string_view> kinds;
  if (errors.nan_is_error) kinds.push_back("no NaN");
  if (errors.inf_is_error) kinds.push_back("no infinite number");
  if (errors.big_is_error) kinds.push_back("no magnitude above 1e10");
  return joined(kinds, " and ");
}

// "2 NaN; expected no NaN" for a value with such errors; "" for others, and for no value.
std::string errors_in(const std::optional<Array>& value, const NanGuard& errors) {
  if (!value || !can_hold_nan(*value)) return "";
  const NumberCounts numbers = count_numbers(*value);
  const bool has_error = (errors.nan_is_error && numbers.nans > 0) ||
                         (errors.inf_is_error && numbers.infinities > 0) ||
                         (errors.big_is_error && numbers.is_big());
  return has_error ? text(description_of(numbers), "; expected ", allowed(errors)) : "";
}

// Throws GraphError where an input of the step that no step computes has a number that `errors`
// names.
void check_leaves(const Step& step, const std::vector<int>& producers, const NanGuard& errors) {
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    if (producers[i] >= 0) continue;
    if (const std::string found = errors_in(step.inputs[i]->value, errors); !found.empty())
      fail<GraphError>("nan_guard: the input ", step.node->inputs()[i].label(),
                       " of the function: ", found);
  }
}

// "x: from 0 to 1; y: 2 NaN, others from -1 to 3": the numbers in the input cells.
std::string ranges_of_inputs(const Step& step) {
  std::string ranges;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const auto& value = step.inputs[i]->value;
    ranges += (i ? "; " : "") + step.node->inputs()[i].label() + ": ";
    if (!value)
      ranges += "no value";
    else if (!can_hold_nan(*value))
      ranges += value->dtype().name();
    else
      ranges += description_of(count_numbers(*value));
  }
  return ranges;
}

}  // namespace

void run_guarded(const Step& step, const std::vector<int>& producers, const NanGuard& errors,
                 const std::function<void()>& run) {
  check_leaves(step, producers, errors);
  // Inputs that the step overwrites are described before it runs.
  const std::string ranges =
      step.node->op().destroy_map().empty() ? std::string() : ranges_of_inputs(step);
  run();
  check_outputs(step, errors, ranges);
}

void check_outputs(const Step& step, const NanGuard& errors, const std::string& ranges) {
  for (std::size_t i = 0; i < step.outputs.size(); ++i)
    if (const std::string found = errors_in(step.outputs[i]->value, errors); !found.empty())
      fail<GraphError>("nan_guard: output ", i, " of ", step.node->label(), ": ", found,
                       "\nInputs ranges: [", ranges.empty() ? ranges_of_inputs(step) : ranges, "]");
}

}  // namespace spanwise::graph
