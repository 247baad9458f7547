// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_body.hpp"

#include <array>

#include "embedded/elementwise_text.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/copy.hpp"

namespace spanwise::ops {
namespace {

// Threads write without synchronisation, since all write 1.
constexpr const char* exponent_check = R"(
template <class T>
__device__ __forceinline__ T checked(T exponent, int* has_negative) {
  if (exponent < 0) *has_negative = 1;
  return exponent;
}
)";

// The call of the operation. The body's arrays are the operands in memory, then the result.
std::string computation(const OperationKey& key) {
  std::string arguments;
  int next_element = 0;
  for (int i = 0; i < key.inputs; ++i) {
    std::string operand =
        key.is_number(i) ? text("a", i) : text("To<C", i, ">::from(sw_e", next_element++, ")");
    if (key.checks_exponent && i == 1) operand = text("checked(", operand, ", has_negative)");
    arguments += (i > 0 ? ", " : "") + operand;
  }
  return text("    sw_e", next_element, " = To<Z>::from(", traits_of(key.op).body, "::of(",
              arguments, "));\n");
}

}  // namespace

OperationKey::OperationKey(const OpSignature& signature, std::span<const Operand> call_operands,
                           DType result_dtype, bool is_masked) noexcept
    : op(signature.op),
      mixed(signature.mixed),
      inputs(static_cast<std::uint8_t>(call_operands.size())),
      has_mask(is_masked),
      compute(signature.compute),
      result(result_dtype) {
  for (std::size_t i = 0; i < call_operands.size(); ++i) {
    operands[i] = call_operands[i].dtype();
    if (call_operands[i].array == nullptr) numbers |= static_cast<std::uint8_t>(1u << i);
  }
}

strided::Body operation_body(const OperationKey& key) {
  const OpSignature signature = key.signature();
  strided::Body body;
  body.prelude = operations_text();
  for (int i = 0; i < key.inputs; ++i) {
    body.prelude += text("typedef ", compute_type(signature, signature.operand(i)), " C", i, ";\n");
    if (key.is_number(i)) {
      body.parameters += text("const C", i, " a", i, ", ");
    } else {
      body.arrays.push_back(
          {element_text(key.operands[static_cast<std::size_t>(i)]), strided::ArrayRole::read});
    }
  }
  body.prelude += text("typedef ", element_text(key.result), " Z;\n");
  body.arrays.push_back({"Z", strided::ArrayRole::write});
  if (key.has_mask) body.arrays.push_back({"unsigned char", strided::ArrayRole::mask});
  if (key.checks_exponent) {
    body.prelude += exponent_check;
    body.parameters += "int* has_negative, ";
  }
  body.statements = computation(key);
  return body;
}

const char* compute_type(const OpSignature& signature, DType dtype) {
  return dtype.is_bool() ? "bool" : element_text(loop_dtype(signature, dtype));
}

std::string operations_text() {
  std::string source = "#define SW_FN __device__ __forceinline__\n";
  for (const auto& file : embedded::elementwise_text) source += file.text;
  return source;
}

// ---- programs

