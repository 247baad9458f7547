// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>

#include "../cpu/cpu_loops.hpp"
#include "spanwise/graph/elementwise.hpp"

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

}  // namespace spanwise::ops
