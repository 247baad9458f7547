// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Includes the public API, for programs; no header or source of Spanwise includes this one.

#include "spanwise/bridge.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/memory.hpp"
#include "spanwise/runtime/stream.hpp"
