// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include "cuda_text.hpp"
#include "embedded/elementwise_layouts.hpp"

namespace spanwise::ops {
namespace {

// The mask comes after the results.
bool is_walked_last(const KernelText& kernel, const ReadArray& array) {
  return kernel.has_mask && &array == &kernel.reads.back();
}

std::string_view layouts_text(std::string_view name) {
  return embedded::file_text(embedded::elementwise_layouts, name);
}

// The walk has the operands, the results as one, and the mask.
std::string walk_declaration(const KernelText& kernel) {
  std::string names;
  for (const ReadArray& array : kernel.reads)
    names += text(is_walked_last(kernel, array) ? ", sz[RANK]" : "", ", s", array.name, "[RANK]");
  if (!kernel.has_mask) names += ", sz[RANK]";
  return text("#define RANK ", kernel.layout.rank, "\nstruct Walk { long long shape[RANK]", names,
              "; };\n");
}
std::string kernel_head(const KernelText& kernel, std::string_view rest) {
  return text("extern \"C\" __global__ void __launch_bounds__(", cuda_block, ") run(",
              kernel.parameters, "const Walk walk", rest, ") {\n");
}

/// Declares the offset of each array, at_0, ..., at_z, at_mask, and advances it by `index` steps of
/// `axis`.
struct OffsetsText {
  std::string declare, move;
};
OffsetsText offsets_text(const KernelText& kernel, std::string_view indent) {
  OffsetsText offsets;
  const auto add = [&](const std::string& name) {
    offsets.declare += text("  long long at_", name, " = 0;\n");
    offsets.move += text(indent, "at_", name, " += (long long)index * walk.s", name, "[axis];\n");
  };
  for (const ReadArray& array : kernel.reads) add(array.name);
  add("z");
  return offsets;
}

// Computes the offsets of this thread's element or pack; `left` is the number of elements to the
// end of the row.
std::string find_text(const KernelText& kernel) {
  const OffsetsText offsets = offsets_text(kernel, "    ");
  const bool has_tail = kernel.layout.has_tail;
  return text("  typedef ", kernel.layout.is_large ? "unsigned long long" : "unsigned int",
              R"( Index;
  const Index i = (Index)blockIdx.x * (Index)blockDim.x + (Index)threadIdx.x;
  if (i >= (Index)n) return;
  Index rest = i;
)",
              offsets.declare, has_tail ? "  long long left = 0;\n" : "", R"(#pragma unroll
  for (int axis = RANK - 1; axis >= 0; --axis) {
    const Index unit = axis == RANK - 1 ? WIDTH : 1;
    const Index extent = ((Index)walk.shape[axis] + unit - 1) / unit;
    const Index index = (axis > 0 ? rest % extent : rest) * unit;
    rest = axis > 0 ? rest / extent : 0;
)",
              has_tail ? "    if (axis == RANK - 1) left = walk.shape[axis] - index;\n" : "",
              offsets.move, "  }\n");
}

// Reads a pack; `along` is the stride of the last axis.
std::string read_text(const ReadArray& array, const std::string& pack, const std::string& place,
                      const std::string& along) {
  switch (array.pattern) {
    case AccessPattern::contiguous:
      return text("read_contiguous(", pack, ", ", place, ", count);\n");
    case AccessPattern::reversed:
      return text("read_reversed(", pack, ", ", place, ", count);\n");
    default:
      return text("read_strided(", pack, ", ", place, ", ", along, ", count);\n");
  }
}

// The expression of element k of a pack, for rows, or for step u of a tile.
std::string element_text(const ReadArray& array, std::string_view step) {
  if (array.is_transposed()) return text("c", array.name, ".x[k]");
  return text("p", array.name, step, array.pattern == AccessPattern::constant ? "" : ".x[k]");
}

// Computes and writes the pack; one with a mask element by element. Results are written at
// `offset`.
std::string write_text(const KernelText& kernel, std::string_view step, std::string_view offset) {
  const auto element = [&](const ReadArray& array) { return element_text(array, step); };
  std::vector<std::string> targets;
  if (kernel.has_mask) {
    for (const WrittenArray& result : kernel.results)
      targets.push_back(text(result.pointer, "[", offset, " + k]"));
    return text("#pragma unroll\n      for (int k = 0; k < WIDTH; ++k)\n        if (k < count && ",
                element(kernel.reads.back()), ") {\n", kernel.compute(element, targets),
                "        }\n");
  }
  std::string packs, writes;
  for (std::size_t i = 0; i < kernel.results.size(); ++i) {
    const WrittenArray& result = kernel.results[i];
    packs += text("      spanwise::Pack<", result.type, ", WIDTH> q", i, ";\n");
    targets.push_back(text("q", i, ".x[k]"));
    writes +=
        text("      write_contiguous(", result.pointer, " + ", offset, ", q", i, ", count);\n");
  }
  return text(packs,
              "#pragma unroll\n      for (int k = 0; k < WIDTH; ++k)\n        if (k < count) {\n",
              kernel.compute(element, targets), "        }\n", writes);
}

// The parts of a tile kernel, each for all arrays.
struct TilesText {
  std::string declare;          // tiles, in the kernel
  std::string move;             // pointers to the tile's corner
  std::string parameters, use;  // of the tiles, as parameters and as arguments
  std::string packs, reads, fills, takes;
};
TilesText tiles_text(const KernelText& kernel) {
  TilesText parts;
  const auto corner = [&](const std::string& pointer, const std::string& name) {
    parts.move += text("  ", pointer, " += at_", name, " + first_s * walk.s", name,
                       "[RANK - 2] + first_t * walk.s", name, "[RANK - 1];\n");
  };
  for (const ReadArray& array : kernel.reads) {
    const std::string &name = array.name, &type = array.type;
    const std::string by_s = text("walk.s", name, "[RANK - 2]"),
                      by_t = text("walk.s", name, "[RANK - 1]");
    corner(array.pointer, name);
    if (array.is_transposed()) {
      parts.declare += text("  __shared__ alignas(16) ", type, " t", name, "[SIDE_S * SIDE_T];\n");
      parts.parameters += text(type, "* t", name, ", ");
      parts.use += text('t', name, ", ");
      const std::string n = array.pattern == AccessPattern::transposed_in_packs
                                ? text("whole ? 16 / (int)sizeof(", type, ") : 1")
                                : "1";
      parts.fills += text("      fill<", n, ", whole>(t", name, ", ", array.pointer, ", ", by_s,
                          ", ", by_t, ", left_s, left_t);\n");
      parts.takes +=
          text("      const spanwise::Pack<", type, ", WIDTH> c", name,
               " = spanwise::load_pack<WIDTH>(t", name, " + tile_index<", type, ">(s, t));\n");
      continue;
    }
    const std::string place = text(array.pointer, " + s * ", by_s), pack = text('p', name, "[u]");
    if (array.pattern == AccessPattern::constant) {
      parts.packs += text("    ", type, " p", name, "[batch];\n");
      parts.reads += text("      if (count > 0) ", pack, " = *(", place, ");\n");
    } else {
      parts.packs += text("    spanwise::Pack<", type, ", WIDTH> p", name, "[batch];\n");
      parts.reads += text("      ", read_text(array, pack, text(place, " + t * ", by_t), by_t));
    }
  }
  for (const WrittenArray& result : kernel.results) corner(result.pointer, "z");
  return parts;
}

// The work of a block on its tile. Operands that are not transposed are loaded before the tiles are
// filled.
std::string tile_function(const KernelText& kernel, const TilesText& parts) {
  return text(
      R"(template <bool whole>
__device__ __forceinline__ void do_tile()",
      kernel.parameters, parts.parameters, R"(const Walk& walk, int left_s, int left_t) {
  constexpr int steps = SIDE_S / ROWS, batch = !whole || steps < 1 ? 1 : steps < 4 ? steps : 4;
  const int t = threadIdx.x % (SIDE_T / WIDTH) * WIDTH, row = threadIdx.x / (SIDE_T / WIDTH);
  for (int first = row; first == row || first < SIDE_S; first += ROWS * batch) {
)",
      parts.packs, R"(#pragma unroll
    for (int u = 0; u < batch; ++u) {
      const int s = first + u * ROWS;
      const int count = whole && ROWS <= SIDE_S ? WIDTH : s < left_s ? left_t - t : 0;
)",
      parts.reads, R"(    }
    if (first == row) {
)",
      parts.fills, R"(      __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      const int s = first + u * ROWS;
      const int count = whole && ROWS <= SIDE_S ? WIDTH : s < left_s ? left_t - t : 0;
      if (count <= 0) continue;
)",
      parts.takes, write_text(kernel, "[u]", "s * walk.sz[RANK - 2] + t"), "    }\n  }\n}\n");
}

}  // namespace

