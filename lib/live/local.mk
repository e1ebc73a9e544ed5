# The running fabric: apart, because it needs libraries that the plugin, which
# runs inside a subnet manager, must not load.
noinst_LIBRARIES += libdllive.a
libdllive_a_CFLAGS = $(LIB_CFLAGS)
libdllive_a_SOURCES = \
	include/dateline/live.h \
	lib/live/congestion.c \
	lib/live/counters.c \
	lib/live/counters_read.c \
	lib/live/fabric.c \
	lib/live/internal.h \
	lib/live/mads.c \
	lib/live/paths.c \
	lib/live/tables.c \
	lib/live/walk.c
LIVE_LIBS = -libmad -libumad
