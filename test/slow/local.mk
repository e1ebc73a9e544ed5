# Small inputs that once took minutes or gigabytes, on a command that counts its
# steps (steps.c).
EXTRA_DIST += test/slow/slow.bash
if !SANITIZERS
TESTS += test/slow/slow.bash
check_PROGRAMS += test/slow/counted
check_LIBRARIES += test/slow/libcounted.a
endif
ARFLAGS = cr
COUNTED_FLAGS = -g0 -O1 -fsanitize-coverage=trace-pc
test_slow_counted_SOURCES = test/slow/steps.c $(dateline_SOURCES)
nodist_test_slow_counted_SOURCES = $(nodist_dateline_SOURCES)
test_slow_counted_CPPFLAGS = $(AM_CPPFLAGS)
test_slow_counted_CFLAGS = $(dateline_CFLAGS) $(COUNTED_FLAGS)
test_slow_counted_LDADD = $(counted_libs) $(ZLIB_LIBS) $(MPI_LIBS) -lm
# The fuzz targets learn from it, too, where an input goes (test/fuzz/replay.c).
test_slow_libcounted_a_SOURCES = $(libdlroute_a_SOURCES) $(libdlread_a_SOURCES) \
	$(libdllink_a_SOURCES) $(libdllive_a_SOURCES)
test_slow_libcounted_a_CFLAGS = $(dateline_CFLAGS) $(COUNTED_FLAGS)
counted_libs = test/slow/libcounted.a $(READ_LIBS) $(LIVE_LIBS) \
	$(JANSSON_LIBS)
