// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "program.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/strided/call.hpp"

namespace spanwise::ops {

/// The program as a body of CUDA kernels. Bit i of `numbers`: input i is passed by value. Arrays:
/// the other inputs, then the outputs; parameters: the numbers. `program` must outlive the body.
strided::Body program_body(const ElementProgram& program, std::uint64_t numbers);

/// The program as a function of CUDA C, `name`::run, which follows operations_text(). Its
/// parameters are the value of each input, of type `name`::M<input>, then a reference for each
/// output, of type `name`::V<value>.
std::string program_function(const ElementProgram& program, std::string_view name);

/// A program on GPUs: a kernel for each plan of arrays. One thread at a time.
class CudaProgram {
 public:
  explicit CudaProgram(const ElementProgram& program) : program_(program) {}

  /// As CpuProgram::run(), for arrays on the outputs' GPU; inputs of rank 0 may be on the host and
  /// are passed by value. Queued on the current stream.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs);

 private:
  const ElementProgram& program_;
  std::map<std::uint64_t, strided::BodyKernels> kernels_;  ///< by `numbers`
};

}  // namespace spanwise::ops
