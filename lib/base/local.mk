libdlroute_la_SOURCES += \
	include/dateline/base.h \
	lib/base/array.c \
	lib/base/clock.c \
	lib/base/log.c \
	lib/base/random.c \
	lib/base/text.c
