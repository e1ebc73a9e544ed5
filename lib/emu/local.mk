# The emulator.
libdllink_la_SOURCES += \
	lib/emu/emu.h \
	lib/emu/engine.c \
	lib/emu/histogram.c lib/emu/histogram.h \
	lib/emu/rate.c \
	lib/emu/slarb.c lib/emu/slarb.h \
	lib/emu/traffic.c lib/emu/traffic.h
