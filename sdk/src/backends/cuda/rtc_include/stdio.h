// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// For NVRTC, which has no host headers. printf() is built into it.
#pragma once
