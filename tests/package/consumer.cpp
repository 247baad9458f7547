// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Runs a CUDA C kernel on the default device through nothing but the installed library.
#include <cstdio>
#include <cstring>

#include "spanwise/core/version.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace sw = spanwise;

int main() {
  if (std::strcmp(sw::version(), SW_VERSION_STRING) != 0) {
    std::printf("headers of %s with a library of %s\n", SW_VERSION_STRING, sw::version());
    return 1;
  }
  const sw::Array x = sw::full({64}, sw::Scalar(1.5f), sw::float32);
  const sw::SourceModule module("__global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }");
  module.get_function("twice")({.block = {64}}, {x});

  const sw::Array host = sw::to_device(x, sw::cpu);
  for (int i = 0; i < 64; ++i) {
    if (static_cast<const float*>(host.data())[i] != 3.0f) return 1;
  }
  std::printf("spanwise %s on %s: 2 x 1.5 = 3\n", sw::version(), x.device().name().c_str());
  return 0;
}
