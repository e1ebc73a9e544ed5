libdlroute_la_SOURCES += \
	lib/fabric/fabric.h
