// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/image_variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "runtime/system/elf_image.hpp"

namespace spanwise::cpu_backend {
namespace {

// Whether the shim or the compiler declares a variable of this name.
bool is_internal(std::string_view name) {
  static constexpr std::array<std::string_view, 4> builtin{"threadIdx", "blockIdx", "blockDim",
                                                           "gridDim"};
  if (name.starts_with("_ZL")) {  // a static variable at namespace scope
    name.remove_prefix(3);
    name.remove_prefix(std::min(name.find_first_not_of("0123456789"), name.size()));
  }
  return name.starts_with("sw_") || name.starts_with("__") || name.starts_with("completed.") ||
         name.find("__ubsan_handle") != name.npos ||
         std::ranges::find(builtin, name) != builtin.end();
}

// Whether the section holds variables that the kernel may write, not tables that the loader
// relocates.
bool is_data(const runtime::ElfImage& image, unsigned index) {
  const auto section = image.section(index);
  const std::string_view name = image.section_name(index);
  return section && (section->sh_flags & SHF_WRITE) != 0 &&
         (name.starts_with(".data") || name.starts_with(".bss")) &&
         !name.starts_with(".data.rel.ro");
}

}  // namespace

ImageVariables read_variables(std::string_view image) {
  const runtime::ElfImage elf(image);
  ImageVariables variables;
  elf.for_each_symbol([&](const Elf64_Sym& symbol, std::string_view name) {
    if (symbol.st_shndx == SHN_UNDEF) {
      variables.allocates |= name == "malloc" || name.starts_with("malloc@");
      return;
    }
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    const ImageVariable variable{std::string(name), symbol.st_value, symbol.st_size};
    if (type == STT_TLS)
      (is_internal(name) ? variables.builtin : variables.shared).push_back(variable);
    else if (type == STT_OBJECT && is_data(elf, symbol.st_shndx) && !is_internal(name))
      variables.globals.push_back(variable);
  });
  return variables;
}

// In the Itanium C++ ABI (5.1) the last name is preceded by its length, and may be followed by a
// discriminator, "_0", or the end of a nested name, "E".
std::string variable_name(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return std::string(symbol.substr(0, symbol.find('.')));
  for (std::size_t i = symbol.size(); i-- > 2;) {
    if (std::isdigit(static_cast<unsigned char>(symbol[i])) == 0) continue;
    std::size_t first = i;
    while (std::isdigit(static_cast<unsigned char>(symbol[first - 1])) != 0) --first;
    for (std::size_t begin = first; begin <= i; ++begin) {
      if (i + 1 - begin > 4) continue;  // no name is that long
      const std::size_t length = std::stoul(std::string(symbol.substr(begin, i + 1 - begin)));
      const std::string_view name = symbol.substr(i + 1).substr(0, length);
      if (length == 0 || length > name.size()) continue;
      const std::string_view tail = symbol.substr(i + 1 + length);
      if (tail.empty() || tail[0] == 'E' || tail[0] == '_') return std::string(name);
    }
    i = first;
  }
  return {};
}

}  // namespace spanwise::cpu_backend
