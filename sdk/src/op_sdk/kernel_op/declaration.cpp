// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/kernel_op/declaration.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace spanwise::op_sdk {

KernelDeclaration::KernelDeclaration(KernelOpSpec op_spec) : spec(std::move(op_spec)) {
  if (spec.name.empty()) fail<ArgumentError>("kernel_op: expected a name for the op");
  read_scalars();
  read_parameters();
  check_unique_names();
  sort_axes();
  check_letters();
  read_overwrites();
  choose_kernel();
  read_template_parameters();
  read_arguments();
  read_launch();
}

void KernelDeclaration::read_scalars() {
  for (const auto& [name, value] : spec.scalars) {
    if (!value.dtype().is_integer()) continue;
    names.add(name);
    preset.push_back(value.as_int64());
  }
}

void KernelDeclaration::read_parameters() {
  const auto read = [&](const std::vector<std::string>& declarations, const char* field) {
    std::vector<DeclaredParameter> parameters;
    parameters.reserve(declarations.size());
    for (const std::string& declaration : declarations)
      parameters.push_back(
          DeclaredParameter::parse(declaration, names, text("kernel_op ", spec.name, ", ", field)));
    return parameters;
  };
  inputs = read(spec.inputs, "inputs");
  outputs = read(spec.outputs, "outputs");
  if (outputs.empty()) refuse(": expected at least one output");
  preset.resize(static_cast<std::size_t>(names.size()), 0);
}

void KernelDeclaration::check_unique_names() const {
  std::set<std::string> taken;
  const auto take = [&](const std::string& name) {
    if (!taken.insert(name).second)
      refuse(": the name ", name,
             " is used twice; inputs, outputs and scalars need different names");
    if (names.find(name) >= 0 && !spec.scalars.contains(name))
      refuse(": ", name, " is both an array and an extent");
  };
  for (const DeclaredParameter& input : inputs) take(input.name);
  for (const DeclaredParameter& output : outputs) take(output.name);
  for (const auto& [name, value] : spec.scalars) take(name);
}

// The first extent that is a single name binds it; all others are checked.
void KernelDeclaration::sort_axes() {
  std::set<int> bound;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (int axis = 0; axis < inputs[i].rank(); ++axis) {
      const Expression& extent = inputs[i].extents[static_cast<std::size_t>(axis)];
      const int name = extent.lone_name();
      const bool binds = name >= 0 && !is_preset(name) && bound.insert(name).second;
      (binds ? binding : checked)
          .push_back({static_cast<int>(i), axis, &extent, binds ? name : -1});
    }
  }
  for (const BoundAxis& axis : checked)
    check_bound(*axis.expression, inputs[static_cast<std::size_t>(axis.input)].name);
  for (const DeclaredParameter& output : outputs)
    for (const Expression& extent : output.extents) check_bound(extent, output.name);
}

void KernelDeclaration::check_bound(const Expression& expression, const std::string& where) const {
  for (const int name : expression.names()) {
    const bool is_bound = std::ranges::find(binding, name, &BoundAxis::name) != binding.end();
    if (!is_bound && !is_preset(name))
      refuse(", ", where, ": \"", names[name], "\" in \"", expression.text(),
             "\" has no value; expected an extent that is declared by itself on an "
             "axis of an input, or an integer scalar");
  }
}

void KernelDeclaration::check_letters() const {
  for (const DeclaredParameter& output : outputs)
    if (output.dtype_letter != 0 && !has_input_of(output.dtype_letter))
      refuse(", ", output.name, ": no input has the dtype ", output.dtype_letter,
             "; name a dtype, such as float32");
}

void KernelDeclaration::read_overwrites() {
  const auto index_of = [&](const std::vector<DeclaredParameter>& parameters,
                            const std::string& name, const char* kind) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].name == name) return static_cast<int>(i);
    refuse(", overwrites: expected the name of an ", kind, ", got ", name);
  };
  std::set<int> taken;
  for (const auto& [output, input] : spec.overwrites) {
    const int to = index_of(outputs, output, "output"), from = index_of(inputs, input, "input");
    if (!taken.insert(from).second)
      refuse(", overwrites: two outputs are computed in the memory of ", input, "; expected one");
    const DeclaredParameter &written = outputs[static_cast<std::size_t>(to)],
                            &overwritten = inputs[static_cast<std::size_t>(from)];
    const bool same_extents = std::ranges::equal(written.extents, overwritten.extents, {},
                                                 &Expression::text, &Expression::text);
    if (written.strided != overwritten.strided || written.dtype != overwritten.dtype ||
        written.dtype_letter != overwritten.dtype_letter || !same_extents)
      refuse(", overwrites: ", output, " and ", input,
             " are not declared alike; expected one layout, dtype and shape");
    overwrites[to].push_back(from);
  }
}

void KernelDeclaration::read_launch() {
  block = read_extents(spec.block, "block");
  grid = read_extents(spec.grid, "grid");
  if (block.empty()) refuse(": expected a block of 1 to 3 extents, got none");
  const std::string where = text("kernel_op ", spec.name, ", shared");
  shared = Expression::parse(spec.shared, names, where);
  check_bound(shared, "shared");
}

std::vector<Expression> KernelDeclaration::read_extents(const std::vector<std::string>& texts,
                                                        const char* field) {
  if (texts.size() > 3) refuse(": ", field, " has ", texts.size(), " extents; expected at most 3");
  std::vector<Expression> extents;
  for (const std::string& extent : texts) {
    extents.push_back(Expression::parse(extent, names, text("kernel_op ", spec.name, ", ", field)));
    check_bound(extents.back(), field);
  }
  return extents;
}

}  // namespace spanwise::op_sdk
