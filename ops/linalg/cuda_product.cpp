// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "embedded/gemv_text.hpp"
#include "embedded/product_text.hpp"
#include "product_problem.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/stream.hpp"

// Products by Spanwise's own kernels, product.cuh, and those of a matrix and a vector, gemv.cuh.
namespace spanwise::ops::linalg {
namespace {

// CUDA's limits for the first and the second dimension of a grid.
constexpr std::int64_t max_blocks = 2147483647, max_batches = 65535;

struct ProductTypes {
  const char *element, *sum;
};

// Integer sums wrap around, so signedness does not matter.
ProductTypes types_for(DType dtype) {
  if (!dtype.is_computable()) fail<DTypeError>("matmul: no product of ", dtype, " on a GPU");
  const char* element = element_text(dtype);
  if (dtype.is_bool()) return {element, word_text(4)};
  if (dtype.is_integer())
    return {word_text(dtype.itemsize()), word_text(std::max(4, dtype.itemsize()))};
  return {element, dtype.itemsize() == 2 ? element_text(float32) : element};
}

std::string product_definitions(DType dtype, bool conjugates_left, int batch_rank) {
  const auto [element, sum] = types_for(dtype);
  return text("#define ELEMENT ", element, "\n#define SUM ", sum, "\n#define IS_BOOL ",
              int{dtype.is_bool()}, "\n#define IS_INTEGER ", int{dtype.is_integer()},
              "\n#define CONJUGATE ", int{conjugates_left}, "\n#define BATCH ", batch_rank, "\n");
}

}  // namespace

std::string cuda_product_source(DType dtype, bool conjugates_left, int batch_rank) {
  std::string source = product_definitions(dtype, conjugates_left, batch_rank);
  for (const auto& file : embedded::product_text) source += file.text;
  return source;
}

std::string cuda_gemv_source(DType dtype, bool conjugates_matrix) {
  std::string source = product_definitions(dtype, conjugates_matrix, 0);
  for (const auto& file : embedded::gemv_text) source += file.text;
  return source;
}

namespace {

constexpr std::int64_t tile_side = 64, product_threads = 256;
// With few result elements of long sums, one block per 64 x 64 tile would occupy a small part of a
// GPU; such products take one block per element.
constexpr std::int64_t few_elements = 4096, long_sum = 512;

SourceModule product_module(const ProductProblem& problem, Device device) {
  using Key = std::array<int, 6>;
  static auto& modules = *new KernelTable<std::map<Key, SourceModule>>;
  const bool conjugates = problem.conjugate_left && problem.dtype.is_complex();
  const Key key{static_cast<int>(device.kind()),
                device.ordinal(),
                static_cast<int>(problem.dtype.code()),
                problem.dtype.bits(),
                conjugates,
                problem.batch_rank};
  return modules.get(key, [&] {
    return SourceModule(cuda_product_source(problem.dtype, conjugates, problem.batch_rank),
                        {.device = device});
  });
}

}  // namespace

void own_product_on_cuda(const ProductProblem& problem, Device device) {
  const SourceModule module = product_module(problem, device);
  const KernelArg arguments[] = {KernelArg::bytes(problem.packed())};
  const std::int64_t batches = problem.batches;
  LaunchConfig config;
  config.block = {product_threads};
  const double elements = static_cast<double>(problem.rows) * static_cast<double>(problem.columns) *
                          static_cast<double>(batches);
  if (elements <= few_elements && problem.depth >= long_sum) {
    config.grid = {problem.rows * problem.columns * batches};
    return module.get_function("lines").launch(config, arguments);
  }
  const auto tiles = [](std::int64_t extent) { return (extent + tile_side - 1) / tile_side; };
  if (tiles(problem.rows) > max_blocks / tiles(problem.columns))
    fail<ArgumentError>("matmul: a result of ", problem.rows, " x ", problem.columns,
                        " needs more than ", max_blocks, " blocks; split it");
  config.grid = {tiles(problem.rows) * tiles(problem.columns), std::min(batches, max_batches)};
  module.get_function("tiles").launch(config, arguments);
}

namespace {

constexpr int gemv_threads = 256, pack_bytes = 16;
// The number of blocks that occupies a large GPU; the largest number of elements per block while
// there are fewer blocks; and the number of blocks above which wider segments of a matrix's rows do
// not make the columns' kernel faster.
constexpr std::int64_t enough_blocks = 128, max_per_block = 1 << 15, many_blocks = 512;

struct GemvKernels {
  Kernel rows, columns, packed_rows, packed_columns;
};

const GemvKernels& kernels_for(const ProductProblem& problem, Device device) {
  using Key = std::array<int, 5>;
  static auto& cached = *new KernelTable<std::map<Key, GemvKernels>>;
  const Key key{static_cast<int>(device.kind()), device.ordinal(),
                static_cast<int>(problem.dtype.code()), problem.dtype.bits(),
                problem.conjugate_left};
  return cached.get(key, [&] {
    const SourceModule module(cuda_gemv_source(problem.dtype, problem.conjugate_left),
                              {.device = device});
    return GemvKernels{module.get_function("rows"), module.get_function("columns"),
                       module.get_function("packed_rows"), module.get_function("packed_columns")};
  });
}

Matrix transposed(const Matrix& matrix) {
  return {matrix.data, matrix.column_stride, matrix.row_stride};
}

// The product as that of a matrix and a column.
ProductProblem by_column(ProductProblem problem) {
  if (problem.columns == 1) return problem;
  const Matrix vector = problem.left;
  problem.left = transposed(problem.right);
  problem.right = transposed(vector);
  problem.result = transposed(problem.result);
  problem.addend = transposed(problem.addend);
  std::swap(problem.rows, problem.columns);
  return problem;
}

/// The launch of one kernel.
struct GemvLaunch {
  bool along_rows = false, is_packed = false;
  int threads = 0;  ///< that share a row, or that lie side by side along a column
  std::int64_t blocks = 0;
};

GemvLaunch plan(const ProductProblem& problem) {
  const Matrix& matrix = problem.left;
  const std::int64_t down = std::abs(matrix.row_stride), across = std::abs(matrix.column_stride);
  GemvLaunch launch;
  launch.along_rows = problem.rows == 1 || across < down || problem.depth == 1;
  const std::int64_t inner = launch.along_rows ? matrix.column_stride : matrix.row_stride;
  const std::int64_t outer = launch.along_rows ? matrix.row_stride : matrix.column_stride;
  const int itemsize = problem.dtype.itemsize();
  const int width = pack_bytes / itemsize;
  launch.is_packed = width > 1 && inner == 1 && outer * itemsize % pack_bytes == 0 &&
                     reinterpret_cast<std::uintptr_t>(matrix.data) % pack_bytes == 0;
  const std::int64_t each = launch.is_packed ? width : 1;
  if (launch.along_rows) {
    // Four loads by each thread of a row.
    launch.threads = 8;
    while (launch.threads < gemv_threads && launch.threads * each * 4 < problem.depth)
      launch.threads *= 2;
    launch.blocks = ceil_div(problem.rows, gemv_threads / launch.threads);
  } else {
    // Segments of at least 32 bytes, and otherwise as many blocks as possible.
    launch.threads = 32;
    const std::int64_t min_threads = std::max<std::int64_t>(1, 32 / (each * itemsize));
    const auto blocks = [&] { return ceil_div(problem.rows, launch.threads * each); };
    while (launch.threads > min_threads && blocks() < many_blocks) launch.threads /= 2;
    launch.blocks = blocks();
  }
  return launch;
}

}  // namespace

bool gemv_on_cuda(const ProductProblem& product, Device device) {
  if (product.batch_rank != 0 || (product.columns != 1 && product.rows != 1)) return false;
  // The kernels conjugate the matrix, not the vector, which a row on the left becomes.
  const bool conjugates = product.conjugate_left && product.dtype.is_complex();
  if (conjugates && product.columns != 1) return false;
  ProductProblem problem = by_column(product);
  problem.conjugate_left = conjugates;
  const GemvLaunch launch = plan(problem);
  if (launch.blocks > max_blocks) return false;
  if (launch.blocks < enough_blocks && problem.rows * problem.depth > launch.blocks * max_per_block)
    return false;
  const GemvKernels& kernels = kernels_for(problem, device);
  const Kernel& kernel = launch.along_rows
                             ? (launch.is_packed ? kernels.packed_rows : kernels.rows)
                             : (launch.is_packed ? kernels.packed_columns : kernels.columns);
  const KernelArg arguments[] = {KernelArg::bytes(problem.packed()), KernelArg(launch.threads)};
  kernel.launch({.grid = {launch.blocks}, .block = {gemv_threads}}, arguments);
  return true;
}

}  // namespace spanwise::ops::linalg
