// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "../accumulate.hpp"
#include "cuda_module.hpp"
#include "cuda_plan.hpp"
#include "cuda_source.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops {

void accumulate_on_gpu(const Selection& selection, const Array& value, Accumulation how) {
  const DType dtype = selection.array.dtype();
  const bool is_sum = how == Accumulation::add || how == Accumulation::subtract;
  if (dtype == complex128 && !is_sum)
    fail<DTypeError>(
        "accumulate: atomic functions of a GPU have at most 8 bytes, so it has no "
        "products, maxima and minima of complex128; accumulate on the CPU: "
        "a.to(\"cpu\")");
  if (value.size() == 0) return;
  static auto& modules = *new Modules<AccumulateSource>;
  const GpuPlan plan(selection, value, /*words=*/1);
  const AccumulateSource wanted{dtype, how, plan.rank(), plan.index_count()};
  const SourceModule module =
      modules.get(selection.array.device(), wanted, [&] { return accumulate_source(wanted); });
  const Stream stream = Stream::current(selection.array.device());
  plan.order(stream, /*writes_array=*/true);
  const std::vector<std::int64_t> packed = plan.packed();
  module.get_function(plan.kernel("accumulate"))(
      plan.launch(stream), {address_of(selection.data()), address_of(value.data()),
                            KernelArg::bytes(std::as_bytes(std::span(packed))), plan.size()});
}

}  // namespace spanwise::ops
