// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/thread_analysis.hpp"

#include <algorithm>
#include <span>

#include "core/string_utils.hpp"
#include "spanwise/parse/c_text.hpp"

namespace spanwise::cpu_backend {

using parse::Token;
using Kind = Statement::Kind;

namespace {

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

}  // namespace

ThreadAnalysis::ThreadAnalysis(const std::vector<Token>& tokens, const parse::KernelSite& site,
                               const SplitContext& context, bool divides_strided)
    : tokens_(tokens), site_(site), context_(context), divides_strided_(divides_strided) {
  for (const Token& token : parse::lex(site.template_parameters))
    if (token.kind == Token::Kind::identifier) template_names_.emplace(token.text);
}

void ThreadAnalysis::analyze_all(const std::vector<Statement>& body) {
  for (const Statement& statement : body)
    if (statement.returns && statement.kind != Kind::leave)
      first_leave_ = std::min(first_leave_, statement.all.begin);
  do {
    has_changed_ = false;
    analyze_list(body);
  } while (has_changed_);
}

std::string_view ThreadAnalysis::text(std::size_t i) const {
  return i < tokens_.size() ? tokens_[i].text : std::string_view{};
}

bool ThreadAnalysis::is_name(std::size_t i) const {
  return i < tokens_.size() && tokens_[i].kind == Token::Kind::identifier;
}

bool ThreadAnalysis::is_member(std::size_t i) const {
  return i > 0 && is_one_of(text(i - 1), {".", "->", "::"});
}

Variable* ThreadAnalysis::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    for (Variable* variable : *scope)
      if (variable->name == name) return variable;
  return nullptr;
}

bool ThreadAnalysis::is_binary(std::size_t i, std::size_t begin) const {
  if (i == begin) return false;
  const Token& before = tokens_[i - 1];
  if (text(i) == "&" && before.text == "&") return true;  // a logical operator
  if (before.kind == Token::Kind::number) return true;
  if (before.kind == Token::Kind::identifier) return !is_one_of(before.text, {"return", "case"});
  return before.text == "]" || (before.text == ")" && !is_cast(i - 1, begin));
}

bool ThreadAnalysis::is_cast(std::size_t close, std::size_t begin) const {
  for (std::size_t i = close; i-- > begin && text(i) != "(";) {
    const bool is_value =
        is_name(i) && (find(text(i)) != nullptr || is_member(i) ||
                       context_.constants.contains(text(i)) || context_.macros.contains(text(i)) ||
                       is_one_of(text(i), {"blockIdx", "blockDim", "gridDim"}));
    if (is_value || !(is_name(i) || text(i) == "*")) return false;
  }
  return true;
}

