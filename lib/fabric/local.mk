libdlroute_la_SOURCES += \
	lib/fabric/fabric.h lib/fabric/fabric.c
