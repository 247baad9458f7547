// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_gemv.hpp"
#include "cuda_gemv.hpp"
#include "problem.hpp"

namespace spanwise::ops::linalg {
namespace {

// Up to `small` multiplications, the own loops take less time than a call of OpenBLAS.
constexpr ProductBackend on_cpu{
    .has_halves = false,
    .small = 216,
    .gemv = [](const Problem& problem,
               Device) { return gemv_on_cpu(problem, GemvSizes::where_faster); },
    .product =
        [](const Problem& problem, Device) {
          if (!gemv_on_cpu(problem, GemvSizes::all)) own_product_on_cpu(problem);
        }};
constexpr ProductBackend on_cuda{
    .has_halves = true, .small = 0, .gemv = &gemv_on_cuda, .product = &own_product_on_cuda};
[[maybe_unused]] const auto* const no_cpu_before = product_backends.set(DeviceKind::cpu, &on_cpu);
[[maybe_unused]] const auto* const no_cuda_before =
    product_backends.set(DeviceKind::cuda, &on_cuda);

}  // namespace

constinit DeviceTable<ProductBackend> product_backends{"product"};

}  // namespace spanwise::ops::linalg
