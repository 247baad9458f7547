// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace spanwise::test {

/// Sets an environment variable until the end of the scope.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* previous = std::getenv(name)) previous_ = previous, was_set_ = true;
    ::setenv(name, value.c_str(), 1);
  }
  ~EnvironmentVariable() {
    if (was_set_)
      ::setenv(name_, previous_.c_str(), 1);
    else
      ::unsetenv(name_);
  }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
  std::string previous_;
  bool was_set_ = false;
};

}  // namespace spanwise::test
