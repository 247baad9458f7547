# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization of rows, ``rms_norm(x, weight)``: an op of Spanwise with its gradient,
compiled when the wheel was built."""

from pathlib import Path

import spanwise as sw

rms_norm = sw.load_ops(Path(__file__).with_name("ops.swb")).rms_norm
