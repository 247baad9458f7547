// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The loops of MoveKernels, compiled once for each instruction set: included by one file a set, in
// a namespace of its own, between pragmas that choose the instructions. SW_VECTOR_BYTES is the
// width of its registers, 16 or 32. Includes nothing, so that no function of another header is
// compiled for instructions that the processor may lack.

#define SW_INLINE inline __attribute__((always_inline))

// A register of unsigned integers of N bytes. Vectors of the compiler instead of intrinsics: one
// text serves SSE2, AVX2 and NEON, whose interleaving instructions it finds from the indices.
template <int N>
struct Lane;
template <>
struct Lane<1> {
  using Unit = std::uint8_t;
  typedef std::uint8_t Half __attribute__((vector_size(16)));
  typedef std::uint8_t Vector __attribute__((vector_size(SW_VECTOR_BYTES)));
};
template <>
struct Lane<2> {
  using Unit = std::uint16_t;
  typedef std::uint16_t Half __attribute__((vector_size(16)));
  typedef std::uint16_t Vector __attribute__((vector_size(SW_VECTOR_BYTES)));
};
template <>
struct Lane<4> {
  using Unit = std::uint32_t;
  typedef std::uint32_t Half __attribute__((vector_size(16)));
  typedef std::uint32_t Vector __attribute__((vector_size(SW_VECTOR_BYTES)));
};
template <>
struct Lane<8> {
  using Unit = std::uint64_t;
  typedef std::uint64_t Half __attribute__((vector_size(16)));
  typedef std::uint64_t Vector __attribute__((vector_size(SW_VECTOR_BYTES)));
};
template <>
struct Lane<16> {
  typedef std::uint64_t Unit __attribute__((vector_size(16)));
  typedef std::uint64_t Half __attribute__((vector_size(16)));
  typedef std::uint64_t Vector __attribute__((vector_size(SW_VECTOR_BYTES)));
};

template <class T>
SW_INLINE T load_as(const std::byte* place) {
  T value;
  __builtin_memcpy(&value, place, sizeof value);
  return value;
}
template <class T>
SW_INLINE void store_as(std::byte* place, T value) {
  __builtin_memcpy(place, &value, sizeof value);
}

using Line = Lane<8>::Vector;

SW_INLINE void stream_vector(std::byte* place, Line value) {
#if defined(__x86_64__) && SW_VECTOR_BYTES == 32
  _mm256_stream_si256(reinterpret_cast<__m256i*>(place), (__m256i)value);
#elif defined(__x86_64__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(place), (__m128i)value);
#else
  store_as(place, value);
#endif
}

// Streamed stores are not ordered with others: whoever is told that the copy is done must see them.
SW_INLINE void end_streaming() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// At most 64 bytes: two words that may overlap instead of a loop over bytes.
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
      copy_ends<Lane<1>::Half>(target, source, 32);
      copy_ends<Lane<1>::Half>(target + bytes - 32, source + bytes - 32, 32);
    } else {
      copy_ends<Lane<1>::Half>(target, source, bytes);
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
      store_as(target + at + part, load_as<Line>(source + at + part));
  }
  copy_ends<Line>(target + bytes - 64, source + bytes - 64, 2 * SW_VECTOR_BYTES);
  copy_ends<Line>(target + bytes - 2 * SW_VECTOR_BYTES, source + bytes - 2 * SW_VECTOR_BYTES,
                  2 * SW_VECTOR_BYTES);
}

// Whole lines of the target past the caches; what is left of a line at either end through them.
SW_INLINE void stream_run(std::byte* target, const std::byte* source, std::int64_t bytes) {
  const auto head =
      static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(target) & std::uintptr_t{63});
  if (bytes < head + 64) return copy_run(target, source, bytes);
  copy_short(target, source, head);
  std::int64_t at = head;
  for (; at + 64 <= bytes; at += 64) {
    for (int part = 0; part < 64; part += SW_VECTOR_BYTES)
      stream_vector(target + at + part, load_as<Line>(source + at + part));
  }
  copy_short(target + at, source + at, bytes - at);
}

__attribute__((noinline)) void write_run(std::byte* target, const std::byte* source,
                                         std::int64_t bytes, bool stream) {
  if (stream)
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
    write_run(b.target + row * b.target_row_step, source, run, b.stream);
  }
  if (b.stream) end_streaming();
}

template <class T>
SW_INLINE T swapped(T word) {
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(word);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(word);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(word);
  return word;
}

