# Fabric tests: ibsim plays the fabric, stock OpenSM routes it.  They need
# programs that a build does not, so `make check-fabric` is a target of its
# own and `make check` runs the unit tests only.
FABRIC_TESTS = test/fabric/gen.bats \
	test/fabric/harness.bats test/fabric/netlist.bats \
	test/fabric/builtin.bats test/fabric/gordon.bats \
	test/fabric/questions.bats test/fabric/verify.bats
EXTRA_DIST += bootstrap .ci/run test/check.bash \
	test/fabric/campaign.bash test/fabric/demo.bash test/fabric/events.bash \
	test/fabric/lib.bash $(FABRIC_TESTS)

# Files run side by side: those that take longest begin first.
FABRIC_LONGEST = test/fabric/planned.bats test/fabric/sweeps.bats test/fabric/proven.bats \
	test/doc/doc.bats test/fabric/builtin.bats test/fabric/migration.bats test/fabric/lies.bats \
	test/fabric/plugin.bats test/fabric/failures.bats test/fabric/emulate.bats

if OCAML
CHECKER = contrib/check/dateline-check
endif

.PHONY: check-fabric
check-fabric: all mpi/dateline $(CHECKER) test/fabric/join test/fabric/replay test/fabric/smps.so test/fabric/late.so \
	$(filter test/fault/% test/sim/%,$(check_PROGRAMS))
	DATELINE_BUILD="$(abs_builddir)" bats $(BATS_FLAGS) \
		$(addprefix $(srcdir)/,$(FABRIC_LONGEST) \
		$(filter-out $(FABRIC_LONGEST),$(FABRIC_TESTS)))

# The plugin.  join joins multicast groups in place of simulated adapters.
FABRIC_TESTS += test/fabric/plugin.bats test/fabric/planned.bats
check_PROGRAMS += test/fabric/join
test_fabric_join_CPPFLAGS = $(OPENSM_CFLAGS)
test_fabric_join_LDADD = -libmad -libumad

# The same with other versions of OpenSM, built from sources.
.PHONY: check-versions
check-versions: all $(CHECKER) test/fabric/join test/fabric/replay test/fabric/smps.so \
	test/fabric/late.so $(filter test/sim/%,$(check_PROGRAMS))
	DATELINE_BUILD="$(abs_builddir)" $(srcdir)/test/fabric/versions.bash
EXTRA_DIST += test/fabric/versions.bash test/fabric/bench.bash

# Sick parts of a fabric, devices that lie, and counts of SMPs: preloaded into OpenSM.
FABRIC_TESTS += test/fabric/sick.bats test/fabric/lies.bats test/fabric/takeover.bats \
	test/fabric/faults.bats test/fabric/drain.bats
check_PROGRAMS += test/fabric/smps.so
test_fabric_smps_so_SOURCES = test/fabric/smps.c
test_fabric_smps_so_CFLAGS = $(preloaded_cflags)
test_fabric_smps_so_LDFLAGS = $(preloaded_ldflags)
test_fabric_smps_so_LDADD = -libumad

# In all clients of the simulator: its own library's mistake with late answers.
check_PROGRAMS += test/fabric/late.so
test_fabric_late_so_SOURCES = test/fabric/late.c
test_fabric_late_so_CFLAGS = $(preloaded_cflags)
test_fabric_late_so_LDFLAGS = $(preloaded_ldflags)
test_fabric_late_so_LDADD =

# Beside a subnet manager without plugins.
FABRIC_TESTS += test/fabric/file_engine.bats

# Damage, sweeps, quality of service.
FABRIC_TESTS += test/fabric/failures.bats test/fabric/qos.bats \
	test/fabric/sweeps.bats test/fabric/proven.bats test/fabric/anysl.bats

# ibsim and the simulator in virtual time.
FABRIC_TESTS += test/fabric/rig.bats

# Congestion control that OpenSM sets.
FABRIC_TESTS += test/fabric/congestion.bats

# Between two sets of tables.
FABRIC_TESTS += test/fabric/transition.bats
check_PROGRAMS += test/fabric/replay
test_fabric_replay_LDADD = libdateline.so.0
test_fabric_replay_LDFLAGS = $(RUN_HERE)

# Paths of packets, and what two snapshots differ in.
FABRIC_TESTS += test/fabric/path.bats
FABRIC_TESTS += test/fabric/hops.bats

# What hangs beside a torus.
FABRIC_TESTS += test/fabric/off_torus.bats

# Metrics, with the real node exporter.
FABRIC_TESTS += test/fabric/metrics.bats
EXTRA_DIST += test/metrics/alerts.yml

# Coordinates, with the real Slurm.
FABRIC_TESTS += test/fabric/coords.bats

# Campaigns: no fabric, but many processes.
FABRIC_TESTS += test/fabric/whatif.bats

# The emulator.
FABRIC_TESTS += test/fabric/emulate.bats test/fabric/emulate_keys.bats

# The files in conf/, and the page that says how to begin with them.
FABRIC_TESTS += test/fabric/conf.bats test/fabric/migration.bats

# What readers are told to type, and what texts say of each other.
FABRIC_TESTS += test/doc/doc.bats test/doc/documents.bats test/doc/text.bats
EXTRA_DIST += test/doc/doc.bash test/doc/follow.bash
