// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/device_code.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/string_utils.hpp"
#include "parse/kernel_source.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::parse {
namespace {

namespace fs = std::filesystem;

// Determines kind and names of one declaration. An object serves one call of is_function() or
// read().
class DeclarationReader {
 public:
  DeclarationReader(std::span<const Token> tokens, std::size_t begin, std::size_t end)
      : tokens_(tokens), begin_(begin), end_(end) {}

  // Whether the '{' at `end` begins the body of a function.
  bool is_function() {
    read_head();
    const std::string_view last = last_word_;
    if (has_equals_ || !has_parentheses_) return false;
    return !is_type_ || is_one_of(last, {")", "const", "noexcept", "override", "&"});
  }

  Declaration read(bool has_function_body) {
    read_head();
    Declaration result;
    result.begin = begin_;
    result.end = end_;
    result.head_end = head_end_;
    if (is_operator_ && has_function_body) result.kind = Declaration::Kind::function;
    if (is_operator_ || declares_no_name_) return result;
    result.names = std::move(function_names_);
    if (has_function_body) {
      result.kind = Declaration::Kind::function;
    } else if (is_type_ && !has_parentheses_) {
      result.kind = Declaration::Kind::type;
      result.names.insert(result.names.end(), type_names_.begin(), type_names_.end());
      read_declarators(result.names);
    } else if (name_count_ < 2 && !is_typedef_) {
      result.names.clear();  // the names that "MACRO(arguments);" and "MACRO;" declare are unknown
    } else if (has_parentheses_ && !has_equals_ && !is_typedef_) {
      result.kind = Declaration::Kind::prototype;
    } else {
      result.kind = Declaration::Kind::variable;
      read_declarators(result.names);
    }
    return result;
  }

 private:
  std::string_view text_at(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view{};
  }
  bool is_name(std::size_t i) const { return tokens_[i].kind == Token::Kind::identifier; }

  // Reads up to a '{', a '=' or the end.
  void read_head() {
    std::size_t i = begin_;
    while (i < end_ && !ends_head(i)) i = read_token(i);
    head_end_ = i;
  }

  // Whether token i begins a body, member initialisers or an initialiser.
  bool ends_head(std::size_t i) {
    const std::string_view text = text_at(i);
    if (text == "=" && !is_operator_) has_equals_ = true;
    return has_equals_ || text == "{" || (text == ":" && has_parentheses_);
  }

  // Whether token i begins template parameters or an attribute, which may contain names that the
  // declaration does not declare. `open` becomes the index of their bracket.
  bool begins_ignored_part(std::size_t i, std::size_t& open) const {
    open = text_at(i) == "[" ? i : i + 1;
    return (text_at(i) == "template" && text_at(open) == "<") ||
           (is_attribute_word(text_at(i)) && text_at(open) == "(") ||
           (text_at(i) == "[" && text_at(i + 1) == "[");
  }

  // Reads token i, with the brackets that it begins; returns the index after it.
  std::size_t read_token(std::size_t i) {
    const std::string_view text = text_at(i);
    if (tokens_[i].kind == Token::Kind::directive) return i + 1;
    last_word_ = text;
    if (std::size_t open = 0; begins_ignored_part(i, open)) return skip_balanced(tokens_, open);
    if (text == "(") return read_parentheses(i);
    const bool names_operator = i > begin_ && text_at(i - 1) == "operator";
    if (text == "<" && !names_operator && (is_type_ || (i > begin_ && is_name(i - 1)))) {
      const std::size_t end = skip_balanced(tokens_, i);
      if (text_at(end) == "(") function_names_.push_back(text_at(i - 1));  // name<float>(...)
      return end;
    }
    if (text == ":") is_in_bases_ = true;
    if (is_name(i)) read_word(text, text_at(i + 1));
    return i + 1;
  }

  void read_word(std::string_view word, std::string_view next) {
    if (is_one_of(word, {"struct", "class", "union", "enum"})) {
      is_type_ = true;
      is_enum_ |= word == "enum";
    } else if (word == "operator") {
      is_operator_ = true;
    } else if (word == "typedef") {
      is_typedef_ = true;
    } else {
      ++name_count_;
      if (is_one_of(word, {"using", "namespace", "static_assert"}))
        declares_no_name_ = word != "using" || next == "namespace";
      else if (is_type_ && !is_in_bases_)
        type_names_.push_back(word);
    }
  }

