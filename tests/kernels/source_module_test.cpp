// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "kernels/fake_device.hpp"
#include "spanwise/runtime/copy.hpp"

namespace spanwise::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class SourceModuleTest : public KernelsTest {
 protected:
  // Loads the source as a new process would, with an empty table of loaded modules.
  static SourceModule after_restart(const std::string& source, const ModuleOptions& options = {}) {
    kernels::forget_loaded_modules();
    return SourceModule(source, options);
  }
  const std::string source_ = "__global__ void k(float *x) {}";
};

TEST_F(SourceModuleTest, FindsKernelsByPlainQualifiedAndMangledName) {
  const SourceModule module(
      "namespace image { __global__ void blur(float *x) {} }\n"
      "template <class T> __global__ void scale(T *x) {}\n",
      {.names = {"scale<unsigned int>"}});
  EXPECT_THAT(module.function_names(), UnorderedElementsAre("blur", "scale<unsigned int>"));
  for (const char* name : {"blur", "image::blur", "_Z_blur"})
    EXPECT_EQ(module.get_function(name).name(), "blur");
  for (const char* name : {"scale<unsigned int>", "scale< unsigned int >", "scale <unsigned  int>"})
    EXPECT_EQ(module.get_function(name).name(), "scale<unsigned int>");
  EXPECT_EQ(module.get_function("scale<unsigned int>").parameters()[0].name, "x");
  EXPECT_EQ(module.device(), gpu_);
}

TEST_F(SourceModuleTest, AKernelWithSeveralNamesIsListedOnce) {
  backend_->on_compile = [&](const auto&) {
    backend_->more_symbols = {{"image::blur", "_Z_blur"}, {"blur(float*, int)", "_Z_blur"}};
  };
  const SourceModule module("namespace image { __global__ void blur(float *x, int n) {} }");
  EXPECT_THAT(module.function_names(), UnorderedElementsAre("blur"));
  const Kernel overload = module.get_function("blur(float*, int)");
  EXPECT_EQ(overload.parameters()[1].name, "n");
}

TEST_F(SourceModuleTest, ErrorForAnUnknownNameListsTheKernels) {
  const SourceModule module(
      "__global__ void blur(float *x) {}\n__global__ void sharpen(float *x) {}\n"
      "template <class T> __global__ void scale(T *x) {}\n");
  EXPECT_THAT(message_of<ArgumentError>([&] { module.get_function("blurr"); }),
              AllOf(HasSubstr("'blurr'"), HasSubstr("'blur', 'sharpen'"), HasSubstr("Remedy")));
  EXPECT_THAT(message_of<ArgumentError>([&] { module.get_function("scale"); }),
              AllOf(HasSubstr("is a template"), HasSubstr("names=[\"scale<float>\"]")));
  EXPECT_THAT(message_of<ArgumentError>([&] { SourceModule("int x;").get_function("k"); }),
              HasSubstr("none"));
}

TEST_F(SourceModuleTest, GlobalVariablesAreBytesThatKeepTheModuleLoaded) {
  Array table;
  {
    const SourceModule module("namespace image { __constant__ float table[6]; }\n" + source_);
    table = module.get_global("table");
    EXPECT_EQ(module.get_global("image::table").data(), table.data());
    EXPECT_THAT(message_of<ArgumentError>([&] { module.get_global("tabel"); }),
                AllOf(HasSubstr("'tabel'"), HasSubstr("__constant__")));
  }
  kernels::forget_loaded_modules();
  EXPECT_EQ(log_->unloads, 0);
  EXPECT_EQ(table.dtype(), uint8);
  EXPECT_EQ(table.shape(), (Shape{24}));
  EXPECT_EQ(table.device(), gpu_);
  EXPECT_FALSE(table.readonly());
  EXPECT_EQ(table.reinterpret(float32).size(), 6);
  table = Array();
  EXPECT_EQ(log_->unloads, 1);
}

TEST_F(SourceModuleTest, AKernelKeepsItsModuleLoaded) {
  {
    const Kernel function = SourceModule(source_).get_function("k");
    kernels::forget_loaded_modules();
    EXPECT_EQ(log_->unloads, 0);
    function({}, {nullptr});
  }
  EXPECT_EQ(log_->unloads, 1);
  EXPECT_EQ(log_->launches.size(), 1u);
}

