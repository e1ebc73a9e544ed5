# The emulator's engine.
EMU_WORLD = test/unit/emu_world.c test/unit/emu_world.h \
	test/unit/draw.h
EMU_LIBS = libdlgen.la libdllink.la libdlroute.la $(CMOCKA_LIBS)

UNIT_TESTS += test/unit/emu
test_unit_emu_SOURCES = test/unit/emu.c $(EMU_WORLD)
test_unit_emu_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_emu_LDADD = $(EMU_LIBS)

UNIT_TESTS += test/unit/emu_safety
test_unit_emu_safety_SOURCES = test/unit/emu_safety.c $(EMU_WORLD)
test_unit_emu_safety_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
test_unit_emu_safety_LDADD = $(EMU_LIBS)
