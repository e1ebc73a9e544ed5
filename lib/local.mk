# Each room lists its files; what its public header declares is installed.
#
# libdlroute: what routing needs, and all that the plugin links.
# libdlread: readers of files and makers of fabrics, which it does not need.
#
# What the library calls of its own is its own: no detour through a table.
LIB_CFLAGS = $(AM_CFLAGS) -fPIC -fno-semantic-interposition
noinst_LIBRARIES += libdlroute.a libdlread.a
libdlroute_a_SOURCES =
libdlroute_a_CFLAGS = $(LIB_CFLAGS) $(ZSTD_CFLAGS)
libdlread_a_SOURCES =
libdlread_a_CFLAGS = $(LIB_CFLAGS) $(YAML_CFLAGS) $(ZSTD_CFLAGS)
READ_LIBS = $(YAML_LIBS) $(ZSTD_LIBS)
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

# libdateline: the whole library.  Linked as a program is, which `make install` knows how to
# install, under its version; programs of the build tree find it by the name that they ask for.
execlibdir = $(libdir)
execlib_PROGRAMS = libdateline.so.0.0.0
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
WHOLE_LIBRARY = libdllink.a libdllive.a libdlread.a libdlroute.a
libdateline_so_0_0_0_SOURCES =
libdateline_so_0_0_0_LDADD = $(LIVE_LIBS) $(READ_LIBS) -lm
libdateline_so_0_0_0_DEPENDENCIES = $(WHOLE_LIBRARY) $(srcdir)/lib/dateline.map
libdateline_so_0_0_0_LDFLAGS = $(AM_LDFLAGS) -shared -Wl,-soname,libdateline.so.0 \
	-Wl,-Bsymbolic-functions -Wl,--version-script=$(srcdir)/lib/dateline.map \
	-Wl,--whole-archive $(WHOLE_LIBRARY) -Wl,--no-whole-archive
EXTRA_DIST += lib/dateline.map
libdateline.so.0: libdateline.so.0.0.0
	$(AM_V_at)ln -sf libdateline.so.0.0.0 $@
CLEANFILES += libdateline.so.0
RUN_HERE = $(AM_LDFLAGS) -Wl,-rpath,$(abs_builddir)

install-exec-hook:
	cd "$(DESTDIR)$(libdir)" && ln -sf libdateline.so.0.0.0 libdateline.so.0 && \
		ln -sf libdateline.so.0 libdateline.so
uninstall-hook:
	cd "$(DESTDIR)$(libdir)" && rm -f libdateline.so libdateline.so.0
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = lib/libdateline.pc
