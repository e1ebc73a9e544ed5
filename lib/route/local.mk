libdlroute_a_SOURCES += \
	include/dateline/route.h \
	lib/route/avoid.c \
	lib/route/check.c \
	lib/route/classic.c \
	lib/route/configured.c \
	lib/route/describe.c \
	lib/route/internal.h \
	lib/route/report.c \
	lib/route/rings.c \
	lib/route/route.c \
	lib/route/sl.c \
	lib/route/ties.c \
	lib/route/transit.c \
	lib/route/tree.c \
	lib/route/unicast.c \
	lib/route/vlarb.c \
	lib/route/weigh.c \
	lib/route/proven/cdg.c \
	lib/route/proven/internal.h \
	lib/route/proven/links.c \
	lib/route/proven/paths.c \
	lib/route/proven/repair.c \
	lib/route/proven/reroute.c \
	lib/route/proven/multicast.c \
	lib/route/proven/write.c
