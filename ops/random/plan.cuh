// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// What the host tells the loops and the kernels, byte for byte the same in both.

typedef unsigned int Word;
typedef unsigned long long Wide;

struct Draw {
  Wide position;  // the block of words in which element 0 begins
  Word key0, key1, stream;
  Word keep;            // bits of a word that uniform numbers are made of
  double shift, scale;  // what is stored is x * scale + shift
  Wide low, span;       // integers: low + [0, span), span 0 being all of the words
  Wide threshold;       // 2^bits mod span
  const Wide* lows;     // integers with bounds of their own, one for each element
  const Wide* spans;
  const double* table;  // ascending, the last being 1
  Wide entries, size;   // of the table; elements in all
};

// A permutation of [0, size); see bodies.cuh.
struct Bijection {
  Wide size;
  Word left_bits, right_bits;  // the halves of an index; the right one may have a bit more
  Word keys[24];
};
