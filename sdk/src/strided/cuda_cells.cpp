// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_text.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::strided {

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

}  // namespace spanwise::strided
