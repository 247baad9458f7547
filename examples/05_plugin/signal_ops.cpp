// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Ops for signals, loaded by sw.load_ops(): a CUDA C kernel for the CPU and GPUs with its
// derivative, and C++ code for the CPU, for which a graph copies inputs from a GPU.

#include <spanwise/plugin.hpp>

#include <algorithm>
#include <cstdint>

namespace {

namespace swp = spanwise::plugin;

constexpr const char* moving_mean_kernel = R"(
#include <spanwise/view.cuh>

__global__ void moving_mean(spanwise::View<const float, 1> x, float* mean, int width, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0;
  for (int k = 0; k < width; ++k) sum += x(i + k);
  mean[i] = sum / width;
}
)";

/// float32 (n,) to float32 (n - width + 1,): the mean of each window of `width` elements.
class MovingMean final : public swp::Op {
 public:
  explicit MovingMean(const swp::Properties& properties) : width_(properties.integer("width")) {
    if (width_ < 1)
      throw swp::Error(SW_ARGUMENT_ERROR,
                       "expected a width of at least 1, got " + std::to_string(width_));
  }

  void infer(const swp::Infer& infer) const override {
    const swp::Type x = infer.input(0);
    swp::expect_dtype(x.dtype(), swp::dtype_of<float>(), "x");
    swp::expect_rank(x.rank(), 1, "x");
    const std::int64_t n = x.shape()[0];
    infer.output(0, x.dtype(), {n == SW_ANY_EXTENT ? n : result_size(n)});
  }

  std::unique_ptr<swp::State> bind(const swp::Bind& bind) const override {
    kernel_.compile(bind);
    return nullptr;
  }

  void run(const swp::Run& run) const override {
    const swp::Array x = run.input(0);
    const std::int64_t count = result_size(x.size());
    const swp::Array mean = run.new_output(0, {count});
    kernel_.launch_over(run, count, x, mean, width_, count);
  }

 private:
  std::int64_t result_size(std::int64_t n) const {
    if (n < width_)
      throw swp::Error(SW_LAYOUT_ERROR, "x: expected at least " + std::to_string(width_) +
                                            " elements, got " + std::to_string(n));
    return n - width_ + 1;
  }

  std::int64_t width_;
  swp::Kernel kernel_{moving_mean_kernel, "moving_mean"};
};
SW_REGISTER_OP(MovingMean, {.name = "moving_mean",
                            .summary = "The mean of each `width` neighbours of a float32 vector.",
                            .properties = {{"width", swp::Property::integer}},
                            .gradient = {.op = "moving_mean_gradient",
                                         .inputs = {swp::from_input(0), swp::from_gradient(0)}}});

constexpr const char* gradient_kernel = R"(
#include <spanwise/view.cuh>

__global__ void moving_mean_gradient(spanwise::View<const float, 1> dmean, float* dx, int width,
                                     int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0;
  for (int k = max(i - width + 1, 0); k <= min(i, count - width); ++k) sum += dmean(k);
  dx[i] = sum / width;
}
)";

/// Takes x and the derivative of a cost with respect to moving_mean(x), and computes the derivative
/// with respect to x. Graphs use this op to differentiate moving_mean, with the same width.
class MovingMeanGradient final : public swp::Op {
 public:
  explicit MovingMeanGradient(const swp::Properties& properties)
      : width_(properties.integer("width")) {}

  void infer(const swp::Infer& infer) const override { infer.output(0, infer.input(0)); }

  void run(const swp::Run& run) const override {
    const std::int64_t count = run.input(0).size();
    const swp::Array dx = run.new_output(0, {count});
    kernel_.launch_over(run, count, run.input(1), dx, width_, count);
  }

 private:
  std::int64_t width_;
  swp::Kernel kernel_{gradient_kernel, "moving_mean_gradient"};
};
SW_REGISTER_OP(MovingMeanGradient, {.name = "moving_mean_gradient",
                                    .summary = "The derivative of moving_mean.",
                                    .inputs = 2,
                                    .properties = {{"width", swp::Property::integer}}});

/// float64 (n,) to float64 (n,): the running maximum.
class RunningMaximum final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override {
    swp::expect_dtype(infer.input(0).dtype(), swp::dtype_of<double>(), "x");
    swp::expect_rank(infer.input(0).rank(), 1, "x");
    infer.output(0, infer.input(0));
  }

  void run(const swp::Run& run) const override {
    const auto x = run.input(0).view<const double, 1>();
    const swp::Array result = run.new_output(0, run.input(0).shape());
    auto* out = result.data<double>();
    for (std::int64_t i = 0; i < result.size(); ++i) out[i] = i ? std::max(out[i - 1], x(i)) : x(0);
  }
};
// Element i is read before it is written, so the result may reuse the memory of x.
SW_REGISTER_OP(RunningMaximum, {.name = "running_maximum",
                                .summary = "The largest element so far of a float64 vector.",
                                .reusable_inputs = {0},
                                .flags = SW_ON_CPU});

}  // namespace

SW_PLUGIN(signal);
