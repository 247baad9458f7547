// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce.hpp"

#include <algorithm>
#include <utility>

#include "job.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops::reduce {
namespace {

bool is_whole(DType dtype) { return dtype.is_bool() || dtype.is_integer(); }

// The dtype that elements are cast to before they are summed as `wanted`; their own if the
// accumulator makes the cast unnecessary.
DType element_for(DType element, DType wanted) {
  if (wanted.is_complex()) return element;
  if (wanted.is_floating()) return element.is_complex() ? wanted : element;
  if (wanted.is_bool()) return bool_;
  return is_whole(element) ? element : wanted;
}

Kind kind_of(Op op, DType element) {
  switch (op) {
    case Op::prod:
      return Kind::prod;
    case Op::nansum:
      return is_whole(element) ? Kind::sum : Kind::nansum;
    case Op::min:
      return element.is_bool() ? Kind::all : Kind::min;
    case Op::max:
      return element.is_bool() ? Kind::any : Kind::max;
    case Op::any:
      return Kind::any;
    case Op::all:
      return Kind::all;
    case Op::count_nonzero:
      return Kind::count;
    case Op::argmin:
      return Kind::argmin;
    case Op::argmax:
      return Kind::argmax;
    default:
      return Kind::sum;
  }
}

// The kernel of a kind; `element` is changed to the dtype that the input is cast to. `inexact`
// means that integers are accumulated as floating point: only 64-bit integers have kernels for
// that; sums of narrower ones are exact in 64 bits, and their products need a cast copy.
ReductionSpec kernel_for(Kind kind, DType& element, bool inexact) {
  const bool narrow = element.itemsize() < 8 && is_whole(element);
  if (inexact && kind == Kind::prod && narrow) element = int64;
  if (kind == Kind::prod && narrow)
    element = element.is_bool() || element.code() == DTypeCode::int_ ? int64 : uint64;
  if (kind == Kind::deviation && is_whole(element)) element = float64;
  const bool as_real = inexact && !(kind == Kind::sum && narrow);
  return {kind, element, accumulator_for(kind, element, as_real)};
}

Shape kept_shape(const Array& array, const AxisSet& axes) {
  Shape shape = array.shape();
  for (int i = 0; i < shape.size(); ++i)
    if (axes[static_cast<std::size_t>(i)]) shape[i] = 1;
  return shape;
}

std::int64_t elements_of(const Array& array, const AxisSet& axes) {
  std::int64_t count = 1;
  for (int i = 0; i < array.rank(); ++i)
    if (axes[static_cast<std::size_t>(i)]) count *= array.shape()[i];
  return count;
}

// Inserts an axis of extent 1 for each reduced axis, as Walk expects.
Layout with_kept_axes(const Layout& layout, const AxisSet& axes, int rank) {
  Layout full;
  full.shape = Shape(rank, 1);
  full.strides = Strides(rank);
  full.offset = layout.offset;
  int from = 0;
  for (int i = 0; i < rank; ++i) {
    if (axes[static_cast<std::size_t>(i)]) continue;
    full.shape[i] = layout.shape[from];
    full.strides[i] = layout.strides[from++];
  }
  return full;
}

Array without_axes(const Array& array, const AxisSet& axes) {
  Layout rest = array.layout();
  int kept = 0;
  for (int i = 0; i < array.rank(); ++i) kept += !axes[static_cast<std::size_t>(i)];
  rest.shape = Shape(kept);
  rest.strides = Strides(kept);
  for (int i = 0, at = 0; i < array.rank(); ++i) {
    if (axes[static_cast<std::size_t>(i)]) continue;
    rest.shape[at] = array.shape()[i];
    rest.strides[at++] = array.strides()[i];
  }
  return array.with_layout(std::move(rest));
}

void run(const Job& job) {
  if (job.result->size() == 0) return;
  job.input->device().is_cpu() ? run_on_cpu(job) : run_on_cuda(job);
}

/// One call of reduce().
class Reduction {
 public:
  Reduction(Op op, const Array& array, const Options& options)
      : op_(op), options_(options), input_(array), shape_(kept_shape(array, options.axes)) {
    check_dtype();
    check_out();
    check_where();
    check_emptiness();
  }

