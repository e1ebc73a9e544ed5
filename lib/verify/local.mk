libdlroute_a_SOURCES += \
	include/dateline/verify.h \
	lib/verify/certificate.c \
	lib/verify/columns.c \
	lib/verify/common.c \
	lib/verify/cycle.c \
	lib/verify/granted.c \
	lib/verify/internal.h \
	lib/verify/mixed.c \
	lib/verify/moving.c \
	lib/verify/moving.h \
	lib/verify/moving_follow.c \
	lib/verify/multicast.c \
	lib/verify/net.c \
	lib/verify/served.c \
	lib/verify/sets.c \
	lib/verify/unicast.c \
	lib/verify/verify.c \
	lib/verify/walk.c \
	lib/verify/example.c \
	lib/verify/flow.c
