// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// A plug-in in C++ with an op for each feature of the interface, and for errors that ops may have.
// Compiled with several compilers, with -DNAMESPACE=<name>.

#include <spanwise/plugin.hpp>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "faulty_ops.hpp"

namespace {

namespace swp = spanwise::plugin;

/// One output of the type of the first input, which must be float64.
void infer_type_of_input(const swp::Infer& infer) {
  swp::expect_dtype(infer.input(0).dtype(), swp::dtype_of<double>(), "x");
  infer.output(0, infer.input(0));
}

/// Sum and difference of vectors of any strides.
class Both final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override {
    for (int i = 0; i < 2; ++i) swp::expect_rank(infer.input(i).rank(), 1, "an input");
    for (int i = 0; i < 2; ++i) infer.output(i, infer.input(0));
  }
  void run(const swp::Run& run) const override {
    const auto x = run.input(0).view<const double, 1>(), y = run.input(1).view<const double, 1>();
    const swp::Array sum = run.new_output(0, run.input(0).shape());
    const swp::Array difference = run.new_output(1, run.input(0).shape());
    for (std::int64_t i = 0; i < sum.size(); ++i) {
      sum.data<double>()[i] = x(i) + y(i);
      difference.data<double>()[i] = x(i) - y(i);
    }
  }
};
SW_REGISTER_OP(Both, {.name = "both", .inputs = 2, .outputs = 2, .flags = SW_ON_CPU});

/// Throws an error with its properties as text, so that a test can check each kind of property.
class ShowProperties final : public swp::Op {
 public:
  explicit ShowProperties(const swp::Properties& p) {
    std::string list;
    for (const char* name : {"shape", "axes"})
      for (const std::int64_t i : p.integers(name)) list += std::to_string(i) + ".";
    text_ = std::to_string(p.boolean("flag")) + " " + std::to_string(p.integer("axis")) + " " +
            std::to_string(p.real("factor")) + " " + p.text("mode") + " " + list;
  }
  void infer(const swp::Infer&) const override { throw swp::Error(SW_ARGUMENT_ERROR, text_); }
  void run(const swp::Run&) const override {}

 private:
  std::string text_;
};
SW_REGISTER_OP(ShowProperties, {.name = "show_properties",
                                .properties = {{"flag", true},
                                               {"axis", -1},
                                               {"factor", 0.5},
                                               {"mode", "same"},
                                               {"axes", std::vector<std::int64_t>{7, 8}},
                                               {"shape", swp::Property::integers}}});

/// The second or the third input, chosen by the first; the other is not computed.
class Choose final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override {
    swp::expect_rank(infer.input(0).rank(), 0, "the condition");
    infer.output(0, infer.input(1));
  }
  void run(const swp::Run& run) const override {
    if (!run.need_input(0)) return;
    const int index = *run.input(0).data<const double>() != 0 ? 1 : 2;
    if (!run.need_input(index)) return;
    const swp::Array chosen = run.input(index), z = run.new_output(0, chosen.shape());
    const auto x = chosen.view<const double, 1>();
    for (std::int64_t i = 0; i < z.size(); ++i) z.data<double>()[i] = x(i);
  }
};
SW_REGISTER_OP(Choose, {.name = "choose",
                        .inputs = 3,
                        .flags = SW_ON_CPU | SW_LAZY,
                        .gradient = {.op = "choose_gradient",
                                     .inputs = {swp::from_gradient(0)},
                                     .wrt = {1, 2}},
                        .needed_if = {{1, 0, true}, {2, 0, false}}});

/// The derivative with respect to the chosen input, for both.
class ChooseGradient final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override {
    for (int i : {0, 1}) infer.output(i, infer.input(0));
  }
  void run(const swp::Run& run) const override {
    const auto x = run.input(0).view<const double, 1>();
    for (int i : {0, 1}) {
      const swp::Array z = run.new_output(i, run.input(0).shape());
      for (std::int64_t k = 0; k < z.size(); ++k) z.data<double>()[k] = x(k);
    }
  }
};
SW_REGISTER_OP(ChooseGradient, {.name = "choose_gradient", .outputs = 2, .flags = SW_ON_CPU});

