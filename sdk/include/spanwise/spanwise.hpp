// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Includes the public API, for programs; no header or source of Spanwise includes this one.

#include "spanwise/array.hpp"
#include "spanwise/axis_error.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/config.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"
#include "spanwise/kernel.hpp"
#include "spanwise/memory.hpp"
#include "spanwise/op_sdk.hpp"
#include "spanwise/stream.hpp"
