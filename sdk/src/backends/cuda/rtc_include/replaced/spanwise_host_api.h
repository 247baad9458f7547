// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands for the CPU shim's header of this name. It is empty: declarations with types of the host
// API are for host code, which is removed before NVRTC compiles a source.
