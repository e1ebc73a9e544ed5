libdlroute_a_SOURCES += \
	include/dateline/tables.h \
	lib/tables/compare.c \
	lib/tables/internal.h \
	lib/tables/masks.c \
	lib/tables/pack.c \
	lib/tables/pack.h \
	lib/tables/load.c \
	lib/tables/paths.c \
	lib/tables/paths.h \
	lib/tables/remap.c \
	lib/tables/snapshot.c \
	lib/tables/sum.c \
	lib/tables/tables.c
libdlread_a_SOURCES += \
	lib/tables/export.c \
	lib/tables/manifest.c \
	lib/tables/out.c \
	lib/tables/read.c \
	lib/tables/read_lfts.c \
	lib/tables/read_maps.c \
	lib/tables/read_psl.c \
	lib/tables/snapshot_read.c \
	lib/tables/unpack.c \
	lib/tables/write.c
