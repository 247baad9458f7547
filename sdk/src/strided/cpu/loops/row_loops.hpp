// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of rows of bytes and words; included by move_loops.hpp.

// Types for words of N bytes. The compiler's vector types serve SSE2, AVX2 and NEON alike; it
// derives shuffle instructions from the indices.
template <class T>
struct VectorsOf {
  using WordType = T;
  typedef T Vector16 __attribute__((vector_size(16)));
  typedef T Vector __attribute__((vector_size(SW_VECTOR_BYTES)));
};
template <int N>
struct WordTypes;
template <>
struct WordTypes<1> : VectorsOf<std::uint8_t> {};
template <>
struct WordTypes<2> : VectorsOf<std::uint16_t> {};
template <>
struct WordTypes<4> : VectorsOf<std::uint32_t> {};
template <>
struct WordTypes<8> : VectorsOf<std::uint64_t> {};
template <>
struct WordTypes<16> : VectorsOf<std::uint64_t> {
  using WordType = Vector16;
};

template <class T>
SW_INLINE T load_as(const std::byte* address) {
  T value;
  __builtin_memcpy(&value, address, sizeof value);
  return value;
}
template <class T>
SW_INLINE void store_as(std::byte* address, T value) {
  __builtin_memcpy(address, &value, sizeof value);
}

using WideVector = WordTypes<8>::Vector;

SW_INLINE void stream_vector(std::byte* address, WideVector value) {
#if defined(__x86_64__) && SW_VECTOR_BYTES == 32
  _mm256_stream_si256(reinterpret_cast<__m256i*>(address), (__m256i)value);
#elif defined(__x86_64__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(address), (__m128i)value);
#else
  store_as(address, value);
#endif
}

// Non-temporal stores are not ordered with others; the fence makes them visible before the copy is
// reported as done.
SW_INLINE void end_streaming() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// Copies at most 64 bytes with two words that may overlap, instead of a loop over bytes.
template <class T>
SW_INLINE void copy_ends(std::byte* target, const std::byte* source, std::int64_t bytes) {
  const T first = load_as<T>(source);
  const T last = load_as<T>(source + bytes - static_cast<std::int64_t>(sizeof(T)));
  store_as(target, first);
  store_as(target + bytes - static_cast<std::int64_t>(sizeof(T)), last);
}
SW_INLINE void copy_short(std::byte* target, const std::byte* source, std::int64_t bytes) {
  if (bytes >= 16) {
    if (bytes > 32) {
      copy_ends<WordTypes<1>::Vector16>(target, source, 32);
      copy_ends<WordTypes<1>::Vector16>(target + bytes - 32, source + bytes - 32, 32);
    } else {
      copy_ends<WordTypes<1>::Vector16>(target, source, bytes);
    }
  } else if (bytes >= 8) {
    copy_ends<std::uint64_t>(target, source, bytes);
  } else if (bytes >= 4) {
    copy_ends<std::uint32_t>(target, source, bytes);
  } else if (bytes >= 2) {
    copy_ends<std::uint16_t>(target, source, bytes);
  } else if (bytes == 1) {
    *target = *source;
  }
}

SW_INLINE void copy_run(std::byte* target, const std::byte* source, std::int64_t bytes) {
  if (bytes <= 64) return copy_short(target, source, bytes);
  if (bytes > 512) {
    __builtin_memcpy(target, source, static_cast<std::size_t>(bytes));
    return;
  }
  std::int64_t at = 0;
  for (; at + 64 <= bytes; at += 64) {
    for (int part = 0; part < 64; part += SW_VECTOR_BYTES)
      store_as(target + at + part, load_as<WideVector>(source + at + part));
  }
  copy_ends<WideVector>(target + bytes - 64, source + bytes - 64, 2 * SW_VECTOR_BYTES);
  copy_ends<WideVector>(target + bytes - 2 * SW_VECTOR_BYTES, source + bytes - 2 * SW_VECTOR_BYTES,
                        2 * SW_VECTOR_BYTES);
}

// Writes complete cache lines of the target with non-temporal stores, and incomplete ones at either
// end with ordinary stores.
SW_INLINE void stream_run(std::byte* target, const std::byte* source, std::int64_t bytes) {
  const auto head =
      static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(target) & std::uintptr_t{63});
  if (bytes < head + 64) return copy_run(target, source, bytes);
  copy_short(target, source, head);
  std::int64_t at = head;
  for (; at + 64 <= bytes; at += 64) {
    for (int part = 0; part < 64; part += SW_VECTOR_BYTES)
      stream_vector(target + at + part, load_as<WideVector>(source + at + part));
  }
  copy_short(target + at, source + at, bytes - at);
}

