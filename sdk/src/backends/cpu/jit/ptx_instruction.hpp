// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spanwise::cpu_backend {

/// The C++ type of a PTX type such as "u32"; "" for other words.
std::string_view ptx_type(std::string_view word);

/// A PTX instruction whose operands are C++ already.
struct PtxInstruction {
  struct Operand {
    std::string code;  ///< an expression; of an address, its base
    std::string offset;
    std::string second;                 ///< the q of p|q
    std::vector<std::string> elements;  ///< of {a, b}
    bool is_address = false;
  };
  std::vector<std::string_view> parts;  ///< "ld", "global", "u32"
  std::vector<Operand> operands;
};

/// Statements of C++ for the instruction, "" if it is not supported.
std::string ptx_statement(const PtxInstruction& instruction);

}  // namespace spanwise::cpu_backend
