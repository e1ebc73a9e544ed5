# The flow-control model, and the program that repeats its traces: linked to
# the library, and with its sources at the model's modulus.
if !SANITIZERS
check_PROGRAMS += test/model/replay test/model/replay_small
TESTS += test/model/traces.bash test/model/verify.bash
endif
test_model_replay_LDADD = libdllink.a
test_model_replay_small_SOURCES = test/model/replay.c lib/link/credit.c lib/link/fcp.c
test_model_replay_small_CPPFLAGS = $(AM_CPPFLAGS) -DDL_LINK_CREDIT_BITS=4
test_model_replay_small_LDADD =
EXTRA_DIST += test/model/credit.pml test/model/traces.bash test/model/verify.bash
