// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The identity body: copies, casts and fills of GPU arrays.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#include "embedded/cast_text.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/strided/strided_call.hpp"

namespace spanwise::strided {
namespace {

using runtime::StreamState;

/// For more bytes than this the driver copies contiguous arrays. Its copy takes more host time than
/// a kernel, 3.7 us instead of 1.5 us (H200), which only matters while the device takes less.
constexpr std::int64_t max_bytes_by_kernel = 1 << 20;

/// The driver does a process's first fills of up to this many bytes, as long as no kernel for them
/// is loaded, since compiling one takes longer than all of them. A launch of a kernel takes 0.6 us
/// less, and for more bytes the driver is slower, 160 us where a kernel takes 118 us (H200).
constexpr std::int64_t max_bytes_by_driver = 1 << 20;
constexpr int max_fills_by_driver = 64;

constexpr PlanOptions casts_plan{.row_packs = 4};
constexpr PlanOptions moves_plan{.row_packs = 4, .joins_elements = true};

/// Kernels by the bytes of a word: 1, 2, 4, 8 or 16.
using WordKernels = std::array<BodyKernels, 5>;

std::size_t word_index(int bytes) {
  return static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(bytes)));
}

constexpr const char* word_prelude =
    "struct Pair {\n  unsigned long long low, high;\n};\n";  // no scalar type has 16 bytes

std::string word_type(int bytes) { return bytes == 16 ? "Pair" : word_text(bytes); }

Body move_body(int word) {
  Body body{.name = text("spanwise_copy_", word, "_bytes"), .prelude = word_prelude};
  body.arrays = {{word_type(word), ArrayRole::read}, {word_type(word), ArrayRole::write}};
  body.statements = "    sw_e1 = sw_e0;\n";
  return body;
}

Body cast_body(DType from, DType to) {
  Body body{.name = text("spanwise_cast_", from.name(), "_to_", to.name())};
  for (const auto& file : embedded::cast_text) body.prelude += file.text;
  body.arrays = {{element_text(from), ArrayRole::read}, {element_text(to), ArrayRole::write}};
  body.statements = text("    sw_e1 = ElementCast<", element_text(to), " >::from(sw_e0);\n");
  return body;
}

Body fill_body(int word) {
  Body body{.name = text("spanwise_fill_", word, "_bytes"), .prelude = word_prelude};
  body.arrays = {{word_type(word), ArrayRole::write}};
  body.parameters = text("const ", word_type(word), " value, ");
  body.statements = "    sw_e0 = value;\n";
  return body;
}

/// The widest power of two that divides the item's size and the addresses. Words of 16 bytes are
/// pairs of 8, whose alignment suffices.
int word_of(int itemsize, std::uintptr_t addresses) {
  int word = itemsize;
  while (addresses % static_cast<unsigned>(std::min(word, 8)) != 0) word /= 2;
  return word;
}

/// The layout of items as `parts` words each, along a further axis.
Layout split_into_words(Layout layout, int parts) {
  const int rank = layout.rank();
  for (std::int64_t& stride : layout.strides) stride *= parts;
  layout.shape = layout.shape.inserted(rank, parts);
  layout.strides = layout.strides.inserted(rank, 1);
  return layout;
}

std::uintptr_t address(const Array& array) {
  return reinterpret_cast<std::uintptr_t>(array.data());
}

template <class Make>
void run(const StridedCall& call, BodyKernels& kernels, StreamState& stream,
         std::span<void* const> body_arguments, const Make& make) {
  call.launch_ordered(call.kernel(kernels, stream.device(), make), body_arguments, stream);
}

