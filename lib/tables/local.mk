libdlroute_la_SOURCES += \
	lib/tables/tables.c \
	lib/tables/tables.h \
	lib/tables/write.c
