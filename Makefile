# SPDX-FileCopyrightText: the perp authors
# SPDX-License-Identifier: Apache-2.0
#
# The front door of perp. Every command works from a fresh checkout: it installs what is missing
# (Debian; tools/install_deps), configures build/<preset> once, builds, and runs.

JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
# WERROR=ON turns warnings into errors, as the checks in .ci/run do.
WERROR ?= OFF
# `make fuzz` tries the same inputs everywhere; with FUZZ_SECONDS it explores that long, all targets together.
FUZZ_SECONDS ?=
FUZZ_SEED    ?= 1
# `make truth` judges COUNT random scenes of a SEED.
COUNT ?= 2000
SEED  ?= 1

.DEFAULT_GOAL := help
.PHONY: help demo test bench bench-peers bench-tree bench-growth bench-limits bench-order bench-robots bench-machines bench-models bench-paper bench-problems lint format docs pictures python wasm test-wasm test-clang playground site install clean asan coverage check-install fuzz truth \
        deps-docs deps-wasm deps-python deps-build deps-product deps-test deps-browser deps-lint deps-fuzz deps-bench deps-bench-peers

help:
	@echo 'make demo      build perp, run scenes and examples, draw pictures into build/demo'
	@echo 'make test      build perp and run its tests'
	@echo 'make bench     time the solvers (PEERS=yes: install the engines to compare with)'
	@echo 'make bench-tree   a chain in joint coordinates, beside MuJoCo'
	@echo 'make bench-models  what robots do from their keyframes, into docs/robots.md'
	@echo 'make bench-robots  robots of a reference collection, beside MuJoCo (ARGS="--hold")'
	@echo 'make bench-machines  humanoid, hand, gripper, closed legs and crowds of our own, beside MuJoCo'
	@echo 'make bench-limits  what one core can do, and how near a factorisation and a sweep come'
	@echo 'make bench-order  error of the motion against cost, by steppers'
	@echo 'make bench-growth  cost of a step against the size of the scene (ARGS="--family walls")'
	@echo 'make bench-paper  scenes of published benchmarks, into docs/yardsticks.md (ARGS="--only arch")'
	@echo 'make bench-problems  contact problems of single steps, with solutions, into build/problems'
	@echo 'make bench-peers  spatial scenes by perp and five other engines (ARGS="--scene slide")'
	@echo 'make lint      format, clang-tidy, the viewer by tsc, layers, budgets, symbols, headers, names, words, equations'
	@echo 'make docs      the documentation as static HTML in build/docs, links checked'
	@echo 'make pictures  pictures and films of README.md and docs/, from runs'
	@echo 'make format    rewrite the sources with clang-format'
	@echo 'make wasm      perp in WebAssembly: a package for Node.js in build/wasm/package (test-wasm: and its tests)'
	@echo 'make site      one static site in build/site: the book, the gallery and the playground'
	@echo 'make python    build the Python package as a wheel in build/python, for pip install --no-index'
	@echo 'make install   install under PREFIX=$(PREFIX) (DESTDIR is honoured; PYTHON=yes: also the Python package)'
	@echo 'make clean     remove build/'
	@echo 'make truth     random hostile scenes, judged by an independent program (COUNT=2000 SEED=1)'
	@echo 'more checks:   make test-clang, make asan, make coverage, make check-install, make fuzz [FUZZ_SECONDS=600 FUZZ_SEED=7]; all: .ci/run'

# ── Building ─────────────────────────────────────────────────────────────────────────────────────
# build/<preset>/.configured is made once a preset; CMake itself notices later changes of its files.
# --fresh: a half-made build folder, or one made with another generator, starts over.

build/%/.configured: CMakePresets.json Makefile
	@cmake --fresh --preset $* $$(command -v ninja >/dev/null && echo -G Ninja) \
	    $(if $(filter ON,$(WERROR)),-DPERP_WERROR=ON) -DCMAKE_INSTALL_PREFIX=$(PREFIX) --log-level=WARNING
	@touch $@

.PRECIOUS: build/%/.configured
build-%: build/%/.configured
	@cmake --build build/$* --parallel $(JOBS)

# deps-* install packages. They are no prerequisites of build-%, because CMake must look for libraries
# only after they are there: the commands below do one, then the other.
deps-build:
	@tools/install_deps build
deps-product:
	@tools/install_deps build viewer
deps-test:
	@tools/install_deps build viewer python test
deps-browser:
	@tools/install_deps build viewer python test browser
deps-wasm:
	@tools/install_deps build viewer wasm
deps-lint:
	@tools/install_deps build viewer python test lint
