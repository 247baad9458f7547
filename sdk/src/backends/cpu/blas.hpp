// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/runtime/linear_algebra.hpp"
#include "spanwise/runtime/tools.hpp"

/// The BLAS of this machine, loaded at run time.
namespace spanwise::cpu_backend::blas {

/// library_gemm() on the CPU, by the machine's BLAS. Returns false, and does nothing, without a
/// BLAS, for dtypes other than float32, float64, complex64 and complex128, and for extents that its
/// integers cannot hold.
bool gemm(const GemmCall& call);

/// Name, version and path of the BLAS, for `python -m spanwise doctor`.
Tool tool();

}  // namespace spanwise::cpu_backend::blas
