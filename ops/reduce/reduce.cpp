// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce.hpp"

#include <utility>

#include "reduce_job.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise::ops::reduce {
namespace {

// The number of elements per output.
std::int64_t elements_of(const Array& array, const AxisSet& axes) {
  std::int64_t count = 1;
  for (int i = 0; i < array.rank(); ++i)
    if (axes[static_cast<std::size_t>(i)]) count *= array.shape()[i];
  return count;
}

bool is_arg(Operation op) { return op == Operation::argmin || op == Operation::argmax; }

void check_dtype(Operation op, DType element, const Options& options) {
  if (!element.is_computable())
    fail<DTypeError>(name_of(op), ": cannot compute on ", element, "; cast with astype() first");
  if (op == Operation::ptp && element.is_bool())
    fail<DTypeError>("ptp: bools cannot be subtracted; use max() ^ min()");
  const bool is_spread = op == Operation::var || op == Operation::std;
  if (is_spread && options.dtype && is_whole(*options.dtype))
    fail<DTypeError>(name_of(op), ": expected a floating or complex dtype, got ",
                     options.dtype.value_or(float32), "; leave dtype= out");
}

// Throws LayoutError, ReadOnlyError or DeviceError if `out` cannot take a result of this shape on
// this device; `caller` names the function in the message.
void check_out(const char* caller, const Array& out, const Shape& shape, Device device) {
  if (out.shape() != shape)
    fail<LayoutError>(caller, ": expected an out of shape ", shape, ", got ", out.shape());
  if (out.readonly()) fail<ReadOnlyError>(caller, ": out is read-only; pass a writable one");
  if (out.device() != device)
    fail<DeviceError>(caller, ": out is on ", out.device(), " and the array on ", device,
                      "; pass an out on ", device);
}

void check_reduced_out(Operation op, const Array& array, const Options& options) {
  if (options.out == nullptr) return;
  const Array& out = *options.out;
  check_out(name_of(op), out, reduced_shape(array.shape(), options.axes, options.keepdims),
            array.device());
  if (is_arg(op) && !out.dtype().is_integer())
    fail<DTypeError>(name_of(op), ": indices are integers, and out is ", out.dtype(),
                     "; pass an int64 out");
}

std::optional<Array> checked_mask(Operation op, const Array& array, const Options& options) {
  if (options.where == nullptr) return {};
  const Array& where = *options.where;
  if (!where.dtype().is_bool())
    fail<DTypeError>(name_of(op), ": where= must be bool, got ", where.dtype(),
                     "; compare it with 0");
  if (where.device() != array.device())
    fail<DeviceError>(name_of(op), ": where= is on ", where.device(), " and the array on ",
                      array.device(), "; move it with .to(\"", array.device(), "\")");
  const bool is_order = op == Operation::min || op == Operation::max;
  if (is_order && !options.initial)
    fail<ArgumentError>(name_of(op), ": has no identity, so where= needs initial=");
  return where.broadcast_to(array.shape());
}

void check_not_empty(Operation op, const Array& array, const Options& options) {
  const bool is_order = op == Operation::min || op == Operation::max || op == Operation::ptp;
  if ((!is_arg(op) && !is_order) || options.initial || elements_of(array, options.axes) > 0) return;
  if (is_arg(op))
    fail<ArgumentError>("attempt to get ", name_of(op), " of an empty sequence: shape ",
                        array.shape(), " has no element along the axis");
  fail<ArgumentError>(name_of(op), ": zero-size array of shape ", array.shape(),
                      " to a reduction which has no identity; pass initial=");
}

// Throws what reduce() throws for these arguments. Returns where= broadcast to the array's shape.
std::optional<Array> check_options(Operation op, const Array& array, const Options& options) {
  check_dtype(op, array.dtype(), options);
  check_reduced_out(op, array, options);
  std::optional<Array> mask = checked_mask(op, array, options);
  check_not_empty(op, array, options);
  return mask;
}

// Inserts an axis of extent 1 for each reduced axis, as Walk expects.
Layout with_kept_axes(Layout layout, const AxisSet& axes, int rank) {
  for (int axis = 0; axis < rank; ++axis)
    if (axes[static_cast<std::size_t>(axis)]) layout = layout.expand(axis);
  return layout;
}

Array without_axes(const Array& array, const AxisSet& axes) {
  int kept = 0;
  for (int i = 0; i < array.rank(); ++i) kept += !axes[static_cast<std::size_t>(i)];
  Layout layout{Shape(kept), Strides(kept), array.layout().offset};
  for (int i = 0, at = 0; i < array.rank(); ++i) {
    if (axes[static_cast<std::size_t>(i)]) continue;
    layout.shape[at] = array.shape()[i];
    layout.strides[at++] = array.strides()[i];
  }
  return array.with_layout(std::move(layout));
}

void run(ReduceJob job) {
  if (job.result->size() == 0) return;
  const auto run_on_device = [&] { return reduce_backends[job.input->device()].reduce(job); };
  std::optional<Array> whole;
  if (job.computed != nullptr) {
    if (job.input->size() > 0 && run_on_device()) return;
    whole = job.computed->source.compute_all();
    job.input = &*whole;
    job.computed = nullptr;
  }
  run_on_device();
}

/// One call of reduce().
class ReduceRun {
 public:
  ReduceRun(Operation op, const Array& array, const Options& options,
            const ComputedElements* computed = nullptr)
      : op_(op),
        options_(options),
        input_(array),
        computed_(computed),
        shape_(reduced_shape(array.shape(), options.axes, true)),
        mask_(check_options(op, array, options)) {}

