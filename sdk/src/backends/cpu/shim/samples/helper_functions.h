// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// In the place of the header of NVIDIA's samples.

#include "helper_string.h"
#include "helper_timer.h"
