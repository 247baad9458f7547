# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# How a folder becomes a part of libspanwise. Every C++ folder of the tree calls exactly one of
# sw_layer(), sw_op_family() and sw_bridge(); each takes all sources of the folder by itself.

find_package(Threads REQUIRED)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12
   OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR "Spanwise needs g++ >= 12 or clang >= 14, and found ${CMAKE_CXX_COMPILER} "
    "${CMAKE_CXX_COMPILER_VERSION}. Install one (sudo apt-get install g++-12) and set CXX=g++-12")
endif()

# Generated headers and sources live under one include directory, away from the source tree.
set(SW_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")

# The language level and the warnings of our own targets; nothing of it reaches users' targets.
add_library(sw_flags INTERFACE)
target_compile_features(sw_flags INTERFACE cxx_std_20)
# Nobody puts functions of their own in the place of ours, so calls within a file may be inlined.
target_compile_options(sw_flags INTERFACE -fno-semantic-interposition)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Shapes, layouts and arguments are cleared by a few wide stores; `rep stos`, which g++ takes from
  # some 80 bytes on, needs longer to start than they do altogether.
  target_compile_options(sw_flags INTERFACE
    -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
endif()
target_compile_options(sw_flags INTERFACE -Wall -Wextra -Wshadow $<$<BOOL:${SPANWISE_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # It takes a string that is given a literal for one that overlaps itself (GCC bug 105651).
  target_compile_options(sw_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # It takes a reference that a view returns for one into the view (GCC bug 107532).
  target_compile_options(sw_flags INTERFACE -Wno-dangling-reference)
endif()
if(SPANWISE_SANITIZE)
  set(sanitize -fsanitize=${SPANWISE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_options(sw_flags INTERFACE ${sanitize})
  target_link_options(sw_flags INTERFACE ${sanitize})
endif()

# What all our targets have in common.
function(sw_target_defaults target)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:sw_flags>)
endfunction()

# Most of a file's time goes into headers, pybind11's above all, which a batch reads once. So names
# in the unnamed namespaces of one target must differ.
function(sw_compile_in_batches target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${SPANWISE_UNITY}
    UNITY_BUILD_BATCH_SIZE 10)
endfunction()

# sw_shared_object(<target> <list>): the dynamic symbols of a shared object are those of the version
# script cmake/exports-<list>.map, and its exceptions may be caught in another one.
include(CheckLinkerFlag)
check_linker_flag(CXX -lgcc_s SPANWISE_HAS_LIBGCC_S)
function(sw_shared_object target list)
  set(script "${PROJECT_SOURCE_DIR}/cmake/exports-${list}.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${script}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
  if(SPANWISE_HAS_LIBGCC_S)
    # One unwinder in the process, also where the toolchain links libgcc statically: a frame that is
    # entered by one copy's unwinder cannot be left by another's.
    target_link_libraries(${target} PRIVATE gcc_s)
  endif()
endfunction()

# All objects of the library: linked once into libspanwise, and again into each test binary, which
# may so test what the library hides. Linking objects (not archives) keeps self-registration alive.
add_library(sw_objects INTERFACE)
target_link_libraries(sw_objects INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

function(_sw_object_library target)
  add_library(${target} OBJECT ${ARGN})
  sw_target_defaults(${target})
  sw_compile_in_batches(${target})
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}/sdk/include" "${SW_GENERATED_DIR}/include")
  target_sources(sw_objects INTERFACE $<TARGET_OBJECTS:${target}>)
endfunction()

# sw_layer(<name>): target sw_<name> from the sources of this folder and the folders below it.
# A layer sees the public headers and the private ones under sdk/src.
function(sw_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    return()
  endif()
  _sw_object_library(sw_${name} ${sources})
  target_include_directories(sw_${name} PRIVATE "${PROJECT_SOURCE_DIR}/sdk/src" "${SW_GENERATED_DIR}")
endfunction()

# The sources of this folder: *_py.cpp, which call Python, go into the extension module through the
# global property SW_PYTHON_SOURCES; the others into <prefix>_<folder>, an object library that also
# sees the folders <include>...
function(_sw_folder prefix)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  set(python_sources ${sources})
  list(FILTER python_sources INCLUDE REGEX "_py\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_py\\.cpp$")
  if(sources)
    _sw_object_library(${prefix}_${folder} ${sources})
    target_include_directories(${prefix}_${folder} PRIVATE ${ARGN})
  endif()
  set_property(GLOBAL APPEND PROPERTY SW_PYTHON_SOURCES ${python_sources})
endfunction()

# sw_op_family(): sees the public headers, those for kernels, and its own folder only, as an op
# outside this tree does.
function(sw_op_family)
  _sw_folder(sw_ops "${PROJECT_SOURCE_DIR}/sdk/device" "${SW_GENERATED_DIR}")
endfunction()

# sw_bridge(): sees the public headers and its own folder only.
function(sw_bridge)
  _sw_folder(sw_bridge "${SW_GENERATED_DIR}")
endfunction()