TEST_F(SourceModuleTest, TheSameTextIsLoadedOnce) {
  const SourceModule first(source_), second(source_);
  EXPECT_EQ(log_->compilations, 1);
  EXPECT_EQ(log_->loads, 1);
  SourceModule(source_, {.options = {"-DN=2"}});
  SourceModule(source_, {.device = Device(DeviceKind::cuda, 1)});
  EXPECT_EQ(log_->loads, 3);
}

TEST_F(SourceModuleTest, IsReadFromDiskByAnotherProcess) {
  const auto before = kernel_cache::info();
  EXPECT_FALSE(SourceModule(source_).from_cache());
  const SourceModule again = after_restart(source_);
  EXPECT_TRUE(again.from_cache());
  again.get_function("k")({}, {nullptr});
  EXPECT_EQ(log_->compilations, 1);
  const auto after = kernel_cache::info();
  EXPECT_EQ(after.hits - before.hits, 1);
  EXPECT_EQ(after.misses - before.misses, 1);
  EXPECT_EQ(after.entries, 1);
  EXPECT_GT(after.bytes, 0);
  EXPECT_EQ(after.path, (folder_.path() / "cache" / "kernels").string());
  EXPECT_EQ(after.problem, "");
  kernel_cache::clear();
  EXPECT_EQ(kernel_cache::info().entries, 0);
  EXPECT_FALSE(after_restart(source_).from_cache());
}

TEST_F(SourceModuleTest, KeyCoversEveryInputOfTheCompilation) {
  const auto compiles = [&](const std::string& source, const ModuleOptions& options = {}) {
    const int before = log_->compilations;
    after_restart(source, options);
    return log_->compilations != before;
  };
  EXPECT_TRUE(compiles(source_));
  EXPECT_FALSE(compiles(source_));
  EXPECT_TRUE(compiles(source_ + " "));
  EXPECT_TRUE(compiles(source_, {.options = {"-DA", "-DB"}}));
  EXPECT_TRUE(compiles(source_, {.options = {"-DA-DB"}}));
  EXPECT_TRUE(compiles(source_, {.names = {"k"}}));
  EXPECT_TRUE(compiles(source_, {.include_dirs = {"k"}}));
  EXPECT_FALSE(compiles(source_, {.device = Device(DeviceKind::cuda, 1)}))
      << "the same kind of device";
  backend_->compiler = "fakecc 2.0";
  EXPECT_TRUE(compiles(source_));
}

TEST_F(SourceModuleTest, AChangedHeaderIsCompiledInTheSameProcess) {
  folder_.write("a.cuh", "#include \"b.cuh\"\n");
  folder_.write("b.cuh", "#define N 1\n");
  const std::string source = "#include \"a.cuh\"\n" + source_;
  const ModuleOptions options{.include_dirs = {folder_.path().string()}};
  const SourceModule first(source, options), same(source, options);
  EXPECT_EQ(log_->compilations, 1);
  folder_.write("b.cuh", "#define N 10\n");
  const SourceModule changed(source, options);
  EXPECT_EQ(log_->compilations, 2);
  folder_.write("b.cuh", "#define N 1\n");
  EXPECT_TRUE(SourceModule(source, options).from_cache())
      << "the kernel of the first version is still on disk";
  EXPECT_EQ(log_->compilations, 2);
}

TEST_F(SourceModuleTest, AnIncludeThatCannotBeFollowedIsNeverCached) {
  const std::string source = "#include HEADER(x)\n" + source_;
  SourceModule(source, {});
  SourceModule(source, {});
  EXPECT_EQ(log_->compilations, 2);
  EXPECT_EQ(kernel_cache::info().entries, 0);
}

TEST_F(SourceModuleTest, KeepCompilesEachTime) {
  SourceModule first(source_, {.keep = true}), second(source_, {.keep = true});
  EXPECT_EQ(log_->compilations, 2);
}

TEST_F(SourceModuleTest, AHitNeedsNoCompiler) {
  SourceModule module(source_);
  backend_->compiler = "";
  EXPECT_TRUE(after_restart(source_).from_cache());
  EXPECT_THAT(message_of<DeviceError>([&] { SourceModule("__global__ void other() {}"); }),
              HasSubstr("fakecc"));
}

