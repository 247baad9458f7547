// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "draw.hpp"

#include <iterator>

#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops::random {
namespace {

// `piece`: blocks per unit of parallel_for(); `grain`: minimum of units per thread, about 10
// microseconds of work.
constexpr std::int64_t piece = 32, grain = 128;

// The dtype in which numbers for a result of dtype `result` are drawn.
DType dtype_drawn(Distribution kind, DType result) {
  switch (kind) {
    case Distribution::uniform:
    case Distribution::normal:
    case Distribution::exponential:
      if (!result.is_floating())
        fail<DTypeError>("random: expected a floating dtype, got ", result);
      return result == float64 ? float64 : float32;
    case Distribution::words:
      return uint32;
    case Distribution::integers:
      if (!result.is_integer() && !result.is_bool())
        fail<DTypeError>("random: expected an integer dtype or bool, got ", result);
      return result;
    default:
      return int64;
  }
}

// The random bits of a uniform number of 32 bits: as many as the result's dtype has significant
// bits, so that rounding never gives 1. Not used for float64.
Word uniform_bits_for(DType dtype) {
  if (dtype == float16) return 11;
  return dtype == bfloat16 ? 8 : 24;
}

void check_bounds(const DrawSpec& spec) {
  const std::uint64_t span = spec.span;
  if (spec.kind == Distribution::integers && (span == 0 || span - 1 >= Wide{1} << 32))
    fail<ArgumentError>("random: expected a span of 1 to 2^32, got ", span,
                        "; wide_integers takes longer ones");
}

// Checks an array that a draw reads: not empty, of `dtype`, C-contiguous and on the device of the
// result.
void check_parameter_array(const char* name, const Array* array, DType dtype, const Array& out) {
  if (array == nullptr || array->size() <= 0)
    fail<ArgumentError>("random: expected ", name, ", which must not be empty");
  if (array->dtype() != dtype)
    fail<DTypeError>("random: expected ", name, " of ", dtype, ", got ", array->dtype());
  if (array->device() != out.device())
    fail<DeviceError>("random: ", name, " are on ", array->device(), " and the result is on ",
                      out.device(), "; use to_device()");
  if (!array->layout().is_row_major())
    fail<LayoutError>("random: ", name, " must be contiguous, got ", *array, "; use contiguous()");
}

void check_parameter_arrays(const DrawSpec& spec, const Array& out) {
  if (spec.kind == Distribution::picks) check_parameter_array("a table", spec.table, float64, out);
  if (spec.kind != Distribution::integers_within) return;
  check_parameter_array("lows", spec.lows, uint64, out);
  check_parameter_array("spans", spec.spans, uint64, out);
  if (spec.lows->size() != out.size() || spec.spans->size() != out.size())
    fail<LayoutError>("random: expected ", out.size(), " lows and spans, got ", spec.lows->size(),
                      " and ", spec.spans->size());
}

// `start`: of the blocks taken for the draw.
Draw parameters_for(const SequencePosition& start, const DrawSpec& spec, const Array& out) {
  Draw draw{};
  draw.position = start.position;
  draw.key0 = static_cast<Word>(start.key);
  draw.key1 = static_cast<Word>(start.key >> 32);
  draw.stream = start.stream;
  draw.uniform_bits = uniform_bits_for(out.dtype());
  draw.shift = spec.shift;
  draw.scale = spec.scale;
  draw.low = spec.low;
  draw.span = spec.span;
  const Wide span = spec.span;
  if (spec.kind == Distribution::integers)
    draw.threshold = ((Wide{1} << 32) - span) % span;
  else if (span != 0)
    draw.threshold = (0 - span) % span;
  const auto data = [](const Array* array) { return array == nullptr ? nullptr : array->data(); };
  draw.lows = static_cast<const Wide*>(data(spec.lows));
  draw.spans = static_cast<const Wide*>(data(spec.spans));
  draw.table = static_cast<const double*>(data(spec.table));
  if (spec.table != nullptr) draw.entries = static_cast<Wide>(spec.table->size());
  draw.size = static_cast<Wide>(out.size());
  return draw;
}

std::int64_t blocks_for(Distribution kind, const Array& out) {
  const std::int64_t each = elements_per_block(kind, out.dtype().itemsize());
  if (each <= 0) fail<Error>("random: no loop for elements of ", out.dtype());
  return (out.size() + each - 1) / each;
}

void fill_on_host(Distribution kind, const Draw& draw, const Array& out) {
  const Fill fill = find_fill(kind, out.dtype().itemsize());
  const std::int64_t blocks = blocks_for(kind, out);
  parallel_for((blocks + piece - 1) / piece, grain, [&](std::int64_t first, std::int64_t last) {
    fill(draw, first * piece, last * piece < blocks ? last * piece : blocks, out.data());
  });
}

void require_writable(const Array& out) {
  if (out.readonly())
    fail<ReadOnlyError>("random: output array is read-only, ", out, "; write to a copy: a.copy()");
}

// `out` if it is C-contiguous, aligned and of `dtype`, else a new array of that dtype, to be copied
// to `out`.
Array contiguous_target(const Array& out, DType dtype) {
  if (out.dtype() == dtype && is_item_aligned(out) && out.layout().is_row_major()) return out;
  return empty(out.shape(), dtype, out.device());
}

void fill_after_waiting(const DrawSpec& spec, Draw draw, const Array& out) {
  for (const Array* array : {spec.lows, spec.spans, spec.table})
    if (array != nullptr) order_host_use(*array, false);
  order_host_use(out, true);
  fill_on_host(spec.kind, draw, out);
}

void permute_after_waiting(Bijection bijection, const Array& out) {
  order_host_use(out, true);
  const Permute permute = find_permute();
  constexpr std::int64_t min_indices_per_thread = 1 << 12;
  parallel_for(out.size(), min_indices_per_thread, [&](std::int64_t first, std::int64_t last) {
    permute(bijection, first, last, static_cast<std::int64_t*>(out.data()));
  });
}

constexpr RandomBackend host_backend{&fill_after_waiting, &permute_after_waiting};
[[maybe_unused]] const auto* const previous_host_backend =
    random_backends.set(DeviceKind::cpu, &host_backend);

}  // namespace