Dependence ThreadAnalysis::dependence(TokenSpan span) const {
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

void ThreadAnalysis::add_dependence(std::string_view word, bool is_called, int depth,
                                    Dependence& out) const {
  if (word == row_counter_) return;
  if (const Variable* variable = find(word)) {
    if (variable->is_uniform)
      out.is_changing |= variable->is_modified && !variable->is_counter;
    else if (variable->is_derived)
      out.is_thread = true;
    else
      out.is_thread = out.is_other = true;
    return;
  }
  if (shared_names_.contains(word)) {
    out.is_other = true;
  } else if (is_one_of(word, {"threadIdx", "sw_i"})) {
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

bool ThreadAnalysis::is_index(std::size_t i, std::size_t& end) const {
  end = i + 3;
  if (text(i) == "threadIdx" && text(i + 1) == "." && text(i + 2) == "x") return true;
  end = i + 1;
  if (text(i) == "sw_i") return true;
  const Variable* variable = is_name(i) && !is_member(i) ? find(text(i)) : nullptr;
  if (variable == nullptr || variable->is_uniform || !variable->is_derived) return false;
  const TokenSpan init = variable->declared->init;
  std::size_t init_end = 0;
  return is_index(init.begin, init_end) && init_end == init.end;
}

bool ThreadAnalysis::is_whole_warps(std::string_view number) {
  return number == "warpSize" || parse_number<int>(number).value_or(1) % 32 == 0;
}

bool ThreadAnalysis::divides_index(std::size_t begin, std::size_t end, TokenSpan span) const {
  const std::string_view before = begin == span.begin ? "(" : text(begin - 1);
  const auto after = [&](std::size_t k) {
    return end + k < span.end ? text(end + k) : std::string_view(")");
  };
  if (after(0) == "/") return is_whole_warps(after(1)) && is_one_of(before, {"(", "=", ",", "+"});
  const bool is_alone = before == "(" || (is_one_of(before, {"&", "|"}) && begin > span.begin + 1 &&
                                          text(begin - 2) == before);
  if (!is_alone) return false;
  const auto ends = [&](std::size_t k) {
    return after(k) == ")" || (is_one_of(after(k), {"&", "|"}) && after(k + 1) == after(k));
  };
  if (after(0) == ">" && after(1) == ">") return after(2) == "5" && ends(3);
  if (after(0) == ">" && after(1) == "=") return is_whole_warps(after(2)) && ends(3);
  return after(0) == "<" && is_whole_warps(after(1)) && ends(2);
}

bool ThreadAnalysis::is_same_in_warp(TokenSpan span) const {
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

void ThreadAnalysis::require_whole_warps() {
  if (masks_ == 0) return;
  if (split_warps_ > 0) throw NotUnderstood();
  needs_warp_rows_ = true;
}

void ThreadAnalysis::demote(Variable& variable) {
  has_changed_ |= variable.is_uniform || variable.is_derived;
  variable.is_uniform = variable.is_derived = false;
}

void ThreadAnalysis::set_changed(bool& flag, bool value) {
  has_changed_ |= flag != value;
  flag = value;
}

void ThreadAnalysis::for_each_modified(TokenSpan span,
                                       const std::function<void(Variable&)>& use) const {
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
        is_passed || is_bound || is_modified_by_method(*variable, i))
      use(*variable);
  }
}

bool ThreadAnalysis::is_modified_by_method(const Variable& variable, std::size_t i) const {
  if (variable.declared != nullptr || points(variable)) return false;
  if (text(i + 1) == "(") return has_method("operator", 2);
  std::size_t end = i + 1;
  while (text(end) == ".") end += 2;
  return end > i + 1 && text(end) == "(" && has_method(text(end - 1), 0);
}

bool ThreadAnalysis::has_method(std::string_view name, std::size_t skipped) const {
  for (std::size_t k = 1; k + 1 < tokens_.size(); ++k) {
    const std::size_t open = k + 1 + skipped;
    if (tokens_[k].text != name || text(open) != "(" ||
        !(is_name(k - 1) || is_one_of(text(k - 1), {"&", "*", ">"})))
      continue;
    const std::size_t close = parse::skip_balanced(tokens_, open);
    if (text(close) == "{") return true;
  }
  return false;
}

bool ThreadAnalysis::is_class(std::string_view type, int depth) const {
  std::string_view name;
  const std::vector<Token> words = parse::lex(type);
  for (const Token& word : words) {
    if (word.text == "<" || word.text == "*") break;
    if (word.kind == Token::Kind::identifier) name = word.text;
  }
  if (type.find('*') != type.npos || name.empty() || is_builtin_type(name)) return false;
  for (std::size_t k = 1; k + 1 < tokens_.size(); ++k) {
    if (tokens_[k].text != name) continue;
    // struct __align__(8) name {
    std::size_t before = k - 1;
    while (before > 0 && text(before) == ")") {
      while (before > 0 && text(before) != "(") --before;
      before -= before > 1 ? 2 : before;
    }
    if (is_one_of(text(before), {"struct", "class", "union"})) return true;
    if (text(k - 1) == "}" && text(k + 1) == ";") return true;  // typedef struct { } name;
    if (depth > 3) return true;
    std::size_t begin = k, end = k;
    if (text(k - 1) == "using" && text(k + 1) == "=") {
      begin = k + 2;
      for (end = begin; end < tokens_.size() && text(end) != ";";) ++end;
    } else if (text(k + 1) == ";") {
      while (begin > 0 && k - begin < 12 && !is_one_of(text(begin - 1), {";", "{", "}"})) --begin;
      if (text(begin) == "typedef")
        ++begin;
      else
        begin = k;
    }
    std::string aliased;
    for (; begin < end; ++begin) aliased.append(text(begin)).append(" ");
    if (!aliased.empty() && is_class(aliased, depth + 1)) return true;
  }
  return false;
}

bool ThreadAnalysis::is_array_member(std::string_view name) const {
  for (std::size_t k = 1; k + 1 < tokens_.size(); ++k)
    if (tokens_[k].text == name && text(k + 1) == "[" && is_name(k - 1)) return true;
  return false;
}

bool ThreadAnalysis::gives_address(const Variable& variable, TokenSpan span, std::size_t i) const {
  if (points(variable) && is_one_of(text(i + 1), {"[", "->"})) return false;
  if (i > span.begin && text(i - 1) == "&" && !is_binary(i - 1, span.begin)) {
    // *(float *)&value is a value.
    std::size_t cast = i - 1;
    if (cast > span.begin && text(cast - 1) == ")")
      while (cast > span.begin && text(cast) != "(") --cast;
    return cast == i - 1 || cast == span.begin || text(cast - 1) != "*";
  }
  std::ptrdiff_t subscripts = 0;
  bool has_member = false, is_member_last = false;
  std::size_t end = i + 1;
  while (is_one_of(text(end), {"[", "."})) {
    is_member_last = text(end) == ".";
    has_member |= is_member_last;
    subscripts += is_member_last ? 0 : 1;
    end = is_member_last ? end + 2 : parse::skip_balanced(tokens_, end);
  }
  if (!has_member && std::ranges::count(variable.declared->extents, '[') > subscripts) return true;
  if (is_member_last && is_array_member(text(end - 1))) return true;
  // An argument that the function may take by reference.
  return i > span.begin && is_one_of(text(i - 1), {"(", ","}) && is_one_of(text(end), {")", ","}) &&
         !keeps_arguments(span, i);
}

bool ThreadAnalysis::points(const Variable& variable) const {
  if (variable.declared != nullptr) return variable.declared->is_pointer;
  for (const parse::ParameterDeclaration& parameter : site_.kernel.parameters)
    if (parameter.name == variable.name) return parameter.is_pointer;
  return false;
}

bool ThreadAnalysis::keeps_arguments(TokenSpan span, std::size_t i) const {
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
  return is_declared || callee.starts_with("__") || callee.starts_with("atomic") ||
         callee.starts_with("make_");
}

void ThreadAnalysis::keep_addresses(TokenSpan span, const LocalVariable* declared) {
  const bool points_away =
      declared != nullptr && (declared->is_pointer || declared->type.find("auto") < 5);
  for (std::size_t i = span.begin; i < span.end; ++i) {
    Variable* variable = is_name(i) && !is_member(i) ? find(text(i)) : nullptr;
    if (variable == nullptr || variable->declared == nullptr || variable->is_stored) continue;
    // A pointer that a method of an object returns.
    const bool is_object = points_away && text(i + 1) == "." && text(i + 3) == "(" &&
                           !is_builtin_type(variable->declared->type);
    if (is_object || (gives_address(*variable, span, i) && may_store_address(span, i, declared))) {
      set_changed(variable->is_stored, true);
      demote(*variable);
    }
  }
}

bool ThreadAnalysis::may_store_address(TokenSpan span, std::size_t i,
                                       const LocalVariable* declared) const {
  if (declared != nullptr)
    return declared->is_pointer || declared->is_fixed || !is_builtin_type(declared->type);
  std::size_t begin = i, open = 0;
  int depth = 0;
  for (; begin > span.begin && !is_one_of(text(begin - 1), {";", "}"}); --begin) {
    const std::string_view word = text(begin - 1);
    if (word == "{" && !(begin > span.begin + 1 && is_one_of(text(begin - 2), {"=", ",", "("})))
      break;
    depth += is_one_of(word, {")", "]"}) ? 1 : is_one_of(word, {"(", "["}) ? -1 : 0;
    if (word == "(" && depth < 0 && open == 0 && begin > span.begin + 1 && is_name(begin - 2))
      open = begin - 1;
    if (depth < 0) depth = 0;
  }
  for (std::size_t k = begin; k < i; ++k) {
    if (!is_assignment(tokens_, k)) continue;
    const Variable* target = is_name(begin) ? find(text(begin)) : nullptr;
    // Memory has no addresses of variables of threads.
    if (target == nullptr || target->declared == nullptr)
      return !is_name(begin) || find(text(begin)) != nullptr || text(begin + 1) == "*";
    return !is_builtin_type(target->declared->type);
  }
  if (open == 0 || is_one_of(text(open - 2), {".", "->"})) return true;
  // f(&object, &value)
  const std::size_t close = parse::skip_balanced(tokens_, open);
  for (std::size_t k = open + 1; k + 1 < close; ++k) {
    const Variable* other = k != i && is_name(k) && !is_member(k) ? find(text(k)) : nullptr;
    if (other != nullptr && other->declared != nullptr && text(k) != text(i) &&
        (other->declared->is_pointer ? text(k - 1) == "&"
                                     : !is_builtin_type(other->declared->type)))
      return true;
  }
  return false;
}

void ThreadAnalysis::modify_in_part(TokenSpan span) {
  keep_addresses(span, nullptr);
  modify(span);
}

void ThreadAnalysis::modify(TokenSpan span) {
  for_each_modified(span, [&](Variable& variable) {
    set_changed(variable.is_modified, true);
    set_changed(variable.is_counter, false);
    demote(variable);
  });
}

bool ThreadAnalysis::sets_uniform(TokenSpan span) const {
  const Dependence on = dependence(span);
  bool sets = false, sets_other = false;
  for_each_modified(span, [&](const Variable& variable) {
    sets = true;
    sets_other |= !variable.is_uniform || variable.masks < masks_;
  });
  return sets && !sets_other && !on.is_other && !on.is_thread && !may_divide_by_zero(span);
}

void ThreadAnalysis::analyze_list(const std::vector<Statement>& list) {
  scopes_.emplace_back();
  for (const Statement& statement : list) analyze(statement);
  scopes_.pop_back();
}

Variable& ThreadAnalysis::variable_of(const LocalVariable& declared) {
  for (Variable& variable : variables_)
    if (variable.declared == &declared) return variable;
  if (find(declared.name) != nullptr) throw NotUnderstood();  // hides another
  Variable& variable = variables_.emplace_back();
  variable.declared = &declared;
  variable.name = declared.name;
  variable.masks = masks_;
  variable.loops = loops_;
  if (!declared.extents.empty() || is_class(declared.type, 0))
    variable.is_uniform = variable.is_derived = false;
  if (declared.init.empty()) variable.is_derived = false;
  return variable;
}

bool ThreadAnalysis::is_reference(const LocalVariable& declared) {
  return declared.is_fixed &&
         (declared.is_reference || declared.type.find("auto") == std::string::npos);
}

void ThreadAnalysis::modify_names(TokenSpan span) {
  for (std::size_t i = span.begin; i < span.end; ++i)
    if (Variable* variable = is_name(i) && !is_member(i) ? find(text(i)) : nullptr) {
      set_changed(variable->is_modified, true);
      set_changed(variable->is_counter, false);
      demote(*variable);
    }
}

void ThreadAnalysis::analyze_declaration(const Statement& statement, const Statement* loop) {
  for (const LocalVariable& declared : statement.variables) {
    Variable& variable = variable_of(declared);
    variable.loop = loop;
    modify(declared.init);
    keep_addresses(declared.init, &declared);
    if (is_reference(declared)) modify_names(declared.init);
    const Dependence on = dependence(declared.init);
    if (on.is_other || on.is_changing || variable.is_modified || is_reference(declared))
      set_changed(variable.is_derived, false);
    if (on.is_other || on.is_thread || is_reference(declared) || may_divide_by_zero(declared.init))
      set_changed(variable.is_uniform, false);
    scopes_.back().push_back(&variable);
  }
}

void ThreadAnalysis::analyze(const Statement& statement) {
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
    case Kind::shared:
      for (std::size_t i = statement.all.begin; i < statement.all.end; ++i)
        if (is_name(i) && is_one_of(text(i + 1), {"[", ",", ";"})) shared_names_.emplace(text(i));
      return;
    default:
      return;
  }
}

bool ThreadAnalysis::may_divide_by_zero(TokenSpan span) const {
  if (masks_ == 0 && span.begin < first_leave_) return false;
  for (std::size_t i = span.begin; i + 1 < span.end; ++i)
    if (is_one_of(text(i), {"/", "%"})) {
      std::size_t divisor = i + (text(i + 1) == "=" ? 2 : 1);
      if (text(divisor) == "(" && is_cast(parse::skip_balanced(tokens_, divisor) - 1, divisor))
        divisor = parse::skip_balanced(tokens_, divisor);
      const std::size_t end =
          is_name(divisor) && text(divisor + 1) == "." ? divisor + 3 : divisor + 1;
      const bool is_constant = end == divisor + 1 && (template_names_.contains(text(divisor)) ||
                                                      context_.constants.contains(text(divisor)));
      if (end > span.end || (!is_constant && !is_positive({divisor, end}))) return true;
    }
  return false;
}

bool ThreadAnalysis::is_uniform(TokenSpan condition) const {
  const Dependence on = dependence(condition);
  return !on.is_other && !on.is_thread && !may_divide_by_zero(condition);
}

bool ThreadAnalysis::divides(const Statement& statement) const {
  if (statement.splits) return true;
  const bool strides = divides_strided_ && statement.strides && !statement.jumps &&
                       !statement.returns && !undivided_.contains(&statement);
  if (statement.kind != Kind::if_)
    return statement.kind == Kind::for_ && (strides || is_row_loop(statement));
  return (strides || (statement.returns && masks_ == 0)) && is_uniform(statement.condition);
}

bool ThreadAnalysis::has(std::span<const Statement> list,
                         const std::function<bool(const Statement&)>& holds) {
  return std::ranges::any_of(list, [&](const Statement& each) {
    return holds(each) || has(each.body, holds) || has(each.otherwise, holds);
  });
}

bool ThreadAnalysis::is_row_loop(const Statement& statement) const {
  if (!divides_strided_ || loops_ > 0 || statement.kind != Kind::for_ || statement.splits ||
      statement.jumps || statement.returns || undivided_.contains(&statement) ||
      statement.init.size() != 1 || statement.init[0].variables.size() != 1 ||
      !is_uniform(statement.init[0].variables[0].init) ||
      statement.init[0].variables[0].init.empty())
    return false;
  // Compilers unroll loops whose length is a constant, and the loop over threads becomes one of
  // vectors.
  bool has_variable_end = false, reads_row = false;
  for (std::size_t i = statement.condition.begin + 1; i < statement.condition.end; ++i)
    has_variable_end |= is_name(i) && !is_member(i) && find(text(i)) != nullptr;
  row_counter_ = statement.init[0].variables[0].name;
  const bool has_row_body = std::ranges::all_of(
      statement.body, [&](const Statement& each) { return is_row_statement(each, reads_row); });
  row_counter_ = {};
  return has_variable_end && has_row_body && reads_row;
}

bool ThreadAnalysis::is_row_statement(const Statement& statement, bool& reads_row) const {
  if ((statement.kind != Kind::plain && statement.kind != Kind::declaration) ||
      text(statement.all.begin) == "switch" || sets_uniform(statement.all) ||
      keeps_arrays(statement.all))
    return false;
  const TokenSpan all = statement.all;
  for (std::size_t i = all.begin; i < all.end; ++i) {
    if (is_one_of(text(i), {"->", "?", "::"}) ||
        (is_one_of(text(i), {"*", "&"}) && !is_binary(i, all.begin)) ||
        (is_name(i) && text(i + 1) == "(" && !is_word_of(text(i), value_functions)))
      return false;
    if (text(i) != "[") continue;
    const TokenSpan index{i + 1, parse::skip_balanced(tokens_, i) - 1};
    if (counts_threads(index))
      reads_row = true;
    else if (differs_in_row(index))
      return false;
  }
  return true;
}

bool ThreadAnalysis::has_row_loops(std::span<const Statement> list) const {
  return has(list, [&](const Statement& each) { return is_row_loop(each); }) &&
         !has(list, [&](const Statement& each) {
           return each.splits || each.strides || each.returns || each.kind == Kind::shared ||
                  (each.kind == Kind::plain && sets_uniform(each.all));
         });
}

void ThreadAnalysis::analyze_if(const Statement& statement) {
  if (statement.otherwise.empty() && !statement.splits && row_limits(statement.condition, false) &&
      has_row_loops(statement.body)) {
    ++masks_;
    analyze_list(statement.body);
    --masks_;
    return;
  }
  if (!divides(statement)) return modify_in_part(statement.all);
  modify_in_part(statement.condition);
  const bool diverges = !is_uniform(statement.condition);
  masks_ += diverges ? 1 : 0;
  analyze_list(statement.body);
  analyze_list(statement.otherwise);
  masks_ -= diverges ? 1 : 0;
}

void ThreadAnalysis::analyze_loop(const Statement& statement) {
  if (const auto strided = strided_loop(statement)) return analyze_strided(statement, *strided);
  if (!divides(statement)) return modify_in_part(statement.all);
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
  if (!is_uniform(statement.condition) || !is_uniform(statement.step)) {
    if (statement.splits) throw NotUnderstood();
    undivided_.insert(&statement);
    has_changed_ = true;
  } else {
    analyze_list(statement.body);
  }
  --loops_;
  scopes_.pop_back();
}

void ThreadAnalysis::analyze_strided(const Statement& statement, const StridedLoop& loop) {
  Variable& variable = variable_of(*loop.counter);
  variable.loop = &statement;
  set_changed(variable.is_uniform, false);
  scopes_.push_back({&variable});
  ++loops_;
  ++masks_;
  analyze_list(statement.body);
  --masks_;
  --loops_;
  scopes_.pop_back();
}

std::optional<Sum> ThreadAnalysis::sum_at(TokenSpan span) const {
  Sum sum;
  for (std::size_t i = span.begin; i < span.end;) {
    Addend addend;
    if (i > span.begin) addend.is_negative = text(i++) == "-";
    addend.span.begin = i;
    while (i < span.end && (!is_one_of(text(i), {"+", "-"}) || !is_binary(i, addend.span.begin))) {
      if (is_one_of(text(i), {"?", ":", "<", ">", "&", "|", "^", "=", "!", ",", "{"})) return {};
      i = is_one_of(text(i), {"(", "["}) ? parse::skip_balanced(tokens_, i) : i + 1;
    }
    addend.span.end = i;
    const Dependence on = dependence(addend.span);
    if (addend.span.empty() || on.is_other) return {};
    (on.is_thread ? sum.others : sum.uniform).push_back(addend);
  }
  return sum;
}

bool ThreadAnalysis::starts_at_zero(TokenSpan span) const {
  TokenSpan addend{span.begin, span.begin};
  for (std::size_t i = span.begin; i < span.end;) {
    const std::string_view word = text(i);
    // The index of a lane or a warp: t & 31, t >> 5.
    const std::size_t width = word == "&" ? 1 : word == ">" && text(i + 1) == ">" ? 2 : 0;
    if (width > 0) return starts_at_zero({span.begin, i}) && is_positive({i + width, span.end});
    if (word == "+") {
      if (!is_zero_product({addend.begin, i})) return false;
      addend.begin = i + 1;
    }
    i = is_one_of(word, {"(", "["}) ? parse::skip_balanced(tokens_, i) : i + 1;
  }
  return is_zero_product({addend.begin, span.end});
}

bool ThreadAnalysis::is_zero_product(TokenSpan span) const {
  bool is_zero = false;
  std::string_view op = "*";
  for (std::size_t i = span.begin; i < span.end;) {
    TokenSpan factor{i, i};
    while (i < span.end && !is_one_of(text(i), {"*", "/", "%"}))
      i = is_one_of(text(i), {"(", "["}) ? parse::skip_balanced(tokens_, i) : i + 1;
    factor.end = std::min(i, span.end);
    if (op == "*" && is_zero_factor(factor))
      is_zero = true;
    else if (!is_positive(factor) || (op != "*" && !is_zero))
      return false;
    op = text(i);
    if (i++ < span.end && i >= span.end) return false;
  }
  return is_zero;
}

bool ThreadAnalysis::is_zero_factor(TokenSpan span) const {
  if (span.end > span.begin + 3 && text(span.begin) == "(" && text(span.begin + 2) == ")" &&
      is_one_of(text(span.begin + 1), {"int", "unsigned", "size_t", "long"}))
    span.begin += 3;
  if (text(span.begin) == "(" && parse::skip_balanced(tokens_, span.begin) == span.end)
    return starts_at_zero({span.begin + 1, span.end - 1});
  if (text(span.begin) == "threadIdx") return span.end == span.begin + 3;
  if (text(span.begin) == "sw_i") return span.end == span.begin + 1;
  if (span.end != span.begin + 1 || !is_name(span.begin)) return false;
  const Variable* variable = find(text(span.begin));
  return variable != nullptr && !variable->is_uniform && variable->is_derived &&
         variable->loop == nullptr && starts_at_zero(variable->declared->init);
}

bool ThreadAnalysis::is_positive(TokenSpan span) const {
  const std::string_view first = text(span.begin);
  if (span.end == span.begin + 3) return is_one_of(first, {"blockDim", "gridDim"});
  if (span.end != span.begin + 1) return false;
  const auto macro = context_.macros.find(first);
  if (macro != context_.macros.end())
    return macro->second.size() == 1 && parse_number<int>(macro->second[0]).has_value();
  return tokens_[span.begin].kind == Token::Kind::number || first == "warpSize";
}

bool ThreadAnalysis::stays_positive(const std::vector<Addend>& addends) const {
  return std::ranges::all_of(addends, [&](const Addend& addend) {
    for (std::size_t i = addend.span.begin; i < addend.span.end; ++i)
      if (!is_member(i) && !is_one_of(text(i), {"*", "(", ")", "."}) &&
          !is_word_of(text(i), "int unsigned size_t long blockIdx") &&
          !template_names_.contains(text(i)) &&
          !is_positive({i, text(i + 1) == "." ? i + 3 : i + 1}))
        return false;
    return !addend.is_negative;
  });
}

bool ThreadAnalysis::keeps_arrays(TokenSpan body) const {
  for (std::size_t i = body.begin; i < body.end; ++i) {
    const Variable* variable = is_name(i) && !is_member(i) ? find(text(i)) : nullptr;
    if (variable != nullptr && variable->declared != nullptr &&
        (!variable->declared->extents.empty() || is_reference(*variable->declared)))
      return true;
  }
  return false;
}

std::optional<StridedLoop> ThreadAnalysis::strided_loop(const Statement& statement) const {
  if (!divides_strided_ || statement.kind != Kind::for_ || !statement.strides || statement.splits ||
      statement.returns || std::ranges::any_of(statement.body, &Statement::jumps))
    return {};
  const LocalVariable& counter = statement.init[0].variables[0];
  if (counter.is_fixed || counter.is_pointer || !counter.extents.empty() || counter.init.empty())
    return {};
  for (const Variable& variable : variables_)
    if (variable.declared == &counter && !variable.is_derived) return {};
  StridedLoop loop{.counter = &counter};
  // i < end, i <= end
  const TokenSpan condition = statement.condition, step = statement.step;
  const std::size_t inclusive = text(condition.begin + 2) == "=" ? 1 : 0;
  loop.comparison = inclusive > 0 ? " <= " : " < ";
  loop.end = {condition.begin + 2 + inclusive, condition.end};
  // i += step
  loop.step = {step.begin + 3, step.end};
  if (text(condition.begin) != counter.name || text(condition.begin + 1) != "<" ||
      text(loop.end.begin) == "<" || !is_uniform(loop.end) || !is_uniform(loop.step) ||
      keeps_arrays(statement.all))
    return {};
  const std::optional<Sum> start = sum_at(counter.init);
  if (!start || start->others.empty() ||
      !std::ranges::all_of(start->others, [&](const Addend& addend) {
        return !addend.is_negative && starts_at_zero(addend.span);
      }))
    return {};
  if (trimmed(counter.type) != "int" && !stays_positive(start->uniform)) return {};
  loop.start = *start;
  return loop;
}

bool ThreadAnalysis::differs_in_row(TokenSpan span) const {
  if (dependence(span).is_other) return true;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    if (!is_name(i) || is_member(i)) continue;
    const Variable* variable = find(text(i));
    if (text(i) == "sw_i") return true;
    if (text(i) == "threadIdx"
            ? text(i + 2) == "x"
            : variable != nullptr && !variable->is_uniform &&
                  (variable->loop != nullptr || differs_in_row(variable->declared->init)))
      return true;
    if (variable == nullptr && context_.macros.contains(text(i)) &&
        dependence({i, i + 1}).is_thread)
      return true;
  }
  return false;
}