// Steps that are not 0 are constants, with which the compiler combines loads and stores.
template <int N, bool swap, int known_target, int known_source>
SW_INLINE void move_run(std::byte* target, std::int64_t target_step, const std::byte* source,
                        std::int64_t source_step, std::int64_t count) {
  using Unit = typename Lane<N>::Unit;
  if (known_target != 0) target_step = known_target;
  if (known_source != 0) source_step = known_source;
  std::int64_t i = 0;
  if constexpr (!swap && known_source == 0) {
    // Four loads before the stores, which might change what is loaded for all a compiler knows.
    for (; i + 4 <= count; i += 4) {
      const std::byte* from = source + i * source_step;
      std::byte* to = target + i * target_step;
      const Unit a = load_as<Unit>(from), b = load_as<Unit>(from + source_step);
      const Unit c = load_as<Unit>(from + 2 * source_step),
                 d = load_as<Unit>(from + 3 * source_step);
      store_as(to, a);
      store_as(to + target_step, b);
      store_as(to + 2 * target_step, c);
      store_as(to + 3 * target_step, d);
    }
  }
  for (; i < count; ++i) {
    const Unit word = load_as<Unit>(source + i * source_step);
    if constexpr (swap && N < 16)
      store_as(target + i * target_step, swapped(word));
    else
      store_as(target + i * target_step, word);
  }
}

