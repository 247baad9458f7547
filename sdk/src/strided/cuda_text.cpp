// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>

#include "embedded/strided_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/strided/strided_call.hpp"

// The CUDA C of a kernel: how the elements of each kind of plan are found, read and written around
// a body.
namespace spanwise::strided {
namespace {

/// Writes one kernel: load, body, store. Names in the text, for array k: sw_tk its type, sw_pk its
/// pointer, or the index of the first element, sw_vk loaded elements, sw_ck those from a tile,
/// sw_qk elements to be stored; sw_atk its offset and sw_w.sk its strides, which arrays of
/// PlanShape::shares_strides do not have.
class CudaText {
 public:
  CudaText(const Body& body, const PlanShape& shape);

  std::string write() const;

 private:
  /// How a kind finds the elements that a thread visits in step sw_u of its loop.
  struct StepText {
    std::string steps;   ///< number of the steps, a constant
    std::string find;    ///< statements that define sw_count, elements of the pack that exist
    std::string offset;  ///< from sw_pk, where # stands for the number of the strides
    std::string along;   ///< stride of the last axis, likewise
    bool is_whole;       ///< whether sw_count is always the width
  };

  bool is_memory(int k) const { return role(k) != ArrayRole::index; }
  bool shares_strides(int k) const { return (shape_.shares_strides >> k & 1) != 0; }
  bool has_tile(int k) const;
  ArrayRole role(int k) const { return body_.arrays[static_cast<std::size_t>(k)].role; }
  AccessPattern pattern(int k) const { return shape_.patterns[static_cast<std::size_t>(k)]; }
  std::string numbered(const std::string& text, int k) const;
  std::string element(const StepText& step, int k) const;
  bool is_stored(int k) const;
  bool is_read_from_memory(int k) const;
  bool runs_for_all_threads() const { return !body_.before.empty() || !body_.after.empty(); }

  std::string head() const;
  std::string numbers_struct() const;
  std::string offsets(std::string_view indent, std::string_view step = {}) const;
  std::string kernel(std::string_view last_parameters) const;

  std::string declarations() const;
  std::string loads(const StepText& step) const;
  std::string stores(const StepText& step) const;
  std::string loop(const StepText& step, std::string_view between = {},
                   std::string_view tile_loads = {}) const;

  std::string dense() const;
  std::string find_in_row() const;
  std::string rows() const;
  std::string tiles() const;
  std::string tile_function() const;
  bool has_lines(int k) const;
  std::string cell_fills() const;
  std::string cells() const;
  std::string serial_element(int k, bool has_runs) const;
  std::string serial_run(bool has_runs) const;
  std::string serial() const;

