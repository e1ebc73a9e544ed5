# Each room lists its files; what its public header declares is installed.
#
# libdlroute: what routing needs, and all that the plugin links.
# libdlread: readers of files and makers of fabrics, which it does not need.
#
# What the library calls of its own is its own: no detour through a table.
LIB_CFLAGS = $(AM_CFLAGS) -fno-semantic-interposition
noinst_LTLIBRARIES += libdlroute.la libdlread.la
libdlroute_la_SOURCES =
libdlroute_la_CFLAGS = $(LIB_CFLAGS) $(ZSTD_CFLAGS)
libdlroute_la_LIBADD = $(ZSTD_LIBS)
libdlread_la_SOURCES =
libdlread_la_CFLAGS = $(LIB_CFLAGS) $(YAML_CFLAGS) $(ZSTD_CFLAGS)
libdlread_la_LIBADD = $(YAML_LIBS) $(ZSTD_LIBS)
include lib/base/local.mk
include lib/fabric/local.mk
include lib/torus/local.mk
include lib/tables/local.mk
include lib/route/local.mk
include lib/verify/local.mk
include lib/transition/local.mk
include lib/live/local.mk
include lib/link/local.mk
include lib/emu/local.mk

# libdateline: the whole library, which the command links, too.
lib_LTLIBRARIES += libdateline.la
include_HEADERS += include/dateline.h
roomsdir = $(includedir)/dateline
rooms_HEADERS = \
	include/dateline/base.h \
	include/dateline/emu.h \
	include/dateline/emu_scenario.h \
	include/dateline/emu_traffic.h \
	include/dateline/fabric.h \
	include/dateline/histogram.h \
	include/dateline/link.h \
	include/dateline/live.h \
	include/dateline/route.h \
	include/dateline/tables.h \
	include/dateline/torus.h \
	include/dateline/transition.h \
	include/dateline/verify.h
libdateline_la_SOURCES =
libdateline_la_LIBADD = libdllink.la libdllive.la libdlread.la libdlroute.la -lm
libdateline_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,-Bsymbolic-functions \
	-Wl,--version-script=$(srcdir)/lib/dateline.map
EXTRA_libdateline_la_DEPENDENCIES = $(srcdir)/lib/dateline.map
EXTRA_DIST += lib/dateline.map
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = lib/libdateline.pc
