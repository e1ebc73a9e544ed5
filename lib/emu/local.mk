# The emulator.
libdllink_la_SOURCES += \
	lib/emu/adapter.c \
	lib/emu/audit.c \
	lib/emu/deadlock.c \
	lib/emu/emu.h \
	lib/emu/engine.c \
	lib/emu/events.c lib/emu/events.h \
	lib/emu/fault.c \
	lib/emu/foresee.c \
	lib/emu/forward.c \
	lib/emu/histogram.c lib/emu/histogram.h \
	lib/emu/internal.h \
	lib/emu/rate.c \
	lib/emu/setup.c \
	lib/emu/slarb.c lib/emu/slarb.h \
	lib/emu/stats.c \
	lib/emu/traffic.c lib/emu/traffic.h \
	lib/emu/transmit.c
