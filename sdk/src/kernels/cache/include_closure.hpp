// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cache/file_stamp.hpp"

namespace spanwise::kernels {

/// The user's files that a kernel's source may include, directly or indirectly.
///
/// Conservative: conditions are not evaluated, and a name found in several folders counts with all
/// of them, so a change to any file that may matter is detected; a false positive costs one
/// compilation. Headers of the compiler and the CUDA toolkit are not included: the back end's
/// fingerprint covers them.
struct IncludeClosure {
  struct IncludedFile {
    std::string path;
    std::string digest;  ///< SHA-256 of the contents
  };
  /// A path that was examined, and its stamp. Includes missing files: a new header earlier in the
  /// search path also changes the result.
  struct Probe {
    std::string path;
    FileStamp stamp;
  };
  std::vector<IncludedFile> files;
  std::vector<Probe> probes;
  /// False where an include is computed by a macro that could not be resolved; the list of files is
  /// then incomplete.
  bool complete = true;
  /// A device header of this library is included: <spanwise/...>.
  bool wants_device_headers = false;
  /// One of the files declares variables that persist between launches.
  bool declares_variables = false;

  /// Adds the files of another source.
  void merge(IncludeClosure other);
  /// Whether every probe still has the same stamp.
  bool unchanged() const noexcept;
};

/// `options` are the compiler's, of which read_preprocessor_option() reads some.
IncludeClosure find_includes(std::string_view source, std::span<const std::string> options,
                             std::span<const std::string> include_dirs);

}  // namespace spanwise::kernels
