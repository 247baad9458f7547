// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "op_sdk/kernel_op/kernel_op.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "op_sdk/kernel_op/extents.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise {
namespace op_sdk {
namespace {

bool same_scalars(const std::map<std::string, Scalar>& a, const std::map<std::string, Scalar>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.dtype() == y.second.dtype() &&
           std::memcmp(x.second.data(), y.second.data(),
                       static_cast<std::size_t>(x.second.dtype().itemsize())) == 0;
  });
}

// The dtype of each letter: that of the first input with the letter.
TypeBindings bind_letters(const KernelDeclaration& declaration, std::span<const Variable> inputs) {
  TypeBindings bindings;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const char letter = declaration.inputs[i].dtype_letter; letter != 0)
      bindings.emplace(letter, inputs[i].type().dtype());
  return bindings;
}

std::vector<const Shape*> shapes_of(std::span<const Variable> variables) {
  std::vector<const Shape*> shapes;
  for (const Variable& variable : variables) shapes.push_back(&variable.type().shape());
  return shapes;
}

}  // namespace

Ref<Apply> KernelOp::make_node(std::span<const Variable> inputs) const {
  expect_arity(*this, inputs, static_cast<int>(declaration_.inputs.size()));
  const TypeBindings bindings = bind_letters(declaration_, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    check_input(declaration_.inputs[i], inputs[i], bindings);
  const std::optional<Device> device = common_device(*this, inputs);
  NamedExtents extents(declaration_);
  extents.bind(shapes_of(inputs));
  std::vector<Variable> outputs;
  for (const DeclaredParameter& output : declaration_.outputs)
    outputs.emplace_back(TensorType(dtype_of(output, bindings), extents.shape(output), device));
  return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()}, std::move(outputs));
}

void KernelOp::check_input(const DeclaredParameter& parameter, const Variable& input,
                           const TypeBindings& bindings) const {
  const TensorType& type = input.type();
  const DType expected = dtype_of(parameter, bindings);
  if (type.dtype() != expected)
    fail<DTypeError>(name(), ": input ", parameter.name, ": expected dtype ", expected,
                     parameter.dtype_letter ? text(" (", parameter.dtype_letter, ")") : "",
                     ", got ", type.dtype(), " (", input.label(),
                     "); cast it, or declare the dtype with a letter");
  if (type.rank() != parameter.rank())
    fail<LayoutError>(name(), ": input ", parameter.name, ": expected ", parameter.rank(),
                      " axes, got ", type.rank(), " (", input.label(), ")");
}

std::unique_ptr<Thunk> KernelOp::make_thunk(const ThunkContext& context) const {
  const TypeBindings bindings = bind_letters(declaration_, context.node().inputs());
  Kernel kernel = compile_kernel(declaration_, bindings, context.device());
  return make_kernel_thunk(Ref<const KernelOp>(this), bindings, std::move(kernel), context);
}

std::vector<Cotangent> KernelOp::gradient(const Apply& node,
                                          std::span<const Cotangent> outputs) const {
  if (declaration_.spec.gradient) return declaration_.spec.gradient(node, outputs);
  return {node.inputs().size(), Cotangent::undefined("the kernel_op was declared without grad=")};
}

bool KernelOp::equals(const Op& other) const {
  const auto* kernel_op = dynamic_cast<const KernelOp*>(&other);
  if (kernel_op == nullptr) return false;
  const KernelOpSpec &a = declaration_.spec, &b = kernel_op->declaration_.spec;
  return a.name == b.name && a.source == b.source && a.kernel == b.kernel && a.inputs == b.inputs &&
         a.outputs == b.outputs && a.arguments == b.arguments && a.block == b.block &&
         a.grid == b.grid && a.shared == b.shared && a.overwrites == b.overwrites &&
         same_scalars(a.scalars, b.scalars) && a.options == b.options;
}

std::size_t KernelOp::hash() const {
  const std::hash<std::string> hash;
  return hash(declaration_.spec.name) * 31 + hash(declaration_.spec.source);
}

namespace {

struct Counters {
  Mutex mutex;
  std::map<std::string, CopyCounter> by_name;
};

Counters& counters() {
  static Counters& counters = *new Counters;  // never destroyed: outlives every thunk
  return counters;
}

}  // namespace

CopyCounter& copy_counter(const std::string& op_name) {
  const std::lock_guard lock(counters().mutex);
  return counters().by_name[op_name];
}

}  // namespace op_sdk

Ref<const Op> kernel_op(KernelOpSpec spec) {
  return make_ref<const op_sdk::KernelOp>(std::move(spec));
}

std::vector<KernelOpCounts> kernel_op_counts() {
  std::vector<KernelOpCounts> counts;
  const std::lock_guard lock(op_sdk::counters().mutex);
  for (const auto& [name, counter] : op_sdk::counters().by_name)
    counts.push_back({name, counter.shared, counter.copied, counter.bytes_copied});
  return counts;
}

}  // namespace spanwise
