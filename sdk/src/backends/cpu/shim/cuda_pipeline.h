// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Of the toolkit's header the functions that need no C++ library.
#include "spanwise_pipeline.h"
