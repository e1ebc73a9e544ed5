libdlroute_a_SOURCES += \
	include/dateline/base.h \
	lib/base/arena.c \
	lib/base/array.c \
	lib/base/clock.c \
	lib/base/file.c \
	lib/base/log.c \
	lib/base/memory.c \
	lib/base/number.c \
	lib/base/order.c \
	lib/base/random.c \
	lib/base/setting.c \
	lib/base/text.c
libdlread_a_SOURCES += lib/base/pool.c lib/base/yaml.c
