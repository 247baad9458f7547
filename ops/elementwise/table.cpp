// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "spanwise/error.hpp"

namespace spanwise::ops {
namespace {

constexpr OpTraits op_table[] = {
#define SW_OP(name, Body, inputs, dtypes, result, traits) \
  {#name, #Body, inputs, dtypes, Result::result, traits},
#include "table.inc"
#undef SW_OP
};

std::string listed_dtypes(std::span<const DType> dtypes) {
  std::string names;
  for (const DType dtype : dtypes) names += (names.empty() ? "" : ", ") + dtype.name();
  return names;
}

[[noreturn]] void refuse_dtypes(const OpTraits& op, std::span<const DType> operands) {
  const char* remedy = operands[0].is_bool() ? "; cast to an integer dtype, or use a logical_ or "
                                               "bitwise_ function"
                       : (op.dtypes & floats) == 0
                           ? "; expected bool or integers, cast the operands"
                       : (op.dtypes & complexes) == 0 ? "; expected real operands, take .real"
                                                      : "";
  fail<DTypeError>(op.name, ": not defined for ", listed_dtypes(operands), ", as in NumPy", remedy);
}

bool is_exact_dtype(DType dtype) noexcept { return dtype.is_bool() || dtype.is_integer(); }

// The first dtype of the table to which all of `values` cast safely; `common` is their promotion.
std::optional<DType> first_safe(unsigned dtypes, std::span<const DType> values, DType common) {
  if ((dtypes >> dtype_index(common) & 1u) != 0) return common;
  for (int i = 0; i < dtype_count; ++i) {
    const DType candidate = dtypes_in_order[i];
    // bfloat16 is chosen only for bfloat16 operands, above; others get float16.
    if ((dtypes >> i & 1u) == 0 || candidate == bfloat16) continue;
    if (std::all_of(values.begin(), values.end(),
                    [&](DType dtype) { return can_cast(dtype, candidate, Casting::safe); }))
      return candidate;
  }
  return {};
}

DType result_dtype_of(const OpTraits& op, DType compute) {
  if (op.result == Result::boolean) return bool_;
  if (op.result == Result::real_part && compute.is_complex())
    return compute == complex64 ? float32 : float64;
  return compute;
}

// The dtype of computation whose result is `wanted`.
DType compute_for(const OpTraits& op, std::span<const DType> operands, DType wanted) {
  // The modulus of complex numbers is computed from both parts.
  const bool needs_complex =
      op.result == Result::real_part &&
      std::any_of(operands.begin(), operands.end(), [](DType d) { return d.is_complex(); });
  for (int i = 0; i < dtype_count; ++i) {
    const DType dtype = dtypes_in_order[i];
    if ((op.dtypes >> i & 1u) != 0 && result_dtype_of(op, dtype) == wanted &&
        (!needs_complex || dtype.is_complex()))
      return dtype;
  }
  if (((op.traits & keeps_integers) != 0) && is_exact_dtype(wanted)) return wanted;
  fail<DTypeError>(op.name, ": no loop gives dtype=", wanted, " from ", listed_dtypes(operands),
                   "; leave dtype= out, or cast the result with astype()");
}

// Compares int64 with uint64 by value; in float64 close values would be equal.
std::optional<OpSignature> mixed_comparison(OpId op, std::span<const DType> operands) {
  const bool in_order = operands[0] == int64 && operands[1] == uint64;
  const bool exchanged = operands[0] == uint64 && operands[1] == int64;
  if (!in_order && !exchanged) return {};
  if (exchanged) op = swapped_op(op).value_or(op);
  return OpSignature{op, int64, bool_, exchanged, true};
}

}  // namespace

int dtype_index(DType dtype) noexcept {
  // Indexed by kind and log2 of the size in bytes.
  static constexpr auto indices = [] {
    std::array<std::array<std::int8_t, 8>, 8> table{};
    for (auto& kind : table) kind.fill(-1);
    for (int i = 0; i < dtype_count; ++i) {
      const DType known = dtypes_in_order[i];
      table[static_cast<std::size_t>(known.code())]
           [static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(known.itemsize())))] =
               static_cast<std::int8_t>(i);
    }
    return table;
  }();
  const auto code = static_cast<std::size_t>(dtype.code());
  const auto bytes = static_cast<unsigned>(dtype.itemsize());
  if (code >= indices.size() || (bytes & (bytes - 1)) != 0 || bytes > 16) return -1;
  const int index = indices[code][static_cast<std::size_t>(std::countr_zero(bytes))];
  return index >= 0 && dtypes_in_order[index] == dtype ? index : -1;
}

const OpTraits& traits_of(OpId op) noexcept { return op_table[static_cast<int>(op)]; }

std::optional<OpId> swapped_op(OpId op) noexcept {
  static constexpr std::pair<OpId, OpId> pairs[] = {
      {OpId::less, OpId::greater},
      {OpId::less_equal, OpId::greater_equal},
      {OpId::greater, OpId::less},
      {OpId::greater_equal, OpId::less_equal},
  };
  for (const auto& [from, to] : pairs)
    if (from == op) return to;
  static constexpr OpId symmetric[] = {
      OpId::add,        OpId::multiply,    OpId::equal,       OpId::not_equal,  OpId::logical_and,
      OpId::logical_or, OpId::logical_xor, OpId::bitwise_and, OpId::bitwise_or, OpId::bitwise_xor};
  const bool is_symmetric =
      std::find(std::begin(symmetric), std::end(symmetric), op) != std::end(symmetric);
  return is_symmetric ? std::optional(op) : std::nullopt;
}

std::string display_name(OpId op) {
  std::string name;
  bool starts = true;
  for (const char c : std::string_view(traits_of(op).name)) {
    if (c != '_') name += starts && c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
    starts = c == '_';
  }
  return name;
}

OpSignature resolve(OpId op, std::span<const DType> operands, std::optional<DType> wanted) {
  const OpTraits& known = traits_of(op);
  for (const DType dtype : operands)
    if (!dtype.is_computable())
      fail<DTypeError>(known.name, ": cannot compute with ", dtype,
                       ", which can only be copied; cast it with its own library first");
  if (known.result == Result::boolean && wanted && *wanted != bool_)
    fail<DTypeError>(known.name, ": no loop gives dtype=", wanted.value_or(bool_),
                     "; the result is bool");
  if ((known.traits & boolean_inputs) != 0) return {op, bool_, bool_};
  if ((known.traits & compares) != 0)
    if (const auto mixed = mixed_comparison(op, operands)) return *mixed;
  const auto values = operands.subspan((known.traits & first_is_condition) != 0 ? 1 : 0);
  DType common = promote(values);
  if (common.is_bool() && (known.traits & no_bool) != 0 && (!wanted || *wanted == bool_))
    refuse_dtypes(known, operands);
  if (wanted && known.result != Result::boolean) {
    const DType compute = compute_for(known, operands, *wanted);
    return {is_exact_dtype(compute) && (known.traits & keeps_integers) != 0 ? OpId::positive : op,
            compute, *wanted};
  }
  if (is_exact_dtype(common)) {
    if ((known.traits & keeps_integers) != 0) return {OpId::positive, common, common};
    if ((known.traits & integers_as_double) != 0) return {op, float64, float64};
  }
  const std::optional<DType> compute = first_safe(known.dtypes, values, common);
  if (!compute) refuse_dtypes(known, operands);
  return {op, *compute, result_dtype_of(known, *compute)};
}

}  // namespace spanwise::ops
