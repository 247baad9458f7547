// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_text.hpp"

#include "embedded/strided_text.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::strided {
namespace {

std::string_view device_text(std::string_view name) {
  return embedded::file_text(embedded::strided_text, name);
}

}  // namespace

CudaText::CudaText(const Body& body, const PlanShape& shape)
    : body_(body), shape_(shape), count_(static_cast<int>(body.arrays.size())) {
  for (int k = count_ - 1; k >= 0; --k)
    if (is_written(role(k))) leader_ = k;
  for (int k = 0; k < count_; ++k) {
    const bool is_const = !is_written(role(k));
    parameters_ += is_memory(k) ? text(is_const ? "const sw_t" : "sw_t", k, "* sw_p", k, ", ")
                                : text("long long sw_p", k, ", ");
    arguments_ += text("sw_p", k, ", ");
  }
  parameters_ += body.parameters;
  arguments_ += body.arguments;
}

std::string CudaText::write() const {
  if (shape_.is_serial) return head() + serial();
  if (shape_.kind == PlanShape::Kind::dense) return head() + dense();
  if (shape_.kind == PlanShape::Kind::rows) return head() + rows();
  return head() + (shape_.kind == PlanShape::Kind::cells ? cells() : tiles());
}

bool CudaText::has_tile(int k) const {
  const AccessPattern found = pattern(k);
  return found == AccessPattern::transposed || found == AccessPattern::transposed_in_packs ||
         found == AccessPattern::cells || found == AccessPattern::planes;
}

// Whether the body's values are stored as a pack. With a mask they are written one by one, since a
// pack would also write what the mask protects.
bool CudaText::is_stored(int k) const {
  return (role(k) == ArrayRole::write || role(k) == ArrayRole::update) &&
         role(count_ - 1) != ArrayRole::mask;
}

bool CudaText::is_read_from_memory(int k) const {
  return !has_tile(k) && (is_loaded(role(k)) || (role(k) == ArrayRole::update && is_stored(k)));
}

// `pattern` with the number of the array whose strides array k uses in place of each '#'.
std::string CudaText::numbered(const std::string& pattern, int k) const {
  std::string out;
  for (const char c : pattern)
    if (c == '#')
      out += std::to_string(shares_strides(k) ? leader_ : k);
    else
      out += c;
  return out;
}

std::string CudaText::element(const StepText& step, int k) const {
  if (role(k) == ArrayRole::index)
    return text("(sw_p", k, " + ", numbered(step.offset, k), " + sw_k * ", numbered(step.along, k),
                ")");
  if (is_loaded(role(k))) {
    if (has_tile(k)) return text("sw_c", k, ".x[sw_k]");
    return text("sw_v", k, "[sw_u]", pattern(k) == AccessPattern::constant ? "" : ".x[sw_k]");
  }
  if (is_stored(k))
    return role(k) == ArrayRole::update ? text("sw_v", k, "[sw_u].x[sw_k]")
                                        : text("sw_q", k, ".x[sw_k]");
  return text("sw_p", k, "[", numbered(step.offset, k), " + sw_k * ", numbered(step.along, k), "]");
}

std::string CudaText::head() const {
  std::string types;
  for (int k = 0; k < count_; ++k)
    if (is_memory(k))
      types += text("typedef ", body_.arrays[static_cast<std::size_t>(k)].type, " sw_t", k, ";\n");
  // The library's text comes first: a prelude may define macros.
  if (shape_.is_serial)
    return text(shape_.kind == PlanShape::Kind::rows ? "#include <spanwise/walk.cuh>\n" : "",
                body_.prelude, types);
  return text(device_text("pack.cuh"), device_text("packs.cuh"),
              shape_.kind == PlanShape::Kind::tiles   ? device_text("tiles.cuh")
              : shape_.kind == PlanShape::Kind::cells ? device_text("cells.cuh")
                                                      : "",
              body_.prelude, types, "constexpr int sw_width = ", int{shape_.width},
              ", sw_threads = ", block_threads, ";\n");
}

std::string CudaText::numbers_struct() const {
  std::string names;
  for (int k = 0; k < count_; ++k)
    if (!shares_strides(k)) names += text(", s", k, "[sw_rank]");
  return text("constexpr int sw_rank = ", int{shape_.rank},
              ";\nstruct sw_walk { long long shape[sw_rank]", names, "; };\n");
}

// Statements that advance the offset of each array by sw_index steps of sw_axis; `step` selects the
// offset of a step.
std::string CudaText::offsets(std::string_view indent, std::string_view step) const {
  std::string out;
  for (int k = 0; k < count_; ++k)
    if (!shares_strides(k))
      out += text(indent, "sw_at", k, step, " += (sw_step)sw_index * (sw_step)sw_w.s", k,
                  "[sw_axis];\n");
  return out;
}

