// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "spanwise/core/error.hpp"

namespace spanwise::ops {
namespace {

constexpr OpTraits op_table[] = {
#define SW_OP(name, Body, inputs, dtypes, result, traits) \
  {#name, #Body, inputs, dtypes, Result::result, traits},
#include "elementwise_table.inc"
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

// The first of `dtypes` to which all operands cast safely; `common` is their promotion.
std::optional<DType> first_safe_dtype(unsigned dtypes, std::span<const DType> operands,
                                      DType common) {
  const int index = dtype_index(common);
  if (index >= 0 && (dtypes >> index & 1u) != 0) return common;
  for (int i = 0; i < dtype_count; ++i) {
    const DType candidate = dtypes_in_order[i];
    // bfloat16 is chosen only for bfloat16 operands, above; others get float16.
    if ((dtypes >> i & 1u) == 0 || candidate == bfloat16) continue;
    if (std::all_of(operands.begin(), operands.end(),
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

// The dtype of the computation whose result is `requested`.
DType compute_for(const OpTraits& op, std::span<const DType> operands, DType requested) {
  // The modulus of complex numbers is computed from both parts.
  const bool needs_complex =
      op.result == Result::real_part &&
      std::any_of(operands.begin(), operands.end(), [](DType d) { return d.is_complex(); });
  for (int i = 0; i < dtype_count; ++i) {
    const DType dtype = dtypes_in_order[i];
    if ((op.dtypes >> i & 1u) != 0 && result_dtype_of(op, dtype) == requested &&
        (!needs_complex || dtype.is_complex()))
      return dtype;
  }
  if (op.has(keeps_integers) && is_exact_dtype(requested)) return requested;
  fail<DTypeError>(op.name, ": no loop gives dtype=", requested, " from ", listed_dtypes(operands),
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
      const DType entry = dtypes_in_order[i];
      table[static_cast<std::size_t>(entry.code())]
           [static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(entry.itemsize())))] =
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

OpSignature resolve(OpId op, std::span<const DType> operands, std::optional<DType> requested) {
  const OpTraits& traits = traits_of(op);
  for (const DType dtype : operands)
    if (!dtype.is_computable())
      fail<DTypeError>(traits.name, ": cannot compute with ", dtype,
                       ", which can only be copied; cast it with its own library first");
  if (traits.result == Result::boolean && requested && *requested != bool_)
    fail<DTypeError>(traits.name, ": no loop gives dtype=", requested.value_or(bool_),
                     "; the result is bool");
  if (traits.has(boolean_inputs)) return {op, bool_, bool_};
  if (traits.has(compares))
    if (const auto mixed = mixed_comparison(op, operands)) return *mixed;
  // A condition does not take part in the promotion.
  const auto values = operands.subspan(traits.has(first_is_condition) ? 1 : 0);
  DType common = promote(values);
  if (common.is_bool() && traits.has(no_bool) && (!requested || *requested == bool_))
    refuse_dtypes(traits, operands);
  if (requested && traits.result != Result::boolean) {
    const DType compute = compute_for(traits, operands, *requested);
    return {is_exact_dtype(compute) && traits.has(keeps_integers) ? OpId::positive : op, compute,
            *requested};
  }
  if (is_exact_dtype(common)) {
    if (traits.has(keeps_integers)) return {OpId::positive, common, common};
    if (traits.has(integers_as_double)) return {op, float64, float64};
  }
  const std::optional<DType> compute = first_safe_dtype(traits.dtypes, values, common);
  if (!compute) refuse_dtypes(traits, operands);
  return {op, *compute, result_dtype_of(traits, *compute)};
}

}  // namespace spanwise::ops
