// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "kernel_expressions/expression_parameters.hpp"
#include "kernel_expressions/expression_source.hpp"
#include "parse/lexer.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/strided_call.hpp"

namespace spanwise::kernel_expressions {

// ElementwiseKernel: the source of a kernel, then a call of it.

/// What determines the source in addition to the user's code and the plan.
struct ElementwiseShape {
  bool is_flat = true;  ///< whether the arrays that are also used as a whole are in C order
  int axes = 1;         ///< unless flat: the number of axes of these arrays
  OperandForms forms{};

  friend bool operator==(const ElementwiseShape&, const ElementwiseShape&) = default;
};

/// The user's code of one kernel.
struct ElementwiseCode {
  const ElementwiseSpec& spec;
  const std::string& operation;  ///< with replace_element_accesses()
  bool needs_index;              ///< whether the code uses `i`
};

namespace {

// Whether `&` takes an address in the code, rather than being a binary operator.
bool takes_addresses(std::string_view code) {
  const std::vector<parse::Token> tokens = parse::lex(code);
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (!tokens[k].text.ends_with("&") || tokens[k].text.ends_with("&&")) continue;
    if (k == 0) return true;
    const parse::Token& before = tokens[k - 1];
    const bool is_operand = before.kind == parse::Token::Kind::identifier ||
                            before.kind == parse::Token::Kind::number || before.text == ")" ||
                            before.text == "]";
    if (!is_operand || before.text == "return") return true;
  }
  return false;
}

bool has_memory_instructions(std::string_view code) {
  const std::vector<parse::Token> tokens = parse::lex(code);
  return std::any_of(tokens.begin(), tokens.end(), [](const parse::Token& token) {
    return token.text.starts_with("atomic") || token.text == "asm" || token.text == "__asm__" ||
           token.text == "volatile";
  });
}

// Whether the operation is too long to be repeated in a kernel's thread, or has loops.
bool is_long_operation(const std::string& operation) {
  constexpr std::size_t max_characters = 400;
  return has_token(operation, "for") || has_token(operation, "while") ||
         operation.size() > max_characters;
}

// Whether outputs must be accessed in memory: the code has atomics or assembler text, or takes
// addresses of elements.
bool outputs_need_memory(const ElementwiseSpec& spec) {
  const std::string all = text(spec.common.preamble, "\n", spec.loop_prep, "\n", spec.operation);
  if (has_memory_instructions(all)) return true;
  return spec.style == ParameterStyle::pointers && takes_addresses(spec.operation);
}

// How the kernel uses the array of an operand that is accessed by element. `needs_memory`: see
// outputs_need_memory().
strided::ArrayRole role_of(const ConvertedArgument& operand, bool needs_memory) {
  const Parameter& parameter = *operand.parameter;
  if (!parameter.is_output)
    return parameter.is_user_type() ? strided::ArrayRole::read_in_place : strided::ArrayRole::read;
  needs_memory |= parameter.is_user_type() || parameter.needs_whole_array;
  return needs_memory ? strided::ArrayRole::write_in_place : strided::ArrayRole::update;
}

/// Writes the body of one kernel.
class ElementwiseText {
 public:
  ElementwiseText(const ElementwiseCode& code, std::span<const ConvertedArgument> operands,
                  const ElementwiseShape& shape)
      : code_(code), operands_(operands), shape_(shape) {}

  // Arrays: those accessed by element, in order, then the index, if it is
  // needed or there are no others. Parameters: the other operands; if not flat, sw_raw of each
  // array that is also used as a whole; the number of elements.
  strided::Body body() {
    strided::Body body;
    body.name = code_.spec.common.name;
    std::string types;
    const bool needs_memory = outputs_need_memory(code_.spec);
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const ConvertedArgument& operand = operands_[i];
      const std::string declared =
          parameter_text(operand, shape_.forms[i], has_pointer_style(), types);
      if (operand.is_element()) {
        body.arrays.push_back({element_type(operand), role_of(operand, needs_memory)});
      } else {
        body.parameters += declared;
      }
    }
    if (code_.needs_index || body.arrays.empty())
      body.arrays.push_back({"", strided::ArrayRole::index});
    body.parameters += whole_array_parameters(types) + "const long long n, ";
    body.prelude = prologue(code_.spec.common, operands_, types);
    std::tie(body.hide_macros, body.show_macros) = macros_around_library(code_.spec.common);
    body.before = whole_array_pointers();
    if (has_token(code_.operation, "_ind")) body.before += "  const sw_count _ind{n};\n";
    body.before += statements("loop_prep of ", code_.spec.loop_prep);
    body.after = statements("after_loop of ", code_.spec.after_loop);
    body.statements = computation();
    return body;
  }

