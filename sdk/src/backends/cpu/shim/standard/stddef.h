// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the C library's header.

#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
