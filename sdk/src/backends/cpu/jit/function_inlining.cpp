// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/function_inlining.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "backends/cpu/jit/block_statements.hpp"
#include "core/string_utils.hpp"
#include "parse/device_code.hpp"

namespace spanwise::cpu_backend {
namespace {

using parse::Token;
using Kind = Statement::Kind;
using Tokens = std::vector<Token>;

/// A group of cooperative_groups: the block, or tiles of `size` lanes.
struct Group {
  int size = 0;  ///< 0: the block
};

struct Parameter {
  Tokens type;
  std::string_view name;
  Tokens initial;  ///< its default
  bool is_reference = false;
};

/// A function of the source.
struct Function {
  std::vector<Parameter> parameters, template_parameters;
  Tokens returns;
  std::size_t body_begin = 0, body_end = 0;  ///< behind '{', at '}'
};

/// What names stand for in one function.
struct Scope {
  std::map<std::string, Tokens, std::less<>> replaced;
  std::map<std::string, Group, std::less<>> groups;
};

class Inliner {
 public:
  Inliner(const parse::SourceScan& scan, InlinedBody& result) : scan_(scan), result_(result) {}

  // Whether the body has something to inline.
  bool is_needed(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Token& token = scan_.tokens[i];
      if (token.kind == Token::Kind::identifier &&
          (waits(token.text) || token.text == "this_thread_block"))
        return true;
    }
    return false;
  }

  void run(const parse::KernelSite& site, std::size_t begin, std::size_t end) {
    read_functions();
    types_.emplace_back();
    for (const parse::ParameterDeclaration& parameter : site.kernel.parameters)
      types_.back()[std::string(parameter.name)] = parameter.type;
    result_.tokens = scan_.tokens;
    result_.begin = result_.tokens.size();
    tokens_ = &scan_.tokens;
    emit_list(read_statements(scan_.tokens, begin + 1, end), Scope{});
    result_.end = result_.tokens.size();
  }

 private:
  // ---- The functions of the source

  bool waits(std::string_view name) {
    const auto [entry, is_new] = waits_.try_emplace(std::string(name), false);
    if (is_new) entry->second = scan_.uses.contains(name) && scan_.uses.reaches_barrier(name);
    return entry->second;
  }

  void read_functions() {
    for (const parse::Declaration& declared : parse::split_declarations(scan_.tokens)) {
      if (declared.kind != parse::Declaration::Kind::function || declared.names.empty()) continue;
      const std::string_view name = declared.names[0];
      functions_[std::string(name)].push_back(read_function(declared, name));
    }
  }

  static std::vector<Parameter> read_parameters(std::span<const Token> list) {
    std::vector<Parameter> out;
    for (const std::span<const Token> part : parse::split_at_commas(list)) {
      Parameter& parameter = out.emplace_back();
      const auto equals = std::ranges::find(part, std::string_view("="), &Token::text);
      auto name = equals;
      while (name != part.begin() && std::prev(name)->kind != Token::Kind::identifier) --name;
      if (equals != part.end()) parameter.initial.assign(std::next(equals), part.end());
      if (name != equals || name == part.begin() || name == std::next(part.begin()))
        parameter.type.assign(part.begin(), equals);  // without a name
      else
        parameter.type.assign(part.begin(), std::prev(name));
      if (parameter.type.size() < static_cast<std::size_t>(equals - part.begin()))
        parameter.name = std::prev(name)->text;
      parameter.is_reference = !parameter.type.empty() && parameter.type.back().text == "&";
    }
    if (out.size() == 1 && out[0].name.empty() && out[0].type.size() == 1 &&
        out[0].type[0].text == "void")
      out.clear();
    return out;
  }

