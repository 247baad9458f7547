// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "softmax.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <vector>

#include "../cpu/elementwise_loops.hpp"
#include "embedded/softmax_text.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/element_types.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {
namespace {

/// Elements without gaps as `outer` matrices of `length` rows of `inner` elements, along whose
/// columns softmax is computed; one row each if `inner` is 1.
struct Lines {
  std::int64_t outer, length, inner;

  Lines(const Layout& dense, int axis)
      : outer(1), length(dense.shape[axis]), inner(dense.strides[axis]) {
    if (length == 1) inner = 1;
    outer = dense.size() / (length * inner);
  }
};

Layout dense_layout(const Array& x) { return x.layout().packed(x.shape()); }

// Whether the layouts have the same elements at the same places.
bool is_same(const Layout& a, const Layout& b) {
  for (int i = 0; i < a.rank(); ++i)
    if (a.shape[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

// `x` in this layout and dtype; itself if it has them.
Array in_layout(const Array& x, const Layout& layout, DType dtype) {
  if (x.dtype() == dtype && is_same(x.layout(), layout) && is_item_aligned(x)) return x;
  const Array copied = empty_in(layout, dtype, x.device());
  copy(x, copied);
  return copied;
}

// Whether several operations over all threads take less time than one pass that has few lines.
bool are_few(const Lines& lines, bool is_on_host) {
  const std::int64_t count = lines.outer * lines.inner;
  if (is_on_host) return count < 4 && lines.length >= 1 << 20;
  return (count < 64 && lines.length > 1 << 15) ||
         (count < 2048 && lines.inner > 1 && lines.length > 1 << 13);
}

/// The lines of one call on the CPU.
class CpuSoftmax {
 public:
  CpuSoftmax(const SoftmaxLoops& loops, const Lines& lines, const Array& x, const Array& z)
      : loops_(loops),
        lines_(lines),
        bytes_(x.dtype().itemsize()),
        x_(static_cast<const std::byte*>(x.data())),
        z_(static_cast<std::byte*>(z.data())) {}

  void run() const {
    constexpr std::int64_t grain = 1 << 13;
    if (lines_.inner < min_columns) {
      const std::int64_t lines = lines_.outer * lines_.inner;
      return parallel_for(lines, std::max<std::int64_t>(1, grain / lines_.length),
                          [this](std::int64_t first, std::int64_t last) { rows(first, last); });
    }
    // As many columns as stay in the L2 cache.
    const std::int64_t tile =
        std::clamp(cached_elements / lines_.length / 16 * 16, std::int64_t{64},
                   std::min(max_softmax_columns, std::max<std::int64_t>(lines_.inner, 64)));
    const std::int64_t tiles = (lines_.inner + tile - 1) / tile;
    parallel_for(lines_.outer * tiles, std::max<std::int64_t>(1, grain / (lines_.length * tile)),
                 [&](std::int64_t first, std::int64_t last) {
                   for (; first < last; ++first) columns(first / tiles, first % tiles * tile, tile);
                 });
  }

 private:
  // Fewer columns are copied to rows.
  static constexpr std::int64_t min_columns = 16;
  static constexpr std::int64_t cached_elements = 1 << 17;

  void rows(std::int64_t first, std::int64_t last) const {
    if (lines_.inner == 1) {
      for (; first < last; ++first) {
        const std::int64_t at = first * lines_.length * bytes_;
        loops_.row(x_ + at, lines_.length, z_ + at);
      }
      return;
    }
    std::vector<std::byte> row(static_cast<std::size_t>(2 * lines_.length * bytes_));
    with_unsigned(static_cast<int>(bytes_), [&](auto word) {
      using Word = decltype(word);
      auto* const from = reinterpret_cast<Word*>(row.data());
      Word* const to = from + lines_.length;
      for (; first < last; ++first) {
        const std::int64_t at =
            first / lines_.inner * lines_.length * lines_.inner + first % lines_.inner;
        const Word* const x = reinterpret_cast<const Word*>(x_) + at;
        Word* const z = reinterpret_cast<Word*>(z_) + at;
        for (std::int64_t i = 0; i < lines_.length; ++i) from[i] = x[i * lines_.inner];
        loops_.row(from, lines_.length, to);
        for (std::int64_t i = 0; i < lines_.length; ++i) z[i * lines_.inner] = to[i];
      }
    });
  }
  void columns(std::int64_t outer, std::int64_t column, std::int64_t tile) const {
    const std::int64_t at = (outer * lines_.length * lines_.inner + column) * bytes_;
    loops_.columns(x_ + at, lines_.length, lines_.inner, std::min(tile, lines_.inner - column),
                   z_ + at);
  }

  SoftmaxLoops loops_;
  Lines lines_;
  std::int64_t bytes_;
  const std::byte* x_;
  std::byte* z_;
};

DType compute_dtype(DType dtype) { return dtype == float64 ? float64 : float32; }

// From arrays of the layout `dense`, of the dtype to compute in.
void run_on_host(const Array& x, const Array& z, const Lines& lines, const SoftmaxLoops& loops) {
  order_host_use(x, false);
  order_host_use(z, true);
  CpuSoftmax(loops, lines, x, z).run();
}

bool is_supported(const Array& x, int axis, const Layout& dense, bool is_logarithm) {
  if (!x.dtype().is_floating() || !x.dtype().is_computable()) return false;
  if (are_few(Lines(dense, axis), runs_on_host(x.device()))) return false;
  if (!runs_on_host(x.device())) return dense.shape[axis] <= INT32_MAX;
  return find_softmax(compute_dtype(x.dtype()), is_logarithm).row != nullptr;
}

// `result` has the layout `dense`.
void compute(const Array& x, int axis, bool is_logarithm, const Layout& dense,
             const Array& result) {
  const Lines lines(dense, axis);
  if (!runs_on_host(x.device()))
    return softmax_by_kernel(in_layout(x, dense, x.dtype()), result, lines.length, lines.inner,
                             is_logarithm);
  const DType dtype = compute_dtype(x.dtype());
  const SoftmaxLoops loops = find_softmax(dtype, is_logarithm);
  const Array from = in_layout(x, dense, dtype);
  if (result.dtype() == dtype && is_item_aligned(result))
    return run_on_host(from, result, lines, loops);
  const Array wide = empty_in(dense, dtype, cpu);
  run_on_host(from, wide, lines, loops);
  copy(wide, result);
}

}  // namespace

std::optional<Array> softmax(const Array& x, int axis, bool is_logarithm) {
  const Device device = working_device(x.device());
  const Layout dense = dense_layout(x);
  if (x.size() == 0 || !is_supported(x, axis, dense, is_logarithm)) return std::nullopt;
  const Array result = empty_in(dense, x.dtype(), device);
  compute(x, axis, is_logarithm, dense, result);
  return result;
}

bool softmax_into(const Array& x, int axis, bool is_logarithm, const Array& result) {
  const Layout dense = Layout::row_major(x.shape());
  if (x.size() == 0 || !is_supported(x, axis, dense, is_logarithm)) return false;
  compute(x, axis, is_logarithm, dense, result);
  return true;
}

// ---- On a GPU

std::string softmax_source(const SoftmaxShape& shape) {
  std::string text_of_types;
  for (const char* file : {"half_bits.cuh", "elements.cuh", "half_elements.cuh"})
    text_of_types += embedded::file_text(embedded::softmax_text, file);
  return text(text_of_types, "typedef ", element_text(shape.dtype), " E;\ntypedef ",
              shape.dtype == float64 ? "double" : "float", " C;\n#define LOGARITHM ",
              int{shape.is_logarithm}, "\n#define FORM ", int{shape.is_column}, "\n#define BLOCK ",
              shape.block(), "\n#define GROUP ", shape.group, "\n#define PACKS ", shape.packs,
              "\n#define WIDTH ", shape.width, "\n#define COLUMNS ", shape.columns,
              "\n#define COUNT ", shape.count, "\n",
              embedded::file_text(embedded::softmax_text, "softmax.cuh"));
}

namespace {

// The elements of `x`, which has no gaps, in the order of memory: kernels take no other layout.
Array in_memory_order(const Array& x) {
  Layout layout = Layout::row_major(Shape{x.size()});
  layout.offset = x.layout().offset;
  return x.with_layout(std::move(layout));
}

constexpr std::int64_t max_group = 1024;
/// Elements in the registers of a thread: as many as are wanted, and at most.
constexpr std::int64_t thread_elements = 16, max_thread_elements = 32;
/// Columns that fill a GPU with a thread each.
constexpr std::int64_t enough_columns = 1 << 16;

int power_of_two(std::int64_t at_least) {
  return static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(at_least, 1))));
}

SoftmaxShape shape_for(const Array& x, const Array& z, std::int64_t length, std::int64_t step,
                       bool is_logarithm) {
  SoftmaxShape shape{.dtype = x.dtype(), .is_logarithm = is_logarithm, .is_column = step > 1};
  if (shape.is_column) {
    const std::int64_t columns = x.size() / length;
    if (length <= max_thread_elements)
      shape.count = power_of_two(length);
    else if (columns < enough_columns)
      shape.columns = 32;
    return shape;
  }
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(x.data()) | reinterpret_cast<std::uintptr_t>(z.data());
  const int itemsize = x.dtype().itemsize();
  shape.width = 16 / itemsize;
  while (shape.width > 1 && (length % shape.width != 0 ||
                             addresses % static_cast<std::uintptr_t>(shape.width * itemsize) != 0))
    shape.width /= 2;
  const auto wanted = (length + thread_elements - 1) / thread_elements;
  shape.group = static_cast<int>(std::min<std::int64_t>(power_of_two(wanted), max_group));
  const std::int64_t packs = (length - 1) / (std::int64_t{shape.group} * shape.width) + 1;
  const std::int64_t most = itemsize > 4 ? max_thread_elements / 2 : max_thread_elements;
  shape.packs = packs * shape.width <= most ? power_of_two(packs) : 0;
  return shape;
}

}  // namespace

