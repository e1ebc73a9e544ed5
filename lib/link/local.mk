# libdllink: one link, for the emulator and the tool.
noinst_LTLIBRARIES += libdllink.la
libdllink_la_CFLAGS = $(LIB_CFLAGS)
libdllink_la_SOURCES = \
	include/dateline/link.h \
	lib/link/arbiter.c \
	lib/link/credit.c \
	lib/link/fcp.c