  Array run_all() {
    switch (op_) {
      case Op::mean:
        return delivered(means(result_dtype(op_, input_.dtype(), options_.dtype)));
      case Op::var:
      case Op::std:
        return delivered(deviations());
      case Op::ptp:
        return delivered(spread());
      default:
        return delivered(simple());
    }
  }

 private:
  void check_dtype() const {
    if (!input_.dtype().is_computable())
      fail<DTypeError>(name_of(op_), ": cannot compute on ", input_.dtype(),
                       "; cast with astype() first");
    if (op_ == Op::ptp && input_.dtype().is_bool())
      fail<DTypeError>("ptp: bools cannot be subtracted; use max() ^ min()");
    const bool is_spread = op_ == Op::var || op_ == Op::std;
    if (is_spread && options_.dtype && is_whole(*options_.dtype))
      fail<DTypeError>(name_of(op_), ": expected a floating or complex dtype, got ",
                       options_.dtype.value_or(float32), "; leave dtype= out");
  }

  void check_out() const {
    if (options_.out == nullptr) return;
    const Array& out = *options_.out;
    const Shape wanted = options_.keepdims ? shape_ : without_shape();
    if (out.shape() != wanted)
      fail<LayoutError>(name_of(op_), ": expected an out of shape ", wanted, ", got ", out.shape());
    if (out.readonly())
      fail<ReadOnlyError>(name_of(op_), ": out is read-only; pass a writable one");
    if (out.device() != input_.device())
      fail<DeviceError>(name_of(op_), ": out is on ", out.device(), " and the array on ",
                        input_.device(), "; pass an out on ", input_.device());
    const bool places = op_ == Op::argmin || op_ == Op::argmax;
    if (places && !out.dtype().is_integer())
      fail<DTypeError>(name_of(op_), ": places are integers, and out is ", out.dtype(),
                       "; pass an int64 out");
  }
  Shape without_shape() const {
    Shape shape;
    for (int i = 0; i < shape_.size(); ++i)
      if (!options_.axes[static_cast<std::size_t>(i)])
        shape = shape.inserted(shape.size(), shape_[i]);
    return shape;
  }

  void check_where() {
    if (options_.where == nullptr) return;
    const Array& where = *options_.where;
    if (!where.dtype().is_bool())
      fail<DTypeError>(name_of(op_), ": where= must be bool, got ", where.dtype(),
                       "; compare it with 0");
    if (where.device() != input_.device())
      fail<DeviceError>(name_of(op_), ": where= is on ", where.device(), " and the array on ",
                        input_.device(), "; move it with .to(\"", input_.device(), "\")");
    const bool is_order = op_ == Op::min || op_ == Op::max;
    if (is_order && !options_.initial)
      fail<ArgumentError>(name_of(op_), ": has no identity, so where= needs initial=");
    mask_ = where.broadcast_to(input_.shape());
  }

  void check_emptiness() const {
    const bool is_place = op_ == Op::argmin || op_ == Op::argmax;
    const bool is_order = op_ == Op::min || op_ == Op::max || op_ == Op::ptp;
    if ((!is_place && !is_order) || options_.initial || elements_of(input_, options_.axes) > 0)
      return;
    if (is_place)
      fail<ArgumentError>("attempt to get ", name_of(op_), " of an empty sequence: shape ",
                          input_.shape(), " has no element along the axis");
    fail<ArgumentError>(name_of(op_), ": zero-size array of shape ", input_.shape(),
                        " to a reduction which has no identity; pass initial=");
  }

  Array cast_input(DType dtype) const {
    return dtype == input_.dtype() ? input_ : astype(input_, dtype, CopyMode::if_needed);
  }
  Array made(DType dtype) const { return empty(shape_, dtype, input_.device()); }
  Job job_for(const ReductionSpec& kernel, const Array& input, const Array& result) const {
    Job job{kernel, &input, &result};
    job.mask = mask_ ? &*mask_ : nullptr;
    return job;
  }