  Array result() {
    switch (op_) {
      case Operation::mean:
        return copied_to_out(means(result_dtype(op_, input_.dtype(), options_.dtype)));
      case Operation::var:
      case Operation::std:
        return copied_to_out(deviations());
      case Operation::ptp:
        return copied_to_out(peak_to_peak());
      default:
        return copied_to_out(reduce_once());
    }
  }

 private:
  Array cast_input(DType dtype) {
    if (dtype == input_.dtype()) return input_;
    if (const auto* elements = std::exchange(computed_, nullptr))
      input_ = elements->source.compute_all();
    return astype(input_, dtype, CopyMode::if_needed);
  }
  Array new_array(DType dtype) const { return empty(shape_, dtype, input_.device()); }
  ReduceJob job_for(const ReductionTypes& types, const Array& input, const Array& result) const {
    ReduceJob job{types, &input, &result};
    job.mask = mask_ ? &*mask_ : nullptr;
    job.computed = computed_;
    return job;
  }

  // The array that the kernel writes to: out, if it has this dtype, does not overlap itself and
  // shares no memory with the inputs; else a new array.
  Array target(DType dtype) const {
    if (options_.out == nullptr || options_.out->dtype() != dtype) return new_array(dtype);
    const Array& out = *options_.out;
    const bool is_read = may_share_memory(out, input_) || (mask_ && may_share_memory(out, *mask_));
    if (is_read || out.layout().may_overlap_itself()) return new_array(dtype);
    if (options_.keepdims) return out;
    return out.with_layout(with_kept_axes(out.layout(), options_.axes, input_.rank()));
  }

  Array reduce_once() {
    const DType wanted = result_dtype(op_, input_.dtype(), options_.dtype);
    DType element = input_.dtype();
    const bool sums = op_ == Operation::sum || op_ == Operation::prod || op_ == Operation::nansum;
    if (sums) element = element_for(element, wanted);
    // Narrow integers are summed as integers, but the initial value may be fractional.
    if (options_.initial && sums && is_whole(element) && !is_whole(wanted)) element = float64;
    const ReductionKind kind = kind_of(op_, element);
    const ReductionTypes types = types_for(kind, element, sums && !is_whole(wanted));
    DType stored = types.accumulator;
    Finish finish = Finish::nothing;
    if (sums && stored == int64 && !is_whole(wanted)) {
      // Narrow integers with a floating-point result.
      stored = wanted.is_complex() ? float64 : wanted;
      finish = Finish::divide;
    } else if (can_store(stored, wanted)) {
      stored = wanted;
    } else if (op_ == Operation::min || op_ == Operation::max) {
      stored = element;
    } else if (info(kind).gives_index) {
      stored = int64;
    }
    const Array input = cast_input(element);
    const Array result = target(stored);
    ReduceJob job = job_for(types, input, result);
    job.finish = finish;
    if (options_.initial) job.initial = options_.initial->cast(types.accumulator);
    run(job);
    return as_dtype(result, wanted);
  }

  // The means, rounded to `dtype` at the end; an integer dtype truncates them, as in NumPy.
  Array means(DType dtype) {
    DType element = element_for(input_.dtype(), dtype);
    const ReductionTypes types = types_for(ReductionKind::sum, element, true);
    const DType quotient = types.accumulator.is_complex() ? complex128 : float64;
    const DType stored = can_store(quotient, dtype) ? dtype : quotient;
    const Array input = cast_input(element);
    const Array result = target(stored);
    ReduceJob job = job_for(types, input, result);
    job.finish = Finish::divide;
    const std::optional<Array> counts = divide_by_counts(job);
    if (counts) job.divisors = &*counts;
    run(job);
    return as_dtype(result, dtype);
  }

  // Sets the divisor of `job` to the number of elements per output; with a mask, returns the counts
  // per output.
  std::optional<Array> divide_by_counts(ReduceJob& job) const {
    job.divisor = static_cast<double>(elements_of(input_, options_.axes));
    if (!mask_) return {};
    Array counts = new_array(float64);
    ReduceJob counting{{ReductionKind::sum, bool_, int64}, &*mask_, &counts};
    counting.finish = Finish::divide;
    run(counting);
    return counts;
  }