bool ThreadAnalysis::counts_threads(TokenSpan span) const {
  if (span.end == span.begin + 1 && is_name(span.begin)) {
    const Variable* variable = find(text(span.begin));
    if (variable == nullptr || variable->is_uniform || !variable->is_derived) return false;
    const std::string_view type = trimmed(variable->declared->type);
    return is_one_of(type, {"int", "unsigned", "unsigned int", "uint", "size_t", "long",
                            "unsigned long", "long long", "int64_t", "uint32_t", "int32_t"}) &&
           counts_threads(variable->declared->init);
  }
  const std::optional<Sum> sum = sum_at(span);
  if (!sum) return false;
  int indices = 0;
  for (const Addend& addend : sum->others) {
    TokenSpan term = addend.span;
    if (term.end > term.begin + 3 && text(term.begin) == "(" && text(term.begin + 1) == "int" &&
        text(term.begin + 2) == ")")
      term.begin += 3;
    std::size_t end = 0;
    const bool is_variable = term.end == term.begin + 1 && is_name(term.begin);
    if ((is_index(term.begin, end) && end == term.end) || (is_variable && counts_threads(term)))
      indices += addend.is_negative ? 2 : 1;
    else if (differs_in_row(term))
      return false;
  }
  return indices == 1;
}

std::optional<RowLimit> ThreadAnalysis::row_limit(TokenSpan term, bool is_negated) const {
  while (text(term.begin) == "(" && parse::skip_balanced(tokens_, term.begin) == term.end)
    term = {term.begin + 1, term.end - 1};
  if (term.empty()) return {};
  RowLimit limit{.condition = term, .is_negated = is_negated};
  if (!differs_in_row(term)) return limit;
  std::size_t at = term.begin;
  while (at < term.end && !is_one_of(text(at), {"<", ">"}))
    at = is_one_of(text(at), {"(", "["}) ? parse::skip_balanced(tokens_, at) : at + 1;
  if (at >= term.end || text(at) == text(at + 1) || text(at) != (is_negated ? ">" : "<")) return {};
  const bool has_equal = text(at + 1) == "=";
  limit.value = {term.begin, at};
  limit.bound = {at + (has_equal ? 2 : 1), term.end};
  limit.is_inclusive = has_equal != is_negated;
  for (std::size_t i = limit.bound.begin; i < limit.bound.end; ++i)
    if (is_one_of(text(i), {"<", ">", "=", "?", "&", "|", "^", ","})) return {};
  if (!counts_threads(limit.value) || differs_in_row(limit.bound)) return {};
  return limit;
}

