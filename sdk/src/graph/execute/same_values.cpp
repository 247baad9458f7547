// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/execute/same_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "spanwise/runtime/copy.hpp"

namespace spanwise::graph {
namespace {

// `tolerance` is relative; `noise` is absolute, for sums whose terms cancel.
bool is_close(double a, double b, double tolerance, double noise) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b)) + noise;
}

Array on_host(const Array& value) { return contiguous(to_device(value, cpu)); }

}  // namespace

bool have_same_bytes(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const Array left = on_host(a), right = on_host(b);
  return left.nbytes() == 0 ||
         std::memcmp(left.data(), right.data(), static_cast<std::size_t>(left.nbytes())) == 0;
}

double largest_number(const Array& array) {
  if (!array.dtype().is_floating()) return 0;
  const Array values = on_host(astype(array, float64));
  const auto* x = static_cast<const double*>(values.data());
  double largest = 0;
  for (std::int64_t i = 0; i < values.size(); ++i)
    if (std::isfinite(x[i])) largest = std::max(largest, std::abs(x[i]));
  return largest;
}

bool have_same_values(const Array& a, const Array& b, double largest, bool finite_only) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (have_same_bytes(a, b)) return true;
  if (!a.dtype().is_floating()) return false;
  // `rounding` is 64 times the machine epsilon of float64 and float32, 8 times that of float16.
  const bool is_double = a.dtype().bits() >= 64, is_single = a.dtype().bits() == 32;
  const double tolerance = is_double ? 1e-9 : is_single ? 1e-4 : 1e-2;
  const double rounding = is_double ? 0x1p-46 : is_single ? 0x1p-17 : 0x1p-7;
  const double noise = tolerance * tolerance + rounding * largest;
  const Array left = on_host(astype(a, float64)), right = on_host(astype(b, float64));
  const auto* x = static_cast<const double*>(left.data());
  const auto* y = static_cast<const double*>(right.data());
  for (std::int64_t i = 0; i < left.size(); ++i)
    if (!is_close(x[i], y[i], tolerance, noise) && !(finite_only && !std::isfinite(y[i])))
      return false;
  return true;
}

}  // namespace spanwise::graph
