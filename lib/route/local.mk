libdlroute_la_SOURCES += \
	lib/route/route.h
