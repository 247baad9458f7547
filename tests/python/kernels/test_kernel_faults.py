# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults of kernels on the CPU other than accesses to memory that does not exist: of the heap, the
stack, printf(), and calls that end a process. Each ends the kernel alone."""

import subprocess
import sys

import numpy as np
import pytest

import spanwise as sw

#: name -> (source of `__global__ void f(char *x, int n)`, pattern of the message)
FAULTS = {
    "free_of_an_offset_pointer": (
        "{ char *p = (char *)malloc(64); free(p + 16); }",
        "free.. or delete",
    ),
    "free_inside_a_large_block": (
        "{ char *p = (char *)malloc(1 << 20); free(p + 16); }",
        "free.. or delete",
    ),
    "free_of_an_array": ("{ free(x); }", "free.. or delete"),
    "free_of_a_number": ("{ free((void *)(long long)n); }", "free.. or delete"),
    "free_of_a_local_array": (
        "{ int local[4]; free(local); x[0] = local[0]; }",
        "free.. or delete",
    ),
    "double_free": ("{ void *p = malloc(16); free(p); free(p); }", "already freed"),
    "double_free_of_a_large_block": (
        "{ void *p = malloc(1 << 20); free(p); free(p); }",
        "already freed",
    ),
    "delete_of_an_offset_pointer": (
        "{ int *volatile p = new int[8]; delete[] (p + 1); }",
        "free.. or delete",
    ),
    "printf_of_a_number_as_text": ('{ printf("%s\\n", n); }', "SIGSEGV"),
    "printf_beside_a_barrier": ('{ __syncthreads(); printf("%s\\n", n); }', "SIGSEGV"),
    "format_that_does_not_exist": ("{ printf((const char *)(long long)n, 1); }", "SIGSEGV"),
    "overrun": ("{ char b[16]; run(b, 4000 + n); x[0] = b[3]; }", "SIGSEGV|stack"),
    "overrun_by_little": ("{ char b[16]; run(b, 64 + n); x[0] = b[3]; }", "overwritten the stack"),
    "overrun_of_numbers": (
        "{ int b[4]; for (int i = 0; i < 40 * n; i++) ((volatile int *)b)[i] = n; x[0] = b[1]; }",
        "SIGSEGV|overwritten the stack",
    ),
    "overrun_beside_barriers": (
        "{ char b[16]; __syncthreads(); run(b, 4000 + n); x[0] = b[3]; __syncthreads(); }",
        "SIGSEGV|stack",
    ),
    "overrun_by_little_beside_barriers": (
        "{ char b[16]; __syncthreads(); run(b, 64 + n); x[0] = b[3]; __syncthreads(); }",
        "overwritten the stack",
    ),
    "alloca_of_a_negative_size": (
        "{ volatile char *p = (char *)__builtin_alloca(n - 100); p[0] = 1; x[0] = p[0]; }",
        "alloca",
    ),
    "alloca_of_much": (
        "{ volatile char *p = (char *)alloca(n << 28); p[0] = 1; x[0] = p[0]; }",
        "stack",
    ),
    "store_through_null_alone": ("{ *(volatile int *)0 = n; }", "SIGSEGV"),
    "load_through_null_alone": ("{ (void)*(volatile int *)0; }", "SIGSEGV"),
    "abort": ("{ if (n == 3) abort(); }", r"abort\(\)"),
    "exit": ("{ if (n == 3) exit(0); }", r"exit\(\)"),
    "assert_beside_headers_of_the_system": ("{ assert(n == 4); }", "assertion failed"),
    "exception": ('{ if (n == 3) throw std::runtime_error("text"); }', r"C\+\+ exception: text"),
    "exception_beside_a_barrier": (
        '{ __syncthreads(); if (n == 3) throw std::runtime_error("text"); }',
        r"C\+\+ exception: text",
    ),
    "exception_of_the_library": ("{ std::vector<int> v(4); x[0] = v.at(40); }", r"C\+\+ exception"),
    "terminate": ("{ if (n == 3) std::terminate(); }", "SIGABRT|abort"),
    "pure_virtual_function": ("{ Derived d(n); x[0] = d.level; }", "pure virtual"),
    "recursion_without_end": ("{ x[0] = deep(n); }", "stack"),
    "recursion_without_end_beside_a_barrier": ("{ __syncthreads(); x[0] = deep(n); }", "stack"),
    "recursion_of_a_function_object": ("{ __syncthreads(); x[0] = Deep{}(n); }", "stack"),
    "recursion_of_a_parameter": (
        "{ __syncthreads(); auto f = [](auto self, volatile int n) -> int "
        "{ return n == 0 ? 1 : self(self, n + 1) + self(self, n - n); }; x[0] = f(f, n); }",
        "stack",
    ),
}
HEADERS = {
    "abort": "#include <cstdlib>\n",
    "exit": "#include <cstdlib>\n",
    "assert_beside_headers_of_the_system": "#include <vector>\n#include <cassert>\n",
    "exception": "#include <stdexcept>\n",
    "exception_beside_a_barrier": "#include <stdexcept>\n",
    "exception_of_the_library": "#include <vector>\n",
    "terminate": "#include <exception>\n",
}
HELPERS = """
__device__ __noinline__ void run(volatile char *b, int n) { for (int i = 0; i < n; i++) b[i] = 1; }
struct Deep {
  __device__ __noinline__ int operator()(volatile int n) const
  { return n == 0 ? 1 : (*this)(n + 1) + (*this)(n - n); }
};
__device__ __noinline__ int deep(volatile int n) { return n == 0 ? 1 : deep(n + 1) + deep(n - n); }
"""
VIRTUAL = """
struct Base {
  int level;
  virtual __device__ int pure(int) = 0;
  __device__ Base(int n) { level = indirect(n); }
  __device__ __noinline__ int indirect(int n) { return pure(n); }
};
struct Derived : Base {
  __device__ Derived(int n) : Base(n) {}
  __device__ int pure(int n) override { return n; }
};
"""


def compiled(source):
    return sw.SourceModule(source, device="cpu").get_function("f")


@pytest.mark.parametrize("name", FAULTS)
def test_fault_ends_the_kernel_alone(compiler, name, capfd):
    body, pattern = FAULTS[name]
    helpers = HELPERS + (VIRTUAL if "virtual" in name else "")
    f = compiled(f"{HEADERS.get(name, '')}{helpers}__global__ void f(char *x, int n)\n{body}\n")
    x = sw.zeros(64, "uint8", device="cpu")
    for _ in range(2):
        with pytest.raises(sw.KernelFaultError, match=pattern) as caught:
            f(x, 3, block=4, grid=2)
        assert "line 0" not in str(caught.value)
    put = compiled("__global__ void f(char *x) { __syncthreads(); x[threadIdx.x] = 7; }")
    x = sw.zeros(64, "uint8", device="cpu")
    put(x, block=64)
    assert (x.numpy() == 7).all()


def test_launch_after_a_fault_of_lanes_in_step_starts_anew(compiler):
    """The lanes of a warp wait at volatile accesses; those of the failed launch wait no longer."""
    add = compiled("""__global__ void f(volatile int *x, int fails)
    {
      x[threadIdx.x] = x[threadIdx.x] + 1;
      if (fails) *(volatile int *)0 = 1;
      x[threadIdx.x] = x[threadIdx.x ^ 1] + 1;
    }""")
    x = sw.zeros(32, "int32", device="cpu")
    messages = set()
    for launch in range(3):
        add(x, 0, block=32)
        assert (x.numpy() == 3 * launch + 2).all()
        with pytest.raises(sw.KernelFaultError, match="SIGSEGV") as caught:
            add(x, 1, block=32)
        messages.add(str(caught.value))
        assert (x.numpy() == 3 * launch + 3).all()
    assert len(messages) == 1


FORKED = """
import os, threading
import spanwise as sw