 private:
  bool has_pointer_style() const { return code_.spec.style == ParameterStyle::pointers; }

  std::string statements(const char* part, const std::string& code) const {
    return with_line_directives(text(part, code_.spec.common.name),
                                code.empty() ? "" : code + "\n;");
  }

  // Unless flat, arrays that are also used as a whole are passed as sw_raw.
  std::string whole_array_parameters(std::string& types) const {
    std::string list;
    for (const ConvertedArgument& operand : operands_)
      if (!shape_.is_flat && operand.is_element() && operand.parameter->needs_whole_array)
        list += whole_array_text(operand, shape_.axes, types);
    return list;
  }

  // In a flat kernel, arrays that are also used as a whole are pointers.
  std::string whole_array_pointers() const {
    std::string out;
    int array = 0;
    for (const ConvertedArgument& operand : operands_) {
      if (!operand.is_element()) continue;
      if (shape_.is_flat && operand.parameter->needs_whole_array)
        out += text("  ", constness(operand), element_type(operand), "* const ",
                    operand.parameter->name, " = sw_p", array, ";\n");
      ++array;
    }
    return out;
  }

  // Defines x, or x[i], of the operation as the element of an array.
  std::string element(const ConvertedArgument& operand, int array) const {
    const std::string type = element_type(operand), &name = operand.parameter->name;
    if (has_pointer_style())
      return text("    ", constness(operand), type, "* const sw_at_", name, " = &sw_e", array,
                  ";\n");
    const char* reference = operand.parameter->is_output ? "& " : " ";
    return text("    ", constness(operand), type, reference, name, " = sw_e", array, ";\n");
  }

  std::string computation() const {
    std::string out;
    int array = 0;
    for (const ConvertedArgument& operand : operands_)
      if (operand.is_element()) out += element(operand, array++);
    if (code_.needs_index) out += text("    const long long i = sw_e", array, ";\n");
    // PyCUDA's operations are in a loop, where `continue` ends one.
    return text(out, "    do {", statements("operation of ", code_.operation), "} while (0);\n");
  }

  const ElementwiseCode& code_;
  std::span<const ConvertedArgument> operands_;
  const ElementwiseShape& shape_;
};

}  // namespace

/// What selects one of the compiled kernels.
struct ElementwiseKernel::Variant {
  ElementwiseShape shape;
  strided::PlanShape plan;
  Device device;

  /// References to the variant of a call, for the lookup.
  struct Key {
    const ElementwiseShape& shape;
    const strided::PlanShape& plan;
    Device device;
  };
  explicit Variant(const Key& key) : shape(key.shape), plan(key.plan), device(key.device) {}
  friend bool operator==(const Variant& a, const Key& b) {
    return a.plan == b.plan && a.device == b.device && a.shape == b.shape;
  }
};

/// One call. try_plan() determines shapes, outputs and the variant, from which the source and the
/// launch follow.
class ElementwiseKernel::Call {
 public:
  Call(const ElementwiseKernel& kernel, std::span<const Argument> arguments)
      : kernel_(kernel),
        operands_(kernel.label_, kernel.parameters_, arguments),
        on_gpu_(!runs_on_host(operands_.device()) || kernel.spec_.common.use_gpu_code) {}

  void run(std::optional<std::int64_t> size, std::vector<Array>& allocated);
  std::string source(std::optional<std::int64_t> size, bool on_gpu);

 private:
  // Returns false if there are no elements.
  bool try_plan(std::optional<std::int64_t> size, std::vector<Array>& allocated);
  std::string source() const;
  void find_shape(std::optional<std::int64_t> size);
  void use_size(std::optional<std::int64_t> size, bool has_elements);
  void make_outputs(bool has_size, std::vector<Array>& allocated);
  Array new_output(DType dtype) const;
  void check_outputs();
  bool is_flat() const;
  void plan_operands();
  void plan_loop();

  const Kernel& function();
  void launch();
  bool wants_pointer() const { return kernel_.spec_.style == ParameterStyle::pointers; }

  const ElementwiseKernel& kernel_;
  Operands operands_;
  bool on_gpu_;
  Shape shape_;
  std::int64_t size_ = 0;
  ElementwiseShape kernel_shape_;
  std::optional<Layout> index_;  ///< of the array of indices, if the loop has one
  std::optional<strided::StridedCall> loop_;
};

