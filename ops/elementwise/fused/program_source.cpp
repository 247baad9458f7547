// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "../cuda/cuda_text.hpp"
#include "cuda_program.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/element_text.hpp"

// The CUDA text of a program.
namespace spanwise::ops {
namespace {

// M: of an input; V: of the result of a step.
std::string types_text(const ElementProgram& program) {
  const int inputs = static_cast<int>(program.inputs.size());
  std::string types;
  for (int value = 0; value < program.values(); ++value)
    types += text("typedef ", element_text(program.dtype(value)), value < inputs ? " M" : " V",
                  value, ";\n");
  return types;
}

std::string step_result(const ElementProgram& program, const ProgramStep& step, std::size_t value,
                        const std::vector<std::string>& values) {
  const auto arguments = program.arguments(step);
  if (is_cast(step.signature))
    return text("To<V", value, ">::from(", values[static_cast<std::size_t>(arguments[0])], ")");
  std::string list;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    list += text(i > 0 ? ", " : "", "To<",
                 compute_type(step.signature, step.signature.operand(static_cast<int>(i))),
                 ">::from(", values[static_cast<std::size_t>(arguments[i])], ")");
  return text("To<V", value, ">::from(", facts(step.signature.op).body, "::of(", list, "))");
}

// Declares v<number> for the result of each step. `values`: the inputs.
std::string steps_text(const ElementProgram& program, std::vector<std::string> values) {
  std::string all;
  for (const ProgramStep& step : program.steps) {
    const auto value = values.size();
    all += text("          const V", value, " v", value, " = ",
                step_result(program, step, value, values), ";\n");
    values.push_back(text("v", value));
  }
  return all;
}

class ProgramSource {
 public:
  ProgramSource(const ElementProgram& program, const ProgramLayout& layout)
      : program_(program), layout_(layout) {}

  std::string write() {
    KernelText kernel;
    kernel.layout = layout_.kernel;
    std::size_t read = 0;
    for (int i = 0; i < inputs(); ++i) {
      const bool is_number = (layout_.numbers >> i & 1) != 0;
      kernel.parameters += text("const M", i, is_number ? " a" : "* a", i, ", ");
      kernel.arguments += text("a", i, ", ");
      if (!is_number)
        kernel.reads.push_back(
            {text("a", i), text("M", i), std::to_string(i), layout_.patterns[read++]});
    }
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      kernel.results.push_back({text("z", k), text("V", program_.outputs[k])});
      kernel.parameters += text("V", program_.outputs[k], "* z", k, ", ");
      kernel.arguments += text("z", k, ", ");
    }
    kernel.compute = [&](const auto& element, const auto& targets) {
      return statements(kernel, element, targets);
    };
    return text(operations_text(), types_text(program_), kernel_text(kernel));
  }

 private:
  int inputs() const { return static_cast<int>(program_.inputs.size()); }

  template <class Element>
  std::string statements(const KernelText& kernel, const Element& element,
                         const std::vector<std::string>& targets) const {
    std::vector<std::string> values;
    std::size_t read = 0;
    for (int i = 0; i < inputs(); ++i)
      values.push_back((layout_.numbers >> i & 1) != 0 ? text("a", i)
                                                       : element(kernel.reads[read++]));
    std::string all = steps_text(program_, std::move(values));
    for (std::size_t k = 0; k < targets.size(); ++k)
      all += text("          ", targets[k], " = v", program_.outputs[k], ";\n");
    return all;
  }

  const ElementProgram& program_;
  const ProgramLayout& layout_;
};

}  // namespace

std::string program_source(const ElementProgram& program, const ProgramLayout& layout) {
  return ProgramSource(program, layout).write();
}

std::string program_function(const ElementProgram& program, std::string_view name) {
  std::string parameters, results;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    parameters += text(i > 0 ? ", " : "", "const M", i, " a", i);
    values.push_back(text("a", i));
  }
  for (std::size_t k = 0; k < program.outputs.size(); ++k) {
    parameters += text(parameters.empty() ? "" : ", ", "V", program.outputs[k], "& z", k);
    results += text("          z", k, " = v", program.outputs[k], ";\n");
  }
  return text("namespace ", name, " {\n", types_text(program), "SW_FN void run(", parameters,
              ") {\n", steps_text(program, std::move(values)), results, "}\n}\n");
}

}  // namespace spanwise::ops
