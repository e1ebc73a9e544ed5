# Fuzz targets: fuzz_NAME.c defines LLVMFuzzerTestOneInput(); its inputs are
# the files of corpus/NAME, and NAME.dict, if there is one, lists its words.
# `make fuzz` needs clang and hunts for FUZZ_SECONDS a target; `make check`
# replays the corpus with any compiler.
FUZZ_TARGETS = torus_config
FUZZ_SECONDS = 60
CLANG = clang
FUZZ_FLAGS = -g -O1 -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=all

UNIT_TESTS += test/fuzz/replay_torus_config
test_fuzz_replay_torus_config_SOURCES = \
	test/fuzz/fuzz_torus_config.c test/fuzz/replay.c
test_fuzz_replay_torus_config_CPPFLAGS = $(AM_CPPFLAGS) \
	-DCORPUS='"test/fuzz/corpus/torus_config"'
test_fuzz_replay_torus_config_LDADD = libdlroute.la

EXTRA_DIST += test/fuzz/corpus test/fuzz/torus_config.dict

.PHONY: fuzz
fuzz: config.h
	@set -e; \
	sources=; \
	for s in $(libdlroute_la_SOURCES); do \
		case $$s in *.c) sources="$$sources $(srcdir)/$$s";; esac; \
	done; \
	for t in $(FUZZ_TARGETS); do \
		$(MKDIR_P) test/fuzz/found/$$t; \
		$(CLANG) $(FUZZ_FLAGS) -std=gnu11 $(DEFS) $(AM_CPPFLAGS) \
			-o test/fuzz/fuzz_$$t \
			$(srcdir)/test/fuzz/fuzz_$$t.c $$sources; \
		dict=$(srcdir)/test/fuzz/$$t.dict; \
		test -f $$dict && dict=-dict=$$dict || dict=; \
		test/fuzz/fuzz_$$t -max_total_time=$(FUZZ_SECONDS) \
			-artifact_prefix=test/fuzz/$$t- $$dict \
			test/fuzz/found/$$t \
			$(srcdir)/test/fuzz/corpus/$$t; \
	done

clean-local:
	-rm -rf test/fuzz/found
	-for t in $(FUZZ_TARGETS); do rm -f test/fuzz/fuzz_$$t; done
