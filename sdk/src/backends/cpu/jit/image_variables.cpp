// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/image_variables.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace spanwise::cpu_backend {
namespace {

// Names of the shim and of the compiler.
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

class ImageReader {
 public:
  explicit ImageReader(std::string_view image) : image_(image) {}

  ImageVariables run() {
    const auto* header = at<ElfW(Ehdr)>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
    sections_ = header->e_shoff;
    count_ = header->e_shnum;
    for (std::size_t i = 0; i < count_; ++i)
      if (const auto* table = section(i); table != nullptr && table->sh_type == SHT_SYMTAB)
        read_table(*table);
    return std::move(found_);
  }

 private:
  template <class T>
  const T* at(std::size_t offset) const {
    if (offset > image_.size() || image_.size() - offset < sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(image_.data() + offset);
  }
  const ElfW(Shdr) * section(std::size_t index) const {
    return index < count_ ? at<ElfW(Shdr)>(sections_ + index * sizeof(ElfW(Shdr))) : nullptr;
  }
  // The text at `offset` of a table of names; "" if it is outside of the image.
  std::string_view name_at(const ElfW(Shdr) * names, std::size_t offset) const {
    if (names == nullptr || names->sh_offset > image_.size()) return {};
    const std::string_view table = image_.substr(names->sh_offset, names->sh_size);
    return offset < table.size() ? table.substr(offset, table.find('\0', offset) - offset)
                                 : std::string_view();
  }

  void read_table(const ElfW(Shdr) & table) {
    const ElfW(Shdr)* names = section(table.sh_link);
    for (std::size_t i = 0; i < table.sh_size / sizeof(ElfW(Sym)); ++i)
      if (const auto* symbol = at<ElfW(Sym)>(table.sh_offset + i * sizeof(ElfW(Sym))))
        add(*symbol, std::string(name_at(names, symbol->st_name)));
  }

  void add(const ElfW(Sym) & symbol, std::string name) {
    const unsigned type = symbol.st_info & 0xf;
    if (symbol.st_shndx == SHN_UNDEF) {
      found_.allocates |= name == "malloc" || name.starts_with("malloc@");
      return;
    }
    const ImageVariable variable{std::move(name), symbol.st_value, symbol.st_size};
    if (type == STT_TLS)
      (is_internal(variable.symbol) ? found_.builtin : found_.shared).push_back(variable);
    else if (type == STT_OBJECT && is_data(symbol.st_shndx) && !is_internal(variable.symbol))
      found_.globals.push_back(variable);
  }

  // Whether the section has variables that the kernel writes; not tables that the loader relocates.
  bool is_data(std::size_t index) const {
    const auto* header = at<ElfW(Ehdr)>(0);
    const ElfW(Shdr)* header_of_section = section(index);
    if (header_of_section == nullptr) return false;
    const std::string_view name = name_at(section(header->e_shstrndx), header_of_section->sh_name);
    return (header_of_section->sh_flags & SHF_WRITE) != 0 &&
           (name.starts_with(".data") || name.starts_with(".bss")) &&
           !name.starts_with(".data.rel.ro");
  }

  std::string_view image_;
  std::size_t sections_ = 0, count_ = 0;
  ImageVariables found_;
};

}  // namespace

ImageVariables read_variables(std::string_view image) { return ImageReader(image).run(); }

// In the Itanium C++ ABI (5.1) the last name is preceded by its length, and may be followed by a
// discriminator, "_0", or the end of a nested name, "E".
std::string variable_name(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return std::string(symbol.substr(0, symbol.find('.')));
  for (std::size_t i = symbol.size(); i-- > 2;) {
    if (std::isdigit(static_cast<unsigned char>(symbol[i])) == 0) continue;
    std::size_t first = i;
    while (std::isdigit(static_cast<unsigned char>(symbol[first - 1])) != 0) --first;
    for (std::size_t begin = first; begin <= i; ++begin) {
      if (i + 1 - begin > 4) continue;
      const std::size_t length = std::stoul(std::string(symbol.substr(begin, i + 1 - begin)));
      const std::string_view rest = symbol.substr(i + 1);
      if (length == 0 || length > rest.size()) continue;
      const std::string_view tail = rest.substr(length);
      if (tail.empty() || tail[0] == 'E' || tail[0] == '_')
        return std::string(rest.substr(0, length));
    }
    i = first;
  }
  return {};
}

}  // namespace spanwise::cpu_backend
