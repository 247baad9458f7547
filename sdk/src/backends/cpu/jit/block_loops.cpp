// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/block_loops.hpp"

#include <algorithm>
#include <deque>
#include <span>
#include <utility>

#include "backends/cpu/jit/block_statements.hpp"
#include "core/string_utils.hpp"
#include "spanwise/parse/c_text.hpp"

namespace spanwise::cpu_backend {
namespace {

using parse::Token;
using Kind = Statement::Kind;

// Names that an expression may have without reading memory or the thread's index.
constexpr std::string_view neutral_words =
    "unsigned signed int long short char float double bool const true false sizeof static_cast "
    "size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uint ushort uchar "
    "ulong blockIdx blockDim gridDim warpSize";
// Functions of their arguments' values.
constexpr std::string_view value_functions =
    "min max abs fabs fabsf fminf fmaxf fmin fmax ceil ceilf floor floorf sqrt sqrtf exp2f log2f "
    "__mul24 __umul24 __popc __clz __ffs dim3 int unsigned float double size_t long bool char "
    "sizeof rsqrtf expf logf powf sinf cosf";

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

class Splitter {
 public:
  Splitter(const parse::SourceScan& scan, const parse::KernelSite& site,
           const parse::LineMap& lines, const SplitContext& context)
      : tokens_(scan.tokens), site_(site), lines_(lines), context_(context) {
    for (const Token& token : parse::lex(site.template_parameters))
      if (token.kind == Token::Kind::identifier) template_names_.emplace(token.text);
  }

  bool needs_warp_rows() const noexcept { return needs_warp_rows_; }

  // The statements of the function, without those around them.
  std::string run(const std::vector<Statement>& body) {
    scopes_.emplace_back();
    for (const parse::ParameterDeclaration& parameter : site_.kernel.parameters) {
      if (parameter.name.empty()) continue;
      Variable& variable = variables_.emplace_back();
      variable.name = parameter.name;
      variable.is_derived = false;
      scopes_.back().push_back(&variable);
    }
    do {
      has_changed_ = false;
      analyze_list(body);
    } while (has_changed_);
    for (Variable& variable : variables_) {
      variable.is_derived &= !variable.is_uniform;
      if (variable.declared == nullptr) variable.is_stored = !variable.is_uniform;
    }
    emit_all(body);  // finds the variables that several parts use
    needs_live_ = first_return_ < part_ - 1;
    emit_all(body);
    return std::move(out_);
  }

 private:
  std::string_view text(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view{};
  }
  bool is_name(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == Token::Kind::identifier;
  }
  bool is_member(std::size_t i) const { return i > 0 && is_one_of(text(i - 1), {".", "->", "::"}); }
  Variable* find(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      for (Variable* variable : *scope)
        if (variable->name == name) return variable;
    return nullptr;
  }

  // ---- Which variables are the same for all threads

  // Whether tokens_[i], a '*', '&', '+' or '-', has an operand on its left.
  bool is_binary(std::size_t i, std::size_t begin) const {
    if (i == begin) return false;
    const Token& before = tokens_[i - 1];
    if (text(i) == "&" && before.text == "&") return true;  // a logical operator
    if (before.kind == Token::Kind::number) return true;
    if (before.kind == Token::Kind::identifier) return !is_one_of(before.text, {"return", "case"});
    return before.text == "]" || (before.text == ")" && !is_cast(i - 1, begin));
  }
  // Whether the ')' at tokens_[close] may end a cast, such as (int) and (T *).
  bool is_cast(std::size_t close, std::size_t begin) const {
    for (std::size_t i = close; i-- > begin && text(i) != "(";) {
      const bool is_value = is_name(i) && (find(text(i)) != nullptr || is_member(i) ||
                                           context_.constants.contains(text(i)) ||
                                           context_.macros.contains(text(i)) ||
                                           is_one_of(text(i), {"blockIdx", "blockDim", "gridDim"}));
      if (is_value || !(is_name(i) || text(i) == "*")) return false;
    }
    return true;
  }

  Dependence dependence(TokenSpan span) const {
    Dependence out;
    for (std::size_t i = span.begin; i < span.end; ++i) {
      const std::string_view word = text(i);
      if (tokens_[i].kind == Token::Kind::string || is_one_of(word, {"[", "->", "{", "::"}))
        out.is_other = true;
      if (is_one_of(word, {"*", "&"}) && !is_binary(i, span.begin)) out.is_other = true;
      if (!is_name(i) || is_member(i)) continue;
      const bool is_called = text(i + 1) == "(";
      add_dependence(word, is_called, 0, out);
    }
    return out;
  }
  void add_dependence(std::string_view word, bool is_called, int depth, Dependence& out) const {
    if (const Variable* variable = find(word)) {
      if (variable->is_uniform)
        out.is_changing |= variable->is_modified && !variable->is_counter;
      else if (variable->is_derived)
        out.is_thread = true;
      else
        out.is_thread = out.is_other = true;
      return;
    }
    if (word == "threadIdx") {
      out.is_thread = true;
    } else if (const auto macro = context_.macros.find(word); macro != context_.macros.end()) {
      if (depth > 8) out.is_other = true;
      for (std::size_t k = 0; k < macro->second.size() && depth <= 8; ++k) {
        const std::string& part = macro->second[k];
        const bool calls = k + 1 < macro->second.size() && macro->second[k + 1] == "(";
        if (is_one_of(part, {"[", "{", ";", "->", "="})) out.is_other = true;
        if (parse::is_name(part)) add_dependence(part, calls, depth + 1, out);
      }
    } else if (is_called ? !is_word_of(word, value_functions)
                         : !is_word_of(word, neutral_words) && !template_names_.contains(word) &&
                               !context_.constants.contains(word)) {
      out.is_other = true;
    }
  }

