// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cache/sha256_block.hpp"

#include <bit>
#include <cstddef>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace spanwise::kernels {
namespace {

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
    const std::uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + sha256_round_constants[t] + w[t];
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
    const auto* constants = reinterpret_cast<const __m128i*>(&sha256_round_constants[4 * i]);
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

}  // namespace spanwise::kernels
