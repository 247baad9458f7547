// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// An op out of the tree as lines/plugin_cpu.py measures it, and the same work called directly.

#include <spanwise/plugin.hpp>

#include <cstdint>

namespace swp = spanwise::plugin;

namespace {

// Not inlined, so that Increment::run and increment_repeatedly execute the same code.
[[gnu::noinline]] void increment(const float* x, float* z, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) z[i] = x[i] + 1;
}

class Increment final : public swp::Op {
 public:
  void infer(const swp::Infer& infer) const override { infer.output(0, infer.input(0)); }
  void run(const swp::Run& run) const override {
    const swp::Array x = run.input(0), z = run.new_output(0, x.shape());
    increment(x.data<const float>(), z.data<float>(), x.size());
  }
};
SW_REGISTER_OP(Increment, {.name = "increment", .flags = SW_ON_CPU});

}  // namespace

extern "C" SW_PLUGIN_EXPORT void increment_repeatedly(const float* x, float* z, std::int64_t n,
                                                      std::int64_t times) {
  for (std::int64_t i = 0; i < times; ++i) increment(x, z, n);
}

SW_PLUGIN(perf);
