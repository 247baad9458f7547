// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cpu/elementwise_loops.hpp"
#include "elementwise_compute.hpp"
#include "spanwise/graph/elementwise.hpp"

/// Programs of elementwise operations, and how the CPU runs them.
namespace spanwise::ops {

/// The number of inputs that a body may have in a program.
inline constexpr int max_operands = 8;

/// The output of a user's body that a step of a program computes; false if the step is an
/// operation.
struct UserBody {
  std::shared_ptr<const ElementBody> element_body;
  int output = 0;

  explicit operator bool() const noexcept { return element_body != nullptr; }
  friend bool operator==(const UserBody& a, const UserBody& b) {
    if (a.output != b.output || bool(a) != bool(b)) return false;
    return a.element_body == b.element_body || *a.element_body == *b.element_body;
  }
};

/// Whether a program can hold the body: at most max_operands inputs, and no complex dtypes.
bool fits_program(const ElementBody& body) noexcept;

/// CUDA C: namespace `name` with the preamble and a function `of` that returns the output.
std::string body_source(const UserBody& body, const std::string& name);
/// A call of that function; values[i] is an expression for input i, of any type.
std::string body_call(const UserBody& body, const std::string& name,
                      std::span<const std::string> values);

/// The body as a loop, compiled by the host's compiler at the first call for each text. Valid until
/// the process exits. Throws CompileError.
Loop body_loop(const UserBody& body);

/// One operation of a program, or one output of a user's body.
struct ProgramStep {
  OpSignature signature;  ///< not swapped: the arguments are in the order of its operands
  /// Values: input i is value i, the result of step k is value inputs + k.
  std::array<int, max_operands> arguments{};
  UserBody body{};  ///< if there is one, only the result of `signature` has a meaning

  friend bool operator==(const ProgramStep&, const ProgramStep&) = default;
};

inline constexpr int max_program_inputs = 16, max_program_outputs = 8;
inline constexpr int max_arrays = max_program_inputs + max_program_outputs;

/// Elementwise operations in single static assignment form. Each result has the dtype and the
/// rounding that the operation has by itself, so a program gives the values that its operations
/// give one after the other.
struct ElementProgram {
  std::vector<DType> inputs;  ///< their dtypes
  std::vector<ProgramStep> steps;
  std::vector<int> outputs;  ///< the values of steps that the program returns

  int value_count() const noexcept { return static_cast<int>(inputs.size() + steps.size()); }
  DType dtype(int value) const noexcept {
    const auto index = static_cast<std::size_t>(value);
    return index < inputs.size() ? inputs[index] : steps[index - inputs.size()].signature.result;
  }
  /// The operands of a step.
  std::span<const int> arguments(const ProgramStep& step) const noexcept {
    const std::size_t operands = static_cast<std::size_t>(traits_of(step.signature.op).inputs);
    return {step.arguments.data(), step.body ? step.body.element_body->inputs.size() : operands};
  }
  /// "t0 = (i0 * i1); exp((t0 + i2))": first the values that are used more than once, named t0, t1,
  /// ..., then the outputs in order.
  std::string text() const;
  std::size_t hash() const noexcept;

  friend bool operator==(const ElementProgram&, const ElementProgram&) = default;
};

/// A cast of `from` to `to`, as a step's signature.
inline OpSignature cast_signature(DType from, DType to) noexcept {
  return {.op = OpId::positive, .compute = from, .result = to};
}
/// The signature of a step with a body.
inline OpSignature body_signature(DType result) noexcept {
  return {.op = OpId::positive, .compute = result, .result = result};
}
inline bool is_cast(const OpSignature& signature) noexcept {
  return signature.op == OpId::positive && signature.compute != signature.result;
}

/// A program as a list of calls of the CPU's loops. It is run on blocks of elements that stay in
/// the cache, so each array goes through memory once.
class CpuProgram {
 public:
  /// An input with `is_number` has one element at each run.
  CpuProgram(const ElementProgram& program, const std::vector<bool>& is_number);

  /// Computes the outputs, which have one shape, from inputs that broadcast to it. Any layouts. An
  /// input shares memory with an output only if both are the same elements in the same order.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs) const;
  class PartialRun;

 private:
  friend class CpuProgramBuilder;

  /// The elements of a value, in its dtype or converted to another.
  struct Register {
    DType dtype;
    int buffer = -1;  ///< index in each thread's memory, for results of steps_ that are no outputs
    bool is_number = false;
    int constant = -1;  ///< index of the instruction of prologue_ that computes it, or -1
    /// Index of the base address: those of the arrays, of the thread's memory, of the constants.
    int base = 0;
    std::int64_t offset = 0;  ///< bytes from the base
  };
  /// A call of a loop, or a conversion if `loop` is null.
  struct Instruction {
    Loop loop = nullptr;
    const void* context = nullptr;
    int count = 0;  ///< of registers: operands, then the result
    std::array<int, max_operands + 1> registers{};
  };

  /// One run, which is the context of the loops.
  struct RunContext {
    const CpuProgram* program;
    std::byte* constants;  ///< the results of prologue_, shared by all threads
  };

  /// Bytes of a block of the widest register: a dozen blocks stay in the L1 cache.
  static constexpr std::int64_t block_bytes = 2048;
  /// Not a multiple of a page, so that buffers are in different sets of the L1 cache.
  static constexpr std::int64_t buffer_bytes = block_bytes + 5 * 64;

  std::int64_t block_length() const noexcept { return block_bytes / itemsize_; }
  std::size_t scratch_bytes() const noexcept {
    return static_cast<std::size_t>(buffers_ * buffer_bytes);
  }
  bool is_stored_late(std::size_t output, std::span<const Array* const> inputs,
                      const Array& array) const;
  std::unique_ptr<std::byte[]> prepare(std::span<const Array* const> inputs) const;
  static void run_block(const void* context, std::int64_t count, std::byte* const* arrays);

  std::vector<Register> registers_;    ///< the inputs' come first
  std::vector<int> outputs_;           ///< registers
  std::vector<bool> is_read_late_;     ///< of inputs x outputs: read after the output is computed
  std::vector<Instruction> prologue_;  ///< run once: they convert numbers, or fill blocks with them
  std::vector<Instruction> steps_;
  int inputs_ = 0, buffers_ = 0;
  std::int64_t itemsize_ = 1;  ///< of the widest register
  std::int64_t grain_ = 1;     ///< the minimum of elements per thread
};

/// A run whose elements are computed range by range, for callers that use them while they are in
/// the cache.
class CpuProgram::PartialRun {
 public:
  /// Arrays as for run(): vectors, or numbers. Outputs are contiguous and share no memory with
  /// inputs. Inputs that are not contiguous are copied. The program and the arrays must outlive
  /// the object.
  PartialRun(const CpuProgram& program, std::span<const Array* const> inputs,
             std::span<const Array> outputs);
  /// Computes elements `first` to `last` of the outputs in the calling thread. Threads may call it
  /// at the same time.
  void run(std::int64_t first, std::int64_t last) const;

 private:
  struct Vector {
    std::byte* data;
    std::int64_t step;  ///< bytes; 0 for a number
  };

  const CpuProgram& program_;
  std::vector<Array> copies_;
  std::vector<Vector> arrays_;
  std::unique_ptr<std::byte[]> constants_;
};

}  // namespace spanwise::ops
