// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "check_options.hpp"
#include "job.hpp"
#include "kinds.hpp"
#include "reduce.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::ops::reduce {

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
