// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks a loop without dependences between iterations, so that the compiler may vectorize it.
/// In-place loops only read element i before they write element i.
#if defined(__clang__)
#define SW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SW_INDEPENDENT _Pragma("GCC ivdep")
#endif
