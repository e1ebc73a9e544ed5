libdlroute_a_SOURCES += \
	include/dateline/fabric.h \
	lib/fabric/degrade.c \
	lib/fabric/fabric.c \
	lib/fabric/links.c \
	lib/fabric/internal.h \
	lib/fabric/match.c \
	lib/fabric/netlist_write.c \
	lib/fabric/part.c \
	lib/fabric/speed.c
libdlread_a_SOURCES += \
	lib/fabric/index.c \
	lib/fabric/netlist_line.c \
	lib/fabric/netlist_read.c \
	lib/fabric/node_names.c \
	lib/fabric/parsed.c \
	lib/fabric/ports_read.c \
	lib/fabric/records.c \
	lib/fabric/subnet_lst_read.c \
	lib/fabric/subnet_lst_write.c
