// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spanwise::kernels {

/// Hashes a block of 64 bytes into the state (FIPS 180-4, 6.2.2).
using Sha256Block = void (*)(std::array<std::uint32_t, 8>& state, const unsigned char* bytes);

/// Portable implementation.
void sha256_plain(std::array<std::uint32_t, 8>& state, const unsigned char* bytes) noexcept;

/// Implementation with the processor's SHA instructions; null where it has none.
Sha256Block sha256_instructions() noexcept;

/// Incremental SHA-256 (FIPS 180-4). Used for names and checksums of cache entries, not for
/// secrets.
class Sha256 {
 public:
  void update(std::string_view bytes) noexcept;
  /// Hashes the length, then the bytes, so that sequences of fields are unambiguous.
  void field(std::string_view bytes) noexcept;
  void field(std::uint64_t number) noexcept;
  /// 64 lower-case hexadecimal digits. Do not use the object afterwards.
  std::string hex();

 private:
  void block(const unsigned char* bytes) noexcept;

  std::array<std::uint32_t, 8> state_{0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                      0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
  std::array<unsigned char, 64> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t length_ = 0;
};

std::string sha256(std::string_view bytes);

}  // namespace spanwise::kernels
