// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_module.hpp"

namespace spanwise::ops::reduce {
namespace {

ReduceKernels compiled(const CudaShape& shape, Device device, const ElementSource* computed) {
  // As on the host, products are rounded before they are added.
  const SourceModule module(cuda_source(shape, computed),
                            {.options = {"--fmad=false"}, .device = device});
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

const ReduceKernels& ReduceKernelTable::get(const CudaShape& shape, Device device,
                                            const ElementSource* computed) {
  auto& list = by_kind_[static_cast<std::size_t>(shape.types.kind)];
  return list.get(Key{shape, device}, [&] { return compiled(shape, device, computed); });
}

const ReduceKernels& reduce_kernels(const CudaShape& shape, Device device) {
  static auto& table = *new ReduceKernelTable;  // never destroyed: see KernelTable
  return table.get(shape, device, nullptr);
}

}  // namespace spanwise::ops::reduce
