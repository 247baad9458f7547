// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/shim_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "core/string_utils.hpp"
#include "embedded/cpu_shim.hpp"
#include "embedded/cpu_shim_samples.hpp"
#include "embedded/cpu_shim_standard.hpp"
#include "parse/device_code.hpp"
#include "parse/lexer.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cpu_backend {
namespace {

// Keywords that occur before a parenthesis, or as an argument of the shim's macros, and declare
// nothing.
bool is_keyword(std::string_view word) {
  return is_word_of(
      word,
      "if for while switch return sizeof alignof decltype defined bool char short int "
      "long unsigned signed float double");
}

// The names that the header `text` of the shim declares: names before a parenthesis, and the first
// arguments of its own macros, which declare functions and their variants with suffix f.
// Approximate: an additional name costs the time to parse a header that is not used, a missing one
// a second attempt with all headers (heads_for() in translation.cpp).
std::set<std::string_view> declared_names(std::string_view text) {
  std::set<std::string_view> names;
  const std::vector<parse::Token> tokens = parse::lex(text);
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens[i].kind == parse::Token::Kind::directive) {
      const std::vector<parse::Token> parts = parse::lex(tokens[i].text.substr(1));
      for (std::size_t w = 0; w + 1 < parts.size(); ++w)
        if (parts[w + 1].text == "(") names.insert(parts[w].text);
    }
    if (tokens[i].kind != parse::Token::Kind::identifier || tokens[i + 1].text != "(") continue;
    names.insert(tokens[i].text.starts_with("SW_") ? tokens[i + 2].text : tokens[i].text);
  }
  std::erase_if(names, [](std::string_view name) { return name.size() < 2 || is_keyword(name); });
  return names;
}

bool declares(const std::set<std::string_view>& names, std::string_view name) {
  if (names.contains(name)) return true;
  const std::size_t suffix = name.rfind('_');  // __float2int_rn, atomicAdd_block
  return (name.ends_with('f') && names.contains(name.substr(0, name.size() - 1))) ||
         (suffix != std::string_view::npos && names.contains(name.substr(0, suffix)));
}

bool is_vector_name(std::string_view name) {
  if (name.starts_with("make_")) name.remove_prefix(5);
  if (name.empty() || name.back() < '1' || name.back() > '4') return false;
  name.remove_suffix(1);
  return is_word_of(name,
                    "char uchar short ushort int uint long ulong longlong ulonglong float double");
}

// Functions of spanwise_rounding.h: __fadd_ru, __int2float_rz, __ffma2_rn. Those that convert to
// integers are in other parts.
bool is_rounding_name(std::string_view name) {
  if (name.starts_with("__") && name.ends_with("2_rn")) return true;
  if (name == "__fmaf_ieee_rn") return true;
  const bool is_directed = name.ends_with("_ru") || name.ends_with("_rd") || name.ends_with("_rz");
  return is_directed && !name.starts_with("__float2") &&
         (!name.starts_with("__double2") || name.starts_with("__double2float"));
}

bool is_video_name(std::string_view name) {
  return name.starts_with("__v") && !name.ends_with('_');
}

// Functions of spanwise_special.h.
bool is_special_name(std::string_view name) {
  return is_word_of(name,
                    "erfcx erfcxf erfinv erfinvf erfcinv erfcinvf normcdfinv normcdfinvf "
                    "cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1 cyl_bessel_i1f norm normf rnorm "
                    "rnormf");
}

// Types and functions such as cudaError_t and CUstream. Code that uses constants (CU_...) also uses
// types. spanwise_cpu.h itself declares the handles of textures and surfaces.
bool is_host_api_name(std::string_view name) {
  if (name == "cudaTextureObject_t" || name == "cudaSurfaceObject_t") return false;
  if (name.starts_with("cuda")) return name.size() > 4 && name[4] >= 'A' && name[4] <= 'Z';
  return name.starts_with("CU") && name.size() > 2 && name[2] != '_';
}

// Keywords that need operator new, operator delete or the ABI of virtual functions.
bool is_object_keyword(std::string_view name) {
  return name == "new" || name == "delete" || name == "virtual";
}

// A header of the shim, and the macro that makes spanwise_cpu.h include it.
struct ShimPart {
  const char* define;
  std::string_view file;
};
constexpr std::array<ShimPart, 6> parts{{{"SW_WITH_INTRINSICS", "spanwise_intrinsics.h"},
                                         {"SW_WITH_MATH", "spanwise_math.h"},
                                         {"SW_WITH_MATH", "spanwise_math_names.h"},
                                         {"SW_WITH_ATOMICS", "spanwise_atomics.h"},
                                         {"SW_WITH_BARRIERS", "spanwise_barriers.h"},
                                         {"SW_WITH_TEXTURES", "spanwise_textures.h"}}};

