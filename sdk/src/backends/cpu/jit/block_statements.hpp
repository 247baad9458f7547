// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "parse/lexer.hpp"

namespace spanwise::cpu_backend {

/// Tokens [begin, end).
struct TokenSpan {
  std::size_t begin = 0, end = 0;
  bool empty() const noexcept { return begin == end; }
};

/// A variable that a statement of a kernel's body declares.
struct LocalVariable {
  std::string type;  ///< with its '*', without const of the variable itself
  std::string base;  ///< as written before the declarator
  std::string_view name;
  std::string extents;  ///< "[4][2]"
  TokenSpan whole{};    ///< the declarator with its initialiser
  TokenSpan init{};     ///< the initialiser, after '='
  bool is_pointer = false, is_reference = false;
  /// A reference, "auto", or with an initialiser in parentheses or braces: cannot be declared apart
  /// from its initialiser.
  bool is_fixed = false;
};

/// A statement of a kernel's body.
struct Statement {
  enum class Kind {
    plain,        // an expression, or a construct that is not divided
    declaration,  // of `variables`
    shared,       // of a __shared__ array
    verbatim,     // typedef, using, static_assert, SW_FUNCTION_SHARED
    block,
    if_,
    for_,
    while_,
    do_,
    leave,  // return
    jump,   // break, continue
    barrier,
    empty
  };
  Kind kind = Kind::plain;
  TokenSpan all{};
  TokenSpan condition{}, step{};  ///< of if, for, while and do
  std::vector<Statement> init{};  ///< of for
  std::vector<Statement> body{}, otherwise{};
  std::vector<LocalVariable> variables{};
  /// Whether a barrier or another call that waits is in it, or a break or continue of a loop around
  /// it: it is divided into parts.
  bool splits = false;
  /// Whether it is, or has, a loop `for (T i = start; i < end; i += step)`.
  bool strides = false;
  bool loops = false;    ///< is or has a loop
  bool returns = false;  ///< has a return statement
  bool jumps = false;    ///< has a break or continue of a loop around it
};

/// A construct that a kernel which is split may not have.
struct NotUnderstood {};

/// Calls of CUDA that wait for other threads.
enum class WaitingCall { none, barrier, warp_barrier, block_vote, shuffle, warp_vote };
WaitingCall waiting_call(std::string_view name);

/// Whether a type consists of words such as "const unsigned int".
bool is_builtin_type(std::string_view type);

/// Whether the operator of tokens[i] assigns: "=", "+=", "<<=", "++", not "==".
bool is_assignment(const std::vector<parse::Token>& tokens, std::size_t i);

/// The statements of the tokens [begin, end). Throws NotUnderstood.
std::vector<Statement> read_statements(const std::vector<parse::Token>& tokens, std::size_t begin,
                                       std::size_t end);

}  // namespace spanwise::cpu_backend
