// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Replaces the header of NVIDIA's CUDA samples, whose functions are for host code only.

#include "helper_cuda.h"
