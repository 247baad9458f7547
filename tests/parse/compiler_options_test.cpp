// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/compiler_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spanwise/core/error.hpp"

namespace spanwise::parse {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Options = std::vector<std::string>;

Options translated(const Options& options) { return nvrtc_options(options, 9, 0).arguments; }

std::string refusal(const Options& options) {
  try {
    nvrtc_options(options, 9, 0);
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(NvrtcOptions, OfNvrtcPassUnchanged) {
  EXPECT_THAT(translated({"--use_fast_math", "-lineinfo", "-fmad=false", "-G"}),
              ElementsAre("--use_fast_math", "-lineinfo", "-fmad=false", "-G"));
}

TEST(NvrtcOptions, ValuesMayBeTheNextArgument) {
  EXPECT_THAT(translated({"-D", "N=3", "-I", "/some where", "-U", "M", "-Xptxas", "-v"}),
              ElementsAre("-I/some where", "--ptxas-options=-v"));
  EXPECT_THAT(translated({"-DN=3", "-I/x", "--define-macro=K=1", "-isystem", "/y"}),
              ElementsAre("-I/x", "-I/y"));
  EXPECT_THAT(translated({"--maxrregcount", "32", "-include", "a.h"}),
              ElementsAre("--maxrregcount=32"));
  EXPECT_THAT(translated({"--ptxas-options=-v", "-fmad", "false"}),
              ElementsAre("--ptxas-options=-v", "-fmad=false"));
}

TEST(NvrtcOptions, MacrosBecomeLinesOfTheText) {
  const NvrtcOptions options =
      nvrtc_options(Options{"-D", "T=float", "-UM", "--define-macro=TWICE(x)=(2 * (x))", "-DON",
                            "--undefine-macro", "K", "--pre-include=a.h", "-DCUT=1\nint x;"},
                    9, 0);
  EXPECT_THAT(options.directives,
              ElementsAre("#define T float", "#undef M", "#define TWICE(x) (2 * (x))",
                          "#define ON 1", "#undef K", "#define CUT 1"));
  EXPECT_THAT(options.pre_includes, ElementsAre("a.h"));
  EXPECT_THAT(options.arguments, IsEmpty());
}

TEST(NvrtcOptions, IrrelevantHostOptionsAreDropped) {
  EXPECT_THAT(translated({"-O3", "-O2", "-Wall", "-Wextra", "--expt-relaxed-constexpr"}),
              IsEmpty());
}

TEST(Options, OfNvccWithoutEffectOnKernelsAreIgnoredOnEachDevice) {
  const std::vector<Options> ignored{{"-O"},
                                     {"-O1"},
                                     {"-Wall"},
                                     {"-Wextra"},
                                     {"-pedantic"},
                                     {"-Wno-deprecated-gpu-targets"},
                                     {"--expt-relaxed-constexpr"},
                                     {"-extended-lambda"},
                                     {"--expt-extended-lambda"},
                                     {"-m64"},
                                     {"--machine=64"},
                                     {"-rdc=true"},
                                     {"--relocatable-device-code=false"},
                                     {"-Xcudafe", "--diag_suppress=177"},
                                     {"-allow-unsupported-compiler"},
                                     {"--resource-usage"},
                                     {"-Werror", "all-warnings"},
                                     {"-Werror=all-warnings"},
                                     {"--default-stream", "per-thread"},
                                     {"--default-stream=per-thread"},
                                     {"-Xcompiler", "-fPIC"},
                                     {"-Xcompiler=-fPIC"},
                                     {"--compiler-options", "-Wall"},
                                     {"-ccbin", "g++"},
                                     {"-L/usr/lib"},
                                     {"-L", "/usr/lib"},
                                     {"-lcudart"},
                                     {"-Xlinker", "-z"},
                                     {"--threads", "4"},
                                     {"--keep-dir=/tmp"}};
  for (Options options : ignored) {
    options.emplace_back("-DN=3");
    const HostOptions host = host_options(options);
    const NvrtcOptions gpu = nvrtc_options(options, 9, 0);
    EXPECT_THAT(host.directives, ElementsAre("#define N 3")) << options[0];
    EXPECT_THAT(gpu.directives, ElementsAre("#define N 3")) << options[0];
    EXPECT_THAT(gpu.arguments, testing::Each(testing::StartsWith("-Wno"))) << options[0];
    EXPECT_THAT(host.flags, testing::Each(testing::StartsWith("-O"))) << options[0];
  }
}

TEST(Options, RefusedOnesSayWhyOnEachDevice) {
  for (const char* option : {"-march=native", "-fopenmp", "-fsanitize=address", "-cubin", "-ptx"}) {
    EXPECT_THAT(refusal({option}), HasSubstr(option));
    EXPECT_THROW(host_options(Options{option}), ArgumentError) << option;
  }
}

TEST(NvrtcOptions, HostOptionsWithACounterpartAreTranslated) {
  EXPECT_THAT(
      translated({"-ffast-math", "-std=gnu++20", "-g", "-O0"}),
      ElementsAre("--use_fast_math", "-std=c++20", "--generate-line-info", "--ptxas-options=-O0"));
  EXPECT_THAT(translated({"--std", "c++14"}), ElementsAre("-std=c++14"));
}

TEST(NvrtcOptions, RelocatableCodeIsImplied) {
  EXPECT_THAT(translated({"-rdc=true", "--relocatable-device-code=true"}), ElementsAre());
}

TEST(NvrtcOptions, UnsupportedOptionIsRefusedWithTheRemedy) {
  EXPECT_THAT(refusal({"-march=native"}), HasSubstr("-arch chooses a GPU"));
  EXPECT_THAT(refusal({"-gencode", "arch=compute_90,code=sm_90"}), HasSubstr("-arch=sm_90a"));
  EXPECT_THAT(refusal({"-fsanitize=address"}), HasSubstr("compute-sanitizer"));
  EXPECT_THAT(refusal({"-dc"}), HasSubstr("link="));
  EXPECT_THAT(refusal({"kernel.cu"}), HasSubstr("it is no option"));
  EXPECT_THAT(refusal({"-I"}), HasSubstr("its value is missing"));
  EXPECT_THAT(refusal({"-arch"}), HasSubstr("its value is missing"));
}

TEST(Architecture, IsThatOfTheDeviceByDefault) {
  EXPECT_EQ(nvrtc_options({}, 9, 0).architecture, "sm_90");
  EXPECT_EQ(nvrtc_options({}, 12, 1).architecture, "sm_121");
  const Options variant{"-arch=sm_90a"}, separate{"--gpu-architecture", "compute_80"};
  EXPECT_EQ(nvrtc_options(variant, 9, 0).architecture, "sm_90a");
  EXPECT_EQ(nvrtc_options(separate, 9, 0).architecture, "compute_80");
  EXPECT_THAT(nvrtc_options(separate, 9, 0).arguments, IsEmpty());
  EXPECT_EQ(nvrtc_architecture(variant, 9, 0), "sm_90a");
  EXPECT_EQ(nvrtc_architecture({}, 9, 0), "sm_90");
}

TEST(Architecture, AnOlderMinorVersionRunsAndAnotherMajorOneDoesNot) {
  EXPECT_EQ(nvrtc_options(Options{"-arch=sm_80"}, 8, 6).architecture, "sm_80");
  EXPECT_THAT(refusal({"-arch=sm_80"}), HasSubstr("the device is sm_90"));
  EXPECT_THAT(refusal({"-arch=sm_100"}), HasSubstr("the device is sm_90"));
  EXPECT_THAT(refusal({"-arch=compute_100"}), HasSubstr("compute_90 or lower"));
  EXPECT_THAT(refusal({"-arch=native"}), HasSubstr("the device is sm_90"));
  EXPECT_THAT(refusal({"-arch=sm_90x"}), HasSubstr("the device is sm_90"));
}

}  // namespace
}  // namespace spanwise::parse
