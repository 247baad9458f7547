// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// For NVRTC on a machine without the toolkit's headers: the vector types, the built-in variables
// and the device functions that kernels include this for are built into it.
#pragma once
