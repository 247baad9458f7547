// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/kernel_source.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/string_utils.hpp"

namespace spanwise::parse {

namespace {

// True for names such as __syncthreads, __shfl_down_sync, __ballot_sync, cooperative_groups.
// Names from the CUDA C++ Programming Guide 13.0, sections "Synchronization Functions", "Warp
// Vote", "Warp Match", "Warp Reduce", "Warp Shuffle Functions" and "Cooperative Groups"; those
// without _sync are CUDA 8's. Classes of CUB.
bool is_barrier_name(std::string_view name) {
  static constexpr std::string_view names =
      "__syncwarp __activemask __all __any __ballot __uni_sync __all_sync __any_sync "
      "__ballot_sync cooperative_groups this_thread_block tiled_partition coalesced_threads "
      "this_grid grid_group thread_block arrive_and_wait __barrier_sync mma_sync "
      "load_matrix_sync store_matrix_sync barrier consumer_wait producer_acquire make_pipeline";
  static constexpr std::string_view prefixes =
      "__syncthreads __shfl __match_ __reduce_ __barrier_sync __mbarrier_ BlockReduce BlockScan "
      "WarpScan "
      "BlockExchange BlockRadixSort WarpReduce";
  return is_word_of(name, names) || starts_with_word_of(name, prefixes);
}

// Whether a string literal has a PTX instruction in which threads wait for each other.
bool waits_in_ptx(std::string_view literal) {
  return std::ranges::any_of(
      split("bar. barrier. .sync. shfl. vote. activemask", ' '),
      [&](std::string_view word) { return literal.find(word) != literal.npos; });
}

}  // namespace

void ReferenceGraph::add(std::string_view owner, std::string_view used) {
  auto entry = uses_.find(owner);
  if (entry == uses_.end())
    entry = uses_.emplace(owner, std::set<std::string, std::less<>>{}).first;
  if (!entry->second.contains(used)) entry->second.emplace(used);
}

void ReferenceGraph::merge(const ReferenceGraph& other) {
  for (const auto& [owner, used] : other.uses_) {
    for (const std::string& name : used) add(owner, name);
  }
}

bool ReferenceGraph::reaches_barrier(std::string_view owner) const {
  const auto reached = closure(owner);
  return std::ranges::any_of(reached, is_barrier_name);
}

bool ReferenceGraph::reaches(std::string_view owner, std::string_view names) const {
  return std::ranges::any_of(closure(owner),
                             [&](std::string_view name) { return is_word_of(name, names); });
}

bool ReferenceGraph::recurses(std::string_view owner) const {
  for (const std::string_view name : closure(owner)) {
    const auto entry = uses_.find(name);
    if (entry == uses_.end() || name.empty()) continue;
    for (const std::string& used : entry->second)
      if (used == name || closure(used).contains(name)) return true;
  }
  return false;
}

std::set<std::string_view> ReferenceGraph::used() const {
  std::set<std::string_view> names;
  for (const auto& [owner, uses] : uses_) names.insert(uses.begin(), uses.end());
  return names;
}

// `owner`, and all identifiers that it uses directly or indirectly.
std::set<std::string_view> ReferenceGraph::closure(std::string_view owner) const {
  std::set<std::string_view> seen{owner, ""};
  std::vector<std::string_view> pending(seen.begin(), seen.end());
  while (!pending.empty()) {
    const auto entry = uses_.find(pending.back());
    pending.pop_back();
    if (entry == uses_.end()) continue;
    for (const std::string& name : entry->second)
      if (seen.insert(name).second) pending.push_back(name);
  }
  return seen;
}

bool is_attribute_word(std::string_view word) {
  static constexpr std::array<std::string_view, 13> keywords{
      "__launch_bounds__", "__cluster_dims__", "__block_size__",    "__maxnreg__", "__attribute__",
      "__attribute",       "__align__",        "__builtin_align__", "alignas",     "__declspec",
      "noexcept",          "explicit",         "decltype"};
  return std::ranges::find(keywords, word) != keywords.end();
}

namespace {

// The index after attributes and directives between a parameter list and its body.
std::size_t skip_attributes(const std::vector<Token>& tokens, std::size_t i) {
  while (i < tokens.size()) {
    const Token& token = tokens[i];
    if (token.kind == Token::Kind::directive || token.text == "noexcept") {
      ++i;
    } else if (is_attribute_word(token.text) && i + 1 < tokens.size() &&
               tokens[i + 1].text == "(") {
      i = skip_balanced(tokens, i + 1);
    } else if (token.text == "[") {
      i = skip_balanced(tokens, i);
    } else {
      break;
    }
  }
  return i;
}

// Parses the declaration after `tokens[start]`, a __global__. Fills name, parameters, line,
// is_definition and parameters_end; name is "" for an explicit instantiation or specialisation.
KernelSite read_kernel_header(const std::vector<Token>& tokens, std::size_t start,
                              const TypeAliases& aliases) {
  KernelSite site;
  for (std::size_t i = start + 1; i + 1 < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.text == ";" || token.text == "{" || token.text == "}") break;
    if (token.text == "[") {
      i = skip_balanced(tokens, i) - 1;
    } else if (token.text == "<") {
      break;  // name<float>(...): the primary template is the kernel
    } else if (token.kind == Token::Kind::identifier && tokens[i + 1].text == "(") {
      const std::size_t end = skip_balanced(tokens, i + 1);
      const std::size_t body = skip_attributes(tokens, end);
      const bool ends_declarator =
          body < tokens.size() && (tokens[body].text == "{" || tokens[body].text == ";");
      // A macro such as BOUNDS(256), followed by the rest of the declaration.
      if (is_attribute_word(token.text) || !ends_declarator) {
        i = end - 1;
        continue;
      }
      site.kernel.name = token.text;
      site.kernel.line = token.line;
      site.kernel.is_definition = tokens[body].text == "{";
      site.parameters_end = tokens[end - 1].offset + 1;
      site.name = i;
      site.kernel.parameters =
          parse_parameters(std::span(tokens).subspan(i + 2, end - i - 3), aliases);
      break;
    }
  }
  return site;
}

struct Scope {
  enum class Kind { name_space, extern_c, type, body };
  Kind kind;
  std::string_view name;  // the namespace; for a body, the function or variable it belongs to
};

// A single pass over the tokens that tracks namespaces, types and bodies.
class Scanner {
 public:
  explicit Scanner(std::string_view text) { scan_.tokens = lex(text); }

