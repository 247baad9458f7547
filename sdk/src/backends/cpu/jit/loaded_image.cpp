// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/jit/loaded_image.hpp"

#include <link.h>

#include <algorithm>
#include <cstdint>

namespace spanwise::cpu_backend {
namespace {

struct Search {
  const char* address;
  LoadedImage found{};
};

int examine(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  LoadedImage image;
  image.base = reinterpret_cast<const char*>(object->dlpi_addr);
  image.thread_data = static_cast<char*>(object->dlpi_tls_data);
  bool contains = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type == PT_TLS) image.thread_bytes = header.p_memsz;
    if (header.p_type != PT_LOAD) continue;
    const char *begin = image.base + header.p_vaddr, *end = begin + header.p_memsz;
    contains |= search.address >= begin && search.address < end;
    image.begin = image.begin == nullptr ? begin : std::min(image.begin, begin);
    image.end = std::max(image.end, end);
  }
  if (contains) search.found = image;
  return contains ? 1 : 0;
}

}  // namespace

LoadedImage loaded_image(const void* address) {
  Search search{static_cast<const char*>(address)};
  ::dl_iterate_phdr(examine, &search);
  return search.found;
}

}  // namespace spanwise::cpu_backend