  // Whether tokens_[i] is the index of the thread along x: threadIdx.x, or a variable of its value.
  // `end` becomes the token after it.
  bool is_index(std::size_t i, std::size_t& end) const {
    end = i + 3;
    if (text(i) == "threadIdx" && text(i + 1) == "." && text(i + 2) == "x") return true;
    end = i + 1;
    const Variable* variable = is_name(i) && !is_member(i) ? find(text(i)) : nullptr;
    if (variable == nullptr || variable->is_uniform || !variable->is_derived) return false;
    const TokenSpan init = variable->declared->init;
    std::size_t init_end = 0;
    return is_index(init.begin, init_end) && init_end == init.end;
  }
  static bool is_whole_warps(std::string_view number) {
    return number == "warpSize" || parse_number<int>(number).value_or(1) % 32 == 0;
  }
  // Whether the use of the index in tokens_[begin, end) is the same for all lanes of a warp:
  // `i / 32`, `i >> 5`, `i < 64`, `i >= 64`, with no operator before it that binds closer.
  bool divides_index(std::size_t begin, std::size_t end, TokenSpan span) const {
    const std::string_view before = begin == span.begin ? "(" : text(begin - 1);
    const auto after = [&](std::size_t k) {
      return end + k < span.end ? text(end + k) : std::string_view(")");
    };
    if (after(0) == "/") return is_whole_warps(after(1)) && is_one_of(before, {"(", "=", ",", "+"});
    const bool is_alone = before == "(" || (is_one_of(before, {"&", "|"}) &&
                                            begin > span.begin + 1 && text(begin - 2) == before);
    if (!is_alone) return false;
    const auto ends = [&](std::size_t k) {
      return after(k) == ")" || (is_one_of(after(k), {"&", "|"}) && after(k + 1) == after(k));
    };
    if (after(0) == ">" && after(1) == ">") return after(2) == "5" && ends(3);
    if (after(0) == ">" && after(1) == "=") return is_whole_warps(after(2)) && ends(3);
    return after(0) == "<" && is_whole_warps(after(1)) && ends(2);
  }
  // Whether the expression has the same value for all lanes of a warp.
  bool is_same_in_warp(TokenSpan span) const {
    if (dependence(span).is_other) return false;
    for (std::size_t i = span.begin; i < span.end; ++i) {
      if (!is_name(i) || is_member(i)) continue;
      std::size_t end = 0;
      if (is_index(i, end)) {
        if (!divides_index(i, end, span)) return false;
        i = end - 1;
      } else if (const Variable* variable = find(text(i))) {
        if (!variable->is_uniform && !is_same_in_warp(variable->declared->init)) return false;
      } else if (text(i) == "threadIdx" || context_.macros.contains(text(i))) {
        return false;
      }
    }
    return true;
  }
  // Lanes wait for one another under a condition: it has to be the same for all of a warp.
  void require_whole_warps() {
    if (masks_ == 0) return;
    if (split_warps_ > 0) throw NotUnderstood();
    needs_warp_rows_ = true;
  }

  void demote(Variable& variable) {
    has_changed_ |= variable.is_uniform || variable.is_derived;
    variable.is_uniform = variable.is_derived = false;
  }
  void set_changed(bool& flag, bool value) {
    has_changed_ |= flag != value;
    flag = value;
  }