  std::size_t read_parentheses(std::size_t open) {
    has_parentheses_ = true;
    last_word_ = ")";
    if (open > begin_ && is_name(open - 1)) function_names_.push_back(text_at(open - 1));
    const std::size_t end = std::min(skip_balanced(tokens_, open), end_);
    // A pointer to a function, or the name of a typedef in parentheses.
    if (text_at(open + 1) == "*" || is_typedef_)
      for (std::size_t i = open; i < end; ++i)
        if (is_name(i)) function_names_.push_back(text_at(i));
    return end;
  }

  // Adds the names, outside of braces and parentheses, whose next token ends a declarator or begins
  // its extents or initialiser; of an enum, all names in its braces.
  void read_declarators(std::vector<std::string_view>& names) {
    for (std::size_t i = begin_; i < end_; ++i) {
      if (text_at(i) == "{") {
        const std::size_t end = std::min(skip_balanced(tokens_, i), end_);
        for (std::size_t k = i; is_enum_ && k < end; ++k)
          if (is_name(k)) names.push_back(text_at(k));
        i = end - 1;
      } else if (text_at(i) == "(") {
        i = skip_balanced(tokens_, i) - 1;
      } else if (is_name(i) && is_one_of(text_at(i + 1), {";", ",", "=", "[", "{", ":", "("})) {
        names.push_back(text_at(i));
      }
    }
  }

  std::span<const Token> tokens_;
  std::size_t begin_, end_, head_end_ = 0;
  bool has_equals_ = false, has_parentheses_ = false, is_type_ = false, is_enum_ = false,
       is_operator_ = false, is_typedef_ = false, is_in_bases_ = false, declares_no_name_ = false;
  int name_count_ = 0;          // identifiers of the head, without the keywords of read_word()
  std::string_view last_word_;  // of the head
  std::vector<std::string_view> function_names_, type_names_;
};

constexpr std::size_t none = static_cast<std::size_t>(-1);

// Implements split_declarations() in one pass over the tokens.
class Splitter {
 public:
  explicit Splitter(std::span<const Token> tokens) : tokens_(tokens) {}

  std::vector<Declaration> run() {
    for (index_ = 0; index_ < tokens_.size(); ++index_) step();
    return std::move(declarations_);
  }

 private:
  struct State {
    std::size_t begin = none;  // of the current declaration
    int braces = 0, parentheses = 0;
    bool is_function = false;  // the braces are a body, which ends the declaration
    int namespaces = 0;
  };

  std::string_view text_at(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view{};
  }

  void step() {
    const std::string_view text = text_at(index_);
    if (tokens_[index_].kind == Token::Kind::directive) return read_directive(text);
    const bool is_outside = state_.braces == 0 && state_.parentheses == 0;
    if (is_outside && text == "}") {  // of a namespace
      state_.namespaces -= state_.namespaces > 0 ? 1 : 0;
      state_.begin = none;
      return;
    }
    if (state_.begin == none) {
      if (text == ";") return;
      if (text_at(index_ + 1) == ":" && is_one_of(text, {"public", "private", "protected"})) {
        ++index_;
        return;
      }
      state_.begin = index_;
    }
    if (is_outside && is_one_of(text, {"namespace", "template", "using", "typedef"}))
      end_lone_macro();
    if (is_outside && text == "template" && text_at(index_ + 1) == "<") {
      index_ = skip_balanced(tokens_, index_ + 1) - 1;
    } else if (state_.braces == 0 && text == "(") {
      ++state_.parentheses;
    } else if (state_.braces == 0 && text == ")") {
      state_.parentheses -= state_.parentheses > 0 ? 1 : 0;
      if (ends_macro_use()) finish();
    } else if (state_.parentheses > 0) {
      return;
    } else if (text == "{") {
      open_brace();
    } else if (text == "}") {
      const bool is_continued = text_at(index_ + 1) == "," || text_at(index_ + 1) == "{" ||
                                text_at(index_ + 1) == "catch";
      if (--state_.braces == 0 && state_.is_function && !is_continued) finish();
    } else if (text == ";" && state_.braces == 0) {
      finish();
    }
  }

