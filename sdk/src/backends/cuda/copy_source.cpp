// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/copy_source.hpp"

#include <algorithm>

#include "embedded/cuda_kernels.hpp"
#include "spanwise/error.hpp"

namespace spanwise::cuda {
namespace {

// The names of device/cast.cuh for the dtypes that can be cast.
std::string element_type(DType dtype) {
  if (dtype == bool_) return "Bool";
  if (dtype == float16) return "Half";
  if (dtype == bfloat16) return "BFloat16";
  if (dtype == float32) return "float";
  if (dtype == float64) return "double";
  if (dtype == complex64) return "Complex<float>";
  if (dtype == complex128) return "Complex<double>";
  require<DTypeError>(dtype.is_computable(), "copy: no cast from or to ", dtype,
                      " on a CUDA device; it can only be moved");
  const char* width = dtype.bits() == 8    ? "char"
                      : dtype.bits() == 16 ? "short"
                      : dtype.bits() == 32 ? "int"
                                           : "long long";
  return text(dtype.code() == DTypeCode::uint ? "unsigned " : "signed ", width);
}

std::string word_type(int bytes) {
  switch (bytes) {
    case 1:
      return "unsigned char";
    case 2:
      return "unsigned short";
    case 4:
      return "unsigned int";
    case 8:
      return "unsigned long long";
    case 16:
      return "uint4";
    default:
      fail<DTypeError>("copy: elements of ", bytes, " bytes have no word on a CUDA device");
  }
}

std::string embedded_text(std::string_view name) {
  const auto file = std::find_if(embedded::cuda_kernels.begin(), embedded::cuda_kernels.end(),
                                 [&](const embedded::TextFile& f) { return f.name == name; });
  return std::string(file->text);
}

// What every kernel starts with: the types that its plan decides.
std::string prologue(const CopyPlan& plan, bool casts) {
  const char* index = plan.wide ? "long long" : "int";
  return text(casts ? embedded_text("cast.cuh")
                    : "template <class To, class From>\nstruct Convert {\n"
                      "  __device__ static To from(From value) { return value; }\n};\n",
              embedded_text("copy.cuh"), "\ntypedef unsigned ", index, " Index;\ntypedef ", index,
              " Offset;\ntypedef Axes<Index, Offset, ", plan.axes.size(), "> PlanAxes;\n");
}

std::string suffix(const CopyPlan& plan) {
  return text("_rank", plan.axes.size(), plan.wide ? "_wide" : "");
}

std::string strided_body(const CopyPlan& plan) {
  return text("const Source* source, Target* target, Index size, PlanAxes axes) {\n  copy_strided<",
              copy_threads, ", ", units_per_thread(plan),
              ">(source, target, size, axes, blockIdx.x, threadIdx.x);\n}\n");
}

constexpr const char* tiled_body =
    "const Source* source, Target* target, PlanAxes axes) {\n"
    "  __shared__ Tile<Source> tile;\n"
    "  const TileCorner<Index, Offset> corner = tile_corner<Index>(blockIdx.x, axes);\n"
    "  load_tile(tile, source, axes, corner, threadIdx.x, threadIdx.y);\n"
    "  __syncthreads();\n"
    "  store_tile(tile, target, axes, corner, threadIdx.x, threadIdx.y);\n"
    "}\n";

std::string declaration(const std::string& name) {
  return text("extern \"C\" __global__ void __launch_bounds__(", copy_threads, ") ", name, "(");
}

// Fields of a key, from the lowest bit: kind (2), wide, casts, fill, rank (7), and 12 bits each for
// what is read and written: a dtype's code and width, or a word's bytes.
CopyKernelKey shape_key(const CopyPlan& plan) {
  const CopyKernelKey kind = plan.kind == CopyPlan::Kind::tiled ? 1 : 0;
  return kind | CopyKernelKey{plan.wide} << 2 | CopyKernelKey{plan.axes.size()} << 5;
}
CopyKernelKey dtype_key(DType dtype) {
  return CopyKernelKey{static_cast<std::uint8_t>(dtype.code())} << 8 |
         static_cast<CopyKernelKey>(dtype.bits());
}

}  // namespace

CopyKernelKey copy_kernel_key(const CopyPlan& plan, DType source, DType target) {
  if (source == target) return shape_key(plan) | static_cast<CopyKernelKey>(plan.source_unit) << 12;
  return shape_key(plan) | CopyKernelKey{1} << 3 | dtype_key(source) << 12 |
         dtype_key(target) << 24;
}

CopyKernelKey fill_kernel_key(const CopyPlan& plan) {
  return shape_key(plan) | CopyKernelKey{1} << 4 |
         static_cast<CopyKernelKey>(plan.target_unit) << 12;
}

int units_per_thread(const CopyPlan& plan) {
  return std::max(plan.source_unit, plan.target_unit) < 16 ? 4 : 1;
}

CopyKernelText copy_kernel_text(const CopyPlan& plan, DType source, DType target) {
  const bool casts = source != target;
  const std::string from = casts ? element_type(source) : word_type(plan.source_unit);
  const std::string to = casts ? element_type(target) : word_type(plan.target_unit);
  const bool tiled = plan.kind == CopyPlan::Kind::tiled;
  CopyKernelText kernel;
  kernel.name = casts ? text("spanwise_cast_", source.name(), "_to_", target.name())
                      : text("spanwise_copy_", plan.source_unit, "_bytes");
  kernel.name += (tiled ? "_tiled" : "") + suffix(plan);
  kernel.text =
      text(prologue(plan, casts), "typedef ", from, " Source;\ntypedef ", to, " Target;\n\n",
           declaration(kernel.name), tiled ? std::string(tiled_body) : strided_body(plan));
  return kernel;
}

CopyKernelText fill_kernel_text(const CopyPlan& plan) {
  CopyKernelText kernel;
  kernel.name = text("spanwise_fill_", plan.target_unit, "_bytes", suffix(plan));
  kernel.text = text(prologue(plan, false), "typedef ", word_type(plan.target_unit), " Unit;\n\n",
                     declaration(kernel.name),
                     "Unit* target, Unit value, Index size, PlanAxes axes) {\n  fill_strided<",
                     copy_threads, ">(target, value, size, axes, blockIdx.x, threadIdx.x);\n}\n");
  return kernel;
}

}  // namespace spanwise::cuda
