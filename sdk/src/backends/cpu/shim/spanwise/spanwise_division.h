// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// On x86, integer division by zero, and of the lowest value by -1, raises SIGFPE. On a GPU it does
// not: division by zero gives a quotient and a remainder with all bits set (for 64-bit types only
// the lower 32 bits if the dividend has no others, as measured on an H200), and division by -1
// wraps around. Compilers emit a division as one instruction, div or idiv, whose names are macros
// of the assembler here (GNU as, "Macro") that compare the divisor first. {load} before the
// instruction keeps the assembler from expanding the macro again. The rare cases are in a separate
// subsection, so that the common path takes no jump.

// `low` receives the quotient, `high` the remainder.
// clang-format off
#define SW_GUARDED(name, size, low, high, zero, unless_minus_one, minus_one) \
  __asm__(".macro " name " divisor:vararg\n"       \
          "  cmp" size " $0, \\divisor\n"          \
          "  je .Lsw_zero\\@\n"                    \
          unless_minus_one                         \
          "  {load} " name " \\divisor\n"          \
          ".Lsw_divided\\@:\n"                     \
          ".subsection 1\n"                        \
          ".Lsw_zero\\@:\n"                        \
          zero                                     \
          "  jmp .Lsw_divided\\@\n"                \
          minus_one                                \
          ".subsection 0\n"                        \
          ".endm\n")
#define SW_GUARDED_DIVISION(size, low, high, zero)       \
  SW_GUARDED("div" size, size, low, high, zero, "", ""); \
  SW_GUARDED("idiv" size, size, low, high, zero,         \
             "  cmp" size " $-1, \\divisor\n"      \
             "  je .Lsw_minus_one\\@\n",           \
             ".Lsw_minus_one\\@:\n"                \
             "  neg" size " " low "\n"             \
             "  mov" size " $0, " high "\n"        \
             "  jmp .Lsw_divided\\@\n")
// Sets all bits of both.
#define SW_ALL_BITS(size, low, high) "  mov" size " $-1, " low "\n  mov" size " $-1, " high "\n"
// Sets bits 32 to 63 only if the dividend has one of them set: neg sets the carry, which sbb copies
// to all bits.
#define SW_BITS_OF_DIVIDEND "  shrq $32, %rax\n  negq %rax\n  sbbq %rax, %rax\n" \
                            "  movl $-1, %edx\n  orq %rdx, %rax\n  movq %rax, %rdx\n"
// clang-format on

SW_GUARDED_DIVISION("b", "%al", "%ah", SW_ALL_BITS("b", "%al", "%ah"));
SW_GUARDED_DIVISION("w", "%ax", "%dx", SW_ALL_BITS("w", "%ax", "%dx"));
SW_GUARDED_DIVISION("l", "%eax", "%edx", SW_ALL_BITS("l", "%eax", "%edx"));
SW_GUARDED_DIVISION("q", "%rax", "%rdx", SW_BITS_OF_DIVIDEND);

#undef SW_BITS_OF_DIVIDEND
#undef SW_ALL_BITS
#undef SW_GUARDED_DIVISION
#undef SW_GUARDED
