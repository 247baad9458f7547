// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/rewrite.hpp"

#include <algorithm>

#include "backends/cpu/jit/ptx.hpp"
#include "spanwise/core/text.hpp"

namespace spanwise::cpu_backend {
namespace {

using source::SharedSite;
using source::SourceScan;
using source::Token;

class Rewriter {
 public:
  Rewriter(const SourceScan& scan, std::string_view file, TextEdits& edits, RewriteResult& result)
      : scan_(scan), file_(file), edits_(edits), result_(result) {}

  void run() {
    for (const source::KernelSite& site : scan_.sites) kernel(site);
    for (const SharedSite& site : scan_.shared) shared(site);
    for (const Token& t : scan_.tokens)
      if (t.kind == Token::Kind::directive && t.text.find("return") != std::string_view::npos)
        result_.returns_hidden = true;
    for (std::size_t i = 0; i + 1 < scan_.tokens.size(); ++i) {
      if (token(i).text == "texture" && token(i + 1).text == "<") texture_reference(i);
      if (is_asm(token(i).text)) ptx(i);
      if (token(i).kind == Token::Kind::directive) macro(token(i));
    }
  }

 private:
  const Token& token(std::size_t i) const { return scan_.tokens[i]; }

  // Inserts the definition of a macro that exists only if the surrounding code is compiled, and
  // returns its name. The rest of the line keeps its line number.
  std::string marker(std::size_t offset, int line, const char* what) {
    const std::string name =
        text("SW_HAS_", what, "_", result_.kernels.size(), "_", result_.dynamic_shared.size());
    edits_.insert(offset,
                  text("\n#define ", name, " 1\n#line ", line, " ", c_literal(file_), "\n"));
    return name;
  }

  int line_at(std::size_t offset) const {
    int line = 1;
    for (const Token& t : scan_.tokens) {
      if (t.offset >= offset) break;
      line = t.line;
    }
    return line;
  }

  void kernel(const source::KernelSite& site) {
    if (!site.kernel.is_definition) return;
    RewriteResult::MarkedKernel kernel;
    kernel.kernel = site.kernel;
    kernel.name = site.kernel.qualified_name;
    if (site.is_conditional)
      kernel.macro = marker(site.parameters_end, line_at(site.parameters_end), "KERNEL");
    kernel.counter = counter_of(site);
    result_.kernels.push_back(std::move(kernel));
    returns(site);
  }

