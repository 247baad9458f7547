// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_text.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::strided {

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

}  // namespace spanwise::strided