std::string CudaText::kernel(std::string_view last_parameters) const {
  // With a number of blocks, even of one, the compiler keeps more of a tile in registers:
  // permutations (2, 1, 0) take 5 % less time (H100), though fewer blocks are resident.
  const char* const blocks = shape_.kind == PlanShape::Kind::tiles ? ", 1" : "";
  return text("extern \"C\" __global__ void __launch_bounds__(", shape_.threads_per_block(), blocks,
              ") ", body_.name, "(", parameters_, last_parameters, ") {\n");
}

// ---- the loop over a thread's packs

std::string CudaText::declarations() const {
  std::string out;
  for (int k = 0; k < count_; ++k) {
    if (!is_read_from_memory(k)) continue;
    out += pattern(k) == AccessPattern::constant
               ? text("  sw_t", k, " sw_v", k, "[sw_steps];\n")
               : text("  spanwise::Pack<sw_t", k, ", sw_width> sw_v", k, "[sw_steps];\n");
  }
  return out;
}

std::string CudaText::loads(const StepText& step) const {
  std::string out;
  for (int k = 0; k < count_; ++k) {
    if (!is_read_from_memory(k)) continue;
    const std::string from = text("sw_p", k, " + ", numbered(step.offset, k));
    const std::string to = text("sw_v", k, "[sw_u]");
    if (pattern(k) == AccessPattern::constant)
      out +=
          shape_.kind == PlanShape::Kind::dense || shape_.kind == PlanShape::Kind::cells
              ? text("    ", to, " = *sw_p", k, ";\n")
              : text("    ", step.is_whole ? "" : "if (sw_count > 0) ", to, " = *(", from, ");\n");
    else if (pattern(k) == AccessPattern::contiguous)
      out += text("    spanwise::read_contiguous(", to, ", ", from, ", sw_count);\n");
    else if (pattern(k) == AccessPattern::unaligned)
      out += text("    spanwise::read_unaligned(", to, ", ", from, ", sw_count);\n");
    else if (pattern(k) == AccessPattern::reversed)
      out += text("    spanwise::read_reversed(", to, ", ", from, ", sw_count);\n");
    else
      out += text("    spanwise::read_strided(", to, ", ", from, ", ", numbered(step.along, k),
                  ", sw_count);\n");
  }
  return out;
}

// Computes and writes one pack.
std::string CudaText::stores(const StepText& step) const {
  std::vector<std::string> elements;
  std::string packs, writes;
  for (int k = 0; k < count_; ++k) {
    elements.push_back(element(step, k));
    if (!is_stored(k)) continue;
    const bool is_read = role(k) == ArrayRole::update;
    if (!is_read) packs += text("    spanwise::Pack<sw_t", k, ", sw_width> sw_q", k, ";\n");
    const std::string pack = is_read ? text("sw_v", k, "[sw_u]") : text("sw_q", k);
    const std::string to = text("sw_p", k, " + ", numbered(step.offset, k));
    writes += pattern(k) == AccessPattern::contiguous
                  ? text("    spanwise::write_contiguous(", to, ", ", pack, ", sw_count);\n")
                  : text("    spanwise::write_strided(", to, ", ", pack, ", ",
                         numbered(step.along, k), ", sw_count);\n");
  }
  std::string condition = step.is_whole ? "" : "sw_k < sw_count";
  if (role(count_ - 1) == ArrayRole::mask)
    condition += (condition.empty() ? "" : " && ") + elements.back();
  return text(packs, "#pragma unroll\n    for (int sw_k = 0; sw_k < sw_width; ++sw_k) {\n",
              condition.empty() ? "" : text("      if (!(", condition, ")) continue;\n"),
              body_.compute(elements), "    }\n", writes);
}

// Two loops over the thread's packs, with `between` between them: the first loads all packs, the
// second computes and writes each, after `tile_loads`.
std::string CudaText::loop(const StepText& step, std::string_view between,
                           std::string_view tile_loads) const {
  const std::string each = "#pragma unroll\n  for (int sw_u = 0; sw_u < sw_steps; ++sw_u) {\n";
  return text("  constexpr int sw_steps = ", step.steps, ";\n", declarations(), each, step.find,
              loads(step), "  }\n", between, each, step.find, tile_loads, stores(step), "  }\n");
}

// ---- kinds

