libdlroute_la_SOURCES += \
	lib/torus/adjacency.c \
	lib/torus/anchors.c lib/torus/anchors.h \
	lib/torus/blocks.c \
	lib/torus/branches.c lib/torus/branches.h \
	lib/torus/config.c lib/torus/config_write.c \
	lib/torus/changes.c lib/torus/describe.c \
	lib/torus/discover.c lib/torus/discover.h \
	lib/torus/grid.c \
	lib/torus/infer.c \
	lib/torus/list.c lib/torus/odd.c \
	lib/torus/search.c lib/torus/search.h \
	lib/torus/seeds.c lib/torus/seeds.h \
	lib/torus/torus.c lib/torus/torus.h

# libdlgen: fabrics made to a plan, for the command and for tests.
noinst_LTLIBRARIES += libdlgen.la
libdlgen_la_SOURCES = \
	lib/memory.h \
	lib/random.h \
	lib/torus/curve.c lib/torus/curve.h \
	lib/torus/generate.c lib/torus/generate.h
