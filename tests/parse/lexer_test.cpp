// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parse/kernel_source.hpp"

namespace spanwise::parse {
namespace {

std::vector<std::string> texts(std::string_view source) {
  std::vector<std::string> out;
  for (const Token& token : lex(source)) out.emplace_back(token.text);
  return out;
}

using testing::ElementsAre;

TEST(Lexer, SkipsCommentsAndKeepsOffsetsAndLines) {
  const std::string source = "int /* two\nlines */ a; // rest\n  b";
  const std::vector<Token> tokens = lex(source);
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[1].text, "a");
  EXPECT_EQ(tokens[1].line, 2);
  EXPECT_EQ(tokens[1].offset, source.find("a;"));
  EXPECT_EQ(tokens[3].text, "b");
  EXPECT_EQ(tokens[3].line, 3);
}

TEST(Lexer, ReadsALiteralAsOneToken) {
  EXPECT_THAT(
      texts(R"(f("a // \" b", '\'', u8"x", L'y'))"),
      ElementsAre("f", "(", R"("a // \" b")", ",", R"('\'')", ",", R"(u8"x")", ",", "L'y'", ")"));
  EXPECT_THAT(texts("R\"x(a \" )\" b)x\" c"), ElementsAre("R\"x(a \" )\" b)x\"", "c"));
}

TEST(Lexer, ReadsNumbersWithSignsSeparatorsAndSuffixes) {
  EXPECT_THAT(texts("1e-3f 0x1p+4 1'000u .5 1-2"),
              ElementsAre("1e-3f", "0x1p+4", "1'000u", ".5", "1", "-", "2"));
}

TEST(Lexer, ReadsADirectiveWithItsContinuedLinesAsOneToken) {
  const std::vector<Token> tokens = lex("#define F(x) \\\n  (x)\nint # y");
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[0].kind, Token::Kind::directive);
  EXPECT_EQ(tokens[0].text, "#define F(x) \\\n  (x)");
  EXPECT_EQ(tokens[1].line, 3);
  EXPECT_EQ(tokens[2].kind, Token::Kind::punctuation);
}

TEST(Lexer, EndsOnMalformedText) {
  EXPECT_THAT(texts("\"open\nint"), ElementsAre("\"open", "int"));
  EXPECT_THAT(texts("a /* never closed"), ElementsAre("a"));
  EXPECT_THAT(texts("R\"(never closed"), ElementsAre("R\"(never closed"));
  EXPECT_THAT(texts("\"\\"), ElementsAre("\"\\"));
  EXPECT_THAT(texts(""), ElementsAre());
}

}  // namespace
}  // namespace spanwise::parse