std::string CudaText::dense() const {
  // A thread of one element has no part of a pack.
  const bool has_parts = shape_.packs * shape_.width > 1;
  const StepText step{
      std::to_string(shape_.packs),
      text("    const long long sw_o = sw_first + sw_u * (sw_threads * sw_width);\n",
           has_parts ? "    const int sw_count = sw_whole ? sw_width : " : "",
           has_parts ? "" : "    const int sw_count = ",
           "spanwise::elements_left(sw_n - sw_o, sw_width);\n"),
      "sw_o", "1", false};
  const std::string call = text("(", arguments_, "sw_begin + threadIdx.x * sw_width, sw_n);\n");
  return text("template <bool sw_whole>\n__device__ __forceinline__ void sw_run(", parameters_,
              "const long long sw_first, const long long sw_n) {\n", body_.declarations,
              body_.before, loop(step), body_.after, "}\n", kernel("const long long sw_n"),
              "  constexpr int sw_block = sw_threads * sw_width * ", int{shape_.packs},
              ";\n  const long long sw_begin = (long long)blockIdx.x * sw_block;\n",
              has_parts
                  ? text("  if (sw_begin + sw_block <= sw_n)\n    sw_run<true>", call, "  else\n  ")
                  : "",
              "  sw_run<false>", call, "}\n");
}

// Statements that find a row's pack: the first pack of a shifted one is complete to the first
// aligned element of the leader.
std::string CudaText::find_in_row() const {
  std::string out =
      text("    const sw_offset sw_pack = sw_rank > 1 ? sw_rest % sw_packs : sw_rest;\n",
           "    sw_rest /= sw_packs;\n", R"(#pragma unroll
    for (int sw_axis = sw_rank - 2; sw_axis >= 0; --sw_axis) {
      const sw_offset sw_extent = (sw_offset)sw_w.shape[sw_axis];
      const sw_offset sw_index = sw_axis > 0 ? sw_rest % sw_extent : sw_rest;
      sw_rest = sw_axis > 0 ? sw_rest / sw_extent : 0;
)",
           offsets("      ", "[sw_u]"), "    }\n    sw_step sw_index = ");
  if (shape_.is_shifted)
    out +=
        text("(long long)sw_pack * sw_width -\n        (long long)((unsigned long long)(sw_p",
             leader_, " + sw_at", leader_, "[sw_u]) / sizeof(sw_t", leader_,
             ") % sw_width);\n    const sw_step sw_end = sw_index + sw_width;\n"
             "    if (sw_index < 0) sw_index = 0;\n"
             "    sw_counts[sw_u] = sw_is_in ? spanwise::elements_left((sw_end < sw_extent_of_row "
             "? sw_end : sw_extent_of_row) - sw_index, sw_width) : 0;\n");
  else
    out += text("(sw_step)sw_pack * sw_width;\n    sw_counts[sw_u] = sw_is_in ? ",
                shape_.has_tail ? "spanwise::elements_left(sw_extent_of_row - sw_index, sw_width)"
                                : "sw_width",
                " : 0;\n");
  for (int k = 0; k < count_; ++k)
    if (!shares_strides(k))
      out += text("    sw_at", k, "[sw_u] += sw_index * (sw_step)sw_w.s", k, "[sw_rank - 1];\n");
  return out;
}

std::string CudaText::rows() const {
  // A thread without an element ends at once, unless it must reach the body's other statements.
  const bool ends = shape_.packs == 1 && !runs_for_all_threads();
  const StepText step{std::to_string(shape_.packs), "    const int sw_count = sw_counts[sw_u];\n",
                      "sw_at#[sw_u]", "sw_w.s#[sw_rank - 1]",
                      ends && !shape_.has_tail && !shape_.is_shifted};
  std::string declared;
  for (int k = 0; k < count_; ++k)
    if (!shares_strides(k))
      declared += text("  sw_step sw_at", k, "[", int{shape_.packs}, "] = {};\n");
  return text(
      numbers_struct(), kernel("const sw_walk sw_w, const long long sw_n"), "  typedef unsigned ",
      shape_.is_large ? "long long sw_offset;\n  typedef long long sw_step;\n"
                      : "int sw_offset;\n  typedef int sw_step;\n",
      declared, "  int sw_counts[", int{shape_.packs},
      "];\n  const sw_step sw_extent_of_row = sw_w.shape[sw_rank - 1];\n",
      "  const sw_offset sw_packs = ((sw_offset)sw_extent_of_row + ",
      shape_.is_shifted ? "2 * sw_width - 2" : "sw_width - 1",
      ") / sw_width;\n#pragma unroll\n  for (int sw_u = 0; sw_u < ", int{shape_.packs},
      "; ++sw_u) {\n    const sw_offset sw_i = ((sw_offset)blockIdx.x * ", int{shape_.packs},
      R"( + sw_u) * sw_threads + (sw_offset)threadIdx.x;
    const bool sw_is_in = sw_i < (sw_offset)sw_n;
)",
      ends ? "    if (!sw_is_in) return;\n" : "", "    sw_offset sw_rest = sw_is_in ? sw_i : 0;\n",
      find_in_row(), "  }\n", body_.declarations, body_.before, loop(step), body_.after, "}\n");
}

std::string cuda_source(const Body& body, const PlanShape& shape) {
  return CudaText(body, shape).write();
}

}  // namespace spanwise::strided
