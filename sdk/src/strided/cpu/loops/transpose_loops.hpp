// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Copies whose source is contiguous along the rows of the target; included by move_loops.hpp.

// One stage of a transpose: interleaves the words of the lower or the upper half of each 16 bytes
// of `a` and `b`.
template <class V, bool upper, int... index>
SW_INLINE V interleaved(V a, V b, std::integer_sequence<int, index...>) {
  constexpr int words = sizeof...(index), lane = words * 16 / SW_VECTOR_BYTES;
  return __builtin_shufflevector(a, b,
                                 (index / lane * lane + (upper ? lane / 2 : 0) + index % lane / 2 +
                                  (index % 2 != 0 ? words : 0))...);
}
template <class V, class H, int... index>
SW_INLINE V joined([[maybe_unused]] H low, [[maybe_unused]] H high,
                   std::integer_sequence<int, index...>) {
  return __builtin_shufflevector(low, high, index...);
}

template <class V, int words, int... i>
SW_INLINE void interleave_all(V (&rows)[words], std::integer_sequence<int, i...>) {
  constexpr int units = SW_VECTOR_BYTES / static_cast<int>(sizeof(V{}[0]));
  const V next[words] = {interleaved < V,
                         i % 2 == 1 > (rows[i / 2], rows[i / 2 + words / 2],
                                       std::make_integer_sequence<int, units>())...};
  ((rows[i] = next[i]), ...);
}
// Transposes each 16-byte part of `rows` separately.
template <int stages, class V, int words>
SW_INLINE void transpose_parts(V (&rows)[words]) {
  if constexpr (stages > 1) {
    interleave_all(rows, std::make_integer_sequence<int, words>());
    transpose_parts<stages / 2>(rows);
  }
}

// 16 bytes of line `i` of the source; for 32-byte vectors followed by those of the line that is
// adjacent in the tile.
template <int N>
SW_INLINE typename WordTypes<N>::Vector load_lines(const std::byte* source, std::int64_t step,
                                                   int i) {
  using V = typename WordTypes<N>::Vector;
  using H = typename WordTypes<N>::Vector16;
  if constexpr (sizeof(V) == 16)
    return load_as<V>(source + i * step);
  else
    return joined<V>(
        load_as<H>(source + i * step), load_as<H>(source + (i + 16 / N) * step),
        std::make_integer_sequence<int, SW_VECTOR_BYTES / static_cast<int>(sizeof(V{}[0]))>());
}

// Transposes 16 bytes of each of SW_VECTOR_BYTES / N lines of the source, with stride `step`, to 16
// / N rows of the tile.
template <int N, int... i>
SW_INLINE void transpose_square(std::byte* tile, std::int64_t pitch, const std::byte* source,
                                std::int64_t step, std::integer_sequence<int, i...>) {
  typename WordTypes<N>::Vector rows[sizeof...(i)] = {load_lines<N>(source, step, i)...};
  transpose_parts<sizeof...(i)>(rows);
  (store_as(tile + i * pitch, rows[i]), ...);
}

// Transposes a tile that is too thin for vectors, word by word.
template <int N>
void transpose_words(std::byte* tile, std::int64_t pitch, const std::byte* source,
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

// Copies the source's lines to a buffer, each completely and once: if their distance is a power of
// two, the L1 cache can hold only a few of them. `ahead`: the number of lines after the tile's.
template <int N>
void pack_lines(std::byte* lines, std::int64_t pitch, const Block& b, const std::byte* source,
                std::int64_t rows, std::int64_t columns, std::int64_t ahead) {
  constexpr std::int64_t distance = 16;  // lines; farther than hardware prefetching
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

// Transposes lines by whole vectors; results outside `rows` and `columns` are not used.
template <int N>
void transpose_lines(std::byte* tile, std::int64_t tile_pitch, const std::byte* lines,
                     std::int64_t pitch, std::int64_t rows, std::int64_t columns) {
  constexpr int words = 16 / N, lines_per_vector = SW_VECTOR_BYTES / N;
  for (std::int64_t i = 0; i < columns; i += lines_per_vector)
    for (std::int64_t j = 0; j < rows; j += words)
      transpose_square<N>(tile + j * tile_pitch + i * N, tile_pitch, lines + i * pitch + j * N,
                          pitch, std::make_integer_sequence<int, words>());
}

// Transposes one tile through buffers in the L1 cache, so that each cache line of both sides is
// accessed completely while it is in the cache.
template <int N>
void transpose_tile(const Block& b, std::int64_t row, std::int64_t column, std::int64_t rows,
                    std::int64_t columns) {
  alignas(64) std::byte tile[tile_bytes];
  alignas(64) std::byte lines[tile_bytes];
  const std::byte* source = b.source + row * b.source_row_step + column * b.source_step;
  std::byte* target = b.target + row * b.target_row_step + column * N;
  std::int64_t pitch = columns * N;
  // move_row() has a special loop for step 2, which copies two rows. Otherwise lines are padded;
  // tile_sides() reserves space for that.
  if (rows * N < 16 || columns * N < 16 || (rows == 2 && b.source_step == 2 * N)) {
    transpose_words<N>(tile, pitch, source, b.source_step, b.source_row_step, rows, columns);
  } else {
    const std::int64_t line_pitch = (rows * N + 31) / 32 * 32;
    pitch = (pitch + 31) / 32 * 32;
    pack_lines<N>(lines, line_pitch, b, source, rows, columns, b.columns - column - columns);
    transpose_lines<N>(tile, pitch, lines, line_pitch, rows, columns);
  }
  if (b.target_row_step == pitch && pitch == columns * N)
    return write_run(target, tile, rows * pitch, b.non_temporal);
  for (std::int64_t j = 0; j < rows; ++j)
    write_run(target + j * b.target_row_step, tile + j * pitch, columns * N, b.non_temporal);
}

template <int N>
void transpose_block(const Block& b) {
  const TileSides sides = tile_sides(N, b.rows, b.columns);
  for (std::int64_t row = 0; row < b.rows; row += sides.rows) {
    const std::int64_t rows = b.rows - row < sides.rows ? b.rows - row : sides.rows;
    for (std::int64_t column = 0; column < b.columns; column += sides.columns) {
      const std::int64_t left = b.columns - column;
      transpose_tile<N>(b, row, column, rows, left < sides.columns ? left : sides.columns);
    }
  }
  if (b.non_temporal) end_streaming();
}
