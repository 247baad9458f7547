// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "backends/cpu/cpu_kernels.hpp"
#include "backends/cpu/jit/jit_compiler.hpp"
#include "backends/cpu/jit/shim_files.hpp"
#include "backends/cpu/jit/translation.hpp"
#include "parse/device_code.hpp"
#include "runtime/files.hpp"
#include "support/message_of.hpp"

// The choice of the host's compiler and its fingerprint, which is read without starting it;
// compiling and loading: options, headers, variables, images.
namespace spanwise::cpu_backend {
namespace {

using runtime::TemporaryFolder;
using test::CpuKernels;
using test::EnvironmentVariable;
using test::message_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

void compile_empty() { CpuKernels("__global__ void k() {}"); }

TEST(CpuFingerprint, BeginsWithTheCompilerAndExistsWithoutOne) {
  const std::string before = jit_fingerprint();
  const std::string without_compiler = before.substr(before.find('\n'));
  EXPECT_THAT(before.substr(0, before.find('\n')), Not(testing::IsEmpty()));
  {
    const TemporaryFolder empty;
    const EnvironmentVariable path("PATH", empty.path()), cxx("CXX", "");
    EXPECT_EQ(jit_fingerprint(), without_compiler);
  }
  for (const std::string other : {"/usr/bin/g++", "/usr/bin/clang++"}) {
    if (!std::filesystem::exists(other) || before.starts_with(other + " ")) continue;
    const EnvironmentVariable cxx("CXX", other);
    EXPECT_NE(jit_fingerprint(), before);
    EXPECT_EQ(jit_fingerprint().substr(jit_fingerprint().find('\n')), without_compiler);
  }
  const test::SettingGuard order("cpu_thread_order", "reverse");
  EXPECT_NE(jit_fingerprint(), before);
}

TEST(CpuFingerprint, ChangesWithTheCompilersFile) {
  const TemporaryFolder folder;
  const std::string program = folder.write("g++", "#!/bin/sh\nexit 1\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const EnvironmentVariable cxx("CXX", program);
  const std::string before = jit_fingerprint();
  EXPECT_THAT(before, HasSubstr(program));
  folder.write("g++", "#!/bin/sh\nexit 1 \n");
  EXPECT_NE(jit_fingerprint(), before);
}

TEST(CpuCompiler, ScriptMayRunAnyCompiler) {
  const TemporaryFolder folder;
  for (const std::string compiler : {"/usr/bin/g++", "/usr/bin/clang++"}) {
    if (!std::filesystem::exists(compiler)) continue;
    const std::string script =
        folder.write("compiler", "#!/bin/sh\nexec " + compiler + " \"$@\"\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    const EnvironmentVariable cxx("CXX", script);
    EXPECT_NO_THROW(compile_empty()) << compiler;
  }
}

TEST(CpuCompiler, ErrorWithoutACompilerNamesThePackage) {
  const TemporaryFolder empty;
  const EnvironmentVariable path("PATH", empty.path()), cxx("CXX", " ");
  const std::string message = message_of<DeviceError>([] { compile_empty(); });
  EXPECT_THAT(message, AllOf(HasSubstr("g++"), HasSubstr("apt-get install g++")));
}

TEST(CpuCompiler, MissingProgramInCxxIsNotReplacedByAnother) {
  const TemporaryFolder folder;
  const std::vector<std::string> missing{"no-such-compiler -O3", folder.path() + "/g++"};
  for (const std::string& program : missing) {
    const EnvironmentVariable cxx("CXX", program);
    const std::string message = message_of<DeviceError>([] { compile_empty(); });
    EXPECT_THAT(message, AllOf(HasSubstr("CXX=" + program), HasSubstr("unset CXX")));
    EXPECT_THAT(jit_fingerprint(), StartsWith("\n"))
        << "cached kernels of another compiler would be used";
  }
}

TEST(CpuCompiler, ErrorHasTheOutputOfTheProgramInTheCLocale) {
  const TemporaryFolder folder;
  const std::string program =
      folder.write("g++", "#!/bin/sh\necho \"$LC_ALL: no licence\" >&2\nexit 3\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const EnvironmentVariable cxx("CXX", program);
  try {
    CpuKernels kernels("__global__ void k() {}");
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.log(), "C: no licence\n");
    EXPECT_THAT(error.what(), HasSubstr(program));
  }
}

TEST(CpuCompiler, RemovesItsTemporaryFiles) {
  const TemporaryFolder folder;
  const EnvironmentVariable temporary("TMPDIR", folder.path());
  CpuKernels kernels("__global__ void k(int* out) { out[0] = 1; }");
  EXPECT_THROW(CpuKernels("__global__ void k() { nonsense }"), CompileError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

HostOptions translate(const std::vector<std::string>& options) {
  return parse::host_options(options);
}

TEST(CpuOptions, SupportedOnesReachTheHostCompiler) {
  const HostOptions options = translate({"-DN=4", "-D", "M", "--define-macro=X=a b", "-U", "N",
                                         "-UM", "-Ifolder", "-I", "other", "--include-path=third",
                                         "--pre-include=first.h", "-g", "-O2", "--fmad=false"});
  EXPECT_THAT(options.directives,
              ElementsAre("#define N 4", "#define M 1", "#define X a b", "#undef N", "#undef M"));
  EXPECT_THAT(options.include_dirs, ElementsAre("folder", "other", "third"));
  EXPECT_THAT(options.pre_includes, ElementsAre("first.h"));
  EXPECT_THAT(options.flags, ElementsAre("-g", "-O2", "-ffp-contract=off"));
  EXPECT_EQ(translate({"-std=c++20"}).language, "-std=c++20");
  EXPECT_EQ(translate({"--std=c++11"}).language, "-std=c++17");
}

TEST(CpuOptions, ForGpuCodeAreDropped) {
  const HostOptions options =
      translate({"-arch=sm_90", "--gpu-architecture=compute_80", "-arch", "sm_75", "-lineinfo",
                 "-G", "--ftz=true", "-prec-div=false", "--maxrregcount=32", "-rdc=true", "-Xptxas",
                 "-v", "--ptxas-options=-v", "-w", ""});
  EXPECT_TRUE(options.flags.empty());
  EXPECT_TRUE(options.directives.empty());
}

TEST(CpuOptions, UnknownOnesAreRefused) {
  EXPECT_THROW(translate({"--frobnicate"}), ArgumentError);
  EXPECT_THROW(translate({"file.cu"}), ArgumentError);
  EXPECT_THROW(translate({"-D"}), ArgumentError);
  EXPECT_THROW(translate({"-Wl,-rpath,/"}), ArgumentError);
  EXPECT_THROW(translate({"-shared"}), ArgumentError);
}

TEST(CpuJit, DefinesMacrosAfterItsOwnHeaders) {
  CpuKernels kernels("__global__ void k(T* out) { out[0] = N; WAIT; }", {},
                     {"-DT=int", "-DN=41", "-UN", "-DN=42", "-DWAIT=__syncthreads()"});
  int out = 0;
  kernels.run("k", {{1}, {2}}, &out);
  EXPECT_EQ(out, 42);
}

TEST(CpuJit, FollowsTheUsersHeaders) {
  const TemporaryFolder folder, other;
  folder.write("outer.cuh",
               "#pragma once\n#include \"inner.cuh\"\n#include <cmath>\n__device__ int outer(int "
               "x) { return inner(x); }\n");
  folder.write("inner.cuh",
               "#pragma once\n#include \"outer.cuh\"\n__device__ int inner(int x) { extern "
               "__shared__ int s[]; s[threadIdx.x] = x; "
               "__syncthreads(); return s[blockDim.x - 1 - threadIdx.x]; }\n__global__ void "
               "in_header(int* out) { out[0] = 5; }\n");
  const std::string source =
      "#include <outer.cuh>\n__global__ void k(int* out) { out[threadIdx.x] = outer(threadIdx.x + "
      "1); }";
  for (const bool by_option : {false, true}) {
    std::vector<std::string> options, folders;
    (by_option ? options : folders).push_back((by_option ? "-I" : "") + folder.path());
    CpuKernels kernels(source, {}, options, folders);
    std::vector<int> out(8, -1);
    kernels.run("k", {{1}, {8}, 64}, out.data());
    EXPECT_THAT(out, ElementsAre(8, 7, 6, 5, 4, 3, 2, 1));
    kernels.run("in_header", {}, out.data());
    EXPECT_EQ(out[0], 5);
  }
  folder.write("outer.cuh", "\n\n  nonsense;\n");
  try {
    CpuKernels kernels(source, {}, {}, {folder.path()});
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_THAT(error.log(), HasSubstr(folder.path() + "/outer.cuh:3"));
  }
}

TEST(CpuJit, PrefersItsOwnHeadersToTheToolkits) {
  const TemporaryFolder toolkit;
  toolkit.write("cuda_fp16.h", "#error the toolkit's\n");
  EXPECT_NO_THROW(CpuKernels("#include <cuda_fp16.h>\n__global__ void k(half* x) { x[0] = 1; }", {},
                             {}, {toolkit.path()}));
}

TEST(CpuJit, FindsVariablesByName) {
  CpuKernels kernels(
      "__constant__ float table[3] = {1, 2, 3};\n__device__ int counter = 7;\n__device__ static "
      "int hidden;\n"
      "__device__ void function() {}\n"
      "__global__ void k(float* out) { out[0] = table[2] * counter; hidden = 1; function(); }");
  const auto table = kernels.module().global("table");
  ASSERT_EQ(table.bytes, 12u);
  const float element = 30;
  std::memcpy(static_cast<std::byte*>(table.data) + 8, &element, 4);
  const auto counter = kernels.module().global("counter");
  ASSERT_EQ(counter.bytes, 4u);
  const int count = 2;
  std::memcpy(counter.data, &count, 4);
  float out = 0;
  kernels.run("k", {}, &out);
  EXPECT_EQ(out, 60);
  for (const char* name : {"hidden", "nowhere", "malloc", "sw_switch_stack", "_Z8functionv"})
    EXPECT_EQ(kernels.module().global(name).data, nullptr) << name;
}

TEST(CpuJit, EachLoadHasSeparateVariables) {
  CpuKernels kernels("__device__ int n = 1;\n__global__ void k(int* out) { out[0] = n++; }");
  const auto again = CpuKernels::backend().load(0, kernels.binary());
  int out = 0;
  kernels.run("k", {}, &out);
  kernels.run("k", {}, &out);
  EXPECT_EQ(out, 2);
  EXPECT_EQ(*static_cast<int*>(again->global("n").data), 1);
}

TEST(CpuJit, ReportsOffsetAndSizeOfParameters) {
  CpuKernels kernels(
      "struct S { char c; double d; };\n__global__ void k(char a, float* b, short c, S d, float4 "
      "e, bool f) {}");
  std::vector<std::pair<std::int64_t, std::int64_t>> offsets_and_sizes;
  for (const auto& info : kernels.kernel("k")->parameter_info())
    offsets_and_sizes.emplace_back(info.offset, info.size);
  using P = std::pair<std::int64_t, std::int64_t>;
  EXPECT_THAT(offsets_and_sizes,
              ElementsAre(P(0, 1), P(8, 8), P(16, 2), P(24, 16), P(48, 16), P(64, 1)));
  const KernelAttributes attributes = kernels.kernel("k")->attributes();
  EXPECT_EQ(attributes.max_threads_per_block, 1024);
  EXPECT_GT(attributes.local_bytes, 0);
  EXPECT_FALSE(attributes.architecture.empty());
}

TEST(CpuJit, AcceptsUnalignedArguments) {
  CpuKernels kernels("__global__ void k(double* out, double x, float4 v) { out[0] = x + v.w; }");
  alignas(16) std::byte buffer[64] = {};
  const double x = 1.5;
  const float v[4] = {0, 0, 0, 2};
  std::memcpy(buffer + 1, &x, 8);
  std::memcpy(buffer + 17, v, 16);
  double out = 0;
  double* target = &out;
  void* arguments[] = {&target, buffer + 1, buffer + 17};
  kernels.kernel("k")->launch({}, {}, 0, *CpuKernels::backend().default_stream(0), arguments);
  EXPECT_EQ(out, 3.5);
}

TEST(CpuJit, CountsStaticSharedMemory) {
  CpuKernels with(
      "__global__ void k(int* out) { __shared__ int s[1000]; s[threadIdx.x] = 1; out[0] = s[0]; }");
  EXPECT_GE(with.kernel("k")->attributes().static_shared_bytes, 4000);
  // At most 64 more, for the alignment.
  EXPECT_LE(with.kernel("k")->attributes().static_shared_bytes, 4064);
  CpuKernels without("__global__ void k(int* out) { out[0] = blockIdx.x + gridDim.x; }");
  EXPECT_EQ(without.kernel("k")->attributes().static_shared_bytes, 0);
}

TEST(CpuJit, ErrorListsTheKernels) {
  CpuKernels kernels("__global__ void first() {}\nnamespace n { __global__ void second() {} }");
  EXPECT_EQ(kernels.binary().symbols.at("second"), "n::second");
  EXPECT_EQ(kernels.binary().symbols.at("n::second"), "n::second");
  EXPECT_THAT(test::message_of<ArgumentError>([&] { kernels.module().kernel("third"); }),
              AllOf(HasSubstr("'third'"), HasSubstr("'first'"), HasSubstr("'n::second'")));
}

TEST(CpuJit, LoadsAModuleManyTimesAtOnce) {
  CpuKernels kernels("__device__ int n = 1;\n__global__ void k(int* out) { out[0] = n++; }");
  // Each load must be new, although descriptors and addresses are reused.
  for (int round = 0; round < 3; ++round) {
    std::vector<Ref<runtime::LoadedModule>> modules;
    std::set<void*> variables;
    for (int i = 0; i < 20; ++i) {
      modules.push_back(CpuKernels::backend().load(0, kernels.binary()));
      void* variable = modules.back()->global("n").data;
      EXPECT_EQ(*static_cast<int*>(variable), 1);
      *static_cast<int*>(variable) = 2;
      variables.insert(variable);
    }
    EXPECT_EQ(variables.size(), 20u);
  }
}

TEST(CpuJit, RefusesInvalidModules) {
  runtime::KernelBinary binary;
  binary.image = "no library";
  EXPECT_THROW(CpuKernels::backend().load(0, binary), DeviceError);
  void* const libm = ::dlopen("libm.so.6", RTLD_NOW);
  const link_map* map = nullptr;
  ASSERT_EQ(::dlinfo(libm, RTLD_DI_LINKMAP, &map), 0);
  binary.image = parse::read_whole_file(map->l_name);
  EXPECT_THROW(CpuKernels::backend().load(0, binary), DeviceError);
  ::dlclose(libm);
  std::string image = "no library";
  EXPECT_THROW(set_stack_need(image, 1), DeviceError);
}

TEST(CpuShim, IncludesOnlyThePartsThatASourceNeeds) {
  EXPECT_EQ(shim_parts({"threadIdx", "x", "if", "float", "printf"}), "");
  for (const char* name : {"sinf", "sin", "sqrt", "max", "min", "fmaxf", "__expf", "rsqrtf",
                           "__fmul_rn", "powf", "isnan"})
    EXPECT_EQ(shim_parts({name}), "#define SW_WITH_MATH 1\n") << name;
  for (const char* name :
       {"__popc", "__float2int_rn", "__ldg", "__threadfence", "clock64", "__float_as_int"})
    EXPECT_EQ(shim_parts({name}), "#define SW_WITH_INTRINSICS 1\n") << name;
  for (const char* name : {"atomicAdd", "atomicAdd_block", "atomicCAS", "atomicInc"})
    EXPECT_EQ(shim_parts({name}), "#define SW_WITH_ATOMICS 1\n") << name;
  for (const char* name :
       {"__syncthreads", "__shfl_xor_sync", "__ballot_sync", "__reduce_max_sync", "__activemask"})
    EXPECT_EQ(shim_parts({name}), "#define SW_WITH_BARRIERS 1\n") << name;
  for (const char* name : {"float4", "make_uchar2", "longlong1"})
    EXPECT_EQ(shim_parts({name}), "#define SW_WITH_VECTORS 1\n") << name;
  EXPECT_EQ(shim_parts({"new"}), "#define SW_WITH_OBJECTS 1\n");
}

TEST(CpuStackNeed, IsTheLargestKernelWithAllThatItMayCall) {
  Translation unit;
  unit.kernel_names = {"big", "small"};
  const std::string report =
      "kernel.cu:1:1:void small(int*)\t100\tstatic\nkernel.cu:2:1:void big(int*)\t5000\tstatic\n"
      "kernel.cu:3:1:int helper(int)\t300\tstatic\n";
  const std::size_t need = stack_need(report, unit);
  EXPECT_GE(need, 5300u);
  EXPECT_LT(need, 20000u);
  EXPECT_GT(stack_need(report + "kernel.cu:4:1:int f(int)\t16\tdynamic\n", unit), 100000u);
  EXPECT_EQ(stack_need(report + "kernel.cu:4:1:int f(int)\t0\tdynamic,bounded\n", unit), need);
}

}  // namespace

}  // namespace spanwise::cpu_backend