  // The array that the job writes to: out, if it has this dtype, does not overlap itself and shares
  // no memory with the inputs; else a new array.
  Array target(DType dtype) const {
    if (options_.out == nullptr || options_.out->dtype() != dtype) return made(dtype);
    const Array& out = *options_.out;
    const bool is_read = may_share_memory(out, input_) || (mask_ && may_share_memory(out, *mask_));
    if (is_read || out.layout().may_overlap_itself()) return made(dtype);
    if (options_.keepdims) return out;
    return out.with_layout(with_kept_axes(out.layout(), options_.axes, input_.rank()));
  }

  Array simple() {
    const DType wanted = result_dtype(op_, input_.dtype(), options_.dtype);
    DType element = input_.dtype();
    const bool sums = op_ == Op::sum || op_ == Op::prod || op_ == Op::nansum;
    if (sums) element = element_for(element, wanted);
    // Narrow integers are summed as integers, but the initial value may be fractional.
    if (options_.initial && sums && is_whole(element) && !is_whole(wanted)) element = float64;
    const Kind kind = kind_of(op_, element);
    const ReductionSpec kernel = kernel_for(kind, element, sums && !is_whole(wanted));
    DType natural = kernel.accumulator;
    Finish finish = Finish::nothing;
    if (sums && natural == int64 && !is_whole(wanted)) {  // narrow integers with a floating-point
                                                          // result
      natural = wanted.is_complex() ? float64 : wanted;
      finish = Finish::divide;
    } else if (can_store(natural, wanted)) {
      natural = wanted;
    } else if (op_ == Op::min || op_ == Op::max) {
      natural = element;
    } else if (facts(kind).keeps_place) {
      natural = int64;
    }
    const Array input = cast_input(element);
    const Array result = target(natural);
    Job job = job_for(kernel, input, result);
    job.finish = finish;
    if (options_.initial) job.initial = options_.initial->cast(kernel.accumulator);
    run(job);
    return as_dtype(result, wanted);
  }

  // The means, rounded to `dtype` at the end; an integer dtype truncates them, as in NumPy.
  Array means(DType dtype) const {
    DType element = element_for(input_.dtype(), dtype);
    const ReductionSpec kernel = kernel_for(Kind::sum, element, true);
    const DType quotient = kernel.accumulator.is_complex() ? complex128 : float64;
    const DType natural = can_store(quotient, dtype) ? dtype : quotient;
    const Array input = cast_input(element);
    const Array result = target(natural);
    Job job = job_for(kernel, input, result);
    job.finish = Finish::divide;
    const std::optional<Array> counts = divide_by_counts(job);
    if (counts) job.divisors = &*counts;
    run(job);
    return as_dtype(result, dtype);
  }

  // Sets the job's divisor to the number of elements per output; with a mask, returns the counts
  // per output.
  std::optional<Array> divide_by_counts(Job& job) const {
    job.divisor = static_cast<double>(elements_of(input_, options_.axes));
    if (!mask_) return {};
    Array counts = made(float64);
    Job counting{{Kind::sum, bool_, int64}, &*mask_, &counts};
    counting.finish = Finish::divide;
    run(counting);
    return counts;
  }

  Array deviations() const {
    const DType wanted =
        options_.dtype.value_or(is_whole(input_.dtype()) ? float64 : input_.dtype());
    DType element = element_for(input_.dtype(), wanted);
    const ReductionSpec kernel = kernel_for(Kind::deviation, element, true);
    const DType exact = element.is_complex() ? complex128 : float64;
    const Array input = cast_input(element);
    Array mean = options_.mean != nullptr ? astype(*options_.mean, exact, CopyMode::if_needed)
                                          : Reduction(Op::mean, input, plain()).means(exact);
    mean = mean.broadcast_to(shape_);
    const DType result_is = result_dtype(op_, input_.dtype(), options_.dtype);
    const Array result = target(result_is);
    Job job = job_for(kernel, input, result);
    job.companion = &mean;
    job.finish = op_ == Op::std ? Finish::root : Finish::divide;
    job.correction = options_.correction;
    const std::optional<Array> counts = divide_by_counts(job);
    if (counts) job.divisors = &*counts;
    run(job);
    return result;
  }
  Options plain() const {
    Options options;
    options.axes = options_.axes;
    options.keepdims = true;
    options.where = options_.where;
    return options;
  }

