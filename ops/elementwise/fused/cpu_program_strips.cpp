// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "cpu_program_job.hpp"

// Transposed inputs of a program.
namespace spanwise::ops {

void CpuProgram::Job::find_strips() {
  if (!walk_ || walk_->rank() < 2) return;
  const int inner = walk_->rank() - 1;
  if (walk_->extent(inner) < strip_rows_ || walk_->extent(inner - 1) < strip_rows_) return;
  for (std::size_t k = 0; k < inputs(); ++k) {
    Place& place = arrays_[k];
    const std::int64_t size = place.dtype.itemsize(),
                       step = walk_->stride(inner, static_cast<int>(k));
    const std::int64_t row_step = walk_->stride(inner - 1, static_cast<int>(k));
    constexpr std::int64_t line = 64;
    if (!is_number(place) && !place.is_direct && std::abs(row_step) == 1 &&
        std::abs(step) * size >= line)
      place.strip = strips_++;
  }
}

void CpuProgram::Job::run_in_strips() const {
  const int inner = walk_->rank() - 1;
  const std::int64_t columns = walk_->extent(inner), rows = walk_->extent(inner - 1);
  const std::int64_t across = (columns + block_ - 1) / block_;
  const std::int64_t down = (rows + strip_rows_ - 1) / strip_rows_;
  const std::int64_t grain = program_.grain_ / (block_ * strip_rows_);
  parallel_for(size_ / (columns * rows) * across * down, std::max<std::int64_t>(1, grain),
               [&](std::int64_t first, std::int64_t last) {
                 std::byte** const places = prepared_places(block_);
                 for (; first < last; ++first) {
                   const std::int64_t column = first % across * block_;
                   const std::int64_t row = first / across % down * strip_rows_;
                   run_strip((first / across / down * rows + row) * columns + column,
                             std::min(strip_rows_, rows - row), std::min(block_, columns - column),
                             places);
                 }
               });
}

void CpuProgram::Job::run_strip(std::int64_t first, std::int64_t rows, std::int64_t count,
                                std::byte** places) const {
  const int inner = walk_->rank() - 1;
  std::byte* const strips = reinterpret_cast<std::byte*>(places + program_.registers_.size());
  const auto buffer = [&](const Place& place) { return strips + strip_bytes() * place.strip; };
  for (std::size_t k = 0; k < inputs(); ++k) {
    const Place& place = arrays_[k];
    if (place.strip < 0) continue;
    const std::int64_t size = place.dtype.itemsize();
    convert_block(place.dtype, place.dtype,
                  {buffer(place), place.data + offset_of(static_cast<int>(k), first) * size, rows,
                   count, block_ * size, size, walk_->stride(inner - 1, static_cast<int>(k)) * size,
                   walk_->stride(inner, static_cast<int>(k)) * size});
  }
  for (std::int64_t row = 0; row < rows; ++row, first += walk_->extent(inner)) {
    for (std::size_t k = 0; k < inputs(); ++k)
      if (const Place& place = arrays_[k]; place.strip >= 0)
        places[place.index] = buffer(place) + row * block_ * place.dtype.itemsize();
    run_block(first, count, first + walk_->extent(inner), places);
  }
}

std::int64_t CpuProgram::Job::offset_of(int k, std::int64_t index) const {
  std::int64_t offset = 0;
  for (int axis = walk_->rank() - 1; axis >= 0; --axis) {
    offset += index % walk_->extent(axis) * walk_->stride(axis, k);
    index /= walk_->extent(axis);
  }
  return offset;
}

}  // namespace spanwise::ops
