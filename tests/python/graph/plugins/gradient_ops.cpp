// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// A plug-in whose ops have derivatives, for tests/python/graph/gradients/test_plugin_gradient.py.
// All arrays are float64 vectors of one length.

#include <spanwise/plugin.hpp>

#include <cstdint>
#include <string>

namespace {

namespace swp = spanwise::plugin;

/// Outputs of the type of the first input, computed by a kernel of one thread per element, whose
/// parameters are the inputs, the outputs, the property factor and the length.
class Elementwise : public swp::Op {
 public:
  Elementwise(int outputs, double factor, const std::string& parameters, const std::string& body)
      : outputs_(outputs),
        factor_(factor),
        kernel_(
            "#include <spanwise/view.cuh>\nusing V = spanwise::View<const double, 1>;\n"
            "__global__ void compute(" +
                parameters +
                ", double factor, long long n) {\n"
                "  const long long i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {" +
                body + "}\n}",
            "compute") {}

  void infer(const swp::Infer& infer) const override {
    for (int i = 0; i < infer.input_count(); ++i) {
      swp::expect_dtype(infer.input(i).dtype(), swp::dtype_of<double>(), "an input");
      swp::expect_rank(infer.input(i).rank(), 1, "an input");
    }
    for (int i = 0; i < outputs_; ++i) infer.output(i, infer.input(0));
  }

 protected:
  template <class... Arrays>
  void launch(const swp::Run& run, const Arrays&... arrays) const {
    kernel_.launch_over(run, run.input(0).size(), arrays..., factor_, run.input(0).size());
  }
  swp::Array output(const swp::Run& run, int i) const {
    return run.new_output(i, run.input(0).shape());
  }

 private:
  int outputs_;
  double factor_;
  swp::Kernel kernel_;
};

/// factor * x * y and x + y.
class ProductOp final : public Elementwise {
 public:
  explicit ProductOp(const swp::Properties& p)
      : Elementwise(2, p.real("factor"), "V x, V y, double* z, double* s",
                    "z[i] = factor * x(i) * y(i); s[i] = x(i) + y(i);") {}
  void run(const swp::Run& run) const override {
    launch(run, run.input(0), run.input(1), output(run, 0), output(run, 1));
  }
};
SW_REGISTER_OP(ProductOp, {.name = "product",
                           .inputs = 2,
                           .outputs = 2,
                           .properties = {{"factor", 1.0}, {"only_of_product", 7}},
                           .gradient = {.op = "product_gradient",
                                        .inputs = {swp::from_gradient(1), swp::from_gradient(0),
                                                   swp::from_input(0), swp::from_input(1)},
                                        .wrt = {1, 0}}});

/// From (ds, dz, x, y): dy and dx.
class ProductGradient final : public Elementwise {
 public:
  explicit ProductGradient(const swp::Properties& p)
      : Elementwise(2, p.real("factor"), "V ds, V dz, V x, V y, double* dy, double* dx",
                    "dy[i] = factor * x(i) * dz(i) + ds(i);"
                    "dx[i] = factor * y(i) * dz(i) + ds(i);") {}
  void run(const swp::Run& run) const override {
    launch(run, run.input(0), run.input(1), run.input(2), run.input(3), output(run, 0),
           output(run, 1));
  }
};
SW_REGISTER_OP(ProductGradient, {.name = "product_gradient",
                                 .inputs = 4,
                                 .outputs = 2,
                                 .properties = {{"factor", swp::Property::real}},
                                 .gradient = {.op = "product_second"}});

/// From the inputs and outputs of product_gradient and the derivatives of its outputs, ey and ex:
/// the derivatives of its four inputs.
class ProductSecond final : public Elementwise {
 public:
  explicit ProductSecond(const swp::Properties& p)
      : Elementwise(4, p.real("factor"),
                    "V ds, V dz, V x, V y, V dy, V dx, V ey, V ex, double* gs, double* gz, "
                    "double* gx, double* gy",
                    "gs[i] = ey(i) + ex(i); gz[i] = factor * (x(i) * ey(i) + y(i) * ex(i));"
                    "gx[i] = factor * dz(i) * ey(i); gy[i] = factor * dz(i) * ex(i);") {}
  void run(const swp::Run& run) const override {
    launch(run, run.input(0), run.input(1), run.input(2), run.input(3), run.input(4), run.input(5),
           run.input(6), run.input(7), output(run, 0), output(run, 1), output(run, 2),
           output(run, 3));
  }
};
SW_REGISTER_OP(ProductSecond, {.name = "product_second",
                               .inputs = 8,
                               .outputs = 4,
                               .properties = {{"factor", 1.0}}});

/// x * y, of which only the derivative with respect to y is computed.
class HalfOp final : public Elementwise {
 public:
  HalfOp() : Elementwise(1, 1, "V x, V y, double* z", "z[i] = x(i) * y(i);") {}
  void run(const swp::Run& run) const override {
    launch(run, run.input(0), run.input(1), output(run, 0));
  }
};
SW_REGISTER_OP(HalfOp, {.name = "half",
                        .inputs = 2,
                        .gradient = {.op = "half",
                                     .inputs = {swp::from_input(0), swp::from_gradient(0)},
                                     .wrt = {1}}});

/// offset + scale * x * x, fused as element_body; run() computes it for offset 0 only.
class Parabola final : public Elementwise {
 public:
  explicit Parabola(const swp::Properties& p)
      : Elementwise(1, p.real("scale"), "V x, double* z", "z[i] = factor * x(i) * x(i);") {
    if (p.integer("offset") != 0) throw swp::Error(SW_ARGUMENT_ERROR, "run has no offset");
  }
  void run(const swp::Run& run) const override { launch(run, run.input(0), output(run, 0)); }
};
SW_REGISTER_OP(Parabola, {.name = "parabola",
                          .properties = {{"scale", 1.0}, {"offset", 0}, {"title", "none"}},
                          .element_body = "z = offset + scale * x * x",
                          .element_names = {"x", "z"}});

}  // namespace

SW_PLUGIN(derived);
