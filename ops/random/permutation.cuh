// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// A permutation of [0, size) whose elements are computed independently of one another:
// VariablePhilox of Mitchell, Stokes, Frank and Holmes, "Bandwidth-optimal random shuffling for
// GPUs", ACM TOPC 2022, permutes [0, next power of two); images >= size are permuted again.

template <class W>
struct HalvesOf {
  W left, right;
};
typedef HalvesOf<Word> Halves;

template <class W>
SW_FN HalvesOf<W> feistel_round(HalvesOf<W> x, Word key, const Bijection& b) {
  const Word left_mask = ((Word)1 << b.left_bits) - 1, more = b.right_bits - b.left_bits;  // 0 or 1
  const Word right_mask = (left_mask << more) | more;
  // The high and low 32 bits of the low 64 bits of x.left times 0xD2B74407B1CE6E93.
  W high, low, beyond, added;
  multiply(x.left, 0xB1CE6E93u, high, low);
  multiply(x.left, 0xD2B74407u, beyond, added);
  const HalvesOf<W> next = {((high + added) ^ key ^ x.right) & left_mask,
                            ((low << more) | (x.right >> b.left_bits)) & right_mask};
  return next;
}

SW_FN Halves split_index(Wide i, const Bijection& b) {
  const Halves x = {(Word)(i >> b.right_bits), (Word)i & (Word)(((Wide)1 << b.right_bits) - 1)};
  return x;
}
SW_FN Wide joined(Halves x, const Bijection& b) { return (Wide)x.left << b.right_bits | x.right; }

SW_FN Wide permuted_once(Wide i, const Bijection& b) {
  Halves x = split_index(i, b);
  for (int round = 0; round < 24; ++round) x = feistel_round(x, b.keys[round], b);
  return joined(x, b);
}

SW_FN Wide permuted(Wide i, const Bijection& b) {
  do {
    i = permuted_once(i, b);
  } while (i >= b.size);
  return i;
}
