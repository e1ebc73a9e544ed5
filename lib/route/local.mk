libdlroute_la_SOURCES += \
	lib/route/repair.c lib/route/repair.h \
	lib/route/repair_dest.c \
	lib/route/repair_flow.c \
	lib/route/repair_graph.c \
	lib/route/repair_net.c \
	lib/route/repair_tables.c \
	lib/route/repair_tree.c \
	lib/route/rings.c lib/route/rings.h \
	lib/route/route.c lib/route/route.h \
	lib/route/sl.c \
	lib/route/tree.c \
	lib/route/unicast.c lib/route/unicast.h \
	lib/route/vlarb.c lib/route/vlarb.h
