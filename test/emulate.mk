# Tests of what is around the emulator: traffic, scenarios, results.
UNIT_TESTS += test/unit/traffic
test_unit_traffic_SOURCES = test/unit/traffic.c
test_unit_traffic_LDADD = libdllink.la libdlread.la libdlroute.la $(CMOCKA_LIBS) -lm

UNIT_TESTS += test/unit/emulate_sweep
test_unit_emulate_sweep_SOURCES = test/unit/emulate_sweep.c
test_unit_emulate_sweep_LDADD = libdllink.la libdlread.la libdlroute.la \
	$(CMOCKA_LIBS)
