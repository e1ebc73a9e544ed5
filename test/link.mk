# Tests of one link: VL arbiter, flow control, adapter scheduler.
UNIT_TESTS += test/unit/arbiter
test_unit_arbiter_SOURCES = test/unit/arbiter.c test/unit/arb_twin.h \
	test/unit/draw.h
test_unit_arbiter_LDADD = libdllink.la $(CMOCKA_LIBS)