  SourceScan run() {
    for (index_ = 0; index_ < tokens().size(); ++index_) step(tokens()[index_]);
    return std::move(scan_);
  }

 private:
  const std::vector<Token>& tokens() const { return scan_.tokens; }
  bool in_body() const { return !scopes_.empty() && scopes_.back().kind == Scope::Kind::body; }
  std::span<const Token> declaration() const {
    return std::span(tokens()).subspan(declaration_, index_ - declaration_);
  }

  void step(const Token& token) {
    if (token.text == "__shared__") read_shared();
    if (token.kind == Token::Kind::directive) return read_directive(token.text);
    if (token.text == "__global__") return read_kernel();
    if (token.text == "}") {
      if (!scopes_.empty()) scopes_.pop_back();
      if (!in_body()) declaration_ = index_ + 1;
    } else if (token.text == "{") {
      scopes_.push_back(in_body() ? scopes_.back() : opened_scope());
      declaration_ = index_ + 1;
    } else if (in_body()) {
      if (token.kind == Token::Kind::identifier) read_use(token);
      if (token.kind == Token::Kind::string && waits_in_ptx(token.text))
        scan_.uses.add(scopes_.back().name, "__syncwarp");
    } else if (token.text == ";") {
      if (conditionals_.empty()) scan_.aliases.read(declaration());
      declaration_ = index_ + 1;
    }
  }

  void read_use(const Token& token) {
    scan_.uses.add(scopes_.back().name, token.text);
    if (!calls_itself()) return;
    constexpr std::string_view unnamed = "(*this)";
    scan_.uses.add(scopes_.back().name, unnamed);
    scan_.uses.add(unnamed, unnamed);
  }

