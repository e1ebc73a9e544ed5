# Unit tests: a program a module, with cmocka, linked to the internals.
#
# A test is a file test/unit/NAME.c and its name below.  It may call all rooms
# but live/ and all fixtures; what needs more has lines of its own.
AM_DEFAULT_SOURCE_EXT = .c
LDADD = test/unit/libfixtures.a libdllink.a libdlread.a libdlroute.a $(READ_LIBS) $(CMOCKA_LIBS) -lm

# Fabrics, tables and models that tests share.
check_LIBRARIES += test/unit/libfixtures.a
test_unit_libfixtures_a_SOURCES = test/unit/random.h test/unit/draw.h test/unit/share.h test/unit/arb_model.h \
	test/unit/grid_fabric.c test/unit/grid_fabric.h \
	test/unit/routed.c test/unit/routed.h \
	test/unit/fabric_text.c test/unit/fabric_text.h \
	test/unit/netlist_text.c test/unit/netlist_text.h \
	test/unit/verify_model.c test/unit/verify_model.h \
	test/unit/verify_fixture.c test/unit/verify_fixture.h \
	test/unit/emu_fixture.c test/unit/emu_fixture.h \
	test/unit/program_runs.c test/unit/program_runs.h \
	test/unit/emu_reference.c test/unit/emu_reference.h test/unit/emu_reference_model.h \
	test/unit/emu_reference_link.c test/unit/emu_reference_node.c \
	test/unit/emu_reference_retries.c
# Objects apart from those of the plugin itself.
test_unit_libfixtures_a_CFLAGS = $(AM_CFLAGS)

# With igraph as a second opinion on cycles.
UNIT_TESTS += test/unit/verify test/unit/test_anysl
test_unit_verify_CFLAGS = $(AM_CFLAGS) $(IGRAPH_CFLAGS)
test_unit_verify_LDADD = $(LDADD) $(IGRAPH_LIBS)
test_unit_test_anysl_SOURCES = test/unit/test_anysl.c test/unit/anysl_checker.c \
	test/unit/anysl_checker.h
test_unit_test_anysl_CFLAGS = $(AM_CFLAGS) $(IGRAPH_CFLAGS)
test_unit_test_anysl_LDADD = $(LDADD) $(IGRAPH_LIBS)

# Fabrics, and what reads and writes them.
UNIT_TESTS += test/unit/settings test/unit/arena test/unit/files test/unit/text test/unit/pool \
	test/unit/test_fabric test/unit/test_netlist test/unit/test_netlist_write test/unit/test_subnet_lst \
	test/unit/port_reports
# Tori.
UNIT_TESTS += test/unit/test_discover test/unit/test_config test/unit/test_generate \
	test/unit/test_off_torus test/unit/test_graph test/unit/test_agreement \
	test/unit/test_any_fabric test/unit/test_faults test/unit/test_curve test/unit/test_mark
# The running fabric.
UNIT_TESTS += test/unit/live_congestion
test_unit_live_congestion_SOURCES = test/unit/live_congestion.c \
	test/unit/fake_umad.c test/unit/fake_umad.h
test_unit_live_congestion_LDADD = libdllive.a libdlread.a libdlroute.a \
	$(LIVE_LIBS) $(READ_LIBS) $(CMOCKA_LIBS) -lm
# Routing.
UNIT_TESTS += test/unit/test_route test/unit/test_route_figures test/unit/test_damage \
	test/unit/test_proven test/unit/test_avoid test/unit/test_weigh test/unit/test_carry test/unit/route_check
# Tables and the proof.
UNIT_TESTS += test/unit/dump_out test/unit/test_tables test/unit/test_load test/unit/test_read \
	test/unit/transition test/unit/longest test/unit/waves
# Thousands of processes that are killed: with sanitizers each takes as long as twenty do
# without, and what a writer does with memory the other tests show.
if !SANITIZERS
UNIT_TESTS += test/unit/interrupted
endif
# Placement: a part of the command.
UNIT_TESTS += test/unit/compact
test_unit_compact_SOURCES = test/unit/compact.c tools/hops/compact.c
# Links and the emulator.
UNIT_TESTS += test/unit/arbiter test/unit/arbiter_shares test/unit/credit test/unit/fcp \
	test/unit/slarb test/unit/events test/unit/emu test/unit/emu_safety test/unit/emu_shards \
	test/unit/emu_model test/unit/programs test/unit/program_faults test/unit/congestion \
	test/unit/rewrite test/unit/traffic
