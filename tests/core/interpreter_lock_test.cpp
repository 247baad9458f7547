// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/interpreter_lock.hpp"

#include <gtest/gtest.h>

namespace spanwise {
namespace {

bool is_held = false;
int changes = 0;

constexpr InterpreterLock fake_lock{[]() noexcept -> void* {
                                      if (!is_held) return nullptr;
                                      is_held = false;
                                      ++changes;
                                      return &is_held;
                                    },
                                    [](void* released) noexcept {
                                      *static_cast<bool*>(released) = true;
                                      ++changes;
                                    }};

TEST(InterpreterUnlocked, ReleasesAHeldLockAndReacquiresIt) {
  {
    const InterpreterUnlocked without_interpreter;
  }
  set_interpreter_lock(fake_lock);
  is_held = true;
  {
    const InterpreterUnlocked outer;
    EXPECT_FALSE(is_held);
    const InterpreterUnlocked inner;  // not held: nothing to do
    EXPECT_EQ(changes, 1);
  }
  EXPECT_TRUE(is_held);
  EXPECT_EQ(changes, 2);
  is_held = false;
  {
    const InterpreterUnlocked not_held;
  }
  EXPECT_EQ(changes, 2);
}

}  // namespace
}  // namespace spanwise
