libdlroute_la_SOURCES += \
	lib/fabric/fabric.h lib/fabric/fabric.c \
	lib/fabric/grow.h \
	lib/fabric/text.h lib/fabric/text.c \
	lib/fabric/draft.h lib/fabric/draft.c \
	lib/fabric/netlist.h lib/fabric/netlist_comment.c \
	lib/fabric/netlist_line.c lib/fabric/netlist_read.c \
	lib/fabric/netlist_write.c \
	lib/fabric/subnet_lst_read.c lib/fabric/subnet_lst_write.c