  // Nothing for a function that cannot be inlined.
  std::optional<Function> read_function(const parse::Declaration& declared, std::string_view name) {
    static constexpr std::string_view specifiers =
        "static inline extern constexpr __device__ __host__ __forceinline__ __inline__ __inline "
        "__noinline__";
    const Tokens& tokens = scan_.tokens;
    Function out;
    std::size_t i = declared.begin;
    if (tokens[i].text == "template") {
      if (tokens[i + 1].text != "<") return {};
      const std::size_t close = parse::skip_balanced(tokens, i + 1);
      out.template_parameters =
          read_parameters(std::span(tokens).subspan(i + 2, close - 1 - (i + 2)));
      i = close;
    }
    for (; i < declared.head_end && tokens[i].text != name; ++i) {
      if (is_one_of(tokens[i].text, {"__attribute__", "__launch_bounds__"}))
        i = parse::skip_balanced(tokens, i + 1) - 1;
      else if (!is_word_of(tokens[i].text, specifiers))
        out.returns.push_back(tokens[i]);
    }
    if (out.returns.empty() || tokens[i].text != name || tokens[i + 1].text != "(" ||
        (!out.returns.empty() && out.returns.back().text == "::"))
      return {};
    const std::size_t close = parse::skip_balanced(tokens, i + 1);
    if (close != declared.head_end || tokens[close].text != "{") return {};
    out.parameters = read_parameters(std::span(tokens).subspan(i + 2, close - 1 - (i + 2)));
    for (const Parameter& parameter : out.parameters)
      for (const Token& token : parameter.type)
        if (is_one_of(token.text, {"(", "[", "volatile", "."}) || token.text == "auto") return {};
    out.body_begin = close + 1;
    out.body_end = declared.end - 1;
    return out;
  }

  // ---- Tokens

  Token made(std::string text, const Token& at, Token::Kind kind = Token::Kind::identifier) {
    result_.texts.push_back(std::move(text));
    return {kind, result_.texts.back(), at.offset, at.line};
  }
  // The tokens of a text, at the place of a token.
  Tokens lexed(std::string text, const Token& at) {
    result_.texts.push_back(std::move(text));
    Tokens out = parse::lex(result_.texts.back());
    for (Token& token : out) {
      token.offset = at.offset;
      token.line = at.line;
    }
    return out;
  }
  static void append(Tokens& out, const Tokens& more) {
    out.insert(out.end(), more.begin(), more.end());
  }
  void put(const Tokens& tokens) { append(result_.tokens, tokens); }
  void put(std::string_view text, const Token& at) { put(lexed(std::string(text), at)); }
  const Token& at(std::size_t i) const { return (*tokens_)[i]; }
  std::string_view text(std::size_t i) const {
    return i < tokens_->size() ? (*tokens_)[i].text : std::string_view{};
  }
  static std::string text_of(const Tokens& tokens) {
    std::string out;
    for (const Token& token : tokens) out.append(token.text).append(" ");
    return out;
  }

  // ---- Types of variables

  void set_type(const Token& name, std::string type) {
    types_.back()[std::string(name.text)] = std::move(type);
  }
  const std::string* type_of(std::string_view name) const {
    for (auto scope = types_.rbegin(); scope != types_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end()) return &found->second;
    return nullptr;
  }

  // ---- Statements

  void emit_list(const std::vector<Statement>& list, Scope scope) {
    types_.emplace_back();
    for (const Statement& statement : list) emit(statement, scope);
    types_.pop_back();
  }
  void emit_braced(const std::vector<Statement>& list, const Scope& scope, const Token& near) {
    put("{", near);
    emit_list(list, scope);
    put("}", near);
  }

  void emit(const Statement& statement, Scope& scope) {
    if (statement.all.empty()) return;
    const Token& first = at(statement.all.begin);
    switch (statement.kind) {
      case Kind::block:
        return emit_braced(statement.body, scope, first);
      case Kind::if_: {
        const bool is_constexpr = text(statement.all.begin + 1) == "constexpr";
        const Tokens condition = expand(statement.condition, scope);
        put(is_constexpr ? "if constexpr (" : "if (", first);
        put(condition);
        put(")", first);
        emit_braced(statement.body, scope, first);
        if (statement.otherwise.empty()) return;
        put("else", first);
        return emit_braced(statement.otherwise, scope, first);
      }
      case Kind::for_:
        return emit_for(statement, scope);
      case Kind::while_:
        put("while (", first);
        put(replaced(statement.condition, scope));
        put(")", first);
        return emit_braced(statement.body, scope, first);
      case Kind::do_:
        put("do", first);
        emit_braced(statement.body, scope, first);
        put("while (", first);
        put(replaced(statement.condition, scope));
        return put(");", first);
      case Kind::declaration:
        return emit_declaration(statement, scope);
      case Kind::shared:
        return emit_shared(statement, scope);
      default:
        // Calls in a switch are not always made.
        put(expand(statement.all, scope, text(statement.all.begin) != "switch"));
    }
  }

  void emit_for(const Statement& statement, Scope scope) {
    const Token& first = at(statement.all.begin);
    types_.emplace_back();
    put("for (", first);
    const std::size_t before = result_.tokens.size();
    for (const Statement& init : statement.init) {
      if (init.kind == Kind::declaration)
        for (const LocalVariable& variable : init.variables) declare(variable, scope);
      put(replaced(init.all, scope));
    }
    if (result_.tokens.size() == before) put(";", first);
    put(replaced(statement.condition, scope));
    put(";", first);
    put(replaced(statement.step, scope));
    put(")", first);
    emit_braced(statement.body, scope, first);
    types_.pop_back();
  }

