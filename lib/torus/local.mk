libdlroute_la_SOURCES += \
	include/dateline/torus.h \
	lib/torus/adjacency.c \
	lib/torus/blocks.c \
	lib/torus/branches.c \
	lib/torus/changes.c \
	lib/torus/config.c \
	lib/torus/config_write.c \
	lib/torus/describe.c \
	lib/torus/discover.c \
	lib/torus/grid.c \
	lib/torus/hints.c \
	lib/torus/infer.c \
	lib/torus/internal.h \
	lib/torus/list.c \
	lib/torus/off_torus.c \
	lib/torus/search.c \
	lib/torus/seeds.c \
	lib/torus/torus.c
libdlread_la_SOURCES += \
	lib/torus/curve.c \
	lib/torus/generate.c
