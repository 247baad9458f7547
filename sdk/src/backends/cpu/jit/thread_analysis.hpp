// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/jit/block_loops.hpp"
#include "backends/cpu/jit/block_statements.hpp"

namespace spanwise::cpu_backend {

// A variable of the kernel that more than one part of it may use, or a parameter.
struct Variable {
  const LocalVariable* declared = nullptr;  // null for a parameter
  std::string name;
  int masks = 0, loops = 0;         // conditions and loops around the declaration
  const Statement* loop = nullptr;  // the for statement whose counter it is
  bool is_uniform = true;           // the same for all threads, and set once for all
  bool is_modified = false;         // after its initialisation
  bool is_counter = true;           // modified by `loop` alone
  bool is_derived = true;           // can be computed again wherever it is used
  bool is_stored = false;           // an element of an array for each thread
  int owner = -1;                   // the part that declares it, if no other uses it
};

// What an expression depends on.
struct Dependence {
  bool is_other = false;     // memory, calls, unknown names
  bool is_thread = false;    // threadIdx, or a variable that differs between threads
  bool is_changing = false;  // a variable that is modified other than by a loop's head
};

/// A term of a sum.
struct Addend {
  TokenSpan span{};
  bool is_negative = false;
};
/// A sum, by what is the same for all threads and what is not.
struct Sum {
  std::vector<Addend> uniform, others;
};

/// A loop `for (T i = start; i < end; i += step)` whose threads start at different places, of which
/// the first thread's is the lowest, and go on by the same step to the same end.
struct StridedLoop {
  const LocalVariable* counter = nullptr;
  Sum start{};
  TokenSpan end{}, step{};
  std::string_view comparison{};
  std::string base{};  ///< the counter of the first thread
};

/// A condition that only some rows of a block's threads meet, or only the threads in a part of each
/// row: `value < bound`, where the value grows by one from thread to thread.
struct RowLimit {
  TokenSpan condition{};    ///< of rows, if `value` is empty
  bool is_negated = false;  ///< holds where `condition` does not
  TokenSpan value{}, bound{};
  bool is_inclusive = false;
};

/// Which variables and expressions of a kernel are the same for all threads of a block.
class ThreadAnalysis {
 public:
  ThreadAnalysis(const std::vector<parse::Token>& tokens, const parse::KernelSite& site,
                 const SplitContext& context, bool divides_strided);

 protected:
  /// Repeats analyze_list(body) until nothing changes.
  void analyze_all(const std::vector<Statement>& body);

  std::string_view text(std::size_t i) const;
  bool is_name(std::size_t i) const;
  bool is_member(std::size_t i) const;
  Variable* find(std::string_view name) const;

