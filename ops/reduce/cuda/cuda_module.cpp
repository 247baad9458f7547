// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_module.hpp"

namespace spanwise::ops::reduce {
namespace {

int number_of(DType dtype) { return static_cast<int>(dtype.code()) * 256 + dtype.bits(); }

ReduceKernels compiled(const CudaShape& shape, Device device, const ElementSource* computed) {
  ModuleOptions options;
  options.device = device;
  // As on the host, products are rounded before they are added.
  options.options = {"--fmad=false"};
  const SourceModule module(cuda_source(shape, computed), options);
  ReduceKernels kernels{module, module.get_function("run"), {}, {}, {}, {}};
  if (shape.form == CudaShape::Form::scan) {
    if (!shape.is_pipelined) kernels.lines = module.get_function("lines");
  } else if (shape.form == CudaShape::Form::scan_columns) {
    kernels.totals = module.get_function("totals");
    kernels.carries = module.get_function("carries");
  } else {
    kernels.fold = module.get_function("fold");
  }
  return kernels;
}

}  // namespace

ReduceKernelTable::Key ReduceKernelTable::key_of(const CudaShape& shape, Device device) {
  return {device.ordinal(),
          static_cast<int>(shape.kernel.kind),
          number_of(shape.kernel.element),
          number_of(shape.kernel.accumulator),
          number_of(shape.result),
          number_of(shape.subtrahend),
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
          shape.is_pipelined,
          static_cast<int>(shape.finish),
          shape.operands,
          shape.numbers,
          shape.constants};
}

const ReduceKernels& ReduceKernelTable::get(const CudaShape& shape, Device device,
                                            const ElementSource* computed) {
  return known_.get(key_of(shape, device), [&] { return compiled(shape, device, computed); });
}

const ReduceKernels& reduce_kernels(const CudaShape& shape, Device device) {
  static auto& known = *new ReduceKernelTable;  // never destroyed: see KernelTable
  return known.get(shape, device, nullptr);
}

}  // namespace spanwise::ops::reduce
