// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace spanwise::kernels {
namespace {

// FIPS 180-4, 4.2.2: fractional parts of the cube roots of the first 64 primes.
alignas(16) constexpr std::uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const unsigned char* bytes) noexcept {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

}  // namespace

void sha256_plain(std::array<std::uint32_t, 8>& state, const unsigned char* bytes) noexcept {
  std::uint32_t w[64];
  for (int t = 0; t < 16; ++t) w[t] = big_endian(bytes + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const std::uint32_t low = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const std::uint32_t high = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + low + w[t - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + round_constants[t] + w[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::uint32_t round[8] = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += round[i];
}

#if defined(__x86_64__)
namespace {

// Intel SDM: _mm_sha256rnds2_epu32 does two rounds on the words {a, b, e, f} and {c, d, g, h},
// first word in the highest lane; msg1 and msg2 compute the next four words of the schedule.
__attribute__((target("sha,sse4.1"))) void block_by_sha(std::array<std::uint32_t, 8>& state,
                                                        const unsigned char* bytes) {
  const auto word = [&](int i) { return static_cast<int>(state[static_cast<std::size_t>(i)]); };
  const __m128i first = _mm_set_epi32(word(0), word(1), word(4), word(5));
  const __m128i second = _mm_set_epi32(word(2), word(3), word(6), word(7));
  const __m128i swap_bytes = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  __m128i abef = first, cdgh = second, w[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    if (i < 4) {
      const auto* address = reinterpret_cast<const __m128i*>(bytes + 16 * i);
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(address), swap_bytes);
    } else {
      const __m128i seven_back = _mm_alignr_epi8(w[i - 1], w[i - 2], 4);
      const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i - 4], w[i - 3]), seven_back);
      w[i] = _mm_sha256msg2_epu32(sum, w[i - 1]);
    }
    const auto* constants = reinterpret_cast<const __m128i*>(&round_constants[4 * i]);
    const __m128i words = _mm_add_epi32(w[i], _mm_load_si128(constants));
    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(words, 0x0e));
  }
  alignas(16) std::uint32_t out[8];
  _mm_store_si128(reinterpret_cast<__m128i*>(out), _mm_add_epi32(abef, first));
  _mm_store_si128(reinterpret_cast<__m128i*>(out + 4), _mm_add_epi32(cdgh, second));
  state = {out[3], out[2], out[7], out[6], out[1], out[0], out[5], out[4]};
}

bool has_sha() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

}  // namespace

Sha256Block sha256_instructions() noexcept { return has_sha() ? &block_by_sha : nullptr; }
#else
Sha256Block sha256_instructions() noexcept { return nullptr; }
#endif

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
