// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reduce.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/device_table.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/core/scalar.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/strided/walk.hpp"

/// One pass of a reduction over an array, as the back ends get it: its types, arrays and axes.
namespace spanwise::ops::reduce {

/// What a kernel computes from the elements of an output; see reduce_bodies.cuh.
enum class ReductionKind {
  sum,
  prod,
  nansum,
  deviation,
  min,
  max,
  any,
  all,
  count,
  argmin,
  argmax
};
inline constexpr int kind_count = 11;

/// The operation on an accumulator before it is stored.
enum class Finish {
  nothing,
  divide,    ///< by a count: a mean
  root,      ///< divide, then the square root
  subtract,  ///< subtract ReduceJob::subtrahend
};

/// The properties of a kind.
struct KindInfo {
  const char* body;     ///< name in reduce_bodies.cuh
  bool gives_index;     ///< gives indices: IndexOf<body>
  bool has_subtrahend;  ///< reads ReduceJob::subtrahend
};
const KindInfo& info(ReductionKind kind) noexcept;

/// How one dtype's elements are reduced.
struct ReductionTypes {
  ReductionKind kind;
  DType element;      ///< dtype of the input
  DType accumulator;  ///< int64 (also for uint64), float64, complex128, bool, or the element's

  friend bool operator==(const ReductionTypes&, const ReductionTypes&) = default;
};

/// Whether the accumulator starts from -0; 0 is added to it at the end.
constexpr bool is_sum(ReductionKind kind) noexcept {
  return kind == ReductionKind::sum || kind == ReductionKind::nansum;
}

/// The accumulator of `kind` for `element`; `inexact` if integers are accumulated as floating point
/// (for a mean).
DType accumulator_for(ReductionKind kind, DType element, bool inexact) noexcept;

inline bool is_half(DType dtype) noexcept { return dtype == float16 || dtype == bfloat16; }

/// Whether values of the dtype are integers or bools.
inline bool is_whole(DType dtype) noexcept { return dtype.is_bool() || dtype.is_integer(); }

/// The dtype that elements are cast to before they are summed to a result of dtype `result`;
/// `element` if the accumulator makes the cast unnecessary.
DType element_for(DType element, DType result) noexcept;

/// The kind that computes `op`, of those that compute it in one pass; sum for the others.
ReductionKind kind_of(Operation op, DType element) noexcept;

/// The types of a kind; `element` is changed to the dtype that the input is cast to. `inexact`
/// means that integers are accumulated as floating point: only for 64-bit integers are there loops
/// and kernels that do that; sums of narrower ones are exact in 64 bits, and their products need a
/// cast copy.
ReductionTypes types_for(ReductionKind kind, DType& element, bool inexact) noexcept;

class ReduceKernelTable;

/// The elements of a reduction that are computed when they are read.
struct ComputedElements {
  ElementSource& source;       ///< after begin()
  ReduceKernelTable& kernels;  ///< those that read from this source, on GPUs
};

/// Whether reduce() of computed elements takes the op: it reads each element once.
bool reads_once(Operation op) noexcept;

/// reduce() of computed elements of the shape and dtype of `stand_in`, whose own elements are not
/// read. Options without where, mean and initial.
Array reduce_computed(Operation op, const ComputedElements& elements, const Array& stand_in,
                      const Options& options);

/// The arguments of one reduction pass over an array. Arrays must live until the call returns; all
/// are on one device, and the result shares no memory with the others.
struct ReduceJob {
  ReductionTypes types;
  const Array* input;  ///< with `computed`, only its shape and its dtype are used
  /// Of the input's rank, with extent 1 for reduced axes; of the accumulator's dtype (int64 for
  /// indices), or one that can_store() accepts.
  const Array* result;
  const Array* mask = nullptr;  ///< bool, of the input's shape (strides 0 where broadcast)
  /// A number for each output, in the result's shape: the mean of a deviation, or what
  /// Finish::subtract subtracts.
  const Array* subtrahend = nullptr;
  /// Of a deviation: the mean is that of the elements, and there is no subtrahend.
  bool finds_mean = false;
  const Array* divisors = nullptr;  ///< float64, in the result's shape
  double divisor = 1;               ///< used if `divisors` is null
  double correction = 0;            ///< subtracted from the divisor; the difference is at least 0
  Finish finish = Finish::nothing;
  std::optional<Scalar> initial{};  ///< of the accumulator's dtype
  /// Computes the elements, in place of the input; then mask, subtrahend and divisors are null.
  const ComputedElements* computed = nullptr;
};

/// A scan along one axis: each element combined with all before it.
struct ScanJob {
  ReductionTypes types;
  const Array* input;
  const Array* result;  ///< of the input's shape
  int axis;
};

/// Whether values of dtype `accumulator` can be stored as `result`.
bool can_store(DType accumulator, DType result) noexcept;

/// The results are not empty. Both return false, and do nothing, where the job has computed
/// elements that are cheaper to write to memory first, or finds a mean that is cheaper to compute
/// first.
bool run_on_cpu(const ReduceJob& job);
bool run_on_cuda(const ReduceJob& job);
void scan_on_cpu(const ScanJob& job);
void scan_on_cuda(const ScanJob& job);

/// What a back end implements, for results with elements.
struct ReduceBackend {
  bool (*reduce)(const ReduceJob& job);  ///< as run_on_cpu()
  void (*scan)(const ScanJob& job);
};
extern DeviceTable<ReduceBackend> reduce_backends;

/// One axis of the joint iteration over all arrays of a job; strides in elements, 0 for absent
/// arrays. `index` is the stride of an element's position along the reduced axes, in C order of the
/// original axes.
struct JobAxis {
  std::int64_t extent = 1;
  std::int64_t input = 0, result = 0, mask = 0, subtrahend = 0, divisor = 0, index = 0;
};

/// Offsets in the arrays of a job.
struct JobOffsets : JobAxis {
  void move(const JobAxis& axis, std::int64_t steps) noexcept {
    input += axis.input * steps;
    result += axis.result * steps;
    mask += axis.mask * steps;
    subtrahend += axis.subtrahend * steps;
    divisor += axis.divisor * steps;
    index += axis.index * steps;
  }
};

/// Calls move(i, steps) for each axis i but the last, along which a combined index of these axes is
/// `steps`, unless that index and all before it are 0.
template <class Move>
void for_each_outer(const std::vector<JobAxis>& axes, std::int64_t index, Move&& move) {
  for (std::size_t i = axes.size() - 1; i-- > 0 && index > 0;) {
    move(i, index % axes[i].extent);
    index /= axes[i].extent;
  }
}

/// The strides of the operands of computed elements along an axis, in elements; 0 for numbers.
using OperandStrides = std::array<std::int64_t, ElementSource::max_operands>;

/// The axes of a job, kept and reduced, each outermost first, merged as far as the strides allow.
struct JobAxes {
  explicit JobAxes(const ReduceJob& job);

  std::vector<JobAxis> kept, reduced;
  std::vector<OperandStrides> kept_strides, reduced_strides;  ///< as `kept` and `reduced`, or empty
  std::int64_t outputs = 1, elements = 1;                     ///< products of the extents
  /// Whether the axis with the shortest strides of the input is kept: adjacent elements belong to
  /// different outputs.
  bool is_column = false;

 private:
  void add(const Walk& walk, int i);
};

/// `shape` without the reduced axes, or with extent 1 there.
Shape reduced_shape(const Shape& shape, const AxisSet& axes, bool keepdims);

}  // namespace spanwise::ops::reduce
