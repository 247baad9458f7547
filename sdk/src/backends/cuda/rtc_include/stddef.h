// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// For NVRTC, which has no host headers. size_t and ptrdiff_t are built into it.
#pragma once
#ifndef NULL
#define NULL nullptr
#endif
#ifndef offsetof
#define offsetof(type, member) ((size_t)(&((type*)0)->member))
#endif
