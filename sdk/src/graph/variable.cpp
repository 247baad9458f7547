// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <ostream>
#include <unordered_set>
#include <utility>

#include "core/string_utils.hpp"
#include "graph/owned_mutex.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/graph/function.hpp"
#include "spanwise/graph/hooks.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/graph/shared.hpp"
#include "spanwise/graph/type.hpp"
#include "spanwise/graph/variable.hpp"
#include "spanwise/runtime/copy.hpp"

// The parts of a graph: types, variables, Apply nodes, and the values of shared variables.
namespace spanwise {
namespace {

bool extents_match(const Shape& expected, const Shape& got) noexcept {
  return std::ranges::equal(expected, got, [](std::int64_t expected_extent, std::int64_t extent) {
    return expected_extent == TensorType::any || expected_extent == extent;
  });
}

// Theano's names of the usual broadcast patterns (theano/tensor/type.py), else the shape itself.
std::string shape_name(const Shape& shape) {
  const int rank = shape.size();
  if (std::ranges::all_of(shape, [](auto n) { return n == TensorType::any; })) {
    static constexpr const char* names[] = {"scalar", "vector", "matrix"};
    return rank < 3 ? names[rank] : text("tensor", rank);
  }
  if (rank == 2 && shape[0] == 1 && shape[1] == TensorType::any) return "row";
  if (rank == 2 && shape[1] == 1 && shape[0] == TensorType::any) return "col";
  const auto extent_text = [](std::int64_t extent) {
    return extent == TensorType::any ? "None" : std::to_string(extent);
  };
  return text('(', joined(shape, ", ", extent_text), rank == 1 ? ",)" : ")");
}

}  // namespace

TensorType::TensorType(DType dtype, Shape shape, std::optional<Device> device)
    : dtype_(dtype), shape_(std::move(shape)), device_(device) {
  if (rank() > max_rank) fail<LayoutError>("TensorType: rank ", rank(), " is above ", max_rank);
  for (const std::int64_t extent : shape_)
    if (extent < any)
      fail<LayoutError>("TensorType: extent ", extent, " in shape ", shape_,
                        "; expected an extent >= 0, or TensorType::any (None in Python)");
}

bool TensorType::has_fixed_shape() const noexcept {
  return std::ranges::find(shape_, any) == shape_.end();
}

bool TensorType::has_fixed_extents() const noexcept {
  return std::ranges::any_of(shape_, [](auto extent) { return extent != any; });
}

bool TensorType::matches(const Array& array) const noexcept {
  return array.dtype() == dtype_ && extents_match(shape_, array.shape()) &&
         (!device_ || *device_ == array.device());
}

std::optional<std::string> TensorType::mismatch(const Array& array) const {
  if (array.dtype() != dtype_) return text("expected dtype ", dtype_, ", got ", array.dtype());
  if (array.rank() != rank())
    return text("expected ", rank(), " axes, got ", array.rank(), " (shape ", array.shape(), ")");
  if (!extents_match(shape_, array.shape()))
    return text("expected shape ", shape_name(shape_), ", got ", array.shape());
  if (device_ && *device_ != array.device())
    return text("expected device ", *device_, ", got ", array.device());
  return std::nullopt;
}

bool TensorType::includes(const TensorType& other) const noexcept {
  return other.dtype_ == dtype_ && extents_match(shape_, other.shape_) &&
         (!device_ || device_ == other.device_);
}

std::string TensorType::name() const {
  std::string name = text("TensorType(", dtype_, ", ", shape_name(shape_));
  if (device_) name += text(", ", *device_);
  return name + ")";
}

std::ostream& operator<<(std::ostream& out, const TensorType& type) { return out << type.name(); }

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
  TensorType type = value->type();
  return shared(std::move(value), std::move(type), std::move(name));
}
Variable Variable::shared(Ref<SharedValue> value, TensorType type, std::string name) {
  Variable variable(std::move(type), std::move(name));
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

const std::string& Variable::trace() const noexcept {
  return owner() != nullptr ? owner()->trace() : node_->trace_;
}
void Variable::set_trace(std::string trace) const { node_->trace_ = std::move(trace); }

std::string Variable::trace_note() const {
  return trace().empty() ? "" : text('\n', label(), " was made here:\n", trace());
}

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

namespace {

// Each node holds references to its input nodes, so releasing a long chain would recurse to its
// length. Instead the outermost call empties a list iteratively. Only the pointer to the list is
// thread-local, so that graphs may be released after the thread's own objects have been destroyed.
void release_iteratively(std::vector<Variable> inputs) noexcept {
  static thread_local std::vector<std::vector<Variable>>* pending = nullptr;
  try {
    if (pending != nullptr) {
      pending->push_back(std::move(inputs));
      return;
    }
    std::vector<std::vector<Variable>> waiting;
    waiting.reserve(16);
    pending = &waiting;
    inputs.clear();
    while (!waiting.empty()) {
      const std::vector<Variable> next = std::move(waiting.back());
      waiting.pop_back();
    }
  } catch (const std::bad_alloc&) {
    // Out of memory for the list: `inputs` is released recursively.
  }
  pending = nullptr;
}

void check_outputs(const std::string& op, const std::vector<Variable>& inputs,
                   const std::vector<Variable>& outputs) {
  std::unordered_set<Variable> taken(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Variable& output = outputs[i];
    if (!output) fail<GraphError>(op, ": output ", i, " names no variable");
    if (output.owner() != nullptr)
      fail<GraphError>(op, ": output ", i, " (", output.label(),
                       ") is the result of another Apply already; make a new variable of its "
                       "type for each use of the op");
    if (output.value() != nullptr) fail<GraphError>(op, ": output ", i, " is a constant");
    if (!taken.insert(output).second)
      fail<GraphError>(op, ": output ", i, " (", output.label(),
                       ") is an input or another output of the same node as well; make a new "
                       "variable of its type");
  }
}

std::atomic<std::uint64_t> made_nodes{0};

}  // namespace

Apply::Apply(Ref<const Op> op, std::vector<Variable> inputs)
    : op_(std::move(op)),
      inputs_(std::move(inputs)),
      serial_(made_nodes.fetch_add(1, std::memory_order_relaxed)) {}

std::uint64_t Apply::next_serial() noexcept { return made_nodes.load(std::memory_order_relaxed); }

Apply::~Apply() { release_iteratively(std::move(inputs_)); }

Ref<Apply> Apply::make(Ref<const Op> op, std::vector<Variable> inputs,
                       std::vector<Variable> outputs) {
  if (!op) fail<GraphError>("Apply: expected an op, got none");
  const std::string name = op->name();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i]) fail<GraphError>(name, ": input ", i, " names no variable");
  check_outputs(name, inputs, outputs);
  Ref<Apply> apply(new Apply(std::move(op), std::move(inputs)));
  apply->outputs_.reserve(outputs.size());
  for (const Variable& output : outputs) {
    VariableNode* node = output.node();
    apply->outputs_.emplace_back(node);
    node->index_ = static_cast<int>(apply->outputs_.size()) - 1;
    // References to the variable become references to the whole node.
    const std::int64_t references = node->count_.exchange(0, std::memory_order_acq_rel);
    for (std::int64_t i = 0; i < references; ++i) apply->add_ref();
    node->owner_ = apply.get();
  }
  apply->trace_ = graph::current_trace();
  graph::observe(apply);
  return apply;
}