deps-python:
	@tools/install_deps build viewer python
deps-docs:
	@tools/install_deps docs
deps-fuzz:
	@tools/install_deps build fuzz
deps-bench:
	@tools/install_deps build test $(if $(filter yes 1 on ON,$(PEERS)),peers)
deps-bench-peers:
	@tools/install_deps build test engines

# ── Commands ─────────────────────────────────────────────────────────────────────────────────────

test: deps-browser
	@$(MAKE) --no-print-directory build-release
	@ctest --test-dir build/release --output-on-failure --parallel $(JOBS)

# The product alone: no tests, no benchmarks, and none of the libraries that only these need.
demo: deps-product
	@$(MAKE) --no-print-directory build-product
	@tools/demo build/product build/demo

bench: deps-bench
	@$(MAKE) --no-print-directory build-release
	@cmake --build build/release --target run_bench

# CMake looks again for engines that were not there when build/release was configured.
bench-peers: deps-bench-peers
	@$(MAKE) --no-print-directory build/release/.configured
	@cmake build/release --log-level=WARNING
	@cmake --build build/release --parallel $(JOBS) --target bench_peers
	@build/release/bench/peers/perp_bench_peers $(ARGS)

bench-tree: deps-bench-peers
	@$(MAKE) --no-print-directory build/release/.configured
	@cmake build/release --log-level=WARNING
	@cmake --build build/release --parallel $(JOBS) --target perp_bench_tree
	@build/release/bench/perp_bench_tree

# MuJoCo comes from npm; without it, or without the robots, the run says so.
bench-robots: deps-bench
	@$(MAKE) --no-print-directory build-release
	@mkdir -p build/bench-robots
	@test -d build/bench-robots/node_modules/@mujoco/mujoco || npm install --silent --prefix build/bench-robots @mujoco/mujoco || true
	@python3 bench/robots/run.py build/release/bench/perp_bench_robots build/bench-robots $(ARGS)

# Machines of our own: humanoid, quadruped, gripper, hand, closed loops, crowds.
bench-machines: deps-bench
	@$(MAKE) --no-print-directory build-release
	@mkdir -p build/bench-robots
	@test -d build/bench-robots/node_modules/@mujoco/mujoco || npm install --silent --prefix build/bench-robots @mujoco/mujoco || true
	@python3 bench/robots/own.py build/release/bench/perp_bench_robots build/bench-robots $(ARGS)

# Tables and picture of docs/robots.md; rows that are in build/bench-models are not run again.
bench-models: deps-bench
	@$(MAKE) --no-print-directory build-release
	@mkdir -p build/bench-robots build/bench-models
	@test -d build/bench-robots/node_modules/@mujoco/mujoco || npm install --silent --prefix build/bench-robots @mujoco/mujoco || true
	@python3 bench/robots/table.py run build/release/cli/perp build/release/bench/perp_bench_motion build/bench-robots \
	    --cpu 60 --rows build/bench-models/run.jsonl --page docs/robots.md $(ARGS)
	@python3 bench/robots/table.py drift build/release/cli/perp build/release/bench/perp_bench_motion build/bench-robots \
	    --cpu 120 --rows build/bench-models/drift.jsonl --page docs/robots.md --picture docs/img/robots-creep.svg $(ARGS)

# Tables of docs/yardsticks.md; rows that are in build/bench-paper are not run again.
bench-paper: deps-bench
	@$(MAKE) --no-print-directory build-release
	@mkdir -p build/bench-paper
	@python3 bench/paper/run.py build/release/bench/perp_bench_paper --rows build/bench-paper/rows.jsonl \
	    --page docs/yardsticks.md $(ARGS)

bench-problems: deps-bench
	@$(MAKE) --no-print-directory build-release
	@python3 bench/problems/collect.py build/release/bench/perp_bench_problem build/problems $(ARGS)

bench-limits: deps-bench
	@$(MAKE) --no-print-directory build-release
	@build/release/bench/perp_bench_limits

bench-order: deps-bench
	@$(MAKE) --no-print-directory build-release
	@build/release/bench/perp_bench_order scenes $(ARGS)

bench-growth: deps-bench
	@$(MAKE) --no-print-directory build-release
	@build/release/bench/perp_bench_growth $(ARGS)

