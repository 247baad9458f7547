// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "spanwise/op_sdk.hpp"

/// Ops and arrays for tests of the graph: float32 vectors on the host.
namespace spanwise::test {

inline Array vector_of(std::initializer_list<float> values) {
  const Array array = empty(Shape{static_cast<std::int64_t>(values.size())}, float32, cpu);
  std::copy(values.begin(), values.end(), static_cast<float*>(array.data()));
  return array;
}

inline std::vector<float> values_of(const Array& array) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < array.size(); ++i)
    values.push_back(static_cast<float>(item(array.index(0, i)).as_double()));
  return values;
}

inline TensorType float_vector() { return TensorType(float32, Shape{TensorType::any}); }
inline Variable input(std::string name) { return Variable(float_vector(), std::move(name)); }

/// Options of a function on the host, independent of other devices.
inline FunctionOptions on_cpu(std::string name = "f") {
  FunctionOptions options;
  options.name = std::move(name);
  options.device = cpu;
  return options;
}

/// A function on the host, independent of other devices.
inline CompiledFunction compile(std::vector<Variable> inputs, std::vector<Variable> outputs) {
  FunctionOptions options;
  options.device = cpu;
  return function(std::move(inputs), std::move(outputs), options);
}

/// An op whose thunk calls `work` with the node's cells.
class TestOp final : public Op {
 public:
  using Cells = std::vector<Ref<Cell>>;
  using Work = std::function<void(const Cells& inputs, const Cells& outputs)>;
  using LazyWork = std::function<std::vector<int>(const Cells& inputs, const Cells& outputs)>;

  TestOp(std::string name, int outputs, Work work)
      : name_(std::move(name)), outputs_(outputs), work_(std::move(work)) {}

  std::string name() const override { return name_; }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    std::vector<Variable> outputs;
    for (int i = 0; i < outputs_; ++i) outputs.emplace_back(float_vector());
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()}, std::move(outputs));
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<WorkThunk>(*this, context);
  }
  AliasMap view_map() const override { return views; }
  AliasMap destroy_map() const override { return destroys; }

  AliasMap views, destroys;
  LazyWork lazy_work;                    ///< makes the thunks lazy
  bool is_async = false;                 ///< Thunk::is_async() of the thunks
  mutable std::vector<bool> recyclable;  ///< the argument of the last make_thunk

 private:
  class WorkThunk final : public Thunk {
   public:
    WorkThunk(const TestOp& op, const ThunkContext& context) : op_(&op) {
      op.recyclable.clear();
      for (std::size_t i = 0; i < context.node().inputs().size(); ++i)
        inputs_.push_back(context.input(static_cast<int>(i)));
      for (int i = 0; i < op.outputs_; ++i) {
        outputs_.push_back(context.output(i));
        op.recyclable.push_back(context.recyclable(i));
      }
    }
    std::vector<int> run() override {
      if (op_->lazy_work) return op_->lazy_work(inputs_, outputs_);
      op_->work_(inputs_, outputs_);
      return {};
    }
    bool lazy() const override { return static_cast<bool>(op_->lazy_work); }
    bool is_async() const override { return op_->is_async; }

   private:
    Ref<const TestOp> op_;
    Cells inputs_, outputs_;
  };

  std::string name_;
  int outputs_;
  Work work_;
};

inline Ref<TestOp> make_test_op(std::string name, TestOp::Work work, int outputs = 1) {
  return make_ref<TestOp>(std::move(name), outputs, std::move(work));
}

inline Variable apply(const Ref<TestOp>& op, std::initializer_list<Variable> inputs) {
  return (*op)(std::span(inputs.begin(), inputs.size()))[0];
}

/// z[i] = f(x[i]), in the cell's buffer of the last call if that fits.
inline void map_into(const Array& x, Cell& z, const std::function<float(float)>& f) {
  const Array source = contiguous(x);
  const Array& out = output_array(z, source.shape(), float32, cpu);
  for (std::int64_t i = 0; i < out.size(); ++i)
    static_cast<float*>(out.data())[i] = f(static_cast<const float*>(source.data())[i]);
}

/// x + amount.
inline Ref<TestOp> plus(float amount) {
  return make_test_op("Plus", [amount](const TestOp::Cells& in, const TestOp::Cells& out) {
    map_into(*in[0]->value, *out[0], [amount](float x) { return x + amount; });
  });
}

/// x + amount, written to x's own memory.
inline Ref<TestOp> plus_in_place(float amount) {
  Ref<TestOp> op =
      make_test_op("PlusInPlace", [amount](const TestOp::Cells& in, const TestOp::Cells& out) {
        const Array x = *in[0]->value;
        for (std::int64_t i = 0; i < x.size(); ++i) static_cast<float*>(x.data())[i] += amount;
        out[0]->value = x;
      });
  op->destroys = {{0, {0}}};
  return op;
}

/// A view of x with its elements in reverse order.
inline Ref<TestOp> reversed() {
  Ref<TestOp> op = make_test_op("Reversed", [](const TestOp::Cells& in, const TestOp::Cells& out) {
    out[0]->value = in[0]->value->slice(0, {{}, {}, -1});
  });
  op->views = {{0, {0}}};
  return op;
}

/// A copy of input 1 if the first element of input 0 is positive, else of input 2; lazy.
inline Ref<TestOp> choose() {
  Ref<TestOp> op = make_test_op("Choose", nullptr);
  op->lazy_work = [](const TestOp::Cells& in, const TestOp::Cells& out) -> std::vector<int> {
    if (!in[0]->computed) return {0};
    const int input = values_of(*in[0]->value)[0] > 0 ? 1 : 2;
    const Cell& branch = *in[static_cast<std::size_t>(input)];
    if (!branch.computed) return {input};
    out[0]->value = copy(*branch.value);
    out[0]->computed = true;
    return {};
  };
  return op;
}

}  // namespace spanwise::test
