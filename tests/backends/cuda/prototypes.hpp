// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

/// Compile-time comparison of function prototypes in this repository with those of a library's
/// header.
namespace spanwise::cuda {

/// Whether both types are passed alike: the same type, or `int` for an enumeration of the library.
/// Specialised for opaque handles.
template <class Ours, class Theirs>
struct IsSameAbi : std::bool_constant<std::is_same_v<Ours, Theirs> ||
                                      (std::is_same_v<Ours, int> && std::is_enum_v<Theirs> &&
                                       sizeof(Theirs) == sizeof(int))> {};

template <class Ours, class Theirs>
struct HasSameSignature;
template <class R, class... A, class S, class... B>
struct HasSameSignature<R (*)(A...), S (*)(B...)>
    : std::bool_constant<sizeof...(A) == sizeof...(B) && IsSameAbi<R, S>::value &&
                         (IsSameAbi<A, B>::value && ...)> {};

}  // namespace spanwise::cuda