  // Ends the declaration before index_ if it is macros in lines of their own: BEGIN_NAMESPACE.
  void end_lone_macro() {
    if (state_.begin == none || state_.begin == index_) return;
    for (std::size_t i = state_.begin; i < index_; ++i)
      if (tokens_[i].kind != Token::Kind::identifier || tokens_[i].line == tokens_[i + 1].line ||
          is_one_of(tokens_[i].text, {"inline", "extern", "friend", "static", "using"}))
        return;
    --index_;
    finish();
    state_.begin = ++index_;
  }

  // Whether the ')' at index_ ends a line MACRO(arguments), without a ';', that is a declaration.
  bool ends_macro_use() const {
    if (state_.parentheses > 0 || text_at(state_.begin + 1) != "(" ||
        is_attribute_word(text_at(state_.begin)) ||
        skip_balanced(tokens_, state_.begin + 1) != index_ + 1)
      return false;
    if (index_ + 1 == tokens_.size()) return true;
    const Token& next = tokens_[index_ + 1];
    return next.line > tokens_[index_].line &&
           (next.kind == Token::Kind::directive || next.kind == Token::Kind::identifier ||
            next.text == "}") &&
           !is_attribute_word(next.text) &&
           !is_one_of(next.text, {"const", "override", "final", "try", "throw", "requires"});
  }

  void open_brace() {
    if (state_.braces++ > 0) return;
    std::size_t first = state_.begin;
    if (text_at(first) == "inline") ++first;
    const bool is_linkage = text_at(first) == "extern" && first + 2 == index_ &&
                            tokens_[first + 1].kind == Token::Kind::string;
    if (text_at(first) == "namespace" || is_linkage) {
      state_.braces = 0;
      ++state_.namespaces;
      state_.begin = none;
      return;
    }
    state_.is_function = DeclarationReader(tokens_, state_.begin, index_).is_function();
  }

  void finish() {
    declarations_.push_back(
        DeclarationReader(tokens_, state_.begin, index_ + 1).read(state_.is_function));
    state_.begin = none;
    state_.is_function = false;
  }

  void read_directive(std::string_view text) {
    const std::vector<Token> parts = lex(text.substr(1));
    const std::string_view word = parts.empty() ? std::string_view{} : parts[0].text;
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      conditionals_.push_back(state_);
      if (is_if_zero(parts)) index_ = end_of_branch(tokens_, index_);
    } else if ((word == "else" || word.starts_with("elif")) && !conditionals_.empty()) {
      next_branch(conditionals_.back());
    } else if (word == "endif" && !conditionals_.empty()) {
      conditionals_.pop_back();
    } else if (word == "include" && state_.braces == 0 && state_.parentheses == 0) {
      end_lone_macro();
      if (state_.begin == index_) state_.begin = none;
    }
  }

  // Returns to the state at the #if. Declarations that a branch divides become one.
  void next_branch(const State& before) {
    const std::size_t begin = std::min(state_.begin, before.begin);
    while (!declarations_.empty() && before.begin != none &&
           declarations_.back().begin >= before.begin)
      declarations_.pop_back();
    state_ = before;
    state_.begin = begin;
  }

  std::span<const Token> tokens_;
  std::vector<Declaration> declarations_;
  std::size_t index_ = 0;
  State state_;
  std::vector<State> conditionals_;
};

}  // namespace

std::vector<Declaration> split_declarations(std::span<const Token> tokens) {
  return Splitter(tokens).run();
}

namespace {

// Appends to `out` the member functions of the class that is token range [begin, end), and those of
// its own classes. `owner` is the index of the declaration at namespace scope.
void append_members(std::span<const Token> tokens, std::size_t begin, std::size_t end,
                    std::size_t owner, std::vector<Declaration>& out) {
  while (begin < end && tokens[begin].text != "{") ++begin;
  const std::size_t close = begin < end ? skip_balanced(tokens, begin) : end;
  if (begin >= end || close > end) return;
  for (Declaration& member : split_declarations(tokens.subspan(begin + 1, close - begin - 2))) {
    member.begin += begin + 1;
    member.end += begin + 1;
    member.head_end += begin + 1;
    member.owner = owner + 1;
    if (member.kind == Declaration::Kind::type)
      append_members(tokens, member.begin, member.end, owner, out);
    else if (member.kind == Declaration::Kind::function ||
             member.kind == Declaration::Kind::prototype)
      out.push_back(std::move(member));
  }
}

using Kind = Declaration::Kind;

constexpr std::array<std::string_view, 5> device_words{"__global__", "__device__", "__constant__",
                                                       "__managed__", "__shared__"};

// A function of CUDA's host API: cudaMalloc.
bool is_host_api(std::string_view name) {
  return name.starts_with("cuda") && name.size() > 4 && name[4] >= 'A' && name[4] <= 'Z';
}

}  // namespace

