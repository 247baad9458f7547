# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# The files that `cmake --install` installs below its prefix, and a wheel below the package's
# folder:
#   lib/libspanwise.so   include/spanwise/   lib/cmake/spanwise/ for find_package(spanwise)

include(CMakePackageConfigHelpers)

install(TARGETS spanwise spanwise_plugin EXPORT spanwise-targets LIBRARY DESTINATION lib)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/sdk/include/spanwise" "${SW_GENERATED_DIR}/include/spanwise"
  DESTINATION include FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
# Kernels write #include <spanwise/view.cuh>. The library embeds these headers; the installed files
# are for editors and other compilers.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/sdk/device/" DESTINATION include/spanwise
  FILES_MATCHING PATTERN "*.cuh")

set(package_dir lib/cmake/spanwise)
install(EXPORT spanwise-targets NAMESPACE spanwise:: DESTINATION ${package_dir})
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/spanwise-config.cmake.in"
  "${PROJECT_BINARY_DIR}/spanwise-config.cmake" INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/spanwise-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/spanwise-config.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/SpanwiseOps.cmake"
  "${PROJECT_BINARY_DIR}/spanwise-config-version.cmake" DESTINATION ${package_dir})
