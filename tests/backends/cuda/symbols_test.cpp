// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/device_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace spanwise::cuda {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(NamesOf, PlainAndQualifiedNamesLeadToTheSymbol) {
  EXPECT_THAT(
      names_of({"_ZN5image4blurEPKfPf", "plain"}),
      UnorderedElementsAre(Pair("blur", "_ZN5image4blurEPKfPf"),
                           Pair("image::blur", "_ZN5image4blurEPKfPf"), Pair("plain", "plain")));
}

TEST(NamesOf, TemplatesKeepTheirArguments) {
  EXPECT_THAT(names_of({"_ZN5image2tkIfEEvPT_"}),
              UnorderedElementsAre(Pair("image::tk<float>", "_ZN5image2tkIfEEvPT_"),
                                   Pair("tk<float>", "_ZN5image2tkIfEEvPT_")));
}

TEST(NamesOf, OverloadsDifferByTheirParameters) {
  EXPECT_THAT(
      names_of({"_Z4overPf", "_Z4overPi"}),
      UnorderedElementsAre(Pair("over(float*)", "_Z4overPf"), Pair("over(int*)", "_Z4overPi")));
}

TEST(NamesOf, PlainNameInTwoNamespacesIsAmbiguous) {
  EXPECT_THAT(names_of({"_ZN1a1kEv", "_ZN1b1kEv"}),
              UnorderedElementsAre(Pair("a::k", "_ZN1a1kEv"), Pair("b::k", "_ZN1b1kEv")));
}

TEST(NamesOf, UnqualifiedNameRefersToTheGlobalKernel) {
  EXPECT_THAT(names_of({"k", "_ZN1a1kEv"}),
              UnorderedElementsAre(Pair("k", "k"), Pair("a::k", "_ZN1a1kEv")));
}

TEST(NamesOf, UnnamedNamespacesAreOmitted) {
  const std::string nvrtc = "_ZN41_GLOBAL__N__00000000_9_kernel_cu_726c71ca2anEPi";
  const std::string itanium = "_ZN12_GLOBAL__N_15otherEPi";
  EXPECT_THAT(names_of({nvrtc, itanium}),
              UnorderedElementsAre(Pair("an", nvrtc), Pair("other", itanium)));
}

TEST(ReadableName, IsQualifiedAndWithoutParameters) {
  EXPECT_EQ(readable_name("_ZN5image4blurEPKfPf"), "image::blur");
  EXPECT_EQ(readable_name("blur"), "blur");
}

TEST(ReadSymbols, FindsDeclarationsInPtx) {
  const BinarySymbols symbols = read_symbols(
      "//\n.version 9.0\n.target sm_90\n.address_size 64\n\n"
      ".const .align 4 .b8 table[12];\n.global .attribute(.managed) .align 4 .u32 counter;\n"
      ".global .align 4 .u32 start = 7;\n.extern .func helper\n"
      ".visible .entry _Z4blurPf(\n\t.param .u64 p\n)\n{\n\t.local .b8 depot[8];\n}\n");
  EXPECT_THAT(symbols.kernels, ElementsAre("_Z4blurPf"));
  EXPECT_THAT(symbols.variables, ElementsAre("table", "counter", "start"));
}

TEST(ReadSymbols, OtherImagesHaveNoSymbols) {
  EXPECT_THAT(read_symbols("").kernels, IsEmpty());
  EXPECT_THAT(read_symbols(std::string("\x50\xed\x55\xba\0\0fat", 9)).kernels, IsEmpty());
}

TEST(ReadSymbols, DamagedObjectFilesAreReadWithinTheirBounds) {
  std::mt19937 random(20260411);
  for (int round = 0; round < 2000; ++round) {
    std::string image =
        "\x7f"
        "ELF";
    const std::size_t size = 64 + random() % 400;
    while (image.size() < size) image += static_cast<char>(random() % 4 == 0 ? random() : 0);
    read_symbols(image);  // the sanitizers find accesses out of bounds
  }
}

TEST(SymbolTypes, AreThoseOfTheParameters) {
  EXPECT_EQ(types_of("_Z4blurPKfPfi"), "float const*, float*, int");
  EXPECT_EQ(types_of("_Z5scaleIfEvPT_S0_"), "float*, float");
  EXPECT_EQ(types_of("_ZN5image4noneEv"), "");
  EXPECT_EQ(types_of("plain"), "");
  EXPECT_EQ(types_of(""), "");
}

}  // namespace
}  // namespace spanwise::cuda
