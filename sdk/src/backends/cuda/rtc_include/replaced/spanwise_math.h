// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// NVRTC has the functions of math.h that the samples' headers use.