  // Calls use(variable, is_pointee) for each variable that the tokens may modify.
  template <class Use>
  void for_each_modified(TokenSpan span, const Use& use) const {
    for (std::size_t i = span.begin; i < span.end; ++i) {
      if (!is_name(i) || is_member(i)) continue;
      Variable* variable = find(text(i));
      if (variable == nullptr) continue;
      const bool is_pointer = points(*variable);
      std::size_t end = i + 1;
      while (!is_pointer && (text(end) == "[" || text(end) == "."))
        end = text(end) == "[" ? parse::skip_balanced(tokens_, end) : end + 2;
      const bool is_last = is_one_of(text(end), {")", ","});
      while (text(end) == ")") ++end;
      std::size_t begin = i;
      while (begin > span.begin && text(begin - 1) == "(") --begin;
      const bool is_stepped = begin > span.begin + 1 && is_one_of(text(begin - 1), {"+", "-"}) &&
                              text(begin - 1) == text(begin - 2);
      const bool is_pointee = is_pointer && (text(i + 1) == "[" || text(i + 1) == "->");
      const bool has_address =
          i > span.begin && text(i - 1) == "&" && !is_pointee && !is_binary(i - 1, span.begin);
      const bool is_passed =
          is_one_of(text(i - 1), {"(", ","}) && is_last && !keeps_arguments(span, i);
      // T &name = variable.
      const bool is_bound = i > span.begin + 2 && is_one_of(text(i - 1), {"=", "{", "("}) &&
                            is_name(i - 2) && text(i - 3) == "&";
      const bool stores_pointee = is_pointer && i > span.begin && text(i - 1) == "*" &&
                                  !is_binary(i - 1, span.begin) && text(end) == "=";
      if ((is_assignment(tokens_, end) && !stores_pointee) || is_stepped || has_address ||
          is_passed || is_bound)
        use(*variable);
    }
  }
  bool points(const Variable& variable) const {
    if (variable.declared != nullptr) return variable.declared->is_pointer;
    for (const parse::ParameterDeclaration& parameter : site_.kernel.parameters)
      if (parameter.name == variable.name) return parameter.is_pointer;
    return false;
  }
  // Whether the function that tokens_[i] is an argument of cannot modify it.
  bool keeps_arguments(TokenSpan span, std::size_t i) const {
    std::size_t open = i;
    for (int depth = 0; open > span.begin; --open) {
      if (is_one_of(text(open - 1), {")", "]"})) ++depth;
      if (is_one_of(text(open - 1), {"(", "["}) && depth-- == 0) break;
    }
    if (open <= span.begin || open < 2 || text(open - 1) != "(") return true;
    std::size_t name = open - 2;
    if (text(name) == ">") {
      while (name > span.begin && text(name) != "<") --name;
      name -= name > span.begin ? 1 : 0;
    }
    const std::string_view callee = text(name);
    if (!is_name(name)) return !is_one_of(text(name), {"]", "(", ","});
    if (callee == "static_cast") return true;
    if (is_word_of(callee, value_functions) || is_one_of(callee, {"if", "while", "for", "switch"}))
      return true;
    if (callee.starts_with("__") || callee.starts_with("atomic") || callee.starts_with("make_"))
      return true;
    std::size_t position = 0;
    for (std::size_t k = open; k < i; ++k) {
      if (text(k) == ",") ++position;
      if (is_one_of(text(k), {"(", "["})) k = parse::skip_balanced(tokens_, k) - 1;
    }
    bool is_declared = false;
    for (std::size_t k = 1; k + 1 < tokens_.size(); ++k) {
      if (tokens_[k].text != callee || text(k + 1) != "(" || !is_name(k - 1)) continue;
      const std::size_t close = parse::skip_balanced(tokens_, k + 1);
      if ((text(close) != "{" && text(close) != ";") || close == k + 3) continue;
      is_declared = true;
      const auto parameters =
          parse::split_at_commas(std::span(tokens_).subspan(k + 2, close - k - 3));
      for (const Token& token : parameters[std::min(position, parameters.size() - 1)])
        if (token.text == "&") return false;
    }
    return is_declared;
  }

  void modify_in_part(TokenSpan span) {
    for_each_modified(span, [&](Variable& variable) {
      set_changed(variable.is_modified, true);
      set_changed(variable.is_counter, false);
      demote(variable);
    });
  }

  // Whether a statement sets variables that are the same for all threads to values that are.
  bool sets_uniform(TokenSpan span) const {
    const Dependence on = dependence(span);
    bool sets = false, sets_other = false;
    for_each_modified(span, [&](const Variable& variable) {
      sets = true;
      sets_other |= !variable.is_uniform || variable.masks < masks_;
    });
    return sets && !sets_other && !on.is_other && !on.is_thread;
  }

  void analyze_list(const std::vector<Statement>& list) {
    scopes_.emplace_back();
    for (const Statement& statement : list) analyze(statement);
    scopes_.pop_back();
  }

  Variable& variable_of(const LocalVariable& declared) {
    for (Variable& variable : variables_)
      if (variable.declared == &declared) return variable;
    if (find(declared.name) != nullptr) throw NotUnderstood();  // hides another
    Variable& variable = variables_.emplace_back();
    variable.declared = &declared;
    variable.name = declared.name;
    variable.masks = masks_;
    variable.loops = loops_;
    if (!declared.extents.empty()) variable.is_uniform = variable.is_derived = false;
    if (declared.init.empty()) variable.is_derived = false;
    return variable;
  }

  // Whether the declaration is more than a value of an expression's type.
  static bool is_reference(const LocalVariable& declared) {
    return declared.is_fixed &&
           (declared.is_reference || declared.type.find("auto") == std::string::npos);
  }
  // All variables that the tokens name may be modified by another name.
  void modify_names(TokenSpan span) {
    for (std::size_t i = span.begin; i < span.end; ++i)
      if (Variable* variable = is_name(i) && !is_member(i) ? find(text(i)) : nullptr) {
        set_changed(variable->is_modified, true);
        set_changed(variable->is_counter, false);
        demote(*variable);
      }
  }

