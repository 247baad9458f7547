// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

/// Reading compiled binaries, whose headers may be damaged.
namespace spanwise::runtime {

/// The T at `offset` of a binary, which need not be aligned; nullopt if it would extend beyond the
/// end, since offsets of damaged files are arbitrary.
template <class T>
std::optional<T> value_at(std::string_view image, std::uint64_t offset) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

/// The sections and symbols of an ELF64 file. Sections, names and symbols at offsets outside of the
/// image are skipped; an image of another format has none.
class ElfImage {
 public:
  explicit ElfImage(std::string_view image) : image_(image) {
    if (image.starts_with(ELFMAG)) header_ = value_at<Elf64_Ehdr>(image, 0).value_or(Elf64_Ehdr{});
    if (const auto names = section(header_.e_shstrndx)) names_ = names->sh_offset;
  }

  std::optional<Elf64_Shdr> section(unsigned index) const {
    if (index >= header_.e_shnum) return std::nullopt;
    return value_at<Elf64_Shdr>(image_,
                                header_.e_shoff + std::uint64_t{index} * sizeof(Elf64_Shdr));
  }
  std::string_view section_name(unsigned index) const {
    const auto header = section(index);
    return header ? name_at(names_, header->sh_name) : std::string_view{};
  }
  /// Calls f(symbol, name) for each symbol.
  template <class F>
  void for_each_symbol(F&& f) const {
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      const auto table = section(i);
      if (!table || table->sh_type != SHT_SYMTAB) continue;
      const auto strings = section(table->sh_link);
      if (!strings) continue;
      for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= table->sh_size;
           offset += sizeof(Elf64_Sym)) {
        const auto symbol = value_at<Elf64_Sym>(image_, table->sh_offset + offset);
        if (!symbol) return;
        f(*symbol, name_at(strings->sh_offset, symbol->st_name));
      }
    }
  }

 private:
  // The string at `offset` of the string table at `table`.
  std::string_view name_at(std::uint64_t table, std::uint64_t offset) const {
    if (table > image_.size() || offset >= image_.size() - table) return {};
    const std::string_view name = image_.substr(table + offset);
    return name.substr(0, name.find('\0'));
  }

  std::string_view image_;
  Elf64_Ehdr header_{};
  std::uint64_t names_ = 0;  // offset of the string table of section names
};

}  // namespace spanwise::runtime
