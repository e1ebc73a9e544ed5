libdlroute_la_SOURCES += \
	lib/torus/torus.h
