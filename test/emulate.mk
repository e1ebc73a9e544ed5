# Tests of what is around the emulator: traffic, scenarios, results.
UNIT_TESTS += test/unit/traffic
test_unit_traffic_SOURCES = test/unit/traffic.c
test_unit_traffic_LDADD = libdllink.la libdlroute.la $(CMOCKA_LIBS) -lm