  void analyze_declaration(const Statement& statement, const Statement* loop) {
    for (const LocalVariable& declared : statement.variables) {
      Variable& variable = variable_of(declared);
      variable.loop = loop;
      modify_in_part(declared.init);
      if (is_reference(declared)) modify_names(declared.init);
      const Dependence on = dependence(declared.init);
      if (on.is_other || on.is_changing || variable.is_modified || is_reference(declared))
        set_changed(variable.is_derived, false);
      if (on.is_other || on.is_thread || is_reference(declared))
        set_changed(variable.is_uniform, false);
      scopes_.back().push_back(&variable);
    }
  }

  void analyze(const Statement& statement) {
    switch (statement.kind) {
      case Kind::declaration:
        return analyze_declaration(statement, nullptr);
      case Kind::plain:
        if (!statement.splits && sets_uniform(statement.all))
          return for_each_modified(statement.all, [&](Variable& variable) {
            set_changed(variable.is_modified, true);
            set_changed(variable.is_counter, false);
          });
        return modify_in_part(statement.all);
      case Kind::if_:
        return analyze_if(statement);
      case Kind::for_:
      case Kind::while_:
      case Kind::do_:
        return analyze_loop(statement);
      case Kind::block:
        return statement.splits ? analyze_list(statement.body) : modify_in_part(statement.all);
      default:
        return;
    }
  }

  bool is_uniform(TokenSpan condition) const {
    const Dependence on = dependence(condition);
    return !on.is_other && !on.is_thread;
  }
  // Whether an if is divided: its condition is evaluated once for all threads.
  bool divides(const Statement& statement) const {
    return statement.splits ||
           (statement.returns && masks_ == 0 && is_uniform(statement.condition));
  }
  void analyze_if(const Statement& statement) {
    if (!divides(statement)) return modify_in_part(statement.all);
    modify_in_part(statement.condition);
    const bool diverges = !is_uniform(statement.condition);
    masks_ += diverges ? 1 : 0;
    analyze_list(statement.body);
    analyze_list(statement.otherwise);
    masks_ -= diverges ? 1 : 0;
  }
  void analyze_loop(const Statement& statement) {
    if (!statement.splits) return modify_in_part(statement.all);
    scopes_.emplace_back();
    for (const Statement& init : statement.init) {
      if (init.kind == Kind::declaration)
        analyze_declaration(init, &statement);
      else
        analyze(init);
    }
    ++loops_;
    for (const TokenSpan head : {statement.condition, statement.step})
      for_each_modified(head, [&](Variable& variable) {
        set_changed(variable.is_modified, true);
        if (variable.loop != &statement) set_changed(variable.is_counter, false);
        if (variable.masks < masks_ || !is_uniform(head)) demote(variable);
      });
    if (!is_uniform(statement.condition) || !is_uniform(statement.step)) throw NotUnderstood();
    analyze_list(statement.body);
    --loops_;
    scopes_.pop_back();
  }

  // ---- Writing

  void emit_all(const std::vector<Statement>& body) {
    out_.clear();
    part_ = collectives_ = mask_count_ = loops_ = 0;
    first_return_ = 1 << 30;
    if (needs_live_) {
      out_ += "unsigned char sw_live[1024]; __builtin_memset(sw_live, 1, sw_count);\n";
      guards_.emplace_back("sw_live");
    }
    for (const Variable& variable : variables_)
      if (variable.declared == nullptr && variable.is_stored)
        out_ += text_of("sw_storage<decltype(", variable.name, ")> sw_v_", variable.name,
                        "[1024]; SW_THREADS { SW_THREAD_INDEX; sw_v_", variable.name,
                        "[sw_i] = ", variable.name, "; }\n");
    emit_list(body);
    if (needs_live_) guards_.pop_back();
  }
  template <class... T>
  static std::string text_of(const T&... parts) {
    return spanwise::text(parts...);
  }

  std::string line_of(std::size_t i) const {
    const parse::LineMap::Line line = lines_.origin(tokens_[i].offset, tokens_[i].line);
    return text_of("\n#line ", line.number, " ", parse::c_literal(line.file), "\n");
  }

  // The source text of the tokens, with the replacements of calls, and return statements as jumps
  // to the end of the part.
  std::string render(TokenSpan span) {
    std::string out;
    int line = span.empty() ? 0 : tokens_[span.begin].line;
    for (std::size_t i = span.begin; i < span.end;) {
      for (; line < tokens_[i].line; ++line) out += '\n';
      if (const auto call = replaced_.find(i); call != replaced_.end()) {
        out += call->second.second + " ";
        i = call->second.first;
        continue;
      }
      if (text(i) == "return") {
        first_return_ = std::min(first_return_, loops_ > 0 ? -1 : part_);
        out +=
            text_of("{ ", needs_live_ ? "sw_live[sw_i] = 0; " : "", "goto sw_next_", part_, "; }");
        part_returns_ = true;
        i += 2;
        continue;
      }
      const Token& token = tokens_[i++];
      if (token.kind == Token::Kind::directive) continue;  // a pragma
      out += token.text;
      const bool touches = i < span.end && token.offset + token.text.size() == tokens_[i].offset;
      if (!touches) out += ' ';
    }
    return out;
  }

