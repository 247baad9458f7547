// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/module_cache.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/message_of.hpp"

/// Two fake GPUs in host memory, for tests of the kernels layer alone: compiling copies the text,
/// and a launch records its arguments.
namespace spanwise::test {

struct RecordedLaunch {
  std::string symbol;
  Dim3 grid, block;
  std::int64_t shared_bytes = 0;
  const runtime::StreamState* stream = nullptr;
  std::vector<std::string> arguments;  ///< the bytes of each
  bool is_checked = false;             ///< launched with a LaunchCheck

  template <class T>
  T value(std::size_t i) const {
    EXPECT_EQ(arguments.at(i).size(), sizeof(T));
    T out;
    std::memcpy(&out, arguments.at(i).data(), sizeof out);
    return out;
  }
};

class FakeEvent final : public runtime::EventState {
 public:
  explicit FakeEvent(Device device) : EventState(device) {}
  std::uintptr_t handle() const noexcept override { return 1; }
  void synchronize() override {}
  bool query() override { return true; }
  double milliseconds_since(EventState&) override { return 0; }
};

class CountingStream final : public runtime::StreamState {
 public:
  explicit CountingStream(Device device) : StreamState(device) {}
  std::uintptr_t handle() const noexcept override { return reinterpret_cast<std::uintptr_t>(this); }
  void synchronize() override {}
  bool query() override { return true; }
  Ref<runtime::EventState> record(bool) override { return make_ref<FakeEvent>(device()); }
  void wait(runtime::EventState&) override { ++waits; }
  int waits = 0;
};

/// What a FakeBackend counts and records. Kernels share it, as they may outlive the back end.
struct FakeLog {
  std::vector<RecordedLaunch> launches;
  std::atomic<int> compilations{0}, loads{0}, unloads{0};
};

class FakeKernel final : public runtime::LoadedKernel {
 public:
  FakeKernel(std::shared_ptr<FakeLog> log, std::string symbol,
             std::vector<ParameterInfo> parameter_info)
      : log_(std::move(log)),
        symbol_(std::move(symbol)),
        parameter_info_(std::move(parameter_info)) {}
  std::vector<ParameterInfo> parameter_info() const override { return parameter_info_; }
  KernelAttributes attributes() const override {
    return {.registers = 17, .architecture = "sm_00"};
  }
  void launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
              runtime::StreamState& stream, void* const* arguments) override {
    RecordedLaunch launch{symbol_, grid, block, shared_bytes, &stream, {}, false};
    for (std::size_t i = 0; i < parameter_info_.size(); ++i)
      launch.arguments.emplace_back(static_cast<const char*>(arguments[i]),
                                    static_cast<std::size_t>(parameter_info_[i].size));
    log_->launches.push_back(std::move(launch));
  }
  void launch_with(const runtime::LaunchAttributes& attributes, const Dim3& grid, const Dim3& block,
                   std::int64_t shared_bytes, runtime::StreamState& stream,
                   void* const* arguments) override {
    launch(grid, block, shared_bytes, stream, arguments);
    log_->launches.back().is_checked = attributes.check != nullptr;
  }

 private:
  std::shared_ptr<FakeLog> log_;
  std::string symbol_;
  std::vector<ParameterInfo> parameter_info_;
};

/// The size in bytes that the fake compiler gives a parameter: that of a pointer, of a known dtype
/// or of View<T, N>; other types have 4 or 8 bytes if their name ends with this digit, else 12.
inline std::int64_t size_of(const parse::ParameterDeclaration& parameter) {
  if (parameter.is_pointer) return 8;
  if (parameter.dtype) return parameter.dtype->itemsize();
  const std::size_t comma = parameter.type.rfind(',');
  if (parameter.type.find("View<") != std::string::npos && comma != std::string::npos)
    return 8 + 16 * std::stoi(parameter.type.substr(comma + 1));
  if (parameter.type.ends_with('4')) return 4;
  return parameter.type.ends_with('8') ? 8 : 12;
}

class FakeModule final : public runtime::LoadedModule {
 public:
  FakeModule(std::shared_ptr<FakeLog> log, const std::string& image)
      : log_(std::move(log)), source_(parse::scan_kernels(image)) {}
  ~FakeModule() override { ++log_->unloads; }

  Ref<runtime::LoadedKernel> kernel(const std::string& symbol) override {
    for (const parse::SourceKernel& kernel : source_.kernels) {
      if (symbol.find(kernel.name) == std::string::npos) continue;
      std::vector<runtime::LoadedKernel::ParameterInfo> parameter_info;
      std::int64_t offset = 0;
      for (const parse::ParameterDeclaration& parameter : kernel.parameters) {
        parameter_info.push_back({offset, size_of(parameter)});
        offset += (parameter_info.back().size + 7) / 8 * 8;
      }
      return make_ref<FakeKernel>(log_, symbol, std::move(parameter_info));
    }
    fail<DeviceError>("fake device: no symbol ", symbol);
  }
  Global global(const std::string& symbol) override {
    if (symbol == "table" || symbol == "_ZN5image5tableE") return {table_, sizeof table_};
    return {};
  }

 private:
  std::shared_ptr<FakeLog> log_;
  parse::KernelSource source_;
  unsigned char table_[24] = {};
};

