# Tests of what is around the emulator: traffic, scenarios, results.
UNIT_TESTS += test/unit/traffic
test_unit_traffic_SOURCES = test/unit/traffic.c
test_unit_traffic_LDADD = libdllink.la libdlread.la libdlroute.la $(CMOCKA_LIBS) -lm

UNIT_TESTS += test/unit/emulate_sweep
test_unit_emulate_sweep_SOURCES = test/unit/emulate_sweep.c \
	tools/emulate_faults.c tools/emulate_plan.c tools/emulate_run.c \
	tools/emulate_sweep.c tools/emulate_trace.c tools/emulate_read.c \
	tools/campaign.c tools/campaign_alone.c tools/scenario.c \
	tools/sites.c
test_unit_emulate_sweep_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tools
test_unit_emulate_sweep_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(YAML_CFLAGS)
test_unit_emulate_sweep_LDADD = libdllink.la libdlread.la libdlroute.la \
	$(CMOCKA_LIBS) $(YAML_LIBS)
