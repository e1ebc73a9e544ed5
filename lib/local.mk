# libdlroute: what routing needs, and all that the plugin links.
noinst_LTLIBRARIES += libdlroute.la
libdlroute_la_SOURCES = \
	lib/dateline.h \
	lib/clock.h lib/log.c lib/log.h \
	lib/metrics.c lib/metrics.h
include lib/fabric/local.mk
include lib/torus/local.mk
include lib/tables/local.mk
include lib/route/local.mk
include lib/verify/local.mk

include lib/link/local.mk
include lib/emu/local.mk

# libdateline: the whole library.
lib_LTLIBRARIES += libdateline.la
include_HEADERS += lib/dateline.h
libdateline_la_SOURCES =
libdateline_la_LIBADD = libdlroute.la libdllink.la libdllive.la
libdateline_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(srcdir)/lib/dateline.map
EXTRA_libdateline_la_DEPENDENCIES = $(srcdir)/lib/dateline.map
EXTRA_DIST += lib/dateline.map
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = lib/libdateline.pc
