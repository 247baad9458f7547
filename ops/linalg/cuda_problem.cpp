// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_problem.hpp"

#include <algorithm>
#include <cstring>

namespace spanwise::ops::linalg {
namespace {

/// The bytes of PackedProblem of product_problem.cuh; the batch axes behind it have the layout of
/// BatchAxis.
struct PackedMatrix {
  const void* data;
  std::int64_t row, column;
};
struct PackedProblem {
  PackedMatrix left, right, result, addend;
  std::int64_t rows, columns, depth, batches;
  double alpha, beta;
};

}  // namespace

std::vector<std::byte> packed_problem(const Problem& problem) {
  const auto matrix = [](const Matrix& from) {
    return PackedMatrix{from.data, from.row_stride, from.column_stride};
  };
  const PackedProblem head{
      matrix(problem.left), matrix(problem.right), matrix(problem.result), matrix(problem.addend),
      problem.rows,         problem.columns,       problem.depth,          problem.batch_size(),
      problem.alpha,        problem.beta};
  const auto axes = static_cast<std::size_t>(std::max(problem.batch_rank, 1));
  std::vector<std::byte> bytes(sizeof head + axes * sizeof(BatchAxis));
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, problem.batch.data(),
              static_cast<std::size_t>(problem.batch_rank) * sizeof(BatchAxis));
  return bytes;
}

}  // namespace spanwise::ops::linalg
