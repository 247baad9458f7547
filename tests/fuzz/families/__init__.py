# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The families of operations. Each module has `case(context)`, which makes and checks one case.

A new family is a module of this folder and a line here: its share of the cases.
"""

from . import copies, elementwise, indexing, products, programs, reduce, shape

FAMILIES = {
    "elementwise": (elementwise.case, 36),
    "reduce": (reduce.case, 22),
    "indexing": (indexing.case, 14),
    "copies": (copies.case, 13),
    "shape": (shape.case, 15),
    "products": (products.case, 10),
    "programs": (programs.case, 1),
}
