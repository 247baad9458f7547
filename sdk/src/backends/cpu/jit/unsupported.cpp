// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/unsupported.hpp"

#include <array>

#include "backends/cpu/jit/ptx.hpp"
#include "core/string_utils.hpp"

namespace spanwise::cpu_backend {
namespace {

using source::SourceScan;
using source::Token;

struct Construct {
  std::string_view stem;  ///< of an identifier, or of a header's name
  std::string_view what;
};

// Identifiers that start with these stems and are called or used as a type.
constexpr std::array<Construct, 16> identifiers{{
    {"nvcuda", "tensor-core matrices (wmma)"},
    {"wmma", "tensor-core matrices (wmma)"},
    {"tex1DL", "texture fetches of levels of detail"},
    {"tex1DG", "texture fetches by gradients"},
    {"tex2DL", "texture fetches of levels of detail"},
    {"tex2DG", "texture fetches by gradients"},
    {"tex3DL", "texture fetches of levels of detail"},
    {"tex3DG", "texture fetches by gradients"},
    {"texCubemap", "cubemap textures"},
    {"surfCubemap", "cubemap surfaces"},
    {"multi_grid_group", "synchronisation of several grids"},
    {"this_cluster", "thread block clusters"},
    {"cluster_group", "thread block clusters"},
    {"cp_async", "asynchronous copies to shared memory"},
    {"cudaLaunchDevice", "kernel launches from a kernel"},
    {"__nv_aligned_device_malloc", "aligned device allocation"},
}};

constexpr std::array<Construct, 12> headers{{
    {"mma.h", "tensor-core matrices (wmma)"},
    {"cuda/barrier", "asynchronous barriers"},
    {"cuda/pipeline", "asynchronous pipelines"},
    {"cuda/ptx", "PTX instructions"},
    {"cuda_awbarrier", "asynchronous barriers"},
    {"cutlass/", "CUTLASS"},
    {"cute/", "CuTe"},
    {"cuda/std/barrier", "barriers of libcu++"},
    {"cuda/std/latch", "latches of libcu++"},
    {"cuda/std/semaphore", "semaphores of libcu++"},
    {"cuda/latch", "latches of libcu++"},
    {"cuda/semaphore", "semaphores of libcu++"},
}};

class Finder {
 public:
  Finder(const SourceScan& scan, std::string_view file_name) : scan_(scan), file_(file_name) {}

  std::string run() const {
    for (const std::size_t i : scan_.unconditional) {
      const Token& token = scan_.tokens[i];
      std::string found;
      if (token.kind == Token::Kind::directive) found = header(token);
      if (token.kind == Token::Kind::identifier) found = identifier(i);
      if (token.text == "<") found = launch(i);
      if (!found.empty()) return found;
    }
    return {};
  }

 private:
  const Token& at(std::size_t i) const {
    static const Token none{Token::Kind::punctuation, "", 0, 0};
    return i < scan_.tokens.size() ? scan_.tokens[i] : none;
  }

  std::string say(const Token& token, std::string_view what, std::string_view name) const {
    return text(file_, ":", token.line, ": ", what, " (", name,
                ") exist only on a GPU. Guard the code with #ifndef SW_CPU and give a plain path, "
                "or use a CUDA device");
  }

  std::string header(const Token& token) const {
    const std::size_t open = token.text.find_first_of("<\"");
    if (token.text.find("include") == std::string_view::npos || open == std::string_view::npos)
      return {};
    const std::string_view name =
        token.text.substr(open + 1, token.text.find_first_of(">\"", open + 1) - open - 1);
    for (const Construct& construct : headers)
      if (name.starts_with(construct.stem)) return say(token, construct.what, name);
    return {};
  }

  std::string identifier(std::size_t i) const {
    const Token& token = at(i);
    const std::string_view name = token.text, next = at(i + 1).text;
    if (is_asm(name)) {
      const bool is_statement = next == "(" || next == "volatile" || next == "__volatile__";
      const auto statement = is_statement ? read_ptx(scan_.tokens, i) : std::nullopt;
      if (!is_statement || (statement && !statement->replacement.empty())) return {};
      return say(token, "PTX instructions",
                 text(name, " \"", statement ? statement->instructions : "", '"'));
    }
    // A name that the source declares itself is not CUDA's.
    if (scan_.uses.contains(name)) return {};
    for (const Construct& construct : identifiers)
      if (name.starts_with(construct.stem) && is_used(construct, i))
        return say(token, construct.what, name);
    return {};
  }

  // Common names such as cluster_group count only if they are called or used as a type.
  bool is_used(const Construct& construct, std::size_t i) const {
    const std::string_view name = at(i).text, next = at(i + 1).text, before = at(i - 1).text;
    const bool calls = next == "(" || next == "<";
    if (before == "." || before == "->") return false;
    const bool whole = name == construct.stem;
    const bool is_plain_layered = name == "tex1DLayered" || name == "tex2DLayered";
    if (construct.stem.starts_with("tex") || construct.stem.starts_with("surf"))
      return calls && !is_plain_layered;
    return whole &&
           (calls || next == "::" || before == "::" || at(i + 1).kind == Token::Kind::identifier);
  }

  // kernel<<<grid, block>>>(...)
  std::string launch(std::size_t i) const {
    return source::opens_launch(scan_.tokens, i)
               ? say(at(i), "kernel launches in device code", "<<<")
               : "";
  }

  const SourceScan& scan_;
  std::string_view file_;
};

}  // namespace

std::string find_unsupported(const SourceScan& scan, std::string_view file_name) {
  return Finder(scan, file_name).run();
}

}  // namespace spanwise::cpu_backend
