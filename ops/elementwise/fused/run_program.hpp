// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cpu_program.hpp"
#include "cuda_program.hpp"
#include "program.hpp"

namespace spanwise::ops {

/// A program compiled for one device, to be run many times. One thread at a time.
class ProgramRunner {
 public:
  /// Inputs with `is_number` have one element at each run. `program` must outlive the runner.
  ProgramRunner(const ElementProgram& program, const std::vector<bool>& is_number, Device device);
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  /// Computes the outputs, which have one layout, from inputs that broadcast to their shape. Any
  /// layouts; inputs and outputs may share memory in any way, outputs not with each other. On a GPU
  /// the work is queued on the current stream.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs);
  /// On the CPU: CpuProgram::run(). Threads may call it at the same time.
  void run_on_cpu(std::span<const Array* const> inputs, std::span<const Array> outputs) const {
    cpu_program_->run(inputs, outputs);
  }

 private:
  std::optional<CpuProgram> cpu_program_;
  std::optional<CudaProgram> cuda_program_;
};

}  // namespace spanwise::ops
