// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/rewrite.hpp"

#include <algorithm>
#include <optional>

#include "backends/cpu/jit/ptx.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

using parse::SharedSite;
using parse::SourceScan;
using parse::Token;

class Rewriter {
 public:
  Rewriter(const SourceScan& scan, std::string_view file, TextEdits& edits, RewriteResult& result)
      : scan_(scan), file_(file), edits_(edits), result_(result) {}

  void run() {
    for (const parse::KernelSite& site : scan_.sites) mark_kernel(site);
    for (const SharedSite& site : scan_.shared) rewrite_shared(site);
    for (const Token& t : scan_.tokens)
      if (t.kind == Token::Kind::directive && t.text.find("return") != std::string_view::npos)
        result_.may_hide_returns = true;
    for (std::size_t i = 0; i + 1 < scan_.tokens.size(); ++i) {
      if (token(i).text == "texture" && token(i + 1).text == "<") rewrite_texture_reference(i);
      if (is_asm(token(i).text)) rewrite_ptx(i);
      if (token(i).kind == Token::Kind::directive) rewrite_macro(token(i));
    }
  }

 private:
  const Token& token(std::size_t i) const { return scan_.tokens[i]; }

  // Inserts the definition of a macro that exists only if the surrounding code is compiled, and
  // returns its name. The code that follows in the same line keeps its line number.
  std::string insert_marker(std::size_t offset, int line, const char* kind) {
    const std::string name =
        text("SW_HAS_", kind, "_", result_.kernels.size(), "_", result_.dynamic_shared.size());
    edits_.insert(offset,
                  text("\n#define ", name, " 1\n#line ", line, " ", c_literal(file_), "\n"));
    return name;
  }

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

  void mark_kernel(const parse::KernelSite& site) {
    if (!site.kernel.is_definition) return;
    const TokenRange body = body_of(site);
    RewriteResult::MarkedKernel kernel;
    kernel.kernel = site.kernel;
    kernel.name = site.kernel.qualified_name;
    if (site.is_conditional)
      kernel.macro = insert_marker(site.parameters_end, token(body.begin - 1).line, "KERNEL");
    kernel.counter = counter_of(body);
    result_.kernels.push_back(std::move(kernel));
    mark_returns(body);
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

  // Makes `extern __shared__ T name[];` in the body of a macro a pointer.
  void rewrite_macro(const Token& directive) {
    if (directive.text.find("__shared__") == directive.text.npos) return;
    const std::vector<Token> tokens = parse::lex(directive.text.substr(1));
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (tokens[i].text != "extern") continue;
      std::string type, name;
      std::size_t k = i + 1;
      for (; k < tokens.size() && tokens[k].kind == Token::Kind::identifier; ++k) {
        if (tokens[k].text == "__shared__") continue;
        type.append(type.empty() ? "" : " ").append(name);
        name = tokens[k].text;
      }
      if (k + 2 >= tokens.size() || tokens[k].text != "[" || tokens[k + 1].text != "]" ||
          tokens[k + 2].text != ";" || type.empty())
        continue;
      edits_.replace(directive.offset + 1 + tokens[i].offset,
                     tokens[k + 1].offset + 1 - tokens[i].offset,
                     text(type, "* const ", name, " = (", type, "*)sw_dynamic_shared"));
    }
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
    const bool is_known = std::ranges::any_of(result_.dynamic_shared, [&](const MarkedName& m) {
      return m.name == name && m.macro.empty();
    });
    if (is_known) return edits_.replace(begin, end - begin, "");
    MarkedName marked{name, ""};
    if (site.is_conditional && site.end < scan_.tokens.size())
      marked.macro = insert_marker(token(site.end).offset + 1, token(site.end).line, "DYNAMIC");
    edits_.replace(begin, end - begin,
                   text("static __thread ", type, " (* ", array_name, ")", dimensions,
                        " __asm__(\"sw_dynamic_", result_.dynamic_shared.size(), "\")"));
    result_.dynamic_shared.push_back(std::move(marked));
  }

  const SourceScan& scan_;
  std::string_view file_;
  TextEdits& edits_;
  RewriteResult& result_;
};

}  // namespace

void TextEdits::replace(std::size_t offset, std::size_t length, std::string replacement) {
  const std::string_view old = text_.substr(offset, length);
  replacement.append(static_cast<std::size_t>(std::ranges::count(old, '\n')), '\n');
  edits_.push_back({offset, length, std::move(replacement)});
}

std::string TextEdits::apply() {
  std::ranges::stable_sort(edits_,
                           [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
  std::string out;
  std::size_t done = 0;
  for (const Edit& edit : edits_) {
    out.append(text_.substr(done, edit.offset - done)).append(edit.replacement);
    done = edit.offset + edit.length;
  }
  return out.append(text_.substr(done));
}

void rewrite_cuda(const SourceScan& scan, std::string_view file, TextEdits& edits,
                  RewriteResult& result) {
  Rewriter(scan, file, edits, result).run();
}

}  // namespace spanwise::cpu_backend
