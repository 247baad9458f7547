// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what libspanwise shows to programs and plug-ins; everything else is hidden.
#define SW_API __attribute__((visibility("default")))
