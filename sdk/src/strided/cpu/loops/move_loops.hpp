// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The loops of MoveKernels, compiled once per instruction set: one file per set includes them in a
// separate namespace, between pragmas that enable the instructions. SW_VECTOR_BYTES is the width of
// vectors, 16 or 32. Only texts written for this are included here: an inline function of another
// header would be compiled for instructions that the processor may lack.

#define SW_INLINE inline __attribute__((always_inline))

#include "strided/cpu/loops/row_loops.hpp"
// After row_loops.hpp, which it uses.
#include "strided/cpu/loops/transpose_loops.hpp"

// By the word's bytes: 1, 2, 4, 8, 16. Copies reverse the bytes of words of 2, 4 and 8 bytes only.
constexpr MoveKernels kernels{
    {move_block<1, false>, move_block<2, false>, move_block<4, false>, move_block<8, false>,
     move_block<16, false>},
    {nullptr, move_block<2, /*swap=*/true>, move_block<4, true>, move_block<8, true>, nullptr},
    {transpose_block<1>, transpose_block<2>, transpose_block<4>, transpose_block<8>,
     transpose_block<16>},
    copy_rows};

#undef SW_INLINE
