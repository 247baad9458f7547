// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/image_contents.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "backends/cuda/compile/compile_options.hpp"
#include "core/string_utils.hpp"
#include "runtime/system/elf_image.hpp"
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
  return {{architecture_number(image.substr(at)), true}};
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
  const int needed = architecture_number(device.architecture);
  const auto runs = [&](const ImagePart& part) { return runs_on(part, needed); };
  if (parts.empty() || std::ranges::any_of(parts, runs)) return;
  fail<DeviceError>("Module.load: nothing in the binary runs on ", device.name,
                    ": expected code for ", device.architecture, ", or PTX for compute_", needed,
                    " or older, got ", parts_text(parts), ". Remedy: nvcc -gencode arch=compute_",
                    needed, ",code=", device.architecture,
                    ", or compile the source with SourceModule");
}

}  // namespace spanwise::cuda