void DeviceCode::add_macros(const std::vector<Token>& tokens) {
  for (const Token& token : tokens) {
    if (token.kind != Token::Kind::directive) continue;
    const std::vector<Token> words = lex(token.text.substr(1));
    if (words.size() < 2 || words[0].text != "define") continue;
    Names& body = macros_[words[1].text];
    for (std::size_t i = 2; i < words.size(); ++i)
      if (words[i].kind == Token::Kind::identifier) body.insert(words[i].text);
  }
}

void DeviceCode::add(std::string_view text) {
  SourceFile file{text, lex(text), {}};
  add_macros(file.tokens);
  for (Declaration& declaration : split_declarations(file.tokens)) {
    const std::size_t begin = declaration.begin, end = declaration.end;
    const bool is_class = declaration.kind == Kind::type;
    file.declarations.push_back(std::move(declaration));
    if (is_class)
      append_members(file.tokens, begin, end, file.declarations.size() - 1, file.declarations);
  }
  file.removed.resize(file.declarations.size());
  files_.push_back(std::move(file));
}

void DeviceCode::add_whole(std::string_view text) {
  std::erase_if(files_, [&](const SourceFile& file) { return file.text.data() == text.data(); });
  const std::vector<Token> tokens = lex(text);
  add_macros(tokens);
  for (const Token& token : tokens)
    if (token.kind == Token::Kind::identifier) roots_.insert(token.text);
}

// The identifiers before the body or initialiser, with those of macros among them.
DeviceCode::Names DeviceCode::specifiers(const SourceFile& file,
                                         const Declaration& declaration) const {
  Names words;
  std::vector<std::string_view> pending;
  const auto use = [&](std::string_view name) {
    if (words.insert(name).second && macros_.contains(name)) pending.push_back(name);
  };
  for (std::size_t i = declaration.begin; i < declaration.head_end; ++i)
    if (file.tokens[i].kind == Token::Kind::identifier) use(file.tokens[i].text);
  while (!pending.empty()) {
    const Names& body = macros_.at(pending.back());
    pending.pop_back();
    for (const std::string_view name : body) use(name);
  }
  return words;
}

bool DeviceCode::is_device(const SourceFile& file, const Declaration& declaration) const {
  if (declaration.kind == Kind::type) return false;
  const Names words = specifiers(file, declaration);
  return std::ranges::any_of(device_words,
                             [&](std::string_view word) { return words.contains(word); });
}

// Whether device code cannot call the function: it is __host__ alone, launches kernels, or calls
// the host API or another such function. A function without specifiers is the host's if device code
// has a function of that name; otherwise it may be device code, because the CPU back end accepts
// that.
bool DeviceCode::is_host(const SourceFile& file, const Declaration& declaration) const {
  const auto is_declared = [&](const Names& functions) {
    return std::ranges::any_of(declaration.names,
                               [&](std::string_view name) { return functions.contains(name); });
  };
  const bool is_member = declaration.owner != 0;
  if (declaration.kind == Kind::prototype)
    return !is_member && is_declared(host_functions_) && !is_device(file, declaration);
  if (declaration.kind != Kind::function) return false;
  const Names words = specifiers(file, declaration);
  if (words.contains("constexpr") || words.contains("__device__") || words.contains("__global__"))
    return false;
  if (words.contains("__host__")) return true;
  for (std::size_t i = declaration.head_end; i + 1 < declaration.end; ++i) {
    const std::string_view name = file.tokens[i].text;
    const bool calls = file.tokens[i + 1].text == "(" || file.tokens[i + 1].text == "<";
    const bool is_of_object = is_one_of(file.tokens[i - 1].text, {".", "->"});
    if (opens_launch(file.tokens, i)) return true;
    if (calls && (is_host_api(name) || (host_functions_.contains(name) && !is_of_object)))
      return true;
  }
  return !is_member && is_declared(device_functions_);
}

template <class Body>
void DeviceCode::for_each(const Body& body) const {
  for (const SourceFile& file : files_)
    for (const Declaration& declaration : file.declarations) body(file, declaration);
}

