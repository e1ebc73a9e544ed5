# check.bash compares the code with it.
EXTRA_DIST += .clang-format

# Unit tests: one program a module, cmocka, linked against the internals.
UNIT_TESTS =
check_LTLIBRARIES =
include test/base.mk
include test/route.mk
include test/link.mk
include test/netlist.mk
include test/verify.mk
include test/plugin.mk
include test/config.mk
include test/emu.mk
include test/emulate.mk
include test/fuzz/local.mk
include test/fault/local.mk
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
