// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/copy/copy_source.hpp"

#include <algorithm>
#include <bit>

#include "embedded/cuda_kernels.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/element_text.hpp"

namespace spanwise::cuda {
namespace {

// The names of device/cast.cuh for the dtypes that can be cast.
std::string element_type(DType dtype) {
  if (!dtype.is_computable())
    fail<DTypeError>("copy: no cast from or to ", dtype, " on a CUDA device; it can only be moved");
  return text(dtype.is_complex() ? "Whole" : "", element_text(dtype));
}

std::string word_type(int bytes) { return bytes == 16 ? "uint4" : word_text(bytes); }

std::string copy_text(std::string_view name) {
  return std::string(embedded::file_text(embedded::cuda_kernels, name));
}

std::string kind_text(CopyPlan::Kind kind) {
  switch (kind) {
    case CopyPlan::Kind::tiled:
      return copy_text("copy_tile.cuh");
    case CopyPlan::Kind::packed:
      return copy_text("copy_tile.cuh") + copy_text("copy_packed.cuh");
    case CopyPlan::Kind::thin:
      return copy_text("copy_thin.cuh");
    case CopyPlan::Kind::small_arrays:
      return copy_text("copy_thin.cuh") + copy_text("copy_small_arrays.cuh");
    case CopyPlan::Kind::aligned_chunks:
      return copy_text("copy_aligned_chunks.cuh");
    default:
      return {};
  }
}

// The beginning of every kernel: the types that depend on its plan.
std::string prologue(const CopyPlan& plan, bool casts) {
  const char* index = plan.wide ? "long long" : "int";
  return text(casts ? copy_text("elements.cuh") + copy_text("cast.cuh")
                    : "template <class To, class From>\nstruct Convert {\n"
                      "  __device__ static To from(From value) { return value; }\n};\n",
              copy_text("copy.cuh"), kind_text(plan.kind), "\ntypedef unsigned ", index,
              " Index;\ntypedef ", index, " Offset;\ntypedef Axes<Index, Offset, ",
              plan.axes.size(), "> PlanAxes;\n");
}

const char* kind_name(const CopyPlan& plan) {
  switch (plan.kind) {
    case CopyPlan::Kind::tiled:
      return "_tiled";
    case CopyPlan::Kind::packed:
      return "_packed";
    case CopyPlan::Kind::thin:
      return plan.dense_source ? "_thin_source" : "_thin_target";
    case CopyPlan::Kind::small_arrays:
      return "_small_arrays";
    case CopyPlan::Kind::aligned_chunks:
      return "_aligned_chunks";
    default:
      return plan.pattern == CopyPlan::AccessPattern::contiguous ? ""
             : plan.pattern == CopyPlan::AccessPattern::reversed ? "_reversed"
                                                                 : "_strided";
  }
}

std::string suffix(const CopyPlan& plan) {
  return text(kind_name(plan), "_rank", plan.axes.size(), plan.wide ? "_wide" : "");
}

const char* word_of(bool value) { return value ? "true" : "false"; }

std::string strided_body(const CopyPlan& plan) {
  const std::string pattern =
      plan.pattern == CopyPlan::AccessPattern::contiguous ? std::string("Contiguous")
      : plan.pattern == CopyPlan::AccessPattern::reversed ? text("Reversed<", plan.group, ">")
                                                          : std::string("Strided");
  return text(
      "const Source* source, Target* target, Offset step, Index size, PlanAxes axes) {\n"
      "  copy_strided<",
      copy_threads, ", ", units_per_thread(plan), ", ", plan.elements, ", ", pattern,
      ">(source, target, step, size, axes, blockIdx.x, threadIdx.x);\n}\n");
}

constexpr const char* tiled_body =
    "const Source* source, Target* target, PlanAxes axes) {\n"
    "  __shared__ Tile<Source> tile;\n"
    "  const TileCorner<Index, Offset> corner =\n"
    "      tile_corner<Index>(blockIdx.x, tile_side, tile_side, axes);\n"
    "  const unsigned x = threadIdx.x % tile_side, y = threadIdx.x / tile_side;\n"
    "  load_tile(tile, source, axes, corner, x, y);\n"
    "  __syncthreads();\n"
    "  store_tile(tile, target, axes, corner, x, y);\n"
    "}\n";

std::string packed_body(const CopyPlan& plan) {
  const PackedSides sides = packed_sides(plan.source_unit);
  return text(
      "const Source* source, Target* target, PlanAxes axes) {\n  typedef PackedTile<Source, ",
      sides.by_s, ", ", sides.by_t,
      "> Shape;\n"
      "  __shared__ Shape tile;\n"
      "  const TileCorner<Index, Offset> corner =\n"
      "      tile_corner<Index>(blockIdx.x, Shape::side_s, Shape::side_t, axes);\n  "
      "load_packed_tile<",
      word_of(plan.source_vectors),
      ">(tile, source, axes, corner, threadIdx.x);\n"
      "  __syncthreads();\n  store_packed_tile<",
      word_of(plan.target_vectors), ">(tile, target, axes, corner, threadIdx.x);\n}\n");
}

std::string thin_body(const CopyPlan& plan) {
  const std::string how =
      text('<', word_of(plan.dense_source), ", ", word_of(plan.source_vectors), ">(tile, ");
  return text(
      "const Source* source, Target* target, Index chunk, PlanAxes axes) {\n"
      "  __shared__ ThinTile<Source> tile;\n"
      "  const ThinChunk<Index, Offset> part = thin_chunk<Index>(blockIdx.x, chunk, axes);\n"
      "  load_thin",
      how, "source, part, axes, threadIdx.x);\n  __syncthreads();\n  store_thin", how,
      "target, part, axes, threadIdx.x);\n}\n");
}

std::string small_arrays_body(const CopyPlan& plan) {
  const char* vectors = word_of(plan.source_vectors);
  return text(
      "const Source* source, Target* target, Index chunk, int inner, PlanAxes axes) {\n"
      "  __shared__ SmallArrayTile<Source> tile;\n"
      "  const SmallArrayChunk<Index, Offset> part = small_array_chunk<Index>(blockIdx.x, chunk, "
      "inner, axes);\n"
      "  load_small_arrays<",
      vectors,
      ">(tile, source, part, inner, axes, threadIdx.x);\n  __syncthreads();\n  store_small_arrays<",
      vectors, ">(tile, target, part, threadIdx.x);\n}\n");
}

std::string aligned_chunks_body() {
  return text(
      "const Source* source, Target* target, Index length, const char* begin, const char* end,\n"
      "    Index size, PlanAxes axes) {\n"
      "  copy_aligned_chunk(source, target, length, begin, end, size, axes,\n"
      "               (Index)blockIdx.x * ",
      copy_threads, " + threadIdx.x);\n}\n");
}

std::string body(const CopyPlan& plan) {
  switch (plan.kind) {
    case CopyPlan::Kind::tiled:
      return tiled_body;
    case CopyPlan::Kind::packed:
      return packed_body(plan);
    case CopyPlan::Kind::thin:
      return thin_body(plan);
    case CopyPlan::Kind::small_arrays:
      return small_arrays_body(plan);
    case CopyPlan::Kind::aligned_chunks:
      return aligned_chunks_body();
    default:
      return strided_body(plan);
  }
}

std::string declaration(const std::string& name) {
  return text("extern \"C\" __global__ void __launch_bounds__(", copy_threads, ") ", name, "(");
}

// Fields of a key, from the lowest bit: dtypes or unit size (24), rank (7), kind (3), access
// pattern (2), the logarithms of the number of elements (3) and of a group (3), the sides that are
// accessed by vectors (2), wide, dense source, casts, fill.
CopyKernelKey shape_key(const CopyPlan& plan) {
  const auto log2 = [](int n) {
    return static_cast<CopyKernelKey>(std::countr_zero(static_cast<unsigned>(n)));
  };
  CopyKernelKey key = 0;
  int at = 24;
  const auto add = [&](CopyKernelKey value, int bits) {
    key |= value << at;
    at += bits;
  };
  add(plan.axes.size(), 7);
  add(static_cast<CopyKernelKey>(plan.kind), 3);
  add(static_cast<CopyKernelKey>(plan.pattern), 2);
  add(log2(plan.elements), 3);
  add(log2(plan.group), 3);
  add(plan.source_vectors, 1);
  add(plan.target_vectors, 1);
  add(plan.wide, 1);
  add(plan.dense_source, 1);
  return key;
}
constexpr CopyKernelKey cast_key = CopyKernelKey{1} << 48, fill_key = CopyKernelKey{1} << 49;
CopyKernelKey dtype_key(DType dtype) {
  return CopyKernelKey{static_cast<std::uint8_t>(dtype.code())} << 8 |
         static_cast<CopyKernelKey>(dtype.bits());
}

}  // namespace

CopyKernelKey copy_kernel_key(const CopyPlan& plan, DType source, DType target) {
  if (source == target) return shape_key(plan) | static_cast<CopyKernelKey>(plan.source_unit);
  return shape_key(plan) | cast_key | dtype_key(source) | dtype_key(target) << 12;
}

CopyKernelKey fill_kernel_key(const CopyPlan& plan) {
  return shape_key(plan) | fill_key | static_cast<CopyKernelKey>(plan.target_unit);
}

int units_per_thread(const CopyPlan& plan) {
  if (plan.kind == CopyPlan::Kind::aligned_chunks) return 1;
  return std::max(plan.source_unit, plan.target_unit) * plan.elements < 16 ? 4 : 1;
}

CopyKernelText copy_kernel_text(const CopyPlan& plan, DType source, DType target) {
  const bool casts = source != target;
  const std::string from = casts ? element_type(source) : word_type(plan.source_unit);
  const std::string to = casts ? element_type(target) : word_type(plan.target_unit);
  CopyKernelText kernel;
  kernel.name = casts ? text("spanwise_cast_", source.name(), "_to_", target.name())
                      : text("spanwise_copy_", plan.source_unit, "_bytes");
  kernel.name += suffix(plan);
  kernel.text = text(prologue(plan, casts), "typedef ", from, " Source;\ntypedef ", to,
                     " Target;\n\n", declaration(kernel.name), body(plan));
  return kernel;
}

CopyKernelText fill_kernel_text(const CopyPlan& plan) {
  CopyKernelText kernel;
  kernel.name = text("spanwise_fill_", plan.target_unit * plan.elements, "_bytes_rank",
                     plan.axes.size(), plan.wide ? "_wide" : "");
  kernel.text = text(prologue(plan, false), "typedef ", word_type(plan.target_unit * plan.elements),
                     " Unit;\n\n", declaration(kernel.name),
                     "Unit* target, Unit value, Index size, PlanAxes axes) {\n  fill_strided<",
                     copy_threads, ">(target, value, size, axes, blockIdx.x, threadIdx.x);\n}\n");
  return kernel;
}

}  // namespace spanwise::cuda
