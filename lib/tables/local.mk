libdlroute_la_SOURCES += \
	lib/tables/snapshot.c \
	lib/tables/tables.c \
	lib/tables/tables.h \
	lib/tables/write.c
