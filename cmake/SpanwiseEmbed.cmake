# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# sw_embed_text(<target> <symbol> <file>... [<name>><header>...]): compiles the text of the files
# into <target>. "name>header" embeds a header `name` that only includes `header`, "name>" an empty one.
#
# Generates <embedded/SYMBOL.hpp>, which declares
#     namespace spanwise::embedded { extern const std::array<TextFile, N> SYMBOL; }
# where TextFile is {name, text}: the file's name without its folder, and its contents;
# file_text(SYMBOL, name) returns the text of one file. The texts are constant-initialised, so they
# can be used in static constructors.
function(sw_embed_text target symbol)
  if(NOT TARGET ${target})
    return()  # a layer without sources has no target
  endif()
  set(header "${SW_GENERATED_DIR}/embedded/${symbol}.hpp")
  set(source "${SW_GENERATED_DIR}/embedded/${symbol}.cpp")
  set(files)
  set(forwarding ${ARGN})
  list(FILTER forwarding INCLUDE REGEX "^[^/]+>")
  list(FILTER ARGN EXCLUDE REGEX "^[^/]+>")
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND files "${file}")
  endforeach()
  set(script "${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake")
  add_custom_command(
    OUTPUT "${header}" "${source}"
    COMMAND "${CMAKE_COMMAND}" "-Dsymbol=${symbol}" "-Dheader=${header}" "-Dsource=${source}"
            -P "${script}" -- ${files} ${forwarding}
    DEPENDS "${script}" ${files}
    COMMENT "Embedding ${symbol}"
    VERBATIM)
  target_sources(${target} PRIVATE "${header}" "${source}")
endfunction()
