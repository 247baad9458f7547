// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace spanwise::ops::user_kernels {
namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Longest first.
constexpr std::array<std::string_view, 24> signs{"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                                 "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                                 "*=",  "/=",  "%=",  "&=", "|=", "^=", "::", "##"};

std::size_t end_of_literal(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t end = at + 1; end < text.size(); ++end) {
    if (text[end] == '\\')
      ++end;
    else if (text[end] == quote)
      return end + 1;
  }
  return text.size();
}

std::size_t end_of_comment(std::string_view text, std::size_t at) {
  const bool is_line = text[at + 1] == '/';
  const std::size_t end = is_line ? text.find('\n', at) : text.find("*/", at + 2);
  if (end == std::string_view::npos) return text.size();
  return is_line ? end : end + 2;
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '"' || c == '\'') return end_of_literal(text, at);
  if (in_name(c)) {
    // Numbers too: 1.5e-3f is "1", ".", "5e", ... and none of that is a name.
    return static_cast<std::size_t>(
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), in_name) -
        text.begin());
  }
  for (const std::string_view sign : signs)
    if (text.substr(at).starts_with(sign)) return at + sign.size();
  return at + 1;
}

bool is_assignment(std::string_view sign) {
  if (sign == "++" || sign == "--") return true;
  return sign.ends_with('=') && sign != "==" && sign != "!=" && sign != "<=" && sign != ">=";
}

// The place of the bracket that closes the one at `open`, or the end.
std::size_t closing(const std::vector<Word>& words, std::size_t open) {
  int depth = 0;
  for (std::size_t k = open; k < words.size(); ++k) {
    if (words[k].text == "[") ++depth;
    if (words[k].text == "]" && --depth == 0) return k;
  }
  return words.size();
}

std::string_view text_at(const std::vector<Word>& words, std::size_t k) {
  return k < words.size() ? words[k].text : std::string_view();
}

// Of another object: a.x, p->x, space::x.
bool is_member(const std::vector<Word>& words, std::size_t k) {
  if (k == 0) return false;
  const std::string_view before = words[k - 1].text;
  return before == "." || before == "->" || before == "::";
}

bool is_own_element(const std::vector<Word>& words, std::size_t k) {
  return text_at(words, k + 1) == "[" && text_at(words, k + 2) == "i" &&
         text_at(words, k + 3) == "]";
}

}  // namespace

std::vector<Word> words_in(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0 || text[at] == '\\') {
      ++at;
    } else if (text.substr(at).starts_with("//") || text.substr(at).starts_with("/*")) {
      at = end_of_comment(text, at);
    } else {
      const std::size_t end = end_of_word(text, at);
      words.push_back({text.substr(at, end - at), starts_name(text[at])});
      at = end;
    }
  }
  return words;
}

bool has_word(std::string_view text, std::string_view name) {
  const std::vector<Word> words = words_in(text);
  return std::any_of(words.begin(), words.end(),
                     [&](const Word& word) { return word.text == name; });
}

ArrayUses uses_of(std::string_view text, std::string_view array) {
  const std::vector<Word> words = words_in(text);
  ArrayUses uses;
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (words[k].text != array || is_member(words, k)) continue;
    if (text_at(words, k + 1) != "[") {
      uses.whole = uses.may_write = true;
      continue;
    }
    (is_own_element(words, k) ? uses.of_element : uses.of_others) = true;
    const std::string_view before = k > 0 ? words[k - 1].text : std::string_view();
    const std::string_view after = text_at(words, closing(words, k + 1) + 1);
    // A member may be assigned to, or be a function that changes the element; and what takes an
    // element by reference looks like any call.
    const bool is_handed_on = before == "(" || before == "," || after == "." || after == "->";
    uses.may_write |=
        is_assignment(after) || before == "&" || before == "++" || before == "--" ||
        (is_handed_on && (after == ")" || after == "," || after == "." || after == "->"));
  }
  return uses;
}

bool declares_index(std::string_view text) {
  const std::vector<Word> words = words_in(text);
  for (std::size_t k = 1; k < words.size(); ++k) {
    if (words[k].text != "i") continue;
    const Word& before = words[k - 1];
    const bool is_type =
        before.is_name && before.text != "return" && before.text != "else" && before.text != "case";
    if (is_type || (before.text == "&" && k > 1 && words[k - 2].text == "auto")) return true;
  }
  return false;
}

std::string with_elements_named(std::string_view text, const std::vector<std::string>& arrays) {
  const std::vector<Word> words = words_in(text);
  std::string out;
  std::size_t done = 0;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const Word& word = words[k];
    if (!word.is_name || is_member(words, k) || !is_own_element(words, k)) continue;
    if (std::find(arrays.begin(), arrays.end(), word.text) == arrays.end()) continue;
    const auto begin = static_cast<std::size_t>(word.text.data() - text.data());
    const auto end = static_cast<std::size_t>(words[k + 3].text.data() - text.data()) + 1;
    out.append(text.substr(done, begin - done)).append("(*sw_at_").append(word.text).append(")");
    const std::string_view replaced = text.substr(begin, end - begin);
    out.append(static_cast<std::size_t>(std::count(replaced.begin(), replaced.end(), '\n')), '\n');
    done = end;
    k += 3;
  }
  return out.append(text.substr(done));
}

bool is_identifier(std::string_view text) {
  return !text.empty() && starts_name(text[0]) && std::all_of(text.begin(), text.end(), in_name);
}

}  // namespace spanwise::ops::user_kernels