std::string rows_kernel(const KernelText& kernel) {
  std::string reads;
  for (const ReadArray& array : kernel.reads) {
    const std::string pack = "p" + array.name, place = text(array.pointer, " + at_", array.name);
    if (array.pattern == AccessPattern::constant) {
      reads += text("  const ", array.type, ' ', pack, " = *(", place, ");\n");
      continue;
    }
    reads += text("  spanwise::Pack<", array.type, ", WIDTH> ", pack, ";\n  ",
                  read_text(array, pack, place, text("walk.s", array.name, "[RANK - 1]")));
  }
  const char* count = kernel.layout.has_tail
                          ? "  const int count = left < WIDTH ? (int)left : WIDTH;\n"
                          : "  const int count = WIDTH;\n";
  return text("#define WIDTH ", kernel.layout.width, "\n", layouts_text("pack.cuh"),
              layouts_text("packs.cuh"), walk_declaration(kernel),
              kernel_head(kernel, ", long long n"), find_text(kernel), count, reads,
              write_text(kernel, "", "at_z"), "}\n");
}

std::string strided_kernel(const KernelText& kernel) {
  const auto element = [](const ReadArray& array) {
    return text(array.pointer, "[at_", array.name, "]");
  };
  std::vector<std::string> targets;
  for (const WrittenArray& result : kernel.results)
    targets.push_back(text(result.pointer, "[at_z]"));
  return text("#define WIDTH 1\n", walk_declaration(kernel), kernel_head(kernel, ", long long n"),
              find_text(kernel), kernel.has_mask ? "  if (!mask[at_mask]) return;\n" : "",
              kernel.compute(element, targets), "}\n");
}