// Callers of host functions are host functions, and so on. Member functions do not count: others
// often have the same name.
void DeviceCode::find_host_functions() {
  for (std::size_t count = 1; count != host_functions_.size();) {
    count = host_functions_.size();
    for_each([&](const SourceFile& file, const Declaration& declaration) {
      if (declaration.owner != 0 || !is_host(file, declaration)) return;
      for (const std::string_view name : declaration.names)
        if (!device_functions_.contains(name)) host_functions_.insert(name);
    });
  }
}

// Adds the identifiers of a declaration to those that its names use. Without a name, or as an
// operator of a class, it is used wherever it is visible.
void DeviceCode::add_uses(const SourceFile& file, std::size_t index) {
  const Declaration& declaration = file.declarations[index];
  if (is_host(file, declaration)) return;
  const bool is_member = declaration.owner != 0;
  const bool is_root = !is_member && (is_device(file, declaration) || declaration.names.empty());
  const Names words = specifiers(file, declaration);
  const bool is_kernel = words.contains("__global__");
  const bool is_needed_root =
      !is_member &&
      (is_kernel || (is_device(file, declaration) &&
                     (declaration.names.empty() || declaration.kind == Kind::variable)));
  if (is_kernel) kernels_.insert(declaration.names.begin(), declaration.names.end());
  std::vector<std::string_view> owners = declaration.names;
  if (is_member && owners.empty()) owners = file.declarations[declaration.owner - 1].names;
  const Declaration* member = nullptr;
  for (std::size_t i = declaration.begin, next = index + 1; i < declaration.end; ++i) {
    if (member != nullptr && i == member->end) member = nullptr;
    if (next < file.declarations.size() && file.declarations[next].owner == index + 1 &&
        file.declarations[next].begin == i) {
      member = &file.declarations[next++];
      if (is_host(file, *member)) i = member->end - 1;
    }
    const bool in_member = member != nullptr;
    const Token& token = file.tokens[i];
    if (token.kind != Token::Kind::identifier) continue;
    if (is_root && !is_member) roots_.insert(token.text);
    if (is_needed_root && !in_member) needed_roots_.insert(token.text);
    for (const std::string_view name : owners) {
      if (!is_member) uses_[name].insert(token.text);
      if (!in_member) needs_[name].insert(token.text);
    }
  }
}

void DeviceCode::resolve() {
  for_each([&](const SourceFile& file, const Declaration& declaration) {
    if (declaration.kind == Kind::function && declaration.owner == 0 &&
        is_device(file, declaration))
      device_functions_.insert(declaration.names.begin(), declaration.names.end());
  });
  find_host_functions();
  needed_roots_ = roots_;
  for (const SourceFile& file : files_)
    for (std::size_t i = 0; i < file.declarations.size(); ++i) add_uses(file, i);
  needed_roots_.insert(kernels_.begin(), kernels_.end());
  reach(roots_, uses_, reached_);
  reach(needed_roots_, needs_, needed_);
}

void DeviceCode::reach(const Names& roots, const Graph& uses, Names& reached) const {
  std::vector<std::string_view> pending(roots.begin(), roots.end());
  while (!pending.empty()) {
    const std::string_view next = pending.back();
    pending.pop_back();
    if (!reached.insert(next).second) continue;
    for (const auto* graph : {&macros_, &uses})
      if (const auto entry = graph->find(next); entry != graph->end())
        pending.insert(pending.end(), entry->second.begin(), entry->second.end());
  }
}

bool DeviceCode::is_kept(const SourceFile& file, const Declaration& declaration) const {
  if (is_host(file, declaration)) return false;
  if (declaration.owner != 0 || is_device(file, declaration)) return true;
  return declaration.names.empty() ||
         std::ranges::any_of(declaration.names,
                             [&](std::string_view name) { return reached_.contains(name); });
}

bool DeviceCode::is_needed(const SourceFile& file, const Declaration& declaration) const {
  const bool is_operator = declaration.names.empty() && declaration.owner != 0;
  const Declaration& named = is_operator ? file.declarations[declaration.owner - 1] : declaration;
  // What is asserted about names that a kernel reaches holds for the kernel.
  if (named.names.empty() && file.tokens[named.begin].text == "static_assert")
    return std::any_of(
        file.tokens.begin() + static_cast<std::ptrdiff_t>(named.begin) + 1,
        file.tokens.begin() + static_cast<std::ptrdiff_t>(named.end),
        [&](const Token& token) { return token.text != "sizeof" && needed_.contains(token.text); });
  return (named.names.empty() && is_device(file, named)) ||
         std::ranges::any_of(named.names,
                             [&](std::string_view name) { return needed_.contains(name); });
}