  // Gives a variable of an inlined function a name of its own, and notes its type.
  void declare(const LocalVariable& variable, Scope& scope) {
    const std::size_t name = name_of(variable);
    Token declared = at(name);
    if (depth_ > 0) {
      declared = made(spanwise::text("sw_", variable.name, "_", ++fresh_), declared);
      scope.replaced[std::string(variable.name)] = {declared};
    } else {
      scope.replaced.erase(std::string(variable.name));
    }
    scope.groups.erase(std::string(variable.name));
    const Tokens type = substituted(parse::lex(variable.type), scope);
    std::string text = text_of(type);
    if (!variable.extents.empty()) text += "*";
    set_type(declared, text);
  }
  std::size_t name_of(const LocalVariable& variable) const {
    std::size_t i = variable.whole.begin;
    while (text(i) != variable.name) ++i;
    return i;
  }

  void emit_declaration(const Statement& statement, Scope& scope) {
    const LocalVariable& only = statement.variables[0];
    if (statement.variables.size() == 1) {
      if (const auto group = group_at(only.init, scope)) {
        scope.groups[std::string(only.name)] = *group;
        return;
      }
    }
    const TokenSpan type{statement.all.begin, only.whole.begin};
    for (const LocalVariable& variable : statement.variables) {
      const std::size_t name = name_of(variable);
      // The initialiser does not have the variable itself.
      Tokens rest;
      for (std::size_t i = name + 1; i < variable.init.begin; ++i) rest.push_back(at(i));
      if (variable.init.empty())
        rest.assign(tokens_->begin() + static_cast<std::ptrdiff_t>(name + 1),
                    tokens_->begin() + static_cast<std::ptrdiff_t>(variable.whole.end));
      rest = substituted(rest, scope);
      if (!variable.init.empty()) append(rest, expand(variable.init, scope));
      declare(variable, scope);
      put(replaced(type, scope));
      put(replaced({variable.whole.begin, name + 1}, scope));
      put(rest);
      put(";", at(name));
    }
  }

  // Shared arrays of a function are the same in all its calls: `auto &name = ...`.
  void emit_shared(const Statement& statement, Scope& scope) {
    Tokens type;
    bool is_extern = false;
    std::size_t i = statement.all.begin;
    for (; i < statement.all.end; ++i) {
      if (is_one_of(text(i), {"alignas", "__align__", "__builtin_align__", "=", "__attribute__",
                              "volatile"}))
        if (depth_ > 0) throw NotUnderstood();
      is_extern |= text(i) == "extern";
      const bool is_name =
          at(i).kind == Token::Kind::identifier && is_one_of(text(i + 1), {"[", ",", ";"});
      if (is_name) break;
      if (!is_one_of(text(i), {"__shared__", "static", "extern"})) type.push_back(at(i));
    }
    const std::string element = text_of(substituted(type, scope));
    if (depth_ == 0) {
      if (i < statement.all.end) set_type(at(i), element + (text(i + 1) == "[" ? "*" : ""));
      return put(replaced(statement.all, scope));
    }
    while (i + 1 < statement.all.end) {
      const Token name = at(i++);
      Tokens extents;
      for (int open = 0; i < statement.all.end && (open > 0 || !is_one_of(text(i), {",", ";"}));
           ++i) {
        open += text(i) == "[" ? 1 : text(i) == "]" ? -1 : 0;
        extents.push_back(at(i));
      }
      const Token unique = made(spanwise::text("sw_", name.text, "_", ++fresh_), name);
      const std::string array = element + text_of(substituted(extents, scope));
      const auto [entry, is_new] = shared_.try_emplace(
          spanwise::text(function_, " ", name.text, " ", array), shared_.size() + 1);
      put(is_extern ? spanwise::text("extern __shared__ ", element, unique.text, "[];")
                    : spanwise::text("SW_FUNCTION_SHARED(", unique.text, ", ", entry->second, ", ",
                                     array, ");"),
          name);
      scope.replaced[std::string(name.text)] = {unique};
      set_type(unique, element + (extents.empty() ? "" : "*"));
      ++i;
    }
  }

  // ---- Expressions

