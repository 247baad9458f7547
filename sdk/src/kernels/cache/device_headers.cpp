// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/device_headers.hpp"

#include "embedded/device_headers.hpp"
#include "kernels/cache/sha256.hpp"

namespace spanwise::kernels {

const std::string& device_headers_digest() {
  static const auto& digest = *new std::string([] {
    Sha256 hash;
    for (const embedded::TextFile& header : embedded::device_headers) {
      hash.field(header.name);
      hash.field(header.text);
    }
    return hash.hex();
  }());
  return digest;
}

DeviceHeaderFolder::DeviceHeaderFolder() {
  for (const embedded::TextFile& header : embedded::device_headers)
    folder_.write(std::string(device_header_prefix).append(header.name), header.text);
}

}  // namespace spanwise::kernels
