// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/block_statements.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/string_utils.hpp"

namespace spanwise::cpu_backend {
namespace {

using parse::Token;
using Kind = Statement::Kind;

constexpr std::string_view type_words =
    "unsigned signed int long short char float double bool void size_t int8_t int16_t int32_t "
    "int64_t uint8_t uint16_t uint32_t uint64_t uint ushort uchar ulong";

class StatementReader {
 public:
  explicit StatementReader(const std::vector<Token>& tokens) : tokens_(tokens) {}

  std::vector<Statement> list(std::size_t i, std::size_t end) const {
    std::vector<Statement> out;
    while (i < end) {
      if (tokens_[i].kind == Token::Kind::directive) {
        // #pragma unroll and the like choose no values.
        if (tokens_[i].text.find("pragma") == std::string_view::npos) throw NotUnderstood();
        ++i;
        continue;
      }
      out.push_back(statement(i, end));
      i = out.back().all.end;
    }
    return out;
  }

 private:
  std::string_view text(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view{};
  }
  bool is_name(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Token::Kind::identifier;
  }

  std::span<const Token> tokens_of(TokenSpan span) const {
    return std::span(tokens_).subspan(span.begin, span.end - span.begin);
  }

  Statement statement(std::size_t i, std::size_t end) const {
    while (i < end && tokens_[i].kind == Token::Kind::directive &&
           tokens_[i].text.find("pragma") != std::string_view::npos)
      ++i;
    const std::string_view word = text(i);
    if (word == "{") return block(i);
    if (word == "if") return conditional(i, end);
    if (word == "for") return for_loop(i, end);
    if (word == "while") return while_loop(i, end);
    if (word == "do") return do_loop(i, end);
    Statement out;
    out.all = {i, word == "switch" ? end_of_switch(i) : end_of_simple(i, end)};
    if (word == ";") out.kind = Kind::empty;
    if (is_one_of(word, {"goto", "try", "asm", "__asm__", "__asm", "static", "volatile", "throw",
                         "case", "default", "else", "co_await"}) ||
        (is_name(i) && text(i + 1) == ":"))
      throw NotUnderstood();
    if (is_one_of(word, {"typedef", "using", "static_assert", "SW_FUNCTION_SHARED"}))
      out.kind = Kind::verbatim;
    if (word == "return") {
      if (text(i + 1) != ";") throw NotUnderstood();
      out.kind = Kind::leave;
    }
    if (is_one_of(word, {"break", "continue"})) {
      out.kind = Kind::jump;
      out.jumps = true;
    }
    examine(out);
    if (out.kind == Kind::plain && word != "switch") classify(out);
    // `continue` in it would end a part of a divided loop's body only.
    const auto is_continue = [](const Token& token) { return token.text == "continue"; };
    if (word == "switch" && (out.splits || std::ranges::any_of(tokens_of(out.all), is_continue)))
      throw NotUnderstood();
    return out;
  }

  // Sets splits and returns by the tokens, and refuses what no statement may have.
  void examine(Statement& out) const {
    for (std::size_t i = out.all.begin; i < out.all.end; ++i) {
      const std::string_view word = text(i), next = text(i + 1);
      out.splits |= waiting_call(word) != WaitingCall::none;
      out.returns |= word == "return";
      if (tokens_[i].kind == Token::Kind::directive || word == "goto" || word == "volatile" ||
          word == "asm" || word == "__asm__")
        throw NotUnderstood();
      // A lambda expression.
      if (word == "[" && (next == "]" || next == "=" || next == "&") && i > out.all.begin &&
          is_one_of(text(i - 1), {"=", "(", ",", "return", "{"}))
        throw NotUnderstood();
    }
  }

  void classify(Statement& out) const {
    for (std::size_t i = out.all.begin; i < out.all.end; ++i)
      if (text(i) == "__shared__") {
        out.kind = Kind::shared;
        return;
      }
    const WaitingCall call = waiting_call(text(out.all.begin));
    if (call == WaitingCall::barrier || call == WaitingCall::warp_barrier) {
      if (parse::skip_balanced(tokens_, out.all.begin + 1) + 1 != out.all.end)
        throw NotUnderstood();
      out.kind = Kind::barrier;
    } else {
      read_declaration(out);
    }
  }

  std::size_t end_of_simple(std::size_t i, std::size_t end) const {
    while (i < end && text(i) != ";") {
      if (text(i) == "}") throw NotUnderstood();
      const bool opens = is_one_of(text(i), {"(", "[", "{"});
      i = opens ? parse::skip_balanced(tokens_, i) : i + 1;
    }
    if (i >= end) throw NotUnderstood();
    return i + 1;
  }
  std::size_t end_of_switch(std::size_t i) const {
    return parse::skip_balanced(tokens_, parse::skip_balanced(tokens_, i + 1));
  }