class FakeBackend final : public runtime::Backend {
 public:
  std::shared_ptr<FakeLog> log = std::make_shared<FakeLog>();
  std::string compiler = "fakecc 1.0";  ///< with its version; empty if there is none
  std::function<void(const runtime::CompileRequest&)> on_compile;
  std::map<std::string, std::string> more_symbols;  ///< further symbols of the compiled image
  bool has_failed = false;                          ///< loads nothing, as a lost context

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  int device_count() noexcept override { return 2; }
  std::string unavailable_reason() override { return ""; }
  DeviceProperties properties(int) override { return {}; }
  void* allocate(int, std::size_t bytes, runtime::StreamState&) override {
    return std::aligned_alloc(256, (bytes + 255) / 256 * 256 + 256);
  }
  void deallocate(int, void* data, std::size_t, runtime::StreamState&) noexcept override {
    std::free(data);
  }
  runtime::MemoryInfo memory(int) override { return {}; }
  Ref<runtime::StreamState> create_stream(int ordinal) override {
    return make_ref<CountingStream>(Device(DeviceKind::cuda, ordinal));
  }
  Ref<runtime::StreamState> foreign_stream(int ordinal, std::uintptr_t) override {
    return create_stream(ordinal);
  }
  Ref<runtime::StreamState> default_stream(int ordinal) override {
    return defaults_[static_cast<std::size_t>(ordinal)];
  }
  void synchronize(int) override {}
  static constexpr runtime::ElementLoops loops{
      [](const Array& source, const Array& target, runtime::StreamState&) {
        std::memcpy(target.data(), source.data(), static_cast<std::size_t>(source.nbytes()));
      },
      [](const Array&, const Scalar&, runtime::StreamState&) {}};
  void upload(const void* host, void* device, std::size_t bytes, runtime::StreamState&) override {
    std::memcpy(device, host, bytes);
  }
  void download(const void* device, void* host, std::size_t bytes, runtime::StreamState&) override {
    std::memcpy(host, device, bytes);
  }
  void copy_peer(const void* source, int, void* target, int, std::size_t bytes,
                 runtime::StreamState&) override {
    std::memcpy(target, source, bytes);
  }

  std::string compiler_fingerprint(int, const runtime::CompileRequest&) override {
    return compiler + "\nsm_00";
  }
  runtime::KernelBinary compile(int, const runtime::CompileRequest& request) override {
    if (compiler.empty()) fail<DeviceError>("fake device: no compiler; install the package fakecc");
    ++log->compilations;
    if (on_compile) on_compile(request);
    runtime::KernelBinary binary{.image = request.source->text, .symbols = {}};
    for (const parse::SourceKernel& kernel : request.source->kernels)
      if (!kernel.is_template) binary.symbols[kernel.name] = "_Z_" + kernel.name;
    binary.symbols.insert(more_symbols.begin(), more_symbols.end());
    for (const std::string& name : request.names) binary.symbols[name] = "_Z_" + name;
    return binary;
  }
  Ref<runtime::LoadedModule> load(int, const runtime::KernelBinary& binary) override {
    if (has_failed) fail<DeviceError>("fake device: the context is lost");
    // Such an image loads only after it was compiled again.
    if (binary.image.find("unloadable") != std::string::npos && log->compilations <= 1)
      fail<DeviceError>("fake device: cannot load an image");
    ++log->loads;
    return make_ref<FakeModule>(log, binary.image);
  }

 private:
  std::vector<Ref<runtime::StreamState>> defaults_{create_stream(0), create_stream(1)};
};

/// A folder that is removed after its test.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "spanwise-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& contents) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << contents;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// Replaces the GPUs and the disk cache by fake GPUs and an empty cache.
class KernelsTest : public ::testing::Test {
 protected:
  KernelsTest() {
    auto fake = std::make_unique<FakeBackend>();
    backend_ = fake.get();
    log_ = fake->log;
    previous_ = runtime::exchange_backend(DeviceKind::cuda, std::move(fake));
    previous_loops_ = runtime::register_element_loops(DeviceKind::cuda, &FakeBackend::loops);
    for (const char* name : {"cache_dir", "cache_limit_mb", "device"})
      saved_.emplace_back(name, config::get(name));
    config::set("cache_dir", (folder_.path() / "cache").string());
    config::set("cache_limit_mb", "64");
    config::set("device", "cuda:0");
    kernels::forget_loaded_modules();
  }
  ~KernelsTest() override {
    kernels::forget_loaded_modules();
    for (const auto& [name, value] : saved_) config::set(name, value);
    runtime::exchange_backend(DeviceKind::cuda, std::move(previous_));
    runtime::register_element_loops(DeviceKind::cuda, previous_loops_);
  }

  const RecordedLaunch& last_launch() const { return log_->launches.back(); }

  TestFolder folder_;
  FakeBackend* backend_;
  std::shared_ptr<FakeLog> log_;
  const Device gpu_{DeviceKind::cuda, 0};

 private:
  std::unique_ptr<runtime::Backend> previous_;
  const runtime::ElementLoops* previous_loops_;
  std::vector<std::pair<std::string, std::string>> saved_;
};

}  // namespace spanwise::test
