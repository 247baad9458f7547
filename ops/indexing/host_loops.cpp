// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "host_loops.hpp"

#include <cstring>

namespace spanwise::ops {
namespace {

template <int bytes>
struct Word {
  std::byte content[bytes];
};

template <int bytes>
void move_word(std::byte* to, const std::byte* from) noexcept {
  Word<bytes> word;
  std::memcpy(&word, from, bytes);
  std::memcpy(to, &word, bytes);
}

template <int bytes>
void read_words(std::byte* array, const std::int64_t* offsets, std::int64_t count,
                std::byte* value, std::int64_t value_step, std::int64_t) {
  if (value_step == bytes) {
    for (std::int64_t i = 0; i < count; ++i)
      move_word<bytes>(value + i * bytes, array + offsets[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      move_word<bytes>(value + i * value_step, array + offsets[i]);
  }
}

template <int bytes>
void write_words(std::byte* array, const std::int64_t* offsets, std::int64_t count,
                 std::byte* value, std::int64_t value_step, std::int64_t) {
  if (value_step == 0) {
    Word<bytes> word;
    std::memcpy(&word, value, bytes);
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(array + offsets[i], &word, bytes);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      move_word<bytes>(array + offsets[i], value + i * value_step);
  }
}

void read_rows(std::byte* array, const std::int64_t* offsets, std::int64_t count,
               std::byte* value, std::int64_t value_step, std::int64_t row_bytes) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(value + i * value_step, array + offsets[i], static_cast<std::size_t>(row_bytes));
}

void write_rows(std::byte* array, const std::int64_t* offsets, std::int64_t count,
                std::byte* value, std::int64_t value_step, std::int64_t row_bytes) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(array + offsets[i], value + i * value_step, static_cast<std::size_t>(row_bytes));
}

template <int bytes>
MoveLoop words(Direction direction) noexcept {
  return direction == Direction::read ? &read_words<bytes> : &write_words<bytes>;
}

}  // namespace

MoveLoop move_loop(Direction direction, std::int64_t row_bytes) noexcept {
  switch (row_bytes) {
    case 1:
      return words<1>(direction);
    case 2:
      return words<2>(direction);
    case 4:
      return words<4>(direction);
    case 8:
      return words<8>(direction);
    case 16:
      return words<16>(direction);
    default:
      return direction == Direction::read ? &read_rows : &write_rows;
  }
}

}  // namespace spanwise::ops