/// x + 1 in the memory of x.
class OverwriteOp final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override { infer_type_of_input(infer); }
  void run(const swp::Run& run) const override {
    const swp::Array x = run.output_from_input(0, 0);
    const auto elements = x.view<double, 1>();
    for (std::int64_t i = 0; i < x.size(); ++i) elements(i) += 1;
  }
};
SW_REGISTER_OP(OverwriteOp, {.name = "overwrite", .overwrites = {{0, 0}}, .flags = SW_ON_CPU});

/// The same without declaring it.
SW_REGISTER_OP(OverwriteOp, {.name = "undeclared", .flags = SW_ON_CPU});

/// x + 1, in the memory of x if no other node reads x.
class Increment final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override { infer_type_of_input(infer); }
  void run(const swp::Run& run) const override {
    const auto x = run.input(0).view<const double, 1>();
    const swp::Array z = run.new_output(0, run.input(0).shape());
    for (std::int64_t i = 0; i < z.size(); ++i) z.data<double>()[i] = x(i) + 1;
  }
};
SW_REGISTER_OP(Increment, {.name = "increment", .reusable_inputs = {0}, .flags = SW_ON_CPU});

/// The diagonal of a matrix, as a view that is `beyond` elements longer than it may be.
class Diagonal final : public swp::Op {
 public:
  explicit Diagonal(const swp::Properties& p) : beyond_(p.integer("beyond")) {}
  void infer(const swp::Infer& infer) const override {
    swp::expect_rank(infer.input(0).rank(), 2, "x");
    infer.output(0, infer.input(0).dtype(), {SW_ANY_EXTENT});
  }
  void run(const swp::Run& run) const override {
    const swp::Array x = run.input(0);
    const std::int64_t extent = std::min(x.shape()[0], x.shape()[1]);
    run.output_from_input(0, 0, {extent + beyond_}, {x.strides()[0] + x.strides()[1]}, 0);
  }

 private:
  std::int64_t beyond_;
};
SW_REGISTER_OP(Diagonal, {.name = "diagonal", .properties = {{"beyond", 0}}, .views = {{0, 0}}});

/// The sum of any number of vectors, with temporary memory.
class SumAll final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override { infer_type_of_input(infer); }
  void run(const swp::Run& run) const override {
    const std::int64_t n = run.input(0).size();
    const swp::Array sum = run.scratch<double>({n}), result = run.new_output(0, {n});
    std::fill_n(sum.data<double>(), n, 0.0);
    for (int k = 0; k < run.input_count(); ++k)
      for (std::int64_t i = 0; i < n; ++i)
        sum.data<double>()[i] += run.input(k).view<const double, 1>()(i);
    std::copy_n(sum.data<double>(), n, result.data<double>());
  }
};
SW_REGISTER_OP(SumAll, {.name = "sum_all", .flags = SW_ON_CPU | SW_MORE_INPUTS});

/// The number of calls of its node.
class CountOp final : public swp::Op {
 public:
  struct Runs final : swp::State {
    std::atomic<std::int64_t> count{0};
  };
  void infer(const swp::Infer& infer) const override {
    infer.output(0, swp::dtype_of<std::int64_t>(), {});
  }
  std::unique_ptr<swp::State> bind(const swp::Bind&) const override {
    return std::make_unique<Runs>();
  }
  void run(const swp::Run& run) const override {
    run.new_output(0, {}).data<std::int64_t>()[0] = ++run.state<Runs>().count;
  }
};
SW_REGISTER_OP(CountOp, {.name = "count", .inputs = 0, .flags = SW_ON_CPU | SW_NOT_PURE});

