# Copyright 2026 The Spanwise Authors
# SPDX-License-Identifier: Apache-2.0

# The commands of daily work. Each needs only git, make, g++ and python3, and installs its other
# requirements into .venv and .cache of this checkout (scripts/bootstrap.py). With OFFLINE=1 it uses
# the packages of the interpreter PYTHON instead and downloads nothing (scripts/offline.py).

PYTHON ?= python3

ifneq ($(filter-out 0,$(OFFLINE)),)
  RUN := $(PYTHON)
  PREPARE := $(PYTHON) scripts/offline.py
else
  RUN := .venv/bin/python
  PREPARE := $(PYTHON) scripts/bootstrap.py
endif
PACKAGE := sw_python sw_package
WITH_PACKAGE := PYTHONPATH=build/release/python$(if $(PYTHONPATH),:$(PYTHONPATH)) $(RUN)

.DEFAULT_GOAL := help
.PHONY: help demo build test quick fresh coverage bench lint format gpu-report wheel docs peers lock \
  fuzz sanitize clean
APART = .cache/venv-$(1)/bin/python

help:
	@echo 'make demo        a photograph through NumPy, a CUDA C filter and another library, to a PNG'
	@echo 'make test        all tests, C++ and Python; SANITIZE=1 adds the sanitizers'
	@echo 'make quick       the library, and the tests of its core, arrays and bridges, in two minutes'
	@echo 'make fresh       demo and test in a bare Debian, made by debootstrap; as root, SUITE=trixie CXX=clang++'
	@echo 'make coverage    the lines of C++ and Python that the tests reach, and the functions that they do not'
	@echo 'make bench       the benchmarks beside the installed peers; JSON to build/bench.json'
	@echo 'make gpu-report  on a GPU machine: tests, memcheck, benchmarks, one JSON in docs/benchmarks'
	@echo 'make wheel       wheels and the source distribution in dist/, tried in new environments; TWICE=1'
	@echo 'make docs        the site, in build/site'
	@echo 'make peers       the tests of bridges and frameworks with the newest PyTorch, JAX and Dask; PEERS=oldest'
	@echo 'make sanitize    tests under the sanitizers;  make fuzz FUZZ_SECONDS=600 compares with NumPy'
	@echo 'make lock        renews requirements/locked; LOCKED=1 with the others installs these'
	@echo 'make build       the library and the staged Python package, under build/release'
	@echo 'make lint        formatters (checking only), linters, type checker;  make format rewrites'
	@echo 'make clean       removes build/;  .venv and .cache stay'
	@echo 'OFFLINE=1        with any of these: download nothing, use PYTHON (python3) as it is'

demo:
	@$(PREPARE) build demo peers
	@$(RUN) scripts/build.py release $(PACKAGE)
	@$(WITH_PACKAGE) examples/01_mixing_libraries.py

build:
	@$(PREPARE) build
	@$(RUN) scripts/build.py release $(PACKAGE)

test:
	@$(PREPARE) build test peers
	@$(RUN) scripts/build.py release
	@$(RUN) scripts/test.py

quick:
	@$(PREPARE) build test
	@$(RUN) scripts/build.py release sw_python sw_package core_test runtime_test bridges_test
	@$(RUN) scripts/test.py quick

fresh:
	@$(PYTHON) scripts/fresh.py $(SUITE) $(if $(filter clang++,$(CXX)),--cxx clang++)

coverage:
	@$(PREPARE) build test peers coverage
	@$(RUN) scripts/line_coverage.py

bench:
	@$(PREPARE) build peers
	@$(RUN) scripts/build.py release $(PACKAGE)
	@$(WITH_PACKAGE) benchmarks --json build/bench.json

lint format:
	@$(PREPARE) build lint
	@$(RUN) scripts/build.py release $(PACKAGE)
	@$(RUN) scripts/lint.py $@

gpu-report:
	@$(PREPARE) build test peers
	@$(RUN) scripts/build.py release
	@$(RUN) scripts/gpu_report.py

wheel:
	@$(PYTHON) scripts/bootstrap.py wheel
	@$(call APART,wheel) scripts/wheel.py $(if $(TWICE),--twice)

docs:
	@$(PREPARE) build
	@$(RUN) scripts/build.py release $(PACKAGE) example_02_cpp
	@$(PYTHON) scripts/bootstrap.py docs
	@$(call APART,docs) scripts/make_site.py

PEERS ?= newest
peers:
	@$(PREPARE) build
	@$(RUN) scripts/build.py release $(PACKAGE)
	@$(PYTHON) scripts/bootstrap.py $(PEERS)
	@$(call APART,$(PEERS)) scripts/newest_peers.py

sanitize:
	@$(MAKE) test SANITIZE=1

FUZZ_SECONDS ?= 600
fuzz: build
	@$(WITH_PACKAGE) tests/fuzz --cases 1000000000 --seconds $(FUZZ_SECONDS) --seed $(shell date +%j)

lock:
	@$(PYTHON) scripts/bootstrap.py wheel
	@$(call APART,wheel) scripts/lock.py

clean:
	rm -rf build