bool ElementwiseKernel::Call::try_plan(std::optional<std::int64_t> size,
                                       std::vector<Array>& allocated) {
  find_shape(size);
  make_outputs(size.has_value(), allocated);
  check_outputs();
  size_ = Layout{shape_, Strides(shape_.size()), 0}.size();
  if (size_ > 0) plan_operands();
  return size_ > 0;
}

void ElementwiseKernel::Call::find_shape(std::optional<std::int64_t> size) {
  const std::optional<Shape> shape = operands_.broadcast_shape(/*with_outputs=*/true);
  if (!shape || size) return use_size(size, shape.has_value());
  shape_ = *shape;
}

void ElementwiseKernel::Call::use_size(std::optional<std::int64_t> size, bool has_elements) {
  if (has_elements)
    fail<ArgumentError>(kernel_.label_,
                        ": size= is for kernels whose arrays are all raw; arrays that are "
                        "accessed element by element determine the size here");
  bool has_output = false, has_number = false;
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.array == nullptr && operand.parameter->kind == Parameter::Kind::element)
      (operand.parameter->is_output ? has_output : has_number) = true;
  if (!size && has_output && has_number) return;  // numbers only: one element
  if (!size.has_value())
    fail<ArgumentError>(kernel_.label_, ": no array determines the number of elements; pass size=");
  if (*size < 0) fail<ArgumentError>(kernel_.label_, ": expected size >= 0, got ", *size);
  shape_ = Shape{*size};
}

// A raw output has as many elements as the call, where size= gives them, as in CuPy.
void ElementwiseKernel::Call::make_outputs(bool has_size, std::vector<Array>& allocated) {
  for (std::size_t i = 0; i < operands_.all().size(); ++i) {
    ConvertedArgument& operand = operands_[i];
    if (operand.array != nullptr || !operand.parameter->is_output) continue;
    if (operand.parameter->kind != Parameter::Kind::element && !has_size)
      fail<KernelArgumentError>(
          kernel_.label_, ": output '", operand.parameter->name,
          "' is raw, so its shape is unknown; pass an array for it, or size=");
    allocated.push_back(operands_.keep(i, new_output(operands_.dtype_of(*operand.parameter))));
  }
}

Array ElementwiseKernel::Call::new_output(DType dtype) const {
  std::array<const Layout*, max_operands> layouts;
  std::size_t count = 0;
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.is_element()) layouts[count++] = &operand.array->layout();
  return empty_in(result_layout(shape_, std::span(layouts.data(), count)), dtype,
                  operands_.output_device());
}

void ElementwiseKernel::Call::check_outputs() {
  for (std::size_t i = 0; i < operands_.all().size(); ++i) {
    const ConvertedArgument& output = operands_[i];
    if (output.array == nullptr || !output.parameter->is_output) continue;
    operands_.check_output(i, shape_);
    operands_.separate_from(i, /*allows_same_view=*/true);
  }
}

bool ElementwiseKernel::Call::is_flat() const {
  const auto needs_whole_array = [](const ConvertedArgument& operand) {
    return operand.is_element() && operand.parameter->needs_whole_array;
  };
  const auto has_other_layout = [&](const ConvertedArgument& operand) {
    return operand.is_element() &&
           (!operand.array->layout().is_row_major() || operand.array->shape() != shape_);
  };
  return std::ranges::none_of(operands_.all(), needs_whole_array) ||
         std::ranges::none_of(operands_.all(), has_other_layout);
}

void ElementwiseKernel::Call::plan_operands() {
  // The layouts of arrays that are accessed only by element are part of the plan.
  kernel_shape_.is_flat = is_flat();
  if (!kernel_shape_.is_flat) kernel_shape_.axes = std::max(1, shape_.size());
  kernel_shape_.forms.count = operands_.all().size();
  for (std::size_t i = 0; i < kernel_shape_.forms.count; ++i) {
    const ConvertedArgument& operand = operands_[i];
    kernel_shape_.forms[i] = operand.is_element() ? element_form(operand) : raw_form(operand);
  }
  plan_loop();
}

void ElementwiseKernel::Call::plan_loop() {
  loop_.emplace(shape_);
  bool has_elements = false;
  for (const ConvertedArgument& operand : operands_.all()) {
    if (!operand.is_element()) continue;
    loop_->add(*operand.array, role_of(operand, kernel_.outputs_need_memory_));
    has_elements = true;
  }
  if (kernel_.needs_index_ || !has_elements)
    loop_->add_index(index_.emplace(Layout::row_major(shape_)));
  loop_->plan(on_gpu_ ? kernel_.options_
                      : strided::PlanOptions{.max_width = 1, .packs = 1, .is_serial = true});
}