void move(StridedCall& call, const Array& target, StreamState& stream) {
  static auto& kernels = *new WordKernels;
  call.plan(moves_plan);
  if (call.is_contiguous() &&
      (target.nbytes() > max_bytes_by_kernel || call.shape().kind != PlanShape::Kind::dense)) {
    const int ordinal = stream.device().ordinal();
    // start() is the lowest address, also of reversed arrays.
    const auto* from = reinterpret_cast<const void*>(call.start(0));
    auto* to = reinterpret_cast<void*>(call.start(1));
    runtime::backend_for(stream.device())
        .copy_peer(from, ordinal, to, ordinal, static_cast<std::size_t>(target.nbytes()), stream);
    return;
  }
  const int word = call.itemsize(1);
  run(call, kernels[word_index(word)], stream, {}, [&] { return move_body(word); });
}

void copy_on_gpu(const Array& source, const Array& target, StreamState& stream) {
  if (target.size() == 0) return;
  const DType from = source.dtype(), to = target.dtype();
  const int itemsize = to.itemsize();
  if (from == to) {
    const int word = word_of(itemsize, address(source) | address(target));
    if (word == itemsize) {
      StridedCall call(target.shape());
      call.add(source, ArrayRole::read);
      call.add(target, ArrayRole::write);
      return move(call, target, stream);
    }
    const Layout a = split_into_words(source.layout(), itemsize / word),
                 b = split_into_words(target.layout(), itemsize / word);
    StridedCall call(b.shape);
    call.add(source, a, source.data(), word, ArrayRole::read);
    call.add(target, b, target.data(), word, ArrayRole::write);
    return move(call, target, stream);
  }
  using Dtypes = std::pair<const char*, const char*>;
  static auto& kernels = *new BodyTable<Dtypes>;
  StridedCall call(target.shape());
  call.add(source, ArrayRole::read);
  call.add(target, ArrayRole::write);
  call.plan(casts_plan);
  run(call, kernels[Dtypes(element_text(from), element_text(to))], stream, {},
      [&] { return cast_body(from, to); });
}

/// The least number of bytes, 1, 2 or 4, after which the bytes of a value repeat; 0 if it is more.
int period_of(const void* value, int itemsize) {
  const auto* bytes = static_cast<const char*>(value);
  for (int period = 1; period <= std::min(itemsize, 4); period *= 2)
    if (std::equal(bytes + period, bytes + itemsize, bytes)) return period;
  return 0;
}

bool try_fill_by_driver(const StridedCall& call, const Array& target, const Scalar& value,
                        StreamState& stream) {
  const int period = period_of(value.data(), target.dtype().itemsize());
  const bool is_dense = call.is_contiguous() || target.size() == 1;
  if (period == 0 || target.nbytes() > max_bytes_by_driver || !is_dense) return false;
  static std::atomic<int> fills{0};
  if (fills.fetch_add(1, std::memory_order_relaxed) >= max_fills_by_driver) return false;
  // The lowest address, also of reversed arrays.
  auto* data = reinterpret_cast<void*>(call.start(0));
  return runtime::backend_for(stream.device())
      .fill_bytes(data, value.data(), period, static_cast<std::size_t>(target.nbytes()), stream);
}

void fill_on_gpu(const Array& target, const Scalar& value, StreamState& stream) {
  if (target.size() == 0) return;
  static auto& kernels = *new WordKernels;
  const int word = target.dtype().itemsize();
  StridedCall call(target.shape());
  call.add(target, ArrayRole::write);
  call.plan(casts_plan);
  BodyKernels& variants = kernels[word_index(word)];
  if (variants.find({call.shape(), stream.device()}) == nullptr &&
      try_fill_by_driver(call, target, value, stream))
    return;
  void* const body_arguments[] = {const_cast<void*>(value.data())};
  run(call, variants, stream, body_arguments, [&] { return fill_body(word); });
}

constexpr runtime::ElementLoops gpu_loops{copy_on_gpu, fill_on_gpu};
[[maybe_unused]] const auto previous_gpu_loops =
    runtime::register_element_loops(DeviceKind::cuda, &gpu_loops);

}  // namespace
}  // namespace spanwise::strided
