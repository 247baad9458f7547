// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/block_loops.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "backends/cpu/jit/function_inlining.hpp"
#include "backends/cpu/jit/thread_analysis.hpp"
#include "core/string_utils.hpp"
#include "spanwise/parse/c_text.hpp"

namespace spanwise::cpu_backend {
namespace {

using parse::Token;
using Kind = Statement::Kind;

class Splitter : ThreadAnalysis {
 public:
  Splitter(const std::vector<Token>& tokens, const parse::KernelSite& site,
           const parse::LineMap& lines, const SplitContext& context, bool divides_strided)
      : ThreadAnalysis(tokens, site, context, divides_strided), lines_(lines) {}

  bool needs_warp_rows() const noexcept { return needs_warp_rows_; }
  // Whether loops run faster in this form, also without a barrier.
  bool divides_loops() const noexcept { return divides_loops_; }

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
    analyze_all(body);
    for (Variable& variable : variables_) {
      variable.is_derived &= !variable.is_uniform;
      if (variable.declared == nullptr) variable.is_stored = !variable.is_uniform;
    }
    // Finds the variables that several parts use, and whether threads leave before the last one:
    // both decide about the parts.
    for (bool has_changed = true; has_changed;) {
      const bool had_live = needs_live_;
      const std::size_t stored = stored_variables();
      emit_all(body);
      needs_live_ |= first_return_ < part_ - 1;
      has_changed = stored != stored_variables() || had_live != needs_live_;
    }
    return std::move(out_);
  }

 private:
  // ---- Writing

  std::size_t stored_variables() const {
    return static_cast<std::size_t>(std::ranges::count_if(variables_, &Variable::is_stored));
  }

