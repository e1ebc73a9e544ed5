# The configuration's reader and writer, and generated fabrics.
UNIT_TESTS += test/unit/test_config test/unit/test_generate

test_unit_test_config_SOURCES = test/unit/test_config.c $(GRID_FABRIC)
test_unit_test_config_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_config_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

test_unit_test_generate_SOURCES = test/unit/test_generate.c $(GRID_FABRIC)
test_unit_test_generate_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_test_generate_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)
