# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# The Python interpreter that the build asks questions. Python_EXECUTABLE chooses it.

find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)

# sw_python_eval(<variable> <program>): what the program prints, without the last newline.
function(sw_python_eval variable program)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "${program}"
    OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()