const DeviceCode::SourceFile* DeviceCode::find_file(std::string_view text) const {
  const auto file = std::ranges::find_if(
      files_, [&](const SourceFile& candidate) { return candidate.text.data() == text.data(); });
  return file == files_.end() ? nullptr : &*file;
}
DeviceCode::SourceFile* DeviceCode::find_file(std::string_view text) {
  return const_cast<SourceFile*>(std::as_const(*this).find_file(text));
}

// The declarations that contain a token, the innermost first.
std::vector<std::size_t> DeviceCode::around(const SourceFile& file, std::size_t token) {
  std::vector<std::size_t> found;
  for (std::size_t i = file.declarations.size(); i-- > 0;)
    if (file.declarations[i].begin <= token && token < file.declarations[i].end) found.push_back(i);
  return found;
}

bool DeviceCode::remove_at(SourceFile& file, std::size_t token, bool may_lack_specifiers) {
  const std::vector<std::size_t> found = around(file, token);
  if (std::ranges::any_of(found, [&](std::size_t i) { return bool{file.removed[i]}; }))
    return false;
  for (const std::size_t i : found) {
    const Declaration& declaration = file.declarations[i];
    const bool lacks_specifiers = declaration.kind == Kind::function &&
                                  !is_device(file, declaration) &&
                                  !specifiers(file, declaration).contains("constexpr");
    if (is_needed(file, declaration) && !(may_lack_specifiers && lacks_specifiers)) continue;
    file.removed[i] = true;
    return true;
  }
  return false;
}

bool DeviceCode::remove_unreached(std::string_view text, int line) {
  SourceFile* file = find_file(text);
  bool has_removed = false;
  if (file == nullptr) return has_removed;
  for (std::size_t i = 0; i < file->tokens.size(); ++i)
    if (file->tokens[i].line == line) has_removed |= remove_at(*file, i, true);
  return has_removed;
}

bool DeviceCode::remove_users(std::string_view name) {
  bool has_removed = false;
  for (SourceFile& file : files_)
    for (std::size_t i = 0; i < file.tokens.size(); ++i)
      if (file.tokens[i].text == name) has_removed |= remove_at(file, i, true);
  return has_removed;
}

bool DeviceCode::remove_unreached_at(std::string_view text, std::size_t offset) {
  SourceFile* file = find_file(text);
  if (file == nullptr) return false;
  const auto token = std::ranges::lower_bound(file->tokens, offset, {}, &Token::offset);
  return remove_at(*file, static_cast<std::size_t>(token - file->tokens.begin()), false);
}

std::string DeviceCode::way_to(std::string_view text, std::size_t offset) const {
  const SourceFile* file = find_file(text);
  if (file == nullptr) return {};
  const auto token = std::ranges::lower_bound(file->tokens, offset, {}, &Token::offset);
  const auto found = around(*file, static_cast<std::size_t>(token - file->tokens.begin()));
  if (found.empty()) return {};
  const auto& names = file->declarations[found.front()].names;
  // Breadth first, so that the way is a shortest one.
  Graph::mapped_type seen = kernels_;
  std::vector<std::vector<std::string_view>> ways;
  for (const std::string_view kernel : kernels_) ways.push_back({kernel});
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const std::vector<std::string_view> way = ways[i];
    if (std::ranges::find(names, way.back()) != names.end()) {
      if (way.size() == 1) return {};
      std::string out = spanwise::text("kernel ", way[0], " uses ", way[1]);
      for (std::size_t k = 2; k < way.size(); ++k) out += spanwise::text(", which uses ", way[k]);
      return out;
    }
    const auto uses = needs_.find(way.back());
    if (uses == needs_.end()) continue;
    for (const std::string_view name : uses->second)
      if (needs_.contains(name) && seen.insert(name).second) {
        ways.push_back(way);
        ways.back().push_back(name);
      }
  }
  return {};
}