  // The tokens with the names of the scope replaced; calls that wait stay.
  Tokens replaced(TokenSpan span, Scope& scope) { return expand(span, scope, false); }
  void replace_token(std::size_t i, const Scope& scope, Tokens& out) const {
    const bool is_member = i > 0 && is_one_of(text(i - 1), {".", "->", "::"});
    if (at(i).kind == Token::Kind::identifier && !is_member) {
      if (scope.groups.contains(text(i))) throw NotUnderstood();
      if (const auto found = scope.replaced.find(text(i)); found != scope.replaced.end())
        return append(out, found->second);
      // A name of the source, which a variable of the kernel would hide here.
      if (depth_ > 0 && type_of(text(i)) != nullptr) throw NotUnderstood();
    }
    out.push_back(at(i));
  }
  static Tokens substituted(const Tokens& tokens, const Scope& scope) {
    Tokens out;
    for (const Token& token : tokens)
      if (const auto found = scope.replaced.find(token.text);
          token.kind == Token::Kind::identifier && found != scope.replaced.end())
        append(out, found->second);
      else
        out.push_back(token);
    return out;
  }

  // The tokens of an expression; the statements of the functions that it calls precede them.
  Tokens expand(TokenSpan span, Scope& scope, bool inlines = true) {
    Tokens out;
    for (std::size_t i = span.begin; i < span.end;) {
      std::size_t next = 0;
      if (at(i).kind == Token::Kind::identifier &&
          !(i > 0 && is_one_of(text(i - 1), {".", "->"}))) {
        auto use = group_use(i, scope, next);
        if (!use && inlines && text(i) == "reduce" && text(i + 1) == "(" &&
            is_always_evaluated(span, i))
          use = group_reduction(i, scope, next);
        if (use) {
          drop_scope(out);
          append(out, *use);
          i = next;
          continue;
        }
        if (inlines && waiting_call(text(i)) == WaitingCall::none && functions_.contains(text(i)) &&
            (waits(text(i)) || passes_group(i, scope)) && is_always_evaluated(span, i)) {
          const Tokens result = inlined_call(i, scope, next);
          drop_scope(out);
          append(out, result);
          i = next;
          continue;
        }
      }
      replace_token(i, scope, out);
      ++i;
    }
    return out;
  }
  // Removes "name ::" before a name.
  static void drop_scope(Tokens& out) {
    while (!out.empty() && out.back().text == "::") {
      out.pop_back();
      if (!out.empty() && out.back().kind == Token::Kind::identifier) out.pop_back();
    }
  }
  // Whether the call at tokens[i] is made whenever the expression is evaluated.
  bool is_always_evaluated(TokenSpan span, std::size_t i) const {
    std::size_t open = i + 1;
    if (text(open) == "<") open = parse::skip_balanced(*tokens_, open);
    const std::size_t close = parse::skip_balanced(*tokens_, open);
    for (std::size_t k = span.begin; k < span.end; ++k) {
      if (k == i) k = close;
      if (text(k) == "?" || (is_one_of(text(k), {"&", "|"}) && text(k + 1) == text(k)))
        return false;
    }
    return true;
  }

  std::vector<TokenSpan> arguments_at(std::size_t open, std::size_t& after) const {
    after = parse::skip_balanced(*tokens_, open);
    std::vector<TokenSpan> out;
    for (std::size_t i = open + 1; i + 1 < after;) {
      const std::size_t first = i;
      while (i + 1 < after && text(i) != ",")
        i = is_one_of(text(i), {"(", "[", "{"}) ? parse::skip_balanced(*tokens_, i) : i + 1;
      out.push_back({first, i});
      i += i + 1 < after ? 1 : 0;
    }
    return out;
  }

  // ---- Groups

  // The group that the tokens are: a name, this_thread_block(), tiled_partition<N>(group).
  std::optional<Group> group_at(TokenSpan span, const Scope& scope) const {
    std::size_t i = span.begin;
    while (i + 2 < span.end && text(i + 1) == "::") i += 2;
    if (i + 1 == span.end) {
      const auto found = scope.groups.find(text(i));
      return found == scope.groups.end() ? std::nullopt : std::optional(found->second);
    }
    if (text(i) == "this_thread_block" && i + 3 == span.end) return Group{};
    if (text(i) != "tiled_partition" || text(i + 1) != "<" || text(i + 3) != ">" ||
        text(i + 4) != "(" || !group_at({i + 5, span.end - 1}, scope))
      return {};
    std::string_view number = text(i + 2);
    if (const auto found = scope.replaced.find(number);
        found != scope.replaced.end() && found->second.size() == 1)
      number = found->second[0].text;
    const int size = parse_number<int>(number).value_or(0);
    if (size < 1 || size > 32 || (size & (size - 1)) != 0) return {};
    return Group{size};
  }

