// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks the exported symbols of libspanwise; all others are hidden.
#define SW_API __attribute__((visibility("default")))