std::string tiles_kernel(const KernelText& kernel) {
  const KernelLayout& layout = kernel.layout;
  const OffsetsText offsets = offsets_text(kernel, "    ");
  const TilesText parts = tiles_text(kernel);
  const std::string call = text(kernel.arguments, parts.use, "walk, left_s, left_t);\n");
  return text("#define WIDTH ", layout.width, "\n#define SIDE_S ", layout.side_s,
              "\n#define SIDE_T ", layout.side_t, "\n", layouts_text("pack.cuh"),
              layouts_text("packs.cuh"), layouts_text("tiles.cuh"), walk_declaration(kernel),
              tile_function(kernel, parts), kernel_head(kernel, ""), parts.declare, offsets.declare,
              R"(  unsigned int rest = blockIdx.x;
  const long long first_t = rest % TILES_T * (long long)SIDE_T;
  rest /= TILES_T;
  const long long first_s = rest % TILES_S * (long long)SIDE_S;
  rest /= TILES_S;
#pragma unroll
  for (int axis = RANK - 3; axis >= 0; --axis) {
    const unsigned int extent = (unsigned int)walk.shape[axis];
    const unsigned int index = axis > 0 ? rest % extent : rest;
    rest = axis > 0 ? rest / extent : 0;
)",
              offsets.move, "  }\n", parts.move,
              R"(  const int left_s = elements_left(walk.shape[RANK - 2] - first_s, SIDE_S);
  const int left_t = elements_left(walk.shape[RANK - 1] - first_t, SIDE_T);
  if (left_s == SIDE_S && left_t == SIDE_T)
    do_tile<true>()",
              call, "  else\n    do_tile<false>(", call, "}\n");
}

}  // namespace spanwise::ops
