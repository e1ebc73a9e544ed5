# Measurements that are no subcommand; `make bench/damage` builds this one.
EXTRA_PROGRAMS += bench/damage
bench_damage_SOURCES = bench/damage.c
bench_damage_LDADD = libdlread.a libdlroute.a $(READ_LIBS) -lm
EXTRA_DIST += bench/booksim.bash bench/calibrate.bash bench/dumps.bash \
	bench/emulate.bash bench/latency.bash bench/loggopsim.bash bench/programs.bash \
	bench/modes.bash bench/validation.bash
