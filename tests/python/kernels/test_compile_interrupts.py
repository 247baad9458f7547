# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and other signals while the CPU's compiler hangs, each in a new process; and what a terminal shows
of a long compile and a long copy."""

import os
import pty
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
import time

import pytest

# A compiler that starts a child and hangs the first time, and compiles the second time. The file with
# the child's id is renamed into place, so that it is complete once it exists.
COMPILER = """\
#!/bin/sh
if mkdir "$COMPILER_FOLDER/first" 2> /dev/null
then
  sleep 10000 &
  echo $! > "$COMPILER_FOLDER/new"
  mv "$COMPILER_FOLDER/new" "$COMPILER_FOLDER/child"
  wait
fi
exec "$@"
"""


@pytest.fixture
def start(tmp_path):
    """start(program): starts Python text whose compiler hangs; returns the process and the id of the
    compiler's child."""
    compiler = tmp_path / "hangs"
    compiler.write_text(COMPILER)
    compiler.chmod(stat.S_IRWXU)
    (tmp_path / "tmp").mkdir()
    child = tmp_path / "child"
    processes = []

    def run(program):
        environment = {
            **os.environ,
            "CXX": f"{compiler} {shutil.which('g++') or 'clang++'}",
            "COMPILER_FOLDER": str(tmp_path),
            "SPANWISE_CACHE_DIR": str(tmp_path / "cache"),
            "TMPDIR": str(tmp_path / "tmp"),
        }
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        while not child.exists():
            assert process.poll() is None, process.communicate()
        return process, int(child.read_text())

    yield run
    for process in processes:
        process.kill()
        process.communicate()
    if child.exists() and is_running(int(child.read_text())):  # after a failure
        os.kill(int(child.read_text()), signal.SIGKILL)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as status:
            return status.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid):
    while is_running(pid):
        pass


SOURCE = '"__global__ void k(int *x) { x[0] = 42; }"'


def test_ctrl_c_ends_a_compile_and_its_child_processes(start, tmp_path):
    process, child = start(f"""
        import spanwise as sw
        try:
            sw.SourceModule({SOURCE}, device="cpu")
        except KeyboardInterrupt:
            print("interrupted")
        module = sw.SourceModule({SOURCE}, device="cpu")
        print(module.function_names)
    """)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert (output, errors) == ("interrupted\n['k']\n", "")
    wait_until_gone(child)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_exception_of_a_signal_handler_aborts_a_compile(start):
    process, child = start(f"""
        import signal
        import spanwise as sw

        def stop(number, frame):
            raise TimeoutError("by the handler")

        signal.signal(signal.SIGUSR1, stop)
        try:
            sw.SourceModule({SOURCE}, device="cpu")
        except TimeoutError as error:
            print(error)
    """)
    process.send_signal(signal.SIGUSR1)
    output, errors = process.communicate(timeout=120)
    assert (output, errors) == ("by the handler\n", "")
    wait_until_gone(child)


def test_signal_handler_without_exception_does_not_abort_a_compile(start):
    process, child = start(f"""
        import os, signal
        import spanwise as sw

        def go_on(number, frame):
            print("handled")
            os.kill(int(open(os.environ["COMPILER_FOLDER"] + "/child").read()), signal.SIGKILL)

        signal.signal(signal.SIGUSR1, go_on)
        print(sw.SourceModule({SOURCE}, device="cpu").function_names)
    """)
    process.send_signal(signal.SIGUSR1)
    output, errors = process.communicate(timeout=120)
    assert (output, errors) == ("handled\n['k']\n", "")
    assert not is_running(child)


def test_a_thread_that_waits_for_an_interrupted_compile_compiles_itself(start):
    process, child = start(f"""
        import os, threading
        import spanwise as sw

        def compile():
            while not os.path.exists(os.environ["COMPILER_FOLDER"] + "/child"):
                pass  # until the main thread compiles
            done.append(sw.SourceModule({SOURCE}, device="cpu").function_names)

        done = []
        thread = threading.Thread(target=compile)
        thread.start()
        try:
            sw.SourceModule({SOURCE}, device="cpu")
        except KeyboardInterrupt:
            print("interrupted")
        thread.join()
        print(done)
    """)
    time.sleep(0.5)  # for the thread to begin waiting; the expected output does not depend on it
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert (output, errors) == ("interrupted\n[['k']]\n", "")
    wait_until_gone(child)


def test_ctrl_c_ends_the_wait_for_another_threads_compile(start):
    process, child = start(f"""
        import os, threading
        import spanwise as sw

        def compile():
            print(sw.SourceModule({SOURCE}, device="cpu").function_names)

        thread = threading.Thread(target=compile)
        thread.start()
        marker = os.environ["COMPILER_FOLDER"] + "/child"
        while not os.path.exists(marker):
            pass
        try:
            print("waiting", flush=True)
            compile()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            os.kill(int(open(marker).read()), 9)
        thread.join()
    """)
    # The program catches KeyboardInterrupt once it has printed this line.
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert (output, errors) == ("interrupted\n['k']\n", "")
    assert not is_running(child)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_compiles_of_more_than_two_seconds(tmp_path, terminal):
    compiler = tmp_path / "slow"
    compiler.write_text('#!/bin/sh\ncase "$*" in *-shared*) sleep 3 ;; esac\nexec "$@"\n')
    compiler.chmod(stat.S_IRWXU)
    controller, screen = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", f"import spanwise as sw; sw.SourceModule({SOURCE}, device='cpu')"],
        env={
            **os.environ,
            "CXX": f"{compiler} {shutil.which('g++') or 'clang++'}",
            "SPANWISE_CACHE_DIR": str(tmp_path / "cache"),
        },
        stdout=subprocess.PIPE,
        stderr=screen if terminal else subprocess.PIPE,
    )
    output, errors = process.communicate(timeout=120)
    os.close(screen)
    if terminal:
        errors = os.read(controller, 10_000)
    os.close(controller)
    assert process.returncode == 0 and output == b""
    if terminal:
        assert errors.startswith(b"\rspanwise: compiling kernel.cu for cpu: 2 s"), errors
        assert errors.endswith(b"\r\x1b[K"), errors
    else:
        assert errors == b""


# Its target has 2**38 bytes, which are at few addresses.
LONG_COPY = """
import numpy as np, spanwise as sw
target = np.lib.stride_tricks.as_strided(np.zeros(2**20, np.uint8), (2**19, 2**19), (1, 1))
sw.copyto(sw.asarray(target), sw.arange(2**19, dtype="uint8", device="cpu"))
"""


def test_a_terminal_shows_a_long_copy():
    controller, screen = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", LONG_COPY], stderr=screen) as process:
        os.close(screen)
        shown = b""
        while not shown.endswith(b" s"):
            shown += os.read(controller, 1000)
        process.kill()
    os.close(controller)
    assert shown.startswith(b"\rspanwise: copying 262144 MiB from cpu to cpu: 2 s"), shown
