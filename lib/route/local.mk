libdlroute_la_SOURCES += \
	lib/route/rings.c lib/route/rings.h \
	lib/route/route.c lib/route/route.h \
	lib/route/sl.c \
	lib/route/tree.c \
	lib/route/unicast.c lib/route/unicast.h \
	lib/route/vlarb.c lib/route/vlarb.h