namespace {

bool is_by_value(std::uint64_t numbers, int input) { return (numbers >> input & 1) != 0; }

int inputs_of(const ElementProgram& program) { return static_cast<int>(program.inputs.size()); }

// M: of an input; V: of the result of a step.
std::string type_of(const ElementProgram& program, int value) {
  return text(value < inputs_of(program) ? "M" : "V", value);
}

// The namespace of the user's body that computes a value.
std::string body_name(int value) { return text("sw_body", value); }

// The expression of a step's result, of type `type`. `values` are those before it.
std::string result_of(const ElementProgram& program, const ProgramStep& step,
                      const std::string& type, std::span<const std::string> values) {
  const auto arguments = program.arguments(step);
  if (step.body) {
    std::vector<std::string> operands;
    for (const int argument : arguments)
      operands.push_back(values[static_cast<std::size_t>(argument)]);
    const std::string call =
        body_call(step.body, body_name(static_cast<int>(values.size())), operands);
    return text("To<", type, ">::from(", call, ")");
  }
  if (is_cast(step.signature))
    return text("To<", type, ">::from(", values[static_cast<std::size_t>(arguments[0])], ")");
  std::string operands;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    operands += text(i > 0 ? ", " : "", "To<",
                     compute_type(step.signature, step.signature.operand(static_cast<int>(i))),
                     ">::from(", values[static_cast<std::size_t>(arguments[i])], ")");
  return text("To<", type, ">::from(", traits_of(step.signature.op).body, "::of(", operands, "))");
}

// The steps in order. The elements of the inputs in memory, then of the outputs, are `element` with
// a number.
std::string statements(const ElementProgram& program, std::uint64_t numbers,
                       std::string_view element) {
  std::vector<std::string> values;
  values.reserve(static_cast<std::size_t>(inputs_of(program)) + program.steps.size());
  int next_element = 0;
  for (int i = 0; i < inputs_of(program); ++i)
    values.push_back(is_by_value(numbers, i) ? text("a", i) : text(element, next_element++));
  std::string all;
  for (const ProgramStep& step : program.steps) {
    const auto value = static_cast<int>(values.size());
    const std::string type = type_of(program, value);
    all += text("      const ", type, " v", value, " = ", result_of(program, step, type, values),
                ";\n");
    values.push_back(text("v", value));
  }
  for (const int output : program.outputs)
    all += text("      ", element, next_element++, " = v", output, ";\n");
  return all;
}

// The types of values, and the functions of steps that have a user's body.
std::string types_of(const ElementProgram& program) {
  std::string types;
  for (int value = 0; value < program.value_count(); ++value)
    types +=
        text("typedef ", element_text(program.dtype(value)), ' ', type_of(program, value), ";\n");
  int value = inputs_of(program);
  for (const ProgramStep& step : program.steps) {
    if (step.body) types += body_source(step.body, body_name(value));
    ++value;
  }
  return types;
}

}  // namespace

strided::Body program_body(const ElementProgram& program, std::uint64_t numbers) {
  strided::Body body;
  body.prelude = operations_text() + types_of(program);
  for (int i = 0; i < inputs_of(program); ++i) {
    if (is_by_value(numbers, i)) {
      body.parameters += text("const M", i, " a", i, ", ");
    } else {
      body.arrays.push_back({type_of(program, i), strided::ArrayRole::read});
    }
  }
  for (const int output : program.outputs)
    body.arrays.push_back({type_of(program, output), strided::ArrayRole::write});
  body.statements = statements(program, numbers, "sw_e");
  return body;
}

std::string program_function(const ElementProgram& program, std::string_view name) {
  std::string parameters;
  int k = 0;
  for (; k < inputs_of(program); ++k) parameters += text(", const M", k, " a", k);
  for (const int output : program.outputs)
    parameters += text(", ", type_of(program, output), "& a", k++);
  return text("namespace ", name, " {\n", types_of(program), "SW_FN void run(",
              parameters.substr(2), ") {\n", statements(program, 0, "a"), "}\n}\n");
}

void CudaProgram::run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  if (outputs[0].size() == 0) return;
  const Device device = outputs[0].device();
  strided::StridedCall call(outputs[0].shape());
  std::array<void*, max_program_inputs> numbers;
  std::size_t count = 0;
  std::uint64_t by_value = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->device() == device || !runs_on_host(inputs[i]->device())) {
      call.add(*inputs[i], strided::ArrayRole::read);
      continue;
    }
    order_host_use(*inputs[i], false);  // the number may be on its way from a GPU
    numbers[count++] = inputs[i]->data();
    by_value |= std::uint64_t{1} << i;
  }
  for (const Array& output : outputs) call.add(output, strided::ArrayRole::write);
  call.plan();
  const strided::BodyKernel& kernel =
      call.kernel(kernels_[by_value], device, [&] { return program_body(program_, by_value); });
  call.launch(kernel, std::span(numbers.data(), count));
}

}  // namespace spanwise::ops