  const Body& body_;
  const PlanShape& shape_;
  int count_, leader_ = 0;
  std::string parameters_, arguments_;  ///< of the kernel, up to the numbers
};

std::string_view device_text(std::string_view name) {
  return embedded::file_text(embedded::strided_text, name);
}

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

// ---- dense and rows

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

// ---- tiles

// The work of a block on its tile: the thread visits packs at (sw_s, sw_tt) of the tile. Arrays
// without a tile are loaded before the tiles are filled.
std::string CudaText::tile_function() const {
  std::string parameters, fills, tile_loads = "    if (sw_count <= 0) continue;\n";
  for (int k = 0; k < count_; ++k) {
    if (!has_tile(k)) continue;
    parameters += text("sw_t", k, "* sw_tile", k, ", ");
    const std::string call_arguments =
        text("(sw_tile", k, ", sw_p", k, ", ",
             numbered("sw_w.s#[sw_rank - 2], sw_w.s#[sw_rank - 1]", k));
    if (pattern(k) == AccessPattern::transposed_in_packs)
      fills += text(
          "    if (sw_whole)\n      spanwise::fill_tile_in_packs<sw_tile_rows, sw_tile_columns, ",
          "sw_threads>", call_arguments, ");\n    else\n  ");
    fills += text("    spanwise::fill_tile<sw_tile_rows, sw_tile_columns, sw_threads, sw_whole>",
                  call_arguments, ", sw_left_s, sw_left_t);\n");
    tile_loads += text("    const spanwise::Pack<sw_t", k, ", sw_width> sw_c", k,
                       " = spanwise::load_pack<sw_width>(sw_tile", k,
                       " + spanwise::tile_index<sw_tile_columns, sw_t", k, ">(sw_s, sw_tt));\n");
  }
  const std::string from_corner = "sw_s * sw_w.s#[sw_rank - 2] + sw_tt * sw_w.s#[sw_rank - 1]";
  const StepText step{
      "!sw_whole || sw_tile_rows / sw_rows < 1 ? 1 : sw_tile_rows / sw_rows < 4 ? sw_tile_rows / "
      "sw_rows : "
      "4",
      R"(    const int sw_s = sw_base + sw_u * sw_rows;
    const int sw_count = sw_whole && sw_rows <= sw_tile_rows
                             ? sw_width
                             : sw_s < sw_left_s ? sw_left_t - sw_tt : 0;
)",
      from_corner, "sw_w.s#[sw_rank - 1]", false};
  const std::string between =
      text("  if (sw_base == sw_row) {\n", fills, "    __syncthreads();\n  }\n");
  return text("template <bool sw_whole>\n__device__ __forceinline__ void sw_do_tile(", parameters_,
              parameters, R"(const sw_walk& sw_w, int sw_left_s, int sw_left_t) {
  const int sw_tt = threadIdx.x % (sw_tile_columns / sw_width) * sw_width;
  const int sw_row = threadIdx.x / (sw_tile_columns / sw_width);
)",
              body_.declarations, body_.before,
              "  for (int sw_base = sw_row; sw_base == sw_row || sw_base < sw_tile_rows;) {\n",
              loop(step, between, tile_loads), "  sw_base += sw_rows * sw_steps;\n  }\n",
              body_.after, "}\n");
}

std::string CudaText::tiles() const {
  std::string declare, tile_arguments, move;
  for (int k = 0; k < count_; ++k) {
    if (!shares_strides(k)) {
      declare += text("  sw_step sw_at", k, " = 0;\n");
      move += text("  sw_at", k, " += sw_first_s * sw_w.s", k,
                   "[sw_rank - 2] + sw_first_t * sw_w.s", k, "[sw_rank - 1];\n");
    }
    if (has_tile(k)) {
      // As bytes, since variables in shared memory must not have constructors.
      declare += text("  __shared__ alignas(16) unsigned char sw_bytes", k,
                      "[sw_tile_rows * sw_tile_columns * sizeof(sw_t", k, ")];\n");
      tile_arguments += text("(sw_t", k, "*)sw_bytes", k, ", ");
    }
  }
  for (int k = 0; k < count_; ++k) move += text("  sw_p", k, " += ", numbered("sw_at#", k), ";\n");
  const std::string call = text("(", arguments_, tile_arguments, "sw_w, sw_left_s, sw_left_t);\n");
  return text(
      "constexpr int sw_tile_rows = ", int{shape_.tile_rows},
      ", sw_tile_columns = ", int{shape_.tile_columns},
      ";\n// Rows that a block visits at a time.\n",
      "constexpr int sw_rows = sw_threads * sw_width / sw_tile_columns;\n", numbers_struct(),
      "typedef long long sw_step;\n", tile_function(), kernel("const sw_walk sw_w"), declare,
      R"(  unsigned int sw_rest = blockIdx.x;
  const auto sw_tiles = [&](int sw_axis, int sw_side) {
    return (unsigned int)((sw_w.shape[sw_axis] + sw_side - 1) / sw_side);
  };
  const long long sw_first_t = sw_rest % sw_tiles(sw_rank - 1, sw_tile_columns) * (long long)sw_tile_columns;
  sw_rest /= sw_tiles(sw_rank - 1, sw_tile_columns);
  const long long sw_first_s = sw_rest % sw_tiles(sw_rank - 2, sw_tile_rows) * (long long)sw_tile_rows;
  sw_rest /= sw_tiles(sw_rank - 2, sw_tile_rows);
#pragma unroll
  for (int sw_axis = sw_rank - 3; sw_axis >= 0; --sw_axis) {
    const unsigned int sw_extent = (unsigned int)sw_w.shape[sw_axis];
    const unsigned int sw_index = sw_axis > 0 ? sw_rest % sw_extent : sw_rest;
    sw_rest = sw_axis > 0 ? sw_rest / sw_extent : 0;
)",
      offsets("    "), "  }\n", move,
      R"(  const int sw_left_s = spanwise::elements_left(sw_w.shape[sw_rank - 2] - sw_first_s, sw_tile_rows);
  const int sw_left_t = spanwise::elements_left(sw_w.shape[sw_rank - 1] - sw_first_t, sw_tile_columns);
  if (sw_left_s == sw_tile_rows && sw_left_t == sw_tile_columns)
    sw_do_tile<true>)",
      call, "  else\n    sw_do_tile<false>", call, "}\n");
}

