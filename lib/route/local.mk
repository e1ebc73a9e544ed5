libdlroute_la_SOURCES += \
	include/dateline/route.h \
	lib/route/classic.c \
	lib/route/internal.h \
	lib/route/report.c \
	lib/route/rings.c \
	lib/route/route.c \
	lib/route/sl.c \
	lib/route/tree.c \
	lib/route/unicast.c \
	lib/route/vlarb.c \
	lib/route/proven/dest.c \
	lib/route/proven/flow.c \
	lib/route/proven/graph.c \
	lib/route/proven/internal.h \
	lib/route/proven/net.c \
	lib/route/proven/repair.c \
	lib/route/proven/tables.c \
	lib/route/proven/tree.c