  // Notes the variables that the part uses.
  void use(TokenSpan span) {
    for (std::size_t i = span.begin; i < span.end; ++i)
      if (is_name(i) && !is_member(i)) use_name(text(i), 0);
  }
  void use_name(std::string_view name, int depth) {
    if (Variable* variable = find(name)) return use(*variable);
    const auto macro = context_.macros.find(name);
    if (macro == context_.macros.end() || depth > 8) return;
    for (const std::string& part : macro->second) use_name(part, depth + 1);
  }
  void use(Variable& variable) {
    if (!used_.insert(&variable).second) return;
    if (variable.is_derived) return use(variable.declared->init);
    if (variable.is_uniform) return;
    if (loops_ > variable.loops || (variable.owner >= 0 && variable.owner != part_))
      variable.is_stored = true;
    variable.owner = part_;
  }

  void add_piece(std::size_t line_token, const std::string& piece) {
    pieces_ += line_of(line_token) + piece;
    has_pieces_ = true;
  }

  // Ends a part: writes its loop over the threads.
  void flush() {
    if (!has_pieces_) return;
    std::string part = "\nSW_THREADS {\nSW_THREAD_INDEX;\n";
    for (const std::string& guard : guards_) part += text_of("if (!", guard, "[sw_i]) continue;\n");
    for (Variable& variable : variables_) {
      if (!used_.contains(&variable)) continue;
      const LocalVariable* declared = variable.declared;
      if (variable.is_derived)
        part += text_of(declared->type, " ", variable.name, " = ", render(declared->init), ";\n");
      else if (variable.is_stored)
        part += text_of("auto& ", variable.name, " = sw_v_", variable.name, "[sw_i];\n");
      else if (!variable.is_uniform && declared != nullptr && declared->init.empty())
        part += text_of(declared->type, " ", variable.name, declared->extents, ";\n");
    }
    part += text_of("{", pieces_, "\n}\n");
    if (part_returns_) part += text_of("sw_next_", part_, ":;\n");
    out_ += part + "}\n";
    ++part_;
    pieces_.clear();
    used_.clear();
    has_pieces_ = part_returns_ = false;
  }

  void emit_list(const std::vector<Statement>& list) {
    scopes_.emplace_back();
    for (const Statement& statement : list) emit(statement);
    flush();
    scopes_.pop_back();
  }

  void emit(const Statement& statement) {
    const std::size_t first = statement.all.begin;
    switch (statement.kind) {
      case Kind::empty:
        return;
      case Kind::declaration:
        for (const LocalVariable& declared : statement.variables) emit_variable(declared);
        return;
      case Kind::shared:
        return emit_shared(statement);
      case Kind::verbatim:
        out_ += line_of(first) + render(statement.all);
        return;
      case Kind::barrier:
        if (text(first) == "__syncwarp" && text(first + 2) != ")")
          require_full_mask({first + 2, statement.all.end - 2});
        if (masks_ > 0 && text(first) == "__syncthreads") throw NotUnderstood();
        require_whole_warps();
        return flush();
      case Kind::jump:
        if (masks_ > 0) throw NotUnderstood();
        flush();
        out_ += text_of(text(first), ";\n");
        return;
      case Kind::leave:
        if (masks_ > 0) break;
        flush();
        out_ += "return;\n";
        return;
      case Kind::if_:
        if (divides(statement)) return emit_if(statement);
        break;
      case Kind::block:
        if (!statement.splits) break;
        flush();
        out_ += "{\n";
        emit_list(statement.body);
        out_ += "}\n";
        return;
      case Kind::for_:
      case Kind::while_:
      case Kind::do_:
        if (statement.splits) return emit_loop(statement);
        break;
      case Kind::plain:
        if (!statement.splits && sets_uniform(statement.all)) {
          flush();
          out_ += line_of(first) + render(statement.all) + "\n";
          return;
        }
        replace_calls(statement.all);
        break;
    }
    use(statement.all);
    add_piece(first, render(statement.all));
  }

  void emit_variable(const LocalVariable& declared) {
    Variable& variable = variable_of(declared);
    const std::string name(declared.name);
    if (!variable.is_uniform && !variable.is_derived) replace_calls(declared.init);
    scopes_.back().push_back(&variable);
    if (variable.is_derived) return;
    if (variable.is_uniform) {
      out_ += line_of(declared.whole.begin) + text_of(declared.type, " ", name);
      if (!declared.init.empty()) out_ += " = " + render(declared.init);
      out_ += ";\n";
      return;
    }
    if (declared.init.empty() && declared.extents.empty() && declared.is_fixed)
      throw NotUnderstood();
    if (variable.is_stored) {
      if (declared.is_fixed) throw NotUnderstood();
      out_ += text_of(declared.type, " sw_v_", name, "[1024]", declared.extents, "; SW_FITS(sw_v_",
                      name, ");\n");
    }
    if (declared.init.empty()) return;
    used_.insert(&variable);
    use(declared.init);
    if (!variable.is_stored) {
      if (loops_ == variable.loops && variable.owner < 0) variable.owner = part_;
      return add_piece(declared.whole.begin,
                       declared.is_fixed ? text_of(declared.base, " ", render(declared.whole), ";")
                                         : text_of(declared.type, " ", name, declared.extents,
                                                   " = ", render(declared.init), ";"));
    }
    if (text(declared.init.begin) != "{")
      return add_piece(declared.whole.begin, text_of(name, " = ", render(declared.init), ";"));
    const std::string init = render(declared.init);
    if (!is_one_of(trimmed(init),
                   {"{0}", "{}", "{ 0 }", "{ }", "{0.f}", "{0.0f}", "{0.}", "{0.0}"}))
      throw NotUnderstood();
    add_piece(declared.whole.begin,
              text_of("__builtin_memset(&", name, ", 0, sizeof ", name, ");"));
  }