  // Whether a group is an argument of the call at tokens[i].
  bool passes_group(std::size_t i, const Scope& scope) const {
    std::size_t open = i + 1, after = 0;
    if (text(open) == "<") open = parse::skip_balanced(*tokens_, open);
    return text(open) == "(" &&
           std::ranges::any_of(arguments_at(open, after), [&](const TokenSpan& argument) {
             return group_at(argument, scope).has_value();
           });
  }

  // The tokens in place of a use of a group at tokens[i], which ends before `next`.
  std::optional<Tokens> group_use(std::size_t i, Scope& scope, std::size_t& next) {
    const Token& here = at(i);
    if (text(i) == "sync" && text(i + 1) == "(") {
      next = parse::skip_balanced(*tokens_, i + 1);
      const auto group = group_at({i + 2, next - 1}, scope);
      if (!group) return {};
      return lexed(group->size == 0 ? "__syncthreads()" : "__syncwarp()", here);
    }
    std::size_t end = i + 1;
    if (text(i) == "this_thread_block" && text(i + 1) == "(") end = i + 3;
    const auto group = group_at({i, end}, scope);
    if (!group || text(end) != "." || text(end + 2) != "(") return {};
    std::vector<Tokens> arguments;
    for (const TokenSpan argument : arguments_at(end + 2, next))
      arguments.push_back(expand(argument, scope));
    return group->size == 0 ? use_of_block(text(end + 1), here)
                            : use_of_tile(*group, text(end + 1), arguments, here);
  }
  // reduce(tile, value, op) by shuffles, in the order of the shim's cooperative_groups/reduce.h.
  std::optional<Tokens> group_reduction(std::size_t i, Scope& scope, std::size_t& next) {
    const std::vector<TokenSpan> spans = arguments_at(i + 1, next);
    const auto group = spans.size() == 3 ? group_at(spans[0], scope) : std::nullopt;
    if (!group || group->size == 0) return {};
    const Token& here = at(i);
    const std::string size = std::to_string(group->size);
    const std::string value = spanwise::text("sw_reduced_", ++fresh_), step = value + "_step",
                      other = value + "_other";
    const std::string op = text_of(expand(spans[2], scope));
    put("auto " + value + " =", here);
    put(expand(spans[1], scope));
    put(spanwise::text("; for (int ", step, " = 1; ", step, " < ", size, "; ", step,
                       " *= 2) { auto ", other, " = __shfl_down_sync(0xffffffff, ", value, ", ",
                       step, ", ", size, "); if ((sw_i % ", size, ") % (2 * ", step,
                       ") == 0 && sw_i % ", size, " + ", step, " < ", size, ") ", value, " = ", op,
                       "(", value, ", ", other, "); } ", value, " = __shfl_sync(0xffffffff, ",
                       value, ", 0, ", size, ");"),
        here);
    return lexed(value, here);
  }

  Tokens use_of_block(std::string_view method, const Token& here) {
    if (method == "sync") return lexed("__syncthreads()", here);
    if (method == "thread_rank") return lexed("sw_i", here);
    if (is_one_of(method, {"size", "num_threads"}))
      return lexed("(blockDim.x * blockDim.y * blockDim.z)", here);
    if (method == "group_index") return lexed("blockIdx", here);
    if (method == "thread_index") return lexed("threadIdx", here);
    if (is_one_of(method, {"group_dim", "dim_threads"})) return lexed("blockDim", here);
    throw NotUnderstood();
  }
  Tokens use_of_tile(Group group, std::string_view method, const std::vector<Tokens>& arguments,
                     const Token& here) {
    const std::string size = std::to_string(group.size);
    if (method == "sync") return lexed("__syncwarp()", here);
    if (method == "thread_rank") return lexed("(sw_i % " + size + ")", here);
    if (is_one_of(method, {"size", "num_threads"})) return lexed("(" + size + ")", here);
    if (method == "meta_group_rank") return lexed("(sw_i / " + size + ")", here);
    if (method == "meta_group_size")
      return lexed("((blockDim.x * blockDim.y * blockDim.z + " + std::to_string(group.size - 1) +
                       ") / " + size + ")",
                   here);
    const bool is_shuffle = is_one_of(method, {"shfl", "shfl_up", "shfl_down", "shfl_xor"});
    const bool is_vote = group.size == 32 && is_one_of(method, {"any", "all", "ballot"});
    if (!is_shuffle && !is_vote) throw NotUnderstood();
    Tokens out = lexed(spanwise::text("__", method, "_sync(0xffffffff"), here);
    for (const Tokens& argument : arguments) {
      append(out, lexed(",", here));
      append(out, argument);
    }
    append(out, lexed(is_shuffle ? ", " + size + ")" : ")", here));
    return out;
  }