  // Whether a function object is called that has no name of its own in its body: (*this)(n), and
  // f(n, f) for a parameter f.
  bool calls_itself() const {
    const auto& all = tokens();
    const auto is = [&](std::size_t i, std::string_view text) {
      return i < all.size() && all[i].text == text;
    };
    const std::string_view name = all[index_].text;
    if (name == "this") return is(index_ + 1, ")") && is(index_ + 2, "(");
    if (!is(index_ + 1, "(")) return false;
    const std::size_t end = skip_balanced(all, index_ + 1);
    for (std::size_t i = index_ + 2; i < end; ++i)
      if (is(i, name) && !is(i + 1, "(") && !is(i - 1, ".") && !is(i - 1, "->")) return true;
    return false;
  }

  // The scope opened by a '{' outside of bodies, determined from the declaration before it.
  Scope opened_scope() const {
    std::string_view name, before_parameters;
    bool is_type = false, is_enum = false, is_initialiser = false, is_operator = false,
         has_parameters = false;
    const auto& all = tokens();
    for (std::size_t i = declaration_; i < index_; ++i) {
      const std::string_view text = all[i].text;
      if (all[i].kind == Token::Kind::directive) continue;
      if (text == "namespace") return {Scope::Kind::name_space, namespace_name(i + 1)};
      if (text == "extern" && i + 2 == index_ && all[i + 1].kind == Token::Kind::string)
        return {Scope::Kind::extern_c, {}};
      if (text == "template" && all[i + 1].text == "<") {
        i = skip_balanced(all, i + 1) - 1;
      } else if (is_attribute_word(text) && all[i + 1].text == "(") {
        i = skip_balanced(all, i + 1) - 1;
      } else if (text == "[" && all[i + 1].text == "[") {
        i = skip_balanced(all, i) - 1;
      } else if (text == "struct" || text == "class" || text == "union") {
        is_type = true;
      } else if (text == "enum") {
        is_enum = true;
      } else if (text == "operator") {
        is_operator = true;
      } else if (text == "(" && !has_parameters && !is_initialiser) {
        has_parameters = true;
        before_parameters = name;
        i = skip_balanced(all, i) - 1;
      } else if ((text == "=" || text == "[") && !has_parameters && !is_initialiser) {
        is_initialiser = true;
        before_parameters = name;
      } else if (all[i].kind == Token::Kind::identifier) {
        name = text;
      }
    }
    if (is_operator) return {Scope::Kind::body, {}};
    if (has_parameters || is_initialiser) return {Scope::Kind::body, before_parameters};
    if (is_type && !is_enum) return {Scope::Kind::type, {}};
    return {Scope::Kind::body, is_enum ? name : std::string_view{}};
  }

  // "a" or "a::b"; "" for an unnamed or inline namespace, whose members need no prefix.
  std::string_view namespace_name(std::size_t first) const {
    if (first > declaration_ + 1 && tokens()[first - 2].text == "inline") return {};
    if (first >= index_) return {};
    const Token& last = tokens()[index_ - 1];
    const std::size_t start = tokens()[first].offset;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): tokens are parts of one text
    return {tokens()[first].text.data(), last.offset + last.text.size() - start};
  }

  std::string enclosing_namespaces() const {
    std::string names;
    for (const Scope& scope : scopes_)
      if (scope.kind == Scope::Kind::name_space && !scope.name.empty())
        names.append(scope.name).append("::");
    return names;
  }

  void read_shared() {
    const auto& all = tokens();
    const auto ends = [&](std::size_t i) {
      const std::string_view text = all[i].text;
      return text == ";" || text == "{" || text == "}" || text == ":" ||
             all[i].kind == Token::Kind::directive;
    };
    SharedSite site;
    site.token = site.begin = site.end = index_;
    while (site.begin > 0 && !ends(site.begin - 1)) --site.begin;
    while (site.end < all.size() && all[site.end].text != ";") ++site.end;
    site.in_body = in_body();
    site.scope = enclosing_namespaces();
    scan_.shared.push_back(std::move(site));
  }

