# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts in Python 2: their translation and their output."""

import ast
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
    ("import cPickle", "import pickle as cPickle"),
    ("import cPickle as p", "import pickle as p"),
    ("from cPickle import load", "from pickle import load"),
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
