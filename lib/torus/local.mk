libdlroute_la_SOURCES += \
	lib/torus/grid.c lib/torus/torus.h
