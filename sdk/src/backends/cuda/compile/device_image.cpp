// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/compile/device_image.hpp"
#include "core/string_utils.hpp"
#include "parse/compiler_options.hpp"
#include "runtime/elf_image.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::cuda {
namespace {

using runtime::value_at;

// EM_CUDA of ELF. e_flags hold the architecture in the lowest byte, from ABI version 8 on
// (CUDA 12.8) in the second byte. Undocumented; observed in files of nvcc 11 to 13 and NVRTC.
constexpr unsigned cuda_machine = 190, first_abi_with_wide_flags = 8;

std::vector<ImagePart> cubin_parts(std::string_view image) {
  const auto header = value_at<Elf64_Ehdr>(image, 0);
  if (!header || header->e_machine != cuda_machine) return {};
  const unsigned shift = header->e_ident[EI_ABIVERSION] >= first_abi_with_wide_flags ? 8 : 0;
  return {{static_cast<int>(header->e_flags >> shift & 0xffu), false}};
}

// Fat binaries: a header with the total size of the entries, then the entries, each with a header.
// Undocumented; observed in files of nvcc and fatbinary of CUDA 11 to 13.
constexpr std::uint32_t fat_magic = 0xba55ed50;
struct FatHeader {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;
};
struct FatEntry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t packed_bytes, options;
  std::uint16_t minor, major;
  std::uint32_t architecture;
};
constexpr std::uint16_t ptx_entry = 1, cubin_entry = 2, lto_ir_entry = 8;

template <class F>
void for_each_entry(std::string_view image, F&& f) {
  const auto header = value_at<FatHeader>(image, 0);
  if (!header) return;
  std::size_t at = header->header_bytes;
  while (const auto entry = value_at<FatEntry>(image, at)) {
    if (at >= header->header_bytes + header->bytes || entry->header_bytes == 0) break;
    f(*entry);
    if (entry->bytes > image.size()) break;
    at += entry->header_bytes + static_cast<std::size_t>(entry->bytes);
  }
}

std::vector<ImagePart> fat_parts(std::string_view image) {
  std::vector<ImagePart> parts;
  for_each_entry(image, [&](const FatEntry& entry) {
    if (entry.kind == ptx_entry || entry.kind == cubin_entry)
      parts.push_back({static_cast<int>(entry.architecture), entry.kind == ptx_entry});
  });
  return parts;
}

std::vector<ImagePart> ptx_parts(std::string_view image) {
  const std::size_t at = image.find(".target sm_");
  if (at == image.npos) return {};
  return {{parse::architecture_number(image.substr(at)), true}};
}

// The first bytes of LTO-IR. Undocumented; observed in files of NVRTC 12 and 13.
constexpr std::uint32_t lto_ir_magic = 0x7f4e43ed;

std::string parts_text(const std::vector<ImagePart>& parts) {
  return joined(parts, ", ", [](const ImagePart& part) {
    return text(part.is_ptx ? "PTX for compute_" : "sm_", part.architecture);
  });
}

// A cubin runs on its architecture and newer ones of the same major version (CUDA C++ Programming
// Guide 13.0, "Binary Compatibility"), PTX is compiled for its own and all newer ones.
bool runs_on(const ImagePart& part, int device) {
  if (part.is_ptx) return part.architecture <= device;
  return part.architecture / 10 == device / 10 && part.architecture <= device;
}

}  // namespace

ImageKind image_kind(std::string_view image) {
  if (image.starts_with(ELFMAG)) {
    const auto header = value_at<Elf64_Ehdr>(image, 0);
    return header && header->e_machine == cuda_machine ? ImageKind::cubin : ImageKind::object;
  }
  if (image.starts_with("!<arch>\n")) return ImageKind::archive;
  const auto magic = value_at<std::uint32_t>(image, 0);
  if (magic == fat_magic) return ImageKind::fat_binary;
  if (magic == lto_ir_magic) return ImageKind::lto_ir;
  const std::string_view head = image.substr(0, 4096);
  const std::size_t version = head.find(".version");
  const bool is_ptx = version != head.npos && head.substr(0, version).find('\0') == head.npos;
  return is_ptx ? ImageKind::ptx : ImageKind::unknown;
}

