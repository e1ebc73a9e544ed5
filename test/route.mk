# Tables, coordinates and routing, on fabrics with known coordinates.
GRID_FABRIC = test/unit/grid_fabric.c test/unit/grid_fabric.h test/unit/random.h
UNIT_TESTS += test/unit/test_discover test/unit/test_route \
	test/unit/test_tables

UNIT_TESTS += test/unit/test_damage
test_unit_test_damage_SOURCES = test/unit/test_damage.c $(GRID_FABRIC)
test_unit_test_damage_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_damage_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

# What hangs beside a torus.
UNIT_TESTS += test/unit/test_off_torus
test_unit_test_off_torus_SOURCES = test/unit/test_off_torus.c $(GRID_FABRIC) \
	test/unit/verify_model.c test/unit/verify_model.h
test_unit_test_off_torus_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_off_torus_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/test_graph
test_unit_test_graph_SOURCES = test/unit/test_graph.c $(GRID_FABRIC)
test_unit_test_graph_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_graph_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/test_agreement
test_unit_test_agreement_SOURCES = test/unit/test_agreement.c $(GRID_FABRIC)
test_unit_test_agreement_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_agreement_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)
UNIT_TESTS += test/unit/test_faults
test_unit_test_faults_SOURCES = test/unit/test_faults.c $(GRID_FABRIC)
test_unit_test_faults_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_faults_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

test_unit_test_discover_SOURCES = test/unit/test_discover.c $(GRID_FABRIC)
test_unit_test_discover_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_discover_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

ROUTED = test/unit/routed.c test/unit/routed.h $(GRID_FABRIC)
test_unit_test_route_SOURCES = test/unit/test_route.c $(ROUTED)
test_unit_test_route_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_route_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/test_route_figures
test_unit_test_route_figures_SOURCES = test/unit/test_route_figures.c $(ROUTED)
test_unit_test_route_figures_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_route_figures_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

test_unit_test_tables_SOURCES = test/unit/test_tables.c
test_unit_test_tables_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_tables_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/test_proven
test_unit_test_proven_SOURCES = test/unit/test_proven.c $(GRID_FABRIC) \
	test/unit/verify_model.c test/unit/verify_model.h
test_unit_test_proven_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_proven_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

# Any-SL mode, judged by a checker of its own, and shared ties.
UNIT_TESTS += test/unit/test_anysl
test_unit_test_anysl_SOURCES = test/unit/test_anysl.c $(GRID_FABRIC)
test_unit_test_anysl_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(IGRAPH_CFLAGS)
test_unit_test_anysl_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS) $(IGRAPH_LIBS)

UNIT_TESTS += test/unit/test_load
test_unit_test_load_SOURCES = test/unit/test_load.c $(GRID_FABRIC)
test_unit_test_load_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_load_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

# What monitoring sees of a routing.
UNIT_TESTS += test/unit/test_metrics
test_unit_test_metrics_SOURCES = plugin/metrics_text.c test/unit/test_metrics.c $(GRID_FABRIC)
test_unit_test_metrics_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_metrics_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

# The order of sites for schedulers.
UNIT_TESTS += test/unit/test_curve
test_unit_test_curve_SOURCES = test/unit/test_curve.c $(GRID_FABRIC)
test_unit_test_curve_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_curve_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/test_carry
test_unit_test_carry_SOURCES = test/unit/test_carry.c $(GRID_FABRIC)
test_unit_test_carry_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_carry_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)
