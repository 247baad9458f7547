// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cpu_program.hpp"

#include <memory>

#include "cpu_program_job.hpp"
#include "spanwise/view.hpp"

namespace spanwise::ops {
namespace {

// Memory of a thread for the blocks that it works on, kept for the next program.
std::byte* thread_buffers(std::size_t bytes) {
  thread_local std::unique_ptr<std::byte[]> buffers;
  thread_local std::size_t size = 0;
  constexpr std::size_t alignment = 64;
  if (size < bytes) {
    buffers = std::make_unique_for_overwrite<std::byte[]>(bytes + alignment);
    size = bytes;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(buffers.get());
  return buffers.get() + (alignment - first % alignment) % alignment;
}

bool is_aligned(const Array& array) {
  const DType dtype = array.dtype();
  const int part = dtype.is_complex() ? dtype.itemsize() / 2 : dtype.itemsize();
  return reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(part) == 0;
}

// Whether the operand's elements stand one after the other in the order of the walk.
bool is_consecutive(const Walk& walk, int operand) {
  std::int64_t expected = 1;
  for (int axis = walk.rank() - 1; axis >= 0; --axis) {
    if (walk.extent(axis) > 1 && walk.stride(axis, operand) != expected) return false;
    expected *= walk.extent(axis);
  }
  return true;
}

}  // namespace

void CpuProgram::Job::find_places(const Shape& shape) {
  const auto is_simple = [&](const Place& place) {
    return is_number(place) || (place.array->shape() == shape &&
                                place.array->layout().is_row_major() && is_aligned(*place.array));
  };
  if (std::all_of(arrays_.begin(), arrays_.end(), is_simple)) return;
  std::vector<const Layout*> layouts;
  for (const Place& place : arrays_) layouts.push_back(&place.array->layout());
  walk_.emplace(shape, layouts, program_.inputs_);
  for (std::size_t k = 0; k < arrays_.size(); ++k)
    arrays_[k].is_direct = is_number(arrays_[k]) || (is_aligned(*arrays_[k].array) &&
                                                     is_consecutive(*walk_, static_cast<int>(k)));
}

void CpuProgram::Job::find_overwritten() {
  for (std::size_t o = inputs(); o < arrays_.size(); ++o)
    for (std::size_t i = 0; i < inputs(); ++i)
      arrays_[o].is_overwritten |= program_.is_read_late_[(o - inputs()) * inputs() + i] &&
                                   may_share_memory(*arrays_[i].array, *arrays_[o].array);
}

std::byte** CpuProgram::Job::prepared_places(std::int64_t size) const {
  // Buffers a multiple of a page apart would be in the same lines of the cache.
  constexpr std::size_t apart = 5 * 64;
  const std::size_t stride = static_cast<std::size_t>(block_ * program_.itemsize_) + apart;
  const std::size_t buffers = stride * static_cast<std::size_t>(program_.buffers_);
  const std::size_t count = program_.registers_.size();
  const auto strips = static_cast<std::size_t>(strip_bytes() * strips_);
  std::byte* const memory = thread_buffers(buffers + count * sizeof(std::byte*) + strips);
  auto** const places = reinterpret_cast<std::byte**>(memory + buffers);
  for (std::size_t r = 0; r < count; ++r) {
    const int buffer = program_.registers_[r].buffer;
    places[r] = memory + stride * static_cast<std::size_t>(buffer);
  }
  for (std::size_t i = 0; i < inputs(); ++i)
    if (is_number(arrays_[i])) places[i] = arrays_[i].data;
  for (const Instruction& each : program_.once_) prepare(each, places, size);
  return places;
}

void CpuProgram::Job::prepare(const Instruction& step, std::byte** places,
                              std::int64_t size) const {
  const auto from = static_cast<std::size_t>(step.registers[0]),
             to = static_cast<std::size_t>(step.registers[1]);
  const Register& target = program_.registers_[to];
  const std::int64_t count = target.is_number ? 1 : std::min(size, block_);
  convert_block(program_.registers_[from].dtype, target.dtype,
                {places[to], places[from], 1, count, 0, target.dtype.itemsize(), 0, 0});
}

void CpuProgram::Job::run_block(std::int64_t first, std::int64_t count, std::int64_t next,
                                std::byte** places) const {
  bool gathers = false, scatters = false;
  for (std::size_t k = 0; k < arrays_.size(); ++k) {
    const Place& place = arrays_[k];
    if (is_number(place) || place.strip >= 0) continue;
    const auto index = static_cast<std::size_t>(place.index);
    if (place.is_direct && !place.is_overwritten)
      places[index] = place.data + first * place.dtype.itemsize();
    else
      (k < inputs() ? gathers : scatters) = true;
  }
  if (gathers) move<true>(first, count, places);
  fetch_next(next);
  for (const Instruction& step : program_.steps_) {
    std::byte* lanes[most_operands + 1];
    for (int i = 0; i < step.count; ++i)
      lanes[i] = places[step.registers[static_cast<std::size_t>(i)]];
    if (step.loop != nullptr) {
      step.loop(step.context, count, lanes);
    } else {
      const DType from = program_.registers_[static_cast<std::size_t>(step.registers[0])].dtype,
                  to = program_.registers_[static_cast<std::size_t>(step.registers[1])].dtype;
      convert_block(from, to, {lanes[1], lanes[0], 1, count, 0, to.itemsize(), 0, from.itemsize()});
    }
  }
  if (scatters) move<false>(first, count, places);
}

void CpuProgram::Job::fetch_next(std::int64_t first) const {
  const std::int64_t count = std::min(block_, size_ - first);
  constexpr std::int64_t line = 64;
  for (std::size_t k = 0; k < arrays_.size(); ++k) {
    const Place& place = arrays_[k];
    if (is_number(place) || !place.is_direct) continue;
    const std::byte* const begin = place.data + first * place.dtype.itemsize();
    for (std::int64_t at = 0; at < count * place.dtype.itemsize(); at += line)
      __builtin_prefetch(begin + at);
  }
}

void CpuProgram::run(std::span<const Array* const> inputs, std::span<const Array> outputs) const {
  if (outputs[0].size() > 0) Job(*this, inputs, outputs).run();
}

}  // namespace spanwise::ops