  // Shared arrays are on the stack of the worker, which runs one block at a time.
  void emit_shared(const Statement& statement) {
    if (loops_ > 0) throw NotUnderstood();  // its values persist from one iteration to the next
    std::string declaration;
    bool is_extern = false;
    for (std::size_t i = statement.all.begin; i < statement.all.end; ++i) {
      if (is_one_of(text(i), {"alignas", "static", "__align__", "=", "__attribute__", "const"}))
        throw NotUnderstood();
      is_extern |= text(i) == "extern";
      if (is_one_of(text(i), {"__shared__", "extern"})) continue;
      if (is_extern && text(i) == "[") {
        // T name[]: a pointer to the dynamic shared memory.
        if (text(i + 1) != "]" || text(i + 2) != ";") throw NotUnderstood();
        const std::size_t cut = declaration.rfind(' ', declaration.size() - 2);
        const std::string type = declaration.substr(0, cut), name = declaration.substr(cut + 1);
        out_ += text_of(type, "* const ", name, " = (", type, "*)sw_dynamic_shared;\n");
        return;
      }
      declaration.append(text(i)).append(" ");
    }
    if (is_extern) throw NotUnderstood();
    out_ += "__attribute__((aligned(16))) " + declaration + "\n";
  }

  void emit_if(const Statement& statement) {
    replace_calls(statement.condition);
    if (is_uniform(statement.condition)) {
      flush();
      out_ += line_of(statement.condition.begin) +
              text_of("if (", render(statement.condition), ") {\n");
      emit_list(statement.body);
      out_ += "} else {\n";
      emit_list(statement.otherwise);
      out_ += "}\n";
      return;
    }
    if (statement.jumps) throw NotUnderstood();
    const std::string mask = text_of("sw_mask_", ++mask_count_), other = mask + "_else";
    out_ += text_of("unsigned char ", mask, "[1024], ", other, "[1024];\n");
    if (!guards_.empty())
      out_ += text_of("__builtin_memset(", mask, ", 0, sw_count); __builtin_memset(", other,
                      ", 0, sw_count);\n");
    use(statement.condition);
    add_piece(statement.condition.begin,
              text_of(mask, "[sw_i] = (", render(statement.condition), ") ? 1 : 0; ", other,
                      "[sw_i] = 1 - ", mask, "[sw_i];"));
    flush();
    const int splits_warps = is_same_in_warp(statement.condition) ? 0 : 1;
    split_warps_ += splits_warps;
    ++masks_;
    guards_.push_back(mask);
    emit_list(statement.body);
    guards_.back() = other;
    emit_list(statement.otherwise);
    guards_.pop_back();
    --masks_;
    split_warps_ -= splits_warps;
  }

  void emit_loop(const Statement& statement) {
    flush();
    scopes_.emplace_back();
    out_ += "{\n";
    for (const Statement& init : statement.init) {
      emit(init);
      flush();
    }
    const std::string condition = render(statement.condition);
    out_ += line_of(statement.all.begin);
    if (statement.kind == Kind::do_)
      out_ += "do {\n";
    else if (statement.kind == Kind::while_)
      out_ += text_of("while (", condition, ") {\n");
    else
      out_ += text_of("for (; ", condition, "; ", render(statement.step), ") {\n");
    ++loops_;
    emit_list(statement.body);
    --loops_;
    out_ += statement.kind == Kind::do_ ? text_of("} while (", condition, ");\n}\n") : "}\n}\n";
    scopes_.pop_back();
  }

  // ---- Shuffles and votes

  bool is_full_mask(TokenSpan span, int depth = 0) const {
    std::string value;
    for (std::size_t i = span.begin; i < span.end; ++i) value.append(text(i));
    if (span.end == span.begin + 1 && is_name(span.begin)) {
      if (const Variable* variable = find(value))
        return depth < 4 && variable->declared != nullptr && !variable->is_modified &&
               is_full_mask(variable->declared->init, depth + 1);
      const auto macro = context_.macros.find(value);
      if (macro == context_.macros.end()) return false;
      value.clear();
      for (const std::string& part : macro->second) value += part;
    }
    std::erase_if(value, [](char c) { return c == '(' || c == ')' || c == 'u' || c == 'U'; });
    for (char& c : value) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return is_one_of(value,
                     {"0xffffffff", "~0", "-1", "0xffffffffl", "0xffffffffll", "4294967295"});
  }
  void require_full_mask(TokenSpan span) const {
    if (!is_full_mask(span)) throw NotUnderstood();
  }

