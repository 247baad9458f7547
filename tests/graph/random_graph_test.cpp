// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Random graphs of views, overwriting, lazy and two-output ops and updates, against plain loops;
// also called from several threads at once, for the thread sanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "spanwise/graph/op.hpp"
#include "spanwise/graph/shared.hpp"
#include "support/graph_ops.hpp"

namespace spanwise {
namespace {

using test::map_into;
using test::TestOp;
using test::values_of;
using Values = std::vector<float>;
using Cells = TestOp::Cells;

float at(const Array& array, std::int64_t i) {
  return static_cast<const float*>(array.data())[i * array.strides()[0]];
}

// z[i] = f(x[i], y[i]), in a new buffer.
Ref<TestOp> binary_op(std::string name, float (*f)(float, float)) {
  return test::make_test_op(std::move(name), [f](const Cells& in, const Cells& out) {
    const Array x = *in[0]->value, y = *in[1]->value;
    const Array& z = output_array(*out[0], x.shape(), float32, x.device());
    for (std::int64_t i = 0; i < z.size(); ++i)
      static_cast<float*>(z.data())[i] = f(at(x, i), at(y, i));
  });
}

// x[i] += y[i] in x's memory; the second output is a view of y backwards.
Ref<TestOp> sum_in_place_and_reversed() {
  Ref<TestOp> op = test::make_test_op(
      "SumInPlaceAndReversed",
      [](const Cells& in, const Cells& out) {
        const Array x = *in[0]->value, y = *in[1]->value;
        for (std::int64_t i = 0; i < x.size(); ++i)
          static_cast<float*>(x.data())[i * x.strides()[0]] += at(y, i);
        out[0]->value = x;
        out[1]->value = y.slice(0, {{}, {}, -1});
      },
      2);
  op->destroys = {{0, {0}}};
  op->views = {{1, {1}}};
  return op;
}

Ref<TestOp> negated_in_place() {
  Ref<TestOp> op = test::make_test_op("NegatedInPlace", [](const Cells& in, const Cells& out) {
    const Array x = *in[0]->value;
    for (std::int64_t i = 0; i < x.size(); ++i)
      static_cast<float*>(x.data())[i * x.strides()[0]] *= -1;
    out[0]->value = x;
  });
  op->destroys = {{0, {0}}};
  return op;
}

Values backwards(Values x) {
  std::reverse(x.begin(), x.end());
  return x;
}
Values sum(Values x, const Values& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  return x;
}
Values largest(Values x, const Values& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::max(x[i], y[i]);
  return x;
}
Values negative(Values x) {
  for (float& value : x) value = -value;
  return x;
}

using Reference = std::vector<Values>;

// One kind of node: how a graph applies it to variables, and the reference on values.
struct NodeKind {
  int arity;
  std::function<std::vector<Variable>(std::span<const Variable>)> symbolic;
  std::function<Reference(const Reference&)> eager;
};

const std::vector<NodeKind>& kinds() {
  const auto by = [](const Ref<TestOp>& op) {
    return [op](std::span<const Variable> inputs) { return (*op)(inputs); };
  };
  const auto there_and_back = [](std::span<const Variable> inputs) {
    const std::vector<Variable> on_cpu_1 =
        (*transfer_op(Device(DeviceKind::cpu, 1)))(inputs.first(1));
    return (*transfer_op(cpu))(on_cpu_1);
  };
  static const std::vector<NodeKind> all{
      {1, by(test::plus(1)),
       [](const Reference& m) { return Reference{sum(m[0], Values(m[0].size(), 1))}; }},
      {1, by(test::reversed()), [](const Reference& m) { return Reference{backwards(m[0])}; }},
      {1, by(negated_in_place()), [](const Reference& m) { return Reference{negative(m[0])}; }},
      {1, there_and_back, [](const Reference& m) { return Reference{m[0]}; }},
      {2, by(binary_op("Sum", [](float a, float b) { return a + b; })),
       [](const Reference& m) { return Reference{sum(m[0], m[1])}; }},
      {2, by(binary_op("Largest", [](float a, float b) { return std::max(a, b); })),
       [](const Reference& m) { return Reference{largest(m[0], m[1])}; }},
      {2, by(sum_in_place_and_reversed()),
       [](const Reference& m) { return Reference{sum(m[0], m[1]), backwards(m[1])}; }},
      {3, by(test::choose()),
       [](const Reference& m) { return Reference{m[0][0] > 0 ? m[1] : m[2]}; }}};
  return all;
}

Array array_of(const Values& values) {
  const Array array = empty({static_cast<std::int64_t>(values.size())}, float32, cpu);
  std::copy(values.begin(), values.end(), static_cast<float*>(array.data()));
  return array;
}

class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    // Buffers of the large size are reused from result to result.
    size_ = draw(8) == 0 ? 5000 : 1 + draw(5);
    weights_ = numbers();
    constant_ = numbers();
    shared_ = shared(array_of(weights_), "w");
    variables_ = {inputs_[0], inputs_[1], shared_, Variable::constant(array_of(constant_))};
    for (std::size_t left = 1 + draw(12); left > 0; --left) add_node();
    for (std::size_t left = 1 + draw(3); left > 0; --left)
      outputs_.push_back(draw(variables_.size()));
    outputs_.front() = variables_.size() - 1;
    update_ = draw(variables_.size());
    allow_gc_ = draw(2) == 0;
    preallocate_ = !allow_gc_ && draw(2) == 0;
  }

