// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../cuda/cuda_source.hpp"
#include "program.hpp"
#include "spanwise/kernel.hpp"

namespace spanwise::ops {

/// How the arrays of one run lie: what decides a kernel of a program.
struct ProgramLayout {
  KernelLayout kernel;
  std::uint64_t numbers = 0;            ///< bit i: input i is passed by value
  std::vector<AccessPattern> patterns;  ///< of the inputs that are not

  friend bool operator==(const ProgramLayout&, const ProgramLayout&) = default;
};

/// CUDA C with one kernel, `run`. Its parameters: of each input its address, or the number; the
/// addresses of the outputs; for all but dense the extents and the strides of inputs and first
/// output as one struct; and, but for tiles, the count of steps.
std::string program_source(const ElementProgram& program, const ProgramLayout& layout);

/// The same as a function of CUDA C, `name`::run, after operations_text(): of each input its value,
/// of type `name`::M<input>, then a reference for each output, of type `name`::V<value>.
std::string program_function(const ElementProgram& program, std::string_view name);

/// A program on GPUs: a kernel for each layout of arrays. One thread at a time.
class CudaProgram {
 public:
  explicit CudaProgram(const ElementProgram& program) : program_(program) {}

  /// As CpuProgram::run(), for arrays on the outputs' GPU; inputs of rank 0 may be on the host and
  /// are passed by value. Outputs have one layout and are aligned to 16 bytes. Queued on the
  /// current stream.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs);

 private:
  class Launch;
  const Kernel& kernel_for(const ProgramLayout& layout, Device device);

  struct Compiled {
    ProgramLayout layout;
    Device device;
    Kernel kernel;
  };
  const ElementProgram& program_;
  std::deque<Compiled> kernels_;
};

}  // namespace spanwise::ops
