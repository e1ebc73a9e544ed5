# Tests of the proof.
UNIT_TESTS += test/unit/verify
test_unit_verify_SOURCES = test/unit/verify.c test/unit/draw.h \
	test/unit/verify_model.c test/unit/verify_model.h \
	test/unit/verify_fixture.c test/unit/verify_fixture.h
test_unit_verify_CFLAGS = $(AM_CFLAGS) $(IGRAPH_CFLAGS)
test_unit_verify_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS) $(IGRAPH_LIBS)

UNIT_TESTS += test/unit/live_sample
test_unit_live_sample_SOURCES = test/unit/live_sample.c test/unit/draw.h
test_unit_live_sample_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_live_sample_LDADD = libdllive.la libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/test_snapshot
test_unit_test_snapshot_SOURCES = test/unit/test_snapshot.c test/unit/draw.h \
	test/unit/fabric_text.c test/unit/fabric_text.h test/unit/random.h \
	test/unit/grid_fabric.c test/unit/grid_fabric.h
test_unit_test_snapshot_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(ZSTD_CFLAGS)
test_unit_test_snapshot_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS) $(ZSTD_LIBS)

UNIT_TESTS += test/unit/test_read
test_unit_test_read_SOURCES = test/unit/test_read.c test/unit/draw.h \
	test/unit/fabric_text.c test/unit/fabric_text.h test/unit/random.h \
	test/unit/verify_fixture.c test/unit/verify_fixture.h
test_unit_test_read_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_read_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/transition
test_unit_transition_SOURCES = test/unit/transition.c test/unit/draw.h \
	test/unit/verify_model.c test/unit/verify_model.h \
	test/unit/verify_fixture.c test/unit/verify_fixture.h
test_unit_transition_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_transition_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)