  // ---- Calls

  static constexpr int max_depth = 8;

  // Writes the statements of the function called at tokens[i]; returns its result.
  Tokens inlined_call(std::size_t i, Scope& scope, std::size_t& next) {
    if (depth_ >= max_depth) throw NotUnderstood();
    const Token here = at(i);
    std::vector<TokenSpan> instance;
    std::size_t open = i + 1;
    if (text(open) == "<") {
      const std::size_t close = parse::skip_balanced(*tokens_, open);
      std::size_t after = 0;
      instance = arguments_at(open, after);
      open = close;
    }
    if (text(open) != "(") throw NotUnderstood();
    const std::vector<TokenSpan> spans = arguments_at(open, next);
    const Function& function = function_for(here.text, spans.size());
    Scope inner;
    std::vector<Tokens> arguments;
    for (std::size_t k = 0; k < function.parameters.size(); ++k) {
      const Parameter& parameter = function.parameters[k];
      if (k >= spans.size()) {
        arguments.push_back(parameter.initial);
      } else if (const auto group = group_at(spans[k], scope)) {
        inner.groups[std::string(parameter.name)] = *group;
        arguments.emplace_back();
      } else {
        arguments.push_back(expand(spans[k], scope));
      }
    }
    bind_template(function, instance, scope, arguments, inner);
    types_.emplace_back();
    for (std::size_t k = 0; k < function.parameters.size(); ++k)
      if (!inner.groups.contains(function.parameters[k].name))
        bind_parameter(function.parameters[k], arguments[k], inner, here);
    Tokens result = emit_body(function, std::move(inner), here);
    types_.pop_back();
    if (!result.empty()) set_type(result[0], last_type_);
    return result;
  }

  const Function& function_for(std::string_view name, std::size_t count) const {
    const Function* found = nullptr;
    for (const std::optional<Function>& function : functions_.find(name)->second) {
      if (!function) throw NotUnderstood();
      const auto& parameters = function->parameters;
      const bool fits = parameters.size() >= count &&
                        (parameters.size() == count || !parameters[count].initial.empty());
      if (!fits) continue;
      if (found != nullptr) throw NotUnderstood();  // an overload
      found = &*function;
    }
    if (found == nullptr) throw NotUnderstood();
    return *found;
  }

  void bind_template(const Function& function, const std::vector<TokenSpan>& instance, Scope& scope,
                     const std::vector<Tokens>& arguments, Scope& inner) {
    for (std::size_t k = 0; k < function.template_parameters.size(); ++k) {
      const Parameter& parameter = function.template_parameters[k];
      const bool is_type =
          !parameter.type.empty() && is_one_of(parameter.type[0].text, {"class", "typename"});
      if (parameter.name.empty()) throw NotUnderstood();
      Tokens value;
      if (k < instance.size())
        value = replaced(instance[k], scope);
      else
        value = deduced(function, parameter, arguments, inner);
      if (value.empty()) value = substituted(parameter.initial, inner);
      if (value.empty()) throw NotUnderstood();
      if (!is_type && value.size() > 1) {
        value.insert(value.begin(), made("(", value[0], Token::Kind::punctuation));
        value.push_back(made(")", value[0], Token::Kind::punctuation));
      }
      inner.replaced[std::string(parameter.name)] = std::move(value);
    }
  }
  // A type that is deduced from an argument: the declared type of a variable.
  Tokens deduced(const Function& function, const Parameter& parameter,
                 const std::vector<Tokens>& arguments, const Scope& inner) {
    for (std::size_t k = 0; k < function.parameters.size(); ++k) {
      if (const auto group = inner.groups.find(function.parameters[k].name);
          group != inner.groups.end()) {
        const Tokens& type = function.parameters[k].type;
        if (std::ranges::find(type, parameter.name, &Token::text) == type.end()) continue;
        return lexed(type.size() == 1 ? "void" : std::to_string(group->second.size), type[0]);
      }
      int pointers = 0;
      bool is_plain = true, has_name = false;
      for (const Token& token : function.parameters[k].type) {
        pointers += token.text == "*" ? 1 : 0;
        has_name |= token.text == parameter.name;
        is_plain &= token.text == parameter.name ||
                    is_one_of(token.text, {"const", "*", "&", "__restrict__", "__restrict"});
      }
      if (!has_name || !is_plain || arguments[k].size() != 1) continue;
      const std::string* type = type_of(arguments[k][0].text);
      if (type == nullptr) continue;
      Tokens out;
      for (const Token& token : lexed(*type, arguments[k][0]))
        if (!is_one_of(token.text, {"const", "__restrict__", "__restrict", "&"}) &&
            !(token.text == "*" && pointers-- > 0))
          out.push_back(token);
      if (pointers > 0 || out.empty() || out.back().text == "*" || out[0].text == "auto") continue;
      return out;
    }
    return {};
  }

