libdlroute_a_SOURCES += \
	include/dateline/torus.h \
	lib/torus/changes.c \
	lib/torus/config.c \
	lib/torus/contradiction.c \
	lib/torus/describe.c \
	lib/torus/torus.c \
	lib/torus/faults.c \
	lib/torus/graph.c \
	lib/torus/grid.c \
	lib/torus/heap.c \
	lib/torus/hints.c \
	lib/torus/improve.c \
	lib/torus/infer.c \
	lib/torus/internal.h \
	lib/torus/known.c \
	lib/torus/mark.c \
	lib/torus/obstacle.c \
	lib/torus/off_torus.c \
	lib/torus/propose.c \
	lib/torus/rooted.c \
	lib/torus/slow.c \
	lib/torus/solver.c
libdlread_a_SOURCES += \
	lib/torus/curve.c \
	lib/torus/generate.c \
	lib/torus/list_read.c
