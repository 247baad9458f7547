// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "cpu/index_loops.hpp"
#include "indexing.hpp"
#include "selection.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/element_types.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/parallel.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t grain_bytes = 1 << 19;  // of the result, that are worth a thread

void check_times(std::int64_t times) {
  if (times < 0)
    fail<ArgumentError>("repeat: repeats may not contain negative values, got ", times);
}

// Writes each of `count` parts of `size` bytes `times` times. The functions are templates of the
// size, 0 for one that is known at run time.
using RepeatLoop = void (*)(const std::byte* from, std::int64_t count, std::int64_t size,
                            std::int64_t times, std::byte* to);

template <int bytes>
void repeat_parts(const std::byte* from, std::int64_t count, std::int64_t part_bytes,
                  std::int64_t times, std::byte* to) {
  const std::int64_t size = bytes > 0 ? bytes : part_bytes;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < times; ++k, to += size)
      copy_part<bytes>(to, from + i * size, size);
}

// Writes part i to [starts[i], starts[i + 1]) of `to`. Branches on varying numbers of repeats are
// hard to predict, so three copies of a word are written unless that passes the end; the next part
// overwrites surplus copies.
using VaryingLoop = void (*)(const std::byte* from, const std::int64_t* starts, std::int64_t first,
                             std::int64_t last, std::int64_t size, std::byte* to);

template <int bytes>
void repeat_varying_parts(const std::byte* from, const std::int64_t* starts, std::int64_t first,
                          std::int64_t last, std::int64_t part_bytes, std::byte* to) {
  const std::int64_t size = bytes > 0 ? bytes : part_bytes;
  for (std::int64_t i = first; i < last; ++i) {
    std::int64_t at = starts[i];
    if (bytes > 0 && at + 3 <= starts[last]) {
      for (int k = 0; k < 3; ++k) copy_part<bytes>(to + (at + k) * size, from + i * size, size);
      at += 3;
    }
    for (; at < starts[i + 1]; ++at) copy_part<bytes>(to + at * size, from + i * size, size);
  }
}

// The array as C-contiguous outer x extent x bytes.
struct Parts {
  Parts(const Array& array, int axis)
      : source(contiguous(array)), extent(array.shape()[axis]), bytes(array.dtype().itemsize()) {
    for (int i = 0; i < axis; ++i) outer *= array.shape()[i];
    for (int i = axis + 1; i < array.rank(); ++i) bytes *= array.shape()[i];
  }
  Array source;
  std::int64_t outer = 1, extent, bytes;
};

Shape with_extent(Shape shape, int axis, std::int64_t extent) {
  shape[axis] = extent;
  return shape;
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t c;
  if (__builtin_mul_overflow(a, b, &c))
    fail<LayoutError>("repeat: ", b, " repeats of ", a, " elements exceed 2^63 - 1");
  return c;
}

Array repeat_on_host(const Array& array, std::int64_t times, int axis) {
  const Parts parts(array, axis);
  Array result = empty(with_extent(array.shape(), axis, product(parts.extent, times)),
                       array.dtype(), working_device(array.device()));
  if (result.size() == 0) return result;
  const auto* from = static_cast<const std::byte*>(parts.source.data());
  auto* to = static_cast<std::byte*>(result.data());
  const RepeatLoop loop = parts.bytes == 32
                              ? &repeat_parts<32>
                              : with_word_size(parts.bytes, [](auto bytes) -> RepeatLoop {
                                  return &repeat_parts<bytes>;
                                });
  const std::int64_t grain = std::max<std::int64_t>(1, grain_bytes / (parts.bytes * times));
  parallel_for(parts.outer * parts.extent, grain, [&](std::int64_t first, std::int64_t last) {
    loop(from + first * parts.bytes, last - first, parts.bytes, times,
         to + first * parts.bytes * times);
  });
  return result;
}