  static void adopt(Statement& out, const std::vector<Statement>& parts, bool is_loop) {
    out.loops |= is_loop;
    for (const Statement& part : parts) {
      out.splits |= part.splits && !(is_loop && part.jumps && !part_waits(part));
      out.returns |= part.returns;
      out.strides |= part.strides;
      out.loops |= part.loops;
      if (!is_loop) out.jumps |= part.jumps;
    }
    if (!is_loop) out.splits |= out.jumps;
  }
  // Whether something waits in `part`, which also has a jump.
  static bool part_waits(const Statement& part) {
    if (part.kind == Kind::jump) return false;
    if (part.body.empty() && part.otherwise.empty()) return part.splits;
    const auto waits = [](const Statement& each) { return part_waits(each); };
    return std::ranges::any_of(part.body, waits) || std::ranges::any_of(part.otherwise, waits);
  }

  Statement block(std::size_t i) const {
    Statement out{.kind = Kind::block, .all = {i, parse::skip_balanced(tokens_, i)}};
    out.body = list(i + 1, out.all.end - 1);
    adopt(out, out.body, false);
    return out;
  }
  // A statement as a list, without the braces of a block.
  std::vector<Statement> branch(std::size_t i, std::size_t end, std::size_t& after) const {
    Statement one = statement(i, end);
    after = one.all.end;
    if (one.kind == Kind::block) return std::move(one.body);
    std::vector<Statement> out;
    out.push_back(std::move(one));
    return out;
  }
  // The condition in parentheses at tokens_[i].
  TokenSpan head(std::size_t i) const {
    if (text(i) != "(") throw NotUnderstood();
    return {i + 1, parse::skip_balanced(tokens_, i) - 1};
  }
  void examine_head(Statement& out, TokenSpan part) const {
    Statement condition;
    condition.all = part;
    examine(condition);
    out.splits |= condition.splits;
  }

  Statement conditional(std::size_t i, std::size_t end) const {
    Statement out{.kind = Kind::if_, .all = {i, end}};
    if (text(i + 1) == "constexpr") ++i;
    out.condition = head(i + 1);
    std::size_t after = 0;
    out.body = branch(out.condition.end + 1, end, after);
    if (text(after) == "else" && after < end) out.otherwise = branch(after + 1, end, after);
    out.all.end = after;
    adopt(out, out.body, false);
    adopt(out, out.otherwise, false);
    examine_head(out, out.condition);
    return out;
  }
  Statement for_loop(std::size_t i, std::size_t end) const {
    Statement out{.kind = Kind::for_, .all = {i, end}};
    const TokenSpan whole = head(i + 1);
    const std::size_t first = end_of_simple(whole.begin, whole.end);
    const std::size_t second = end_of_simple(first, whole.end);
    out.init = list(whole.begin, first);
    out.condition = {first, second - 1};
    out.step = {second, whole.end};
    out.body = branch(whole.end + 1, end, out.all.end);
    adopt(out, out.init, true);
    adopt(out, out.body, true);
    examine_head(out, out.condition);
    examine_head(out, out.step);
    out.strides |= out.init.size() == 1 && out.init[0].variables.size() == 1 &&
                   text(out.step.begin + 1) == "+" && text(out.step.begin + 2) == "=" &&
                   text(out.step.begin) == out.init[0].variables[0].name;
    return out;
  }
  Statement while_loop(std::size_t i, std::size_t end) const {
    Statement out{.kind = Kind::while_, .all = {i, end}};
    out.condition = head(i + 1);
    out.body = branch(out.condition.end + 1, end, out.all.end);
    adopt(out, out.body, true);
    examine_head(out, out.condition);
    return out;
  }
  Statement do_loop(std::size_t i, std::size_t end) const {
    Statement out{.kind = Kind::do_, .all = {i, end}};
    std::size_t after = 0;
    out.body = branch(i + 1, end, after);
    if (text(after) != "while") throw NotUnderstood();
    out.condition = head(after + 1);
    out.all.end = out.condition.end + 2;
    adopt(out, out.body, true);
    examine_head(out, out.condition);
    return out;
  }

  // The text of tokens [begin, end), with blanks.
  std::string joined_text(std::size_t begin, std::size_t end) const {
    std::string out;
    for (std::size_t i = begin; i < end; ++i) out.append(text(i)).append(" ");
    return out;
  }

  // The end of a type without '*' and '&' that begins at i; i if there is none.
  std::size_t end_of_type(std::size_t i) const {
    const std::size_t begin = i;
    bool has_word = false;
    for (;; ++i) {
      const std::string_view word = text(i);
      if (is_one_of(word, {"const", "constexpr", "register"})) continue;
      if (is_word_of(word, type_words)) {
        has_word = true;
        continue;
      }
      if (has_word || !is_name(i) || is_one_of(word, {"return", "delete", "new", "sizeof"})) break;
      if (is_one_of(word, {"struct", "typename", "enum", "union"})) ++i;
      while (is_name(i) && text(i + 1) == "::") i += 2;
      if (text(i + 1) == "<") i = parse::skip_balanced(tokens_, i + 1) - 1;
      while (text(i + 1) == "::") i += 2;
      has_word = true;
    }
    return has_word ? i : begin;
  }