void ElementwiseKernel::Call::run(std::optional<std::int64_t> size, std::vector<Array>& allocated) {
  if (try_plan(size, allocated)) launch();
}

std::string ElementwiseKernel::Call::source(std::optional<std::int64_t> size, bool on_gpu) {
  std::vector<Array> allocated;
  on_gpu_ = on_gpu;
  return try_plan(size, allocated) ? source() : "";
}

std::string ElementwiseKernel::Call::source() const {
  const ElementwiseCode code{kernel_.spec_, kernel_.operation_, kernel_.needs_index_};
  return cuda_source(ElementwiseText(code, operands_.all(), kernel_shape_).body(), loop_->shape());
}

const Kernel& ElementwiseKernel::Call::function() {
  const Device device = operands_.device();
  return kernel_.kernels_.get(Variant::Key{kernel_shape_, loop_->shape(), device}, [&] {
    return compiled(kernel_.spec_.common, source(), kernel_.spec_.common.name, device,
                    kernel_.spec_.operation);
  });
}

void ElementwiseKernel::Call::launch() {
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.is_raw())
      order_use(Stream::current(operands_.device()), *operand.array, operand.parameter->is_output);
  ParameterValues values;
  values.add_operands(operands_, kernel_shape_.forms, wants_pointer(), /*has_elements=*/false);
  if (!kernel_shape_.is_flat) values.add_whole_arrays(operands_, shape_);
  values.add(&size_);
  const Kernel& kernel = function();
  try {
    kernel_.variables_.around(kernel, [&] { loop_->launch(kernel, values.all()); });
  } catch (const KernelFaultError& error) {
    throw KernelFaultError(with_operand_names(error.what(), operands_));
  }
}

ElementwiseKernel::ElementwiseKernel(ElementwiseSpec spec)
    : spec_(std::move(spec)), label_(checked_label(spec_.common)) {
  const std::string& preamble = spec_.common.preamble;
  const std::string all = text(spec_.loop_prep, "\n", spec_.operation, "\n", spec_.after_loop);
  operation_ = spec_.operation;
  if (spec_.style == ParameterStyle::pointers) {
    parameters_ = pointer_parameters(label_, spec_.arguments, preamble);
    const bool has_own_index = declares_index(spec_.operation);
    find_elements(all, has_own_index, parameters_);
    if (!has_own_index)
      operation_ = replace_element_accesses(spec_.operation, element_names(parameters_));
    inputs_ = parameters_.size();
  } else {
    parameters_ = value_parameters(label_, spec_.in_params, spec_.out_params);
    for (Parameter& parameter : parameters_) {
      parameter.needs_whole_array = parameter.kind == Parameter::Kind::raw;
      inputs_ += parameter.is_output ? 0 : 1;
    }
    if (parameters_.size() == inputs_)
      fail<ArgumentError>(label_,
                          ": expected outputs such as \"T z\", got none; declare them as the "
                          "second string");
  }
  check_names(label_, parameters_);
  if (std::ranges::all_of(parameters_, [](const Parameter& parameter) {
        return parameter.kind == Parameter::Kind::number;
      }))
    fail<ArgumentError>(label_,
                        ": expected an array among the arguments, got numbers only; declare one "
                        "such as \"float *z\"");
  outputs_need_memory_ = outputs_need_memory(spec_);
  options_ = plan_options();
  needs_index_ = has_token(operation_, "i") || has_token(preamble, "i");
}

// Packs of 8 reach most of the speed of wider ones, and repeat the operation less often.
strided::PlanOptions ElementwiseKernel::plan_options() const {
  if (is_long_operation(operation_)) return {.max_width = 1, .packs = 1};
  bool in_place = outputs_need_memory_;
  for (const Parameter& parameter : parameters_)
    in_place |= parameter.kind == Parameter::Kind::element &&
                (parameter.is_user_type() || (parameter.is_output && parameter.needs_whole_array));
  if (in_place) return {.max_width = 1, .packs = 4};
  return {.max_width = 8, .packs = 2};
}

ElementwiseKernel::~ElementwiseKernel() = default;

void ElementwiseKernel::operator()(std::span<const Argument> arguments,
                                   std::optional<std::int64_t> size,
                                   std::vector<Array>& allocated) const {
  Call(*this, arguments).run(size, allocated);
}

std::string ElementwiseKernel::source(std::span<const Argument> arguments,
                                      std::optional<std::int64_t> size, bool on_gpu) const {
  return Call(*this, arguments).source(size, on_gpu);
}

}  // namespace spanwise::kernel_expressions