  // Replaces the waiting calls of an expression: each thread's value is stored in one part, and the
  // call's result is read in the next one.
  void replace_calls(TokenSpan span) {
    std::vector<std::size_t> calls;
    for (std::size_t i = span.begin; i < span.end; ++i)
      if (waiting_call(text(i)) != WaitingCall::none) calls.push_back(i);
    if (calls.empty()) return;
    for (const std::size_t call : calls) {
      // A call that is not always made.
      const std::size_t close = parse::skip_balanced(tokens_, call + 1);
      for (std::size_t i = span.begin; i < span.end; ++i) {
        if (i == call) i = close;
        if (text(i) == "?" || (is_one_of(text(i), {"&", "|"}) && text(i + 1) == text(i)))
          throw NotUnderstood();
      }
    }
    for (std::size_t k = calls.size(); k-- > 0;) replace_call(calls[k]);
  }

  // The arguments in [begin, end): not by split_at_commas(), for which `a < b` opens a bracket.
  std::vector<TokenSpan> arguments_of(std::size_t begin, std::size_t end) const {
    std::vector<TokenSpan> arguments;
    for (std::size_t i = begin; i < end;) {
      const std::size_t first = i;
      while (i < end && text(i) != ",")
        i = is_one_of(text(i), {"(", "[", "{"}) ? parse::skip_balanced(tokens_, i) : i + 1;
      arguments.push_back({first, i});
      i += i < end ? 1 : 0;
    }
    return arguments;
  }

  void replace_call(std::size_t call) {
    const std::string_view name = text(call);
    const WaitingCall kind = waiting_call(name);
    if (text(call + 1) != "(" || kind == WaitingCall::barrier || kind == WaitingCall::warp_barrier)
      throw NotUnderstood();
    if (kind == WaitingCall::block_vote && masks_ > 0) throw NotUnderstood();
    require_whole_warps();
    const std::size_t close = parse::skip_balanced(tokens_, call + 1);
    std::vector<TokenSpan> arguments = arguments_of(call + 2, close - 1);
    if (kind != WaitingCall::block_vote && name.ends_with("_sync")) {
      if (arguments.empty()) throw NotUnderstood();
      require_full_mask(arguments[0]);
      arguments.erase(arguments.begin());
    }
    const bool is_shuffle = kind == WaitingCall::shuffle;
    if (arguments.size() < (is_shuffle ? 2 : 1) || arguments.size() > (is_shuffle ? 3 : 1))
      throw NotUnderstood();
    const int number = ++collectives_;
    const std::string values = text_of("sw_values_", number);
    const std::string active = guards_.empty() ? "nullptr" : text_of("sw_active_", number);
    out_ += text_of("alignas(16) unsigned char ", values, "[1024 * ", is_shuffle ? 8 : 1, "];\n");
    if (!guards_.empty())
      out_ += text_of("unsigned char ", active, "[1024]; __builtin_memset(", active,
                      ", 0, sw_count);\n");
    use(arguments[0]);
    const std::string value = render(arguments[0]);
    add_piece(call, text_of(is_shuffle ? "sw_put(" : "sw_put_vote(", values, ", sw_i, (", value,
                            guards_.empty() ? "));" : text_of(")); ", active, "[sw_i] = 1;")));
    flush();
    std::string result;
    if (is_shuffle) {
      use(arguments[0]);
      result =
          text_of("sw_shuffled<decltype(sw_value_of(", value, "))>(", values, ", ", active,
                  ", sw_i, sw_count, ", shuffle_op(name), ", __LINE__, ", render(arguments[1]));
      if (arguments.size() > 2) result += ", " + render(arguments[2]);
      result += ")";
    } else if (kind == WaitingCall::block_vote) {
      out_ += text_of("const int sw_result_", number, " = sw_block_vote(", values, ", ", active,
                      ", sw_count, sw_barrier_", name.substr(name.rfind('_') + 1), ");\n");
      result = text_of("sw_result_", number);
    } else {
      const std::string_view op = name.substr(2, name.find('_', 2) - 2);
      out_ += text_of("unsigned sw_result_", number, "[32]; sw_warp_votes(", values, ", ", active,
                      ", sw_count, sw_warp_", op, ", sw_result_", number, ");\n");
      result = text_of(op == "ballot" ? "" : "(int)", "sw_result_", number, "[sw_i / 32]");
    }
    replaced_[call] = {close, result};
  }
  static std::string_view shuffle_op(std::string_view name) {
    if (name.starts_with("__shfl_up")) return "sw_warp_shuffle_up";
    if (name.starts_with("__shfl_down")) return "sw_warp_shuffle_down";
    return name.starts_with("__shfl_xor") ? "sw_warp_shuffle_xor" : "sw_warp_shuffle";
  }

  const std::vector<Token>& tokens_;
  const parse::KernelSite& site_;
  const parse::LineMap& lines_;
  const SplitContext& context_;
  std::set<std::string, std::less<>> template_names_;
  std::deque<Variable> variables_;  // in the order of their declarations
  std::vector<std::vector<Variable*>> scopes_;
  bool has_changed_ = false;
  int masks_ = 0, loops_ = 0;
  int split_warps_ = 0;  // conditions around that may differ between the lanes of a warp
  bool needs_warp_rows_ = false;

