// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "spanwise/core/array.hpp"
#include "spanwise/core/device_table.hpp"
#include "spanwise/core/dtype.hpp"

/// Products of matrices of any strides, and the functions by which back ends compute them.
namespace spanwise::ops::linalg {

/// The options of a product.
struct ProductTerms {
  bool conjugates = false;  ///< conjugates left, whose matrices then have one row
  double alpha = 1, beta = 0;
  /// Of the result's shape, with stride 0 along broadcast axes; null where beta is 0. The same view
  /// as the result, or without common memory.
  const Array* addend = nullptr;
};

/// A matrix of any strides, in elements.
struct Matrix {
  std::byte* data = nullptr;
  std::int64_t row_stride = 0, column_stride = 0;
};

/// A batch axis: one product per index.
struct BatchAxis {
  std::int64_t extent, left, right, result, addend;  ///< strides in elements
};

/// For each index of the batch: result = alpha * left @ right + beta * addend, of rows x depth and
/// depth x columns. All extents are at least 1; all arrays are of one dtype on one device. The
/// result overlaps neither the factors nor itself; the addend is the same view as the result, or
/// does not overlap it.
struct ProductProblem {
  // Up to the batch axes, these are struct PackedProblem of product_problem.cuh.
  Matrix left, right, result;
  Matrix addend;  ///< null where beta is 0
  std::int64_t rows = 1, columns = 1, depth = 1;
  std::int64_t batches = 1;  ///< the product of the batch axes
  double alpha = 1, beta = 0;
  std::array<BatchAxis, max_rank> batch;  ///< axes of extent > 1, merged as far as strides allow
  DType dtype;
  bool conjugate_left = false;
  int batch_rank = 0;

  /// The problem as a parameter of kernels, while this object lives.
  std::span<const std::byte> packed() const noexcept {
    const auto axes = static_cast<std::size_t>(std::max(batch_rank, 1));
    return std::as_bytes(std::span(this, 1))
        .first(offsetof(ProductProblem, batch) + axes * sizeof(BatchAxis));
  }
};

/// Describes a product of arrays of one dtype on one device: left (..., rows, depth), right (...,
/// depth, columns), result (..., rows, columns); the axes before the last two of the factors
/// broadcast to the result's. Neither an extent of the result nor depth is 0.
ProductProblem describe_product(const Array& left, const Array& right, const Array& result,
                                const ProductTerms& terms);

/// Computes the problem with Spanwise's own loops or kernels, for any strides. Integers wrap
/// around; bool is "or" of "and"; float16 and bfloat16 (GPU only) are accumulated in float32.
/// own_product_on_cuda() queues a launch on the device's current stream.
void own_product_on_cpu(const ProductProblem& problem);
void own_product_on_cuda(const ProductProblem& problem, Device device);

/// The sizes that gemv_on_cpu() computes: those for which a library takes longer, or all.
enum class GemvSizes { where_faster, all };

/// Computes a product of a float32 or float64 matrix, whose rows or columns are contiguous, and a
/// vector, on all threads if it is large. Returns false, with nothing written, for other problems
/// and sizes, and on processors without AVX2 and FMA.
bool gemv_on_cpu(const ProductProblem& problem, GemvSizes sizes);

/// Computes a product of a matrix and a vector, or of a vector and a matrix, by separate kernels.
/// Queues a launch on the device's current stream. Returns false, and does nothing, for other
/// products and where few blocks would read a large matrix.
bool gemv_on_cuda(const ProductProblem& problem, Device device);

/// result[...] = alpha * left @ right + beta * addend, for stacks of matrices (rank >= 2) whose
/// shapes match; the axes before the last two broadcast to the result's. The factors and the addend
/// are cast to the result's dtype. The result overlaps neither the factors nor itself, and all
/// arrays are on one device.
void run_product(const Array& left, const Array& right, const Array& result,
                 const ProductTerms& terms);

/// What a back end implements. Work on a GPU is queued on the device's current stream.
struct ProductBackend {
  bool has_halves;     ///< products of 16-bit floats; they are computed in float32 otherwise
  std::int64_t small;  ///< rows * columns * depth up to which no library is called
  bool has_sums;       ///< `product` takes less time than a library for batches of single sums
  /// A product of a matrix and a vector; returns false and does nothing where `product` or a
  /// library is faster.
  bool (*gemv)(const ProductProblem& problem, Device device);
  void (*product)(const ProductProblem& problem,
                  Device device);  ///< any problem, without a library
};
extern DeviceTable<ProductBackend> product_backends;

/// CUDA C++ source of the kernels `tiles` and `lines` for products of one dtype with `batch_rank`
/// batch axes.
std::string cuda_product_source(DType dtype, bool conjugates_left, int batch_rank);
/// The same of the kernels `rows`, `columns`, `packed_rows` and `packed_columns` for products of a
/// matrix and a vector.
std::string cuda_gemv_source(DType dtype, bool conjugates_matrix);

}  // namespace spanwise::ops::linalg
