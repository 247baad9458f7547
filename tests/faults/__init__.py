# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
