// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace spanwise::python {

/// Removes matrices whose memory is freed from the cache from which `gnumpy` takes the memory of
/// new arrays.
///
/// A garray that is destroyed puts its matrix into the cache. If both are destroyed in one garbage
/// collection, as parts of a cycle, Python (since 3.4) finalizes all objects of the cycle first:
/// the matrix frees its memory but stays in the cache, and an array that gets it fails with "Matrix
/// is not in device memory". Therefore the cache is checked after each collection. Call this
/// whenever garrays are seen; only the first call has an effect.
void watch_reuse_cache(const pybind11::module_& gnumpy);

}  // namespace spanwise::python
