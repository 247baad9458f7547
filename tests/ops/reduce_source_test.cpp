// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The CUDA source of reductions and scans, compiled for an H200 without a GPU.
#include <gtest/gtest.h>

#include "../../ops/reduce/cuda/reduce_kernels.hpp"
#include "../../ops/reduce/reduce_job.hpp"
#include "support/compiled_source.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::ops::reduce {
namespace {

using Form = CudaShape::Form;

void expect_cubin(const CudaShape& shape, const std::vector<std::string>& kernels) {
  SCOPED_TRACE(testing::Message() << info(shape.types.kind).body << " of " << shape.types.element
                                  << " as " << shape.result << ", form "
                                  << static_cast<int>(shape.form));
  test::expect_compiles(cuda_source(shape), kernels,
                        {.options = {"--fmad=false"}, .includes_device_headers = true});
}

// A shape of each form with more than one axis where the form permits it.
CudaShape shape_of(ReductionKind kind, DType element, Form form) {
  CudaShape shape;
  shape.types = {kind, element, accumulator_for(kind, element, false)};
  shape.form = form;
  shape.kept = 2;
  shape.reduced = form == Form::rows ? 1 : 2;
  shape.group = form == Form::rows ? 256 : 8;
  if (form == Form::rows || form == Form::columns)
    shape.width = std::max(1, 16 / element.itemsize());
  const DType accumulator = shape.types.accumulator;
  shape.result = info(kind).gives_index            ? int64
                 : can_store(accumulator, element) ? element
                                                   : accumulator;
  if (kind == ReductionKind::deviation) {
    shape.subtrahend = element.is_complex() ? complex128 : float64;
    shape.finish = Finish::root;
  }
  return shape;
}

class ReduceSource : public test::NvrtcTest<testing::TestWithParam<int>> {
 protected:
  ReductionKind kind() const { return static_cast<ReductionKind>(GetParam()); }
  bool supports(DType element) const {
    if (kind() == ReductionKind::nansum) return element.is_floating() || element.is_complex();
    const bool is_min_or_max = kind() == ReductionKind::min || kind() == ReductionKind::max;
    return !is_min_or_max || !element.is_bool();
  }
};

TEST_P(ReduceSource, CompilesInEveryForm) {
  for (const DType element : {bool_, bfloat16, float32, complex64}) {
    if (!supports(element)) continue;
    CudaShape any = shape_of(kind(), element, Form::any);
    any.has_mask = true;
    any.has_initial = !info(kind()).gives_index;
    any.is_large = true;
    expect_cubin(any, {"run", "fold"});
    expect_cubin(shape_of(kind(), element, Form::rows), {"run", "fold"});
    if (info(kind()).gives_index) continue;
    expect_cubin(shape_of(kind(), element, Form::columns), {"run", "fold"});
  }
}

INSTANTIATE_TEST_SUITE_P(, ReduceSource, testing::Range(0, kind_count),
                         [](const auto& test_info) { return std::to_string(test_info.param); });

class ReduceFinish : public test::NvrtcTest<> {};

TEST_F(ReduceFinish, Compiles) {
  for (const DType element : {int32, int64, float32, bfloat16, complex128}) {
    CudaShape mean = shape_of(ReductionKind::sum, element, Form::rows);
    mean.finish = Finish::divide;
    mean.has_divisors = element == float32;
    if (mean.types.accumulator == int64) mean.result = float16;
    expect_cubin(mean, {"run", "fold"});
    CudaShape range = shape_of(ReductionKind::max, element, Form::columns);
    range.finish = Finish::subtract;
    range.subtrahend = element;
    expect_cubin(range, {"run", "fold"});
  }
}

TEST_F(ReduceFinish, DeviationsFindTheirMeans) {
  for (const DType element : {float16, float32, float64, complex64})
    for (const Form form : {Form::any, Form::rows, Form::columns})
      for (const int group : {1, 32, 256}) {
        CudaShape spread = shape_of(ReductionKind::deviation, element, form);
        spread.has_own_mean = true;
        spread.group = group;
        expect_cubin(spread, {"run"});
      }
}

class ScanSource : public ReduceSource {};

TEST_P(ScanSource, Compiles) {
  for (const DType element : {bool_, int16, float16, complex64, complex128}) {
    CudaShape scan = shape_of(kind(), element, Form::scan);
    expect_cubin(scan, {"run", "lines"});
    scan.is_packed = true;
    expect_cubin(scan, {"run", "lines"});
    scan.is_pipelined = true;
    if (element == complex64) expect_cubin(scan, {"run"});
    expect_cubin(shape_of(kind(), element, Form::scan_columns), {"totals", "carries", "run"});
  }
}

INSTANTIATE_TEST_SUITE_P(, ScanSource,
                         testing::Values(static_cast<int>(ReductionKind::sum),
                                         static_cast<int>(ReductionKind::prod)));

}  // namespace
}  // namespace spanwise::ops::reduce
