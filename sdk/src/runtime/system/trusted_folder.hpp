// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

#include "runtime/system/unix_file.hpp"

namespace spanwise::runtime {

/// A folder that no other user can modify or replace.
struct TrustedFolder {
  FileDescriptor folder;    ///< for reading; closed where the folder cannot be used
  std::string problem{};    ///< why it cannot be used; "" where it can, and where it is missing
  bool is_missing = false;  ///< it, or a folder above it, does not exist
};

enum class MissingFolders { leave, create };

/// Opens the absolute path `path`, component by component from the root. Each folder on the way,
/// also those reached through symbolic links, must belong to this user or root and be writable by
/// its owner only; a folder above the last may also be sticky, as /tmp. The last must not be a
/// symbolic link. The checks apply to the opened descriptors, so another user cannot replace a
/// folder after its check. MissingFolders::create creates missing folders with mode 0700.
TrustedFolder open_trusted_folder(const std::string& path, MissingFolders missing);

/// The same conditions for a folder in which this process creates a private one: `path` itself may
/// be sticky, or a symbolic link. Returns "" where they hold, else the problem.
std::string parent_problem(const std::string& path);

/// True for files owned by this user or root.
bool has_trusted_owner(const struct stat& status) noexcept;

}  // namespace spanwise::runtime
