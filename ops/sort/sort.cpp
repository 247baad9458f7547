// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "sort.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "embedded/sort_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/kernels/kernel_table.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::ops {
namespace {

constexpr int bins = 256, header_words = 16;  // as in radix_sort.cuh
/// The longest row that one block sorts, and the shortest one whose counts take 64 bits with flags.
constexpr std::int64_t max_block_row = 4096, min_long_row = std::int64_t{1} << 30;
/// Keys that a thread counts, at least.
constexpr std::int64_t counted_keys = 16;

void check_dtype(DType dtype) {
  if (!dtype.is_computable() || dtype.is_complex())
    fail<DTypeError>("sort: expected a real dtype, got ", dtype,
                     "; of complex numbers sort the real parts: sw.real(a)");
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

const char* infinity_text(DType dtype) {
  if (dtype == bfloat16) return "0x7f80u";
  return dtype == float16 ? "0x7c00u" : dtype == float32 ? "0x7f800000u" : "0x7ff0000000000000ull";
}

struct SortKernels {
  Kernel sort;                                     ///< sort_rows or sort_digit
  std::optional<Kernel> count_digits, start_bins;  ///< by digits
};

const SortKernels& sort_kernels(Device device, const SortShape& shape) {
  using Key = std::tuple<DeviceKind, int, SortShape>;
  static auto& kernels = *new KernelTable<std::map<Key, SortKernels>>;  // as all such tables
  return kernels.get({device.kind(), device.ordinal(), shape}, [&]() -> SortKernels {
    const SourceModule module(sort_source(shape), {.device = device});
    if (!shape.by_digits) return {module.get_function("sort_rows"), {}, {}};
    return {module.get_function("sort_digit"), module.get_function("count_digits"),
            module.get_function("start_bins")};
  });
}

/// Rows of adjacent elements, and where their sorted keys and their indices go.
struct Rows {
  Array input, keys, indices;  ///< `keys` and `indices` are empty where they are not wanted
  std::int64_t count, length;
};

void sort_by_blocks(const Rows& rows, const SortShape& shape) {
  const Device device = rows.input.device();
  sort_kernels(device, shape)
      .sort({{rows.count, 1, 1}, {shape.threads, 1, 1}, 0, Stream::current(device)},
            {KernelArg::memory(rows.input), KernelArg::memory(rows.keys),
             KernelArg::memory(rows.indices), static_cast<std::uint32_t>(rows.length)});
}

void sort_by_digits(const Rows& rows, const SortShape& shape) {
  const Device device = rows.input.device();
  const Stream stream = Stream::current(device);
  const SortKernels& kernels = sort_kernels(device, shape);
  const int passes = rows.input.dtype().itemsize();
  const std::int64_t size = rows.count * rows.length;
  const std::int64_t tiles = ceil_div(rows.length, std::int64_t{shape.threads} * shape.items);
  const std::int64_t published_words = rows.count * tiles * bins;
  const DType count = shape.is_long ? uint64 : uint32;
  const auto scratch = [&](bool is_needed, DType dtype) {
    return empty({is_needed ? size : 0}, dtype, device);
  };
  const Array words =
      zeros({header_words + rows.count * passes * bins + published_words}, count, device);
  const Array published = words.slice(0, {words.size() - published_words, words.size(), 1});
  const Array next_published = empty({passes > 1 ? published_words : 0}, count, device);
  const bool has_indices = shape.request.wants_indices;
  const Array keys =
      shape.request.wants_values ? rows.keys : scratch(passes > 2, rows.input.dtype());
  const Array spare_keys = scratch(passes > 1, rows.input.dtype());
  // The last pass, which writes the indices, does not read `positions`: they share the memory.
  const Array spare_positions = scratch(passes > 1 && has_indices, count);

  const auto blocks = [&](std::int64_t number) {
    return LaunchConfig{{number, 1, 1}, {shape.threads, 1, 1}, 0, stream};
  };
  const std::int64_t parts =
      std::clamp<std::int64_t>(ceil_div(rows.length, shape.threads * counted_keys), 1,
                               1 + 4 * fixed_properties(device).multiprocessors / rows.count);
  const auto length = [&](auto launch) {
    shape.is_long ? launch(static_cast<std::uint64_t>(rows.length))
                  : launch(static_cast<std::uint32_t>(rows.length));
  };
  length([&](auto n) {
    const KernelArg input = KernelArg::memory(rows.input), of_words = KernelArg::memory(words);
    (*kernels.count_digits)(blocks(rows.count * parts),
                            {input, of_words, n, static_cast<std::uint32_t>(parts)});
    (*kernels.start_bins)(blocks(rows.count * passes), {of_words, n});
    for (int pass = 0; pass < passes; ++pass)
      kernels.sort(blocks(rows.count * tiles),
                   {input, KernelArg::memory(keys), KernelArg::memory(spare_keys),
                    KernelArg::memory(rows.indices), KernelArg::memory(rows.indices),
                    KernelArg::memory(spare_positions), of_words, KernelArg::memory(published),
                    KernelArg::memory(next_published), n, static_cast<std::uint32_t>(tiles), pass});
  });
}

/// The axes with `axis` at the end, and their inverse.
struct AxisOrder {
  std::vector<int> last, back;

  AxisOrder(int rank, int axis) : last(static_cast<std::size_t>(rank)), back(last) {
    std::iota(last.begin(), last.end(), 0);
    std::rotate(last.begin() + axis, last.begin() + axis + 1, last.end());
    for (int i = 0; i < rank; ++i)
      back[static_cast<std::size_t>(last[static_cast<std::size_t>(i)])] = i;
  }
};

}  // namespace

SortShape sort_shape(DType dtype, std::int64_t length, const SortRequest& request) {
  SortShape shape{.dtype = dtype, .request = request};
  if (length <= max_block_row) {
    static constexpr std::pair<int, int> sizes[] = {
        {32, 1}, {32, 4}, {128, 4}, {256, 8}, {256, 16}};
    const auto* const size = std::ranges::find_if(
        sizes, [&](const auto& each) { return each.first * each.second >= length; });
    shape.threads = size->first;
    shape.items = size->second;
    return shape;
  }
  shape.by_digits = true;
  shape.is_long = length >= min_long_row;
  // The fastest ones on an H200.
  const bool is_wide = dtype.itemsize() == 8 || (request.wants_indices && shape.is_long);
  shape.blocks = 2;
  shape.threads = 512;
  shape.items = is_wide ? 11 : request.wants_indices ? 16 : 18;
  return shape;
}

std::string sort_source(const SortShape& shape) {
  const DType dtype = shape.dtype;
  const int order = dtype.is_bool() ? 3 : dtype.is_floating() ? 2 : dtype.code() == DTypeCode::int_;
  return text("typedef ", word_text(dtype.itemsize()), " Word;\ntypedef ",
              shape.is_long ? "unsigned long long" : "unsigned int", " Count;\n#define ORDER ",
              order, order == 2 ? text("\n#define INFINITY_BITS ", infinity_text(dtype)) : "",
              "\n#define DESCENDING ", int{shape.request.is_descending}, "\n#define HAS_KEYS ",
              int{shape.request.wants_values}, "\n#define HAS_INDICES ",
              int{shape.request.wants_indices}, "\n#define FORM ", int{shape.by_digits},
              "\n#define THREADS ", shape.threads, "\n#define ITEMS ", shape.items,
              "\n#define BLOCKS ", shape.blocks, "\n",
              embedded::file_text(embedded::sort_text, "radix_sort.cuh"));
}

Sorted sort(const Array& array, int axis, const SortRequest& request) {
  check_dtype(array.dtype());
  const AxisOrder order(array.rank(), axis);
  const Array input = contiguous(array.permute(order.last));
  const Shape& shape = input.shape();
  const Device device = input.device();
  const Shape none{0};
  const Rows rows{input, empty(request.wants_values ? shape : none, array.dtype(), device),
                  empty(request.wants_indices ? shape : none, int64, device),
                  input.size() / std::max<std::int64_t>(array.shape()[axis], 1),
                  array.shape()[axis]};
  if (input.size() > 0) {
    const SortShape kernels = sort_shape(array.dtype(), rows.length, request);
    (kernels.by_digits ? sort_by_digits : sort_by_blocks)(rows, kernels);
  }
  Sorted sorted;
  if (request.wants_values) sorted.values = contiguous(rows.keys.permute(order.back));
  if (request.wants_indices) sorted.indices = contiguous(rows.indices.permute(order.back));
  return sorted;
}

}  // namespace spanwise::ops