__attribute__((noinline)) void write_run(std::byte* target, const std::byte* source,
                                         std::int64_t bytes, bool non_temporal) {
  if (non_temporal)
    stream_run(target, source, bytes);
  else
    copy_run(target, source, bytes);
}

void copy_rows(const Block& b) {
  const std::int64_t run = b.columns * b.target_step;
  for (std::int64_t row = 0; row < b.rows; ++row) {
    const std::byte* source = b.source + row * b.source_row_step;
    if (row + 1 < b.rows)
      for (std::int64_t at = 0; at < run && at < 1024; at += 64)
        __builtin_prefetch(source + b.source_row_step + at);
    write_run(b.target + row * b.target_row_step, source, run, b.non_temporal);
  }
  if (b.non_temporal) end_streaming();
}

template <class T>
SW_INLINE T swapped(T word) {
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(word);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(word);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(word);
  return word;
}

// `known_` steps other than 0 are constants, for which the compiler combines loads and stores.
template <int N, bool swap, int known_target, int known_source>
SW_INLINE void move_run(std::byte* target, std::int64_t target_step, const std::byte* source,
                        std::int64_t source_step, std::int64_t count) {
  using WordType = typename WordTypes<N>::WordType;
  if (known_target != 0) target_step = known_target;
  if (known_source != 0) source_step = known_source;
  std::int64_t i = 0;
  if constexpr (!swap && known_source == 0) {
    // Four loads before the stores: the compiler must assume that stores change the source.
    for (; i + 4 <= count; i += 4) {
      const std::byte* from = source + i * source_step;
      std::byte* to = target + i * target_step;
      const WordType a = load_as<WordType>(from), b = load_as<WordType>(from + source_step);
      const WordType c = load_as<WordType>(from + 2 * source_step),
                     d = load_as<WordType>(from + 3 * source_step);
      store_as(to, a);
      store_as(to + target_step, b);
      store_as(to + 2 * target_step, c);
      store_as(to + 3 * target_step, d);
    }
  }
  for (; i < count; ++i) {
    const WordType word = load_as<WordType>(source + i * source_step);
    if constexpr (swap && N < 16)
      store_as(target + i * target_step, swapped(word));
    else
      store_as(target + i * target_step, word);
  }
}

template <int N, bool swap>
void move_row(std::byte* target, std::int64_t target_step, const std::byte* source,
              std::int64_t source_step, std::int64_t count) {
  using WordType = typename WordTypes<N>::WordType;
  if (target_step != N)
    return move_run<N, swap, 0, 0>(target, target_step, source, source_step, count);
  switch (source_step) {
    case 0: {
      WordType word = load_as<WordType>(source);
      if constexpr (swap && N < 16) word = swapped(word);
      for (std::int64_t i = 0; i < count; ++i) store_as(target + i * N, word);
      return;
    }
    case N:
      return move_run<N, swap, N, N>(target, N, source, N, count);
    case 2 * N:
      return move_run<N, swap, N, 2 * N>(target, N, source, 2 * N, count);
    case -N:
      return move_run<N, swap, N, -N>(target, N, source, -N, count);
    default:
      return move_run<N, swap, N, 0>(target, N, source, source_step, count);
  }
}

// Writes a contiguous row with non-temporal stores, through a buffer.
template <int N, bool swap>
void stream_row(std::byte* target, const std::byte* source, std::int64_t source_step,
                std::int64_t count) {
  constexpr std::int64_t capacity = 4096 / N;
  alignas(64) std::byte words[4096];
  for (std::int64_t i = 0; i < count; i += capacity) {
    const std::int64_t n = count - i < capacity ? count - i : capacity;
    move_row<N, swap>(words, N, source + i * source_step, source_step, n);
    stream_run(target + i * N, words, n * N);
  }
}

template <int N, bool swap>
void move_block(const Block& b) {
  const bool non_temporal = b.non_temporal && b.target_step == N && b.columns * N >= 512;
  for (std::int64_t row = 0; row < b.rows; ++row) {
    std::byte* target = b.target + row * b.target_row_step;
    const std::byte* source = b.source + row * b.source_row_step;
    if (non_temporal)
      stream_row<N, swap>(target, source, b.source_step, b.columns);
    else
      move_row<N, swap>(target, b.target_step, source, b.source_step, b.columns);
  }
  if (non_temporal) end_streaming();
}
