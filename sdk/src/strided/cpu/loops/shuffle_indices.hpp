// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

namespace spanwise::strided {

/// 0, 1, ..., n - 1 as template arguments, for the indices of a shuffle.
template <int... index>
struct Indices {};

namespace detail {
template <int... index>
Indices<index...> indices_of(std::integer_sequence<int, index...>);
}  // namespace detail

template <int n>
using MakeIndices = decltype(detail::indices_of(std::make_integer_sequence<int, n>()));

}  // namespace spanwise::strided
