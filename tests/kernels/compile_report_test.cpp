// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/module_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace spanwise::kernels {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// An excerpt of `lines` lines, as CompileError::source() shows it.
std::string numbered(int lines) {
  std::string out;
  for (int i = 1; i <= lines; ++i)
    out.append(std::to_string(i)).append(" | line").append(std::to_string(i)).append("\n");
  return out;
}

TEST(SourceExcerpt, ShowsAllOfAShortSource) {
  EXPECT_EQ(source_excerpt(numbered(40), "kernel.cu:3:1: error", "kernel.cu"), numbered(40));
  EXPECT_EQ(source_excerpt("", "kernel.cu:3: error", "kernel.cu"), "");
}

TEST(SourceExcerpt, ShowsContextOfTheLinesInTheLog) {
  const std::string log = "kernel.cu(50): error: x\nkernel.cu:98:3: error: y\nother.cu:10: note";
  EXPECT_EQ(source_excerpt(numbered(100), log, "kernel.cu"),
            "47 | line47\n48 | line48\n49 | line49\n50 | line50\n51 | line51\n52 | line52\n"
            "53 | line53\n     ...\n95 | line95\n96 | line96\n97 | line97\n98 | line98\n"
            "99 | line99\n100 | line100\n");
}

TEST(SourceExcerpt, ShowsTheStartWhenTheLogHasNoLineNumber) {
  for (const char* log : {"", "kernel.cu: what?", "kernel.cu:0: x", "kernel.cu:5000: x"}) {
    const std::string shown = source_excerpt(numbered(100), log, "kernel.cu");
    EXPECT_THAT(shown, HasSubstr("1 | line1\n"));
    EXPECT_THAT(shown, HasSubstr("40 | line40\n     ...\n"));
    EXPECT_THAT(shown, Not(HasSubstr("line41")));
  }
}

}  // namespace
}  // namespace spanwise::kernels