// The names that each part declares.
const auto& names_of_parts() {
  using Names = std::array<std::set<std::string_view>, parts.size()>;
  static const auto& declared = *new Names([] {
    Names names;
    for (std::size_t i = 0; i < parts.size(); ++i)
      names[i] = declared_names(embedded::file_text(embedded::cpu_shim, parts[i].file));
    return names;
  }());
  return declared;
}

// Embedded headers have no folders: cooperative_groups/reduce.h is cooperative_groups_reduce.h.
std::string embedded_name(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '/', '_');
  return out;
}

template <std::size_t N>
bool has_file(const std::array<embedded::TextFile, N>& files, std::string_view name) {
  return std::ranges::any_of(files,
                             [&](const embedded::TextFile& file) { return file.name == name; });
}

}  // namespace

bool is_shim_function(std::string_view name) {
  return is_rounding_name(name) || is_video_name(name) || is_special_name(name) ||
         std::ranges::any_of(names_of_parts(), [&](const std::set<std::string_view>& names) {
           return declares(names, name);
         });
}

std::string shim_parts(const std::set<std::string_view>& used) {
  const auto& declared = names_of_parts();
  std::string defines;
  const auto define = [&](const char* name) {
    defines.append("#define ").append(name).append(" 1\n");
  };
  const auto uses_any = [&](auto&& matches) { return std::ranges::any_of(used, matches); };
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (defines.find(parts[i].define) == defines.npos &&
        uses_any([&](std::string_view name) { return declares(declared[i], name); }))
      define(parts[i].define);
  if (uses_any(parse::is_implicit_name)) define("SW_WITH_LIMITS");
  if (uses_any(is_vector_name)) define("SW_WITH_VECTORS");
  const auto is_ptx_name = [](std::string_view name) {
    return name == "sw_ptx" || name.starts_with("__cvta_");
  };
  if (uses_any(is_ptx_name)) define("SW_WITH_PTX");
  if (uses_any(is_rounding_name)) define("SW_WITH_ROUNDING");
  if (uses_any(is_video_name)) define("SW_WITH_VIDEO");
  if (uses_any(is_special_name)) define("SW_WITH_SPECIAL");
  if (uses_any(is_object_keyword)) define("SW_WITH_OBJECTS");
  if (uses_any(is_host_api_name)) define("SW_WITH_HOST_API");
  if (used.contains("texture")) define("SW_WITH_TEXTURE_REFERENCES");
  return defines;
}

bool is_cuda_header(std::string_view name) {
  return has_file(embedded::cpu_shim, embedded_name(name)) ||
         has_file(embedded::cpu_shim_standard, name) || parse::is_cuda_library_header(name) ||
         parse::is_cccl_header(name);
}

std::optional<std::string> shim_header(std::string_view name) {
  if (std::string own_name = embedded_name(name);
      has_file(embedded::cpu_shim, own_name) || has_file(embedded::cpu_shim_samples, own_name))
    return own_name;
  if (has_file(embedded::cpu_shim_standard, name)) return std::string(name);
  if (name.starts_with("cub/")) return "spanwise_cub.h";
  if (parse::is_cuda_library_header(name)) return "spanwise_host_libraries.h";
  return {};
}

bool is_replaced_standard_header(std::string_view name) {
  return has_file(embedded::cpu_shim_standard, name);
}

void write_shim(const runtime::TemporaryFolder& folder, bool with_standard) {
  for (const embedded::TextFile& file : embedded::cpu_shim) folder.write(file.name, file.text);
  for (const embedded::TextFile& file : embedded::cpu_shim_samples)
    folder.write(file.name, file.text);
  for (const embedded::TextFile& file : embedded::cpu_shim_standard) {
    if (with_standard)
      folder.write(file.name, file.text);
    else  // an attempt with another head may have written it
      std::filesystem::remove(text(folder.path(), "/", file.name));
  }
}

std::string_view shim_text(std::string_view name) {
  if (is_replaced_standard_header(name))
    return embedded::file_text(embedded::cpu_shim_standard, name);
  return embedded::file_text(embedded::cpu_shim, name);
}

const std::string& shim_fingerprint() {
  static const auto& fingerprint = *new std::string([] {
    TextDigest digest;
    const auto add = [&](const auto& files) {
      for (const embedded::TextFile& file : files) {
        digest.add(file.name);
        digest.add(file.text);
      }
    };
    add(embedded::cpu_shim);
    add(embedded::cpu_shim_standard);
    add(embedded::cpu_shim_samples);
    return digest.hex();
  }());
  return fingerprint;
}

}  // namespace spanwise::cpu_backend
