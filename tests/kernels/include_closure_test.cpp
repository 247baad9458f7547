// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/include_closure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/fake_device.hpp"
#include "kernels/sha256.hpp"

namespace spanwise::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using Strings = std::vector<std::string>;

class IncludeClosureTest : public ::testing::Test {
 protected:
  IncludeClosure closure(const std::string& source, const Strings& options = {}) {
    return find_includes(source, options, Strings{(folder_.path() / "inc").string()});
  }
  // The files of the closure, relative to the test's folder.
  Strings files_of(const IncludeClosure& closure) {
    Strings names;
    for (const auto& file : closure.files)
      names.push_back(std::filesystem::path(file.path).lexically_relative(folder_.path()).string());
    return names;
  }

  test::TestFolder folder_;
};

TEST_F(IncludeClosureTest, IsEmptyForASourceThatIncludesNothing) {
  const IncludeClosure none = closure("__global__ void k(float *x) { x[0] = 1; }");
  EXPECT_THAT(none.files, IsEmpty());
  EXPECT_THAT(none.probes, IsEmpty());
  EXPECT_TRUE(none.complete);
}

TEST_F(IncludeClosureTest, FollowsIncludesOfIncludesOnce) {
  folder_.write("inc/a.h", "#pragma once\n#include \"deep/b.h\"\n");
  folder_.write("inc/deep/b.h", "#include \"c.h\"\n#include <a.h>\n");
  folder_.write("inc/deep/c.h", "int c;");
  const IncludeClosure all = closure("#include <a.h>\n");
  EXPECT_THAT(files_of(all), ElementsAre("inc/a.h", "inc/deep/b.h", "inc/deep/c.h"));
  EXPECT_EQ(all.files.back().digest, sha256("int c;"));
  EXPECT_TRUE(all.complete);
}

TEST_F(IncludeClosureTest, IgnoresCommentsAndStringsButReadsInactiveBranches) {
  folder_.write("inc/yes.h", "");
  folder_.write("inc/maybe.h", "");
  folder_.write("inc/no.h", "");
  const IncludeClosure all = closure(
      "// #include \"no.h\"\n/*\n#include \"no.h\"\n*/\nconst char* s = \"\\\n#include "
      "<no.h>\\\n\";\n"
      "#if 0\n#include \"maybe.h\" // why\n#endif\n  #  include /* x */ <yes.h>\n");
  EXPECT_THAT(files_of(all), UnorderedElementsAre("inc/maybe.h", "inc/yes.h"));
}

TEST_F(IncludeClosureTest, SearchesTheIncludeFoldersOfTheOptions) {
  folder_.write("one/a.h", "");
  folder_.write("two/b.h", "");
  folder_.write("three/c.h", "");
  folder_.write("three/first.h", "");
  const std::string root = folder_.path().string() + "/";
  const IncludeClosure all = closure("#include <a.h>\n#include <b.h>\n#include <c.h>\n",
                                     {"-I" + root + "one", "-I", root + "two",
                                      "--include-path=" + root + "three", "-include", "first.h"});
  EXPECT_THAT(files_of(all),
              UnorderedElementsAre("one/a.h", "two/b.h", "three/c.h", "three/first.h"));
}

TEST_F(IncludeClosureTest, ListsTheFileOfEachFolderThatHasTheName) {
  folder_.write("inc/a.h", "1");
  folder_.write("other/a.h", "2");
  EXPECT_THAT(files_of(closure("#include <a.h>\n", {"-I" + (folder_.path() / "other").string()})),
              UnorderedElementsAre("inc/a.h", "other/a.h"));
}

TEST_F(IncludeClosureTest, FollowsMacrosThatNameAHeader) {
  folder_.write("inc/a.h", "#define NEXT <b.h>\n");
  folder_.write("inc/b.h", "");
  folder_.write("inc/c.h", "");
  const IncludeClosure all = closure(
      "#define FIRST \"a.h\"\n#include FIRST\n#include NEXT\n#include THIRD\n", {"-DTHIRD=<c.h>"});
  EXPECT_THAT(files_of(all), UnorderedElementsAre("inc/a.h", "inc/b.h", "inc/c.h"));
  EXPECT_TRUE(all.complete);
}

TEST_F(IncludeClosureTest, IsIncompleteOnlyForAnUnknownMacro) {
  EXPECT_FALSE(closure("#include HEADER(x)\n").complete);
  EXPECT_FALSE(closure("#include UNKNOWN\n").complete);
  EXPECT_TRUE(closure("#include <cuda_fp16.h>\n").complete);
}

TEST_F(IncludeClosureTest, FollowsHasInclude) {
  folder_.write("inc/a.h", "");
  EXPECT_THAT(files_of(closure("#if defined(__has_include) && __has_include(\"a.h\")\n#endif\n")),
              ElementsAre("inc/a.h"));
}

TEST_F(IncludeClosureTest, ChangesWhenAFileIsChangedAddedOrRemoved) {
  folder_.write("inc/a.h", "old");
  const std::string source = "#include <a.h>\n#if __has_include(<later.h>)\n#endif\n";
  const IncludeClosure before = closure(source);
  EXPECT_TRUE(before.unchanged());
  folder_.write("inc/a.h", "newer");
  EXPECT_FALSE(before.unchanged());
  const IncludeClosure after = closure(source);
  EXPECT_NE(before.files[0].digest, after.files[0].digest);
  folder_.write("inc/later.h", "");
  EXPECT_FALSE(after.unchanged());
  const IncludeClosure both = closure(source);
  EXPECT_THAT(files_of(both), UnorderedElementsAre("inc/a.h", "inc/later.h"));
  std::filesystem::remove(folder_.path() / "inc/a.h");
  EXPECT_FALSE(both.unchanged());
}

TEST_F(IncludeClosureTest, ReportsHeadersOfTheLibrary) {
  EXPECT_TRUE(closure("#include <spanwise/view.cuh>\n").wants_device_headers);
  EXPECT_FALSE(closure("#include <other/view.cuh>\n").wants_device_headers);
}

}  // namespace
}  // namespace spanwise::kernels
