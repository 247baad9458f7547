// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "parse/device_code.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace spanwise::parse {
namespace {

std::string without_host_code(std::string_view text) {
  DeviceCode code;
  code.add(text);
  code.resolve();
  return code.without_host_code(text);
}

// The names of each declaration, joined by blanks.
std::vector<std::string> declared_names(std::string_view text) {
  std::vector<std::string> out;
  const std::vector<Token> tokens = lex(text);
  for (const Declaration& declaration : split_declarations(tokens)) {
    std::string names;
    for (const std::string_view name : declaration.names)
      names.append(names.empty() ? "" : " ").append(name);
    out.push_back(names);
  }
  return out;
}

// The words of `text`, joined by single blanks.
std::string words(std::string_view text) {
  std::string out;
  for (const Token& token : lex(text)) out.append(out.empty() ? "" : " ").append(token.text);
  return out;
}

TEST(Declarations, ListNamesOfFunctionsTypesAndVariables) {
  const auto names = declared_names(
      "int f(int x) { return x; }\n"
      "template <class T, int N = (3 > 2)> T g(T y) { struct S {}; return y; }\n"
      "struct A : B { int member; } a, *b;\n"
      "enum E { first, second = 4 };\n"
      "typedef float (*callback)(int);\n"
      "using number = double;\n"
      "const float table[2] = {1, 2}, last = 3;\n"
      "A::A() : x{1}, y(2) { z = 3; }\n"
      "template void h<float>(float*);\n"
      "namespace n { void in_a_namespace(); }\n"
      "extern \"C\" { int in_c; }\n");
  const std::vector<std::string> expected{
      "f",          "g", "A a b", "E first second", "callback", "number",
      "table last", "A", "h",     "in_a_namespace", "in_c"};
  ASSERT_EQ(names.size(), expected.size());
  // A declaration's names may be more than those that it declares, such as those of its members.
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const Token& name : lex(expected[i])) {
      const std::vector<Token> listed = lex(names[i]);
      EXPECT_TRUE(std::any_of(listed.begin(), listed.end(),
                              [&](const Token& t) { return t.text == name.text; }))
          << name.text << " in '" << names[i] << "'";
    }
}

TEST(Declarations, BranchesThatDivideADeclarationBelongToIt) {
  const std::string text =
      "#ifdef A\nvoid f(int x) {\n#else\nvoid f(float x) {\n#endif\n  g(x);\n}\nint after;\n";
  const std::vector<Token> tokens = lex(text);
  const auto declarations = split_declarations(tokens);
  ASSERT_EQ(declarations.size(), 2u);
  EXPECT_EQ(tokens[declarations[0].begin].line, 2);
  EXPECT_EQ(tokens[declarations[0].end - 1].line, 7);
  EXPECT_EQ(tokens[declarations[1].begin].line, 8);
}

TEST(DeviceCode, KeepsLinesAndDirectives) {
  const std::string text =
      "int host(int n) {\n#define N 4\n  return n;  // }\n}\n__global__ void k(int* x) { *x = N; "
      "}\n";
  const std::string out = without_host_code(text);
  EXPECT_EQ(out.size(), text.size());
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(words(out), "#define N 4 __global__ void k ( int * x ) { * x = N ; }");
}

TEST(DeviceCode, KeepsDeclarationsReachableFromDeviceCode) {
  const std::string device =
      "#define CALL(x) helper(x)\n"
      "typedef float real;\n"
      "struct P { real x; };\n"
      "real helper(real x) { return x; }\n"
      "const real table[] = {1, 2};\n"
      "P operator+(P a, P b) { return a; }\n"
      "__global__ void k(P* p) { p->x = CALL(table[0]); }\n";
  const std::string host =
      "static std::vector<float> values;\n"
      "__host__ real only_host() { return 1; }\n"
      "real helper_of_main(int n) { return helper(n); }\n"
      "template <class T> void launch(T* p) { k<<<1, 1>>>(p); }\n"
      "template void launch<P>(P*);\n"
      "void allocate() { P* p; cudaMalloc(&p, 4); }\n"
      "int main() { launch<P>(nullptr); }\n";
  EXPECT_EQ(words(without_host_code(device + host)), words(device));
}

TEST(DeviceCode, RemovesAHostOverloadOfADeviceFunction) {
  const std::string text =
      "__device__ float f(float x) { return x; }\n"
      "double f(double x) { return fopen(x); }\n"
      "__global__ void k(float* x) { *x = f(*x); }\n";
  const std::string out = without_host_code(text);
  EXPECT_EQ(out.find("fopen"), std::string::npos);
  EXPECT_NE(out.find("__device__ float f"), std::string::npos);
}

TEST(DeviceCode, RemovesMethodsOfTheHostFromAClassOfDeviceCode) {
  const std::string text = without_host_code(
      "struct S {\n public:\n  S() { cudaMalloc(&p, 4); }\n  ~S() { cudaFree(p); }\n"
      "  void run() { k<<<1, 1>>>(*this); }\n  __host__ int count() { return 1; }\n"
      "  struct Inner { void free() { cudaFree(0); } int n; };\n"
      "  __device__ int get() { return n(); }\n  int n() { return 2; }\n  float* p;\n};\n"
      "__global__ void k(S s) { s.get(); }");
  EXPECT_EQ(words(text), words("struct S { public: struct Inner { int n; }; __device__ int get() { "
                               "return n(); } int n() { return 2; } float* p; }; "
                               "__global__ void k(S s) { s.get(); }"));
}