  Array spread() const {
    DType element = input_.dtype();
    const Array lowest = made(element), result = target(element);
    run(job_for(kernel_for(Kind::min, element, false), input_, lowest));
    Job job = job_for(kernel_for(Kind::max, element, false), input_, result);
    job.finish = Finish::subtract;
    job.companion = &lowest;
    run(job);
    return result;
  }

  static Array as_dtype(const Array& array, DType dtype) {
    return astype(array, dtype, CopyMode::if_needed);
  }

  // Copies `result`, which has all axes, to out if necessary, and drops reduced axes without
  // keepdims.
  Array delivered(const Array& result) const {
    const bool is_new = options_.out == nullptr;
    if (!is_new && !(result.storage() == options_.out->storage())) {
      const Array& out = *options_.out;
      copy(options_.keepdims ? result : without_axes(result, options_.axes), out);
    }
    if (!is_new) return *options_.out;
    return options_.keepdims ? result : without_axes(result, options_.axes);
  }

  Op op_;
  const Options& options_;
  Array input_;
  Shape shape_;
  std::optional<Array> mask_;
};

}  // namespace

const char* name_of(Op op) noexcept {
  static constexpr const char* names[] = {"sum", "prod",          "nansum", "mean",  "var",
                                          "std", "min",           "max",    "ptp",   "any",
                                          "all", "count_nonzero", "argmin", "argmax"};
  return names[static_cast<int>(op)];
}

DType result_dtype(Op op, DType element, std::optional<DType> dtype) {
  switch (op) {
    case Op::sum:
    case Op::prod:
    case Op::nansum:
      if (dtype) return *dtype;
      if (!is_whole(element)) return element;
      return element.code() == DTypeCode::uint ? uint64 : int64;
    case Op::mean:
      return dtype.value_or(is_whole(element) ? float64 : element);
    case Op::var:
    case Op::std: {
      const DType wanted = dtype.value_or(is_whole(element) ? float64 : element);
      return wanted == complex64 ? float32 : wanted == complex128 ? float64 : wanted;
    }
    case Op::any:
    case Op::all:
      return bool_;
    case Op::count_nonzero:
    case Op::argmin:
    case Op::argmax:
      return int64;
    default:
      return element;
  }
}

Array reduce(Op op, const Array& array, const Options& options) {
  return Reduction(op, array, options).run_all();
}

Array scan(Op op, const Array& array, int axis, std::optional<DType> dtype, const Array* out) {
  const char* who = op == Op::sum ? "cumsum" : "cumprod";
  if (!array.dtype().is_computable())
    fail<DTypeError>(who, ": cannot compute on ", array.dtype(), "; cast with astype() first");
  const DType wanted = result_dtype(op, array.dtype(), dtype);
  DType element = element_for(array.dtype(), wanted);
  const Kind kind = kind_of(op, element);
  if (is_whole(element) && !is_whole(wanted)) element = float64;
  const ReductionSpec kernel = kernel_for(kind, element, false);
  const DType natural = can_store(kernel.accumulator, wanted) ? wanted : kernel.accumulator;
  if (out != nullptr) {
    if (out->shape() != array.shape())
      fail<LayoutError>(who, ": expected an out of shape ", array.shape(), ", got ", out->shape());
    if (out->readonly()) fail<ReadOnlyError>(who, ": out is read-only; pass a writable one");
    if (out->device() != array.device())
      fail<DeviceError>(who, ": out is on ", out->device(), " and the array on ", array.device(),
                        "; pass an out on ", array.device());
  }
  const Array input =
      element == array.dtype() ? array : astype(array, element, CopyMode::if_needed);
  const bool at_once = out != nullptr && out->dtype() == natural &&
                       !may_share_memory(*out, input) && !out->layout().may_overlap_itself();
  const Array result = at_once ? *out : empty(array.shape(), natural, array.device());
  const ScanJob job{kernel, &input, &result, axis};
  if (result.size() > 0) result.device().is_cpu() ? scan_on_cpu(job) : scan_on_cuda(job);
  if (at_once) return *out;
  if (out == nullptr) return astype(result, wanted, CopyMode::if_needed);
  copy(astype(result, wanted, CopyMode::if_needed), *out);
  return *out;
}

}  // namespace spanwise::ops::reduce