  void bind_parameter(const Parameter& parameter, const Tokens& argument, Scope& inner,
                      const Token& here) {
    if (parameter.name.empty()) return;
    const std::string name(parameter.name);
    Tokens type = substituted(parameter.type, inner);
    const bool is_const = !type.empty() && type[0].text == "const";
    if (argument.empty()) throw NotUnderstood();
    if (parameter.is_reference) {
      const bool is_name = argument.size() == 1 && argument[0].kind == Token::Kind::identifier;
      if (type.size() > 1 && type[type.size() - 2].text == "&") throw NotUnderstood();
      if (is_name) {
        inner.replaced[name] = argument;
        return;
      }
      if (!is_const) throw NotUnderstood();
      type.pop_back();
    }
    // The address of a variable of the thread.
    if (argument[0].text == "&" && argument.size() == 2) throw NotUnderstood();
    const Token unique = made(spanwise::text("sw_", name, "_", ++fresh_), here);
    put(type);
    put({unique});
    put("=", here);
    put(argument);
    put(";", here);
    set_type(unique, text_of(type));
    inner.replaced[name] = {unique};
  }

  // Whether the only return statement of a body, if any, ends it; its place, or the end.
  static bool returns_at_end(const Tokens& body, std::size_t& place) {
    const auto is_return = [](const Token& token) { return token.text == "return"; };
    const auto found = std::ranges::find_if(body, is_return);
    place = static_cast<std::size_t>(found - body.begin());
    if (found == body.end()) return true;
    const bool follows_statement =
        found == body.begin() || is_one_of(std::prev(found)->text, {";", "}"});
    const auto end = std::ranges::find(found, body.end(), std::string_view(";"), &Token::text);
    return follows_statement && end != body.end() && std::next(end) == body.end();
  }

  // The body with each `return value;` as `{ result = value; return; }`.
  Tokens with_result(const Tokens& body, const Tokens& result, const Token& here) {
    Tokens out;
    for (std::size_t i = 0; i < body.size(); ++i) {
      out.push_back(body[i]);
      if (body[i].text != "return" || result.empty()) continue;
      out.pop_back();
      append(out, lexed("{", here));
      append(out, result);
      append(out, lexed("=", here));
      while (++i < body.size() && body[i].text != ";") out.push_back(body[i]);
      append(out, lexed("; return; }", here));
    }
    return out;
  }

  static bool always_returns(std::span<const Statement> list) {
    return std::ranges::any_of(list, [](const Statement& each) {
      return each.kind == Kind::leave || (each.kind == Kind::block && always_returns(each.body)) ||
             (each.kind == Kind::if_ && always_returns(each.body) &&
              always_returns(each.otherwise));
    });
  }