  // Whether tokens_[i], a '*', '&', '+' or '-', has an operand on its left.
  bool is_binary(std::size_t i, std::size_t begin) const;
  // Whether the ')' at tokens_[close] may end a cast, such as (int) and (T *).
  bool is_cast(std::size_t close, std::size_t begin) const;
  Dependence dependence(TokenSpan span) const;
  void add_dependence(std::string_view word, bool is_called, int depth, Dependence& out) const;
  // Whether tokens_[i] is the index of the thread along x: threadIdx.x, sw_i, which is the same for
  // one row of threads, or a variable of its value.
  // `end` becomes the token after it.
  bool is_index(std::size_t i, std::size_t& end) const;
  static bool is_whole_warps(std::string_view number);
  // Whether the use of the index in tokens_[begin, end) is the same for all lanes of a warp:
  // `i / 32`, `i >> 5`, `i < 64`, `i >= 64`, with no operator before it that binds closer.
  bool divides_index(std::size_t begin, std::size_t end, TokenSpan span) const;
  // Whether the expression has the same value for all lanes of a warp.
  bool is_same_in_warp(TokenSpan span) const;
  // Lanes wait for one another under a condition: it has to be the same for all of a warp.
  void require_whole_warps();
  void demote(Variable& variable);
  void set_changed(bool& flag, bool value);
  // Calls use(variable, is_pointee) for each variable that the tokens may modify.
  void for_each_modified(TokenSpan span, const std::function<void(Variable&)>& use) const;
  bool points(const Variable& variable) const;
  // Whether tokens_[i] is a parameter whose method or operator () is called and may modify it.
  bool is_modified_by_method(const Variable& variable, std::size_t i) const;
  // Whether the source defines a function of this name that is not const; `skipped` tokens are
  // between the name and the parameters.
  bool has_method(std::string_view name, std::size_t skipped) const;
  // Whether the source declares the type as a class: constructors, methods and conversions of its
  // objects may do anything.
  bool is_class(std::string_view type, int depth) const;
  // Notes the variables whose addresses the tokens may store for later parts: they are the same
  // elements of arrays in all parts. `declared` is the variable that the tokens initialise.
  void keep_addresses(TokenSpan span, const LocalVariable* declared);
  // Whether tokens_[i], a name of the variable, is used as an address, and the tokens that end it.
  bool gives_address(const Variable& variable, TokenSpan span, std::size_t i) const;
  bool may_store_address(TokenSpan span, std::size_t i, const LocalVariable* declared) const;
  bool is_array_member(std::string_view name) const;
  // Whether the function that tokens_[i] is an argument of cannot modify it.
  bool keeps_arguments(TokenSpan span, std::size_t i) const;
  void modify_in_part(TokenSpan span);
  void modify(TokenSpan span);
  // Whether a statement sets variables that are the same for all threads to values that are.
  bool sets_uniform(TokenSpan span) const;
  void analyze_list(const std::vector<Statement>& list);
  Variable& variable_of(const LocalVariable& declared);
  // Whether the declaration is more than a value of an expression's type.
  static bool is_reference(const LocalVariable& declared);
  // All variables that the tokens name may be modified by another name.
  void modify_names(TokenSpan span);
  void analyze_declaration(const Statement& statement, const Statement* loop);
  void analyze(const Statement& statement);
  bool is_uniform(TokenSpan condition) const;
  // Whether the tokens divide by what may be zero, where maybe no thread would execute them.
  bool may_divide_by_zero(TokenSpan span) const;
  // Whether an if is divided: its condition is evaluated once for all threads.
  bool divides(const Statement& statement) const;
  // Whether the threads of a row do each iteration of a loop together: all have the same counter,
  // and its body reads consecutive elements of memory.
  bool is_row_loop(const Statement& statement) const;
  bool is_row_statement(const Statement& statement, bool& reads_row) const;
  static bool has(std::span<const Statement> list,
                  const std::function<bool(const Statement&)>& holds);
  // Whether statements that a part of the threads of each row reach have such loops, and nothing
  // that is the same for all threads changes in them.
  bool has_row_loops(std::span<const Statement> list) const;
  void analyze_if(const Statement& statement);
  void analyze_loop(const Statement& statement);
  void analyze_strided(const Statement& statement, const StridedLoop& loop);

  // The addends of a sum; nothing for other expressions.
  std::optional<Sum> sum_at(TokenSpan span) const;
  // Whether the expression is zero for the first thread of a block, and not negative for others.
  bool starts_at_zero(TokenSpan span) const;
  // Whether the expression may differ between threads of a row, or reads memory.
  bool differs_in_row(TokenSpan span) const;
  // Whether the expression is an integer that grows by one from thread to thread of a row.
  bool counts_threads(TokenSpan span) const;
  // The limits that a condition consists of: `row < h && column < w`, or those of the negation of
  // `row >= h || column >= w`. Nothing for other conditions.
  std::optional<std::vector<RowLimit>> row_limits(TokenSpan condition, bool is_negated) const;
  std::optional<RowLimit> row_limit(TokenSpan term, bool is_negated) const;
  // Whether the tokens change variables of the thread only that no other part uses, and call
  // functions of values only.
  bool changes_locals(TokenSpan span) const;
  bool declares(TokenSpan span, std::string_view name) const;
  bool is_zero_product(TokenSpan span) const;
  bool is_zero_factor(TokenSpan span) const;
  bool is_positive(TokenSpan span) const;
  // Whether a sum does not wrap around below zero in a type that is not int.
  bool stays_positive(const std::vector<Addend>& addends) const;
  std::optional<StridedLoop> strided_loop(const Statement& statement) const;
  // Whether the statements use an array or a reference that each thread declared before.
  bool keeps_arrays(TokenSpan body) const;

  const std::vector<parse::Token>& tokens_;
  const parse::KernelSite& site_;
  const SplitContext& context_;
  std::set<std::string, std::less<>> template_names_;
  std::deque<Variable> variables_;  // in the order of their declarations
  std::vector<std::vector<Variable*>> scopes_;
  bool has_changed_ = false;
  int masks_ = 0, loops_ = 0;
  int split_warps_ = 0;  // conditions around that may differ between the lanes of a warp
  bool needs_warp_rows_ = false;
  // The statement of the body from which on some threads may have returned.
  std::size_t first_leave_ = static_cast<std::size_t>(-1);
  std::set<std::string, std::less<>> shared_names_;
  // The counter of the loop that is_row_loop() looks at, before the loop's names are known.
  mutable std::string_view row_counter_;
  const bool divides_strided_;
  std::set<const Statement*> undivided_;  // loops that were found not to be the same for all
};

}  // namespace spanwise::cpu_backend
