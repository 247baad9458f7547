// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/translation.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>

#include "backends/cpu/jit/block_loops.hpp"
#include "backends/cpu/jit/block_statements.hpp"
#include "backends/cpu/jit/gpu_constructs.hpp"
#include "backends/cpu/jit/preprocessor.hpp"
#include "backends/cpu/jit/ptx.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "core/string_utils.hpp"
#include "parse/device_code.hpp"
#include "parse/kernel_source.hpp"
#include "parse/lexer.hpp"
#include "parse/warp_order.hpp"
#include "runtime/library_search.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/c_text.hpp"

namespace spanwise::cpu_backend {
namespace {

namespace fs = std::filesystem;
using parse::c_literal;
using parse::SharedSite;
using parse::SourceScan;
using parse::Token;

// Replaces pieces of a text, which must outlive this. Lines keep their numbers unless a
// replacement contains newlines.
class TextEdits {
 public:
  explicit TextEdits(std::string_view text) : text_(text) {}
  // Pieces must not overlap. The newlines of the old piece are appended to the new one.
  void replace(std::size_t offset, std::size_t length, std::string replacement) {
    const std::string_view old = text_.substr(offset, length);
    replacement.append(static_cast<std::size_t>(std::ranges::count(old, '\n')), '\n');
    edits_.push_back({offset, length, std::move(replacement)});
  }
  void insert(std::size_t offset, std::string text) { replace(offset, 0, std::move(text)); }
  // The edited text.
  std::string apply() {
    std::ranges::stable_sort(edits_,
                             [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
    std::string out;
    std::size_t done = 0;
    for (const Edit& edit : edits_) {
      // A line mark may be inside of a replaced piece.
      if (edit.offset > done) out.append(text_.substr(done, edit.offset - done));
      out.append(edit.replacement);
      done = std::max(done, edit.offset + edit.length);
    }
    return out.append(text_.substr(done));
  }

 private:
  struct Edit {
    std::size_t offset, length;
    std::string replacement;
  };
  std::string_view text_;
  std::vector<Edit> edits_;
};

// Results of the rewriting for the generated end of the file.
struct RewriteResult {
  // Pointers to set to the block's dynamic shared memory: names at namespace scope.
  std::vector<std::string> dynamic_shared;
  struct MarkedKernel {
    std::string name;
    parse::SourceKernel kernel;
    // The type of the kernel's global index: the Counter of sw_launcher (spanwise_launch.h).
    std::string counter = "int";
    // Of an overloaded kernel: a constant with its address, "" for others.
    std::string overload{};
    // The kernel split at its barriers, "" if it is not, and the names in its body.
    std::string split{};
    bool needs_warp_rows = false;
    std::set<std::string> calls{};
  };
  std::vector<MarkedKernel> kernels;  // definitions
  // Constants with the bounds of a kernel, from the attributes of one declaration: `name` is the
  // constant's or, for a template, that of a class template with a member `value`.
  struct MarkedBounds {
    std::string name;
    parse::SourceKernel kernel;
  };
  std::vector<MarkedBounds> bounds;
  parse::WarpOrder warps;
  std::vector<std::string> instances;  // name expressions of explicit instantiations
};

bool reaches_barrier(const parse::ReferenceGraph& uses, const std::set<std::string>& names) {
  return std::ranges::any_of(names,
                             [&](const std::string& name) { return uses.reaches_barrier(name); });
}

// Rewrites CUDA C++ that macros cannot turn into C++: `extern __shared__` arrays become pointers,
// and specifiers move to where C++ allows them. Appends to `result`.
class Rewriter {
 public:
  Rewriter(const SourceScan& scan, const parse::LineMap& lines, TextEdits& edits,
           RewriteResult& result, const SplitContext* split_context)
      : scan_(scan), lines_(lines), edits_(edits), result_(result), split_context_(split_context) {}

  void run() {
    for (const parse::KernelSite& site : scan_.sites) mark_kernel(site);
    for (const SharedSite& site : scan_.shared) rewrite_shared(site);
    result_.instances.insert(result_.instances.end(), scan_.instances.begin(),
                             scan_.instances.end());
    for (std::size_t i = 0; i + 1 < scan_.tokens.size(); ++i) {
      if (token(i).text == "texture" && token(i + 1).text == "<") rewrite_texture_reference(i);
      if (is_asm(token(i).text)) rewrite_ptx(i);
      if (token(i).text == "extern") rewrite_linkage(i);
      if (token(i + 1).text == "(" && is_built_in(token(i).text)) declare_again(i);
    }
  }

 private:
  const Token& token(std::size_t i) const { return scan_.tokens[i]; }

  // Indices of tokens.
  struct TokenRange {
    std::size_t begin, end;
  };

  // From the end of the parameters to the '}' of the body.
  TokenRange body_of(const parse::KernelSite& site) const {
    const auto first =
        std::ranges::lower_bound(scan_.tokens, site.parameters_end, {}, &Token::offset);
    TokenRange body{static_cast<std::size_t>(first - scan_.tokens.begin()), 0};
    body.end = body.begin;
    for (int depth = 0; body.end < scan_.tokens.size(); ++body.end) {
      if (token(body.end).text == "{") ++depth;
      if (token(body.end).text == "}" && --depth == 0) break;
    }
    return body;
  }

  // Defines the constant after the declaration, where the macros of its attributes still exist.
  void mark_bounds(const parse::KernelSite& site, const Token& last) {
    static constexpr std::string_view plain =
        "extern C static inline void const __global__ __forceinline__ __noinline__ __host__";
    if (site.specifiers.empty() ||
        std::ranges::all_of(parse::lex(site.specifiers), [](const Token& t) {
          return t.kind != Token::Kind::identifier || is_word_of(t.text, plain);
        }))
      return;
    const std::string constant = text("sw_bounds_", result_.bounds.size());
    const std::string value =
        text("static constexpr sw_bounds ", site.kernel.is_template ? "value" : constant,
             " = SW_BOUNDS(", site.specifiers, ");");
    const std::string_view scope = site.kernel.qualified_name;
    RewriteResult::MarkedBounds bounds;
    bounds.kernel = site.kernel;
    bounds.name = text(scope.substr(0, scope.size() - site.kernel.name.size()), constant);
    const parse::LineMap::Line origin = lines_.origin(last.offset, last.line);
    std::string definition = text(
        "\n#undef SW_LAUNCH_BOUNDS\n#undef SW_CLUSTER_DIMS\n"
        "#define SW_LAUNCH_BOUNDS(...) ) | sw_launch_bounds(__VA_ARGS__) | SW_OTHERS SW_OPEN()\n"
        "#define SW_CLUSTER_DIMS(...) ) | sw_cluster_dims(__VA_ARGS__) | SW_OTHERS SW_OPEN()\n",
        site.kernel.is_template ? text("template <", site.template_parameters, "> struct ",
                                       constant, " { ", value, " };")
                                : value,
        "\n#undef SW_LAUNCH_BOUNDS\n#undef SW_CLUSTER_DIMS\n"
        "#define SW_LAUNCH_BOUNDS(...)\n#define SW_CLUSTER_DIMS(...)\n#line ",
        origin.number, " ", c_literal(origin.file), "\n");
    edits_.insert(last.offset + last.text.size(), std::move(definition));
    result_.bounds.push_back(std::move(bounds));
  }

  void mark_kernel(const parse::KernelSite& site) {
    const TokenRange body = body_of(site);
    if (!site.kernel.is_definition) {
      if (body.begin < scan_.tokens.size() && token(body.begin).text == ";")
        mark_bounds(site, token(body.begin));
      return;
    }
    if (body.end < scan_.tokens.size()) mark_bounds(site, token(body.end));
    RewriteResult::MarkedKernel kernel;
    kernel.kernel = site.kernel;
    kernel.name = site.kernel.qualified_name;
    kernel.counter = counter_of(body);
    if (body.end < scan_.tokens.size()) mark_overload(site, token(body.end), kernel);
    if (split_context_ != nullptr && body.end < scan_.tokens.size()) split(site, body, kernel);
    result_.kernels.push_back(std::move(kernel));
    mark_returns(body);
  }

  // Selects an overload by its type, behind its definition, where the names in the type are
  // visible.
  void mark_overload(const parse::KernelSite& site, const Token& last,
                     RewriteResult::MarkedKernel& kernel) {
    const auto is_same = [&](const parse::KernelSite& other) {
      return other.kernel.is_definition && !other.kernel.is_template &&
             other.kernel.qualified_name == site.kernel.qualified_name;
    };
    if (site.kernel.is_template || std::ranges::count_if(scan_.sites, is_same) < 2) return;
    const std::string_view scope = site.kernel.qualified_name;
    const std::string name = text("sw_overload_", result_.kernels.size());
    kernel.overload = text(scope.substr(0, scope.size() - site.kernel.name.size()), name);
    edits_.insert(last.offset + 1,
                  text(" static constexpr void (*", name, ")(",
                       joined(site.kernel.parameters, ", ", &parse::ParameterDeclaration::type),
                       ") = &", site.kernel.name, ";"));
  }

  // Appends the kernel's split form to its definition.
  void split(const parse::KernelSite& site, const TokenRange& body,
             RewriteResult::MarkedKernel& kernel) {
    const std::string name = text("sw_split_", result_.kernels.size());
    auto split =
        split_at_barriers(scan_, site, body.begin, body.end, lines_, name, *split_context_);
    if (!split || reaches_barrier(scan_.uses, split->calls)) return;
    const std::string_view qualified = kernel.name;
    kernel.split = text(qualified.substr(0, qualified.size() - site.kernel.name.size()), name);
    kernel.calls = std::move(split->calls);
    kernel.needs_warp_rows = split->needs_warp_rows;
    std::size_t specifier = site.name;
    while (specifier > 0 && token(specifier).text != "__global__") --specifier;
    if (!kernel.needs_warp_rows) edits_.insert(token(specifier).offset, "SW_SPLIT_COLD ");
    const Token& last = token(body.end);
    const parse::LineMap::Line origin = lines_.origin(last.offset, last.line);
    edits_.insert(last.offset + 1, text(split->definition, "#line ", origin.number, " ",
                                        c_literal(origin.file), "\n"));
  }

  // The type of the first variable in the body that is initialized from blockIdx. A wrong guess
  // makes the kernel slower, not wrong.
  const char* counter_of(const TokenRange& body) const {
    std::size_t begin = body.begin;  // start of the statement
    for (std::size_t i = begin; i < body.end; ++i) {
      const std::string_view text = token(i).text;
      if (text == "{" || text == "}" || text == ";" || text == "(") begin = i + 1;
      if (text != "=") continue;
      bool reads_block_index = false;
      for (std::size_t k = i; k < body.end && token(k).text != ";" && token(k).text != ","; ++k)
        reads_block_index |= token(k).text == "blockIdx";
      if (!reads_block_index) continue;
      bool is_wide = false, is_unsigned = false;
      for (std::size_t word = begin; word < i; ++word) {
        const std::string_view type = token(word).text;
        is_unsigned |= type == "unsigned" || type == "uint" || type == "uint32_t" || type == "auto";
        is_wide |= type == "long" || type == "size_t" || type == "int64_t" || type == "uint64_t" ||
                   type == "ptrdiff_t";
      }
      if (is_wide) return "sw_wide_counter";
      return is_unsigned ? "unsigned" : "int";
    }
    return "int";
  }

  // Makes each `return;` of the body `return SW_RETURN;`. The macro is empty except in checked
  // kernels.
  void mark_returns(const TokenRange& body) {
    for (std::size_t i = body.begin; i + 1 < body.end; ++i)
      if (token(i).text == "return" && token(i + 1).text == ";")
        edits_.insert(token(i + 1).offset, " SW_RETURN");
  }

  void rewrite_shared(const SharedSite& site) {
    bool is_extern = false;
    for (std::size_t i = site.begin; i < site.end; ++i) is_extern |= token(i).text == "extern";
    if (is_extern)
      rewrite_dynamic_shared(site);
    else
      rewrite_static_shared(site);
  }

  // Handles `static __shared__` and `__shared__ alignas(N)`, which are invalid C++ once __shared__
  // is expanded.
  void rewrite_static_shared(const SharedSite& site) {
    for (std::size_t i = site.begin; i < site.end && token(i).text != "="; ++i) {
      const Token& t = token(i);
      if (t.text == "static") edits_.replace(t.offset, t.text.size(), "");
      if (t.text != "alignas" || i < site.token) continue;
      edits_.replace(t.offset, t.text.size(), "__attribute__((aligned");
      const std::size_t end = parse::skip_balanced(scan_.tokens, i + 1);
      if (end < scan_.tokens.size()) edits_.insert(token(end - 1).offset + 1, "))");
    }
  }

  // Makes `texture<float, 2> name;` a __device__ variable, which the program finds by its name.
  void rewrite_texture_reference(std::size_t i) {
    const std::size_t end = parse::skip_balanced(scan_.tokens, i + 1);
    if (end + 1 >= scan_.tokens.size() || token(end + 1).text != ";") return;
    const bool is_static = i > 0 && token(i - 1).text == "static";
    if (is_static) edits_.replace(token(i - 1).offset, token(i - 1).text.size(), "");
    const std::size_t begin = is_static ? i - 1 : i;
    const std::string_view previous = begin > 0 ? token(begin - 1).text : ";";
    if (previous == ";" || previous == "}" || previous == "{" || previous.starts_with("#"))
      edits_.insert(token(i).offset, "__device__ ");
  }

  void rewrite_ptx(std::size_t i) {
    const auto statement = read_ptx(scan_.tokens, i);
    if (!statement || statement->replacement.empty()) return;
    const Token& last = token(statement->end - 1);
    edits_.replace(token(i).offset, last.offset + 1 - token(i).offset, statement->replacement);
  }

  // Makes `extern "C" __constant__ float c[2];` a definition, as it is for nvcc: only in braces is
  // it one in C++.
  void rewrite_linkage(std::size_t i) {
    const auto is_variable_word = [](std::string_view word) {
      return word == "__constant__" || word == "__device__" || word == "__managed__";
    };
    if (token(i + 1).kind != Token::Kind::string) return;
    bool is_variable = false;
    std::size_t end = i + 2;
    for (; end < scan_.tokens.size() && token(end).text != ";"; ++end) {
      if (is_one_of(token(end).text, {"(", "{", "=", "extern", "__shared__"})) return;
      is_variable |= is_variable_word(token(end).text);
    }
    if (!is_variable || end == scan_.tokens.size()) return;
    edits_.insert(token(i + 2).offset, "{ ");
    edits_.insert(token(end).offset + 1, " }");
  }

  static bool is_built_in(std::string_view name) {
    return name.starts_with("__") &&
           (waiting_call(name) != WaitingCall::none || is_shim_function(name));
  }
  // Removes `extern __device__ void __syncthreads(void);`: the functions of CUDA are declared, some
  // as macros. Where the source defines an overload of an old shuffle, that becomes a function.
  void declare_again(std::size_t i) {
    const std::size_t end = parse::skip_balanced(scan_.tokens, i + 1);
    const std::string_view name = token(i).text;
    const bool is_overload = end < scan_.tokens.size() && token(end).text == "{" &&
                             is_one_of(name, {"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor"});
    if (i == 0 || end >= scan_.tokens.size() || (token(end).text != ";" && !is_overload)) return;
    std::size_t begin = i;
    const auto is_word = [&](std::size_t k) {
      return token(k).kind == Token::Kind::identifier || token(k).kind == Token::Kind::string;
    };
    while (begin > 0 && is_word(begin - 1)) --begin;
    const std::string_view before = begin > 0 ? token(begin - 1).text : ";";
    const bool is_device = std::any_of(
        scan_.tokens.begin() + static_cast<std::ptrdiff_t>(begin),
        scan_.tokens.begin() + static_cast<std::ptrdiff_t>(i),
        [](const Token& t) { return is_one_of(t.text, {"extern", "__device__", "void"}); });
    if (begin == i || !is_device || !(is_one_of(before, {";", "}", "{"}) || before[0] == '#'))
      return;
    const std::size_t first = token(begin).offset, last = token(end).offset + 1;
    if (!is_overload) return edits_.replace(first, last - first, "");
    if (!overloaded_.insert(name).second) return;
    const parse::LineMap::Line origin = lines_.origin(first, token(begin).line);
    edits_.insert(first, text("\n#undef ", name, "\nSW_SHUFFLE_FUNCTION(", name,
                              ", sw_warp_shuffle", name.substr(6),
                              is_one_of(name, {"__shfl", "__shfl_xor"}) ? ", int" : ", unsigned",
                              ")\n#line ", origin.number, " ", c_literal(origin.file), "\n"));
  }

  struct SharedArray {
    std::string type, name, dimensions;
  };

  // Parses `extern __shared__ T name[]...;`; nothing for other declarations.
  std::optional<SharedArray> read_dynamic_shared(const SharedSite& site) const {
    SharedArray declared;
    std::size_t i = site.begin;
    for (; i < site.end && token(i).text != "["; ++i) {
      const Token& t = token(i);
      if (t.kind == Token::Kind::directive) return {};
      if (t.text == "extern" || t.text == "static" || t.text == "__shared__") continue;
      if (t.text == "<") {
        const std::size_t end = parse::skip_balanced(scan_.tokens, i);
        for (; i < end; ++i) declared.type.append(" ").append(token(i).text);
        --i;
        continue;
      }
      if (parse::is_attribute_word(t.text)) {
        i = parse::skip_balanced(scan_.tokens, i + 1) - 1;
        continue;
      }
      declared.type.append(declared.name.empty() ? "" : " ").append(declared.name);
      declared.name = t.text;
    }
    if (i + 1 >= site.end || token(i + 1).text != "]") return {};
    for (i += 2; i < site.end; ++i) {
      if (token(i).text == ",") return {};
      declared.dimensions.append(token(i).text).append(" ");
    }
    if (declared.type.empty() || declared.name.empty()) return {};
    return declared;
  }

  void rewrite_dynamic_shared(const SharedSite& site) {
    const std::optional<SharedArray> array = read_dynamic_shared(site);
    if (!array) return;  // the compiler reports the error
    const auto& [type, array_name, dimensions] = *array;
    const std::size_t begin = token(site.begin).offset;
    const std::size_t end = token(site.end - 1).offset + token(site.end - 1).text.size();
    const std::string pointer = text("(", type, " (*)", dimensions, ")sw_dynamic_shared");
    if (site.in_body) {
      edits_.replace(begin, end - begin,
                     text(type, " (* const ", array_name, ")", dimensions, "= ", pointer));
      return;
    }
    // One pointer per worker thread, set before it runs a block.
    const std::string name = site.scope + array_name;
    const auto& known = result_.dynamic_shared;
    if (std::ranges::find(known, name) != known.end())
      return edits_.replace(begin, end - begin, "");
    edits_.replace(begin, end - begin,
                   text("static __thread ", type, " (* ", array_name, ")", dimensions,
                        " __asm__(\"sw_dynamic_", result_.dynamic_shared.size(), "\")"));
    result_.dynamic_shared.push_back(name);
  }

  const SourceScan& scan_;
  const parse::LineMap& lines_;
  TextEdits& edits_;
  RewriteResult& result_;
  const SplitContext* split_context_;      // null: no kernel is split
  std::set<std::string_view> overloaded_;  // old shuffles
};

// Rewrites a source. Headers of the system and of the shim are not rewritten. Host code is replaced
// by blanks.
class SourceRewriter {
 public:
  // `used_elsewhere` are names in name expressions and linked sources, whose declarations are kept.
  SourceRewriter(const parse::KernelSource& original, const PreprocessedSource& source,
                 const std::set<std::string_view>& used_elsewhere)
      : original_(original), source_(source) {
    for (const std::string_view name : used_elsewhere) device_code_.add_root(name);
    device_code_.add(source.text);
    device_code_.resolve();
  }

  // Removes code of which the compiler reported an error and that no kernel reaches; returns
  // whether there was any.
  bool remove_unreached(const Failure& failure) {
    if (failure.line == 0) return device_code_.remove_users(failure.name);
    bool has_removed = false;
    for (const int physical : source_.lines.lines_from(failure.name, failure.line))
      has_removed |= device_code_.remove_unreached(source_.text, physical);
    return has_removed;
  }

  // The rewritten text. Throws CompileError for constructs that the CPU does not support and that
  // a kernel reaches; an asm becomes a call that is an error if it is compiled, and its message is
  // added to `refusals`.
  std::string rewrite(std::vector<std::string>& refusals, const SplitContext* split) {
    for (bool has_removed = true;;) {
      const std::string text = device_code_.without_host_code(source_.text);
      const SourceScan scan = parse::scan_source(text);
      const std::vector<UnsupportedUse> uses = find_unsupported(scan);
      if (!has_removed) return rewrite(text, scan, uses, refusals, split);
      has_removed = false;
      for (const UnsupportedUse& use : uses)
        has_removed |=
            device_code_.remove_unreached_at(source_.text, scan.tokens[use.token].offset);
    }
  }

  const RewriteResult& result() const noexcept { return result_; }
  parse::ReferenceGraph& uses() noexcept { return uses_; }
  // All identifiers of the text.
  std::set<std::string_view> identifiers() const {
    std::set<std::string_view> all = uses_.used();
    all.insert(identifiers_.begin(), identifiers_.end());
    return all;
  }
  // Names of the included headers that the shim does not replace; "" if a macro names one.
  const std::set<std::string>& other_headers() const noexcept { return other_headers_; }
  // Whether a header of the C library is included that the shim replaces.
  bool includes_standard() const noexcept { return includes_standard_; }
  // Names of the included headers of other libraries that are left out.
  const std::set<std::string>& left_out() const noexcept { return left_out_; }
  // Names of the included headers of CCCL; those of Thrust are among left_out(), too.
  const std::set<std::string>& cccl_headers() const noexcept { return cccl_headers_; }

 private:
  std::string refusal(const UnsupportedUse& use, const SourceScan& scan) const {
    const Token& token = scan.tokens[use.token];
    const parse::LineMap::Line line = source_.lines.origin(token.offset, token.line);
    const std::string way = device_code_.way_to(source_.text, token.offset);
    return spanwise::text(line.file, ":", line.number, ": ", use.message,
                          way.empty() ? "" : " (" + way + ")");
  }

  std::string rewrite(const std::string& text, const SourceScan& scan,
                      const std::vector<UnsupportedUse>& unsupported,
                      std::vector<std::string>& refusals, const SplitContext* split) {
    uses_.merge(scan.uses);
    const parse::WarpOrder warps = parse::find_warp_order(scan.tokens);
    result_.warps.lines.insert(result_.warps.lines.end(), warps.lines.begin(), warps.lines.end());
    result_.warps.has_plain_stores |= warps.has_plain_stores;
    TextEdits edits(text);
    for (const UnsupportedUse& use : unsupported) {
      const std::string message = refusal(use, scan);
      if (use.end == 0)
        throw CompileError(message, message, parse::with_line_numbers(original_.text));
      const std::size_t begin = scan.tokens[use.token].offset;
      edits.replace(begin, scan.tokens[use.end - 1].offset + 1 - begin,
                    spanwise::text("sw_refused_", refusals.size(), "()"));
      refusals.push_back(message);
    }
    if (!source_.is_unchanged)
      for (const parse::LineMap::Mark& mark : source_.lines.marks())
        edits.insert(mark.offset,
                     spanwise::text("#line ", mark.line, " ", c_literal(mark.file), "\n"));
    for (const Token& token : scan.tokens) {
      if (token.kind == Token::Kind::identifier) identifiers_.emplace(token.text);
      if (is_asm(token.text)) identifiers_.insert(ptx_names().begin(), ptx_names().end());
      if (token.kind != Token::Kind::directive) continue;
      const parse::Include include = parse::read_include(token.text);
      if (!include.is_include) continue;
      if (const std::optional<std::string> header = replacement_for(include.name))
        edits.replace(token.offset, token.text.size(),
                      header->empty() ? "" : "#include " + c_literal(*header));
    }
    SplitContext context;
    if (split != nullptr) {
      context = *split;
      context.add(scan.tokens);
    }
    Rewriter(scan, source_.lines, edits, result_, split != nullptr ? &context : nullptr).run();
    return edits.apply();
  }
  // The header to include instead, "" to leave the directive out; nothing to keep it.
  std::optional<std::string> replacement_for(const std::string& name) {
    const bool is_library = parse::is_host_library_header(name);
    if (is_library) left_out_.insert(name);
    // Headers of CCCL that the shim does not replace are included before it, see system_head().
    if (parse::is_cccl_header(name) && (is_library || !shim_header(name))) {
      cccl_headers_.insert(name);
      if (!is_library) return "";
    }
    if (auto header = shim_header(name)) {
      includes_standard_ |= is_replaced_standard_header(name);
      return header;
    }
    if (is_library) return "";
    other_headers_.insert(name);
    return {};
  }

  const parse::KernelSource& original_;
  const PreprocessedSource& source_;
  parse::DeviceCode device_code_;
  RewriteResult result_;
  std::set<std::string, std::less<>> identifiers_;
  std::set<std::string> other_headers_, left_out_, cccl_headers_;
  bool includes_standard_ = false;
  parse::ReferenceGraph uses_;
};

using Kernel = RewriteResult::MarkedKernel;

// A use of a macro counts as a use of the identifiers in its body.
void add_macro_uses(const HostOptions& options, parse::ReferenceGraph& uses) {
  for (const std::string& directive : options.directives) {
    const std::vector<Token> tokens = parse::lex(std::string_view(directive).substr(1));
    for (std::size_t i = 2; i < tokens.size() && tokens[0].text == "define"; ++i)
      if (tokens[i].kind == Token::Kind::identifier) uses.add(tokens[1].text, tokens[i].text);
  }
}

constexpr const char* hidden = "extern \"C\" __attribute__((visibility(\"hidden\")))";

// Writes the generated end of the file: the sw_module by which the library finds kernels in the
// compiled module.
class ModuleTableWriter {
 public:
  ModuleTableWriter(const RewriteResult& source, const parse::ReferenceGraph& uses,
                    Translation& module)
      : source_(source), uses_(uses), module_(module) {}

  // Writes the end of source `index` of `count`. `names` are the template instances to generate.
  void write(const parse::KernelSource& source, const std::vector<std::string>& names,
             std::size_t index, std::size_t count, std::ostream& out) {
    out << "\n#line 1 " << c_literal("end of " + source.file_name) << "\n";
    write_dynamic_shared(index, count, out);
    out << "static constexpr sw_kernel sw_kernels[] = {\n";
    for (const Kernel& kernel : source_.kernels) write_kernel(kernel, out);
    for (const std::string& name : names) write_instance(name, out);
    for (const std::string& name : source_.instances) write_instance(name, out);
    out << "{nullptr, nullptr, nullptr, 0, nullptr, nullptr, {}}};\n"
        << "extern \"C\" __attribute__((visibility(\"default\"), used)) sw_module "
        << module_info_name(index) << " = {\n"
        << "SW_MODULE_MAGIC, SW_STACK_UNKNOWN, &sw_rt, sw_kernels, " << c_literal(source.file_name)
        << ", " << (module_.prints ? 1 : 0) << ", " << (module_.checked ? 1 : 0) << "};\n";
  }

 private:
  // A kernel may call functions of any source, so the arrays of all sources are set at its start.
  void write_dynamic_shared(std::size_t index, std::size_t count, std::ostream& out) const {
    const auto name_of = [&](std::size_t unit) {
      return count == 1 ? std::string("sw_bind_dynamic_shared") : text("sw_bind_unit_", unit);
    };
    out << (count == 1 ? "static" : hidden) << " void " << name_of(index) << "() {\n";
    for (const std::string& array : source_.dynamic_shared)
      out << "::" << array << " = (decltype(::" << array << "))sw_dynamic_shared;\n";
    out << "}\n";
    if (count == 1) return;
    for (std::size_t unit = 0; unit < count; ++unit)
      out << hidden << " void " << name_of(unit) << "();\n";
    out << "static void sw_bind_dynamic_shared() {\n";
    for (std::size_t unit = 0; unit < count; ++unit) out << name_of(unit) << "();\n";
    out << "}\n";
  }

  // Kernels of the same name are overloads.
  bool is_overloaded(const Kernel& kernel) const {
    return std::ranges::count_if(source_.kernels, [&](const Kernel& other) {
             return other.name == kernel.name && !other.kernel.is_template;
           }) > 1;
  }

  void write_kernel(const Kernel& kernel, std::ostream& out) {
    module_.kernel_names.push_back(kernel.kernel.name);
    module_.recurses |= uses_.recurses(kernel.kernel.name);
    if (kernel.kernel.is_template) return;
    std::string name = kernel.name, address = text("&::", kernel.name);
    if (is_overloaded(kernel)) {
      const std::string types =
          joined(kernel.kernel.parameters, ", ", &parse::ParameterDeclaration::type);
      name = text(name, "(", types, ")");
      address = kernel.overload.empty() ? text("static_cast<void (*)(", types, ")>(", address, ")")
                                        : text("::", kernel.overload);
    }
    const std::string bounds = bounds_where(
        [&](const Bounds& each) {
          return each.kernel.qualified_name == kernel.name && !each.kernel.is_template &&
                 each.kernel.parameters.size() == kernel.kernel.parameters.size() &&
                 (!is_overloaded(kernel) || each.kernel.line == kernel.kernel.line);
        },
        [](const Bounds& each) { return text("::", each.name); });
    out << entry(address, uses_.reaches_barrier(kernel.kernel.name), kernel.counter, name, bounds,
                 split_address(kernel, ""))
        << "\n";
    module_.symbols.emplace(name, name);
    // The unqualified name, too, if it is unique.
    const bool is_unique =
        std::ranges::count_if(source_.kernels, [&](const Kernel& other) {
          return other.kernel.name == kernel.kernel.name && other.name != kernel.name;
        }) == 0;
    if (is_unique && name == kernel.name) module_.symbols.emplace(kernel.kernel.name, name);
  }

  // Writes the entry of a name expression such as "scale<float>". It has a barrier if any name in
  // it reaches one.
  void write_instance(const std::string& expression, std::ostream& out) {
    const std::size_t start = expression.find_first_not_of(" &");
    if (start == std::string::npos || !module_.symbols.emplace(expression, expression).second)
      return;
    bool has_barrier = false;
    std::string counter = "int", split;
    int kernels = 0;
    const std::size_t arguments = expression.find('<');
    const std::vector<Token> tokens = parse::lex(expression);
    for (const Kernel& kernel : source_.kernels)
      for (const Token& token : tokens)
        if (token.text == kernel.kernel.name) {
          counter = kernel.counter;
          const bool is_known = kernel.kernel.is_template && arguments != expression.npos;
          split =
              is_known && ++kernels == 1 ? split_address(kernel, expression.substr(arguments)) : "";
        }
    for (const Token& token : tokens)
      has_barrier |= token.kind == Token::Kind::identifier && uses_.reaches_barrier(token.text);
    const std::string name = trimmed_name(expression, arguments);
    const auto is_of = [&](const Bounds& each) {
      return arguments != expression.npos && each.kernel.is_template && each.kernel.name == name;
    };
    // Templates of one name are overloads.
    const bool is_unique = std::ranges::count_if(source_.bounds, is_of) <= 1;
    const std::string bounds =
        bounds_where([&](const Bounds& each) { return is_unique && is_of(each); },
                     [&](const Bounds& each) {
                       return text("::", each.name, expression.substr(arguments), "::value");
                     });
    // "n::scale(float*, int)" is an instance whose arguments are deduced.
    const bool is_typed = arguments == expression.npos && expression.ends_with(')');
    const std::size_t types = expression.find('(');
    const std::string address = is_typed ? text("static_cast<void (*)", expression.substr(types),
                                                ">(&", expression.substr(start, types - start), ")")
                                         : text("&", expression.substr(start));
    out << entry(address, has_barrier, counter, expression, bounds, split) << "\n";
  }

  using Bounds = RewriteResult::MarkedBounds;

  // The unqualified name before `end` in a name expression.
  static std::string trimmed_name(const std::string& expression, std::size_t end) {
    const std::vector<Token> tokens = parse::lex(std::string_view(expression).substr(0, end));
    return tokens.empty() ? "" : std::string(tokens.back().text);
  }

  // An expression that combines the bounds that `matches` selects.
  template <class Matches, class Value>
  std::string bounds_where(const Matches& matches, const Value& value) const {
    std::string all;
    for (const Bounds& bounds : source_.bounds) {
      if (!matches(bounds)) continue;
      all += value(bounds) + " | ";
    }
    return all + "sw_bounds{}";
  }

  // The address of the kernel's form that is split at barriers; "" if it has none. A function that
  // another source defines may have a barrier.
  std::string split_address(const Kernel& kernel, const std::string& arguments) {
    if (kernel.split.empty() || reaches_barrier(uses_, kernel.calls)) return {};
    module_.splits = !module_.in_step;
    return text("&::", kernel.split, arguments, ", ", kernel.needs_warp_rows ? "true" : "false");
  }

  std::string entry(const std::string& address, bool has_barrier, const std::string& counter,
                    const std::string& name, const std::string& bounds, const std::string& split) {
    if (has_barrier && split.empty()) module_.fibers.push_back(name);
    const std::string arguments = text(">::entry(", c_literal(name), ", ", bounds, "),");
    const std::string plain = text("sw_launcher<", address, ", ", has_barrier ? "true" : "false",
                                   ", ", counter, arguments);
    if (split.empty()) return plain;
    const std::string_view form = std::string_view(split).substr(split.rfind("sw_split_"));
    return text("\n#if defined SW_SPLIT_KERNELS && !defined SW_WITHOUT_",
                form.substr(0, form.find_first_not_of("0123456789", 9)), "\nsw_split_launcher<",
                address, ", ", split, arguments, "\n#else\n", plain, "\n#endif");
  }

  const RewriteResult& source_;
  const parse::ReferenceGraph& uses_;
  Translation& module_;
};

constexpr std::string_view system_define = "#define SW_SYSTEM 1\n";
constexpr std::string_view all_define = "#define SW_WITH_ALL 1\n";
// Declares functions that the shim replaces before headers use them, after which Clang refuses
// other names for the linker.
constexpr std::string_view replaced_functions =
    "extern \"C\" { int printf(const char*, ...) __asm__(\"sw_printf\");"
    " void* malloc(__SIZE_TYPE__) noexcept __asm__(\"sw_malloc\");"
    " void free(void*) noexcept __asm__(\"sw_free\"); }\n";

// Algorithms of Thrust run in the calling thread. CCCL is used as without a toolkit, whose
// cuda_runtime_api.h it would include where it finds one, before the shim: the guard of
// cuda/std/__cccl/cuda_toolkit.h leaves that file out.
constexpr std::string_view cccl_define =
    "#define SW_CCCL 1\n"
    "#define CCCL_DISABLE_FP16_SUPPORT 1\n"
    "#define THRUST_HOST_SYSTEM THRUST_HOST_SYSTEM_CPP\n"
    "#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP\n"
    "#define __CCCL_CUDA_TOOLKIT_H\n"
    "#define _CCCL_HAS_CTK() 0\n"
    "#define _CCCL_CTK_BELOW(...) 0\n"
    "#define _CCCL_CTK_AT_LEAST(...) 0\n";

// The shim over the system's headers. Those of the C++ library and of CCCL precede it, since they
// use some of its macros, __noinline__ for one, as identifiers.
std::string system_head(const std::set<std::string>& headers, const std::set<std::string>& cccl) {
  std::string out = text(system_define, replaced_functions);
  for (const char* name :
       {"limits.h", "math.h", "stdio.h", "stdlib.h", "string.h", "stdint.h", "time.h", "new"})
    out += text("#include <", name, ">\n");
  for (const std::string& name : headers)
    if (parse::is_cpp_header(name)) out += text("#include <", name, ">\n");
  if (!cccl.empty()) out += cccl_define;
  for (const std::string& name : cccl) out += text("#include <", name, ">\n");
  return out.append(all_define);
}

// The heads of TranslationUnit. A source without headers of the system compiles fastest with only
// the shim's parts that it needs. Perhaps only host code needs Thrust, so the last attempt alone
// includes its headers.
std::vector<std::string> heads_for(const SourceRewriter& files, bool has_cccl) {
  const std::set<std::string>& others = files.other_headers();
  const std::set<std::string> none, &cccl = has_cccl ? files.cccl_headers() : none;
  std::vector<std::string> heads;
  if (std::ranges::all_of(cccl,
                          [](const std::string& name) { return name.starts_with("thrust/"); })) {
    if (others.empty()) heads.push_back(shim_parts(files.identifiers()));
    if (std::ranges::all_of(others, [](const std::string& name) {
          return name.empty() || parse::can_follow_shim(name);
        }))
      heads.emplace_back(all_define);
    if (!others.empty() || files.includes_standard() || files.identifiers().contains("std"))
      heads.push_back(system_head(others, none));
  }
  if (!cccl.empty()) heads.push_back(system_head(others, cccl));
  return heads;
}

// The folder of CCCL's headers. Throws CompileError if a source needs them and they are missing.
std::string cccl_folder(const parse::KernelSource& source, const std::set<std::string>& headers) {
  if (headers.empty()) return {};
  std::string folder = runtime::cccl_headers(runtime::library_folders()).string();
  const auto needed = std::ranges::find_if(
      headers, [](const std::string& name) { return !name.starts_with("thrust/"); });
  if (!folder.empty() || needed == headers.end()) return folder;
  const std::string message =
      text(source.file_name, ": ", *needed,
           " is a header of CCCL, which was not found. Remedy: python3 -m pip install "
           "nvidia-cuda-cccl, or set CUDA_HOME to a toolkit");
  throw CompileError(message, message, parse::with_line_numbers(source.text));
}

// Names that a source needs to keep for the name expressions of a request and for linked sources.
std::set<std::string_view> used_elsewhere(const runtime::CompileRequest& request,
                                          const parse::KernelSource& source) {
  std::set<std::string_view> names;
  const auto add = [&](std::string_view text) {
    for (const Token& token : parse::lex(text))
      if (token.kind == Token::Kind::identifier) names.insert(token.text);
  };
  for (const std::string& expression : request.names) add(expression);
  if (&source != request.source) add(request.source->text);
  for (const parse::KernelSource& linked : request.linked)
    if (&source != &linked) add(linked.text);
  return names;
}

// Writes the text before the user's source. After the preprocessor only the options' macros for
// headers, whose names are reserved, are still of use.
void write_head(const HostOptions& options, const PreprocessedSource& source, bool reverse,
                const Translation& module, bool steps_at_plain_stores, std::ostream& out) {
  if (reverse) out << "#define SW_REVERSE 1\n";
  // Before the shim, which depends on them.
  if (module.in_step) out << "#define SW_WARP_STEP " << (steps_at_plain_stores ? 2 : 1) << "\n";
  if (module.checked) out << "#define SW_KERNEL_CHECK 1\n";
  out << "#include \"spanwise_cpu.h\"\n";
  for (const std::string& directive : options.directives)
    if (source.is_unchanged || directive.starts_with("#define _")) out << directive << "\n";
}

// A kernel may have the name of a function of CUDA, also with C linkage: it gets another one here,
// while the table of kernels has its own.
void rename_kernels(const std::vector<Kernel>& kernels, std::ostream& out) {
  std::set<std::string_view> names;
  for (const Kernel& kernel : kernels)
    if (is_shim_function(kernel.kernel.name)) names.insert(kernel.kernel.name);
  for (const std::string_view name : names)
    out << "#define " << name << " sw_kernel_" << name << "\n";
}

}  // namespace

bool is_system_head(std::string_view head) { return head.starts_with(system_define); }

bool is_cccl_head(std::string_view head) { return head.find(cccl_define) != head.npos; }

std::string module_info_name(std::size_t unit) {
  return unit == 0 ? "sw_module_info" : text("sw_module_info_", unit);
}

Translation translate(const runtime::CompileRequest& request, const HostOptions& options,
                      const std::vector<PreprocessedSource>& texts,
                      const std::set<Failure>& failures, ThreadOrder order) {
  std::vector<const parse::KernelSource*> sources{request.source};
  for (const parse::KernelSource& linked : request.linked) sources.push_back(&linked);
  Translation module;
  module.checked =
      std::ranges::find(request.options, runtime::check_option) != request.options.end();
  const auto has_macro = [&](const char* macro) {
    const auto& all = options.directives;
    return std::ranges::find(all, text("#define ", macro)) != all.end();
  };
  module.in_step = order.in_step || has_macro(runtime::warp_step_macro);
  bool has_plain_stores = module.in_step;
  order.splits &= !module.checked && !module.in_step && !has_macro(runtime::fibers_macro);
  SplitContext split;
  for (const std::string& directive : options.directives) split.add_macro(directive);
  std::vector<SourceRewriter> files;
  std::vector<std::string> rewritten;
  parse::ReferenceGraph uses;  // of all sources: a barrier may be in a function of another source
  for (std::size_t i = 0; i < sources.size(); ++i) {
    files.emplace_back(*sources[i], texts[i], used_elsewhere(request, *sources[i]));
    for (const Failure& failure : failures)
      module.removed += files.back().remove_unreached(failure) ? 1 : 0;
    rewritten.push_back(files.back().rewrite(module.refusals, order.splits ? &split : nullptr));
    add_macro_uses(options, files.back().uses());
    uses.merge(files.back().uses());
    // kernel_check reports what relies on it: on today's GPUs that is a race.
    module.in_step |= !module.checked && !files.back().result().warps.lines.empty();
    has_plain_stores |= files.back().result().warps.has_plain_stores;
    module.prints |= files.back().identifiers().contains("printf");
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    TranslationUnit unit;
    const std::string cccl = cccl_folder(*sources[i], files[i].cccl_headers());
    unit.heads = heads_for(files[i], !cccl.empty());
    if (!cccl.empty()) module.cccl = cccl;
    module.left_out.insert(files[i].left_out().begin(), files[i].left_out().end());
    std::ostringstream out;
    if (sources.size() > 1) out << "#define SW_UNIT " << i << "\n";
    write_head(options, texts[i], order.reverse, module, has_plain_stores, out);
    rename_kernels(files[i].result().kernels, out);
    for (std::size_t k = 0; k < module.refusals.size(); ++k)
      out << "void sw_refused_" << k << "() __attribute__((error(\"\")));\n";
    out << "#line 1 " << c_literal(sources[i]->file_name) << "\n" << rewritten[i];
    ModuleTableWriter(files[i].result(), uses, module)
        .write(*sources[i], i == 0 ? request.names : std::vector<std::string>{}, i, sources.size(),
               out);
    unit.text = std::move(out).str();
    module.units.push_back(std::move(unit));
  }
  return module;
}

}  // namespace spanwise::cpu_backend
