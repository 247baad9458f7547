// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_program.hpp"

#include <algorithm>

#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/host_block.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {

using strided::ArrayRole;

// Whether a later step reads an input in the output's memory, which the output would overwrite.
bool CpuProgram::is_stored_late(std::size_t output, std::span<const Array* const> inputs,
                                const Array& array) const {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_read_late_[output * inputs.size() + i] && may_share_memory(*inputs[i], array))
      return true;
  return false;
}

// Runs prologue_. Returns its results.
std::unique_ptr<std::byte[]> CpuProgram::prepare(std::span<const Array* const> inputs) const {
  auto constants = std::make_unique_for_overwrite<std::byte[]>(
      prologue_.size() * static_cast<std::size_t>(buffer_bytes));
  const auto at = [&](int index) {
    const auto r = static_cast<std::size_t>(index);
    return r < inputs.size() ? static_cast<std::byte*>(inputs[r]->data())
                             : constants.get() + registers_[r].offset;
  };
  for (const Instruction& step : prologue_) {
    const auto [from, to] = std::pair(step.registers[0], step.registers[1]);
    const Register& target = registers_[static_cast<std::size_t>(to)];
    convert_block(registers_[static_cast<std::size_t>(from)].dtype, target.dtype,
                  {at(to), at(from), 1, target.is_number ? 1 : block_length(), 0,
                   target.dtype.itemsize(), 0, 0});
  }
  return constants;
}

void CpuProgram::run_block(const void* context, std::int64_t count, std::byte* const* arrays) {
  const auto& [program, constants] = *static_cast<const RunContext*>(context);
  const std::size_t array_count =
      static_cast<std::size_t>(program->inputs_) + program->outputs_.size();
  std::byte* bases[max_arrays + 2];
  std::copy_n(arrays, array_count + 1, bases);  // the thread's memory follows the arrays
  bases[array_count + 1] = constants;
  for (const Instruction& step : program->steps_) {
    std::byte* operands[max_operands + 1];
    for (int i = 0; i < step.count; ++i) {
      const auto r = static_cast<std::size_t>(step.registers[static_cast<std::size_t>(i)]);
      const Register& operand = program->registers_[r];
      operands[i] = bases[operand.base] + operand.offset;
    }
    if (step.loop != nullptr) {
      step.loop(step.context, count, operands);
      continue;
    }
    const DType from = program->registers_[static_cast<std::size_t>(step.registers[0])].dtype,
                to = program->registers_[static_cast<std::size_t>(step.registers[1])].dtype;
    convert_block(from, to,
                  {operands[1], operands[0], 1, count, 0, to.itemsize(), 0, from.itemsize()});
  }
}

void CpuProgram::run(std::span<const Array* const> inputs, std::span<const Array> outputs) const {
  if (outputs[0].size() == 0) return;
  std::array<strided::CpuOperand, max_arrays> arrays;
  std::size_t count = 0;
  for (; count < inputs.size(); ++count) {
    arrays[count] = {*inputs[count], registers_[count].dtype, ArrayRole::read};
    arrays[count].is_element = registers_[count].is_number;
  }
  for (std::size_t o = 0; o < outputs.size(); ++o, ++count) {
    arrays[count] = {outputs[o], outputs[o].dtype(), ArrayRole::write};
    arrays[count].is_stored_late = is_stored_late(o, inputs, outputs[o]);
  }
  const auto constants = prepare(inputs);
  const RunContext run{this, constants.get()};
  const strided::CpuBody body{
      .loop = run_block,
      .context = &run,
      .grain = grain_,
      .block = block_length(),
      .scratch_bytes = scratch_bytes(),
  };
  strided::run_on_cpu(outputs[0].shape(), std::span(arrays.data(), count), body);
}

CpuProgram::PartialRun::PartialRun(const CpuProgram& program, std::span<const Array* const> inputs,
                                   std::span<const Array> outputs)
    : program_(program), constants_(program.prepare(inputs)) {
  copies_.reserve(inputs.size());
  arrays_.reserve(inputs.size() + outputs.size());
  const auto add = [&](const Array& array, std::int64_t step) {
    arrays_.push_back({static_cast<std::byte*>(array.data()), step});
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Array& input = *inputs[i];
    if (program.registers_[i].is_number)
      add(input, 0);
    else if (input.shape() == outputs[0].shape() && input.layout().is_row_major() &&
             is_item_aligned(input))
      add(input, input.dtype().itemsize());
    else
      add(copies_.emplace_back(copy(input.broadcast_to(outputs[0].shape()))),
          input.dtype().itemsize());
  }
  for (const Array& output : outputs) add(output, output.dtype().itemsize());
}

void CpuProgram::PartialRun::run(std::int64_t first, std::int64_t last) const {
  constexpr std::uintptr_t alignment = 64;
  const auto memory =
      std::make_unique_for_overwrite<std::byte[]>(program_.scratch_bytes() + alignment);
  const RunContext run{&program_, constants_.get()};
  std::byte* addresses[max_arrays + 1];
  addresses[arrays_.size()] =
      memory.get() - reinterpret_cast<std::uintptr_t>(memory.get()) % alignment + alignment;
  const std::int64_t block = program_.block_length();
  for (; first < last; first += block) {
    for (std::size_t k = 0; k < arrays_.size(); ++k)
      addresses[k] = arrays_[k].data + first * arrays_[k].step;
    run_block(&run, std::min(block, last - first), addresses);
  }
}

}  // namespace spanwise::ops