  void read_declaration(Statement& out) const {
    const std::size_t begin = out.all.begin, end = out.all.end - 1;
    const std::size_t type_end = end_of_type(begin);
    if (type_end == begin || type_end >= end) return;
    // A pointer to an array or a function.
    if (is_word_of(text(begin), type_words) && text(type_end) == "(" &&
        is_one_of(text(type_end + 1), {"*", "&"}))
      throw NotUnderstood();
    if (!is_one_of(text(type_end), {"*", "&"}) && !is_name(type_end)) return;
    std::vector<LocalVariable> variables;
    for (std::size_t i = type_end; i < end; ++i) {
      LocalVariable variable;
      std::string pointers;
      variable.whole.begin = i;
      for (; is_one_of(text(i), {"*", "&", "const", "__restrict__", "__restrict"}); ++i) {
        variable.is_pointer |= text(i) == "*";
        variable.is_reference |= text(i) == "&";
        variable.is_fixed |= text(i) == "&";
        if (text(i) == "*") pointers += "*";
      }
      if (!is_name(i)) return refuse_unless_first(variables);
      variable.name = text(i++);
      const std::size_t extents = i;
      while (text(i) == "[") i = parse::skip_balanced(tokens_, i);
      variable.extents = joined_text(extents, i);
      if (!is_one_of(text(i), {"=", ",", ";", "(", "{"}) || is_assignment_of_two(i))
        return refuse_unless_first(variables);
      const std::size_t init = i;
      while (i < end && text(i) != ",")
        i = is_one_of(text(i), {"(", "[", "{"}) ? parse::skip_balanced(tokens_, i) : i + 1;
      variable.is_fixed |= is_one_of(text(init), {"(", "{"});
      if (init < i) variable.init = {init + (text(init) == "=" ? 1 : 0), i};
      variable.whole.end = i;
      variable.base = joined_text(begin, type_end);
      for (std::size_t k = begin; k < type_end; ++k) {
        variable.is_fixed |= text(k) == "auto";
        if (is_one_of(text(k), {"register", "constexpr"})) continue;
        if (text(k) == "const" && !variable.is_pointer) continue;
        variable.type.append(text(k)).append(" ");
      }
      variable.type += pointers;
      variables.push_back(std::move(variable));
    }
    if (variables.empty()) return;
    out.kind = Kind::declaration;
    out.variables = std::move(variables);
  }
  bool is_assignment_of_two(std::size_t i) const { return text(i) == "=" && text(i + 1) == "="; }
  // A statement whose beginning looks like a declaration is an expression, such as `a * b(c);`.
  static void refuse_unless_first(const std::vector<LocalVariable>& variables) {
    if (!variables.empty()) throw NotUnderstood();
  }

  const std::vector<Token>& tokens_;
};

}  // namespace

WaitingCall waiting_call(std::string_view name) {
  if (!name.starts_with("__")) return WaitingCall::none;
  if (name == "__syncthreads") return WaitingCall::barrier;
  if (name == "__syncwarp") return WaitingCall::warp_barrier;
  if (is_word_of(name, "__syncthreads_count __syncthreads_and __syncthreads_or"))
    return WaitingCall::block_vote;
  if (is_word_of(name,
                 "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __shfl __shfl_up "
                 "__shfl_down __shfl_xor"))
    return WaitingCall::shuffle;
  if (is_word_of(name, "__ballot_sync __all_sync __any_sync __ballot __all __any"))
    return WaitingCall::warp_vote;
  return WaitingCall::none;
}

bool is_builtin_type(std::string_view type) {
  return std::ranges::all_of(parse::lex(type), [](const Token& token) {
    return token.text == "const" || is_word_of(token.text, type_words);
  });
}

bool is_assignment(const std::vector<Token>& tokens, std::size_t i) {
  const auto text = [&](std::size_t k) {
    return k < tokens.size() ? tokens[k].text : std::string_view{};
  };
  const std::string_view first = text(i), second = text(i + 1);
  if (first == "=") return second != "=";
  if (is_one_of(first, {"<", ">"})) return second == first && text(i + 2) == "=";
  if (is_one_of(first, {"+", "-"}) && second == first) return true;
  return is_one_of(first, {"+", "-", "*", "/", "%", "&", "|", "^"}) && second == "=" &&
         tokens[i].offset + 1 == tokens[i + 1].offset;
}

std::vector<Statement> read_statements(const std::vector<Token>& tokens, std::size_t begin,
                                       std::size_t end) {
  return StatementReader(tokens).list(begin, end);
}

}  // namespace spanwise::cpu_backend