TEST(Declarations, FollowMacrosInALineOfTheirOwn) {
  const auto names = declared_names(
      "BEGIN_NAMESPACE\nnamespace detail\n{\nint f() { return 1; }\nint g();\n}\nEND_NAMESPACE\n"
      "BEGIN_NAMESPACE\nnamespace other { int a(); }\nEND_NAMESPACE\n"
      "#include \"header.h\"\nint h();\nstatic\nint i();\nBEGIN\ntemplate <class T> T j(T x);\n"
      "using namespace detail;\n");
  EXPECT_EQ(names, (std::vector<std::string>{"", "f", "g", "", "a", "", "h", "i", "", "j", ""}));
}

TEST(Declarations, OfOperatorsAreFunctions) {
  const std::string text =
      "bool operator<(const S& a, const S& b) { return a.x < b.x; }\n"
      "S operator<<(S a, int b) { return a; }\nint f() { return 1; }\n";
  const std::vector<Token> tokens = lex(text);
  const auto declarations = split_declarations(tokens);
  ASSERT_EQ(declarations.size(), 3u);
  for (const Declaration& each : declarations) EXPECT_EQ(each.kind, Declaration::Kind::function);
}

TEST(Declarations, EndAtTheUseOfAMacroInALineOfItsOwn) {
  const auto names = declared_names(
      "TYPES(a, float)\n#if X\nTYPES(b, double)\n#endif\ntemplate <class T> struct vec { T x; };\n"
      "__attribute__((noinline))\nint f(int x);\nalignas(8)\nint number;\nBOUNDS(3) void g() {}\n");
  // A declaration may have more names than it declares.
  EXPECT_EQ(names,
            (std::vector<std::string>{"", "", "vec vec", "f", "alignas number", "BOUNDS g"}));
}

TEST(DeviceCode, RemovesLinesOnlyWhereNoKernelReachesThem) {
  const std::string text =
      "struct S {\n  __device__ int used() { return 1; }\n  __device__ int unused() { return 2; "
      "}\n};\n"
      "__device__ int helper() {\n  return 3;\n}\n"
      "__device__ int inner(S& s) {\n  return s.used();\n}\n"
      "__global__ void k(int* x) {\n  S s;\n  *x = inner(s);\n}\n";
  DeviceCode code;
  code.add(text);
  code.resolve();
  EXPECT_FALSE(code.remove_unreached(text, 2));
  EXPECT_TRUE(code.remove_unreached(text, 3));
  EXPECT_FALSE(code.remove_unreached(text, 3));
  EXPECT_TRUE(code.remove_unreached(text, 6));
  for (const int line : {1, 9, 13}) EXPECT_FALSE(code.remove_unreached(text, line)) << line;
  const std::string rest = code.without_host_code(text);
  EXPECT_EQ(rest.find("unused"), rest.npos);
  EXPECT_EQ(rest.find("helper"), rest.npos);
  EXPECT_NE(rest.find("return s.used();"), rest.npos);
  EXPECT_EQ(code.way_to(text, text.find("return 1")), "kernel k uses inner, which uses used");
  EXPECT_EQ(code.way_to(text, text.find("*x =")), "");
}

TEST(DeviceCode, KeepsAssertionsAboutWhatAKernelReaches) {
  const std::string text =
      "struct Body { int x; };\n"
      "struct Other { int x; };\n"
      "static_assert(sizeof(Body) == 8, \"\");\n"
      "static_assert(sizeof(Other) == 8, \"\");\n"
      "__global__ void k(Body* b) { b->x = sizeof(int); }\n";
  DeviceCode code;
  code.add(text);
  code.resolve();
  EXPECT_FALSE(code.remove_unreached(text, 3));
  EXPECT_TRUE(code.remove_unreached(text, 4));
}

TEST(DeviceCode, KeepsAllOfAFileIncludedInADeclaration) {
  const std::string fragment = "total += 1;\nint unused;\n", main = "__global__ void k() {}\n";
  DeviceCode code;
  code.add(fragment);
  code.add_whole(fragment);
  code.add(main);
  code.resolve();
  EXPECT_EQ(code.without_host_code(fragment), fragment);
}

// Clang accepts #pragma unroll only before a loop.
TEST(DeviceCode, RemovesThePragmasOfRemovedFunctionsAndKeepsOtherDirectives) {
  const std::string text = without_host_code(
      "void host() {\n#pragma unroll\n  for (;;) {}\n#define N 3\n}\n"
      "__global__ void k() {\n#pragma unroll\n  for (;;) {}\n}");
  EXPECT_EQ(words(text), "#define N 3 __global__ void k ( ) { #pragma unroll for ( ; ; ) { } }");
  EXPECT_EQ(std::ranges::count(text, '\n'), 8);
}

}  // namespace
}  // namespace spanwise::parse
