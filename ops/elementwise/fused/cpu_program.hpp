// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../cpu/cpu_loops.hpp"
#include "program.hpp"

namespace spanwise::ops {

/// A program as a list of calls of the CPU's loops. It is run on blocks of elements that stay in
/// the cache, so each array goes through memory once.
class CpuProgram {
 public:
  /// An input with `is_number` has one element at each run.
  CpuProgram(const ElementProgram& program, const std::vector<bool>& is_number);

  /// Computes the outputs, which have one shape, from inputs that broadcast to it. Any layouts. An
  /// input shares memory with an output only if both are the same elements in the same order.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs) const;
  class Parts;

 private:
  friend class CpuProgramBuilder;

  /// The elements of one value, in one dtype.
  struct Register {
    DType dtype;
    int buffer = -1;  ///< in each thread's memory, of the results of steps_ but outputs
    bool is_number = false;
    int constant = -1;  ///< of the results of once_: its place there
    /// Where the elements are: the arrays are bases, then the thread's memory, then the constants.
    int base = 0;
    std::int64_t offset = 0;  ///< bytes
  };
  /// A call of a loop, or a conversion where there is none.
  struct Instruction {
    Loop loop = nullptr;
    const void* context = nullptr;
    int count = 0;  ///< of registers: operands, then the result
    std::array<int, max_operands + 1> registers{};
  };

  /// One run, which is the context of the loops.
  struct RunContext {
    const CpuProgram* program;
    std::byte* constants;  ///< the results of once_, shared by all threads
  };

  /// Bytes of a block of the widest register: a dozen blocks stay in the L1 cache.
  static constexpr std::int64_t block_bytes = 2048;
  /// Buffers a multiple of a page apart would be in the same lines of the cache.
  static constexpr std::int64_t buffer_bytes = block_bytes + 5 * 64;

  std::int64_t block() const noexcept { return block_bytes / itemsize_; }
  std::size_t scratch_bytes() const noexcept;
  bool is_stored_late(std::size_t output, std::span<const Array* const> inputs,
                      const Array& array) const;
  std::unique_ptr<std::byte[]> prepare(std::span<const Array* const> inputs) const;
  static void run_block(const void* context, std::int64_t count, std::byte* const* arrays);

  std::vector<Register> registers_;  ///< the inputs' come first
  std::vector<int> outputs_;         ///< registers
  std::vector<bool> is_read_late_;   ///< of inputs x outputs: read after the output is computed
  std::vector<Instruction> once_;    ///< of numbers; the result is a number or a block of it
  std::vector<Instruction> steps_;
  int inputs_ = 0, buffers_ = 0;
  std::int64_t itemsize_ = 1;  ///< of the widest register
  std::int64_t grain_ = 1;     ///< elements that are worth a thread
};

/// A run whose elements are computed in parts, for callers that use them while they are in the
/// cache.
class CpuProgram::Parts {
 public:
  /// Arrays as for run(): vectors, or numbers. Outputs are contiguous and share no memory with
  /// inputs. Inputs that are not contiguous are copied. The program and the arrays must outlive
  /// the object.
  Parts(const CpuProgram& program, std::span<const Array* const> inputs,
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
