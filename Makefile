# Thin: meson.build says how lgt is built, tests/run how it is tested, bench/run how it is measured.

BUILD  ?= build
PREFIX ?= /usr/local
# Options for meson, e.g. MESON_OPTIONS="-Dcuda=disabled"; only read when $(BUILD) is first made.
MESON_OPTIONS ?=
# Options for tests/run and bench/run, e.g. ARGS="--suite core" or ARGS="--case triad".
ARGS ?=
# `make SETUP=no ...` installs no packages: tools/setup sees the variable.

.PHONY: all setup build bundle demo test stress fuzz reference test-asan test-ubsan test-tsan test-valgrind bench coverage format install clean help

all: build

help:
	@echo 'make build      leaves $(BUILD)/lgt, after installing missing packages (make setup)'
	@echo '                SETUP=no, with any target: install no packages'
	@echo 'make demo       a column of water collapses: computed, counted and drawn'
	@echo 'make test       everything that must hold, in minutes;  ARGS="--suite core" for a part'
	@echo 'make stress     the same with many more random programs, in all configurations'
	@echo 'make fuzz       the readers of files beside hostile ones, ten million times'
	@echo 'make test-asan  (-ubsan, -tsan, -valgrind)  the suites under a sanitizer'
	@echo 'make bench      lgt beside its rivals; ARGS="--case triad" for a part'
	@echo 'make coverage   the functions of NumPy that lgt has, beside cuPyNumeric, and which wait, copy or are slow'
	@echo 'make reference  docs/reference, of the comments in the sources'
	@echo 'make install    to PREFIX=$(PREFIX)'
	@echo 'make bundle     $(BUILD)/bundle/lgt-VERSION-x86_64.tar.gz: runs on other machines, with nothing installed'

# Each of these is quick when there is nothing to do.
setup:
	@tools/setup

$(BUILD)/build.ninja: | setup-build
	meson setup $(BUILD) --prefix=$(PREFIX) $(MESON_OPTIONS)

.PHONY: setup-build
setup-build:
	@tools/setup build

build: setup-build $(BUILD)/build.ninja
	@ninja --quiet -C $(BUILD)

demo: build
	@$(BUILD)/lgt tools/demo.lua 500 600 $(BUILD)/shallow_water.png

test: setup build
	@tests/run --build $(BUILD) $(ARGS)

stress: setup build
	@tests/run --build $(BUILD) --stress $(ARGS)

fuzz: build
	@$(BUILD)/lgt tests/fuzz/readers.lua 10000000
	@tests/fuzz/hdf5.py --lgt $(BUILD)/lgt --count 300000

# Sanitizers live in build directories of their own.  They see the C code, not the compiled kernels:
# LGT_CHECK=1, which the runner sets there, verifies those by other means.
test-asan: SANITIZER = address
test-ubsan: SANITIZER = undefined
test-tsan: SANITIZER = thread
test-asan test-ubsan test-tsan: setup
	@test -e build-$(SANITIZER)/build.ninja || \
	  meson setup build-$(SANITIZER) -Db_sanitize=$(SANITIZER) -Db_lundef=false -Dbuildtype=debugoptimized $(MESON_OPTIONS)
	@ninja --quiet -C build-$(SANITIZER)
	@tests/run --build build-$(SANITIZER) --sanitizer $(SANITIZER) $(ARGS)

test-valgrind: setup build
	@tests/run --build $(BUILD) --suite valgrind $(ARGS)

bench: setup build
	@bench/run --build $(BUILD) $(ARGS)

coverage: setup build
	@/usr/bin/python3 bench/breadth.py --lgt $(BUILD)/lgt $(ARGS)

reference: build
	@$(BUILD)/lgt tools/reference.lua

format:
	clang-format -i $$(git ls-files 'src/*.c' 'tests/core/*.c' 'tests/net/*.c' 'examples/*.c')
	clang-format -i --style=file:.clang-format-headers $$(git ls-files 'src/*.h' 'tests/*.h' | grep -v -e /ops/sparse/ -e /elementary/ -e cuda_driver.h)

install: build
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@ninja --quiet -C $(BUILD) install

bundle: build
	@tools/bundle $(BUILD) $(BUILD)/bundle/lgt-$$($(BUILD)/lgt --version | sed -n '1s/lgt //p')-x86_64 --tar $(ARGS)

clean:
	rm -rf $(BUILD) build-address build-undefined build-thread bench/venv bench/venv-current
