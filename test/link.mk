# Tests of one link: VL arbiter, flow control, adapter scheduler.
UNIT_TESTS += test/unit/arbiter
test_unit_arbiter_SOURCES = test/unit/arbiter.c test/unit/arb_model.h \
	test/unit/draw.h
test_unit_arbiter_LDADD = libdllink.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/arbiter_shares
test_unit_arbiter_shares_SOURCES = test/unit/arbiter_shares.c test/unit/draw.h
test_unit_arbiter_shares_LDADD = libdllink.la $(CMOCKA_LIBS) -lm

UNIT_TESTS += test/unit/credit
test_unit_credit_SOURCES = test/unit/credit.c test/unit/draw.h
test_unit_credit_LDADD = libdllink.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/fcp
test_unit_fcp_SOURCES = test/unit/fcp.c test/unit/draw.h
test_unit_fcp_LDADD = libdllink.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/slarb
test_unit_slarb_SOURCES = test/unit/slarb.c test/unit/draw.h
test_unit_slarb_LDADD = libdllink.la $(CMOCKA_LIBS) -lm

# The flow-control model, and the program that repeats its traces: linked to
# the library, and with its sources at the model's modulus.
check_PROGRAMS += test/model/replay test/model/replay_small
test_model_replay_SOURCES = test/model/replay.c
test_model_replay_LDADD = libdllink.la
test_model_replay_small_SOURCES = test/model/replay.c lib/link/credit.c \
	lib/link/fcp.c
test_model_replay_small_CPPFLAGS = $(AM_CPPFLAGS) -DDL_LINK_CREDIT_BITS=4
TESTS += test/unit/api.bash test/unit/small_sizes.bash test/unit/examples.bash
TESTS += test/unit/verdicts.bash test/unit/exit_statuses.bash \
	test/unit/interrupt.bash
EXTRA_DIST += test/unit/verdicts.bash test/unit/exit_statuses.bash \
	test/unit/interrupt.bash
EXTRA_DIST += test/unit/examples.bash
# The shared library through its public headers alone.
UNIT_TESTS += test/unit/library
test_unit_library_SOURCES = test/unit/library.c
test_unit_library_CPPFLAGS = -I$(srcdir)/include
test_unit_library_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_library_LDADD = libdateline.la $(CMOCKA_LIBS)
EXTRA_DIST += test/unit/api.bash test/unit/small_sizes.bash
LINK_CHECKS = test/model/traces.bash test/unit/link_symbols.bash
if !SANITIZERS
LINK_CHECKS += test/model/verify.bash
endif
TESTS += $(LINK_CHECKS)
EXTRA_DIST += test/model/credit.pml test/model/traces.bash \
	test/model/verify.bash test/unit/link_symbols.bash

# The commands, on the documented examples and on damaged files.
UNIT_TESTS += test/unit/link_cli
test_unit_link_cli_SOURCES = test/unit/link_cli.c
test_unit_link_cli_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
test_unit_link_cli_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS)
