// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/compile/cuda_linker.hpp"

#include <gmock/gmock.h>

#include <array>
#include <numeric>

#include "backends/cuda/compile/cuda_compiler.hpp"
#include "backends/cuda/compile/device_image.hpp"
#include "backends/cuda/compile/nvrtc.hpp"
#include "cuda_device.hpp"
#include "support/nvrtc_fixture.hpp"

namespace spanwise::cuda {
namespace {

using runtime::CompileRequest;
using runtime::KernelBinary;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

constexpr const char* apply =
    "extern \"C\" __device__ float triple(float x);\n"
    "extern __device__ float shift(float x, int n);\n"
    "__global__ void apply(float* y, const float* x) {\n"
    "  y[threadIdx.x] = shift(triple(x[threadIdx.x]), threadIdx.x);\n}\n";
constexpr const char* triple_source =
    "static __device__ float helper(float x) { return 3 * x; }\n"
    "extern \"C\" __device__ float triple(float x) { return helper(x); }\n"
    "__global__ void second(int* p) { *p = 1; }\n";
constexpr const char* shift_source =
    "static __device__ float helper(float x) { return x + 1; }\n"
    "__device__ float shift(float x, int n) { return helper(x) + n; }\n";
// Compiled code of triple() and of a kernel that calls it, written by hand.
constexpr const char* triple_ptx =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b32 result) triple(.param .b32 x) {\n"
    "  .reg .f32 %f<3>;\n  ld.param.f32 %f1, [x];\n  mul.f32 %f2, %f1, 0f40400000;\n"
    "  st.param.f32 [result], %f2;\n  ret;\n}\n";
constexpr const char* apply_ptx =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 result) triple(.param .b32 x);\n"
    ".visible .entry apply(.param .u64 y, .param .u64 x) {\n"
    "  .reg .b64 %rd<6>; .reg .b32 %r<2>; .reg .f32 %f<3>;\n"
    "  ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x];\n"
    "  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;\n"
    "  add.u64 %rd4, %rd2, %rd3; ld.global.f32 %f1, [%rd4];\n"
    "  { .param .b32 a; .param .b32 b; st.param.f32 [a], %f1;\n"
    "    call.uni (b), triple, (a); ld.param.f32 %f2, [b]; }\n"
    "  add.u64 %rd5, %rd1, %rd3; st.global.f32 [%rd5], %f2; ret;\n}\n";

KernelBinary build_linked(const std::vector<std::string>& linked, CompileRequest request = {}) {
  const parse::KernelSource first = parse::scan_kernels(apply);
  request.source = &first;
  for (const std::string& contents : linked)
    request.linked.push_back(
        parse::scan_linked(contents, text("link[", request.linked.size(), "].cu")));
  return compile({9, 0}, request);
}

std::string linking_error(const std::vector<std::string>& linked) {
  try {
    build_linked(linked);
  } catch (const Error& error) {
    return error.what();
  }
  return "it linked";
}

// The output of NVRTC with -dlto.
std::string lto_ir_of(const char* source) {
  const nvrtc::Api& api = nvrtc::library().api;
  nvrtc::Program program = nullptr;
  const std::array options{"--gpu-architecture=compute_75", "--relocatable-device-code=true",
                           "-dlto"};
  EXPECT_EQ(api.create_program(&program, source, "k.cu", 0, nullptr, nullptr), nvrtc::success);
  EXPECT_EQ(api.compile_program(program, static_cast<int>(options.size()), options.data()),
            nvrtc::success);
  std::size_t size = 0;
  EXPECT_EQ(api.get_lto_ir_size(program, &size), nvrtc::success);
  std::string bytes(size, '\0');
  EXPECT_EQ(api.get_lto_ir(program, bytes.data()), nvrtc::success);
  api.destroy_program(&program);
  return bytes;
}

// Skips if nvJitLink is not installed. Like NVRTC it needs no GPU.
template <class Base>
class NvJitLinkTest : public test::NvrtcTest<Base> {
 protected:
  void SetUp() override {
    test::NvrtcTest<Base>::SetUp();
    if (!Base::IsSkipped() && nvjitlink::library_path().empty())
      GTEST_SKIP() << "nvJitLink is not installed";
  }
};

class Linker : public NvJitLinkTest<testing::Test> {};

TEST_F(Linker, LinksSeveralSourcesIntoOneCubin) {
  const KernelBinary binary = build_linked({triple_source, shift_source});
  EXPECT_EQ(image_kind(binary.image), ImageKind::cubin);
  EXPECT_EQ(image_parts(binary.image).at(0).architecture, 90);
  EXPECT_THAT(binary.symbols, Contains(Key("apply")));
  EXPECT_THAT(binary.symbols, Contains(Key("second")));
}

TEST_F(Linker, AcceptsCodeGenerationOptions) {
  for (const char* option : {"--use_fast_math", "-lineinfo", "--maxrregcount=32", "--fmad=false",
                             "-ftz=true", "-Xptxas=-O1", "-G"}) {
    CompileRequest request;
    request.options = {option};
    EXPECT_EQ(image_kind(build_linked({triple_source, shift_source}, request).image),
              ImageKind::cubin)
        << option;
  }
}

TEST_F(Linker, ProducesPtxOnRequest) {
  CompileRequest request;
  request.options = {"-arch=compute_80"};
  const KernelBinary binary = build_linked({triple_source, shift_source}, request);
  EXPECT_EQ(image_kind(binary.image), ImageKind::ptx);
  EXPECT_EQ(image_parts(binary.image).at(0).architecture, 80);
}

TEST_F(Linker, InstantiatesTemplatesOfTheFirstSource) {
  const parse::KernelSource first = parse::scan_kernels(
      "extern \"C\" __device__ float triple(float x);\n"
      "template <class T> __global__ void all(T* y) { *y = triple(*y); }\n");
  CompileRequest request;
  request.source = &first;
  request.names = {"all<float>"};
  request.linked.push_back(parse::scan_linked(triple_source, "link[0].cu"));
  const KernelBinary binary = compile({9, 0}, request);
  EXPECT_EQ(binary.symbols.at("all<float>"), "_Z3allIfEvPT_");
}

TEST_F(Linker, AcceptsCompiledCode) {
  EXPECT_EQ(image_kind(build_linked({triple_ptx, shift_source}).image), ImageKind::cubin);
  const std::string lto_ir = lto_ir_of(triple_source);
  ASSERT_EQ(image_kind(lto_ir), ImageKind::lto_ir);
  EXPECT_EQ(image_kind(build_linked({lto_ir, shift_source}).image), ImageKind::cubin);
  EXPECT_EQ(image_kind(link({"sm_90", {{"LTO-IR", lto_ir}}, {}}, {})), ImageKind::cubin);
}

TEST_F(Linker, ErrorNamesMissingAndDuplicateSymbols) {
  EXPECT_THAT(linking_error({triple_source}), HasSubstr("shift"));
  EXPECT_THAT(linking_error({triple_source}), HasSubstr("extern"));
  EXPECT_THAT(linking_error({triple_source, shift_source, triple_source}), HasSubstr("triple"));
  EXPECT_THAT(linking_error({triple_source, "broken !"}), HasSubstr("link[1].cu(1)"));
  EXPECT_THAT(linking_error({std::string("\1\2\0\4", 4)}), HasSubstr("link[0].cu: expected"));
}

TEST_F(Linker, IsPartOfTheFingerprint) {
  const parse::KernelSource first = parse::scan_kernels(apply);
  CompileRequest request;
  request.source = &first;
  EXPECT_THAT(compiler_fingerprint({9, 0}, request), Not(HasSubstr("nvjitlink")));
  request.linked.push_back(parse::scan_linked(triple_source, "link[0].cu"));
  EXPECT_THAT(compiler_fingerprint({9, 0}, request), HasSubstr("nvjitlink libnvJitLink.so"));
}

class CudaLinker : public CudaTest {
 protected:
  static std::vector<float> run_apply(const std::string& image) {
    KernelBinary binary;
    binary.image = image;
    const Ref<runtime::LoadedKernel> kernel = backend().load(0, binary)->kernel("apply");
    std::vector<float> x(64);
    std::iota(x.begin(), x.end(), 0.5f);
    DeviceBytes from(256), to(256);
    from.put(x.data());
    void *p = to.data(), *q = from.data();
    void* arguments[] = {&p, &q};
    kernel->launch({1}, {64}, 0, *default_stream(), arguments);
    return to.get<float>();
  }
};

TEST_F(CudaLinker, DriverLinksWithoutNvJitLink) {
  const LinkJob job{"sm_90", {{"apply", apply_ptx}, {"triple", triple_ptx}}, {}};
  const std::vector<float> y = run_apply(link_with_driver(job, 0));
  for (std::size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(y[i], 3 * (static_cast<float>(i) + 0.5f)) << i;
}

TEST_F(CudaLinker, DriverErrorNamesMissingSymbols) {
  const LinkJob job{"sm_90", {{"apply", apply_ptx}}, {}};
  try {
    link_with_driver(job, 0);
    FAIL() << "it linked";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.log(), HasSubstr("triple"));
  }
  const LinkJob lto_ir_job{"sm_90", {{"triple", std::string("\xed\x43\x4e\x7f\0", 5)}}, {}};
  EXPECT_THROW(link_with_driver(lto_ir_job, 0), DeviceError);
}

class CudaLinkerOfLtoIr : public NvJitLinkTest<CudaLinker> {};

TEST_F(CudaLinkerOfLtoIr, IsLoadedLikeOtherBinaries) {
  const std::vector<float> y =
      run_apply(lto_ir_of("extern \"C\" __global__ void apply(float* y, const float* x) {\n"
                          "  y[threadIdx.x] = x[threadIdx.x] + 1;\n}\n"));
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], static_cast<float>(i) + 1.5f) << i;
}

}  // namespace
}  // namespace spanwise::cuda
