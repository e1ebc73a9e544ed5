# Tests of what the plugin does without OpenSM: its options and the user's VL
# arbitration tables.
UNIT_TESTS += test/unit/plugin_options test/unit/plugin_vlarb
test_unit_plugin_options_SOURCES = test/unit/plugin_options.c \
	plugin/options.c plugin/options.h
test_unit_plugin_options_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/plugin
test_unit_plugin_options_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)
test_unit_plugin_vlarb_SOURCES = test/unit/plugin_vlarb.c test/unit/draw.h \
	plugin/vlarb.c plugin/vlarb.h
test_unit_plugin_vlarb_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/plugin
test_unit_plugin_vlarb_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

# What is linked into it.
TESTS += test/unit/plugin_symbols.bash
EXTRA_DIST += test/unit/plugin_symbols.bash

# The check before tables go to the switches.
UNIT_TESTS += test/unit/plugin_check
test_unit_plugin_check_SOURCES = test/unit/plugin_check.c \
	plugin/check.c plugin/check.h $(GRID_FABRIC)
test_unit_plugin_check_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/plugin
test_unit_plugin_check_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/plugin_mark
test_unit_plugin_mark_SOURCES = test/unit/plugin_mark.c test/unit/random.h \
	plugin/mark.c plugin/mark.h
test_unit_plugin_mark_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/plugin
test_unit_plugin_mark_LDADD = $(CMOCKA_LIBS)
