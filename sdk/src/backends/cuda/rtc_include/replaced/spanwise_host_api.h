// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the samples' headers declare with types of the host API is for host code, which is left out.
