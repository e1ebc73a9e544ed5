# Tests of the proof.
UNIT_TESTS += test/unit/verify
test_unit_verify_SOURCES = test/unit/verify.c test/unit/draw.h \
	test/unit/verify_twin.c test/unit/verify_twin.h \
	test/unit/verify_world.c test/unit/verify_world.h
test_unit_verify_CFLAGS = $(AM_CFLAGS) $(IGRAPH_CFLAGS)
test_unit_verify_LDADD = libdlroute.la $(CMOCKA_LIBS) $(IGRAPH_LIBS)
