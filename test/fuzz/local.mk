# Fuzz targets: fuzz_NAME.c defines LLVMFuzzerTestOneInput(); its inputs are
# the files of corpus/NAME, and NAME.dict, if there is one, lists its words.
# `make fuzz` needs clang and hunts for FUZZ_SECONDS a target; `make check` replays
# the corpus with any compiler, and then fuzzes for a minute in all, guided by
# coverage (replay.c).
FUZZ_TARGETS = torus_config netlist subnet_lst dumps scenario files steps tools live
FUZZ_SECONDS = 60
CLANG = clang
FUZZ_FLAGS = -g -O1 -fno-sanitize-recover=all -fsanitize=address,undefined

if SANITIZERS
fuzzed_libs = libdllive.a libdllink.a libdlread.a libdlroute.a $(LIVE_LIBS) $(READ_LIBS) \
	$(JANSSON_LIBS) -lm
FUZZED_FLAGS =
else
fuzzed_libs = $(counted_libs)
FUZZED_FLAGS = $(COUNTED_FLAGS)
endif
replayed = test/fuzz/fuzz.h test/fuzz/listen.h test/fuzz/replay.c
fuzzed_tools = tools/credits.c tools/arbitrate/arbitrate.c \
	tools/arbitrate/arbitrate_read.c tools/common/document.c tools/common/hosts.c \
	tools/common/find.c tools/report/report_emulation.c tools/path/path_counters.c

UNIT_TESTS += test/fuzz/replay_torus_config
test_fuzz_replay_torus_config_SOURCES = test/fuzz/fuzz_torus_config.c $(replayed)
test_fuzz_replay_torus_config_LDADD = $(fuzzed_libs)

UNIT_TESTS += test/fuzz/replay_netlist
test_fuzz_replay_netlist_SOURCES = test/fuzz/fuzz_netlist.c $(replayed) test/fuzz/fabric_file.h
test_fuzz_replay_netlist_LDADD = $(fuzzed_libs)

UNIT_TESTS += test/fuzz/replay_subnet_lst
test_fuzz_replay_subnet_lst_SOURCES = test/fuzz/fuzz_subnet_lst.c $(replayed) test/fuzz/fabric_file.h
test_fuzz_replay_subnet_lst_LDADD = $(fuzzed_libs)

UNIT_TESTS += test/fuzz/replay_dumps
test_fuzz_replay_dumps_SOURCES = test/fuzz/fuzz_dumps.c $(replayed)
test_fuzz_replay_dumps_LDADD = $(fuzzed_libs)

UNIT_TESTS += test/fuzz/replay_scenario
test_fuzz_replay_scenario_SOURCES = test/fuzz/fuzz_scenario.c $(replayed)
test_fuzz_replay_scenario_LDADD = $(fuzzed_libs)

UNIT_TESTS += test/fuzz/replay_files
test_fuzz_replay_files_SOURCES = test/fuzz/fuzz_files.c $(replayed) tools/arbitrate/arbitrate_read.c
test_fuzz_replay_files_CFLAGS = $(AM_CFLAGS) $(FUZZED_FLAGS)
test_fuzz_replay_files_LDADD = $(fuzzed_libs)

UNIT_TESTS += test/fuzz/replay_steps
test_fuzz_replay_steps_SOURCES = test/fuzz/fuzz_steps.c $(replayed) tools/credits.c \
	tools/arbitrate/arbitrate.c tools/arbitrate/arbitrate_read.c \
	tools/common/document.c
test_fuzz_replay_steps_CFLAGS = $(AM_CFLAGS) $(FUZZED_FLAGS)
test_fuzz_replay_steps_LDADD = $(fuzzed_libs)

UNIT_TESTS += test/fuzz/replay_tools
test_fuzz_replay_tools_SOURCES = test/fuzz/fuzz_tools.c $(replayed) tools/common/document.c \
	tools/common/hosts.c tools/common/find.c tools/report/report_emulation.c \
	tools/path/path_counters.c
test_fuzz_replay_tools_CFLAGS = $(AM_CFLAGS) $(FUZZED_FLAGS)
test_fuzz_replay_tools_LDADD = $(fuzzed_libs)

UNIT_TESTS += test/fuzz/replay_live
test_fuzz_replay_live_SOURCES = test/fuzz/fuzz_live.c $(replayed) \
	test/unit/fake_umad.c test/unit/fake_umad.h
test_fuzz_replay_live_LDADD = $(fuzzed_libs)

EXTRA_DIST += test/fuzz/corpus test/fuzz/torus_config.dict \
	test/fuzz/netlist.dict test/fuzz/subnet_lst.dict \
	test/fuzz/dumps.dict test/fuzz/scenario.dict

.PHONY: fuzz
fuzz: config.h
	@$(MKDIR_P) test/fuzz/found; \
	if ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
		$(CLANG) $(FUZZ_FLAGS),fuzzer -x c -o test/fuzz/found/probe - \
		2>/dev/null; then \
		echo "fuzz: skipped: $(CLANG) with libFuzzer is missing"; \
		exit 0; \
	fi; \
	set -e; \
	for s in $(libdlroute_a_SOURCES) $(libdlread_a_SOURCES) \
		$(libdllink_a_SOURCES) $(libdllive_a_SOURCES) \
		$(fuzzed_tools) test/unit/fake_umad.c; do \
		case $$s in *.c) ;; *) continue;; esac; \
		o=test/fuzz/found/`echo $$s | tr / _`.o; \
		test $$o -nt $(srcdir)/$$s || $(CLANG) $(FUZZ_FLAGS),fuzzer-no-link \
			-std=gnu11 $(DEFS) $(AM_CPPFLAGS) \
			-c -o $$o $(srcdir)/$$s; \
		$(AR) rs test/fuzz/found/all.a $$o 2>/dev/null; \
	done; \
	for t in $(FUZZ_TARGETS); do \
		$(MKDIR_P) test/fuzz/found/$$t; \
		$(CLANG) $(FUZZ_FLAGS),fuzzer -std=gnu11 $(DEFS) $(AM_CPPFLAGS) \
			-o test/fuzz/fuzz_$$t \
			$(srcdir)/test/fuzz/fuzz_$$t.c test/fuzz/found/all.a \
			$(YAML_LIBS) $(ZSTD_LIBS) $(LIVE_LIBS) \
			$(JANSSON_LIBS); \
		dict=$(srcdir)/test/fuzz/$$t.dict; \
		test -f $$dict && dict=-dict=$$dict || dict=; \
		nice test/fuzz/fuzz_$$t -max_total_time=$(FUZZ_SECONDS) \
			-artifact_prefix=test/fuzz/$$t- $$dict \
			test/fuzz/found/$$t \
			$(srcdir)/test/fuzz/corpus/$$t; \
	done

clean-local:
	-rm -rf test/fuzz/found test/fuzz/grown
	-for t in $(FUZZ_TARGETS); do rm -f test/fuzz/fuzz_$$t; done
