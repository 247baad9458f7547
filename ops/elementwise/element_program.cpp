// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "element_program.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/strided/cpu_loop.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {

using strided::ArrayRole;

// ---- users' bodies

namespace {

// The type of a value in the user's text.
std::string text_type(DType dtype) {
  if (dtype.is_bool()) return "bool";
  return element_text(loop_dtype(dtype));
}

// The lines of a preamble that must be outside of a namespace, and the others.
std::pair<std::string, std::string> split_includes(const std::string& preamble) {
  std::string outside, inside, line;
  for (std::istringstream lines(preamble); std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(" \t");
    const bool is_include = first != line.npos && line.compare(first, 8, "#include") == 0;
    (is_include ? outside : inside) += line + "\n";
    if (is_include) inside += "\n";  // lines keep their numbers
  }
  return {outside, inside};
}

std::string loop_source(const UserBody& body) {
  const ElementBody& element = *body.element_body;
  std::string arrays;
  std::string list;
  const auto array = [&](const char* constness, DType dtype, std::size_t index) {
    const std::string type = dtype.is_bool() ? "unsigned char" : text_type(dtype);
    arrays += text("  ", constness, type, "* sw_", index, " = (", constness, type, "*)sw_arrays[",
                   index, "];\n");
  };
  for (std::size_t i = 0; i < element.inputs.size(); ++i) {
    array("const ", element.inputs[i].dtype, i);
    list += text(i > 0 ? ", " : "", "sw_", i, "[sw_i]",
                 element.inputs[i].dtype.is_bool() ? " != 0" : "");
  }
  const std::size_t result = element.inputs.size();
  array("", element.outputs[static_cast<std::size_t>(body.output)].dtype, result);
  // The result may be the memory of an operand, element by element.
  return text(body_source(body, "sw_body"),
              "__device__ void sw_loop(const void*, long long sw_n, char* const* sw_arrays) {\n",
              arrays, "#pragma GCC ivdep\n  for (long long sw_i = 0; sw_i < sw_n; ++sw_i)\n",
              "    sw_", result, "[sw_i] = sw_body::of(", list, ");\n}\n",
              "extern \"C\" __global__ void sw_address(unsigned long long* sw_result) {\n",
              "  *sw_result = (unsigned long long)&sw_loop;\n}\n");
}

/// A compiled loop and the kernel that keeps its code loaded.
struct CompiledLoop {
  Kernel kernel;
  Loop loop;
};

// A kernel of the module passes on the address of the loop, which is then called without a launch.
CompiledLoop compiled_loop(const std::string& source) {
  const Kernel kernel = SourceModule(source, {.device = cpu}).get_function("sw_address");
  const Array address = zeros(Shape{1}, uint64, cpu);
  kernel({}, {KernelArg(address)});
  return {kernel, reinterpret_cast<Loop>(*static_cast<const std::uint64_t*>(address.data()))};
}

}  // namespace

bool fits_program(const ElementBody& body) noexcept {
  const auto is_real = [](const ElementBody::Value& value) {
    return value.dtype.is_computable() && !value.dtype.is_complex();
  };
  return !body.inputs.empty() && body.inputs.size() <= max_operands && !body.outputs.empty() &&
         std::all_of(body.inputs.begin(), body.inputs.end(), is_real) &&
         std::all_of(body.outputs.begin(), body.outputs.end(), is_real);
}

std::string body_source(const UserBody& body, const std::string& name) {
  const ElementBody& element = *body.element_body;
  const auto [outside, inside] = split_includes(element.preamble);
  std::string types, parameters, results;
  for (const auto& [type, dtype] : element.types)
    types += text("typedef ", text_type(dtype), " ", type, ";\n");
  for (const ElementBody::Value& input : element.inputs)
    parameters +=
        text(parameters.empty() ? "" : ", ", "const ", text_type(input.dtype), " ", input.name);
  for (const ElementBody::Value& output : element.outputs)
    results += text("  ", text_type(output.dtype), " ", output.name, " = 0;\n");
  const ElementBody::Value& result = element.outputs[static_cast<std::size_t>(body.output)];
  return text(outside, "namespace ", name, " {\n", types,
              parse::with_line_directives(text("preamble of ", element.op), inside),
              "__device__ inline ", text_type(result.dtype), " of(", parameters, ") {\n", results,
              parse::element_statements(text("operation of ", element.op), element.operation),
              "  return ", result.name, ";\n}\n}\n");
}

