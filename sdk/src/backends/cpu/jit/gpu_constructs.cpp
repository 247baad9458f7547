// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/gpu_constructs.hpp"

#include <algorithm>
#include <array>

#include "backends/cpu/jit/ptx.hpp"
#include "core/string_utils.hpp"

namespace spanwise::cpu_backend {
namespace {

using parse::SourceScan;
using parse::Token;

struct Construct {
  std::string_view stem;         // start of an identifier, or of a header's name
  std::string_view description;  // plural, for "... exist only on a GPU"
};

constexpr std::string_view rounding_argument =
    "operations with a rounding mode as an argument, which CUDA deprecates,";
// Identifiers that start with these stems and are called or used as a type.
constexpr std::array<Construct, 48> gpu_identifiers{{
    {"bmma_sync", "tensor-core matrices of bits"},
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
    {"__cluster_barrier", "thread block clusters"},
    {"__cluster_map", "thread block clusters"},
    {"__cluster_query", "thread block clusters"},
    {"__clusterDim", "thread block clusters"},
    {"__clusterGrid", "thread block clusters"},
    {"__clusterIdx", "thread block clusters"},
    {"__clusterRelative", "thread block clusters"},
    {"__clusterSize", "thread block clusters"},
    {"__threadfence_cluster", "thread block clusters"},
    {"__isClusterShared", "thread block clusters"},
    {"__isCtaShared", "tests of address spaces"},
    {"__isShared", "tests of address spaces"},
    {"__isGlobal", "tests of address spaces"},
    {"__isLocal", "tests of address spaces"},
    {"__isConstant", "tests of address spaces"},
    {"__isGridConstant", "tests of address spaces"},
    {"__nv_fp128_", "numbers of 128 bits"},
    {"__u128Atomic", "atomic operations on 128 bits"},
    {"__nv_memcpy_async_shared_global_", "asynchronous copies to shared memory"},
    {"__nv_associate_access_property", "properties of accesses"},
    {"__mbarrier_token_pending_count", "counts of the arrivals at a barrier"},
    {"dadd", rounding_argument},
    {"dsub", rounding_argument},
    {"dmul", rounding_argument},
    {"double2int", rounding_argument},
    {"double2uint", rounding_argument},
    {"double2ll", rounding_argument},
    {"double2ull", rounding_argument},
    {"float2double", rounding_argument},
    {"int2double", rounding_argument},
    {"uint2double", rounding_argument},
    {"ll2double", rounding_argument},
    {"ull2double", rounding_argument},
}};

constexpr std::array<Construct, 8> gpu_headers{{
    {"cuda/ptx", "PTX instructions"},
    {"cutlass/", "CUTLASS"},
    {"cute/", "CuTe"},
    {"cuda/std/barrier", "barriers of libcu++"},
    {"cuda/std/latch", "latches of libcu++"},
    {"cuda/std/semaphore", "semaphores of libcu++"},
    {"cuda/latch", "latches of libcu++"},
    {"cuda/semaphore", "semaphores of libcu++"},
}};

class UnsupportedFinder {
 public:
  explicit UnsupportedFinder(const SourceScan& scan) : scan_(scan) {}

  std::vector<UnsupportedUse> run() const {
    std::vector<UnsupportedUse> uses;
    for (std::size_t i = 0; i < scan_.tokens.size(); ++i) {
      const Token& token = scan_.tokens[i];
      std::string error;
      if (token.kind == Token::Kind::directive) error = header_error(token);
      if (token.kind == Token::Kind::identifier) error = identifier_error(i);
      if (token.text == "<" && parse::opens_launch(scan_.tokens, i))
        error = message("kernel launches in device code", "<<<");
      if (error.empty()) continue;
      const auto statement = is_asm(token.text) ? read_ptx(scan_.tokens, i) : std::nullopt;
      uses.push_back({i, statement ? statement->end : 0, std::move(error)});
    }
    return uses;
  }

 private:
  const Token& at(std::size_t i) const {
    static const Token none{Token::Kind::punctuation, "", 0, 0};
    return i < scan_.tokens.size() ? scan_.tokens[i] : none;
  }

  static std::string message(std::string_view description, std::string_view name) {
    return text(description, " (", name,
                ") exist only on a GPU. Guard the code with #ifndef SW_CPU and give a plain path, "
                "or use a CUDA device");
  }

  static std::string header_error(const Token& token) {
    const std::size_t open = token.text.find_first_of("<\"");
    if (token.text.find("include") == std::string_view::npos || open == std::string_view::npos)
      return {};
    const std::string_view name =
        token.text.substr(open + 1, token.text.find_first_of(">\"", open + 1) - open - 1);
    for (const Construct& construct : gpu_headers)
      if (name.starts_with(construct.stem)) return message(construct.description, name);
    return {};
  }

  std::string identifier_error(std::size_t i) const {
    const Token& token = at(i);
    const std::string_view name = token.text, next = at(i + 1).text;
    if (is_asm(name)) {
      const bool is_statement = next == "(" || next == "volatile" || next == "__volatile__";
      const auto statement = is_statement ? read_ptx(scan_.tokens, i) : std::nullopt;
      if (!is_statement || (statement && !statement->replacement.empty())) return {};
      return message("PTX instructions",
                     text(name, " \"", statement ? statement->instructions : "", '"'));
    }
    // A name that the source declares itself is not CUDA's.
    if (scan_.uses.contains(name)) return {};
    for (const Construct& construct : gpu_identifiers)
      if (name.starts_with(construct.stem) && is_used(construct, i))
        return message(construct.description, name);
    return {};
  }

  // Common names such as cluster_group count only if they are called or used as a type.
  bool is_used(const Construct& construct, std::size_t i) const {
    const std::string_view name = at(i).text, next = at(i + 1).text, previous = at(i - 1).text;
    const bool is_called = next == "(" || next == "<";
    if (previous == "." || previous == "->") return false;
    // The shim has tex1DLayered and tex2DLayered, but not tex1DLod, tex2DLayeredGrad and so on.
    const bool is_supported = name == "tex1DLayered" || name == "tex2DLayered";
    if (construct.stem.starts_with("tex") || construct.stem.starts_with("surf"))
      return is_called && !is_supported;
    // Of names in the language's own space the stem suffices.
    if (construct.stem.starts_with("__")) return is_called;
    return name == construct.stem && (is_called || next == "::" || previous == "::" ||
                                      at(i + 1).kind == Token::Kind::identifier);
  }

  const SourceScan& scan_;
};

}  // namespace

std::vector<UnsupportedUse> find_unsupported(const SourceScan& scan) {
  return UnsupportedFinder(scan).run();
}

}  // namespace spanwise::cpu_backend