std::vector<ImagePart> image_parts(std::string_view image) {
  const ImageKind kind = image_kind(image);
  if (kind == ImageKind::cubin) return cubin_parts(image);
  if (kind == ImageKind::fat_binary) return fat_parts(image);
  return kind == ImageKind::ptx ? ptx_parts(image) : std::vector<ImagePart>();
}

bool is_lto_ir(std::string_view image) {
  const ImageKind kind = image_kind(image);
  if (kind != ImageKind::fat_binary) return kind == ImageKind::lto_ir;
  int entries = 0, lto_ir_entries = 0;
  for_each_entry(image, [&](const FatEntry& entry) {
    ++entries;
    lto_ir_entries += entry.kind == lto_ir_entry;
  });
  return entries > 0 && entries == lto_ir_entries;
}

void require_runnable(std::string_view image, const DeviceProperties& device) {
  const std::vector<ImagePart> parts = image_parts(image);
  const bool is_known = image_kind(image) != ImageKind::unknown;
  // Unknown binary formats are left to the driver; unknown text is rejected.
  const bool is_text = !image.empty() && image.substr(0, 4096).find('\0') == image.npos;
  if (image.empty() || (!is_known && is_text))
    fail<ArgumentError>("Module.load: expected a cubin, PTX or fat binary, got ", image.size(),
                        " bytes of ", is_text ? "some other text" : "nothing",
                        is_text ? ". Remedy: CUDA C source is for SourceModule" : "");
  const int needed = parse::architecture_number(device.architecture);
  const auto runs = [&](const ImagePart& part) { return runs_on(part, needed); };
  if (parts.empty() || std::ranges::any_of(parts, runs)) return;
  fail<DeviceError>("Module.load: nothing in the binary runs on ", device.name,
                    ": expected code for ", device.architecture, ", or PTX for compute_", needed,
                    " or older, got ", parts_text(parts), ". Remedy: nvcc -gencode arch=compute_",
                    needed, ",code=", device.architecture,
                    ", or compile the source with SourceModule");
}

namespace {

BinarySymbols read_cubin(std::string_view image) {
  const runtime::ElfImage elf(image);
  BinarySymbols symbols;
  elf.for_each_symbol([&](const Elf64_Sym& symbol, std::string_view name) {
    if (name.empty() || symbol.st_shndx == SHN_UNDEF) return;
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    // Undocumented; observed in cubins of NVRTC and nvcc: __global__ functions have this bit in
    // st_other, __device__ functions do not.
    constexpr unsigned entry_point = 0x10;
    if (type == STT_FUNC && (symbol.st_other & entry_point) != 0) {
      symbols.kernels.emplace_back(name);
    } else if (type == STT_OBJECT) {
      const std::string_view section = elf.section_name(symbol.st_shndx);
      // .nv.constant0.<kernel> (bank 0) holds the kernel's parameters, .nv.constant3 (bank 3) the
      // __constant__ variables.
      if (section.starts_with(".nv.global") || section == ".nv.constant3")
        symbols.variables.emplace_back(name);
    }
  });
  return symbols;
}

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

// The identifier before the first character of `ends` in a declaration.
std::string name_before(std::string_view declaration, const char* ends) {
  std::size_t end = std::min(declaration.find_first_of(ends), declaration.size());
  while (end > 0 && !is_name_char(declaration[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_name_char(declaration[begin - 1])) --begin;
  return std::string(declaration.substr(begin, end - begin));
}

// In the PTX of NVRTC and nvcc, declarations at file scope start in the first column: ".visible
// .entry blur(", ".const .align 4 .b8 table[12];", ".global .attribute(.managed) .u32 n;".
BinarySymbols read_ptx(std::string_view text) {
  BinarySymbols symbols;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with('.')) continue;
    if (line.find(".entry ") != line.npos) {
      symbols.kernels.push_back(name_before(line, "("));
    } else if (line.find(".global ") != line.npos || line.find(".const ") != line.npos) {
      symbols.variables.push_back(name_before(line, "[=;"));
    }
  }
  return symbols;
}

}  // namespace

