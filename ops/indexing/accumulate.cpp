// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string_view>

#include "backend.hpp"
#include "cpu/host_loops.hpp"
#include "indices.hpp"
#include "simple_index.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::ops {
namespace {

// Whether atomic functions of a GPU can access the elements; complex128 is two doubles.
bool is_aligned(const Array& array) noexcept {
  const DType dtype = array.dtype();
  const int bytes = dtype == complex128 ? 8 : dtype.itemsize();
  return reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(bytes) == 0;
}

bool try_accumulate_simple(const SimpleIndex& simple, const Array& value, Accumulation how) {
  if (simple.array.rank() != 1 || !is_simple_value(simple, value)) return false;
  const auto* indices = static_cast<const std::int64_t*>(simple.indices.data());
  const std::int64_t count = simple.indices.size();
  const IndexRange kind = classify_indices(indices, count, simple.extent);
  if (kind == IndexRange::outside) return false;  // select() throws for it
  accumulate_loops(simple.array.dtype(), how)
      .elements(static_cast<std::byte*>(simple.array.data()), indices, count, kind, simple.extent,
                simple.stride, static_cast<const std::byte*>(value.data()),
                value.rank() == 0 ? 0 : simple.row_bytes);
  return true;
}

}  // namespace

Accumulation accumulation_from(std::string_view name) {
  static constexpr std::string_view names[] = {"add", "subtract", "multiply", "maximum", "minimum"};
  for (int i = 0; i < 5; ++i)
    if (names[i] == name) return static_cast<Accumulation>(i);
  fail<ArgumentError>(name, ".at: expected add, subtract, multiply, maximum or minimum; if no ",
                      "index is repeated, write a[i] = ", name, "(a[i], b)");
}

void accumulate_by(const Array& array, std::span<const IndexPart> key, const Array& value,
                   Accumulation how) {
  check_writable(array);
  (void)accumulate_loops(array.dtype(), how);  // on every device, for its DTypeError
  if (const Array* indices = only_index(key, array))
    if (try_accumulate_simple({array, *indices, 0}, value, how)) return;
  const IndexingBackend& backend = indexing_backends[array.device()];
  if (backend.needs_aligned && !is_aligned(array)) {
    const Array aligned = copy(array);
    accumulate_by(aligned, key, value, how);
    return copy(aligned, array);
  }
  const Selection selection = select(array, key, Bounds::raise, /*writes=*/true);
  Array operand = broadcast_value(selection, value);
  if (backend.needs_aligned && !is_aligned(operand)) operand = copy(operand);
  backend.accumulate(selection, operand, how);
}

}  // namespace spanwise::ops
