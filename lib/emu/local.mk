# The emulator.
libdllink_la_SOURCES += \
	lib/emu/slarb.c lib/emu/slarb.h \
	lib/emu/traffic.c lib/emu/traffic.h
