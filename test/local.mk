# check.bash compares the code with it.
EXTRA_DIST += .clang-format .clang-tidy test/schemas.py test/tidy.bash test/tidy.argued \
	test/mutate.bash test/races.bash

# As in the check, which runs it beside other tests.
.PHONY: tidy
tidy: config.h
	@$(srcdir)/test/tidy.bash "$(abs_builddir)"

# Small changes of the product's C: which tests notice?  In a copy of the tree.
.PHONY: mutate
mutate: all
	@$(srcdir)/test/mutate.bash "$(abs_builddir)"

# Commands that work on several threads, with ThreadSanitizer.
.PHONY: check-races
check-races: all
	@$(srcdir)/test/races.bash "$(abs_builddir)"

# How many random inputs the tests try: one of so many (test/unit/share.h).
if SANITIZERS
TEST_SHARE = 5
else
TEST_SHARE = 1
endif
AM_TESTS_ENVIRONMENT = DATELINE_SHARE=$${DATELINE_SHARE:-$(TEST_SHARE)}; \
	export DATELINE_SHARE;

# What is preloaded into other programs.
preloaded_cflags = $(AM_CFLAGS) -fPIC
preloaded_ldflags = $(AM_LDFLAGS) -shared

# Those that take longest first: no processor waits for the last one.
UNIT_TESTS =
include test/slow/local.mk
include test/model/local.mk
include test/sim/local.mk
include test/fault/local.mk
include test/unit/local.mk
include test/fuzz/local.mk
if CMOCKA
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
else
check-local:
	@echo 'make check: the unit tests need cmocka; install it, and run' \
		'configure again:' >&2
	@echo '    sudo apt-get install libcmocka-dev' >&2
	@false
endif
