# libdllink: one link, for the emulator and the tool.
noinst_LIBRARIES += libdllink.a
libdllink_a_CFLAGS = $(LIB_CFLAGS)
libdllink_a_SOURCES = \
	include/dateline/link.h \
	lib/link/arbiter.c \
	lib/link/credit.c \
	lib/link/fcp.c
