# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# spanwise_add_ops(<name> <source>...): a library of ops for sw.load_ops("lib<name>.so"), from C++
# sources that use <spanwise/plugin.hpp> or C sources that use <spanwise/plugin.h>. It does not link
# against Spanwise, so any compiler and C++ library can be used.
function(spanwise_add_ops name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE spanwise::plugin)
  if(CMAKE_CXX_COMPILER_LOADED)  # false in projects that use only C
    target_compile_features(${name} PRIVATE cxx_std_20)
  endif()
  set_target_properties(${name} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  # A C++ library that is linked statically must not bind to another copy in the process.
  target_link_options(${name} PRIVATE LINKER:--exclude-libs,ALL)
endfunction()
