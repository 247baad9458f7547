// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <string>
#include <string_view>

#include "embedded/strided_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/strided/strided_call.hpp"

// The CUDA C of a kernel: the plan's constants, the body as a lambda, and a call of the template in
// sdk/device/strided that visits the elements of this kind of plan.
namespace spanwise::strided {
namespace {

using Kind = PlanShape::Kind;

std::string_view device_text(std::string_view name) {
  return embedded::file_text(embedded::strided_text, name);
}

/// The template of a kind, the function in it, and whether the function takes the walk and the
/// number of steps.
struct KindText {
  std::string_view file, function;
  bool has_walk, has_steps;
};
const KindText& kind_text(const PlanShape& shape) {
  static constexpr KindText elements{"runs.cuh", "visit_elements", false, true},
      runs{"runs.cuh", "visit_runs", true, true};
  // In the order of PlanShape::Kind.
  static constexpr KindText kinds[] = {{"dense.cuh", "visit_dense", false, true},
                                       {"rows.cuh", "visit_rows", true, true},
                                       {"tiles.cuh", "visit_tiles", true, false},
                                       {"cells.cuh", "visit_cells", true, false},
                                       {"merged.cuh", "visit_merged", true, false}};
  if (shape.is_serial) return shape.kind == Kind::rows ? runs : elements;
  return kinds[static_cast<int>(shape.kind)];
}

/// The arrays of a kernel: typedefs sw_t0, sw_t1, ..., parameters sw_p0, ..., and sw_e0, ..., the
/// elements that the body gets.
struct ArraysText {
  std::string types, parameters, elements, arrays;
  int leader = 0, stride_rows = 0, leader_strides = 0;
  bool has_mask;

  ArraysText(const Body& body, const PlanShape& shape);
};

// Names of Role in lanes.cuh. With a mask, elements are written one by one, since a pack would also
// write what the mask protects.
std::string_view role_name(ArrayRole role, bool has_mask) {
  if (is_written(role) && has_mask) return "in_place";
  switch (role) {
    case ArrayRole::read:
      return "read";
    case ArrayRole::mask:
      return "mask";
    case ArrayRole::write:
      return "write";
    case ArrayRole::update:
      return "update";
    case ArrayRole::index:
      return "index";
    default:
      return "in_place";
  }
}

// In the order of AccessPattern; as Pattern in lanes.cuh.
constexpr std::string_view pattern_names[] = {
    "contiguous", "constant", "reversed", "strided", "transposed",     "transposed_in_packs",
    "unaligned",  "cells",    "planes",   "merged",  "merged_in_words"};

ArraysText::ArraysText(const Body& body, const PlanShape& shape) {
  const int count = static_cast<int>(body.arrays.size());
  const auto role = [&](int k) { return body.arrays[static_cast<std::size_t>(k)].role; };
  while (leader + 1 < count && !is_written(role(leader))) ++leader;
  if (!is_written(role(leader))) leader = 0;
  const auto shares_strides = [&](int k) { return (shape.shares_strides >> k & 1) != 0; };
  for (int k = 0; k < leader; ++k) leader_strides += !shares_strides(k);
  has_mask = role(count - 1) == ArrayRole::mask;
  for (int k = 0; k < count; ++k) {
    const std::string comma = k > 0 ? ", " : "";
    const std::string_view pattern =
        pattern_names[static_cast<int>(shape.patterns[static_cast<std::size_t>(k)])];
    std::string type = "long long", element = text("const long long sw_e", k);
    if (role(k) != ArrayRole::index) {
      types += text("typedef ", body.arrays[static_cast<std::size_t>(k)].type, " sw_t", k, ";\n");
      const std::string constness = is_written(role(k)) ? "" : "const ";
      element = text(constness, "sw_t", k, "& sw_e", k);
      parameters += text(constness, "sw_t", k, "* sw_p", k, ", ");
      type = text(role(k) == ArrayRole::read_in_place ? "const " : "", "sw_t", k);
    } else {
      parameters += text("long long sw_p", k, ", ");
    }
    elements += comma + element;
    const int strides = shares_strides(k) ? leader_strides : stride_rows++;
    arrays += text(",\n      spanwise::Array<", k, ", ", type,
                   ", spanwise::Role::", role_name(role(k), has_mask),
                   ", spanwise::Pattern::", pattern, ", ", strides, ">{sw_p", k, "}");
  }
}

// The plan's constants, for all kinds; not as static members, which NVRTC would emit as variables.
std::string shape_text(const PlanShape& shape, const ArraysText& arrays) {
  const std::string_view sign = shape.is_large ? "long long" : "int";
  return text(
      "struct sw_shape {\n  typedef unsigned ", sign, " Count;\n  typedef ", sign,
      " Step;\n  enum : int { threads = ", shape.threads_per_block(), ", block = ", serial_steps,
      ", width = ", int{shape.width}, ", packs = ", int{shape.packs}, ", rank = ", int{shape.rank},
      ", stride_rows = ", arrays.stride_rows, ", leader = ", arrays.leader,
      ", leader_strides = ", arrays.leader_strides, ",\n    tile_rows = ", int{shape.tile_rows},
      ", tile_columns = ", int{shape.tile_columns},
      ", cell_elements = ", 128 * int{shape.cell_chunks}, ", inner = ", int{shape.inner},
      " };\n  enum : bool { has_mask = ", int{arrays.has_mask},
      ", is_tiled = ", int{shape.kind == Kind::tiles}, ", has_planes = ", int{shape.has_planes},
      ", is_shifted = ", int{shape.is_shifted}, ", has_tail = ", int{shape.has_tail}, " };\n};\n");
}

}  // namespace

std::string cuda_source(const Body& body, const PlanShape& shape) {
  const ArraysText arrays(body, shape);
  const KindText& kind = kind_text(shape);
  // With a number of blocks, even of one, the compiler keeps more of a tile in registers:
  // permutations (2, 1, 0) take 5 % less time (H100), though fewer blocks are resident.
  const char* const blocks = !shape.is_serial && shape.kind == Kind::tiles ? ", 1" : "";
  std::string parameters = arrays.parameters + body.parameters;
  if (shape.kind == Kind::merged)
    parameters += text("const spanwise::MergedWalk<", int{shape.rank}, ", ", arrays.stride_rows,
                       ", ", int{shape.inner}, "> sw_w, ");
  else if (kind.has_walk)
    parameters +=
        text("const spanwise::StridedWalk<", int{shape.rank}, ", ", arrays.stride_rows, "> sw_w, ");
  if (kind.has_steps) parameters += "const long long sw_n, ";
  parameters.resize(parameters.size() - 2);
  // The library's text comes first: a prelude may define macros.
  return text(device_text("pack.cuh"), device_text("walk.cuh"), device_text("lanes.cuh"),
              device_text(kind.file), shape_text(shape, arrays), body.prelude, arrays.types,
              "extern \"C\" __global__ void __launch_bounds__(", shape.threads_per_block(), blocks,
              ") ", body.name, "(", parameters, ") {\n", body.before, "  const auto sw_body = [&](",
              arrays.elements, ") __attribute__((always_inline)) {\n", body.statements, "  };\n",
              body.hide_macros, "  spanwise::", kind.function, "<sw_shape>(",
              kind.has_walk ? "sw_w, " : "", kind.has_steps ? "sw_n, " : "", "sw_body",
              arrays.arrays, ");\n", body.show_macros, body.after, "}\n");
}

}  // namespace spanwise::strided