  // The type of the first variable in the body that is initialized from blockIdx. A wrong guess
  // makes the kernel slower, not wrong.
  const char* counter_of(const source::KernelSite& site) const {
    std::size_t i = 0;
    while (i < scan_.tokens.size() && token(i).offset < site.parameters_end) ++i;
    std::size_t begin = i;  // start of the statement
    for (int depth = 0; i < scan_.tokens.size(); ++i) {
      const std::string_view text = token(i).text;
      if (text == "{") ++depth;
      if (text == "}" && --depth == 0) break;
      if (text == "{" || text == "}" || text == ";" || text == "(") begin = i + 1;
      if (text != "=" || i + 1 >= scan_.tokens.size()) continue;
      std::size_t end = i;
      bool from_block = false;
      for (; end < scan_.tokens.size() && token(end).text != ";" && token(end).text != ","; ++end)
        from_block |= token(end).text == "blockIdx";
      if (!from_block) continue;
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

  // Puts a macro behind each `return;` of the body, which is empty except in checked kernels.
  void returns(const source::KernelSite& site) {
    std::size_t i = 0;
    while (i < scan_.tokens.size() && token(i).offset < site.parameters_end) ++i;
    for (int depth = 0; i + 1 < scan_.tokens.size(); ++i) {
      if (token(i).text == "{") ++depth;
      if (token(i).text == "}" && --depth == 0) break;
      if (token(i).text == "return" && token(i + 1).text == ";")
        edits_.insert(token(i + 1).offset, " SW_RETURN");
    }
  }

  void shared(const SharedSite& site) {
    bool is_extern = false;
    for (std::size_t i = site.begin; i < site.end; ++i) is_extern |= token(i).text == "extern";
    if (is_extern)
      dynamic(site);
    else
      fixed(site);
  }

  // Handles `static __shared__` and `__shared__ alignas(N)`, which are invalid C++ once __shared__
  // is expanded.
  void fixed(const SharedSite& site) {
    for (std::size_t i = site.begin; i < site.end && token(i).text != "="; ++i) {
      const Token& t = token(i);
      if (t.text == "static") edits_.replace(t.offset, t.text.size(), "");
      if (t.text != "alignas" || i < site.token) continue;
      edits_.replace(t.offset, t.text.size(), "__attribute__((aligned");
      const std::size_t end = source::skip_balanced(scan_.tokens, i + 1);
      if (end < scan_.tokens.size()) edits_.insert(token(end - 1).offset + 1, "))");
    }
  }

  // Makes `texture<float, 2> name;` a variable that is found by its name.
  void texture_reference(std::size_t i) {
    const std::size_t end = source::skip_balanced(scan_.tokens, i + 1);
    if (end + 1 >= scan_.tokens.size() || token(end + 1).text != ";") return;
    const bool is_static = i > 0 && token(i - 1).text == "static";
    if (is_static) edits_.replace(token(i - 1).offset, token(i - 1).text.size(), "");
    const std::size_t before = is_static ? i - 1 : i;
    const std::string_view last = before > 0 ? token(before - 1).text : ";";
    if (last == ";" || last == "}" || last == "{" || last.starts_with("#"))
      edits_.insert(token(i).offset, "__device__ ");
  }

  void ptx(std::size_t i) {
    const auto statement = read_ptx(scan_.tokens, i);
    if (!statement || statement->replacement.empty()) return;
    const Token& last = token(statement->end - 1);
    edits_.replace(token(i).offset, last.offset + 1 - token(i).offset, statement->replacement);
  }

  // `extern __shared__ T name[];` in the body of a function-like macro.
  void macro(const Token& directive) {
    if (directive.text.find("__shared__") == directive.text.npos) return;
    const std::vector<Token> tokens = source::lex(directive.text.substr(1));
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

  // Parses `extern __shared__ T name[]...;`.
  bool read_dynamic(const SharedSite& site, SharedArray& declared) const {
    std::size_t i = site.begin;
    for (; i < site.end && token(i).text != "["; ++i) {
      const Token& t = token(i);
      if (t.kind == Token::Kind::directive) return false;
      if (t.text == "extern" || t.text == "static" || t.text == "__shared__") continue;
      if (t.text == "<") {
        const std::size_t end = source::skip_balanced(scan_.tokens, i);
        for (; i < end; ++i) declared.type.append(" ").append(token(i).text);
        --i;
        continue;
      }
      if (source::is_attribute_word(t.text)) {
        i = source::skip_balanced(scan_.tokens, i + 1) - 1;
        continue;
      }
      declared.type.append(declared.name.empty() ? "" : " ").append(declared.name);
      declared.name = t.text;
    }
    if (i + 1 >= site.end || token(i + 1).text != "]") return false;
    for (i += 2; i < site.end; ++i) {
      if (token(i).text == ",") return false;
      declared.dimensions.append(token(i).text).append(" ");
    }
    return !declared.type.empty() && !declared.name.empty();
  }

  void dynamic(const SharedSite& site) {
    SharedArray d;
    if (!read_dynamic(site, d)) return;  // the compiler reports the error
    const std::size_t begin = token(site.begin).offset;
    const std::size_t end = token(site.end - 1).offset + token(site.end - 1).text.size();
    const std::string pointer = text("(", d.type, " (*)", d.dimensions, ")sw_dynamic_shared");
    if (site.in_body) {
      edits_.replace(begin, end - begin,
                     text(d.type, " (* const ", d.name, ")", d.dimensions, "= ", pointer));
      return;
    }
    // One pointer per worker thread, set before it runs a block.
    const std::string name = site.scope + d.name;
    const bool is_known = std::ranges::any_of(result_.dynamic_shared, [&](const MarkedName& m) {
      return m.name == name && m.macro.empty();
    });
    if (is_known) return edits_.replace(begin, end - begin, "");
    MarkedName marked{name, ""};
    if (site.is_conditional && site.end < scan_.tokens.size())
      marked.macro = marker(token(site.end).offset + 1, token(site.end).line, "DYNAMIC");
    edits_.replace(begin, end - begin,
                   text("static __thread ", d.type, " (* ", d.name, ")", d.dimensions,
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
