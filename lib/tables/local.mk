libdlroute_la_SOURCES += \
	lib/tables/tables.h
