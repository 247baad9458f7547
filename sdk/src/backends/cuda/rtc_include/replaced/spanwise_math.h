// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands for the CPU shim's header of this name: NVRTC has the functions of math.h built in.
