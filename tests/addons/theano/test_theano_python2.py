# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts in Python 2: their translation and their output."""

import ast
import importlib.util
import subprocess
import sys

import pytest
from addons.theano.runner import run_script

from spanwise.theano._python2 import is_python2, tokens_of, translate

TRANSLATIONS = [
    ("print x", "print(x)"),
    ("print", "print()"),
    ("print 'a %d' % n, t1 - t0, 'b'", "print('a %d' % n, t1 - t0, 'b')"),
    ("print x,", "print(x, end=' ')"),
    ("print >>f, x, y", "print(x, y, file=f)"),
    ("print >>f", "print(file=f)"),
    ("print (a, b)", "print((a, b))"),
    ("print f(a, b), [c, d]", "print(f(a, b), [c, d])"),
    ("if x: print x; y = 1", "if x: print(x); y = 1"),
    ("print lambda: 1", "print(lambda: 1)"),
    ("print 'a; b'  # a comment", "print('a; b')  # a comment"),
    ("for i in xrange(3): pass", "for i in range(3): pass"),
    ("name = raw_input('? ')", "name = input('? ')"),
    ("for k, v in d.iteritems(): pass", "for k, v in d.items(): pass"),
    ("except ValueError, e: pass", "except ValueError as e: pass"),
    ("except (A, B), e: pass", "except (A, B) as e: pass"),
    ("except (A, B): pass", "except (A, B): pass"),
    ("raise ValueError, 'no'", "raise ValueError('no')"),
    ("raise", "raise"),
    ("x = `y + 1`", "x = repr(y + 1)"),
    ("if a <> b: pass", "if a != b: pass"),
    ("n = 10L + 0777 + 0", "n = 10 + 0o777 + 0"),
    ("s = ur'a' + u'b'", "s = r'a' + u'b'"),
    ("exec code in names", "exec(code, names)"),
    ("exec (code) in names", "exec((code), names)"),
    ("exec(code, names)", "exec(code, names)"),
    ("exec (code, f(a, b))", "exec(code, f(a, b))"),
    ("exec (a) + (b)", "exec((a) + (b))"),
    ("isinstance(x, (int, long, basestring))", "isinstance(x, (int, int, str))"),
    ("d.has_key(k)", "d.__contains__(k)"),
    ("if x:\n\ty = 1\n        z = 2", "if x:\n        y = 1\n        z = 2"),
    ("f(long=1, x=x.long)", "f(long=1, x=x.long)"),
]


@pytest.mark.parametrize(("before", "after"), TRANSLATIONS)
def test_python2_statement_is_translated(before, after):
    head = "try: pass\n" if before.startswith("except") else ""
    source = f"{head}{before}\n"
    assert translate(source) == f"{head}{after}\n"
    ast.parse(translate(source))


def test_lines_keep_their_numbers():
    source = 'print """a\nb""", 1\nx = 3; print x\nprint (\n  1,\n  2)\n'
    after = translate(source)
    assert after.count("\n") == source.count("\n")
    assert ast.parse(after).body[-1].lineno == 4


def test_tokens_joined_are_the_source():
    source = 'def f(x):\n\treturn `x` + \'a\\\'b\' \\\n  + ur"""c\n""" # d\n@é <> 1e-3L\n'
    assert "".join(token.text for token in tokens_of(source)) == source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("print 1\n", True),
        ("print('a')\nfor i in xrange(3): pass\n", True),
        ("import cPickle\n", True),
        ("d.iteritems()\n", True),
        ("print('a')\n", False),
        ("from functools import reduce\nreduce(f, x)\n", False),
        ("xrange = range\nxrange(3)\n", False),
    ],
)
def test_python_2_is_distinguished_from_python_3(source, expected):
    assert is_python2(source) is expected


def test_python2_script_prints_the_same(tmp_path):
    source = """
        # -*- coding: utf-8 -*-
        import sys, numpy, helper
        x = 7
        x /= 2
        print 7 / 2, x, 7 / 2., numpy.arange(3) / 2, helper.half(5)
        print map(str, [1]) and reduce(lambda a, b: a + b, [1, 2]),
        print sys.argv[1:]
        for i in range(2):
            y = i / 2
        try:
            raise ValueError, "no"
        except ValueError, e:
            print `e.args`
    """
    (tmp_path / "helper.py").write_text("def half(n):\n    print 'half', n\n    return n / 2\n")
    printed, errors = run_script(tmp_path / "script.py", source, arguments=["a", "-b"])
    assert printed.splitlines() == ["half 5", "3 3 3.5 [0 0 1] 2", "3 ['a', '-b']", "('no',)"]
    # Each line with an integer division is reported once.
    lines = [line for line in errors.splitlines() if "integer division" in line]
    assert [line.rpartition(": integer")[0].rpartition("/")[2] for line in lines] == [
        "script.py:5",
        "script.py:6",
        "helper.py:3",
        "script.py:10",
    ]


