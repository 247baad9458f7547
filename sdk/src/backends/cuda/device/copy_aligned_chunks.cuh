// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Rows of bytes with any alignment: each thread writes one chunk of 16 bytes, aligned in the
// target, from the two aligned chunks that contain it in the source. The last axis counts the
// chunks that a row may touch; `length` is the row's, in units. Chunks of the source are read
// within [begin, end), all of which is its memory.

__device__ inline unsigned joined(unsigned low, unsigned high, unsigned shift) {
  return (unsigned)(((unsigned long long)high << 32 | low) >> shift);
}
// The 16 bytes from offset `skip`, 1 to 15.
__device__ inline Raw<16> shifted(const Raw<16>& a, const Raw<16>& b, unsigned skip) {
  unsigned words[8];
  SW_UNROLL
  for (int i = 0; i < 4; ++i) {
    words[i] = a.at[i];
    words[i + 4] = b.at[i];
  }
  // In steps, since registers cannot be indexed.
  SW_UNROLL
  for (int i = 0; i < 6; ++i) words[i] = skip & 8 ? words[i + 2] : words[i];
  SW_UNROLL
  for (int i = 0; i < 5; ++i) words[i] = skip & 4 ? words[i + 1] : words[i];
  Raw<16> value;
  SW_UNROLL
  for (int i = 0; i < 4; ++i) value.at[i] = joined(words[i], words[i + 1], skip % 4 * 8);
  return value;
}

template <class Unit, class Index, class Offset, int rank>
__device__ inline void copy_aligned_chunk(const Unit* source, Unit* target, Index length,
                                          const char* begin, const char* end, Index size,
                                          const Axes<Index, Offset, rank>& axes, Index index) {
  if (index >= size) return;
  const Index row = quotient(index, axes, rank - 1);
  const Location<Offset> location = location_of(row, axes, rank - 1);
  char* to = (char*)(target + location.target);
  const char* from = (const char*)(source + location.source);
  const long long bytes = (long long)length * (long long)sizeof(Unit);
  const long long first = (long long)(index - row * axes.extent[rank - 1]) * 16 -
                          (long long)((unsigned long long)to % 16);
  if (first >= bytes) return;
  if (first >= 0 && first + 16 <= bytes) {
    const char* at = from + first;
    const unsigned skip = (unsigned)((unsigned long long)at % 16);
    const char* low = at - skip;
    if (skip == 0) {
      *(Raw<16>*)(to + first) = *(const Raw<16>*)low;
      return;
    }
    if (low >= begin && low + 32 <= end) {
      *(Raw<16>*)(to + first) = shifted(*(const Raw<16>*)low, *(const Raw<16>*)(low + 16), skip);
      return;
    }
  }
  const long long last = first + 16 < bytes ? first + 16 : bytes;
  for (long long at = first > 0 ? first : 0; at < last; at += (long long)sizeof(Unit))
    *(Unit*)(to + at) = *(const Unit*)(from + at);
}
