// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "run_row_pass.hpp"

#include "../graph/elementwise_op.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::ops {

const Array& cached_array(std::optional<Array>& cached, const Shape& shape, DType dtype,
                          Device device) {
  if (!cached || cached->shape() != shape) {
    cached.reset();
    cached.emplace(empty(shape, dtype, device));
  }
  return *cached;
}

RowPassRunner::RowPassRunner(const RowPass& pass, std::span<const int> ranks, Device device)
    : pass_(pass), device_(device) {
  if (!runs_on_host(device))
    cuda_pass_.emplace(pass, device);
  else
    cpu_pass_.emplace(pass, ranks);
}

bool RowPassRunner::accepts(std::span<const Array* const> inputs) const {
  const Array& x = *inputs[0];
  const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
  if (x.size() == 0) return false;
  if (columns > (cpu_pass_ ? CpuRowPass::max_columns : CudaRowPass::max_columns)) return false;
  if (columns > 1 && x.strides()[1] != 1) return false;
  if (inputs[1]->shape()[0] != columns) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Array& input = *inputs[i];
    const bool is_usable = input.device() == device_ || is_host_number(input);
    if (!is_usable || input.rank() > (i == 0 ? 2 : 1)) return false;
  }
  for (std::size_t i = 2; i < pass_.addend_position(); ++i)
    if (inputs[i]->size() != 1 && inputs[i]->shape()[0] != rows) return false;
  if (!has_required_rows(inputs) || (cpu_pass_ && !cpu_pass_->accepts(inputs))) return false;
  if (!pass_.has_addend) return true;
  const Array& addend = *inputs[pass_.addend_position()];
  return addend.device() == device_ && (addend.size() == 1 || addend.shape()[0] == columns);
}

bool RowPassRunner::has_required_rows(std::span<const Array* const> inputs) const {
  for (const RowPass::RequiredRows& required : pass_.required) {
    std::int64_t rows = required.fixed;
    if (required.position >= 0) {
      const Array& number = *inputs[static_cast<std::size_t>(required.position)];
      if (!is_host_number(number)) return false;  // a read from a GPU would wait for it
      rows = item(number).as_int64();
    }
    if (rows != inputs[0]->shape()[0]) return false;
  }
  return true;
}

void RowPassRunner::run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  cuda_pass_ ? cuda_pass_->run(inputs, outputs) : cpu_pass_->run(inputs, outputs);
}

}  // namespace spanwise::ops
