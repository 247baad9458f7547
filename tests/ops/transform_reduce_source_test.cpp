// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA source of reductions of computed elements, compiled for an H200 without a GPU. On
// the CPU its results are compared with those of the CPU's own loops.
#include <gtest/gtest.h>

#include "../../ops/elementwise/graph/fused_op.hpp"
#include "../../ops/reduce/cuda/reduce_kernels.hpp"
#include "../../ops/reduce/reduce_job.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops::reduce {
namespace {

using Form = CudaShape::Form;
using spanwise::ops::Fused;

/// The element source of a node that computes x * y + y.
class ComputedInput {
 public:
  explicit ComputedInput(DType dtype, int rank = 1) {
    auto fused = std::make_shared<Fused>();
    fused->program.inputs = {dtype, dtype};
    fused->program.steps = {step(OpId::multiply, dtype, {0, 1}), step(OpId::add, dtype, {2, 1})};
    fused->program.outputs = {3};
    // Extents of 1 are broadcast.
    const Variable x(TensorType(dtype, Shape(rank, TensorType::any), cpu)),
        y(TensorType(dtype, Shape(rank, 1), cpu));
    const Ref<const spanwise::Op> op = fused_op(fused->program, {}, {});
    node_ = op->make_node(std::array{x, y});
    const ThunkContext context(*node_, cpu, {x_, y_}, {make_ref<Cell>()}, {true});
    source_ = fused_elements(std::move(fused), context);
  }
  ElementSource& operator*() const { return *source_; }
  void set(const Array& x, const Array& y) {
    x_->value = x;
    y_->value = y;
    EXPECT_TRUE(source_->begin().has_value());
  }

 private:
  static ProgramStep step(OpId op, DType dtype, std::array<int, 2> values) {
    ProgramStep step{resolve(op, std::array{dtype, dtype})};
    std::copy(values.begin(), values.end(), step.arguments.begin());
    return step;
  }

  Ref<Cell> x_ = make_ref<Cell>(), y_ = make_ref<Cell>();
  Ref<Apply> node_;
  std::unique_ptr<ElementSource> source_;
};

void expect_cubin(const CudaShape& shape, const ElementSource& elements) {
  SCOPED_TRACE(testing::Message() << info(shape.types.kind).body << " of " << shape.types.element
                                  << ", form " << static_cast<int>(shape.form));
  test::expect_compiles(cuda_source(shape, &elements), {"run", "fold"},
                        {.options = {"--fmad=false"}, .includes_device_headers = true});
}

class TransformReduceSource : public test::NvrtcTest<testing::TestWithParam<DType>> {};

TEST_P(TransformReduceSource, CompilesInEveryForm) {
  const DType element = GetParam();
  const ComputedInput source(element);
  for (const ReductionKind kind : {ReductionKind::sum, ReductionKind::argmin})
    for (const Form form : {Form::any, Form::rows, Form::columns}) {
      if (form == Form::columns && info(kind).gives_index) continue;
      CudaShape shape;
      shape.types = {kind, element, accumulator_for(kind, element, false)};
      shape.result = info(kind).gives_index ? int64 : shape.types.accumulator;
      shape.form = form;
      shape.operands = 2;
      if (form != Form::any) shape.width = std::max(1, 16 / element.itemsize());
      shape.numbers = form == Form::any ? 1 : 0;
      shape.constants = form == Form::rows ? 2 : 0;
      expect_cubin(shape, *source);
    }
}

INSTANTIATE_TEST_SUITE_P(, TransformReduceSource,
                         testing::Values(int8, bfloat16, float32, complex128),
                         [](const auto& test_info) { return text(test_info.param); });

// -modulus / 3 + i * 7919 % modulus for element i, as `dtype`.
Array counted(const Shape& shape, DType dtype, std::int64_t modulus) {
  const Array values = empty(shape, float64, cpu);
  auto* data = static_cast<double*>(values.data());
  for (std::int64_t i = 0; i < values.size(); ++i)
    data[i] = static_cast<double>(i * 7919 % modulus) - static_cast<double>(modulus) / 3;
  return astype(values, dtype);
}

// The kernels for GPUs, compiled for the CPU, give the results of the CPU's own loops.
void expect_same(const Array& x, const Array& y, int axis, ReductionKind kind) {
  const DType element = x.dtype();
  ComputedInput source(element, x.rank());
  source.set(x, y);
  ReduceKernelTable kernels;
  const ComputedElements computed{*source, kernels};
  Shape shape = x.shape();
  shape[axis] = 1;
  const DType result = info(kind).gives_index ? int64 : accumulator_for(kind, element, false);
  // Filled differently, so that elements that neither writes are unequal.
  const Array by_loops = full(shape, -7, result, cpu), by_kernels = full(shape, -9, result, cpu);
  // Has the shape and dtype of the computed elements; it is not read.
  const Array input = empty(Shape(), element, cpu).broadcast_to(x.shape());
  ReduceJob job;
  job.types = {kind, element, accumulator_for(kind, element, false)};
  job.input = &input;
  job.computed = &computed;
  job.result = &by_loops;
  ASSERT_TRUE(run_on_cpu(job));
  job.result = &by_kernels;
  ASSERT_TRUE(run_on_cuda(job));
  const Array a = astype(by_loops, float64), b = astype(by_kernels, float64);
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double expected = static_cast<const double*>(a.data())[i],
                 actual = static_cast<const double*>(b.data())[i];
    ASSERT_NEAR(actual, expected, 1e-9 * std::abs(expected))
        << x << " along " << axis << " at " << i;
  }
}

TEST(TransformReduceKernels, MatchTheCpuLoops) {
  const Array x = counted({40, 260}, float32, 1001), row = counted({1, 260}, float32, 97),
              column = counted({40, 1}, float32, 89), short_x = counted({64, 262}, int16, 311);
  for (const ReductionKind kind : {ReductionKind::sum, ReductionKind::argmin})
    for (const int axis : {0, 1}) {
      expect_same(x, row, axis, kind);
      expect_same(x, column, axis, kind);
      expect_same(x.transpose(), row.transpose(), axis, kind);
      expect_same(short_x.slice(1, {1, 261, 1}), counted({1, 260}, int16, 50), axis, kind);
    }
}

}  // namespace
}  // namespace spanwise::ops::reduce