  // Writes statements some of which return: those behind an `if` that returns are its other branch.
  void emit_until_return(std::span<const Statement> list, Scope scope) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Statement& statement = list[i];
      if (!statement.returns) {
        emit(statement, scope);
      } else if (statement.kind == Kind::leave) {
        return;
      } else if (statement.kind == Kind::block && always_returns(statement.body)) {
        return emit_until_return(statement.body, scope);
      } else if (statement.kind == Kind::if_) {
        return emit_returning_if(statement, list.subspan(i + 1), scope);
      } else {
        throw NotUnderstood();
      }
    }
  }
  void emit_returning_if(const Statement& statement, std::span<const Statement> rest,
                         Scope& scope) {
    const Token& first = at(statement.all.begin);
    const bool is_constexpr = text(statement.all.begin + 1) == "constexpr";
    const Tokens condition = expand(statement.condition, scope);
    const bool leaves = always_returns(statement.body);
    if (!rest.empty() && !leaves && !always_returns(statement.otherwise)) throw NotUnderstood();
    put(is_constexpr ? "if constexpr (" : "if (", first);
    put(condition);
    put(")", first);
    emit_branch(statement.body, leaves ? std::span<const Statement>() : rest, scope, first);
    put("else", first);
    emit_branch(statement.otherwise, leaves ? rest : std::span<const Statement>(), scope, first);
  }
  void emit_branch(const std::vector<Statement>& branch, std::span<const Statement> rest,
                   const Scope& scope, const Token& near) {
    if (!branch.empty() && !rest.empty() && std::ranges::any_of(branch, &Statement::returns))
      throw NotUnderstood();
    put("{", near);
    types_.emplace_back();
    Scope inner = scope;
    if (branch.empty() || rest.empty()) {
      emit_until_return(branch.empty() ? rest : std::span(branch), inner);
    } else {
      emit_braced(branch, scope, near);
      emit_until_return(rest, inner);
    }
    types_.pop_back();
    put("}", near);
  }

  // While it lives, statements are those of the body of a function.
  class InlinedFunction {
   public:
    InlinedFunction(Inliner& inliner, const Tokens& body, const Token& name)
        : inliner_(inliner),
          tokens_(std::exchange(inliner.tokens_, &body)),
          function_(std::exchange(inliner.function_, std::string(name.text))) {
      ++inliner_.depth_;
    }
    InlinedFunction(const InlinedFunction&) = delete;
    InlinedFunction& operator=(const InlinedFunction&) = delete;
    ~InlinedFunction() {
      --inliner_.depth_;
      inliner_.tokens_ = tokens_;
      inliner_.function_ = std::move(function_);
    }

   private:
    Inliner& inliner_;
    const Tokens* tokens_;  // of the function around
    std::string function_;
  };

  // Writes the body; returns the variable that has the result.
  Tokens emit_body(const Function& function, Scope inner, const Token& here) {
    // `static` before __shared__ changes nothing.
    Tokens body;
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      const Token& token = scan_.tokens[i];
      const bool is_static = token.text == "static" && scan_.tokens[i + 1].text == "__shared__";
      if (!is_static) body.push_back(token);
    }
    std::size_t last = 0;
    if (!returns_at_end(body, last)) return emit_body_with_returns(function, body, inner, here);
    const InlinedFunction inlined(*this, body, here);
    const std::vector<Statement> statements = read_statements(body, 0, last);
    Scope& scope = inner;
    for (const Statement& statement : statements) emit(statement, scope);
    Tokens result;
    const bool returns = last + 1 < body.size() && body[last + 1].text != ";";
    if (returns) {
      const Tokens value = expand({last + 1, body.size() - 1}, scope);
      const Tokens type = substituted(function.returns, scope);
      last_type_ = text_of(type);
      result = {made(spanwise::text("sw_", here.text, "_", ++fresh_), here)};
      put(type);
      put(result);
      put("=", here);
      put(value);
      put(";", here);
    }
    return result;
  }

  // As emit_body() for a body that returns in several places.
  Tokens emit_body_with_returns(const Function& function, const Tokens& body, const Scope& inner,
                                const Token& here) {
    Tokens type = substituted(function.returns, inner), result;
    std::erase_if(type, [](const Token& token) { return token.text == "const"; });
    if (type.empty() || is_one_of(type.back().text, {"&", "auto"})) throw NotUnderstood();
    last_type_ = text_of(type);
    if (type[0].text != "void" || type.size() > 1) {
      result = {made(spanwise::text("sw_", here.text, "_", ++fresh_), here)};
      put(type);
      put(result);
      put(";", here);
    }
    const std::string result_type = last_type_;
    const Tokens changed = with_result(body, result, here);
    {
      const InlinedFunction inlined(*this, changed, here);
      emit_until_return(read_statements(changed, 0, changed.size()), inner);
    }
    last_type_ = result_type;
    return result;
  }

  const parse::SourceScan& scan_;
  InlinedBody& result_;
  const Tokens* tokens_ = nullptr;  // of the function whose statements are written
  std::map<std::string, bool, std::less<>> waits_;
  std::map<std::string, std::vector<std::optional<Function>>, std::less<>> functions_;
  std::vector<std::map<std::string, std::string, std::less<>>> types_;
  std::map<std::string, std::size_t> shared_;
  std::string function_, last_type_;
  int depth_ = 0, fresh_ = 0;
};

}  // namespace

std::optional<InlinedBody> inline_waiting_functions(const parse::SourceScan& scan,
                                                    const parse::KernelSite& site,
                                                    std::size_t begin, std::size_t end) {
  InlinedBody result;
  Inliner inliner(scan, result);
  if (!inliner.is_needed(begin, end)) return {};
  try {
    inliner.run(site, begin, end);
  } catch (const NotUnderstood&) {
    return {};
  }
  return result;
}

}  // namespace spanwise::cpu_backend
