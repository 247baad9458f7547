// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/file_stamp.hpp"

namespace spanwise::kernels {

/// The user's files that a kernel's source may include, directly or not.
///
/// It errs on the side of too many: conditions are not evaluated, and a name that is found in
/// several folders counts with all of them. So a change to any file that could matter is seen, and
/// what it costs to be wrong is one compilation. Headers of the compiler and of the toolkit are not
/// here: the back end's fingerprint stands for them.
struct IncludeClosure {
  struct File {
    std::string path;
    std::string digest;  ///< SHA-256 of the contents
  };
  /// A path that was looked at and what was there, absent ones too: a header that appears earlier
  /// in the search path changes the result as well.
  struct Probe {
    std::string path;
    FileStamp stamp;
  };
  std::vector<File> files;
  std::vector<Probe> probes;
  /// False where an include is computed by a macro that could not be followed: nothing may then be
  /// concluded from the files.
  bool complete = true;
  /// A header that this library brings is named: <spanwise/...>.
  bool wants_device_headers = false;
  /// One of the files declares variables that outlive a launch.
  bool declares_variables = false;

  /// Adds what another source may include.
  void merge(IncludeClosure other);
  /// Whether every probe still gives the same stamp.
  bool unchanged() const noexcept;
};

/// `options` are the compiler's: -I, -isystem, -iquote, --include-path, -include, -D.
IncludeClosure find_includes(std::string_view source, std::span<const std::string> options,
                             std::span<const std::string> include_dirs);

}  // namespace spanwise::kernels
