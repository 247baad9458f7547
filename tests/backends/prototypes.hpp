// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

/// Whether a function that we declare ourselves is called as the real header has it.
namespace spanwise::cuda {

/// The same type, or our int for their enumeration. A library's opaque handles are specialisations.
template <class Ours, class Theirs>
struct PassedAlike : std::bool_constant<std::is_same_v<Ours, Theirs> ||
                                        (std::is_same_v<Ours, int> && std::is_enum_v<Theirs> &&
                                         sizeof(Theirs) == sizeof(int))> {};

template <class Ours, class Theirs>
struct CalledAlike;
template <class R, class... A, class S, class... B>
struct CalledAlike<R (*)(A...), S (*)(B...)>
    : std::bool_constant<sizeof...(A) == sizeof...(B) && PassedAlike<R, S>::value &&
                         (PassedAlike<A, B>::value && ...)> {};

}  // namespace spanwise::cuda
