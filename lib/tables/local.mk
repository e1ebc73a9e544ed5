libdlroute_la_SOURCES += \
	lib/tables/carry.c \
	lib/tables/load.c lib/tables/load.h \
	lib/tables/read.c lib/tables/read.h \
	lib/tables/read_fdbs.c \
	lib/tables/read_lfts.c \
	lib/tables/read_psl.c \
	lib/tables/read_sl2vl.c \
	lib/tables/read_vlarb.c \
	lib/tables/snapshot.c \
	lib/tables/snapshot_read.c \
	lib/tables/tables.c \
	lib/tables/tables.h \
	lib/tables/write.c