std::string DeviceCode::without_host_code(std::string_view text) const {
  std::string out(text);
  // Of a header: NVRTC skips none.
  if (text.starts_with("\xef\xbb\xbf")) out.replace(0, 3, "   ");
  const SourceFile* file = find_file(text);
  if (file == nullptr) return out;
  for (std::size_t index = 0; index < file->declarations.size(); ++index) {
    const Declaration& declaration = file->declarations[index];
    if (!file->removed[index] && is_kept(*file, declaration)) continue;
    for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
      const Token& token = file->tokens[i];
      // Outside of the function, #pragma unroll would be an error.
      if (token.kind == Token::Kind::directive &&
          !trimmed(token.text.substr(1)).starts_with("pragma"))
        continue;
      for (std::size_t k = 0; k < token.text.size(); ++k)
        if (char& c = out[token.offset + k]; c != '\n') c = ' ';
    }
  }
  return out;
}

namespace {

// Beginnings of the names of headers that host code needs.
constexpr std::string_view cuda_libraries =
    "cublas cufft cusparse cusolver curand.h curand_mtgp32 cudnn nccl nvml nvrtc npp nvToolsExt "
    "nvtx3/ thrust/ cub/ cudaGL cuda_gl_interop cudaProfiler cuda_profiler_api cuda_d3d cuda_egl "
    "cudaEGL nvjpeg";
constexpr std::string_view other_libraries =
    "CL/ opencv GL/ GLES GLFW EGL/ glad/ OpenGL/ GLUT/ X11/ mpi.h SDL glog/ gflags/ gtest/ boost/ "
    "hdf5 leveldb/ lmdb google/protobuf vulkan/ FreeImage windows.h nvmedia nvsci drm xf86drm "
    "torch/ ATen/ c10/ THC/ pybind11/ nanobind/ Python.h numpy/ tensorflow/ xla/ spdlog/ fmt/";

}  // namespace

bool is_cuda_library_header(std::string_view name) {
  return starts_with_word_of(name, cuda_libraries);
}

bool is_host_library_header(std::string_view name) {
  return is_cuda_library_header(name) || starts_with_word_of(name, other_libraries);
}

bool is_cccl_header(std::string_view name) {
  return name.starts_with("thrust/") || name.starts_with("cuda/") || name.starts_with("nv/");
}

bool is_c_header(std::string_view name) {
  static constexpr std::string_view folders = "sys/ netinet/ arpa/ asm/ linux/ bits/";
  static constexpr std::string_view names =
      "assert.h cassert ccomplex cctype cerrno cfenv cfloat cinttypes climits clocale cmath "
      "complex.h csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime ctype.h "
      "dirent.h dlfcn.h errno.h fcntl.h fenv.h getopt.h inttypes.h libgen.h locale.h malloc.h "
      "memory.h omp.h pthread.h sched.h setjmp.h signal.h stdarg.h stdbool.h strings.h time.h "
      "unistd.h values.h wchar.h immintrin.h xmmintrin.h emmintrin.h pmmintrin.h tmmintrin.h "
      "smmintrin.h nmmintrin.h x86intrin.h cpuid.h alloca.h syslog.h poll.h termios.h regex.h "
      "glob.h "
      "semaphore.h pwd.h grp.h netdb.h ucontext.h execinfo.h ctgmath cwchar cwctype cuchar "
      "stdalign.h "
      "wctype.h uchar.h fnmatch.h langinfo.h spawn.h utime.h ftw.h search.h iconv.h mntent.h";
  return starts_with_word_of(name, folders) || is_word_of(name, names);
}

bool can_follow_shim(std::string_view name) {
  static constexpr std::string_view names =
      "type_traits limits concepts initializer_list utility tuple array numeric bit numbers "
      "optional";
  return is_word_of(name, names);
}

bool is_implicit_name(std::string_view name) {
  static constexpr std::string_view names =
      "uint ushort ulong register __extension__ CHAR_BIT SCHAR_MIN SCHAR_MAX UCHAR_MAX CHAR_MIN "
      "CHAR_MAX "
      "SHRT_MIN SHRT_MAX USHRT_MAX INT_MIN INT_MAX UINT_MAX LONG_MIN LONG_MAX ULONG_MAX LLONG_MIN "
      "LLONG_MAX ULLONG_MAX RAND_MAX HUGE_VAL HUGE_VALF INFINITY NAN M_E M_LOG2E M_LOG10E M_LN2 "
      "M_LN10 FLT_MIN FLT_MAX FLT_EPSILON DBL_MIN DBL_MAX DBL_EPSILON M_PI M_PI_2 M_PI_4 M_1_PI "
      "M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 "
      "cudaGridDependencySynchronize cudaTriggerProgrammaticLaunchCompletion";
  return is_word_of(name, names);
}