  void read_kernel() {
    // __global__ cannot occur in a body or a type, so such scopes come from unbalanced braces in
    // macros.
    std::erase_if(scopes_, [](const Scope& s) {
      return s.kind == Scope::Kind::body || s.kind == Scope::Kind::type;
    });
    KernelSite site = read_kernel_header(tokens(), index_, scan_.aliases);
    const auto before = declaration();
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool is_last = i + 1 == before.size();
      if (before[i].text == "extern" && !is_last && before[i + 1].kind == Token::Kind::string)
        site.kernel.is_extern_c = true;
      if (before[i].text != "template") continue;
      const bool instantiates = is_last || before[i + 1].text != "<";
      const bool specialises = i + 2 < before.size() && before[i + 2].text == ">";
      if (instantiates) read_instance();
      if (instantiates || specialises) return;
      site.kernel.is_template = true;
    }
    if (site.kernel.name.empty()) return;
    read_specifiers(site);
    for (const Scope& scope : scopes_)
      site.kernel.is_extern_c |= scope.kind == Scope::Kind::extern_c;
    site.kernel.qualified_name = enclosing_namespaces();
    site.kernel.qualified_name += site.kernel.name;
    scan_.sites.push_back(std::move(site));
  }

  // Reads the explicit instantiation whose __global__ is the current token.
  void read_instance() {
    const auto& all = tokens();
    std::size_t name = index_ + 1, open = name;
    for (; open < all.size() && !is_one_of(all[open].text, {"<", ";", "{"}); ++open) {
      if (is_attribute_word(all[open].text) && all[open + 1].text == "(")
        open = skip_balanced(all, open + 1) - 1;
      else if (all[open].text == "(")
        break;
      // Of a name with namespaces, the first.
      else if (all[open].text != "::" && all[open - 1].text != "::")
        name = open;
    }
    if (open == all.size() || open == name || is_one_of(all[open].text, {";", "{"})) return;
    const std::size_t end = skip_balanced(all, open);
    if (end < all.size())
      scan_.instances.push_back(enclosing_namespaces().append(text_of(name, end)));
  }

  // The text of tokens [begin, end).
  std::string_view text_of(std::size_t begin, std::size_t end) const {
    if (begin >= end) return {};
    const Token &first = tokens()[begin], &last = tokens()[end - 1];
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): tokens are parts of one text
    return {first.text.data(), last.offset + last.text.size() - first.offset};
  }

  void read_specifiers(KernelSite& site) const {
    const auto& all = tokens();
    std::size_t begin = declaration_;
    std::string_view parameters;
    for (std::size_t i = declaration_; i < site.name; ++i) {
      if (all[i].kind == Token::Kind::directive) {
        if (i > index_) return;
        begin = i + 1;
        parameters = {};
      } else if (all[i].text == "template" && all[i + 1].text == "<") {
        begin = skip_balanced(all, i + 1);
        parameters = text_of(i + 2, begin - 1);
        i = begin - 1;
      }
    }
    if (site.kernel.is_template == parameters.empty()) return;
    site.specifiers = text_of(begin, site.name);
    site.template_parameters = parameters;
  }

  void read_directive(std::string_view text) {
    // Lexes the directive again to remove line splices and comments.
    const std::vector<Token> parts = lex(text.substr(1));
    if (parts.empty()) return;
    const std::string_view word = parts[0].text;
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      conditionals_.push_back({scopes_, declaration_});
      if (is_if_zero(parts)) index_ = end_of_branch(tokens(), index_);
    } else if ((word == "else" || word.starts_with("elif")) && !conditionals_.empty()) {
      // Each branch starts from the state at the #if, since the compiler sees only one of them.
      scopes_ = conditionals_.back().scopes;
      declaration_ = in_body() ? index_ + 1 : conditionals_.back().declaration;
    } else if (word == "endif" && !conditionals_.empty()) {
      conditionals_.pop_back();
    } else if (word == "define" && parts.size() > 1) {
      read_macro(parts);
    }
  }

  void read_macro(const std::vector<Token>& parts) {
    const std::string_view name = parts[1].text;
    const bool takes_arguments = parts.size() > 2 && parts[2].text == "(" &&
                                 parts[2].offset == parts[1].offset + name.size();
    std::vector<std::string_view> meaning;
    for (std::size_t i = 2; i < parts.size(); ++i) {
      if (parts[i].kind == Token::Kind::identifier) scan_.uses.add(name, parts[i].text);
      if (parts[i].kind == Token::Kind::string && waits_in_ptx(parts[i].text))
        scan_.uses.add(name, "__syncwarp");
      meaning.push_back(parts[i].text);
    }
    if (!takes_arguments && conditionals_.empty()) scan_.aliases.add(name, std::move(meaning));
  }

  struct Branch {
    std::vector<Scope> scopes;
    std::size_t declaration;
  };
  SourceScan scan_;
  std::size_t index_ = 0;
  std::size_t declaration_ = 0;  // first token of the declaration that index_ is in
  std::vector<Scope> scopes_;
  std::vector<Branch> conditionals_;
};