# A build folder of its own: that of the product stays without Python.
python: deps-python
	@cmake --preset product -B build/wheel $$(command -v ninja >/dev/null && echo -G Ninja) -DPERP_BUILD_PYTHON=ON \
	    -DPERP_BUILD_EXAMPLES=OFF --log-level=WARNING
	@cmake --build build/wheel --parallel $(JOBS) --target perp_wheel
	@mkdir -p build/python && rm -f build/python/*.whl && cp build/wheel/python/*.whl build/python/
	@echo "pip install --no-index --no-deps $$(ls build/python/*.whl)"

# clang and wasi-libc; sources of the libraries come from Debian's source packages, into the build folder.
build/wasm/.configured: wasm/CMakeLists.txt wasm/toolchain.cmake wasm/fetch
	@wasm/fetch build/wasm/sources
	@cmake --fresh -S wasm -B build/wasm $$(command -v ninja >/dev/null && echo -G Ninja) \
	    -DCMAKE_TOOLCHAIN_FILE=$(CURDIR)/wasm/toolchain.cmake --log-level=WARNING
	@touch $@

wasm: deps-wasm
	@$(MAKE) --no-print-directory build/wasm/.configured
	@cmake --build build/wasm --parallel $(JOBS)

# The tests that need both builds; ctest alone skips them where build/wasm is missing.
test-wasm: deps-browser wasm
	@$(MAKE) --no-print-directory build-release
	@$(MAKE) --no-print-directory playground
	@ctest --test-dir build/release --output-on-failure -R '^(wasm|playground)/'

# The golden hashes of a build by clang: the same bits as by gcc.
test-clang: deps-lint
	@$(MAKE) --no-print-directory build/clang/.configured
	@cmake --build build/clang --parallel $(JOBS) --target test_golden_hashes
	@ctest --test-dir build/clang --output-on-failure -R '^golden/hashes$$'

# The playground as plain files in build/site/playground: packages from npm, into the build folder.
build/playground/installed: playground/package.json playground/package-lock.json
	@mkdir -p build/playground && cp playground/package.json playground/package-lock.json playground/.npmrc build/playground/
	@viewer/fetch npm build/playground ON --omit=dev

playground: wasm
	@$(MAKE) --no-print-directory build/release/.configured build/playground/installed
	@cmake --build build/release --parallel $(JOBS) --target perp_viewer_page
	@node playground/build.mjs build/playground/site build/playground/node_modules build/wasm/perp_page.wasm build/release/viewer/page.html

site: deps-docs playground
	@tools/make_docs build/site build/playground/site

# The package goes where Debian's python3 looks for packages below this prefix; elsewhere set PYTHON_DIR.
PYTHON     ?= no
PYTHON_DIR ?= lib/python3/dist-packages
install: deps-product $(if $(filter yes,$(PYTHON)),deps-python)
	@$(MAKE) --no-print-directory build/product/.configured
	@cmake build/product --log-level=WARNING $(if $(filter yes,$(PYTHON)),-DPERP_BUILD_PYTHON=ON \
	    -DPERP_PYTHON_DIR=$(PYTHON_DIR),-DPERP_BUILD_PYTHON=OFF -DPERP_PYTHON_DIR=)
	@$(MAKE) --no-print-directory build-product
	@cmake --install build/product --prefix $(PREFIX)

# Only what linters read: the libraries, the command and the viewer. Tests and benchmarks are in compile_commands.json.
lint: deps-lint
	@$(MAKE) --no-print-directory build/dev/.configured build/playground/installed
	@cmake --build build/dev --parallel $(JOBS) --target perp_io_shared perp_io_static perp_cli
	@tools/lint build/dev

format: deps-lint
	@tools/sources c | xargs clang-format -i

docs: deps-docs
	@tools/make_docs build/docs

# Pictures and films of README.md and docs/, from runs (NAMES="arch-falls heap": only these).
pictures: deps-browser
	@$(MAKE) --no-print-directory build-release
	@tools/pictures build/release docs/img $(NAMES)

asan: deps-test
	@$(MAKE) --no-print-directory build-asan
	@ctest --test-dir build/asan --output-on-failure --parallel $(JOBS)

# Lines of src/ that the tests reach.
coverage: deps-test
	@$(MAKE) --no-print-directory build-coverage
	@tools/coverage build/coverage --jobs $(JOBS)

check-install: deps-lint
	@tools/check_install

fuzz: deps-fuzz
	@$(MAKE) --no-print-directory build-fuzz
	@tools/run_fuzz build/fuzz $(if $(FUZZ_SECONDS),$(FUZZ_SECONDS) $(FUZZ_SEED))

truth: deps-test
	@$(MAKE) --no-print-directory build/release/.configured
	@cmake --build build/release --parallel $(JOBS) --target perp_cli
	@python3 -B test/truth/campaign.py build/release/cli/perp --count $(COUNT) --seed $(SEED) --out build/truth

clean:
	rm -rf build
