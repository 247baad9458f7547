# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# The functions that define the parts of libspanwise. Every C++ folder of the tree calls exactly one
# of sw_layer(), sw_op_family(), sw_bridges() and sw_addon(); each globs the sources of the folder.

find_package(Threads REQUIRED)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12
   OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR "Spanwise needs g++ >= 12 or clang >= 14, and found ${CMAKE_CXX_COMPILER} "
    "${CMAKE_CXX_COMPILER_VERSION}. Install one (sudo apt-get install g++-12) and set CXX=g++-12")
endif()

# The include directory of generated headers and sources, outside of the source tree.
set(SW_GENERATED_DIR "${PROJECT_BINARY_DIR}/generated")

# Language standard and warnings of the project's targets; not propagated to users' targets.
add_library(sw_flags INTERFACE)
target_compile_features(sw_flags INTERFACE cxx_std_20)
# Exported functions are not interposed at run time, so calls within a file may be inlined.
target_compile_options(sw_flags INTERFACE -fno-semantic-interposition)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # Clears shapes, layouts and arguments by wide stores: the startup of `rep stos`, which g++ uses
  # from about 80 bytes on, takes longer than all the stores.
  target_compile_options(sw_flags INTERFACE
    -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
endif()
target_compile_options(sw_flags INTERFACE -Wall -Wextra -Wshadow $<$<BOOL:${SPANWISE_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives for assignments of literals to std::string (GCC bug 105651).
  target_compile_options(sw_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # False positives for references returned by views (GCC bug 107532).
  target_compile_options(sw_flags INTERFACE -Wno-dangling-reference)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Loops join conditions by & and |, which avoids branches, and ask for vectors that clang does not
  # always make. In a batch a local name may be that of a constant in the unnamed namespace of
  # another source, which g++ does not count as shadowing.
  target_compile_options(sw_flags INTERFACE -Wno-shadow -Wno-pass-failed
    -Wno-bitwise-instead-of-logical -Wno-bitwise-conditional-parentheses)
endif()
if(SPANWISE_SANITIZE)
  set(sanitize -fsanitize=${SPANWISE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False positives in instrumented code, of which GCC's manual warns.
    list(APPEND sanitize -Wno-array-bounds -Wno-stringop-overflow -Wno-maybe-uninitialized)
  endif()
  target_compile_options(sw_flags INTERFACE ${sanitize})
  target_link_options(sw_flags INTERFACE ${sanitize})
endif()

if(SPANWISE_HARDEN AND NOT SPANWISE_SANITIZE)
  # Not -fcf-protection: the loader uses its marks only where all parts of a process have them, which
  # the static C++ library has not, and each function would have an instruction more. The stack is
  # protected in functions with arrays of characters; -strong also protects every function that passes
  # the address of a local variable, which costs 4 % of a + b.
  target_compile_options(sw_flags INTERFACE -fstack-protector
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
  # The binaries do not name the folders in which they were built, so that two builds are equal.
  target_compile_options(sw_flags INTERFACE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=."
    "-ffile-prefix-map=${PROJECT_BINARY_DIR}=build")
endif()

# The properties of all targets of the project.
function(sw_target_defaults target)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:sw_flags>)
endfunction()

# Unity builds: headers, pybind11's above all, take most of the compile time, and are read once per
# batch. Therefore names in the unnamed namespaces of one target must differ.
function(sw_compile_in_batches target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${SPANWISE_UNITY}
    UNITY_BUILD_RELOCATABLE ON  # a compiler cache serves all checkouts; CMake 4.0
    UNITY_BUILD_BATCH_SIZE 10)
endfunction()

# sw_shared_object(<target> <list>): exports only the symbols of the version script
# cmake/exports-<list>.map, and lets exceptions cross to other shared objects.
include(CheckLinkerFlag)
check_linker_flag(CXX -lgcc_s SPANWISE_HAS_LIBGCC_S)
function(sw_shared_object target list)
  set(script "${PROJECT_SOURCE_DIR}/cmake/exports-${list}.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${script}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
  if(SPANWISE_HARDEN)
    # The table of function addresses is filled when the library is loaded, and read-only from then on.
    target_link_options(${target} PRIVATE LINKER:-z,relro,-z,now,-z,noexecstack)
  endif()
  if(SPANWISE_GLIBC)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/older_glibc.cpp")
    set_source_files_properties("${PROJECT_SOURCE_DIR}/cmake/older_glibc.cpp"
      PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    # Of the static C++ library, the functions that nothing calls are left out.
    target_link_options(${target} PRIVATE "-L${SPANWISE_GLIBC}" -static-libstdc++ LINKER:--gc-sections)
  endif()
  if(SPANWISE_HAS_LIBGCC_S)
    # One unwinder in the process, even if the toolchain links libgcc statically: two copies cannot
    # unwind each other's frames.
    target_link_libraries(${target} PRIVATE gcc_s)
  endif()
endfunction()

# All objects of the library: linked into libspanwise, and into each test binary, which can then
# test hidden symbols. Linked as objects, not archives, so that self-registering objects are not
# dropped.
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
# A layer can include the public headers, those of sdk/internal, which the layers, the ops and the
# Python extension of this tree share, and the private ones in sdk/src.
function(sw_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    return()
  endif()
  _sw_object_library(sw_${name} ${sources})
  target_include_directories(sw_${name} PRIVATE
    "${PROJECT_SOURCE_DIR}/sdk/internal" "${PROJECT_SOURCE_DIR}/sdk/src" "${SW_GENERATED_DIR}")
endfunction()

# _sw_folder(<prefix> <include>...): compiles the sources of this folder and those below. *_py.cpp, which call
# Python, become part of the extension module, through the global property SW_PYTHON_SOURCES; the
# others form the object library <prefix>_<folder>, whose include folders are <include>... in
# addition.
function(_sw_folder prefix)
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  set(python_sources ${sources})
  list(FILTER python_sources INCLUDE REGEX "_py\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_py\\.cpp$")
  if(sources)
    _sw_object_library(${prefix}_${folder} ${sources})
    target_include_directories(${prefix}_${folder} PRIVATE ${ARGN})
  endif()
  set_property(GLOBAL APPEND PROPERTY SW_PYTHON_SOURCES ${python_sources})
endfunction()

# sw_op_family(): target sw_ops_<folder>. It can include the public headers, those of sdk/internal
# and sdk/device, and its own folder.
function(sw_op_family)
  _sw_folder(sw_ops "${PROJECT_SOURCE_DIR}/sdk/internal" "${PROJECT_SOURCE_DIR}/sdk/device"
    "${SW_GENERATED_DIR}")
endfunction()

# sw_bridges(): target sw_bridges, from all folders of bridges/. They can include the public headers
# and their own folder.
function(sw_bridges)
  _sw_folder(sw "${SW_GENERATED_DIR}")
endfunction()

# sw_addon(): target sw_addon_<folder>, from the sources of this folder. It can include the public
# headers and its own folder. Headers in include/ are installed beside the public ones.
function(sw_addon)
  set(headers "${CMAKE_CURRENT_SOURCE_DIR}/include")
  _sw_folder(sw_addon "${headers}" "${SW_GENERATED_DIR}")
  if(EXISTS "${headers}")
    target_include_directories(spanwise PUBLIC $<BUILD_INTERFACE:${headers}>)
    install(DIRECTORY "${headers}/" DESTINATION include)
  endif()
endfunction()