BinarySymbols read_symbols(std::string_view image) {
  const ImageKind kind = image_kind(image);
  if (kind == ImageKind::cubin) return read_cubin(image);
  return kind == ImageKind::ptx ? read_ptx(image) : BinarySymbols();
}

namespace {

// "void image::scale<float>(float*, int)", or "" for a name without mangling.
std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : "";
}

// Calls f(index) for the characters outside of brackets until it returns true; returns that index
// or npos. An opening bracket counts as outside.
template <class F>
std::size_t find_outside_brackets(std::string_view text, F&& f) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && f(i)) return i;
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
  }
  return text.npos;
}

// An anonymous namespace: "(anonymous namespace)", or NVRTC's mangling of it.
bool is_anonymous(std::string_view part) {
  return part == "(anonymous namespace)" || part.starts_with("_GLOBAL__N_") ||
         part.starts_with("_INTERNAL_");
}

std::vector<std::string_view> split_scopes(std::string_view name) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at =
        find_outside_brackets(name, [&](std::size_t i) { return name.substr(i, 2) == "::"; });
    parts.push_back(name.substr(0, at));
    if (at == name.npos) return parts;
    name.remove_prefix(at + 2);
  }
}

struct SymbolNames {
  std::string plain, qualified, with_parameters;
};

SymbolNames read_names(const std::string& symbol) {
  const std::string text = demangled(symbol);
  if (text.empty()) return {symbol, symbol, symbol};
  std::string_view name = text;
  // The parameter list starts at the first '(' outside of brackets that does not start "(anonymous
  // namespace)".
  std::string_view parameters;
  const std::size_t open = find_outside_brackets(name, [&](std::size_t i) {
    return name[i] == '(' && !name.substr(i).starts_with("(anonymous namespace)");
  });
  if (open != name.npos) {
    parameters = name.substr(open);
    name = name.substr(0, open);
  }
  // Demangled names of templates start with the return type.
  while (true) {
    const std::size_t space =
        find_outside_brackets(name, [&](std::size_t i) { return name[i] == ' '; });
    if (space == name.npos) break;
    name.remove_prefix(space + 1);
  }
  SymbolNames names;
  for (const std::string_view part : split_scopes(name)) {
    if (is_anonymous(part)) continue;
    names.qualified += (names.qualified.empty() ? "" : "::") + std::string(part);
    names.plain = part;
  }
  names.with_parameters = names.qualified + std::string(parameters);
  return names;
}

// Internal symbols of the CUDA device runtime, which users cannot call.
bool is_internal_to_runtime(const std::string& symbol) {
  return symbol.starts_with("__nv_static_") && symbol.find("_cuda_device_runtime_") != symbol.npos;
}

}  // namespace

std::map<std::string, std::string> names_of(const std::vector<std::string>& all_symbols) {
  std::vector<std::string> symbols;
  std::ranges::remove_copy_if(all_symbols, std::back_inserter(symbols), is_internal_to_runtime);
  std::vector<SymbolNames> all;
  std::map<std::string, int> qualified_count, plain_count;
  for (const std::string& symbol : symbols) {
    all.push_back(read_names(symbol));
    ++qualified_count[all.back().qualified];
    ++plain_count[all.back().plain];
  }
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const bool is_overloaded = qualified_count[all[i].qualified] > 1;
    names[is_overloaded ? all[i].with_parameters : all[i].qualified] = symbols[i];
    if (!is_overloaded && plain_count[all[i].plain] == 1) names[all[i].plain] = symbols[i];
  }
  return names;
}

std::string readable_name(const std::string& symbol) { return read_names(symbol).qualified; }

std::string types_of(const std::string& symbol) {
  const SymbolNames names = read_names(symbol);
  const std::string_view list =
      std::string_view(names.with_parameters).substr(names.qualified.size());
  if (!list.starts_with('(') || !list.ends_with(')')) return {};
  return std::string(list.substr(1, list.size() - 2));
}

}  // namespace spanwise::cuda