/// The conjugates of complex64.
class ConjugateOp final : public swp::Op {
 public:
  using Number = std::complex<float>;
  void infer(const swp::Infer& infer) const override {
    swp::expect_dtype(infer.input(0).dtype(), swp::dtype_of<Number>(), "x");
    infer.output(0, infer.input(0));
  }
  void run(const swp::Run& run) const override {
    const auto x = run.input(0).view<const Number, 2>();
    auto* z = run.new_output(0, run.input(0).shape()).data<Number>();
    for (std::int64_t i = 0; i < x.shape[0]; ++i)
      for (std::int64_t k = 0; k < x.shape[1]; ++k) *z++ = std::conj(x(i, k));
  }
};
SW_REGISTER_OP(ConjugateOp, {.name = "conjugate", .flags = SW_ON_CPU});

constexpr const char* axpy_source = R"(
#include <spanwise/view.cuh>
__global__ void axpy(float a, spanwise::View<const float, 2> x, const float* y,
                     spanwise::View<float, 2> z, long long rows) {
  const long long column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column < x.shape[1] && row < rows) z(row, column) = a * x(row, column) + y[column] + OFFSET;
}
)";

/// a * x + y, y a row, by a kernel; with `fault` it has wrong arguments or a wrong source.
class Axpy final : public swp::Op {
 public:
  explicit Axpy(const swp::Properties& p)
      : a_(p.real("a")),
        fault_(p.text("fault")),
        kernel_(fault_ == "text" ? "__global__ void axpy( {}" : axpy_source,
                fault_ == "name" ? "axpi" : "axpy", {"-DOFFSET=0"}) {}
  void infer(const swp::Infer& infer) const override { infer.output(0, infer.input(0)); }
  std::unique_ptr<swp::State> bind(const swp::Bind& bind) const override {
    kernel_.compile(bind);
    return nullptr;
  }
  void run(const swp::Run& run) const override {
    const swp::Array x = run.input(0), y = run.input(1), z = run.new_output(0, x.shape());
    const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
    if (fault_ == "count") kernel_.launch(run, {.block = {1, 1, 1}}, a_, x);
    if (fault_ == "real for an integer")
      kernel_.launch(run, {.block = {1, 1, 1}}, a_, x, y, z, 1.5);
    if (fault_ == "array of no call") {
      const sw_array copy = x.c_array();
      kernel_.launch(run, {.block = {1, 1, 1}}, a_, swp::Array(copy), y, z, rows);
    }
    kernel_.launch(run, {.grid = {(columns + 63) / 64, rows, 1}, .block = {64, 1, 1}}, a_, x, y, z,
                   rows);
  }

 private:
  double a_;
  std::string fault_;
  swp::Kernel kernel_;
};
SW_REGISTER_OP(Axpy, {.name = "axpy", .inputs = 2, .properties = {{"a", 2.0}, {"fault", "none"}}});

constexpr const char* reverse_source = R"(
__global__ void reverse(const int* x, int* z) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  z[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}
)";

/// Reverses a short vector in the dynamic shared memory of one block.
class Reverse final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override { infer.output(0, infer.input(0)); }
  void run(const swp::Run& run) const override {
    const swp::Array x = run.input(0), z = run.new_output(0, x.shape());
    kernel_.launch(run, {.block = {x.size(), 1, 1}, .shared_bytes = 4 * x.size()}, x, z);
  }

 private:
  swp::Kernel kernel_{reverse_source, "reverse"};
};
SW_REGISTER_OP(Reverse, {.name = "reverse"});

SW_REGISTER_OP(Increment, {.name = "gpu_only", .flags = SW_ON_GPU});

}  // namespace

// SW_PLUGIN makes a string of its argument: the macro NAMESPACE must be expanded before.
#define PLUGIN_NAMED(name_space) SW_PLUGIN(name_space)
PLUGIN_NAMED(NAMESPACE);