TEST_F(SourceModuleTest, RecompilesABrokenCacheEntryWithoutAnError) {
  SourceModule module(source_);
  for (const auto& file : std::filesystem::directory_iterator(folder_.path() / "cache" / "kernels"))
    std::ofstream(file.path(), std::ios::binary) << "garbage";
  EXPECT_FALSE(after_restart(source_).from_cache());
  EXPECT_TRUE(after_restart(source_).from_cache()) << "the broken entry was not replaced";
}

TEST_F(SourceModuleTest, RecompilesAnEntryThatDoesNotLoad) {
  const std::string source = "// unloadable\n" + source_;
  EXPECT_THROW(SourceModule(source, {}), DeviceError);  // compiled and stored, but not loaded
  EXPECT_FALSE(after_restart(source).from_cache());
  EXPECT_TRUE(after_restart(source).from_cache());
}

TEST_F(SourceModuleTest, ADeviceThatFailsIsTheErrorAndCostsNoEntry) {
  SourceModule module(source_);
  const auto load_error = [&] { return message_of<DeviceError>([&] { after_restart(source_); }); };
  backend_->has_failed = true;
  EXPECT_THAT(load_error(), HasSubstr("context is lost"));
  backend_->compiler = "";
  EXPECT_THAT(load_error(), HasSubstr("context is lost"));
  backend_->has_failed = false;
  EXPECT_TRUE(after_restart(source_).from_cache());
}

TEST_F(SourceModuleTest, CompilesWithoutAUsableCache) {
  folder_.write("file", "");
  config::set("cache_dir", (folder_.path() / "file").string());
  SourceModule(source_).get_function("k")({}, {nullptr});
  after_restart(source_).get_function("k")({}, {nullptr});
  EXPECT_EQ(log_->compilations, 2);
  EXPECT_NE(kernel_cache::info().problem, "");
  EXPECT_THROW(config::set("cache_limit_mb", "-1"), ArgumentError);
}

TEST_F(SourceModuleTest, CompilesOnceForManyThreads) {
  constexpr int threads = 8;
  backend_->on_compile = [](const auto&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  std::latch start(threads);
  std::atomic<int> modules{0};
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i)
      workers.emplace_back([&] {
        start.arrive_and_wait();
        modules += SourceModule(source_).get_function("k").name() == "k";
      });
  }
  EXPECT_EQ(modules, threads);
  EXPECT_EQ(log_->compilations, 1);
  EXPECT_EQ(log_->loads, 1);
}

TEST_F(SourceModuleTest, ThreadsThatWaitGetTheCompilersError) {
  backend_->on_compile = [](const auto&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    throw CompileError("does not compile", "log", "source");
  };
  std::atomic<int> errors{0};
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i)
      workers.emplace_back([&] {
        try {
          SourceModule module(source_);
        } catch (const CompileError& error) {
          errors += error.log() == "log";
        }
      });
  }
  EXPECT_EQ(errors, 4);
  backend_->on_compile = nullptr;
  EXPECT_EQ(SourceModule(source_).get_function("k").name(), "k")
      << "a failure must not be remembered";
}

TEST_F(SourceModuleTest, ProvidesTheLibrarysHeadersWhenIncluded) {
  std::vector<std::string> folders;
  backend_->on_compile = [&](const runtime::CompileRequest& request) {
    folders = request.include_dirs;
    if (folders.empty()) return;
    std::ifstream header(folders.back() + "/spanwise/view.cuh");
    const std::string text{std::istreambuf_iterator<char>(header), {}};
    EXPECT_THAT(text, HasSubstr("struct View"));
  };
  SourceModule(source_, {});
  EXPECT_TRUE(folders.empty());
  SourceModule("#include <spanwise/view.cuh>\n" + source_, {});
  ASSERT_EQ(folders.size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(folders[0])) << "the temporary folder was left behind";
  EXPECT_TRUE(after_restart("#include <spanwise/view.cuh>\n" + source_).from_cache());
}

}  // namespace
}  // namespace spanwise::test
