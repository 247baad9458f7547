// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/sha256.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cache/sha256_block.hpp"

namespace spanwise::kernels {

void Sha256::block(const unsigned char* bytes) noexcept {
  static const Sha256Block fastest =
      sha256_instructions() != nullptr ? sha256_instructions() : &sha256_plain;
  fastest(state_, bytes);
}

void Sha256::update(std::string_view bytes) noexcept {
  const auto* next = reinterpret_cast<const unsigned char*>(bytes.data());
  std::size_t left = bytes.size();
  length_ += left;
  while (left > 0) {
    if (pending_size_ == 0 && left >= pending_.size()) {
      block(next);
      next += pending_.size(), left -= pending_.size();
      continue;
    }
    const std::size_t taken = std::min(left, pending_.size() - pending_size_);
    std::memcpy(pending_.data() + pending_size_, next, taken);
    pending_size_ += taken, next += taken, left -= taken;
    if (pending_size_ == pending_.size()) {
      block(pending_.data());
      pending_size_ = 0;
    }
  }
}

void Sha256::field(std::uint64_t number) noexcept {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (56 - 8 * i));
  update({bytes, sizeof bytes});
}

void Sha256::field(std::string_view bytes) noexcept {
  field(std::uint64_t{bytes.size()});
  update(bytes);
}

std::string Sha256::hex() {
  const std::uint64_t bits = 8 * length_;
  update({"\x80", 1});
  while (pending_size_ != 56) update({"\0", 1});
  field(bits);
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(64);
  for (const std::uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4) out += digits[(word >> shift) & 0xfu];
  return out;
}

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.hex();
}

}  // namespace spanwise::kernels