template <int N, bool swap>
void move_row(std::byte* target, std::int64_t target_step, const std::byte* source,
              std::int64_t source_step, std::int64_t count) {
  using Unit = typename Lane<N>::Unit;
  if (target_step != N)
    return move_run<N, swap, 0, 0>(target, target_step, source, source_step, count);
  switch (source_step) {
    case 0: {
      Unit word = load_as<Unit>(source);
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

// A packed row past the caches, by way of a buffer.
template <int N, bool swap>
void stream_row(std::byte* target, const std::byte* source, std::int64_t source_step,
                std::int64_t count) {
  constexpr std::int64_t most = 4096 / N;
  alignas(64) std::byte words[4096];
  for (std::int64_t i = 0; i < count; i += most) {
    const std::int64_t some = count - i < most ? count - i : most;
    move_row<N, swap>(words, N, source + i * source_step, source_step, some);
    stream_run(target + i * N, words, some * N);
  }
}

template <int N, bool swap>
void move_block(const Block& b) {
  const bool stream = b.stream && b.target_step == N && b.columns * N >= 512;
  for (std::int64_t row = 0; row < b.rows; ++row) {
    std::byte* target = b.target + row * b.target_row_step;
    const std::byte* source = b.source + row * b.source_row_step;
    if (stream)
      stream_row<N, swap>(target, source, b.source_step, b.columns);
    else
      move_row<N, swap>(target, b.target_step, source, b.source_step, b.columns);
  }
  if (stream) end_streaming();
}

// One stage of a transpose: the words of `a` and `b` in turns, of the lower or the upper half of
// each 16 bytes.
template <class V, bool upper, int... place>
SW_INLINE V interleaved(V a, V b, Places<place...>) {
  constexpr int words = sizeof...(place), lane = words * 16 / SW_VECTOR_BYTES;
  return __builtin_shufflevector(a, b,
                                 (place / lane * lane + (upper ? lane / 2 : 0) + place % lane / 2 +
                                  (place % 2 != 0 ? words : 0))...);
}
template <class V, class H, int... place>
SW_INLINE V joined([[maybe_unused]] H low, [[maybe_unused]] H high, Places<place...>) {
  return __builtin_shufflevector(low, high, place...);
}

template <class V, int words, int... i>
SW_INLINE void interleave_all(V (&rows)[words], Places<i...>) {
  constexpr int units = SW_VECTOR_BYTES / static_cast<int>(sizeof(V{}[0]));
  const V next[words] = {
      interleaved < V, i % 2 == 1 > (rows[i / 2], rows[i / 2 + words / 2], MakePlaces<units>())...};
  ((rows[i] = next[i]), ...);
}
// Every 16-byte part of `rows` is transposed by itself.
template <int stages, class V, int words>
SW_INLINE void transpose_parts(V (&rows)[words]) {
  if constexpr (stages > 1) {
    interleave_all(rows, MakePlaces<words>());
    transpose_parts<stages / 2>(rows);
  }
}

// 16 bytes of line `i` of the source, in a wide register followed by those of the line that stands
// beside it in the tile.
template <int N>
SW_INLINE typename Lane<N>::Vector load_lines(const std::byte* source, std::int64_t step, int i) {
  using V = typename Lane<N>::Vector;
  using H = typename Lane<N>::Half;
  if constexpr (sizeof(V) == 16)
    return load_as<V>(source + i * step);
  else
    return joined<V>(load_as<H>(source + i * step), load_as<H>(source + (i + 16 / N) * step),
                     MakePlaces<SW_VECTOR_BYTES / static_cast<int>(sizeof(V{}[0]))>());
}

// 16 bytes of each of SW_VECTOR_BYTES / N lines of the source, `step` apart, become as many rows of
// the tile as 16 bytes have words.
template <int N, int... i>
SW_INLINE void turn(std::byte* tile, std::int64_t pitch, const std::byte* source, std::int64_t step,
                    Places<i...>) {
  typename Lane<N>::Vector rows[sizeof...(i)] = {load_lines<N>(source, step, i)...};
  transpose_parts<sizeof...(i)>(rows);
  (store_as(tile + i * pitch, rows[i]), ...);
}

// A tile too thin for registers, word by word.
template <int N>
void turn_words(std::byte* tile, std::int64_t pitch, const std::byte* source,
                std::int64_t source_step, std::int64_t source_row_step, std::int64_t rows,
                std::int64_t columns) {
  if (rows < columns) {
    for (std::int64_t j = 0; j < rows; ++j)
      move_row<N, false>(tile + j * pitch, N, source + j * source_row_step, source_step, columns);
    return;
  }
  for (std::int64_t i = 0; i < columns; ++i)
    move_row<N, false>(tile + i * N, pitch, source + i * source_step, source_row_step, rows);
}

// The source's lines, each read whole and once: where they are a power of two apart, L1 holds only
// some of them at a time. `ahead`: how many more there are after the tile's.
template <int N>
void pack_lines(std::byte* lines, std::int64_t pitch, const Block& b, const std::byte* source,
                std::int64_t rows, std::int64_t columns, std::int64_t ahead) {
  constexpr std::int64_t distance = 16;  // beyond what the processor's own prefetching follows
  for (std::int64_t i = 0; i < columns; ++i) {
    const std::byte* line = source + i * b.source_step;
    if (b.source_row_step == N) {
      if (i + distance < columns + ahead)
        for (std::int64_t at = 0; at < rows * N; at += 64)
          __builtin_prefetch(line + distance * b.source_step + at, 0, 2);
      copy_run(lines + i * pitch, line, rows * N);
    } else {
      move_row<N, false>(lines + i * pitch, N, line, b.source_row_step, rows);
    }
  }
}

// Lines of whole registers; what is in the last of them beyond `rows` and `columns` is not used.
template <int N>
void turn_lines(std::byte* tile, std::int64_t tile_pitch, const std::byte* lines,
                std::int64_t pitch, std::int64_t rows, std::int64_t columns) {
  constexpr int words = 16 / N, at_once = SW_VECTOR_BYTES / N;
  for (std::int64_t i = 0; i < columns; i += at_once)
    for (std::int64_t j = 0; j < rows; j += words)
      turn<N>(tile + j * tile_pitch + i * N, tile_pitch, lines + i * pitch + j * N, pitch,
              MakePlaces<words>());
}

// The tile passes through buffers in L1, so that each line of either side is used whole while it is
// there.
template <int N>
void cross_tile(const Block& b, std::int64_t row, std::int64_t column, std::int64_t rows,
                std::int64_t columns) {
  alignas(64) std::byte tile[tile_bytes];
  alignas(64) std::byte lines[tile_bytes];
  const std::byte* source = b.source + row * b.source_row_step + column * b.source_step;
  std::byte* target = b.target + row * b.target_row_step + column * N;
  std::int64_t pitch = columns * N;
  // Two rows are every other word, for which there is a loop of its own. tile_sides() leaves room
  // for what is padded otherwise.
  if (rows * N < 16 || columns * N < 16 || (rows == 2 && b.source_step == 2 * N)) {
    turn_words<N>(tile, pitch, source, b.source_step, b.source_row_step, rows, columns);
  } else {
    const std::int64_t line_pitch = (rows * N + 31) / 32 * 32;
    pitch = (pitch + 31) / 32 * 32;
    pack_lines<N>(lines, line_pitch, b, source, rows, columns, b.columns - column - columns);
    turn_lines<N>(tile, pitch, lines, line_pitch, rows, columns);
  }
  if (b.target_row_step == pitch && pitch == columns * N)
    return write_run(target, tile, rows * pitch, b.stream);
  for (std::int64_t j = 0; j < rows; ++j)
    write_run(target + j * b.target_row_step, tile + j * pitch, columns * N, b.stream);
}

template <int N>
void cross_block(const Block& b) {
  const TileSides sides = tile_sides(N, b.rows, b.columns);
  for (std::int64_t row = 0; row < b.rows; row += sides.rows) {
    const std::int64_t rows = b.rows - row < sides.rows ? b.rows - row : sides.rows;
    for (std::int64_t column = 0; column < b.columns; column += sides.columns) {
      const std::int64_t rest = b.columns - column;
      cross_tile<N>(b, row, column, rows, rest < sides.columns ? rest : sides.columns);
    }
  }
  if (b.stream) end_streaming();
}

constexpr MoveKernels kernels{
    {move_block<1, false>, move_block<2, false>, move_block<4, false>, move_block<8, false>,
     move_block<16, false>},
    {nullptr, move_block<2, true>, move_block<4, true>, move_block<8, true>, nullptr},
    {cross_block<1>, cross_block<2>, cross_block<4>, cross_block<8>, cross_block<16>},
    copy_rows};

#undef SW_INLINE
