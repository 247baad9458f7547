// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "cpu_program.hpp"

// Turns a program into calls of loops: chooses the loops, inserts conversions, assigns buffers.
namespace spanwise::ops {

class CpuProgramBuilder {
 public:
  CpuProgramBuilder(const ElementProgram& program, const std::vector<bool>& is_number,
                    CpuProgram& result)
      : program_(program), result_(result) {
    result_.inputs_ = static_cast<int>(program.inputs.size());
    for (std::size_t i = 0; i < program.inputs.size(); ++i)
      value_registers_.push_back(add_register(program.inputs[i], is_number[i]));
  }

  void build() {
    double work = 0;  // of an element, as a part of the work for which a thread is woken
    for (const ProgramStep& step : program_.steps) work += add_step(step);
    result_.grain_ = std::max<std::int64_t>(1, static_cast<std::int64_t>(1 / std::max(work, 1e-6)));
    for (const int value : program_.outputs) add_output(register_of(value));
    note_late_reads();
    assign_buffers();
    find_bases();
  }

 private:
  using Instruction = CpuProgram::Instruction;

  int register_of(int value) const { return value_registers_[static_cast<std::size_t>(value)]; }
  CpuProgram::Register& at(int index) {
    return result_.registers_[static_cast<std::size_t>(index)];
  }
  int add_register(DType dtype, bool is_number = false) {
    result_.registers_.push_back({dtype, -1, is_number});
    result_.itemsize_ = std::max<std::int64_t>(result_.itemsize_, dtype.itemsize());
    return static_cast<int>(result_.registers_.size()) - 1;
  }

  // The register's elements in another dtype.
  int converted(int from, DType dtype) {
    if (at(from).dtype == dtype) return from;
    const auto [cached, is_new] = conversions_.try_emplace({from, dtype_index(dtype)}, 0);
    if (!is_new) return cached->second;
    const bool is_number = at(from).is_number;
    cached->second = add_register(dtype, is_number);
    convert(from, cached->second);
    return cached->second;
  }
  void convert(int from, int to) {
    (at(from).is_number ? result_.prologue_ : result_.steps_)
        .push_back({nullptr, nullptr, 2, {from, to}});
  }

  // The number in every element of a block.
  int filled(int number) {
    if (!at(number).is_number) return number;
    const auto [cached, is_new] = fills_.try_emplace(number, 0);
    if (is_new) {
      cached->second = add_register(at(number).dtype);
      result_.prologue_.push_back({nullptr, nullptr, 2, {number, cached->second}});
    }
    return cached->second;
  }

  double add_step(const ProgramStep& step) {
    if (step.body) return add_user_body(step);
    if (is_cast(step.signature)) return add_cast(step);
    OpSignature signature = step.signature;
    const auto values = program_.arguments(step);
    Instruction instruction{.count = static_cast<int>(values.size()) + 1};
    for (std::size_t i = 0; i < values.size(); ++i)
      instruction.registers[i] = converted(
          register_of(values[i]), loop_dtype(signature, signature.operand(static_cast<int>(i))));
    if (values.size() == 2 && at(instruction.registers[0]).is_number && !signature.mixed)
      if (const auto swapped = swapped_op(signature.op)) {
        signature.op = *swapped;
        std::swap(instruction.registers[0], instruction.registers[1]);
      }
    const CpuLoops& loops = cpu_loops_for(signature);
    const bool takes_numbers = loops.with_number != nullptr && only_first_is_array(instruction);
    instruction.loop = takes_numbers ? loops.with_number : loops.loop;
    instruction.context = loops.context;
    if (!takes_numbers)
      for (std::size_t i = 0; i < values.size(); ++i)
        instruction.registers[i] = filled(instruction.registers[i]);
    add_result(instruction, loop_dtype(signature, signature.result), signature.result);
    return 1 / static_cast<double>(loops.grain);
  }

  // Adds the instruction, whose loop computes in `computed`, and its value in `result`.
  void add_result(Instruction instruction, DType computed, DType result) {
    const int target = add_register(computed);
    instruction.registers[static_cast<std::size_t>(instruction.count - 1)] = target;
    result_.steps_.push_back(instruction);
    value_registers_.push_back(converted(target, result));
  }

  bool only_first_is_array(const Instruction& instruction) {
    if (instruction.count < 3 || at(instruction.registers[0]).is_number) return false;
    for (int i = 1; i < instruction.count - 1; ++i)
      if (!at(instruction.registers[static_cast<std::size_t>(i)]).is_number) return false;
    return true;
  }

  double add_user_body(const ProgramStep& step) {
    const auto values = program_.arguments(step);
    const ElementBody& body = *step.body.element_body;
    Instruction instruction{.loop = body_loop(step.body),
                            .count = static_cast<int>(values.size()) + 1};
    for (std::size_t i = 0; i < values.size(); ++i)
      instruction.registers[i] =
          filled(converted(register_of(values[i]), loop_dtype(body.inputs[i].dtype)));
    add_result(instruction, loop_dtype(step.signature.result), step.signature.result);
    constexpr double elements_per_thread = 1 << 13;
    return 1 / elements_per_thread;
  }

