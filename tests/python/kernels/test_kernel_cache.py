# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The cache of compiled kernels, in memory and on disk."""

import os
import re
import subprocess
import sys
import textwrap
import threading

import pytest
from python.kernels.simple_kernels import device_kind

import spanwise as sw


class TestCache:
    """Each run() starts a new process, whose cache in memory is empty."""

    PROGRAM = textwrap.dedent(
        """
        import sys
        import spanwise as sw
        module = sw.SourceModule("__global__ void k(int *x) { x[0] = 42; }", device=sys.argv[1])
        x = sw.empty(1, "int32", device=sys.argv[1])
        module.get_function("k")(x, block=1)
        assert x.tolist() == [42]
        info = sw.kernel_cache.info()
        print(module.from_cache, info.hits, info.misses, info.entries, info.problem)
        """
    )

    def run(self, device, folder, **environment):
        """The words that PROGRAM prints, with `folder` as its cache folder."""
        process = subprocess.run(
            [sys.executable, "-c", self.PROGRAM, str(sw.device(device))],
            env={**os.environ, "SPANWISE_CACHE_DIR": str(folder), **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert process.returncode == 0, process.stderr
        assert process.stderr == "", process.stderr
        return process.stdout.split()

    def test_second_process_uses_the_disk_cache(self, device, tmp_path):
        assert self.run(device, tmp_path / "c") == ["False", "0", "1", "1"]
        assert self.run(device, tmp_path / "c") == ["True", "1", "0", "1"]

    def test_cache_hit_needs_no_compiler(self, device, tmp_path):
        self.run(device, tmp_path / "c")
        if device_kind(device) != "cpu":
            pytest.skip(
                "NVRTC is found where the driver's toolkit is; the C++ tests cover its absence"
            )
        assert (
            self.run(device, tmp_path / "c", PATH="/nonexistent", CXX="/nonexistent/c++")[0]
            == "True"
        )

    def test_broken_cache_files_are_replaced_without_a_warning(self, device, tmp_path):
        self.run(device, tmp_path / "c")
        for file in (tmp_path / "c" / "kernels").iterdir():
            file.write_bytes(b"broken" + file.read_bytes()[10:])
        assert self.run(device, tmp_path / "c")[0] == "False"
        assert self.run(device, tmp_path / "c")[0] == "True"

    def test_kernels_compile_without_a_usable_cache_folder(self, device, tmp_path):
        (tmp_path / "file").write_text("")
        for _ in range(2):
            output = self.run(device, tmp_path / "file")
            assert output[:4] == ["False", "0", "1", "0"] and len(output) > 4

    def test_processes_may_compile_the_same_source_concurrently(self, device, tmp_path):
        outputs = []
        threads = [
            threading.Thread(target=lambda: outputs.append(self.run(device, tmp_path / "c")))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(outputs) == 3
        assert self.run(device, tmp_path / "c")[0] == "True"

    def test_clear_empties_the_private_folder(self, device, tmp_path):
        with sw.config.change(cache_dir=str(tmp_path / "c")):
            sw.SourceModule(f"__global__ void k() {{}} // {os.getpid()} {tmp_path}", device=device)
            info = sw.kernel_cache.info()
            assert info.entries == 1 and info.bytes > 0 and info.problem == ""
            assert sw.kernel_cache.path == info.path == str(tmp_path / "c" / "kernels")
            assert os.stat(info.path).st_mode & 0o777 == 0o700
            sw.kernel_cache.clear()
            assert sw.kernel_cache.info().entries == 0

    @pytest.mark.parametrize("folder", ["/proc/spanwise", "/sys/spanwise"])
    def test_problem_names_a_folder_that_cannot_be_written(self, device, folder):
        with sw.config.change(cache_dir=folder):
            assert folder in sw.kernel_cache.info().problem
            text = f"__global__ void k() {{}} // {os.getpid()} {folder}"
            assert not sw.SourceModule(text, device=device).from_cache
            assert folder in sw.kernel_cache.info().problem

    def test_asking_for_problems_leaves_no_folder(self, tmp_path):
        with sw.config.change(cache_dir=str(tmp_path / "a" / "b")):
            assert sw.kernel_cache.info().problem == ""
        assert list(tmp_path.iterdir()) == []

    def test_home_folder_need_not_be_utf8(self, device, tmp_path):
        home = os.fsencode(tmp_path) + b"/\xff"
        os.mkdir(home)
        program = textwrap.dedent(
            """
            import os, sys
            import spanwise as sw
            sw.SourceModule("__global__ void k() {}", device=sys.argv[1])
            assert os.listdir(sw.kernel_cache.path), sw.kernel_cache.path
            assert sw.config.cache_dir + "/kernels" == sw.kernel_cache.info().path
            with sw.config.change(cache_dir=sw.config.cache_dir + "2"):
                assert os.fsencode(sw.kernel_cache.path).endswith(b"2/kernels")
            print(sw.kernel_cache.info())
            sys.argv[1:] = []
            from spanwise import doctor, settings
            doctor.main([]), settings.main([])
            """
        )
        environment = {**os.environb, b"HOME": home}
        for name in (b"XDG_CACHE_HOME", b"SPANWISE_CACHE_DIR"):
            environment.pop(name, None)
        process = subprocess.run(
            [sys.executable, "-c", program, str(device)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stderr
        assert "<kernel cache " in process.stdout and r"\xff/.cache/spanwise" in process.stdout

    def test_a_tilde_is_the_home_folder(self, monkeypatch, tmp_path):
        """Only shells replace it, not container files and Python."""
        monkeypatch.setenv("HOME", str(tmp_path))
        for folder in ("~", "~/a/b"):
            with sw.config.change(cache_dir=folder):
                assert sw.kernel_cache.path == f"{tmp_path}{folder[1:]}/kernels"

    def test_missing_compiler_error_names_a_package(self, device, tmp_path):
        if device_kind(device) != "cpu":
            pytest.skip("the toolkit cannot be hidden from a GPU process")
        program = 'import spanwise as sw; sw.SourceModule("__global__ void k() {}", device="cpu")'
        process = subprocess.run(
            [sys.executable, "-c", program],
            env={
                **os.environ,
                "SPANWISE_CACHE_DIR": str(tmp_path),
                "PATH": "/nonexistent",
                "CXX": "",
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert process.returncode != 0
        assert "DeviceError" in process.stderr
        assert "g++" in process.stderr and re.search(r"apt|package", process.stderr), process.stderr