  // Empty if compilation is refused because the graph overwrites memory that it still needs.
  std::optional<CompiledFunction> compile(const std::string& mode, bool updates) const {
    FunctionOptions options;
    options.device = cpu;
    options.mode.name = mode;
    options.on_unused_input = UnusedInput::ignore;
    options.allow_gc = allow_gc_;
    options.preallocate = preallocate_;
    if (updates) options.updates = {{shared_, variables_[update_]}};
    std::vector<Variable> outputs;
    for (const std::size_t i : outputs_) outputs.push_back(variables_[i]);
    try {
      return function({inputs_.begin(), inputs_.end()}, outputs, options);
    } catch (const GraphError& error) {
      EXPECT_NE(std::string(error.what()).find("overwrites memory"), std::string::npos)
          << error.what();
      return std::nullopt;
    }
  }

  Values numbers() {
    Values values(size_);
    for (float& value : values) value = static_cast<float>(draw(19)) - 9;
    return values;
  }

  // The expected values of all variables, from those of the inputs and the shared variable.
  Reference reference(const Values& x, const Values& y, const Values& w) const {
    Reference values{x, y, w, constant_};
    for (const auto& [kind, operand_indices] : nodes_) {
      Reference operands;
      for (const std::size_t i : operand_indices) operands.push_back(values[i]);
      for (Values& output : kinds()[kind].eager(operands)) values.push_back(std::move(output));
    }
    return values;
  }

  const Values& weights() const { return weights_; }
  const Variable& shared_variable() const { return shared_; }
  // The index of the variable whose value each call assigns to the shared variable.
  std::size_t update_index() const { return update_; }
  Values shared_value() const { return values_of(shared_.container()->get()); }

  // Compares one call with `values` of reference().
  void expect_call(const CompiledFunction& f, const Values& x, const Values& y,
                   const Reference& values) const {
    const std::vector<Array> results = f({array_of(x), array_of(y)});
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      EXPECT_EQ(values_of(results[i]), values[outputs_[i]]) << "output " << i;
  }

 private:
  std::size_t draw(std::size_t below) { return random_() % below; }
  void add_node() {
    const std::size_t kind = draw(kinds().size());
    std::vector<std::size_t> operand_indices;
    std::vector<Variable> operands;
    for (int i = 0; i < kinds()[kind].arity; ++i) {
      operand_indices.push_back(draw(variables_.size()));
      operands.push_back(variables_[operand_indices.back()]);
    }
    for (Variable& output : kinds()[kind].symbolic(operands))
      variables_.push_back(std::move(output));
    nodes_.emplace_back(kind, std::move(operand_indices));
  }

  std::mt19937 random_;
  std::size_t size_;
  Values weights_, constant_;
  std::array<Variable, 2> inputs_{test::input("x"), test::input("y")};
  Variable shared_;
  std::vector<Variable> variables_;
  std::vector<std::pair<std::size_t, std::vector<std::size_t>>> nodes_;  // kind, operands
  std::vector<std::size_t> outputs_;
  std::size_t update_ = 0;
  bool allow_gc_ = false, preallocate_ = false;
};

constexpr unsigned graphs = 300;

TEST(RandomGraphs, MatchTheReferenceInEveryMode) {
  unsigned ran = 0;
  for (unsigned seed = 0; seed < graphs && !HasFailure(); ++seed) {
    for (const char* mode : {"fast_run", "fast_compile", "debug"}) {
      SCOPED_TRACE(text("graph ", seed, ", ", mode));
      RandomGraph graph(seed);
      const auto f = graph.compile(mode, /*updates=*/true);
      if (!f) continue;
      ++ran;
      Values weights = graph.weights();
      for (int call = 0; call < 3; ++call) {
        const Values x = graph.numbers(), y = graph.numbers();
        const Reference values = graph.reference(x, y, weights);
        graph.expect_call(*f, x, y, values);
        weights = values[graph.update_index()];
        EXPECT_EQ(graph.shared_value(), weights);
      }
    }
  }
  EXPECT_GT(ran, 3 * graphs / 2);
}

// Two threads call one function, a third another of the same graph, and a fourth replaces the
// shared value by an equal one all the time.
TEST(RandomGraphs, SeveralThreadsMayCall) {
  for (unsigned seed = 0; seed < graphs / 3 && !HasFailure(); ++seed) {
    SCOPED_TRACE(text("graph ", seed));
    RandomGraph graph(seed);
    const auto f = graph.compile("fast_run", /*updates=*/false);
    const auto g = graph.compile("fast_compile", /*updates=*/false);
    if (!f || !g) continue;
    FunctionOptions options;
    options.device = cpu;
    options.updates = {{graph.shared_variable(),
                        test::apply(test::reversed(),
                                    {test::apply(test::reversed(), {graph.shared_variable()})})}};
    const CompiledFunction renew = function({}, {}, options);
    const auto call = [&graph](const CompiledFunction& called, Values x, Values y) {
      const Reference values = graph.reference(x, y, graph.weights());
      for (int i = 0; i < 4; ++i) graph.expect_call(called, x, y, values);
    };
    std::vector<std::thread> threads;
    for (const CompiledFunction* called : {&*f, &*f, &*g})
      threads.emplace_back(call, *called, graph.numbers(), graph.numbers());
    threads.emplace_back([&renew] {
      for (int i = 0; i < 8; ++i) renew({});
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(graph.shared_value(), graph.weights());
  }
}

}  // namespace
}  // namespace spanwise
