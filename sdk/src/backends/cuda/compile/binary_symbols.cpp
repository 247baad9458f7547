// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/binary_symbols.hpp"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>

#include "backends/cuda/compile/image_contents.hpp"
#include "backends/cuda/compile/image_value.hpp"

namespace spanwise::cuda {
namespace {

// The string at `offset` of the ELF string table at `table`; empty if out of range.
std::string_view name_at(std::string_view image, std::uint64_t table, std::uint64_t offset) {
  if (table > image.size() || offset >= image.size() - table) return {};
  const std::string_view rest = image.substr(table + offset);
  return rest.substr(0, rest.find('\0'));
}

class Elf {
 public:
  explicit Elf(std::string_view image)
      : image_(image), header_(value_at<Elf64_Ehdr>(image, 0).value_or(Elf64_Ehdr{})) {
    if (const auto names = section(header_.e_shstrndx)) names_ = names->sh_offset;
  }

  std::optional<Elf64_Shdr> section(unsigned index) const {
    if (index >= header_.e_shnum) return std::nullopt;
    return value_at<Elf64_Shdr>(image_,
                                header_.e_shoff + std::uint64_t{index} * sizeof(Elf64_Shdr));
  }
  std::string_view section_name(unsigned index) const {
    const auto found = section(index);
    return found ? name_at(image_, names_, found->sh_name) : std::string_view{};
  }
  template <class F>
  void for_each_symbol(F&& f) const {
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      const auto table = section(i);
      if (!table || table->sh_type != SHT_SYMTAB) continue;
      const auto strings = section(table->sh_link);
      if (!strings) continue;
      for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size;
           at += sizeof(Elf64_Sym)) {
        const auto symbol = value_at<Elf64_Sym>(image_, table->sh_offset + at);
        if (!symbol) return;
        f(*symbol, name_at(image_, strings->sh_offset, symbol->st_name));
      }
    }
  }

 private:
  std::string_view image_;
  Elf64_Ehdr header_;
  std::uint64_t names_ = 0;
};

BinarySymbols read_cubin(std::string_view image) {
  const Elf elf(image);
  BinarySymbols found;
  elf.for_each_symbol([&](const Elf64_Sym& symbol, std::string_view name) {
    if (name.empty() || symbol.st_shndx == SHN_UNDEF) return;
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    // Undocumented; observed in cubins of NVRTC and nvcc: __global__ functions have this bit in
    // st_other, __device__ functions do not.
    constexpr unsigned entry_point = 0x10;
    if (type == STT_FUNC && (symbol.st_other & entry_point) != 0) {
      found.kernels.emplace_back(name);
    } else if (type == STT_OBJECT) {
      const std::string_view section = elf.section_name(symbol.st_shndx);
      // .nv.constant0.<kernel> (bank 0) holds the kernel's parameters, .nv.constant3 (bank 3) the
      // __constant__ variables.
      if (section.starts_with(".nv.global") || section == ".nv.constant3")
        found.variables.emplace_back(name);
    }
  });
  return found;
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
  BinarySymbols found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with('.')) continue;
    if (line.find(".entry ") != line.npos) {
      found.kernels.push_back(name_before(line, "("));
    } else if (line.find(".global ") != line.npos || line.find(".const ") != line.npos) {
      found.variables.push_back(name_before(line, "[=;"));
    }
  }
  return found;
}

}  // namespace

BinarySymbols read_symbols(std::string_view image) {
  switch (image_kind(image)) {
    case ImageKind::cubin:
      return read_cubin(image);
    case ImageKind::ptx:
      return read_ptx(image);
    default:
      return {};
  }
}

}  // namespace spanwise::cuda
