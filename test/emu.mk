# The emulator's engine.
EMU_WORLD = test/unit/emu_fixture.c test/unit/emu_fixture.h \
	test/unit/draw.h
EMU_LIBS = libdllink.la libdlread.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/emu
test_unit_emu_SOURCES = test/unit/emu.c $(EMU_WORLD)
test_unit_emu_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_emu_LDADD = $(EMU_LIBS)

UNIT_TESTS += test/unit/emu_safety
test_unit_emu_safety_SOURCES = test/unit/emu_safety.c $(EMU_WORLD)
test_unit_emu_safety_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_emu_safety_LDADD = $(EMU_LIBS)

UNIT_TESTS += test/unit/emu_model
test_unit_emu_model_SOURCES = test/unit/emu_model.c $(EMU_WORLD)
test_unit_emu_model_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_emu_model_LDADD = $(EMU_LIBS)

UNIT_TESTS += test/unit/events
test_unit_events_SOURCES = test/unit/events.c test/unit/draw.h
test_unit_events_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_events_LDADD = $(EMU_LIBS)