Variable Apply::output(int i) const noexcept {
  return Variable(Ref<VariableNode>(outputs_[static_cast<std::size_t>(i)].get()));
}

std::vector<Variable> Apply::outputs() const {
  std::vector<Variable> all;
  all.reserve(outputs_.size());
  for (int i = 0; i < output_count(); ++i) all.push_back(output(i));
  return all;
}

std::string Apply::label() const {
  return text(op().name(), '(', joined(inputs_, ", ", &Variable::label), ')');
}

namespace {

// One mutex for all values, held only while a few pointers are read or replaced.
Mutex& access_mutex() {
  static NeverDestroyed<Mutex> mutex;  // values may outlive static objects
  return *mutex;
}

}  // namespace

SharedAccess::SharedAccess() { access_mutex().lock(); }
SharedAccess::~SharedAccess() { access_mutex().unlock(); }

void SharedAccess::exchange(SharedValue& shared, Array& value) noexcept {
  std::swap(shared.value_, value);
}

SharedValue::SharedValue(TensorType type, Array value)
    : type_(std::move(type)), mutex_(std::make_unique<graph::OwnedMutex>()) {
  check(value);
  value_ = to_device(value, device());
}

SharedValue::~SharedValue() = default;

void SharedValue::check(const Array& value) const {
  const TensorType anywhere(type_.dtype(), type_.shape());
  const auto mismatch = anywhere.mismatch(value);
  if (mismatch) fail<InputError>("shared variable of ", type_, ": ", mismatch.value_or(""));
}

Array SharedValue::get() const {
  const SharedAccess access;
  return access.value(*this);
}

void SharedValue::set(Array value) {
  check(value);
  value = to_device(value, device());
  if (!mutex_->lock())
    fail<GraphError>("shared variable of ", type_,
                     ": set_value was called by an op of a function that updates the variable, or "
                     "while such a function waits for this thread; expected the function to have "
                     "returned");
  const std::lock_guard updating(*mutex_, std::adopt_lock);
  SharedAccess().exchange(*this, value);
}

Variable shared(Array value, std::string name, std::optional<Device> device) {
  TensorType type(value.dtype(), Shape(value.rank(), TensorType::any),
                  device.value_or(value.device()));
  auto holder = make_ref<SharedValue>(type, std::move(value));
  return Variable::shared(std::move(holder), std::move(name));
}

}  // namespace spanwise