  std::string out_;
  std::string pieces_;  // of the current part
  std::set<Variable*> used_;
  bool has_pieces_ = false, part_returns_ = false, needs_live_ = false;
  int part_ = 0, collectives_ = 0, mask_count_ = 0, first_return_ = 0;
  std::vector<std::string> guards_;
  // First token of a call -> the token after it, and the text in its place.
  std::map<std::size_t, std::pair<std::size_t, std::string>> replaced_;
};

// The handling of names that a kernel must not have: macros with more than an expression, and names
// that reach a barrier in another way than by a call in the body.
void check_names(const parse::SourceScan& scan, std::size_t begin, std::size_t end,
                 const SplitContext& context, std::set<std::string>& calls) {
  static constexpr std::string_view refused =
      "return break continue goto { } ; = do while for if __shared__ volatile asm";
  for (std::size_t i = begin; i < end; ++i) {
    const std::string_view name = scan.tokens[i].text;
    if (scan.tokens[i].kind != Token::Kind::identifier) continue;
    if (waiting_call(name) != WaitingCall::none) continue;
    calls.emplace(name);
    const auto macro = context.macros.find(name);
    if (macro == context.macros.end()) continue;
    for (std::size_t k = 0; k < macro->second.size(); ++k) {
      const std::string& part = macro->second[k];
      const bool is_comparison =
          part == "=" && (is_one_of(k > 0 ? macro->second[k - 1] : "", {"=", "<", ">", "!"}) ||
                          (k + 1 < macro->second.size() && macro->second[k + 1] == "="));
      if (waiting_call(part) != WaitingCall::none || part == "#" ||
          (is_word_of(part, refused) && !is_comparison))
        throw NotUnderstood();
    }
  }
}

}  // namespace

void SplitContext::add_macro(std::string_view directive) {
  const std::vector<Token> words = parse::lex(directive.substr(1));
  if (words.size() < 2 || words[0].text != "define") return;
  std::vector<std::string>& macro = macros[std::string(words[1].text)];
  for (std::size_t i = 2; i < words.size(); ++i) macro.emplace_back(words[i].text);
}

void SplitContext::add(const std::vector<Token>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i].text;
    if (tokens[i].kind == Token::Kind::directive) add_macro(word);
    const bool is_scope =
        word == "{" && i > 0 &&
        (tokens[i - 1].kind == Token::Kind::string || tokens[i - 1].text == "namespace" ||
         (i > 1 && tokens[i - 2].text == "namespace"));
    if (word == "{" && !is_scope) {
      i = parse::skip_balanced(tokens, i) - 1;
    } else if (word == "const" || word == "constexpr") {
      while (i + 1 < tokens.size() && tokens[i + 1].kind == Token::Kind::identifier) ++i;
      if (i + 1 < tokens.size() && tokens[i + 1].text == "=") constants.emplace(tokens[i].text);
    }
  }
}

std::optional<SplitKernel> split_at_barriers(const parse::SourceScan& scan,
                                             const parse::KernelSite& site, std::size_t begin,
                                             std::size_t end, const parse::LineMap& lines,
                                             const std::string& name, const SplitContext& context) {
  if (site.kernel.is_template && site.template_parameters.empty()) return {};
  try {
    SplitKernel kernel;
    check_names(scan, begin + 1, end, context, kernel.calls);
    const std::vector<Statement> body = read_statements(scan.tokens, begin + 1, end);
    if (std::ranges::none_of(body, &Statement::splits)) return {};
    Splitter splitter(scan, site, lines, context);
    const std::string statements = splitter.run(body);
    kernel.needs_warp_rows = splitter.needs_warp_rows();
    // As loops over threads set their index, which functions and messages read.
    const bool calls =
        std::ranges::any_of(
            kernel.calls,
            [&](const std::string& called) {
              return scan.uses.contains(called) ||
                     is_one_of(called, {"assert", "__assert_fail", "sw_fail", "__trap", "__brkpt",
                                        "printf", "malloc", "free", "new", "delete"});
            }) ||
        scan.uses.contains("");  // operators
    std::size_t open = site.name + 1;
    const Token& last = scan.tokens[parse::skip_balanced(scan.tokens, open) - 1];
    const std::string_view parameters(
        scan.tokens[open].text.data(),
        static_cast<std::size_t>(last.text.data() + 1 - scan.tokens[open].text.data()));
    std::string head;
    if (site.kernel.is_template) head = text("template <", site.template_parameters, ">\n");
    kernel.definition =
        text("\n#ifdef SW_SPLIT_KERNELS\n#undef SW_THREAD_INDEX\n#define SW_THREAD_INDEX ",
             calls ? "SW_SHARED_INDEX" : "SW_LOCAL_INDEX", "\n", head,
             "__attribute__((flatten, noinline)) static void ", name, parameters,
             " {\nSW_SPLIT_KERNEL;\n", statements, "}\n#endif\n");
    return kernel;
  } catch (const NotUnderstood&) {
    return {};
  }
}

}  // namespace spanwise::cpu_backend
