# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# The Python interpreter to build for: Python_EXECUTABLE, else the checkout's .venv
# (scripts/bootstrap.py), else the one on PATH.

set(own_python "${PROJECT_SOURCE_DIR}/.venv/bin/python")
if(NOT Python_EXECUTABLE AND NOT SKBUILD AND EXISTS "${own_python}")
  set(Python_EXECUTABLE "${own_python}" CACHE FILEPATH "The Python interpreter to build for")
endif()
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)

# sw_python_eval(<variable> <program>): sets <variable> to the output of the Python program, without
# the trailing newline.
function(sw_python_eval variable program)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "${program}"
    OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${variable} "${output}" PARENT_SCOPE)
endfunction()
