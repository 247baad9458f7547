# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Owners of shared memory and its release: threads, forks, interpreter exit."""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import spanwise as sw


class Subclass(np.ndarray):
    """An ndarray of another type, to which the same rules apply."""


def test_owner_is_released_with_its_last_view():
    foreign = np.arange(24.0).reshape(4, 6).view(Subclass)
    owner = weakref.ref(foreign)
    views = [sw.asarray(foreign)]
    views += [views[0][::2], views[0].T, views[0].reshape(24)]
    del foreign
    while views:
        gc.collect()
        assert owner() is not None
        views.pop()
    gc.collect()
    assert owner() is None


def test_finalizer_of_an_owner_may_import_and_drop_arrays():
    # The finalizer runs while the array that holds the owner is being destroyed.
    values = []

    def import_and_drop():
        arrays = [sw.asarray(np.full(3, i)) for i in range(40)]
        values.append([array[0].item() for array in arrays])

    for rank in (1, 7, 2):
        foreign = np.ones((1,) * rank)
        weakref.finalize(foreign, import_and_drop)
        array = sw.asarray(foreign)
        del foreign
        assert not values
        del array
        assert values.pop() == list(range(40))


def test_many_imports_hold_their_own_owners():
    for _ in range(3):
        foreign = [np.full((2,) * (i % 8), i, "float32") for i in range(100)]
        arrays = [sw.asarray(values) for values in foreign]
        owners = [weakref.ref(values) for values in foreign]
        del foreign
        for i, array in enumerate(arrays):
            assert array.shape == (2,) * (i % 8)
            assert set(array.reshape(-1).tolist()) == {i}
        del arrays[::2], array
        assert [owner() is None for owner in owners[:4]] == [True, False, True, False]
        assert [int(array.reshape(-1)[0]) for array in arrays] == list(range(1, 100, 2))
        capsules = [array.__dlpack__() for array in arrays]  # which hold the memory as well
        del arrays
        assert owners[1]() is not None
        del capsules
        gc.collect()
        assert all(owner() is None for owner in owners)


def test_threads_share_and_drop_owners():
    def work():
        for _ in range(200):
            foreign = np.arange(8.0).view(Subclass)
            owners.append(weakref.ref(foreign))
            array = sw.asarray(foreign)
            assert sw.from_dlpack(array)[3].item() == 3.0

    owners = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert all(owner() is None for owner in owners)


def test_new_type_at_the_address_of_a_freed_one_is_examined():
    """Imports remember types by address, and a new type may get the address of a freed one."""
    for i in range(200):
        as_dlpack = type(
            "Foreign",
            (),
            {
                "__dlpack__": lambda self, **kwargs: np.arange(3.0).__dlpack__(**kwargs),
                "__dlpack_device__": lambda self: (1, 0),
            },
        )
        assert sw.asarray(as_dlpack()).tolist() == [0.0, 1.0, 2.0]
        del as_dlpack
        gc.collect()
        as_method = type(
            "Foreign",
            (),
            {
                "__array__": lambda self, dtype=None, copy=None, i=i: np.full(2, i),
            },
        )
        assert sw.asarray(as_method()).tolist() == [i, i]
        del as_method
        gc.collect()


def run(program):
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([p for p in sys.path if p])
    result = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "ignore", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_arrays_may_outlive_the_interpreter_on_both_sides():
    out = run("""
        import builtins, ctypes, sys
        import numpy as np
        import spanwise as sw

        # Owned by a module that is cleared last, by a cycle, and by an unconsumed capsule.
        builtins.ours = sw.asarray(np.arange(10.0))
        builtins.theirs = np.from_dlpack(sw.zeros(10, device="cpu"))
        builtins.capsule = sw.zeros(10, device="cpu").__dlpack__()
        cycle = [sw.asarray(np.arange(3.0))]
        cycle.append(cycle)
        sys.modules["_keeps"] = builtins.ours
        # One that is never dropped at all.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(sw.asarray(np.arange(4.0))))
        print("done")
    """)
    assert out.strip() == "done"


def test_a_tensor_may_be_deleted_after_the_interpreter_has_ended(tmp_path):
    """A C library that deletes its tensors when the process ends, long after Python."""
    compiler = os.environ.get("CC", "cc")
    source = tmp_path / "late.c"
    source.write_text("""
        #include <stdio.h>
        #include <stdlib.h>
        struct head { unsigned major, minor; void* manager; void (*deleter)(void*); };
        static struct head* kept[4];
        static int count = 0;
        static void delete_all(void) {
          for (int i = 0; i < count; ++i) kept[i]->deleter(kept[i]);
          puts("deleted");
          fflush(stdout);
        }
        void start(void) { atexit(delete_all); }
        void keep(struct head* tensor) { kept[count++] = tensor; }
    """)
    library = tmp_path / "late.so"
    built = subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=False
    )
    if built.returncode != 0:
        pytest.skip("no C compiler")
    out = run(f"""
        import ctypes
        import numpy as np
        import spanwise as sw
        from support import dlpack

        late = ctypes.CDLL({str(library)!r})
        late.start()
        late.keep.argtypes = (ctypes.c_void_p,)
        for array in (sw.asarray(np.arange(5.0)), sw.zeros(5, device="cpu")):
            late.keep(ctypes.addressof(dlpack.consume(array.__dlpack__(max_version=(1, 0)))))
        del array
    """)
    assert out.split() == ["deleted"]


def test_thread_without_the_gil_may_drop_an_owner():
    out = run("""
        import ctypes, gc, threading, weakref
        import numpy as np
        import spanwise as sw
        from support import dlpack

        class Own(np.ndarray):
            pass

        foreign = np.arange(5.0).view(Own)
        owner = weakref.ref(foreign)
        ours = sw.asarray(foreign)
        managed = dlpack.consume(ours.__dlpack__(max_version=(1, 0)))
        del foreign, ours
        gc.collect()
        assert owner() is not None
        address = ctypes.cast(managed.deleter, ctypes.c_void_p).value
        delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)  # releases the GIL for the call
        thread = threading.Thread(target=delete, args=(ctypes.addressof(managed),))
        thread.start()
        thread.join()
        for _ in range(1000):  # the main thread drops it between two bytecodes
            if owner() is None:
                break
        gc.collect()
        print(owner())
    """)
    assert out.strip() == "None"


def test_import_without_the_gil_is_refused():
    out = run("""
        import sys

        sys._is_gil_enabled = lambda: False  # as with PYTHON_GIL=0 on a free-threaded build
        try:
            import spanwise
        except ImportError as error:
            print(error)
    """)
    assert "PYTHON_GIL=0" in out


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child_may_use_and_drop_its_parents_imports():
    out = run("""
        import os
        import numpy as np
        import spanwise as sw

        values = np.arange(5.0)
        ours = sw.asarray(values)
        child = os.fork()
        if child == 0:
            again = sw.asarray(np.from_dlpack(ours))
            total = float(np.asarray(again).sum())
            del ours, again
            os._exit(0 if total == 10.0 else 1)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), ours.tolist())
    """)
    assert out.strip() == "0 [0.0, 1.0, 2.0, 3.0, 4.0]"
