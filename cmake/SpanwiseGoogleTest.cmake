# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# Defines GTest::gtest_main and GTest::gmock: the installed package, else built from the sources.

set(SPANWISE_GTEST_SOURCE "/usr/src/googletest" CACHE PATH "Folder of GoogleTest's sources")

# With sanitizers GoogleTest must be compiled with the same options, so the sources come first.
if(NOT SPANWISE_SANITIZE)
  find_package(GTest QUIET)
endif()
if(NOT TARGET GTest::gtest_main AND EXISTS "${SPANWISE_GTEST_SOURCE}/CMakeLists.txt")
  set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
  if(SPANWISE_SANITIZE)
    add_compile_options(-fsanitize=${SPANWISE_SANITIZE})
  endif()
  set(CMAKE_WARN_DEPRECATED OFF CACHE BOOL "" FORCE)  # it requires a deprecated CMake version
  add_subdirectory("${SPANWISE_GTEST_SOURCE}" "${PROJECT_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  foreach(library IN ITEMS gtest gtest_main gmock)
    if(NOT TARGET GTest::${library})
      add_library(GTest::${library} ALIAS ${library})
    endif()
  endforeach()
elseif(NOT TARGET GTest::gtest_main)
  find_package(GTest QUIET)
endif()
