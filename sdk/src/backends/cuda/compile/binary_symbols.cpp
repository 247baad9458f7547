// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/binary_symbols.hpp"

#include <algorithm>
#include <cctype>

#include "backends/cuda/compile/image_contents.hpp"
#include "runtime/system/elf_image.hpp"

namespace spanwise::cuda {
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

}  // namespace spanwise::cuda