  void emit_all(const std::vector<Statement>& body) {
    out_.clear();
    part_ = collectives_ = mask_count_ = bases_ = loops_ = types_ = 0;
    first_return_ = 1 << 30;
    for (Variable& variable : variables_) variable.owner = -1;
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

  void add_piece(std::size_t line_token, const std::string& piece, bool is_local = false) {
    pieces_ += line_of(line_token) + piece;
    without_loop_ += line_of(line_token) + piece;
    has_pieces_ = true;
    has_effects_ |= !is_local;
  }
  // As add_piece() for a statement. A loop that all threads enter, or none, is left out of
  // without_loop_: where the compiler knows that the loop is entered, the loop over threads has no
  // conditions and becomes one of vectors.
  void add_statement(const Statement& statement) {
    const std::string piece = line_of(statement.all.begin) + render(statement.all);
    const std::string entry = statement.loops ? entry_of(statement) : "";
    loop_count_ += statement.loops ? entry.empty() ? 2 : 1 : 0;
    if (!entry.empty()) entry_ = entry;
    pieces_ += piece;
    if (entry.empty()) without_loop_ += piece;
    has_pieces_ = true;
  }
  // The condition under which all threads enter a loop, "" if there is none.
  std::string entry_of(const Statement& statement) {
    if (statement.kind != Kind::for_ || statement.init.size() != 1 ||
        statement.init[0].variables.size() != 1 ||
        std::ranges::any_of(statement.body, &Statement::loops))
      return {};
    const LocalVariable& counter = statement.init[0].variables[0];
    const TokenSpan condition = statement.condition;
    if (condition.end < condition.begin + 3 || text(condition.begin) != counter.name ||
        !is_one_of(text(condition.begin + 1), {"<", ">", "!"}) || counter.init.empty() ||
        counter.is_pointer || counter.is_fixed || !is_uniform(counter.init))
      return {};
    const std::size_t bound = condition.begin + (text(condition.begin + 2) == "=" ? 3 : 2);
    if (!is_uniform({bound, condition.end})) return {};
    return text_of("(", counter.type, ")(", render(counter.init), ") ",
                   render({condition.begin + 1, condition.end}));
  }

  // Declares the derived variables in used_.
  std::string derived_variables() {
    std::string out;
    for (Variable& variable : variables_)
      if (variable.is_derived && used_.contains(&variable))
        out += text_of(variable.declared->type, " ", variable.name, " = ", derivation(variable),
                       ";\n");
    return out;
  }

  // The loop over the threads of a part, or over those within its limits.
  std::string head_of_part() {
    for (const StridedLoop& loop : strided_) use(*find(loop.counter->name));
    if (in_rows_) return "\nSW_ROW_THREADS {\nSW_THREAD_INDEX;\n";
    if (strided_.empty() && limits_.empty()) return "\nSW_THREADS {\nSW_THREAD_INDEX;\n";
    const std::string head = head_of_rows();
    return text_of(head, "SW_ROW_THREADS {\nSW_THREAD_INDEX;\n");
  }
  // The loop over rows, and the range of threads of each.
  std::string head_of_rows() {
    std::set<Variable*> used;
    std::swap(used, used_);
    std::string ranges, conditions;
    for (const StridedLoop& loop : strided_) {
      const Variable& counter = *find(loop.counter->name);
      use(loop.end);
      used_.insert(find(counter.name));
      use(loop.counter->init);
      const TokenSpan start = loop.counter->init;
      const std::string condition = text_of(counter.name, loop.comparison, render(loop.end));
      if (!differs_in_row(start))
        ranges += text_of("if (!(", condition, ")) sw_end = 0;\n");
      else if (counts_threads(start))
        ranges += text_of("sw_clip(sw_begin, sw_end, ", counter.name, ", ", render(loop.end),
                          loop.comparison == " <= " ? ", true);\n" : ", false);\n");
      else
        conditions += text_of("if (!(", condition, ")) continue;\n");
    }
    for (const RowLimit& limit : limits_) {
      use(limit.condition);
      if (limit.value.empty())
        ranges += text_of(limit.is_negated ? "if (" : "if (!(", render(limit.condition),
                          limit.is_negated ? ") sw_end = 0;\n" : ")) sw_end = 0;\n");
      else
        ranges += text_of("sw_clip(sw_begin, sw_end, ", render(limit.value), ", ",
                          render(limit.bound), limit.is_inclusive ? ", true);\n" : ", false);\n");
    }
    std::string head =
        text_of("\nSW_ROWS {\n{\nSW_FIRST_INDEX;\n", derived_variables(), ranges, "}\n");
    std::swap(used, used_);
    conditions_ = std::move(conditions);
    return head;
  }

  // Ends a part: writes its loop over the threads.
  void flush() {
    if (!has_pieces_) {
      limits_.clear();
      return;
    }
    conditions_.clear();
    std::string part = head_of_part();
    for (const std::string& guard : guards_) part += text_of("if (!", guard, "[sw_i]) continue;\n");
    part += derived_variables();
    for (Variable& variable : variables_) {
      if (variable.is_derived || !used_.contains(&variable)) continue;
      const LocalVariable* declared = variable.declared;
      if (variable.is_stored)
        part += text_of("auto& ", variable.name, " = sw_v_", variable.name, "[sw_i];\n");
      else if (!variable.is_uniform && declared != nullptr && declared->init.empty())
        part += text_of(declared->type, " ", variable.name, declared->extents, ";\n");
    }
    part += conditions_;
    const bool is_whole = in_rows_ || (strided_.empty() && limits_.empty());
    const auto whole = [&](const std::string& pieces) {
      return text_of(part, "{", pieces, "\n}\n",
                     part_returns_ ? text_of("sw_next_", part_, ":;\n") : "",
                     is_whole ? "}\n" : "}\n}\n");
    };
    if (loop_count_ == 1 && !part_returns_)
      out_ += text_of("if (", entry_, ") {\n", whole(pieces_), "} else {\n", whole(without_loop_),
                      "}\n");
    else
      out_ += whole(pieces_);
    ++part_;
    loop_count_ = 0;
    pieces_.clear();
    without_loop_.clear();
    used_.clear();
    limits_.clear();
    has_pieces_ = part_returns_ = has_effects_ = false;
  }

  // The text of the addends of a sum, "0" if there are none.
  std::string sum_of(const std::vector<Addend>& addends) {
    std::string out;
    for (const Addend& addend : addends) {
      if (addend.is_negative && out.empty()) out = "0 ";
      if (!out.empty()) out += addend.is_negative ? "- " : "+ ";
      out += text_of("(", render(addend.span), ") ");
    }
    return out.empty() ? "0" : out;
  }
  // The value of a variable that is derived. Compilers find vectors of consecutive elements by a
  // sum of the thread's index in the variable's type, not by one in unsigned, which may wrap
  // around.
  std::string derivation(const Variable& variable) {
    const LocalVariable& declared = *variable.declared;
    for (const StridedLoop& loop : strided_)
      if (loop.counter == &declared)
        return text_of("sw_sum<", declared.type, ">(", loop.base, ", ", sum_of(loop.start.others),
                       ", ", loop.base, " + ", sum_of(loop.start.others), ")");
    std::string whole = render(declared.init);
    if (trimmed(declared.type) != "int") return whole;
    const auto sum = sum_at(declared.init);
    if (!sum || sum->uniform.empty() || sum->others.empty()) return whole;
    return text_of("sw_sum<int>(", sum_of(sum->uniform), ", ", sum_of(sum->others), ", ", whole,
                   ")");
  }

  void emit_list(const std::vector<Statement>& list) {
    scopes_.emplace_back();
    for (std::size_t i = 0; i < list.size();) {
      const std::size_t written = emit_limited(std::span(list).subspan(i));
      if (written == 0) emit(list[i]);
      i += std::max<std::size_t>(written, 1);
    }
    flush();
    scopes_.pop_back();
  }

  // Writes an `if` around a loop or at the end of a part, or a return from the rest, as limits of
  // the loop over threads, which then has no conditions. The part may not do other things before.
  // Returns the number of statements that it wrote.
  std::size_t emit_limited(std::span<const Statement> rest) {
    const Statement& statement = rest[0];
    if (statement.kind != Kind::if_ || statement.splits || !statement.otherwise.empty() ||
        !divides_strided_ || has_effects_ || !limits_.empty() || statement.body.empty())
      return 0;
    const bool leaves = statement.body.size() == 1 && statement.body[0].kind == Kind::leave;
    const auto loops = [](const Statement& each) { return each.loops; };
    if (leaves) {
      if (needs_live_ || masks_ > 0 || loops_ > 0) return 0;
    } else if (statement.returns || !(std::ranges::any_of(statement.body, loops) ||
                                      rest.size() == 1 || rest[1].kind == Kind::barrier)) {
      return 0;
    }
    const auto limits = row_limits(statement.condition, leaves);
    if (!limits) return 0;
    limits_ = *limits;
    if (leaves ? scopes_.size() == 2 && has_row_loops(rest.subspan(1))
               : has_row_loops(statement.body)) {
      emit_rows(leaves ? rest.subspan(1) : std::span<const Statement>(statement.body),
                leaves ? 0 : 1);
      return leaves ? rest.size() : 1;
    }
    if (leaves) {
      first_return_ = std::min(first_return_, part_);
      divides_loops_ |= std::ranges::any_of(rest.subspan(1), loops);
      return 1;
    }
    divides_loops_ |= std::ranges::any_of(statement.body, loops);
    const TokenSpan body{statement.body.front().all.begin, statement.body.back().all.end};
    use(body);
    add_piece(body.begin, "{");
    for (const Statement& each : statement.body) add_statement(each);
    add_piece(body.end - 1, "}");
    flush();
    return 1;
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
        if (const auto strided = strided_loop(statement)) return emit_strided(statement, *strided);
        if (divides(statement)) return emit_loop(statement);
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
    add_statement(statement);
    has_effects_ |= !changes_locals(statement.all);
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
      const std::string type = declared.is_fixed ? deduced_type(declared) : declared.type;
      out_ += text_of(type, " sw_v_", name, "[1024]", declared.extents, "; SW_FITS(sw_v_", name,
                      ");\n");
    }
    if (declared.init.empty()) {
      if (variable.is_stored && declared.extents.empty() && is_class(declared.type, 0)) {
        use(variable);  // its constructor runs for each thread
        add_piece(declared.whole.begin, text_of(name, " = ", declared.type, "();"));
      }
      return;
    }
    used_.insert(&variable);
    use(declared.init);
    if (!variable.is_stored) {
      if (loops_ == variable.loops && variable.owner < 0) variable.owner = part_;
      return add_piece(declared.whole.begin,
                       declared.is_fixed ? text_of(declared.base, " ", render(declared.whole), ";")
                                         : text_of(declared.type, " ", name, declared.extents,
                                                   " = ", render(declared.init), ";"),
                       changes_locals(declared.init));
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

  // A name for the type of a variable declared with auto: that of its initialiser in a thread.
  std::string deduced_type(const LocalVariable& declared) {
    if (declared.is_reference || declared.type.find("auto") == std::string::npos ||
        text(declared.init.begin - 1) != "=")
      throw NotUnderstood();
    flush();
    use(declared.init);
    const std::string number = std::to_string(++types_);
    out_ += text_of("const auto sw_value_", number,
                    " = [&] {\nconst unsigned sw_ny = 0, sw_nz = 0;\nSW_FIRST_INDEX;\n",
                    derived_variables());
    for (const Variable* variable : used_)
      if (!variable->is_derived && variable->is_stored)
        out_ += text_of("auto& ", variable->name, " = sw_v_", variable->name, "[sw_i];\n");
    out_ += text_of("return ", render(declared.init), ";\n};\ntypedef decltype(sw_value_", number,
                    "()) sw_type_", number, ";\n");
    used_.clear();
    return "sw_type_" + number;
  }

  // Shared arrays are on the stack of the worker, which runs one block at a time.
  void emit_shared(const Statement& statement) {
    if (loops_ > 0) throw NotUnderstood();  // its values persist from one iteration to the next
    std::string declaration;
    bool is_extern = false;
    for (std::size_t i = statement.all.begin; i < statement.all.end; ++i) {
      if (is_one_of(text(i), {"alignas", "static", "__align__", "__builtin_align__", "=",
                              "__attribute__", "const"}))
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

  // Writes statements that the threads within limits_ of each row do together.
  void emit_rows(std::span<const Statement> list, int masks) {
    flush_before_rows();
    in_rows_ = true;
    masks_ += masks;
    scopes_.emplace_back();
    for (const Statement& each : list) emit(each);
    flush();
    scopes_.pop_back();
    masks_ -= masks;
    in_rows_ = false;
    out_ += "}\n";
    divides_loops_ = true;
  }
  void flush_before_rows() {
    std::vector<RowLimit> limits;
    std::swap(limits, limits_);
    flush();
    limits_ = std::move(limits);
    out_ += limits_.empty() ? "\nSW_ROWS {\n" : head_of_rows();
    limits_.clear();
  }

  void emit_loop(const Statement& statement) {
    if (!in_rows_ && is_row_loop(statement) && strided_.empty() && guards_.empty())
      return emit_rows(std::span(&statement, 1), 0);
    flush();
    scopes_.emplace_back();
    out_ += unless_none() + "{\n";
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

  // Leaves out a loop that no thread would reach: it might not end.
  std::string unless_none() const {
    if (guards_.empty()) return {};
    return text_of("if (sw_any(", guards_.front(), ", ", guards_.back(), ", sw_count)) ");
  }

  // A loop whose iterations the threads do together: the first one's counter is the same for all.
  void emit_strided(const Statement& statement, StridedLoop loop) {
    flush();
    divides_loops_ = true;
    loop.base = text_of("sw_base_", ++bases_);
    const std::string& type = loop.counter->type;
    out_ += unless_none() + line_of(statement.all.begin) +
            text_of("for (", type, " ", loop.base, " = ", sum_of(loop.start.uniform), "; ",
                    loop.base, loop.comparison, render(loop.end), "; ", loop.base,
                    " += ", render(loop.step), ") {\n");
    scopes_.push_back({&variable_of(*loop.counter)});
    strided_.push_back(std::move(loop));
    ++loops_;
    ++masks_;
    emit_list(statement.body);
    --masks_;
    --loops_;
    strided_.pop_back();
    scopes_.pop_back();
    out_ += "}\n";
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

  const parse::LineMap& lines_;
  std::string out_;
  std::string pieces_;        // of the current part
  std::string without_loop_;  // the same without its loop, which is entered if entry_ holds
  std::string entry_;
  int loop_count_ = 0;  // of its loops; at least 2 if entry_ is unknown
  std::set<Variable*> used_;
  bool has_pieces_ = false, part_returns_ = false, needs_live_ = false;
  int part_ = 0, collectives_ = 0, mask_count_ = 0, bases_ = 0, types_ = 0, first_return_ = 0;
  std::vector<std::string> guards_;
  std::vector<StridedLoop> strided_;  // the loops around
  std::vector<RowLimit> limits_;      // of the current part
  std::string conditions_;            // of its strided loops that are no limits
  bool in_rows_ = false;              // within emit_rows()
  bool has_effects_ = false;          // whether the part so far changes more than its variables
  bool divides_loops_ = false;
  // First token of a call -> the token after it, and the text in its place.
  std::map<std::size_t, std::pair<std::size_t, std::string>> replaced_;
};

// The handling of names that a kernel must not have: macros with more than an expression, and names
// that reach a barrier in another way than by a call in the body.
void check_names(const parse::ReferenceGraph& uses, const std::vector<Token>& tokens,
                 std::size_t begin, std::size_t end, const SplitContext& context,
                 std::set<std::string>& calls) {
  static constexpr std::string_view refused =
      "return break continue goto { } ; = do while for if __shared__ volatile asm";
  for (std::size_t i = begin; i < end; ++i) {
    const std::string_view name = tokens[i].text;
    if (tokens[i].kind != Token::Kind::identifier) continue;
    if (waiting_call(name) != WaitingCall::none) {
      if (uses.contains(name)) throw NotUnderstood();  // the source overloads it
      continue;
    }
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
    if (word == "(") i = parse::skip_balanced(tokens, i) - 1;
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
    const auto inlined = inline_waiting_functions(scan, site, begin, end);
    const std::vector<Token>& tokens = inlined ? inlined->tokens : scan.tokens;
    const TokenSpan whole =
        inlined ? TokenSpan{inlined->begin, inlined->end} : TokenSpan{begin + 1, end};
    check_names(scan.uses, tokens, whole.begin, whole.end, context, kernel.calls);
    const std::vector<Statement> body = read_statements(tokens, whole.begin, whole.end);
    const bool waits = std::ranges::any_of(body, &Statement::splits);
    if (!waits && std::ranges::none_of(body, &Statement::loops)) return {};
    const auto run = [&](bool divides_strided) {
      Splitter splitter(tokens, site, lines, context, divides_strided);
      std::string statements = splitter.run(body);
      if (!waits && !splitter.divides_loops()) throw NotUnderstood();
      kernel.needs_warp_rows = splitter.needs_warp_rows();
      return statements;
    };
    std::string statements;
    try {
      statements = run(true);
    } catch (const NotUnderstood&) {
      if (!waits) throw;
      statements = run(false);
    }
    // Functions and messages read the thread's index where they do not get it as an argument.
    static constexpr std::string_view readers =
        "threadIdx assert __assert_fail sw_fail __trap __brkpt printf malloc free new delete";
    const bool calls = std::ranges::any_of(kernel.calls,
                                           [&](const std::string& called) {
                                             return called == "threadIdx"
                                                        ? false
                                                        : is_word_of(called, readers) ||
                                                              (scan.uses.contains(called) &&
                                                               scan.uses.reaches(called, readers));
                                           }) ||
                       scan.uses.reaches("", readers);
    std::size_t open = site.name + 1;
    const Token& last = scan.tokens[parse::skip_balanced(scan.tokens, open) - 1];
    const std::string_view parameters(
        scan.tokens[open].text.data(),
        static_cast<std::size_t>(last.text.data() + 1 - scan.tokens[open].text.data()));
    std::string head;
    if (site.kernel.is_template) head = text("template <", site.template_parameters, ">\n");
    kernel.definition = text("\n#if defined SW_SPLIT_KERNELS && !defined SW_WITHOUT_", name,
                             "\n#undef SW_THREAD_INDEX\n#define SW_THREAD_INDEX ",
                             calls ? "SW_SHARED_INDEX" : "SW_LOCAL_INDEX", "\n", head,
                             "__attribute__((flatten, noinline)) static void ", name, parameters,
                             " {\nSW_SPLIT_KERNEL;\n", statements, "}\n#endif\n");
    return kernel;
  } catch (const NotUnderstood&) {
    return {};
  }
}

}  // namespace spanwise::cpu_backend