std::string body_call(const UserBody& body, const std::string& name,
                      std::span<const std::string> values) {
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i)
    list += text(i > 0 ? ", " : "", "To<", text_type(body.element_body->inputs[i].dtype),
                 ">::from(", values[i], ")");
  return text(name, "::of(", list, ")");
}

Loop body_loop(const UserBody& body) {
  const std::string source = loop_source(body);
  // Never destroyed: functions may run until the process exits.
  static auto& loops = *new KernelTable<std::map<std::string, CompiledLoop>>;
  return loops.get(source, [&] { return compiled_loop(source); }).loop;
}

// ---- the text of a program

namespace {

std::string_view infix(OpId op) {
  static constexpr std::pair<OpId, std::string_view> operators[] = {
      {OpId::add, " + "}, {OpId::subtract, " - "}, {OpId::multiply, " * "}, {OpId::divide, " / "}};
  for (const auto& [id, symbol] : operators)
    if (id == op) return symbol;
  return {};
}

/// Writes ElementProgram::text().
class ProgramText {
 public:
  explicit ProgramText(const ElementProgram& program)
      : program_(program), uses_(static_cast<std::size_t>(program.value_count())) {
    for (const ProgramStep& step : program.steps)
      for (const int value : program.arguments(step)) ++uses_[static_cast<std::size_t>(value)];
    for (const int value : program.outputs) ++uses_[static_cast<std::size_t>(value)];
  }

  std::string write() const {
    std::string text;
    const auto add = [&](const std::string& statement) {
      text += (text.empty() ? "" : "; ") + statement;
    };
    for (int value = inputs(); value < program_.value_count(); ++value)
      if (is_named(value)) add(name(value) + " = " + expression(value));
    for (const int value : program_.outputs) add(is_named(value) ? name(value) : expression(value));
    return text;
  }

 private:
  int inputs() const { return static_cast<int>(program_.inputs.size()); }
  // A value that is used more than once gets a name, so that its expression is written once.
  bool is_named(int value) const { return uses_[static_cast<std::size_t>(value)] > 1; }
  std::string name(int value) const {
    return value < inputs() ? text('i', value) : text('t', value - inputs());
  }

  std::string operand(int value) const {
    if (value < inputs() || is_named(value)) return name(value);
    return expression(value);
  }
  const ProgramStep& step(int value) const {
    return program_.steps[static_cast<std::size_t>(value - inputs())];
  }

  std::string expression(int value) const {
    const OpSignature& signature = step(value).signature;
    const auto arguments = program_.arguments(step(value));
    if (const UserBody& body = step(value).body) {
      const bool has_one_output = body.element_body->outputs.size() == 1;
      return text(body.element_body->op, has_one_output ? "" : text(".", body.output),
                  argument_list(arguments));
    }
    if (const std::string_view symbol = infix(signature.op); !symbol.empty())
      return text('(', operand(arguments[0]), symbol, operand(arguments[1]), ')');
    if (signature.op == OpId::negative) return text("(-", operand(arguments[0]), ')');
    if (is_cast(signature)) return text("cast{", signature.result, "}", argument_list(arguments));
    return traits_of(signature.op).name + argument_list(arguments);
  }

  std::string argument_list(std::span<const int> arguments) const {
    std::string list;
    for (const int argument : arguments) list += (list.empty() ? "(" : ", ") + operand(argument);
    return list + ")";
  }

  const ElementProgram& program_;
  std::vector<int> uses_;  // of each value, as an argument or as an output
};

}  // namespace

std::string ElementProgram::text() const { return ProgramText(*this).write(); }

std::size_t ElementProgram::hash() const noexcept {
  std::size_t hash = inputs.size();
  const auto add = [&](std::size_t value) { hash = hash * 1099511628211u ^ value; };
  for (const ProgramStep& step : steps) {
    add(static_cast<std::size_t>(step.signature.op));
    for (const int argument : arguments(step)) add(static_cast<std::size_t>(argument));
  }
  for (const int output : outputs) add(static_cast<std::size_t>(output));
  return hash;
}

// ---- programs on the CPU

/// Turns a program into calls of loops: chooses the loops, inserts conversions, assigns buffers.
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