  double add_cast(const ProgramStep& step) {
    const int from = filled(register_of(step.arguments[0]));
    value_registers_.push_back(converted(from, step.signature.result));
    constexpr double conversions_per_thread = 1 << 15;
    return 1 / conversions_per_thread;
  }

  // Equal casts have one register. If it is an output already, the second output is a copy.
  void add_output(int from) {
    auto& outputs = result_.outputs_;
    if (std::find(outputs.begin(), outputs.end(), from) == outputs.end())
      return outputs.push_back(from);
    outputs.push_back(add_register(at(from).dtype));
    convert(from, outputs.back());
  }

  void note_late_reads() {
    const auto inputs = static_cast<std::size_t>(result_.inputs_);
    result_.is_read_late_.resize(inputs * result_.outputs_.size());
    for (std::size_t o = 0; o < result_.outputs_.size(); ++o) {
      bool is_computed = false;
      for (const Instruction& step : result_.steps_) {
        for (int i = 0; i < step.count - 1 && is_computed; ++i) {
          const int read = step.registers[static_cast<std::size_t>(i)];
          if (read < result_.inputs_)
            result_.is_read_late_[o * inputs + static_cast<std::size_t>(read)] = true;
        }
        is_computed |= result_of(step) == result_.outputs_[o];
      }
    }
  }

  static int result_of(const Instruction& step) {
    return step.registers[static_cast<std::size_t>(step.count - 1)];
  }

  // Results that are no outputs take the buffers of values that are no longer read.
  void assign_buffers() {
    std::vector<int> last_read(result_.registers_.size(), -1);
    for (std::size_t t = 0; t < result_.steps_.size(); ++t)
      for (int i = 0; i < result_.steps_[t].count - 1; ++i)
        last_read[static_cast<std::size_t>(
            result_.steps_[t].registers[static_cast<std::size_t>(i)])] = static_cast<int>(t);
    std::vector<bool> needs_buffer(result_.registers_.size());
    for (const Instruction& step : result_.steps_)
      needs_buffer[static_cast<std::size_t>(result_of(step))] = true;
    for (const int output : result_.outputs_)
      needs_buffer[static_cast<std::size_t>(output)] = false;
    for (std::size_t i = 0; i < result_.prologue_.size(); ++i)
      at(result_of(result_.prologue_[i])).constant = static_cast<int>(i);
    std::vector<int> free;
    for (std::size_t t = 0; t < result_.steps_.size(); ++t) {
      const int result = result_of(result_.steps_[t]);
      if (needs_buffer[static_cast<std::size_t>(result)] && at(result).buffer < 0) {
        if (free.empty()) free.push_back(result_.buffers_++);
        at(result).buffer = free.back();
        free.pop_back();
      }
      release_after(result_.steps_[t], static_cast<int>(t), needs_buffer, last_read, free);
    }
  }

  void release_after(const Instruction& step, int index, const std::vector<bool>& needs_buffer,
                     const std::vector<int>& last_read, std::vector<int>& free) {
    for (int i = 0; i < step.count - 1; ++i) {
      const int read = step.registers[static_cast<std::size_t>(i)];
      const auto r = static_cast<std::size_t>(read);
      const bool is_last = needs_buffer[r] && last_read[r] == index;
      const int buffer = at(read).buffer;
      if (is_last && std::find(free.begin(), free.end(), buffer) == free.end())
        free.push_back(buffer);
    }
  }

  void find_bases() {
    const int outputs = static_cast<int>(result_.outputs_.size());
    const int memory = result_.inputs_ + outputs;
    for (int r = 0; r < static_cast<int>(result_.registers_.size()); ++r) {
      CpuProgram::Register& value = at(r);
      value.base = r < result_.inputs_ ? r : value.constant >= 0 ? memory + 1 : memory;
      const int buffer = value.constant >= 0 ? value.constant : value.buffer;
      value.offset = r < result_.inputs_ ? 0 : buffer * CpuProgram::buffer_bytes;
    }
    for (int o = 0; o < outputs; ++o) {
      CpuProgram::Register& value = at(result_.outputs_[static_cast<std::size_t>(o)]);
      value.base = result_.inputs_ + o;
      value.offset = 0;
    }
  }

  const ElementProgram& program_;
  CpuProgram& result_;
  std::vector<int> value_registers_;
  std::map<std::pair<int, int>, int> conversions_;  // {register, dtype_index()} -> register
  std::map<int, int> fills_;                        // number -> a block of it, as registers
};

CpuProgram::CpuProgram(const ElementProgram& program, const std::vector<bool>& is_number) {
  CpuProgramBuilder(program, is_number, *this).build();
}

}  // namespace spanwise::ops
