# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of `graph` under the names by which pickles of earlier versions refer to them."""

import sys

from . import ops
from .graph import (
    _function,
    _gradient,
    _op,
    _op_from_graph,
    _pickle,
    _random_streams,
    _scan,
    _tensor,
)

_MODULES = {
    **dict.fromkeys(("compiled", "function_options", "shared"), _function),
    **dict.fromkeys(("op", "from_function"), _op),
    **dict.fromkeys(("matrices", "sorting"), _tensor),
    "from_graph": _op_from_graph,
    "op_gradient": _gradient,
    "pickle": _pickle,
    "plugins": ops,
    "random_streams": _random_streams,
    "scan_op": _scan,
}
sys.modules.update({f"{__name__}.{name}": module for name, module in _MODULES.items()})
