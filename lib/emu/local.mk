# The emulator.
libdllink_a_SOURCES += \
	include/dateline/emu.h \
	include/dateline/emu_scenario.h \
	include/dateline/emu_traffic.h \
	include/dateline/histogram.h \
	lib/emu/access.h \
	lib/emu/adapter.c \
	lib/emu/audit.c \
	lib/emu/collective.c \
	lib/emu/deadlock.c \
	lib/emu/divide.c \
	lib/emu/engine.c \
	lib/emu/events.c \
	lib/emu/events.h \
	lib/emu/fault.c \
	lib/emu/forward.c \
	lib/emu/histogram.c \
	lib/emu/goal.c \
	lib/emu/hop.c \
	lib/emu/hop.h lib/emu/hop_link.h \
	lib/emu/mail.c \
	lib/emu/node.h \
	lib/emu/packet.c lib/emu/packet.h \
	lib/emu/run.h \
	lib/emu/state.h \
	lib/emu/prefetch.c \
	lib/emu/program.c lib/emu/program.h \
	lib/emu/rate.c \
	lib/emu/rewrite.c \
	lib/emu/run.c \
	lib/emu/scenario.c lib/emu/scenario.h \
	lib/emu/scenario_congestion.c lib/emu/scenario_faults.c \
	lib/emu/scenario_trace.c \
	lib/emu/scenario_traffic.c \
	lib/emu/setup.c \
	lib/emu/shard.c \
	lib/emu/slarb.c lib/emu/slarb.h \
	lib/emu/stall.c \
	lib/emu/stats.c \
	lib/emu/load_curve.c \
	lib/emu/traffic.c \
	lib/emu/transmit.c lib/emu/transmit.h \
	lib/emu/record.c \
	lib/emu/reliable.c \
	lib/emu/voq.c
