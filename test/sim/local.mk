# Subnet managers in virtual time (README.md here), where configure finds that it
# can be done.
EXTRA_DIST += test/sim/README.md test/sim/run.bash test/sim/mutants.bash test/sim/shrink.bash \
	test/sim/scripts/asked_in_another_mode.events \
	test/sim/scripts/astray_to_a_new_switch.events \
	test/sim/scripts/behind_others.events test/sim/scripts/behind_top.events \
	test/sim/scripts/cache_unfinished.events \
	test/sim/scripts/dies_in_a_drain.events test/sim/scripts/dies_while_read.events \
	test/sim/scripts/entries_without_room.events \
	test/sim/scripts/former_master_keeps.events test/sim/scripts/group_orphans.events \
	test/sim/scripts/restart_in_drain.events \
	test/sim/scripts/grows.events \
	test/sim/scripts/key_lease.events test/sim/scripts/key_of_another.events \
	test/sim/scripts/key_read_only.events test/sim/scripts/left_out.events \
	test/sim/scripts/left_out_branches.events test/sim/scripts/liar_cut_off.events \
	test/sim/scripts/liar_left_out.events \
	test/sim/scripts/links_when_given_up.events test/sim/scripts/lost_mark.events \
	test/sim/scripts/maps_of_another.events \
	test/sim/scripts/mended_after_giving_up.events \
	test/sim/scripts/moved_at_start.events \
	test/sim/scripts/moved_at_takeover.events \
	test/sim/scripts/moved_before_links.events \
	test/sim/scripts/moved_under_old_groups.events \
	test/sim/scripts/moved_under_writes.events test/sim/scripts/mute_switch.events \
	test/sim/scripts/mute_two.events test/sim/scripts/no_detour_across.events \
	test/sim/scripts/no_marks.events test/sim/scripts/old_branches.events \
	test/sim/scripts/old_paths_to_ports.events \
	test/sim/scripts/one_mark_missing.events test/sim/scripts/only_way.events \
	test/sim/scripts/out_of_use.events test/sim/scripts/past_failed_cable.events \
	test/sim/scripts/paths_of_before.events \
	test/sim/scripts/place_of_the_dead.events \
	test/sim/scripts/power_fails.events \
	test/sim/scripts/power_fails_at_start.events \
	test/sim/scripts/power_fails_in_a_drain.events \
	test/sim/scripts/refused_sweep.events test/sim/scripts/resumed_in_another_mode.events \
	test/sim/scripts/resumed_master.events \
	test/sim/scripts/returns_as_leaf.events test/sim/scripts/second_failure.events \
	test/sim/scripts/several_lids.events test/sim/scripts/shrinks.events \
	test/sim/scripts/silent_for_long.events \
	test/sim/scripts/start_under_loss.events test/sim/scripts/swapped_cables.events \
	test/sim/scripts/switch_returns.events test/sim/scripts/tables_without_a_top.events \
	test/sim/scripts/takeover.events \
	test/sim/scripts/takeover_in_another_mode.events \
	test/sim/scripts/top_rises_at_start.events \
	test/sim/scripts/top_rises_when_refused.events \
	test/sim/scripts/torn_tree.events test/sim/scripts/two_die_while_read.events \
	test/sim/scripts/two_ports.events test/sim/scripts/two_ports.net
if SIM
check_PROGRAMS += test/sim/sim
check_PROGRAMS += test/sim/sm.so
endif
test_sim_sim_SOURCES = test/sim/sim.h test/sim/share.h test/sim/judge.h \
	test/sim/main.c test/sim/events.c test/sim/nodes.c test/sim/agent.c test/sim/carry.c \
	test/sim/client.c test/sim/rmpp.c test/sim/process.c test/sim/script.c test/sim/apply.c \
	test/sim/avoid.c test/sim/grow.c test/sim/log.c \
	test/sim/judge.c test/sim/judge_flow.c test/sim/judge_groups.c test/sim/judge_pairs.c \
	test/sim/judge_avoid.c test/sim/judge_verify.c test/sim/judge_desk.c \
	test/sim/judge_metrics.c test/sim/order.c
test_sim_sim_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_sim_sim_LDADD = libdlread.a libdlroute.a $(READ_LIBS) -lm
test_sim_sm_so_SOURCES = test/sim/sm.h test/sim/share.h test/sim/sm_turn.c test/sim/sm_threads.c \
	test/sim/sm_time.c test/sim/sm_umad.c test/sim/sm_faults.c
# No checked variants of printf() and others: their names are taken here.
test_sim_sm_so_CFLAGS = $(preloaded_cflags) -U_FORTIFY_SOURCE -fno-builtin
test_sim_sm_so_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSM_CFLAGS)
test_sim_sm_so_LDFLAGS = $(preloaded_ldflags)
test_sim_sm_so_LDADD = -ldl

# DATELINE_EVENTS events, drawn from DATELINE_SEED.
.PHONY: check-sim
if SIM
check-sim: all test/sim/sim test/sim/sm.so
	@DATELINE_BUILD="$(abs_builddir)" $(srcdir)/test/sim/run.bash
else
check-sim:
	@echo 'SKIPPED virtual time: it needs glibc on x86-64, without sanitizers'
endif