std::optional<std::vector<RowLimit>> ThreadAnalysis::row_limits(TokenSpan condition,
                                                                bool is_negated) const {
  const std::string_view op = is_negated ? "|" : "&";
  std::vector<RowLimit> limits;
  bool limits_threads = false;
  TokenSpan term{condition.begin, condition.begin};
  for (std::size_t i = condition.begin; i <= condition.end;) {
    if (i < condition.end && (text(i) != op || text(i + 1) != op)) {
      i = is_one_of(text(i), {"(", "["}) ? parse::skip_balanced(tokens_, i) : i + 1;
      continue;
    }
    term.end = i;
    const auto limit = row_limit(term, is_negated);
    if (!limit) return {};
    limits_threads |= !limit->value.empty();
    limits.push_back(*limit);
    term.begin = i += 2;
  }
  if (!limits_threads) return {};
  return limits;
}

bool ThreadAnalysis::changes_locals(TokenSpan span) const {
  for (std::size_t i = span.begin; i < span.end; ++i) {
    if (is_one_of(text(i), {"return", "new", "delete"})) return false;
    if (is_name(i) && !is_member(i) && text(i + 1) == "(" && i + 1 < span.end &&
        !is_word_of(text(i), value_functions) && !is_one_of(text(i), {"for", "if", "while"}))
      return false;
    if (!is_assignment(tokens_, i)) continue;
    const bool is_step = is_one_of(text(i), {"+", "-"}) && text(i + 1) == text(i);
    std::size_t name = i - 1;
    if (is_step && !(i > span.begin && (is_name(i - 1) || text(i - 1) == "]"))) name = i + 2;
    if (name < span.begin || !is_name(name) || is_member(name)) return false;
    const Variable* variable = find(text(name));
    const bool is_declared = name > span.begin && name < i && is_name(name - 1);
    if (variable == nullptr
            ? !is_declared && !declares(span, text(name))
            : variable->is_uniform || variable->is_stored || variable->declared == nullptr)
      return false;
    if (name > span.begin && name < i && text(name - 1) == "*") return false;
    i += is_step ? 1 : 0;
    while (!is_step && text(i) != "=") ++i;
  }
  return true;
}

bool ThreadAnalysis::declares(TokenSpan span, std::string_view name) const {
  for (std::size_t i = span.begin + 1; i < span.end; ++i)
    if (text(i) == name && is_name(i - 1) && text(i - 1) != "return") return true;
  return false;
}

}  // namespace spanwise::cpu_backend
