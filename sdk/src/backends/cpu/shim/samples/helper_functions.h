// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the header of NVIDIA's CUDA samples.

#include "helper_string.h"
#include "helper_timer.h"
