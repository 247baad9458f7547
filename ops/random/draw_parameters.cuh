// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Parameters that the host passes to the CPU loops and the GPU kernels, with the same layout in
// both.

typedef unsigned int Word;
typedef unsigned long long Wide;

struct Draw {
  Wide position;  // index of the block of element 0
  Word key0, key1, stream;
  Word uniform_bits;    // random bits of a uniform number of 32 bits
  double shift, scale;  // the result is x * scale + shift
  Wide low, span;       // integers: low + [0, span); span 0: all words
  Wide threshold;       // 2^bits mod span
  const Wide* lows;     // integers with bounds per element
  const Wide* spans;
  const double* table;  // ascending, the last 1
  Wide entries, size;   // table entries; elements of the result
};

// A permutation of [0, size); see distributions.cuh.
struct Bijection {
  Wide size;
  Word left_bits, right_bits;  // bits of an index's halves; right_bits may be 1 more
  Word keys[24];
};
