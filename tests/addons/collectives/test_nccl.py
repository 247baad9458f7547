# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine "nccl": 1, 2 and 4 ranks, each on a GPU of its own, where there are as many."""

import numpy as np
import pytest
from addons.collectives.launch import run_env

import spanwise as sw
from spanwise import collectives as C  # noqa: N812
from spanwise.collectives import _native


def why_no_nccl(ranks):
    """Why `ranks` ranks of NCCL, one on each GPU, cannot run; "" or None where they can."""
    gpus = sum(device.kind == "cuda" for device in sw.devices())
    if gpus < ranks:
        return f"needs {ranks} GPU{'s' * (ranks > 1)}"
    return _native.why_no_engine("nccl")


@pytest.fixture(params=[1, 2, 4], ids=lambda count: f"{count} ranks")
def ranks(request):
    if reason := why_no_nccl(request.param):
        pytest.skip(reason)
    return request.param


@pytest.fixture
def comm():
    if reason := why_no_nccl(1):
        pytest.skip(reason)
    with C.init("nccl", device="cuda:0", timeout=60) as communicator:
        yield communicator


def test_all_operations_dtypes_and_layouts_equal_numpy(tmp_path, ranks):
    results, output = run_env("all_operations.py", tmp_path, "nccl", "gpu", ranks=ranks)
    assert None not in results, output
    assert [result["problems"] for result in results] == [[]] * ranks
    assert {result["engine"] for result in results} == {"nccl"}


def test_graphs_with_collectives_match_numpy(tmp_path, ranks):
    results, output = run_env("graphs.py", tmp_path, "nccl", "gpu", ranks=ranks)
    assert None not in results, output
    assert [result["problems"] for result in results] == [[]] * ranks


def test_captured_all_reduce_replays_on_every_rank(tmp_path, ranks):
    pytest.importorskip("torch")
    results, output = run_env("nccl_capture.py", tmp_path, ranks=ranks)
    expected = [[float(10 * replay * ranks + sum(range(ranks)))] for replay in range(3)]
    assert None not in results, output
    for result in results:
        assert (result["size"], result["values"]) == (ranks, expected), output
        assert result["closed in"] < 10  # seconds, although the graph still exists


@pytest.mark.parametrize("failure", ["late", "unconnected", "behind", "killed"])
def test_calls_raise_if_the_other_rank_does_not_call(failure, tmp_path):
    if reason := why_no_nccl(2):
        pytest.skip(reason)
    results, output = run_env("nccl_failures.py", tmp_path, failure, ranks=2)
    assert results[0] is not None, output
    error, text, seconds, later = results[0]
    assert (error, later) == ("CollectiveError",) * 2, (results, output)
    assert any(reason in text for reason in ("not valid", "rank 1", "did not end")), text
    assert seconds < 30
    assert (results[1] is None) == (failure == "killed"), output


def test_connecting_times_out_if_the_other_rank_is_missing():
    if reason := why_no_nccl(1):
        pytest.skip(reason)
    engine = ("nccl", _native.engine_id("nccl"))
    with pytest.raises(sw.CollectiveError, match="connecting the ranks did not end within 2"):
        _native.Communicator("alone", 0, 2, sw.device("cuda:0"), 2.0, 0, engine, None)


def test_engine_auto_is_nccl_for_one_gpu_per_rank(comm):
    with C.init(device="cuda:0", name="automatic") as communicator:
        assert communicator.engine == "nccl"


def test_work_is_queued_on_the_current_stream(comm):
    x = sw.arange(1 << 22, dtype="float32", device="cuda:0")
    with sw.Stream("cuda:0") as stream:
        y = C.all_reduce(x * 2, comm)
        assert y.stream == stream
    np.testing.assert_array_equal((y + 1).numpy(), np.arange(1 << 22, dtype="float32") * 2 + 1)


def test_capture_by_pytorch_replays_with_new_values(comm):
    torch = pytest.importorskip("torch")
    x = torch.ones(1000, device="cuda")
    C.all_reduce(sw.asarray(x), comm)
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    torch.cuda.synchronize()
    out = torch.zeros(500, device="cuda")
    with torch.cuda.graph(graph, stream=side), sw.Stream.foreign(side):
        C.all_reduce(sw.asarray(x)[::2], comm, out=sw.asarray(out))
    x.fill_(7)
    graph.replay()
    torch.cuda.synchronize()
    assert bool((out == 7).all())


def test_arrays_of_the_host_pass_through_the_gpu(comm):
    result = C.all_reduce(np.arange(5.0), comm)
    assert result.device == sw.device("cpu")
    np.testing.assert_array_equal(result.numpy(), np.arange(5.0))


def test_aborted_communicator_raises(comm):
    comm.abort("enough")
    with pytest.raises(sw.CollectiveError, match="enough"):
        C.all_reduce(sw.ones(3, device="cuda:0"), comm)
    assert comm.failure == "enough"


def test_next_wait_raises_after_unfinished_work_was_aborted(comm):
    a = sw.ones((8192, 8192), dtype="float32", device="cuda:0")
    sw.synchronize()
    for _ in range(30):
        b = a @ a
    C.all_reduce(b, comm)
    comm.abort("enough")
    with pytest.raises(sw.CollectiveError, match="not valid: enough"):
        sw.synchronize()
    sw.synchronize()  # the error was raised once