// The index of the first copy of each slice; the last entry is the total.
std::vector<std::int64_t> starts_of(const Array& times) {
  const auto* numbers = static_cast<const std::int64_t*>(times.data());
  std::vector<std::int64_t> starts(static_cast<std::size_t>(times.size()) + 1, 0);
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    check_times(numbers[i]);
    if (__builtin_add_overflow(starts[i], numbers[i], &starts[i + 1]))
      fail<LayoutError>("repeat: the sum of the repeats exceeds 2^63 - 1");
  }
  return starts;
}

Array repeat_on_host(const Array& array, const std::vector<std::int64_t>& starts, int axis) {
  const Parts parts(array, axis);
  const std::int64_t total = starts.back();
  Array result =
      empty(with_extent(array.shape(), axis, total), array.dtype(), working_device(array.device()));
  if (result.size() == 0) return result;
  const auto* from = static_cast<const std::byte*>(parts.source.data());
  auto* to = static_cast<std::byte*>(result.data());
  const VaryingLoop loop = with_word_size(
      parts.bytes, [](auto bytes) -> VaryingLoop { return &repeat_varying_parts<bytes>; });
  const std::int64_t bytes = total * parts.bytes;
  const auto run = [&](std::int64_t outer, std::int64_t first, std::int64_t last) {
    loop(from + outer * parts.extent * parts.bytes, starts.data(), first, last, parts.bytes,
         to + outer * bytes);
  };
  if (parts.outer == 1) {
    const std::int64_t slice_bytes = std::max<std::int64_t>(1, bytes / parts.extent);
    parallel_for(parts.extent, std::max<std::int64_t>(1, grain_bytes / slice_bytes),
                 [&](std::int64_t first, std::int64_t last) { run(0, first, last); });
  } else {
    parallel_for(parts.outer, std::max<std::int64_t>(1, grain_bytes / bytes),
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t outer = first; outer < last; ++outer)
                     run(outer, 0, parts.extent);
                 });
  }
  return result;
}

// On a GPU: takes the slice of each index of the result.
Array repeat_on_gpu(const Array& array, const std::vector<std::int64_t>& starts, int axis) {
  const Array indices = empty({starts.back()}, int64, cpu);
  auto* to = static_cast<std::int64_t*>(indices.data());
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    std::fill(to + starts[i], to + starts[i + 1], static_cast<std::int64_t>(i));
  return take(array, indices, axis, Bounds::raise);
}

}  // namespace

Array repeat(const Array& array, std::int64_t times, int axis) {
  check_times(times);
  if (!runs_on_host(array.device())) {
    const Shape shape = with_extent(array.shape(), axis, product(array.shape()[axis], times));
    const Shape with_repeat_axis = array.shape().inserted(axis + 1, times);
    return reshape(copy(array.expand(axis + 1).broadcast_to(with_repeat_axis)), shape);
  }
  order_host_use(array, /*writes=*/false);
  return repeat_on_host(array, times, axis);
}

Array repeat(const Array& array, const Array& times, int axis) {
  if (!times.dtype().is_integer() && !times.dtype().is_bool())
    fail<DTypeError>("repeat: cannot cast repeats from ", times.dtype(),
                     " to int64 according to the rule 'safe'; expected integers");
  const bool is_ready =
      times.dtype() == int64 && times.device().is_cpu() && times.layout().is_row_major();
  const Array host =
      is_ready ? times : contiguous(astype(to_device(times, cpu), int64, CopyMode::if_needed));
  order_host_use(host, /*writes=*/false);
  if (host.size() == 1 && host.rank() < 2) return repeat(array, item(host).as_int64(), axis);
  if (host.rank() != 1 || host.size() != array.shape()[axis])
    fail<LayoutError>("repeat: operands could not be broadcast together with shape (",
                      array.shape()[axis], ",) ", times.shape(),
                      "; expected one number for each of the ", array.shape()[axis],
                      " slices along axis ", axis, " of ", array.shape());
  const std::vector<std::int64_t> starts = starts_of(host);
  if (!runs_on_host(array.device())) return repeat_on_gpu(array, starts, axis);
  order_host_use(array, /*writes=*/false);
  return repeat_on_host(array, starts, axis);
}

}  // namespace spanwise::ops
