// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "user_body.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>

#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/parse/element_text.hpp"
#include "spanwise/parse/user_code.hpp"

namespace spanwise::ops {
namespace {

// The type of a value in the user's text.
std::string text_type(DType dtype) {
  if (dtype.is_bool()) return "bool";
  return element_text(loop_dtype(dtype));
}

// The lines of a preamble that must be outside of a namespace, and the others.
std::pair<std::string, std::string> split_includes(const std::string& preamble) {
  std::string outside, inside, line;
  for (std::istringstream lines(preamble); std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(" \t");
    const bool is_include = first != line.npos && line.compare(first, 8, "#include") == 0;
    (is_include ? outside : inside) += line + "\n";
    if (is_include) inside += "\n";  // lines keep their numbers
  }
  return {outside, inside};
}

std::string loop_source(const UserBody& body) {
  const ElementBody& element = *body.element_body;
  std::string arrays;
  std::string list;
  const auto array = [&](const char* constness, DType dtype, std::size_t index) {
    const std::string type = dtype.is_bool() ? "unsigned char" : text_type(dtype);
    arrays += text("  ", constness, type, "* sw_", index, " = (", constness, type, "*)sw_arrays[",
                   index, "];\n");
  };
  for (std::size_t i = 0; i < element.inputs.size(); ++i) {
    array("const ", element.inputs[i].dtype, i);
    list += text(i > 0 ? ", " : "", "sw_", i, "[sw_i]",
                 element.inputs[i].dtype.is_bool() ? " != 0" : "");
  }
  const std::size_t result = element.inputs.size();
  array("", element.outputs[static_cast<std::size_t>(body.output)].dtype, result);
  // The result may be the memory of an operand, element by element.
  return text(body_source(body, "sw_body"),
              "__device__ void sw_loop(const void*, long long sw_n, char* const* sw_arrays) {\n",
              arrays, "#pragma GCC ivdep\n  for (long long sw_i = 0; sw_i < sw_n; ++sw_i)\n",
              "    sw_", result, "[sw_i] = sw_body::of(", list, ");\n}\n",
              "extern \"C\" __global__ void sw_address(unsigned long long* sw_result) {\n",
              "  *sw_result = (unsigned long long)&sw_loop;\n}\n");
}

/// A compiled loop and the kernel that keeps its code loaded.
struct CompiledLoop {
  Kernel kernel;
  Loop loop;
};

// A kernel of the module passes on the address of the loop, which is then called without a launch.
CompiledLoop compiled_loop(const std::string& source) {
  const Kernel kernel = SourceModule(source, {.device = cpu}).get_function("sw_address");
  const Array address = zeros(Shape{1}, uint64, cpu);
  kernel({}, {KernelArg(address)});
  return {kernel, reinterpret_cast<Loop>(*static_cast<const std::uint64_t*>(address.data()))};
}

}  // namespace

bool fits_program(const ElementBody& body) noexcept {
  const auto is_real = [](const ElementBody::Value& value) {
    return value.dtype.is_computable() && !value.dtype.is_complex();
  };
  return !body.inputs.empty() && body.inputs.size() <= max_operands && !body.outputs.empty() &&
         std::all_of(body.inputs.begin(), body.inputs.end(), is_real) &&
         std::all_of(body.outputs.begin(), body.outputs.end(), is_real);
}

std::string body_source(const UserBody& body, const std::string& name) {
  const ElementBody& element = *body.element_body;
  const auto [outside, inside] = split_includes(element.preamble);
  std::string types, parameters, results;
  for (const auto& [type, dtype] : element.types)
    types += text("typedef ", text_type(dtype), " ", type, ";\n");
  for (const ElementBody::Value& input : element.inputs)
    parameters +=
        text(parameters.empty() ? "" : ", ", "const ", text_type(input.dtype), " ", input.name);
  for (const ElementBody::Value& output : element.outputs)
    results += text("  ", text_type(output.dtype), " ", output.name, " = 0;\n");
  const ElementBody::Value& result = element.outputs[static_cast<std::size_t>(body.output)];
  return text(outside, "namespace ", name, " {\n", types,
              parse::with_line_directives(text("preamble of ", element.op), inside),
              "__device__ inline ", text_type(result.dtype), " of(", parameters, ") {\n", results,
              parse::element_statements(text("operation of ", element.op), element.operation),
              "  return ", result.name, ";\n}\n}\n");
}

std::string body_call(const UserBody& body, const std::string& name,
                      std::span<const std::string> values) {
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i)
    list += text(i > 0 ? ", " : "", "To<", text_type(body.element_body->inputs[i].dtype),
                 ">::from(", values[i], ")");
  return text(name, "::of(", list, ")");
}

Loop body_loop(const UserBody& body) {
  const std::string source = loop_source(body);
  // Never destroyed: functions may run until the process exits.
  static auto& loops = *new KernelTable<std::map<std::string, CompiledLoop>>;
  return loops.get(source, [&] { return compiled_loop(source); }).loop;
}

}  // namespace spanwise::ops
