// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/variable.hpp"

#include <utility>

#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/shared.hpp"

namespace spanwise {

VariableNode::VariableNode(TensorType type, std::string name)
    : type_(std::move(type)), name_(std::move(name)) {}

VariableNode::~VariableNode() = default;

void VariableNode::add_ref() const noexcept {
  if (owner_ != nullptr)
    owner_->add_ref();
  else
    count_.fetch_add(1, std::memory_order_relaxed);
}

void VariableNode::release() const noexcept {
  if (owner_ != nullptr) {
    owner_->release();
  } else if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete this;
  }
}

Variable::Variable(TensorType type, std::string name)
    : node_(new VariableNode(std::move(type), std::move(name))) {}

Variable Variable::constant(Array value, std::string name) {
  TensorType type(value.dtype(), value.shape());
  return constant(std::move(value), std::move(type), std::move(name));
}

Variable Variable::constant(Array value, TensorType type, std::string name) {
  Variable variable(std::move(type), std::move(name));
  variable.node_->value_ = std::make_unique<Array>(std::move(value));
  return variable;
}

Variable Variable::shared(Ref<SharedValue> value, std::string name) {
  Variable variable(value->type(), std::move(name));
  variable.node_->container_ = std::move(value);
  return variable;
}

const TensorType& Variable::type() const noexcept { return node_->type_; }
const std::string& Variable::name() const noexcept { return node_->name_; }
void Variable::set_name(std::string name) const { node_->name_ = std::move(name); }
Apply* Variable::owner() const noexcept { return node_->owner_; }
int Variable::index() const noexcept { return node_->index_; }
const Array* Variable::value() const noexcept { return node_->value_.get(); }
SharedValue* Variable::container() const noexcept { return node_->container_.get(); }
std::shared_ptr<void>& Variable::attachment() const noexcept { return node_->attachment_; }

std::string Variable::label() const {
  if (!name().empty()) return name();
  if (owner() != nullptr) return text(owner()->op().name(), ".", index());
  if (value() != nullptr && value()->rank() == 0 && value()->device().is_cpu())
    return text("TensorConstant{", item(*value()), "}");
  // The CPU, the default of shared variables, is not printed.
  if (container() != nullptr && type().device() == cpu)
    return text("<", TensorType(type().dtype(), type().shape()), ">");
  return text("<", type(), ">");
}

}  // namespace spanwise
