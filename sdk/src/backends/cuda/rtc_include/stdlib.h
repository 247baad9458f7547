// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// For NVRTC, which has no host headers. malloc(), free() and abs() are built into it.
#pragma once
#include <stddef.h>