def test_division_is_true_with_the_future_import(tmp_path):
    source = "from __future__ import division\nprint 7 / 2\n"
    assert run_script(tmp_path / "script.py", source) == ("3.5\n", "")


def test_python2_functions_return_lists(tmp_path):
    source = """
        d = {'b': 1, 'a': 2}
        names = d.keys()
        names.sort()
        print names, zip([1], [2])[0], map(str, [1, 2]), filter(None, [0, 3]), range(3) + [7]
        for name in d.keys():
            del d[name]
        for i in xrange(10 ** 15):
            break
        print len(d), d.has_key('a'), i
    """
    printed, _ = run_script(tmp_path / "script.py", source)
    assert printed == "['a', 'b'] (1, 2) ['1', '2'] [3] [0, 1, 2, 7]\n0 False 0\n"


def test_show_prints_the_changes(tmp_path):
    printed, _ = run_script(tmp_path / "script.py", "x = 1\nprint x\n", options=["--show"])
    assert "-print x\n+print(x)\n" in printed
    printed, _ = run_script(tmp_path / "script.py", "print(1)\n", options=["--show"])
    assert printed == ""


def test_errors_name_the_line_of_the_script(tmp_path):
    path = tmp_path / "script.py"
    _, errors = run_script(path, "print 1\nx = {}['key']\n", status=1)
    assert f'File "{path}", line 2' in errors and "KeyError: 'key'" in errors


def test_wrong_arguments_print_the_usage(tmp_path):
    for arguments in ([], ["--unknown"], [str(tmp_path / "absent.py")]):
        done = subprocess.run(
            [sys.executable, "-m", "spanwise.theano", *arguments], capture_output=True, text=True
        )
        assert done.returncode == 2 and "spanwise.theano" in done.stderr


OLD_NAMES = r"""
from StringIO import StringIO
import cStringIO, cPickle, Queue, ConfigParser
import itertools, string, sys, time, os
import numpy as np
print StringIO("a").read() + cStringIO.StringIO("b").read(), Queue.Queue().empty()
print list(itertools.izip([1], [2])), itertools.imap(abs, [-1]).next(), sys.maxint > 0
print sorted([3, 1, 2], cmp=lambda a, b: cmp(b, a)), [1, 2].sort(cmp=cmp), map(None, [1], [2])
print string.letters[:3], string.join(["a", "b"], "-"), time.clock() >= 0, os.getcwdu() != ""
print apply(max, [1, 2]), sorted({1: 2}.viewkeys()), intern("x"), file(__file__).readline() == "\n"
print np.product([2, 3]), np.in1d([1, 2], [2]), np.Inf, np.asscalar(np.array(3)), np.cast["int8"](3.5)
cPickle.dump([1, np.arange(2)], open(__file__ + ".pkl", "w"))
print cPickle.load(open(__file__ + ".pkl"))
class Old:
    __metaclass__ = type
    def __init__(self): self.left = 2
    def __nonzero__(self): return False
    def __div__(self, other): return "div"
    def __iter__(self): return self
    def next(self):
        self.left -= 1
        if self.left < 0: raise StopIteration
        return self.left
print bool(Old()), Old() / 2, list(Old()), Old().next()
import pkg
print pkg.x, pkg.sub.x
"""


def test_modules_names_and_methods_of_python2_are_known(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("import sub\nfrom sub import x\n")
    (tmp_path / "pkg" / "sub.py").write_text("x = 5L\n")
    printed, _ = run_script(tmp_path / "script.py", OLD_NAMES)
    assert printed.splitlines() == [
        "ab True",
        "[(1, 2)] 1 True",
        "[3, 2, 1] None [(1, 2)]",
        "abc a-b True True",
        "2 [1] x True",
        "6 [False  True] inf 3 3",
        "[1, array([0, 1])]",
        "False div [1, 0] 1",
        "5 5",
    ]


@pytest.mark.skipif(
    not any(importlib.util.find_spec(name) for name in ("fissix", "lib2to3")),
    reason="neither fissix nor lib2to3 is there, which translate parameters in brackets",
)
def test_parameters_in_brackets_are_translated(tmp_path):
    script = """
        def swapped((a, b), c=0): return b, a
        print swapped((1, 2)), (lambda (a, b): a + b)((1, 2))
    """
    assert run_script(tmp_path / "script.py", script)[0] == "(2, 1) 3\n"
