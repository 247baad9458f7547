# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# Mirrors the Python sources in the folder `from` to the folder `to`, and those of each addon,
# <addons>/<name>/python, to <to>/<name>, <addons>/<name>/package to `to`, by symbolic links. Outputs
# of the build (the extension, lib/) are not touched. Dangling links are removed, and folders without
# a module, which Python would import as namespace packages.

file(GLOB_RECURSE staged LIST_DIRECTORIES false "${to}/*")
foreach(file IN LISTS staged)
  if(IS_SYMLINK "${file}" AND NOT file MATCHES "/lib/[^/]*$" AND NOT EXISTS "${file}")
    file(REMOVE "${file}")
  endif()
endforeach()

file(GLOB folders LIST_DIRECTORIES true "${to}/*")
foreach(folder IN LISTS folders)
  file(GLOB_RECURSE modules "${folder}/*.py")
  if(IS_DIRECTORY "${folder}" AND NOT modules AND NOT folder MATCHES "/lib$")
    file(REMOVE_RECURSE "${folder}")
  endif()
endforeach()

function(stage from to)
  file(GLOB_RECURSE sources LIST_DIRECTORIES false RELATIVE "${from}"
    "${from}/*.py" "${from}/*.pyi" "${from}/py.typed")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    file(MAKE_DIRECTORY "${to}/${folder}")
    if(NOT IS_SYMLINK "${to}/${source}")
      file(CREATE_LINK "${from}/${source}" "${to}/${source}" SYMBOLIC)
    endif()
  endforeach()
endfunction()

stage("${from}" "${to}")
file(GLOB folders "${addons}/*/python")
foreach(folder IN LISTS folders)
  cmake_path(GET folder PARENT_PATH addon)
  cmake_path(GET addon FILENAME name)
  stage("${folder}" "${to}/${name}")
  stage("${addon}/package" "${to}")
endforeach()
