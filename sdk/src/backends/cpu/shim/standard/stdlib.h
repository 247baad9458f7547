// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the C library's header; spanwise_cpu.h declares what device code may call.
