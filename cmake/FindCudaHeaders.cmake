# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# Finds the folder of cuda.h, for the CUDA back end: SPANWISE_CUDA_INCLUDE_DIR.
#
# Only headers are needed: the driver and NVRTC are loaded at run time, so a machine without a GPU
# builds the same library.

set(hints)
foreach(variable IN ITEMS CUDA_HOME CUDA_PATH CUDA_ROOT)
  if(DEFINED ENV{${variable}})
    list(APPEND hints "$ENV{${variable}}")
  endif()
endforeach()
list(APPEND hints /usr/local/cuda)
find_program(SPANWISE_NVCC nvcc)
mark_as_advanced(SPANWISE_NVCC)
if(SPANWISE_NVCC)
  file(REAL_PATH "${SPANWISE_NVCC}" nvcc)
  cmake_path(GET nvcc PARENT_PATH nvcc_folder)
  cmake_path(GET nvcc_folder PARENT_PATH nvcc_root)
  list(APPEND hints "${nvcc_root}")
endif()
foreach(hint IN LISTS hints)
  file(GLOB target_includes "${hint}/targets/*/include")
  list(APPEND hints ${target_includes})
endforeach()
find_path(SPANWISE_CUDA_INCLUDE_DIR cuda.h HINTS ${hints} PATH_SUFFIXES include
  DOC "Folder of cuda.h")

# Else the wheel nvidia-cuda-runtime in the interpreter's site-packages.
if(NOT SPANWISE_CUDA_INCLUDE_DIR)
  include(SpanwiseInterpreter)
  sw_python_eval(wheel_folder [[
import glob, sys
headers = [f for p in sys.path for f in glob.glob(p + "/nvidia/*/include/cuda.h")]
print(headers[-1][:-len("/cuda.h")] if headers else "")
]])
  if(wheel_folder)
    set(SPANWISE_CUDA_INCLUDE_DIR "${wheel_folder}" CACHE PATH "Folder of cuda.h" FORCE)
  endif()
endif()

if(NOT SPANWISE_CUDA_INCLUDE_DIR)
  message(FATAL_ERROR "cuda.h was not found. Install the CUDA toolkit and set CUDA_HOME, or put its "
    "headers beside the interpreter: python3 -m pip install nvidia-cuda-runtime")
endif()