// ---- cells

// Whether the kernel needs the offsets of the array's lines along the cells.
bool CudaText::has_lines(int k) const {
  return pattern(k) == AccessPattern::planes ||
         (shape_.has_planes && pattern(k) == AccessPattern::contiguous && !shares_strides(k));
}

// Statements that fill the tables of a cell's elements, then the arrays' tiles.
std::string CudaText::cell_fills() const {
  std::string declare, find, keep, fills;
  for (int k = 0; k < count_; ++k) {
    const bool is_cells = pattern(k) == AccessPattern::cells;
    if (!is_cells && !has_lines(k)) continue;
    declare += text("    long long sw_own", k, " = 0;\n");
    find += text("      sw_own", k, " += (long long)sw_index * sw_w.s", k, "[sw_axis];\n");
    keep += is_cells ? text("    sw_positions", k, "[sw_own", k,
                            "] = (unsigned short)(sw_i * sw_by_element);\n")
                     : text("    sw_lines", k, "[sw_i] = sw_own", k, ";\n");
    if (!has_tile(k)) continue;
    fills += text("  spanwise::fill_from_", is_cells ? "cells" : "planes",
                  "<sw_threads, sw_width>(sw_tile", k, ", sw_p", k, ", ",
                  is_cells ? "sw_positions" : "sw_lines", k, ", sw_cell, ",
                  is_cells ? "sw_cells * sw_cell, sw_by_cell" : "sw_cells", ");\n");
  }
  return text("  for (int sw_i = threadIdx.x; sw_i < sw_cell; sw_i += sw_threads) {\n",
              "    int sw_rest = sw_i;\n", declare, R"(#pragma unroll
    for (int sw_axis = sw_rank - 1; sw_axis >= sw_rank - sw_inner; --sw_axis) {
      const int sw_index = sw_rest % (int)sw_w.shape[sw_axis];
      sw_rest /= (int)sw_w.shape[sw_axis];
)",
              find, "    }\n", keep, "  }\n  __syncthreads();\n", fills, "  __syncthreads();\n");
}