# The emulator's threads under ThreadSanitizer, which sees only what is compiled
# for it, and does not go with AddressSanitizer.
if !SANITIZERS
UNIT_TESTS += test/unit/emu_races
test_unit_emu_races_SOURCES = test/unit/emu_shards.c lib/emu/adapter.c lib/emu/audit.c \
	lib/emu/deadlock.c lib/emu/engine.c lib/emu/events.c lib/emu/fault.c lib/emu/forward.c \
	lib/emu/hop.c lib/emu/mail.c lib/emu/packet.c lib/emu/setup.c lib/emu/shard.c lib/emu/slarb.c lib/emu/stats.c \
	lib/emu/transmit.c lib/emu/voq.c
test_unit_emu_races_CPPFLAGS = $(AM_CPPFLAGS) -DRACES
test_unit_emu_races_CFLAGS = $(AM_CFLAGS) -fsanitize=thread
test_unit_emu_races_LDFLAGS = -fsanitize=thread
endif
# The plugin, with a stand-in for OpenSM.
check_LIBRARIES += test/unit/libosmfixture.a
test_unit_libosmfixture_a_SOURCES = test/unit/osm_fixture.c test/unit/osm_fixture.h \
	test/unit/osm_functions.c \
	$(plugin_libosmdateline_so_SOURCES)
test_unit_libosmfixture_a_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
UNIT_TESTS += test/unit/plugin_engine test/unit/plugin_import test/unit/plugin_sweep test/unit/plugin_states \
	test/unit/plugin_recall test/unit/plugin_marks test/unit/plugin_coordinates \
	test/unit/plugin_mcast test/unit/plugin_metrics test/unit/plugin_phases \
	test/unit/plugin_qos test/unit/plugin_events test/unit/plugin_avoid
osm_libs = test/unit/libosmfixture.a $(LDADD)
test_unit_plugin_engine_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_engine_LDADD = $(osm_libs)
test_unit_plugin_import_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_import_LDADD = $(osm_libs)
test_unit_plugin_sweep_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_sweep_LDADD = $(osm_libs)
test_unit_plugin_states_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_states_LDADD = $(osm_libs)
test_unit_plugin_coordinates_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_coordinates_LDADD = $(osm_libs)
test_unit_plugin_marks_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_marks_LDADD = $(osm_libs)
test_unit_plugin_recall_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_recall_LDADD = $(osm_libs)
test_unit_plugin_mcast_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_mcast_LDADD = $(osm_libs)
test_unit_plugin_metrics_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_metrics_LDADD = $(osm_libs)
test_unit_plugin_phases_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_phases_LDADD = $(osm_libs)
test_unit_plugin_qos_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_qos_LDADD = $(osm_libs)
test_unit_plugin_events_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_events_LDADD = $(osm_libs)
test_unit_plugin_avoid_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_unit_plugin_avoid_LDADD = $(osm_libs)
test_unit_plugin_options_LDADD = $(osm_libs)
test_unit_test_metrics_LDADD = $(osm_libs)
UNIT_TESTS += test/unit/plugin_options test/unit/vlarb_configured test/unit/test_metrics

UNIT_TESTS += test/unit/test_snapshot test/unit/test_snapshot_file
test_unit_test_snapshot_SOURCES = test/unit/test_snapshot.c test/unit/snapshot_fixture.c \
	test/unit/snapshot_fixture.h
test_unit_test_snapshot_file_SOURCES = test/unit/test_snapshot_file.c \
	test/unit/snapshot_fixture.c test/unit/snapshot_fixture.h
test_unit_test_snapshot_file_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS)


# The shared library through its public headers alone.
UNIT_TESTS += test/unit/library
test_unit_library_CPPFLAGS = -I$(srcdir)/include
test_unit_library_LDADD = libdateline.so.0 $(CMOCKA_LIBS)
test_unit_library_LDFLAGS = $(RUN_HERE)

# The commands arbitrate and credits, on the documented examples and on damaged
# files.
UNIT_TESTS += test/unit/link_cli
test_unit_link_cli_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
test_unit_link_cli_LDADD = $(CMOCKA_LIBS) $(JANSSON_LIBS)

# Scripts: the public interface, the commands, what is linked into what.
UNIT_CHECKS = test/unit/api.bash test/unit/examples.bash test/unit/verdicts.bash \
	test/unit/interrupt.bash test/unit/link_symbols.bash test/unit/plugin_symbols.bash
TESTS += $(UNIT_CHECKS)
# A thousand short commands: sanitizers see what their exit statuses do not show.  Figures
# and documents are the same in every build.
SANITIZED_CHECKS = test/unit/exit_statuses.bash test/unit/small_sizes.bash
PLAIN_CHECKS = test/unit/bounds.bash test/unit/schemas.bash test/unit/throughput.bash
if SANITIZERS
TESTS += $(SANITIZED_CHECKS)
else
TESTS += $(PLAIN_CHECKS)
endif
EXTRA_DIST += $(UNIT_CHECKS) $(SANITIZED_CHECKS) $(PLAIN_CHECKS) test/unit/link_mutants.bash