constinit DeviceTable<RandomBackend> random_backends{"random"};

void draw(Counter& counter, const DrawSpec& spec, const Array& out) {
  require_writable(out);
  const DType dtype = dtype_drawn(spec.kind, out.dtype());
  check_bounds(spec);
  if (out.size() == 0) return;
  check_parameter_arrays(spec, out);
  const Array values = contiguous_target(out, dtype);
  const std::int64_t blocks = blocks_for(spec.kind, values);
  random_backends[out.device()].fill(spec, parameters_for(counter.take(blocks), spec, out), values);
  if (values.storage() != out.storage()) copy(values, out);
}

namespace {

// The blocks that each permutation takes, and the largest size for which they suffice for
// permuted_by_swaps(), which draws two integers from each block.
constexpr std::int64_t permutation_blocks = 2048, max_by_swaps = 2 * permutation_blocks;

// Knuth, "The Art of Computer Programming" 2, algorithm 3.4.2 P (Fisher and Yates).
Array permuted_by_swaps(const SequencePosition& start, std::int64_t size) {
  const Array result = empty({size}, int64, cpu), spans = empty({size}, uint64, cpu),
              lows = zeros({size}, uint64, cpu);
  auto* to = static_cast<std::int64_t*>(result.data());
  auto* span = static_cast<std::uint64_t*>(spans.data());
  for (std::int64_t i = 0; i < size; ++i) span[i] = static_cast<std::uint64_t>(i) + 1;
  const DrawSpec spec{.kind = Distribution::integers_within, .lows = &lows, .spans = &spans};
  fill_on_host(spec.kind, parameters_for(start, spec, result), result);
  // On entry, to[i] in [0, i] is the index that element i is exchanged with. The permutation is
  // built in place from left to right: only to[0..i] is written, which has been read.
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t swapped = to[i];
    to[i] = to[swapped];
    to[swapped] = i;
  }
  return result;
}

Bijection bijection_for(const SequencePosition& start, std::int64_t size) {
  Bijection bijection{};
  bijection.size = static_cast<Wide>(size);
  Word bits = 2;
  while ((Wide{1} << bits) < bijection.size) ++bits;
  bijection.left_bits = bits / 2;
  bijection.right_bits = bits - bits / 2;
  // The keys are the first words of the sequence from `start`, four to a block.
  constexpr std::int64_t keys = std::ssize(bijection.keys), key_blocks = keys / 4;
  Draw words{};
  words.position = start.position;
  words.key0 = static_cast<Word>(start.key);
  words.key1 = static_cast<Word>(start.key >> 32);
  words.stream = start.stream;
  words.size = keys;
  find_fill(Distribution::words, sizeof(Word))(words, 0, key_blocks, bijection.keys);
  return bijection;
}

}  // namespace

void permutation(Counter& counter, std::int64_t size, const Array& out) {
  require_writable(out);
  if (out.dtype() != int64)
    fail<DTypeError>("permutation: expected an int64 result, got ", out.dtype());
  if (out.rank() != 1 || out.size() > size)
    fail<LayoutError>("permutation: expected a vector of at most ", size, " elements, got shape ",
                      out.shape());
  if (out.size() == 0) return;
  const SequencePosition start = counter.take(permutation_blocks);
  if (size <= max_by_swaps)
    return copy(
        to_device(permuted_by_swaps(start, size).slice(0, {0, out.size(), 1}), out.device()), out);
  const Bijection bijection = bijection_for(start, size);
  const Array values = contiguous_target(out, int64);
  random_backends[values.device()].permute(bijection, values);
  if (values.storage() != out.storage()) copy(values, out);
}

}  // namespace spanwise::ops::random
