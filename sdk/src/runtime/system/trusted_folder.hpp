// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

#include "runtime/system/unix_file.hpp"

namespace spanwise::runtime {

/// A folder that no other user can change, put files into, or replace.
struct TrustedFolder {
  FileDescriptor folder;    ///< for reading; closed where the folder cannot be used
  std::string problem{};    ///< why it cannot be used, one sentence; "" where it can
  bool is_missing = false;  ///< it, or a folder above it, does not exist
};

enum class MissingFolders { leave, create };

/// Opens `path`, an absolute path, step by step from the root. Each folder on the way, those behind
/// symbolic links included, must belong to this user or root and be writable by its owner alone; a
/// folder above the last may also be sticky, as /tmp is. The last must not be a symbolic link.
/// Because the check is of what is opened, another user cannot swap a folder in between.
/// MissingFolders::create makes those that do not exist, each for this user alone (0700).
TrustedFolder open_trusted_folder(const std::string& path, MissingFolders missing);

/// The same conditions for a folder in which this process makes a private one: `path` itself may be
/// sticky, or a symbolic link. "" where they hold, else the problem.
std::string untrusted_parent(const std::string& path);

/// True for files of this user and of root.
bool has_trusted_owner(const struct stat& status) noexcept;

}  // namespace spanwise::runtime
