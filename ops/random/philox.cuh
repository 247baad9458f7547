// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The generator of random words, Philox4x32-10, bit-identical on CPU and GPU. This text and those
// that follow it (distributions.cuh, bodies.cuh, permutation.cuh) are compiled by the host compiler
// as C++, inside one namespace per instruction set, and by NVRTC as CUDA C++; they therefore
// include nothing. The including text defines SW_FN (declares a function), SW_UNROLL (unrolls the
// next loop), fused(), root(), bits_of(), from_bits() and high_product(). Every floating operation
// is correctly rounded by IEEE 754, and none may be contracted into another, so all processors
// agree to the last bit.

// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC'11, table 2 and section 3.3.

// Both halves of a 64-bit product. W is a Word, or on the host a vector of words.
SW_FN void multiply(Word x, Word factor, Word& high, Word& low) {
  const Wide product = (Wide)x * factor;
  high = (Word)(product >> 32);
  low = (Word)product;
}

template <class W>
struct BlockOf {
  W x, y, z, w;
};
typedef BlockOf<Word> PhiloxBlock;

template <class W>
SW_FN BlockOf<W> philox(BlockOf<W> c, Word key0, Word key1) {
  SW_UNROLL for (int round = 0; round < 10; ++round) {
    W high0, low0, high1, low1;
    multiply(c.x, 0xD2511F53u, high0, low0);
    multiply(c.z, 0xCD9E8D57u, high1, low1);
    const BlockOf<W> next = {high1 ^ c.y ^ key0, low1, high0 ^ c.w ^ key1, low0};
    c = next;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

// The words of block `at` of a draw. If a word of it is rejected, the next one comes from the same
// block with `attempt` incremented.
SW_FN PhiloxBlock block_of(const Draw& d, Wide at, Word attempt) {
  const Wide position = d.position + at;
  const PhiloxBlock counter = {(Word)position, (Word)(position >> 32), attempt, d.stream};
  return philox(counter, d.key0, d.key1);
}