bool is_cpp_header(std::string_view name) {
  static constexpr std::string_view names =
      "algorithm any array atomic bitset charconv chrono complex condition_variable deque "
      "exception execution filesystem forward_list fstream functional future initializer_list "
      "iomanip ios iosfwd iostream istream iterator limits list locale map memory memory_resource "
      "mutex new numeric optional ostream queue random ratio regex set shared_mutex sstream stack "
      "stdexcept streambuf string string_view system_error thread tuple type_traits typeindex "
      "typeinfo unordered_map unordered_set utility valarray variant vector";
  return is_word_of(name, names);
}

namespace {

// The index of each #include that is inside of a declaration.
std::set<std::size_t> inner_directives(const std::vector<Token>& tokens) {
  std::set<std::size_t> inner;
  for (const Declaration& declaration : split_declarations(tokens))
    for (std::size_t i = declaration.begin; i < declaration.end; ++i)
      if (tokens[i].kind == Token::Kind::directive) inner.insert(i);
  return inner;
}

}  // namespace

void IncludedFiles::add_main(std::string_view text, const std::string& folder) {
  collect(text, folder, false);
  device_code_.resolve();
}

void IncludedFiles::collect(std::string_view text, const std::string& folder, bool is_whole) {
  const std::vector<Token> tokens = lex(text);
  const std::set<std::size_t> inner = inner_directives(tokens);
  if (is_whole)
    device_code_.add_whole(text);
  else
    device_code_.add(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::directive) continue;
    const std::string path = read_include(tokens[i].text, folder).path;
    if (path.empty()) continue;
    // A header that is included within a declaration is a piece of it.
    const bool is_piece = is_whole || inner.contains(i);
    const auto [entry, is_new] = collected_.try_emplace(path, is_piece);
    if (!is_new && (entry->second || !is_piece)) continue;
    entry->second = is_piece;
    collect(text_of(path), fs::path(path).parent_path().string(), is_piece);
  }
}

const std::string& IncludedFiles::text_of(const std::string& path) {
  // Through links, a folder can contain itself, and a header be included by ever longer paths.
  constexpr std::size_t limit = std::size_t{256} << 20;
  const auto [entry, is_new] = texts_.try_emplace(path);
  if (!is_new) return entry->second;
  entry->second = read_whole_file(path);
  bytes_ += entry->second.size();
  if (bytes_ > limit)
    fail<DeviceError>("the headers that a source includes have more than ", limit >> 20,
                      " MiB; the last is ", path,
                      ". Remedy: include fewer, or remove links from a folder to itself");
  return entry->second;
}

Include read_include(std::string_view directive) {
  Include include;
  const std::vector<Token> parts = lex(directive.substr(1));
  include.is_include = parts.size() >= 2 && parts[0].text == "include";
  const std::size_t open = directive.find_first_of("<\"");
  if (!include.is_include || open == std::string_view::npos) return include;
  include.is_quoted = directive[open] == '"';
  const std::size_t close = directive.find(include.is_quoted ? '"' : '>', open + 1);
  if (close == std::string_view::npos) return include;
  include.name = directive.substr(open + 1, close - open - 1);
  return include;
}

Include IncludedFiles::read_include(std::string_view directive, const std::string& folder) const {
  Include include = parse::read_include(directive);
  if (!include.name.empty()) include.path = find(include.name, include.is_quoted, folder);
  return include;
}

std::string IncludedFiles::find(std::string_view name, bool is_quoted,
                                const std::string& folder) const {
  const fs::path relative = std::string(name);
  // Normal, so that a file has one path however it is included.
  const auto found = [&](const fs::path& in) {
    std::error_code error;
    const fs::path path = in / relative;
    return fs::is_regular_file(path, error) ? path.lexically_normal().string() : std::string();
  };
  std::string path;
  if (relative.is_absolute() || is_quoted) path = found(folder);
  if (!path.empty() || relative.is_absolute() || is_replaced_(name)) return path;
  for (std::size_t i = 0; i < include_dirs_.size() && path.empty(); ++i)
    path = found(include_dirs_[i]);
  return path;
}

std::string read_whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.good()) fail<DeviceError>("cannot read ", path, ": ", std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace spanwise::parse