  Array deviations() {
    const DType wanted = result_dtype(Operation::mean, input_.dtype(), options_.dtype);
    DType element = element_for(input_.dtype(), wanted);
    const ReductionTypes types = types_for(ReductionKind::deviation, element, true);
    const DType exact = element.is_complex() ? complex128 : float64;
    const Array input = cast_input(element);
    const DType result_type = result_dtype(op_, input_.dtype(), options_.dtype);
    const Array result = target(result_type);
    ReduceJob job = job_for(types, input, result);
    job.finish = op_ == Operation::std ? Finish::root : Finish::divide;
    job.correction = options_.correction;
    const std::optional<Array> counts = divide_by_counts(job);
    if (counts) job.divisors = &*counts;
    job.finds_mean = options_.mean == nullptr;
    if (job.finds_mean && (result.size() == 0 || reduce_backends[input.device()].reduce(job)))
      return result;
    job.finds_mean = false;
    const Array mean =
        (options_.mean != nullptr
             ? astype(*options_.mean, exact, CopyMode::if_needed)
             : ReduceRun(Operation::mean, input,
                         {.axes = options_.axes, .keepdims = true, .where = options_.where})
                   .means(exact))
            .broadcast_to(shape_);
    job.subtrahend = &mean;
    run(job);
    return result;
  }

  Array peak_to_peak() const {
    DType element = input_.dtype();
    const Array lowest = new_array(element), result = target(element);
    run(job_for(types_for(ReductionKind::min, element, false), input_, lowest));
    ReduceJob job = job_for(types_for(ReductionKind::max, element, false), input_, result);
    job.finish = Finish::subtract;
    job.subtrahend = &lowest;
    run(job);
    return result;
  }

  static Array as_dtype(const Array& array, DType dtype) {
    return astype(array, dtype, CopyMode::if_needed);
  }

  // Copies `result`, which has all axes, to out if necessary, and drops reduced axes without
  // keepdims.
  Array copied_to_out(const Array& result) const {
    const Array* out = options_.out;
    if (out != nullptr && result.storage() == out->storage()) return *out;
    Array returned = options_.keepdims ? result : without_axes(result, options_.axes);
    if (out == nullptr) return returned;
    copy(returned, *out);
    return *out;
  }

  Operation op_;
  const Options& options_;
  Array input_;
  const ComputedElements* computed_;  // null: those of input_
  Shape shape_;
  std::optional<Array> mask_;
};

constexpr ReduceBackend on_cpu{&run_on_cpu, &scan_on_cpu}, on_cuda{&run_on_cuda, &scan_on_cuda};
[[maybe_unused]] const auto* const previous_cpu_backend =
    reduce_backends.set(DeviceKind::cpu, &on_cpu);
[[maybe_unused]] const auto* const previous_cuda_backend =
    reduce_backends.set(DeviceKind::cuda, &on_cuda);

}  // namespace

constinit DeviceTable<ReduceBackend> reduce_backends{"reduce"};

Array reduce(Operation op, const Array& array, const Options& options) {
  return ReduceRun(op, array, options).result();
}

bool reads_once(Operation op) noexcept {
  return op != Operation::var && op != Operation::std && op != Operation::ptp;
}

Array reduce_computed(Operation op, const ComputedElements& elements, const Array& stand_in,
                      const Options& options) {
  return ReduceRun(op, stand_in, options, &elements).result();
}

Array scan(Operation op, const Array& array, int axis, std::optional<DType> dtype,
           const Array* out) {
  const char* caller = op == Operation::sum ? "cumsum" : "cumprod";
  if (!array.dtype().is_computable())
    fail<DTypeError>(caller, ": cannot compute on ", array.dtype(), "; cast with astype() first");
  const DType wanted = result_dtype(op, array.dtype(), dtype);
  DType element = element_for(array.dtype(), wanted);
  const ReductionKind kind = kind_of(op, element);
  if (is_whole(element) && !is_whole(wanted)) element = float64;
  const ReductionTypes types = types_for(kind, element, false);
  const DType stored = can_store(types.accumulator, wanted) ? wanted : types.accumulator;
  if (out != nullptr) check_out(caller, *out, array.shape(), array.device());
  const Array input =
      element == array.dtype() ? array : astype(array, element, CopyMode::if_needed);
  const bool writes_out = out != nullptr && out->dtype() == stored &&
                          !may_share_memory(*out, input) && !out->layout().may_overlap_itself();
  const Array result = writes_out ? *out : empty(array.shape(), stored, array.device());
  const ScanJob job{types, &input, &result, axis};
  if (result.size() > 0) reduce_backends[result.device()].scan(job);
  if (writes_out) return *out;
  if (out == nullptr) return astype(result, wanted, CopyMode::if_needed);
  copy(astype(result, wanted, CopyMode::if_needed), *out);
  return *out;
}

}  // namespace spanwise::ops::reduce
