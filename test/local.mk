# check.bash compares the code with it.
EXTRA_DIST += .clang-format test/schemas.py

UNIT_TESTS =
check_LTLIBRARIES =
include test/unit/local.mk
include test/model/local.mk
include test/fuzz/local.mk
include test/fault/local.mk
include test/slow/local.mk
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
