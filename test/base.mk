# Tests of what all rooms share.
UNIT_TESTS += test/unit/settings
test_unit_settings_SOURCES = test/unit/settings.c
test_unit_settings_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_settings_LDADD = libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/arena
test_unit_arena_SOURCES = test/unit/arena.c
test_unit_arena_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_arena_LDADD = libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/files
test_unit_files_SOURCES = test/unit/files.c
test_unit_files_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_files_LDADD = libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/text
test_unit_text_SOURCES = test/unit/text.c
test_unit_text_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_text_LDADD = libdlroute.la $(CMOCKA_LIBS)
