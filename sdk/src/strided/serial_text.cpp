// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_text.hpp"
#include "spanwise/core/error.hpp"

// The loop of a block on the CPU, which is one thread: the compiler of the host vectorizes it.
namespace spanwise::strided {

// Element sw_k of array k, whose run begins at `first`.
std::string CudaText::serial_element(int k, bool has_runs) const {
  const std::string first = has_runs ? text("sw_r", k) : text("sw_p", k);
  if (pattern(k) == AccessPattern::constant) return text("sw_v", k);
  const std::string step = !has_runs || pattern(k) == AccessPattern::contiguous ? "sw_k"
                           : pattern(k) == AccessPattern::reversed              ? "-sw_k"
                                                                   : text("sw_k * sw_d", k);
  return is_memory(k) ? text(first, "[", step, "]") : text("(", first, " + ", step, ")");
}

// Declarations of sw_rk, where the run begins in array k, sw_dk, its step, and sw_vk, one element
// for all of the run.
std::string CudaText::serial_run(bool has_runs) const {
  std::string out;
  for (int k = 0; k < count_; ++k) {
    if (has_runs) {
      out += text("    ", is_memory(k) ? "auto* const" : "const long long", " sw_r", k, " = sw_p",
                  k, " + sw_runs.offset(", k, ");\n    const long long sw_d", k, " = sw_runs.step(",
                  k, ");\n");
    }
    if (pattern(k) == AccessPattern::constant)
      out += text("    const sw_t", k, " sw_v", k, " = *", has_runs ? "sw_r" : "sw_p", k, ";\n");
  }
  return out;
}

std::string CudaText::serial() const {
  const bool has_runs = shape_.kind == PlanShape::Kind::rows;
  std::vector<std::string> elements;
  for (int k = 0; k < count_; ++k) elements.push_back(serial_element(k, has_runs));
  const bool has_mask = role(count_ - 1) == ArrayRole::mask;
  const std::string selects =
      has_mask ? text("      if (!", elements.back(), ") continue;\n") : std::string();
  const std::string each = selects + body_.compute(elements) + "    }\n";
  const std::string share =
      text("  const long long sw_first = (long long)blockIdx.x * ", serial_steps,
           ", sw_last = sw_first + ", serial_steps, " < sw_n ? sw_first + ", serial_steps,
           " : sw_n;\n", body_.declarations, body_.before);
  if (!has_runs)
    return text(kernel("const long long sw_n"), share, serial_run(false),
                "    for (long long sw_k = sw_first; sw_k < sw_last; ++sw_k) {\n", each,
                body_.after, "}\n");
  const std::string sizes = text("<", int{shape_.rank}, ", ", count_, ">");
  return text(
      "typedef spanwise::StridedWalk", sizes, " sw_walk;\n",
      kernel("const sw_walk sw_w, const long long sw_n"), share, "  for (spanwise::StridedRuns",
      sizes, " sw_runs(sw_w, sw_first, sw_last); sw_runs.left > 0; sw_runs.next()) {\n",
      "    const long long sw_run = sw_runs.count();\n", serial_run(true),
      "    for (long long sw_k = 0; sw_k < sw_run; ++sw_k) {\n", each, "  }\n", body_.after, "}\n");
}

}  // namespace spanwise::strided
