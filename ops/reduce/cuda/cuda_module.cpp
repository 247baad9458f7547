// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_module.hpp"

#include <array>
#include <map>

#include "spanwise/kernels/kernel_table.hpp"

namespace spanwise::ops::reduce {
namespace {

using Key = std::array<int, 17>;

int number_of(DType dtype) { return static_cast<int>(dtype.code()) * 256 + dtype.bits(); }

Key key_of(const CudaShape& shape, Device device) {
  return {device.ordinal(),
          static_cast<int>(shape.kernel.kind),
          number_of(shape.kernel.element),
          number_of(shape.kernel.accumulator),
          number_of(shape.result),
          number_of(shape.companion),
          static_cast<int>(shape.form),
          shape.kept,
          shape.reduced,
          shape.group,
          shape.width,
          shape.has_mask,
          shape.has_divisors,
          shape.has_initial,
          shape.is_large,
          shape.is_packed,
          static_cast<int>(shape.finish)};
}

ReduceKernels compiled(const CudaShape& shape, Device device) {
  ModuleOptions options;
  options.device = device;
  // As on the host, products are rounded before they are added.
  options.options = {"--fmad=false"};
  const SourceModule module(cuda_source(shape), options);
  ReduceKernels kernels{module, module.get_function("run"), {}, {}, {}, {}};
  if (shape.form == CudaShape::Form::scan) {
    kernels.lines = module.get_function("lines");
  } else if (shape.form == CudaShape::Form::scan_columns) {
    kernels.totals = module.get_function("totals");
    kernels.carries = module.get_function("carries");
  } else {
    kernels.fold = module.get_function("fold");
  }
  return kernels;
}

}  // namespace

const ReduceKernels& reduce_kernels(const CudaShape& shape, Device device) {
  static auto& known = *new KernelTable<std::map<Key, ReduceKernels>>;
  return known.get(key_of(shape, device), [&] { return compiled(shape, device); });
}

}  // namespace spanwise::ops::reduce
