libdlroute_a_SOURCES += \
	include/dateline/transition.h \
	lib/transition/plan.c \
	lib/transition/history.c \
	lib/transition/interrupted.c \
	lib/transition/leftovers.c \
	lib/transition/maps.c \
	lib/transition/orphans.c \
	lib/transition/waves.c \
	lib/transition/waves.h \
	lib/transition/waves_detour.c \
	lib/transition/waves_plan.c \
	lib/transition/waves_steps.c \
	lib/transition/internal.h
libdlread_a_SOURCES += lib/transition/writes.c
