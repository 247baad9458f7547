// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions of the toolkit's header that need no C++ library.
#include "spanwise_pipeline.h"
