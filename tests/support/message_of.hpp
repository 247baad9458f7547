// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <typeinfo>

namespace spanwise::test {

/// The message of the E that `run` throws; fails the test if it throws none, or an exception of a
/// class derived from E.
template <class E, class F>
std::string message_of(F&& run) {
  try {
    run();
  } catch (const E& error) {
    EXPECT_EQ(typeid(error), typeid(E)) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

}  // namespace spanwise::test
