// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/warp_order.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "core/string_utils.hpp"

namespace spanwise::parse {
namespace {

// The names that a text declares volatile, and its words for `volatile`.
struct VolatileNames {
  std::set<std::string_view> words{"volatile", "__volatile__"};
  std::set<std::string_view> pointers, values;
  std::map<std::string_view, std::string_view> aliases;  // volatile int *v = s;
  // The array that a name stands for.
  std::string_view array(std::string_view name) const {
    const auto found = aliases.find(name);
    return found == aliases.end() ? name : found->second;
  }
  bool contains(std::string_view name) const {
    return pointers.contains(name) || values.contains(name);
  }
};

// Finds the stores of one text: a file, or the body of a macro.
class StoreFinder {
 public:
  StoreFinder(const std::vector<Token>& tokens, VolatileNames& names)
      : tokens_(tokens), names_(names) {}

  void read_names() {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      if (is_volatile(i)) read_declaration(i);
  }

  // Appends to `order`; `line` is the macro's, 0 for a file.
  void find(WarpOrder& order, int line) const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != Token::Kind::identifier) continue;
      const bool is_cast = is_volatile(i) && is_cast_at(i);
      const bool is_variable = names_.contains(tokens_[i].text) && !is_declared_at(i);
      const std::size_t end = is_cast ? end_of_cast(i) : is_variable ? end_of_place(i) : i;
      const bool is_store = (is_cast || is_variable) && end > i && stores(i, end);
      if (is_store && (!is_synchronized_after(end) || reads_itself(i, end)))
        order.lines.push_back(line != 0 ? line : tokens_[i].line);
      if (text(i + 1) == "[" && is_update_before_sync(i)) {
        order.lines.push_back(line != 0 ? line : tokens_[i].line);
        order.has_plain_stores |= !is_variable;
      }
    }
  }

 private:
  std::string_view text(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view{};
  }
  bool is_name(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Token::Kind::identifier;
  }
  bool is_volatile(std::size_t i) const {
    return names_.words.contains(text(i)) &&
           (i == 0 || !is_one_of(text(i - 1), {"asm", "__asm__", "__asm"}));
  }
  std::size_t begin_of_statement(std::size_t i) const {
    while (i > 0 && !is_one_of(text(i - 1), {";", "{", "}"}) &&
           tokens_[i - 1].kind != Token::Kind::directive)
      --i;
    return i;
  }

  // Adds the variables that the declaration with tokens_[i], a volatile, declares, if other threads
  // can see them: pointers, references, arrays, and what is not local.
  void read_declaration(std::size_t i) {
    bool is_shared = false, is_visible = false, is_pointer = false;
    for (std::size_t k = begin_of_statement(i); k < i; ++k) {
      is_shared |= is_one_of(text(k), {"__shared__", "__device__"});
      // A typedef, and an alias, stand for the word.
      if (text(k) == "typedef") return read_alias(i, ";");
      if (text(k) == "using" && is_name(k + 1)) names_.words.insert(text(k + 1));
    }
    for (std::size_t k = i + 1; k < tokens_.size(); ++k) {
      const std::string_view word = text(k), next = text(k + 1);
      is_shared |= is_one_of(word, {"__shared__", "__device__"});
      is_pointer |= word == "*";
      is_visible |= is_pointer || word == "&" || (next == "[" && text(k + 2) == "]");
      if (word == "<") k = skip_balanced(tokens_, k) - 1;
      if (is_name(k) && is_one_of(next, {"[", ";", "=", ",", ")"}) && (is_visible || is_shared))
        (is_pointer || next == "[" ? names_.pointers : names_.values).insert(word);
      if (is_name(k) && is_pointer && next == "=" && is_name(k + 2) && text(k + 3) == ";")
        names_.aliases.emplace(word, text(k + 2));
      if (is_one_of(word, {";", ")", "=", "{", "(", "}"})) break;
      if (word != ",") continue;
      // Another declarator, or another parameter.
      is_visible = is_pointer = false;
      if (next != "*" && !(is_name(k + 1) && is_one_of(text(k + 2), {"[", ";", "=", ","}))) break;
    }
  }
  void read_alias(std::size_t i, std::string_view end) {
    while (i + 1 < tokens_.size() && text(i + 1) != end) ++i;
    if (is_name(i)) names_.words.insert(text(i));
  }

  // Whether tokens_[i], a volatile, is in the type of a cast.
  bool is_cast_at(std::size_t i) const {
    std::size_t open = i;
    while (open > 0 && (is_name(open) || is_one_of(text(open), {"*", "::"}))) --open;
    if (text(open) == "<" && open > 0)
      return is_one_of(text(open - 1), {"static_cast", "reinterpret_cast", "const_cast"});
    if (text(open) != "(") return false;
    const std::size_t close = skip_balanced(tokens_, open);
    return close < tokens_.size() && text(close - 2) == "*" &&
           (is_name(close) || is_one_of(text(close), {"(", "&"}));
  }
  // The end of the expression that the cast, and what follows it, accesses.
  std::size_t end_of_cast(std::size_t i) const {
    while (i < tokens_.size() && !is_one_of(text(i), {")", ">"})) ++i;
    const bool is_named = text(i) == ">";
    ++i;
    if (text(i) == "&") ++i;
    std::size_t end = text(i) == "(" ? skip_balanced(tokens_, i) : end_of_place(i);
    if (!is_named && text(i) == "(") end = end_of_suffixes(end);
    while (text(end) == ")") end = end_of_suffixes(end + 1);
    return end_of_suffixes(end);
  }
  // The end of name[i].member.
  std::size_t end_of_place(std::size_t i) const { return end_of_suffixes(i + 1); }
  std::size_t end_of_suffixes(std::size_t i) const {
    for (;;) {
      if (text(i) == "[")
        i = skip_balanced(tokens_, i);
      else if ((text(i) == "." || text(i) == "->") && is_name(i + 1))
        i += 2;
      else
        return i;
    }
  }

  // Whether the place from tokens_[i] to `end` is stored to. A pointer's own value is set, not what
  // it points to, by `p = ...` without a '*' before it.
  bool stores(std::size_t i, std::size_t end) const {
    const bool is_variable = names_.contains(text(i));
    std::size_t before = i;
    // *(p + 1) = ...
    while (before > 0 && text(before - 1) == "(" && is_variable) {
      --before;
      if (before == 0 || text(before - 1) != "*") continue;
      const std::size_t close = skip_balanced(tokens_, before);
      if (is_assigned(close)) return true;
    }
    const bool is_pointer = names_.pointers.contains(text(i));
    if (is_pointer && end == i + 1 && (i == 0 || text(i - 1) != "*")) return false;
    if (is_assigned(end)) return true;
    while (before > 0 && is_one_of(text(before - 1), {"*", "("})) --before;
    return before > 1 && is_one_of(text(before - 1), {"+", "-"}) &&
           text(before - 1) == text(before - 2);
  }
  bool is_assigned(std::size_t i) const {
    const std::string_view first = text(i), second = text(i + 1);
    if (first == "=") return second != "=";
    if (is_one_of(first, {"<", ">"})) return second == first && text(i + 2) == "=";
    if (is_one_of(first, {"+", "-"}) && second == first) return true;
    return is_one_of(first, {"+", "-", "*", "/", "%", "&", "|", "^"}) && second == "=";
  }
  bool is_declared_at(std::size_t i) const {
    const std::size_t begin = begin_of_statement(i);
    for (std::size_t k = i; k-- > begin;) {
      if (is_volatile(k)) return true;
      if (is_one_of(text(k), {"=", "(", "["})) return false;
    }
    return false;
  }

  std::size_t end_of_statement(std::size_t i) const {
    while (i < tokens_.size() && !is_one_of(text(i), {";", "{", "}"})) ++i;
    return i;
  }
  // Whether the statement after that of tokens_[i] synchronizes.
  bool is_synchronized_after(std::size_t i) const {
    i = end_of_statement(i);
    while (is_one_of(text(i), {";", "}"})) ++i;
    return is_sync(i);
  }
  bool is_sync(std::size_t i) const {
    for (; i < tokens_.size() && !is_one_of(text(i), {"(", ";", "=", "{"}); ++i)
      if (is_name(i) && text(i).find("sync") != std::string_view::npos) return true;
    return false;
  }
  // Whether the statement reads, after `end`, another element of the array tokens_[i].
  bool reads_itself(std::size_t i, std::size_t end) const {
    const bool is_compound = text(end) != "=";
    const std::size_t stop = end_of_statement(end);
    for (std::size_t k = end; k < stop; ++k)
      if (names_.array(text(k)) == names_.array(text(i)) && text(k + 1) == "[")
        return is_compound || !same_element(i, k);
    return false;
  }
  int number(std::size_t i) const { return parse_number<int>(text(i)).value_or(0); }
  bool same_element(std::size_t a, std::size_t b) const {
    const std::size_t end = skip_balanced(tokens_, a + 1);
    for (; a < end; ++a, ++b)
      if (text(a) != text(b)) return false;
    return true;
  }
  // `s[t] += s[t + 16]; __syncwarp();`, but for `if (t < 16) s[t] += ...`, whose lanes read what no
  // lane writes. In `if (t < 32) s[t] += s[t + 16]` they do, also before a __syncthreads().
  bool is_update_before_sync(std::size_t i) const {
    const std::size_t end = end_of_place(i);
    if (!is_assigned(end) || !reads_itself(i, end)) return false;
    const std::size_t begin = begin_of_statement(i), next = end_of_statement(end) + 1;
    bool is_bounded = false;
    int bound = 0, distance = 0;
    for (std::size_t k = begin; k < i; ++k) {
      if (text(begin) != "if" || text(k) != "<") continue;
      is_bounded = true;
      if (text(k + 2) == ")") bound = text(k + 1) == "warpSize" ? 32 : number(k + 1);
    }
    for (std::size_t k = end; k + 2 < next; ++k)
      if (text(k) == "+" && text(k + 2) == "]") distance = number(k + 1);
    if (text(next - 1) != ";" || text(next) == "}") return false;
    if (is_bounded) return distance > 0 && bound > distance && bound <= 32 && is_sync(next);
    return is_sync(next) && text(next).find("__syncthreads") == std::string_view::npos;
  }

  const std::vector<Token>& tokens_;
  VolatileNames& names_;
};

}  // namespace

WarpOrder find_warp_order(const std::vector<Token>& tokens) {
  // The macros' bodies, with the lines of their definitions.
  std::vector<std::pair<int, std::vector<Token>>> macros;
  VolatileNames names;
  for (const Token& token : tokens) {
    if (token.kind != Token::Kind::directive) continue;
    std::vector<Token> words = lex(token.text.substr(1));
    if (words.size() < 3 || words[0].text != "define") continue;
    const bool is_alias = words.size() == 3 && names.words.contains(words[2].text);
    if (is_alias) names.words.insert(words[1].text);
    words.erase(words.begin(), words.begin() + 2);
    macros.emplace_back(token.line, std::move(words));
  }
  const StoreFinder file(tokens, names);
  StoreFinder(tokens, names).read_names();
  for (const auto& [line, words] : macros) StoreFinder(words, names).read_names();
  WarpOrder order;
  file.find(order, 0);
  for (const auto& [line, words] : macros) StoreFinder(words, names).find(order, line);
  std::ranges::sort(order.lines);
  order.lines.erase(std::unique(order.lines.begin(), order.lines.end()), order.lines.end());
  return order;
}

}  // namespace spanwise::parse