std::string CudaText::cells() const {
  std::string declare, move, tile_loads;
  for (int k = 0; k < count_; ++k) {
    if (!shares_strides(k)) {
      declare += text("  sw_step sw_at", k, " = 0;\n");
      move += text("  sw_at", k, " += sw_first * sw_w.s", k, "[sw_rank - 1 - sw_inner];\n");
    }
    if (has_lines(k)) declare += text("  __shared__ long long sw_lines", k, "[32];\n");
    if (!has_tile(k)) continue;
    // As bytes, since variables in shared memory must not have constructors.
    declare += text("  __shared__ alignas(16) unsigned char sw_bytes", k,
                    "[sw_elements / 8 * 9 * sizeof(sw_t", k, ")];\n  sw_t", k, "* const sw_tile", k,
                    " = (sw_t", k, "*)sw_bytes", k, ";\n");
    if (pattern(k) == AccessPattern::cells)
      declare += text("  __shared__ unsigned short sw_positions", k, "[sw_elements / 16];\n");
    tile_loads += text("    const spanwise::Pack<sw_t", k, ", sw_width> sw_c", k,
                       " = spanwise::load_pack<sw_width>(sw_tile", k, " + spanwise::padded<sw_t", k,
                       ">(sw_f));\n");
  }
  for (int k = 0; k < count_; ++k) move += text("  sw_p", k, " += ", numbered("sw_at#", k), ";\n");
  const bool planes = shape_.has_planes;
  const StepText step{
      "1",
      planes ? "    const int sw_line = sw_q / sw_packs, sw_c = sw_q % sw_packs * sw_width;\n"
               "    const int sw_f = sw_line * sw_most + sw_c;\n"
               "    const int sw_count = spanwise::elements_left(sw_cells - sw_c, sw_width);\n"
             : "    const int sw_f = sw_q * sw_width;\n    const int sw_count = "
               "spanwise::elements_left(sw_cells * sw_cell - sw_f, sw_width);\n",
      planes ? "sw_lines#[sw_line] + sw_c" : "sw_f", "1", false};
  return text(
      numbers_struct(), "typedef long long sw_step;\nconstexpr int sw_inner = ", int{shape_.inner},
      ", sw_elements = ", 128 * int{shape_.cell_chunks}, ";\n", kernel("const sw_walk sw_w"),
      declare,
      R"(  int sw_cell = 1;
#pragma unroll
  for (int sw_axis = sw_rank - sw_inner; sw_axis < sw_rank; ++sw_axis) sw_cell *= (int)sw_w.shape[sw_axis];
  const int sw_most = sw_elements / sw_cell / 16 * 16;  // cells of a block
  const long long sw_extent_of_cells = sw_w.shape[sw_rank - 1 - sw_inner];
  unsigned int sw_rest = blockIdx.x;
  const unsigned int sw_chunks = (unsigned int)((sw_extent_of_cells + sw_most - 1) / sw_most);
  const long long sw_first = sw_rest % sw_chunks * (long long)sw_most;
  sw_rest /= sw_chunks;
#pragma unroll
  for (int sw_axis = sw_rank - 2 - sw_inner; sw_axis >= 0; --sw_axis) {
    const unsigned int sw_extent = (unsigned int)sw_w.shape[sw_axis];
    const unsigned int sw_index = sw_axis > 0 ? sw_rest % sw_extent : sw_rest;
    sw_rest = sw_axis > 0 ? sw_rest / sw_extent : 0;
)",
      offsets("    "), "  }\n", move,
      "  const int sw_cells = spanwise::elements_left(sw_extent_of_cells - sw_first, sw_most);\n",
      planes ? "  const int sw_by_element = sw_most, sw_by_cell = 1;\n"
               "  const int sw_packs = (sw_cells + sw_width - 1) / sw_width;\n"
             : "  const int sw_by_element = 1, sw_by_cell = sw_cell;\n",
      body_.declarations, body_.before, cell_fills(), "  for (int sw_q = threadIdx.x; sw_q < ",
      planes ? "sw_packs * sw_cell" : "(sw_cells * sw_cell + sw_width - 1) / sw_width",
      "; sw_q += sw_threads) {\n", loop(step, {}, tile_loads), "  }\n", body_.after, "}\n");
}

// ---- on the CPU, where a block is one thread: the compiler of the host vectorizes its loop

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

}  // namespace

std::string cuda_source(const Body& body, const PlanShape& shape) {
  return CudaText(body, shape).write();
}

}  // namespace spanwise::strided
