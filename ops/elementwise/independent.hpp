// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Before a loop whose passes the vectoriser may mix: in-place work reads element i before it
/// writes it, which is all that is asked of us.
#if defined(__clang__)
#define SW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define SW_INDEPENDENT _Pragma("GCC ivdep")
#endif
