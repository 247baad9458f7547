// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_program.hpp"

#include <algorithm>
#include <memory>

#include "spanwise/runtime/host_block.hpp"

namespace spanwise::ops {

using strided::ArrayRole;

// Within a block, an output is written before the steps after it read their inputs.
bool CpuProgram::is_stored_late(std::size_t output, std::span<const Array* const> inputs,
                                const Array& array) const {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_read_late_[output * inputs.size() + i] && may_share_memory(*inputs[i], array))
      return true;
  return false;
}

// Converts numbers, and fills blocks with them.
void CpuProgram::prepare(std::span<const Array* const> inputs, std::byte* constants) const {
  const auto at = [&](int index) {
    const auto r = static_cast<std::size_t>(index);
    return r < inputs.size() ? static_cast<std::byte*>(inputs[r]->data())
                             : constants + registers_[r].offset;
  };
  for (const Instruction& step : once_) {
    const auto [from, to] = std::pair(step.registers[0], step.registers[1]);
    const Register& target = registers_[static_cast<std::size_t>(to)];
    convert_block(
        registers_[static_cast<std::size_t>(from)].dtype, target.dtype,
        {at(to), at(from), 1, target.is_number ? 1 : block(), 0, target.dtype.itemsize(), 0, 0});
  }
}

void CpuProgram::run_block(const void* context, std::int64_t count, std::byte* const* arrays) {
  const auto& [program, constants] = *static_cast<const Run*>(context);
  const std::size_t most = static_cast<std::size_t>(program->inputs_) + program->outputs_.size();
  std::byte* bases[most_arrays + 2];
  std::copy_n(arrays, most + 1, bases);  // the thread's memory follows the arrays
  bases[most + 1] = constants;
  for (const Instruction& step : program->steps_) {
    std::byte* lanes[most_operands + 1];
    for (int i = 0; i < step.count; ++i) {
      const auto r = static_cast<std::size_t>(step.registers[static_cast<std::size_t>(i)]);
      const Register& each = program->registers_[r];
      lanes[i] = bases[each.base] + each.offset;
    }
    if (step.loop != nullptr) {
      step.loop(step.context, count, lanes);
      continue;
    }
    const DType from = program->registers_[static_cast<std::size_t>(step.registers[0])].dtype,
                to = program->registers_[static_cast<std::size_t>(step.registers[1])].dtype;
    convert_block(from, to, {lanes[1], lanes[0], 1, count, 0, to.itemsize(), 0, from.itemsize()});
  }
}

void CpuProgram::run(std::span<const Array* const> inputs, std::span<const Array> outputs) const {
  if (outputs[0].size() == 0) return;
  std::array<strided::CpuOperand, most_arrays> arrays;
  std::size_t count = 0;
  for (; count < inputs.size(); ++count) {
    arrays[count] = {*inputs[count], registers_[count].dtype, ArrayRole::read};
    arrays[count].is_element = registers_[count].is_number;
  }
  for (std::size_t o = 0; o < outputs.size(); ++o, ++count) {
    arrays[count] = {outputs[o], outputs[o].dtype(), ArrayRole::write};
    arrays[count].is_stored_late = is_stored_late(o, inputs, outputs[o]);
  }
  const auto constants = std::make_unique_for_overwrite<std::byte[]>(
      once_.size() * static_cast<std::size_t>(buffer_bytes));
  prepare(inputs, constants.get());
  const Run run{this, constants.get()};
  const strided::CpuBody body{
      .loop = run_block,
      .context = &run,
      .grain = grain_,
      .block = block(),
      .scratch_bytes = static_cast<std::size_t>(buffers_ * buffer_bytes),
  };
  strided::run_on_cpu(outputs[0].shape(), std::span(arrays.data(), count), body);
}

}  // namespace spanwise::ops