f = sw.SourceModule(
    "__global__ void f(int *x, int n) { x[threadIdx.x] = 1; if (n) x[(long long)n << 40] = 1; }", device="cpu"
).get_function("f")

def launch(n):
    try:
        f(sw.zeros(32, "int32", device="cpu"), n, block=32)
    except sw.KernelFaultError:
        faults.append(n)

def run(targets):
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    return threads

def stay(i):
    launch(0)
    launched.wait()
    ends[i].wait()

faults = []
launched = threading.Barrier(7)
ends = [threading.Event() for _ in range(6)]
threads = run([lambda i=i: stay(i) for i in range(6)])
launched.wait()
for i in range(2):
    ends[i].set()
    threads[i].join()
child = os.fork()
if child == 0:
    for _ in range(4):
        for thread in run([lambda: launch(1)] * 6):
            thread.join()
    os._exit(len(faults))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
for end in ends:
    end.set()
"""


def test_fault_in_a_new_thread_of_a_forked_child(compiler):
    """Its number may be that of a thread of the parent, which also ran kernels."""
    result = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True)
    assert result.stdout.strip() == "24", result.stderr


HEAP = """
struct Node { int value; Node *next; };
__device__ Node *head;
__global__ void push(int n)
{
  for (int i = 0; i < n; i++) { Node *node = new Node; node->value = i; node->next = head; head = node; }
}
__global__ void sum(int *x) { for (Node *n = head; n; n = n->next) *x += n->value; }
__global__ void pop() { while (head) { Node *next = head->next; delete head; head = next; } }
__global__ void each(long long *x, int bytes)
{
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  char *p = (char *)malloc(bytes);
  for (int i = 0; i < bytes; i++) p[i] = (char)t;
  x[t] = ((long long)p) % 16;
  for (int i = 0; i < bytes; i++) x[t] += p[i] != (char)t;
  free(p);
  free(0);
}
__global__ void huge(int *x) { x[0] = malloc(1ull << 60) == 0; }
__global__ void behind(int *x)
{
  char *p = (char *)malloc(16), *q = (char *)malloc(16);
  for (int i = 0; i < 4000; i++) ((volatile char *)p)[i] = 1;
  free(p);
  free(q);
  x[0] = 1;
}
"""


def test_allocating_until_there_is_no_memory_ends_with_null():
    """With null, and not when the system ends the process."""
    source = """
    struct Block { Block *next; };
    __global__ void fill(int *x)
    {
      Block *head = 0;
      while (Block *block = (Block *)malloc(1 << 30)) { block->next = head; head = block; x[0]++; }
      while (head) { Block *next = head->next; free(head); head = next; }
    }"""
    fill = sw.SourceModule(source, device="cpu").get_function("fill")
    counts = []
    for _ in range(2):
        x = sw.zeros(1, "int32", device="cpu")
        fill(x, block=1)
        counts.append(x.item())
    total = sw.device("cpu").properties.total_memory
    assert counts[0] == counts[1] <= total // 2 >> 30


#: Declarations for the calls.
SYSTEM = """extern "C" { int fork(); int vfork(); int execv(const char *, char *const *); int pthread_create(...);
void pthread_exit(void *); long syscall(long, ...); }"""


@pytest.mark.parametrize(
    "call",
    [
        *("raise(9)", "kill(0, 9)", "quick_exit(1)", "fork()", "vfork()", 'system("true")'),
        *(
            'execv("/bin/true", nullptr)',
            "pthread_create()",
            "pthread_exit(nullptr)",
            "syscall(60, 3)",
        ),
    ],
)
def test_calls_that_end_or_copy_the_process_are_faults(call):
    source = f"""
    #include <csignal>
    #include <cstdlib>
    {SYSTEM}
    __global__ void f() {{ {call}; }}"""
    kernel = sw.SourceModule(source, device="cpu").get_function("f")
    with pytest.raises(sw.KernelFaultError, match=f"a call of {call.split('(')[0]}"):
        kernel(block=1)


@pytest.mark.parametrize("mode", ["none", "all"])
def test_heap_keeps_blocks_between_launches(mode):
    module = sw.SourceModule(HEAP, device="cpu")
    x = sw.zeros(1, "int32", device="cpu")
    with sw.config.change(kernel_check=mode):
        module.get_function("push")(1000, block=1)
        module.get_function("sum")(x, block=1)
        assert x.item() == sum(range(1000))
        module.get_function("pop")(block=1)
        module.get_function("pop")(block=1)
        module.get_function("sum")(x, block=1)
    assert x.item() == sum(range(1000))


@pytest.mark.parametrize("size", [0, 1, 16, 17, 4096, 4097, 100_000])
def test_heap_blocks_of_many_threads_do_not_overlap(size):
    each = sw.SourceModule(HEAP, device="cpu").get_function("each")
    x = sw.full(512, -1, "int64", device="cpu")
    each(x, size, block=64, grid=8)
    assert (x.numpy() == 0).all()


@pytest.mark.parametrize("name", ["huge", "behind"])
def test_heap_that_is_full_or_overrun_keeps_the_process(name):
    x = sw.zeros(1, "int32", device="cpu")
    sw.SourceModule(HEAP, device="cpu").get_function(name)(x, block=1)
    assert x.item() == 1


def test_arrays_of_variable_length_end_the_kernel_or_leave_other_threads_alone(compiler):
    f = compiled(
        """__device__ __noinline__ int use(volatile char *b, int n)
        { for (int i = 0; i < 64; ++i) b[i] = (char)(n + i); return b[3]; }
        __global__ void f(int *x, int n)
        {
          volatile int q[8];
          for (int i = 0; i < 8; ++i) q[i] = threadIdx.x * 1000 + 7 + i;
          __syncthreads();
          const int r = use((volatile char *)__builtin_alloca(n), n);
          __syncthreads();
          int s = 0;
          for (int i = 0; i < 8; ++i) s += q[i] - i;
          x[threadIdx.x] = s / 8 + (r == 123456);
        }"""
    )
    results = []
    sizes = [
        1000,
        100_000,
        *range(200_000, 300_000, 3000),
        *range(300_000, 1_500_000, 50_000),
        1 << 24,
    ]
    for size in sizes:
        x = sw.zeros(64, "int32", device="cpu")
        try:
            f(x, size, block=64)
            np.testing.assert_array_equal(x.numpy(), np.arange(64) * 1000 + 7, err_msg=str(size))
            results.append(True)
        except sw.KernelFaultError:
            results.append(False)
    assert results == sorted(results, reverse=True), "a size beyond one that does not fit ran"
    assert results[0] and not results[-1]


def test_printf_prints_texts_of_any_length(capfd):
    f = compiled(
        """__global__ void f(const char *text, int n)
        { printf("%d %s %5.2f|%%n %c", n, text, 1.5, 'x'); printf("plain\\n"); }"""
    )
    text = b"y" * 10_000
    f(sw.array(np.frombuffer(text + b"\0", "uint8"), device="cpu"), 3, block=1)
    assert capfd.readouterr().out == "3 " + text.decode() + "  1.50|%n xplain\n"


def test_kernel_that_faults_prints_once(capfd):
    f = compiled('__global__ void f(int *x) { printf("once\\n"); x[1ll << 42] = 1; }')
    with pytest.raises(sw.KernelFaultError, match="SIGSEGV|SIGBUS"):
        f(sw.zeros(4, "int32", device="cpu"), block=1)
    assert capfd.readouterr().out == "once\n"
