# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Operations that use files, processes, threads and mapped memory."""

from __future__ import annotations

import itertools
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import spanwise as sw
from faults.operations import Call

SYSTEM_OPERATIONS: dict[str, Callable[[], tuple[Call, Any]]] = {}
numbers = itertools.count()

#: A compiler that compiles a text once, and then copies what it has made: its runs take a millisecond.
#: Texts that differ in the comment of source() are the same.
COMPILER = r"""
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
namespace fs = std::filesystem;

int main(int argc, char** argv) {
  fs::path output, input;
  std::string kind = "object";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-E") kind = "text";
    if (std::string(argv[i - 1]) == "-o") output = word;
    if (word.size() > 4 && word.ends_with(".cpp")) input = word;
  }
  argv[0] = const_cast<char*>("c++");
  if (output.empty() || input.empty()) return execvp("c++", argv);
  std::ifstream file(input);
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t begin = text.find("// faults ");
  if (begin != text.npos)
    text.erase(begin, text.find_first_not_of("0123456789 ", begin + 10) - begin);
  const fs::path made = fs::path(getenv("SW_FAULTS_BINARIES")) /
                        (kind + std::to_string(std::hash<std::string>{}(text)));
  if (!fs::exists(made)) {
    if (fork() == 0) _exit(execvp("c++", argv));
    int status = 1;
    wait(&status);
    if (status != 0) return 1;
    fs::copy_file(output, made);
  }
  fs::copy_file(made, output, fs::copy_options::overwrite_existing);
}
"""


def use_quick_compiler(folder: Path) -> None:
    """Sets CXX, the kernel cache and the folder of temporary files of this process."""
    compiler, text = folder / "c++", folder / "compiler.cc"
    text.write_text(COMPILER)
    subprocess.run(
        ["c++", "-std=c++20", "-O1", "-static", text, "-o", compiler],
        env={**os.environ, "LD_PRELOAD": ""},
        check=True,
    )
    os.environ["CXX"] = str(compiler)
    (folder / "binaries").mkdir()
    os.environ["SW_FAULTS_BINARIES"] = str(folder / "binaries")
    sw.config.cache_dir = str(folder / "cache")
    (folder / "tmp").mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")


def operation(make: Callable[[], tuple[Call, Any]]) -> Callable[[], tuple[Call, Any]]:
    def prepare() -> tuple[Call, Any]:
        sw.kernel_cache.clear()  # which stores list, each file by a call
        return make()

    SYSTEM_OPERATIONS[make.__name__] = prepare
    return make


def answer_of(text: str) -> int:
    x = sw.zeros(1, "int32")
    sw.SourceModule(text).get_function("k")(x, block=1)
    return x.tolist()[0]


def source(number: int) -> str:
    return f"__global__ void k(int *x) {{ x[0] = 42; }} // faults {os.getpid()} {number}"


@operation
def compile_and_store() -> tuple[Call, Any]:
    return lambda: answer_of(source(next(numbers))), 42


@operation
def compile_without_cache() -> tuple[Call, Any]:
    def call() -> Any:
        with sw.config.change(cache_limit_mb=0):
            return answer_of(source(next(numbers)))

    return call, 42


@operation
def new_cache_folder() -> tuple[Call, Any]:
    def call() -> Any:
        with (
            tempfile.TemporaryDirectory() as folder,
            sw.config.change(cache_dir=f"{folder}/a/b"),
        ):
            return answer_of(source(next(numbers)))

    return call, 42


@operation
def load_from_cache() -> tuple[Call, Any]:
    """In a child of the process that has compiled it: its first call."""
    text = "__global__ void k(int *x) { x[0] = 42; } // kept"
    if os.fork() == 0:
        os._exit(answer_of(text) != 42)
    assert os.wait()[1] == 0
    return lambda: answer_of(text), 42


@operation
def cache_figures() -> tuple[Call, Any]:
    def call() -> Any:
        info = sw.kernel_cache.info()
        return info.path == sw.kernel_cache.path

    return call, True


@operation
def source_file_and_headers() -> tuple[Call, Any]:
    folder = Path(tempfile.mkdtemp())
    (folder / "a.h").write_text("#define ANSWER 42\n")

    def call() -> Any:
        file = folder / "k.cu"
        file.write_text(f'#include "a.h"\n{source(next(numbers))}')
        x = sw.zeros(1, "int32")
        sw.SourceModule(path=file, include_dirs=[folder]).get_function("k")(x, block=1)
        return x.tolist()[0]

    return call, 42


@operation
def barrier() -> tuple[Call, Any]:
    kernel = sw.SourceModule(
        "__global__ void k(int *x) { __shared__ int s[64]; s[threadIdx.x] = threadIdx.x;"
        " __syncthreads(); x[threadIdx.x] = s[63 - threadIdx.x]; } // " + str(os.getpid())
    ).get_function("k")

    def call() -> Any:
        x = sw.zeros(64, "int32")
        kernel(x, block=64)
        return x

    return call, np.arange(63, -1, -1)


@operation
def large_arrays() -> tuple[Call, Any]:
    def call() -> Any:
        return float((sw.ones(5_000_000, "float32") * 2).sum())

    return call, 1e7


@operation
def tools() -> tuple[Call, Any]:
    return lambda: len(sw._core._tools()) > 0, True