void softmax_by_kernel(const Array& x, const Array& z, std::int64_t length, std::int64_t step,
                       bool is_logarithm) {
  using Key = std::tuple<DeviceKind, int, SoftmaxShape>;
  static auto& kernels = *new KernelTable<std::map<Key, Kernel>>;  // as all tables of kernels
  const SoftmaxShape shape = shape_for(x, z, length, step, is_logarithm);
  const Device device = x.device();
  const Kernel& kernel = kernels.get(Key(device.kind(), device.ordinal(), shape), [&] {
    return SourceModule(softmax_source(shape), {.device = device}).get_function("run");
  });
  const std::int64_t lines = x.size() / length;
  const std::int64_t lines_per_block =
      shape.is_column ? shape.columns : shape.block() / shape.group;
  const LaunchConfig config{
      {(lines - 1) / lines_per_block + 1, 1, 1}, {shape.block(), 1, 1}, 0, Stream::current(device)};
  const auto count = static_cast<std::int32_t>(length);
  const Array from = in_memory_order(x), to = in_memory_order(z);
  if (shape.is_column)
    kernel(config, {KernelArg::memory(from), KernelArg::memory(to), lines, count, step});
  else
    kernel(config, {KernelArg::memory(from), KernelArg::memory(to), lines, count});
}

}  // namespace spanwise::ops