// Merges declarations of a kernel with each other and with its definition.
void merge_declarations(std::vector<SourceKernel>& kernels) {
  const auto are_same = [](const SourceKernel& a, const SourceKernel& b) {
    return a.qualified_name == b.qualified_name && a.parameters.size() == b.parameters.size();
  };
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    for (std::size_t j = kernels.size() - 1; j > i; --j) {
      if (!are_same(kernels[i], kernels[j]) ||
          (kernels[i].is_definition && kernels[j].is_definition))
        continue;
      const bool is_extern_c = kernels[i].is_extern_c || kernels[j].is_extern_c;
      if (kernels[j].is_definition) kernels[i] = kernels[j];
      kernels[i].is_extern_c = is_extern_c;
      kernels.erase(kernels.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

}  // namespace

std::size_t end_of_branch(std::span<const Token> tokens, std::size_t index) {
  for (int depth = 0; index + 1 < tokens.size(); ++index) {
    const Token& next = tokens[index + 1];
    if (next.kind != Token::Kind::directive) continue;
    const std::vector<Token> words = lex(next.text.substr(1));
    const std::string_view word = words.empty() ? std::string_view{} : words[0].text;
    if (depth == 0 && (word == "else" || word == "endif" || word.starts_with("elif"))) break;
    if (word.starts_with("if")) ++depth;
    if (word == "endif") --depth;
  }
  return index;
}

SourceScan scan_source(std::string_view text) { return Scanner(text).run(); }

KernelSource scan_kernels(std::string text, std::string file_name) {
  // Compilers skip a byte order mark only where a file begins, and NVRTC nowhere.
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  KernelSource source{std::move(text), std::move(file_name), {}};
  SourceScan scan = scan_source(source.text);
  for (KernelSite& site : scan.sites) {
    site.kernel.has_barrier = scan.uses.reaches_barrier(site.kernel.name);
    source.kernels.push_back(std::move(site.kernel));
  }
  merge_declarations(source.kernels);
  return source;
}

namespace {

// Whether the declaration that continues at tokens[i] declares a variable: a variable's name is
// followed by an initialiser, extents or the end, a function's by its parameters.
bool is_variable(const std::vector<Token>& tokens, std::size_t i) {
  for (; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i].text;
    if (is_one_of(word, {";", "=", "[", "{"})) return true;
    // Parameters of a function or kernel, and variables that do not persist between launches.
    if (is_one_of(word, {"(", "operator", "__shared__", "constexpr", "__global__"})) return false;
    if (word == "<") i = skip_balanced(tokens, i) - 1;
    if (is_attribute_word(word)) i = skip_balanced(tokens, i + 1) - 1;
  }
  return false;
}

}  // namespace

bool declares_variables(std::string_view source) {
  // The text is searched first, since most sources have none of the words and need no tokens.
  for (const std::string_view word :
       {"__device__", "__constant__", "__managed__", "static", "texture"}) {
    if (source.find(word) == source.npos) continue;
    const std::vector<Token> tokens = lex(source);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i].text == word && is_variable(tokens, i + 1)) return true;
  }
  return false;
}

namespace {

// Neither a zero byte nor a line that begins with ".version" occurs in C++; every binary has zero
// bytes near its start, and PTX has its version before any code (PTX ISA 9.0, section 11.1.1).
bool is_compiled(std::string_view contents) {
  const std::string_view head = contents.substr(0, 4096);
  return head.find('\0') != head.npos || head.starts_with(".version") ||
         head.find("\n.version") != head.npos;
}

}  // namespace

KernelSource scan_linked(std::string contents, std::string file_name) {
  if (!is_compiled(contents)) return scan_kernels(std::move(contents), std::move(file_name));
  KernelSource source{std::move(contents), std::move(file_name), {}};
  source.is_compiled = true;
  return source;
}

}  // namespace spanwise::parse
