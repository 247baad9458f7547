// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "spanwise/op_sdk.hpp"

/// + - * / and negation of arrays: NumPy's meaning for shapes, dtypes and overflow, any strides.
namespace spanwise::ops {

enum class Arithmetic { add, subtract, multiply, divide, negative };

struct ArithmeticFacts {
  const char* op_name;        ///< "Add", as messages and printed graphs say it
  const char* registered;     ///< "add": sw.ops.add
  const char* cuda_function;  ///< of cuda_source()'s operations
  int arity;
};
const ArithmeticFacts& facts(Arithmetic kind) noexcept;

/// The dtype in which operands of these dtypes are combined, which is the result's too. Throws
/// DTypeError where NumPy has no such operation (bool - bool, -bool).
DType result_dtype(Arithmetic kind, std::span<const Variable> operands);

/// The thunks of one node on the host and on a GPU.
std::unique_ptr<Thunk> make_cpu_thunk(Arithmetic kind, const ThunkContext& context);
std::unique_ptr<Thunk> make_cuda_thunk(Arithmetic kind, const ThunkContext& context);

}  // namespace spanwise::ops
