libdlroute_la_SOURCES += \
	lib/fabric/fabric.h lib/fabric/fabric.c \
	lib/fabric/grow.h \
	lib/fabric/text.h lib/fabric/text.c \
	lib/fabric/damage.h lib/fabric/damage.c \
	lib/fabric/draft.h lib/fabric/draft.c \
	lib/fabric/netlist.h lib/fabric/netlist_comment.c \
	lib/fabric/netlist_line.c lib/fabric/netlist_read.c \
	lib/fabric/netlist_write.c \
	lib/fabric/subnet_lst_read.c lib/fabric/subnet_lst_write.c

# The running fabric: apart, because it needs libraries that the plugin, which
# runs inside a subnet manager, must not load.
noinst_LTLIBRARIES += libdllive.la
libdllive_la_SOURCES = \
	lib/fabric/live.c lib/fabric/live.h \
	lib/fabric/live_paths.c \
	lib/fabric/live_tables.c \
	lib/fabric/mads.c lib/fabric/mads.h
libdllive_la_LIBADD = -libnetdisc -libmad -libumad
