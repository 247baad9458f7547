# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# spanwise_add_ops(<name> <source>...): a library of ops for sw.load_ops("lib<name>.so"), from C++
# written against <spanwise/plugin.hpp> or C against <spanwise/plugin.h>. It sees Spanwise's headers
# and links nothing of it, so any compiler and C++ library will do.
function(spanwise_add_ops name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE spanwise::plugin)
  if(CMAKE_CXX_COMPILER_LOADED)  # a project may be of C alone
    target_compile_features(${name} PRIVATE cxx_std_20)
  endif()
  set_target_properties(${name} PROPERTIES
    CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  # A C++ library that is linked statically must not bind to another copy in the process.
  target_link_options(${name} PRIVATE LINKER:--exclude-libs,ALL)
endfunction()
