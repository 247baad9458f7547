// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "spanwise/core/array.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/strided/plan.hpp"

namespace spanwise {

/// A 2-d block of elements in host memory and its destination; all steps in bytes, of any sign.
struct HostBlock {
  std::byte* target;
  const std::byte* source;
  std::int64_t rows, columns;
  std::int64_t target_row_step, target_step;
  std::int64_t source_row_step, source_step;
  /// Use non-temporal stores: the whole target is larger than the caches. convert_block() ignores
  /// it where it converts.
  bool non_temporal = false;
};

/// Converts the source's elements from dtype `from` to `to`, as copy() does, and writes them to the
/// target. Neither side need be aligned. Ops that compute in one dtype use it in their inner loop
/// to gather operands and scatter results. Both dtypes must be computable; source and target must
/// not overlap. Does not order streams.
void convert_block(DType from, DType to, const HostBlock& block);

}  // namespace spanwise

namespace spanwise::strided {

/// What the CPU computes for a run of `n` elements. `arrays` are the addresses of the operands'
/// first elements, without the mask: contiguous and aligned elements of the dtypes that the body
/// computes with. A result may be the memory of an input with the same item size.
struct CpuBody {
  using Loop = void (*)(const void* context, std::int64_t n, std::byte* const* arrays);
  /// In place: steps in bytes, of any sign or 0.
  using StridedLoop = void (*)(std::int64_t n, std::byte* const* arrays, const std::int64_t* steps);

  Loop loop = nullptr;
  const void* context = nullptr;
  Loop with_number = nullptr;     ///< operands after the first are one element; may be null
  StridedLoop strided = nullptr;  ///< may be null
  /// The minimum of elements per thread.
  std::int64_t grain = 1 << 15;
  /// The maximum of elements per run, or 0.
  std::int64_t block = 0;
  std::size_t scratch_bytes = 0;  ///< memory of the thread, 64-byte aligned, after the arrays

  void operator()(std::int64_t n, std::byte* const* arrays) const { loop(context, n, arrays); }
};

/// An array of a loop.
struct CpuOperand {
  const Layout* layout;              ///< broadcasts to the loop's shape; the offset is ignored
  std::byte* data;                   ///< element (0, ..., 0)
  DType dtype, compute;              ///< in memory, and as the body gets it
  ArrayRole role = ArrayRole::read;  ///< read, write, or mask for the last one
  bool is_element = false;      ///< a single element of dtype `compute`, whose address all runs get
  bool is_stored_late = false;  ///< of a result: inputs in its memory are read after it is computed

  CpuOperand() = default;
  CpuOperand(const Array& array, DType compute_dtype, ArrayRole use)
      : layout(&array.layout()),
        data(static_cast<std::byte*>(array.data())),
        dtype(array.dtype()),
        compute(compute_dtype),
        role(use) {}
};

/// Computes all elements of the results, or those that a mask selects, on several threads if they
/// are many. Operands that the body cannot use in place pass through buffers that fit in the cache.
///
/// `shape` is that of all results, which have at least one element. An input shares memory with a
/// result only if both are the same elements in the same order; results do not overlap. Does not
/// order streams.
void run_on_cpu(const Shape& shape, std::span<const CpuOperand> operands, const CpuBody& body);

}  // namespace spanwise::strided
