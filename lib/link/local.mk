# libdllink: one link, for the emulator and the tool.
noinst_LTLIBRARIES += libdllink.la
libdllink_la_SOURCES = \
	lib/link/arbiter.c lib/link/arbiter.h \
	lib/link/credit.c lib/link/credit.h \
	lib/link/fcp.c lib/link/fcp.h
