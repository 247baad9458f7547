// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace spanwise::python {

/// Keeps matrices whose memory is gone out of the cache from which `gnumpy` makes its next arrays.
///
/// A garray that goes puts its matrix there. Where both go in one garbage collection, as parts of a
/// cycle, Python (since 3.4) finishes all objects of the cycle first: the matrix frees its memory
/// and still is in the cache, and an array that gets it fails with "Matrix is not in device
/// memory". So after each collection the cache is looked through. To be called whenever garrays are
/// seen; only the first call does anything.
void watch_reuse_cache(const pybind11::module_& gnumpy);

}  // namespace spanwise::python
