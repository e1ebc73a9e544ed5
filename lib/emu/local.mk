# The emulator.
libdllink_la_SOURCES += \
	lib/emu/slarb.c lib/emu/slarb.h
