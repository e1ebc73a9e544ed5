/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Deadlock, losses, faults: the emulator's verdict is verify's verdict, and
 * nothing is lost that is not counted.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dateline/transition.h"
#include "draw.h"
#include "emu/run.h"
#include "emu_fixture.h"
#include "share.h"

#define US UINT64_C(1000000)
#define MS UINT64_C(1000000000)

static uint64_t seed = 20261121;

/* The circle is one: each channel leads to the switch of the next. */
static void check_cycle(const struct emu_fixture *w)
{
	const struct dl_cycle_step *cycle = dl_emu_cycle(w->emu)->steps;
	uint32_t n = dl_emu_cycle(w->emu)->n;

	assert_true(n > 1);
	for (uint32_t i = 0; i < n; i++) {
		const struct dl_cycle_step *next = &cycle[(i + 1) % n];

		assert_true(dl_fabric_is_switch(w->f, w->f->ports[cycle[i].port].node));
		assert_int_equal(dl_fabric_peer_node(w->f, cycle[i].port),
				 w->f->ports[next->port].node);
		/* The packet is on its way through the next channel. */
		assert_true(cycle[i].dlid >= DL_TABLES_MCAST_LID ||
			    dl_tables_lft(w->t,
					  w->f->nodes[dl_fabric_peer_node(w->f, cycle[i].port)].sw,
					  cycle[i].dlid) == w->f->ports[next->port].num);
	}
}

static bool has_loop(const struct emu_fixture *w)
{
	struct dl_verify_result *verdict;
	bool loop;

	assert_int_equal(dl_verify(w->t, NULL, NULL, &verdict), 0);
	loop = verdict->credit_loop;
	dl_verify_result_free(verdict);
	return loop;
}

static void test_one_vl_deadlocks(void **state)
{
	const uint32_t radix[3] = { 5, 5, 1 };

	(void)state;
	for (unsigned int i = 0; i < 12; i++) {
		struct emu_fixture w;

		emu_fixture_build(&w, radix, false, 1, NULL);
		emu_fixture_one_vl(&w);
		assert_true(has_loop(&w));
		w.c.switching = i % 3;
		w.c.flow_control = i / 3 % 2;
		if (i >= 6 && w.c.switching != DL_EMU_WORMHOLE)
			w.c.queues = DL_EMU_VOQ;
		w.c.buffer = w.c.switching == DL_EMU_WORMHOLE	     ? 4 :
			     w.c.flow_control == DL_LINK_CREDIT_PCIE ? 2 :
								       2 * 33;
		emu_fixture_everybody(&w, 0, 8192, 0);
		emu_fixture_start(&w);
		assert_int_equal(emu_fixture_run_audited(&w, 100 * MS, 10), DL_EMU_DEADLOCK);
		check_cycle(&w);
		emu_fixture_stop(&w);
		/* With a lifetime limit nothing stands for ever. */
		w.c.hoq_life_ps = 100 * US;
		emu_fixture_start(&w);
		assert_int_equal(emu_fixture_run_audited(&w, 6 * MS, 10), DL_EMU_RUNNING);
		assert_true(dl_emu_totals(w.emu)->drops[DL_EMU_DROP_HOQ_LIFE]);
		emu_fixture_free(&w);
	}
}

/* Safe tables: everything arrives, however small the buffers. */
static void test_safe_tables(void **state)
{
	struct draw d = { .seed = seed };

	(void)state;
	for (unsigned int i = 0; i < share(150); i++) {
		struct emu_fixture w;
		const struct dl_emu_totals *totals;
		uint64_t messages, copies = 0;
		int end;

		emu_fixture_draw(&d, &w);
		emu_fixture_everybody(&w, 8, 1 + draw_below(&d, 3 * w.c.mtu), 0);
		messages = 8 * w.nadapters;
		if (w.c.switching == DL_EMU_WORMHOLE && i % 2)
			w.c.buffer += w.c.flow_control ? (w.c.mtu + 74) / w.c.flit :
							 w.c.mtu / 64 + 2;
		/* Multicast among unicast, at both levels. */
		for (unsigned int m = 0; m < 3; m++) {
			struct emu_flow *flow;

			if (w.c.switching == DL_EMU_WORMHOLE)
				break;
			flow = emu_fixture_flow(&w, draw_below(&d, w.nadapters), 0, 1500, 4);
			flow->mlid = DL_TABLES_MCAST_LID;
			flow->level = m % 2;
			flow->window = m;
			copies += 4 * (w.nadapters - 1) * ((1500 + w.c.mtu - 1) / w.c.mtu);
			messages += 4;
		}
		assert_false(has_loop(&w));
		emu_fixture_start(&w);
		end = emu_fixture_run_audited(&w, 200 * MS, 40);
		if (end != DL_EMU_DONE)
			print_message("seed %llu, fixture %u: state %d\n", (unsigned long long)seed,
				      i, end);
		assert_int_equal(end, DL_EMU_DONE);
		totals = dl_emu_totals(w.emu);
		/* (What is sent again too early is no loss.) */
		assert_int_equal(totals->dropped, totals->drops[DL_EMU_DROP_SEQUENCE]);
		assert_int_equal(totals->in_flight, 0);
		assert_int_equal(totals->messages, messages);
		assert_int_equal(totals->delivered, w.delivered + totals->acks);
		assert_true(w.delivered >= copies);
		emu_fixture_free(&w);
	}
}

/*
 * A saturated 6x5 torus on which applications ignore path SLs: proven mode's
 * tables deadlock, those of any-SL mode carry a million packets (rules A13).
 */
static void test_any_sl(void **state)
{
	const uint32_t radix[3] = { 6, 5, 1 };
	struct emu_fixture w;
	unsigned int sls;
	int end;

	(void)state;
	emu_fixture_build(&w, radix, false, 2, NULL);
	emu_fixture_route(&w, DL_ROUTE_PROVEN);
	emu_fixture_everybody(&w, 0, 2048, 0);
	w.sls = EMU_SL_0;
	emu_fixture_start(&w);
	assert_int_equal(emu_fixture_run_audited(&w, 100 * MS, 10), DL_EMU_DEADLOCK);
	check_cycle(&w);
	emu_fixture_stop(&w);
	emu_fixture_route(&w, DL_ROUTE_ANY_SL);
	for (sls = EMU_SL_0; sls <= EMU_ANY_SL; sls++) {
		w.sls = sls;
		emu_fixture_start(&w);
		do
			end = dl_emu_run(w.emu, dl_emu_now(w.emu) + MS);
		while (end == DL_EMU_RUNNING && dl_emu_totals(w.emu)->delivered < 1000000);
		assert_int_equal(end, DL_EMU_RUNNING);
		assert_int_equal(dl_emu_audit(w.emu, w.emu->log), 0);
		assert_int_equal(dl_emu_totals(w.emu)->dropped, 0);
		emu_fixture_stop(&w);
	}
	emu_fixture_free(&w);
}

/* Whatever flow-control packets are lost, all data arrives. */
static void test_lost_credit(void **state)
{
	const uint32_t radix[3] = { 3, 2, 1 };

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct emu_fixture w;
		const struct dl_emu_totals *totals;
		bool damage = i / 2;

		emu_fixture_build(&w, radix, false, 1, NULL);
		w.c.flow_control = i % 2;
		w.c.buffer = i % 2 ? 2 : 66;
		emu_fixture_everybody(&w, 60, 2048, 0);
		emu_fixture_start(&w);
		for (uint32_t p = 0; p < w.f->nports; p++) {
			struct dl_emu_fault loss = { damage ? DL_EMU_DATA_CORRUPT :
						     p % 2  ? DL_EMU_FCP_CORRUPT :
							      DL_EMU_FCP_LOSS,
						     p, damage ? 100000 : 300000 };

			if (w.f->ports[p].peer != DL_NONE)
				assert_int_equal(dl_emu_fault(w.emu, &loss), 0);
		}
		assert_int_equal(emu_fixture_run_audited(&w, 400 * MS, 400), DL_EMU_DONE);
		totals = dl_emu_totals(w.emu);
		assert_int_equal(totals->injected, 60 * w.nadapters);
		assert_int_equal(totals->dropped, totals->drops[DL_EMU_DROP_CORRUPT]);
		assert_int_equal(totals->dropped != 0, damage);
		assert_int_equal(totals->fcps_lost != 0, !damage);
		emu_fixture_free(&w);
	}
}

/* A link goes down and comes back; what is lost is counted. */
static void test_flapping_link(void **state)
{
	struct draw d = { .seed = seed };

	(void)state;
	for (unsigned int i = 0; i < share(60); i++) {
		struct emu_fixture w;
		const struct dl_emu_totals *totals;
		uint64_t now = 0;

		emu_fixture_draw(&d, &w);
		if (i % 2)
			w.c.hoq_life_ps = 20 * US;
		emu_fixture_everybody(&w, 40, 2000, 0);
		emu_fixture_start(&w);
		for (unsigned int flap = 0; flap < 12; flap++) {
			struct dl_emu_fault fault = { flap % 2 ? DL_EMU_LINK_UP : DL_EMU_LINK_DOWN,
						      0, 0 };

			do
				fault.port = draw_below(&d, w.f->nports);
			while (w.f->ports[fault.port].peer == DL_NONE ||
			       !w.f->ports[fault.port].num);
			now += draw_below(&d, 10 * US);
			assert_true(dl_emu_run(w.emu, now) >= 0);
			assert_int_equal(dl_emu_fault(w.emu, &fault), 0);
			assert_int_equal(dl_emu_audit(w.emu, w.emu->log), 0);
		}
		for (uint32_t p = 0; p < w.f->nports; p++) {
			struct dl_emu_fault up = { DL_EMU_LINK_UP, p, 0 };

			if (w.f->ports[p].peer != DL_NONE)
				assert_int_equal(dl_emu_fault(w.emu, &up), 0);
		}
		assert_int_equal(emu_fixture_run_audited(&w, 200 * MS, 50), DL_EMU_DONE);
		totals = dl_emu_totals(w.emu);
		assert_int_equal(totals->delivered + totals->dropped, totals->injected);
		assert_int_equal(totals->dropped, totals->drops[DL_EMU_DROP_DEAD_LINK] +
							  totals->drops[DL_EMU_DROP_HOQ_LIFE] +
							  totals->drops[DL_EMU_DROP_SEQUENCE]);
		emu_fixture_free(&w);
	}
}

/* The head of a queue waits for all of its lifetime, and not longer. */
static void test_hoq_life(void **state)
{
	const uint32_t radix[3] = { 2, 1, 1 };
	struct dl_emu_fault stop = { .kind = DL_EMU_DRAIN_STOP };
	const uint64_t life = 20 * US;
	struct emu_fixture w;
	uint64_t head; /* when the third packet is at the head, before the adapter */

	(void)state;
	emu_fixture_build(&w, radix, true, 1, NULL);
	emu_fixture_link(&w, DL_FABRIC_QDR, 4); /* a quarter of a nanosecond a byte */
	w.c.buffer = 2 * 33;
	w.c.hoq_life_ps = life;
	head = 2 * 2074 * 250 + 2 * (10000 + 2000 + w.c.switch_latency_ps);
	emu_fixture_flow(&w, 0, 1, 2048, 4);
	emu_fixture_start(&w);
	stop.port = w.adapter[1];
	assert_int_equal(dl_emu_fault(w.emu, &stop), 0);
	for (uint64_t n = 1; n <= 2; n++) {
		assert_int_equal(dl_emu_run(w.emu, head + n * life - 1), DL_EMU_RUNNING);
		assert_int_equal(dl_emu_totals(w.emu)->dropped, n - 1);
		assert_true(dl_emu_run(w.emu, head + n * life) >= 0);
		assert_int_equal(dl_emu_totals(w.emu)->drops[DL_EMU_DROP_HOQ_LIFE], n);
	}
	/* The two that the adapter has stay there. */
	assert_int_equal(emu_fixture_run_audited(&w, MS, 1), DL_EMU_STUCK);
	assert_int_equal(dl_emu_totals(w.emu)->in_flight, 2);
	assert_int_equal(dl_emu_totals(w.emu)->dropped, 2);
	emu_fixture_free(&w);
}

/* All else for one LID: each switch has its last port that leads nearer. */
static struct dl_tables *other_tree(const struct emu_fixture *w, uint16_t lid)
{
	struct dl_tables *t;
	uint32_t home = dl_fabric_access_switch(w->f, w->f->lid_port[lid]);
	uint32_t hops[64], n = w->f->nswitches;

	assert_int_equal(dl_transition_copy(w->t, w->t, &t), 0);
	for (uint32_t s = 0; s < n; s++)
		hops[s] = s == home ? 0 : DL_NONE;
	for (uint32_t far = 1; far < n; far++) {
		for (uint32_t s = 0; s < n; s++) {
			const struct dl_fabric_node *node = &w->f->nodes[w->f->switches[s]];

			for (unsigned int o = 1; hops[s] >= far && o <= node->nports; o++) {
				uint32_t to = dl_fabric_peer_switch(w->f, node->first_port + o);

				if (to == DL_NONE || hops[to] != far - 1)
					continue;
				hops[s] = far;
				t->lft[s * (size_t)t->stride + lid] = o;
			}
		}
	}
	return t;
}

/* Age of the oldest packet that was sent by `sent`, since then; ps. */
static uint64_t oldest_since(const struct emu_fixture *w, uint64_t sent)
{
	uint64_t oldest = 0;

	for (uint64_t i = 0; i < w->delivered; i++)
		if (w->log[i].injected <= sent && w->log[i].at > sent &&
		    w->log[i].at - sent > oldest)
			oldest = w->log[i].at - sent;
	return oldest;
}

/*
 * All send to one adapter, which never stops reading, and tables change in the middle: no
 * packet that met old ones is there after its hops times the lifetime limit of switches.
 */
static void test_lifetime(void **state)
{
	const uint32_t radix[3] = { 5, 5, 1 };
	const uint64_t life = 60 * US, rewritten = 2 * MS;
	/* Nine switches; and the cables, and a packet's own time on each. */
	const uint64_t bound = 9 * life + 10 * (2 * US);
	uint64_t oldest[3];

	(void)state;
	for (unsigned int limit = 0; limit < 3; limit++) {
		struct emu_fixture w;
		struct dl_tables *other;
		uint16_t lid;

		emu_fixture_build(&w, radix, true, 1, NULL);
		emu_fixture_link(&w, DL_FABRIC_QDR, 4);
		w.c.buffer = 512;
		w.c.lifetime_ps = limit == 1 ? life : 0;
		w.c.hoq_life_ps = limit == 2 ? life : 0;
		w.log_size = 1000000;
		w.log = calloc(w.log_size, sizeof(*w.log));
		assert_non_null(w.log);
		for (uint32_t a = 0; a < w.nadapters; a++)
			if (a != 12)
				emu_fixture_flow(&w, a, 12, 2048, 0);
		emu_fixture_start(&w);
		lid = w.f->ports[w.adapter[12]].lid;
		other = other_tree(&w, lid);
		assert_true(dl_emu_run(w.emu, rewritten) >= 0);
		assert_int_equal(dl_emu_swap_tables(w.emu, other), 0);
		assert_true(dl_emu_run(w.emu, 2 * rewritten + 20 * bound) >= 0);
		oldest[limit] = oldest_since(&w, rewritten);
		assert_int_equal(dl_emu_totals(w.emu)->drops[DL_EMU_DROP_LIFETIME] > 0, limit == 1);
		assert_true(w.delivered > 1000 && w.delivered <= w.log_size);
		free(w.log);
		w.log = NULL;
		emu_fixture_free(&w);
		dl_tables_free(other);
	}
	assert_true(oldest[0] > bound);
	assert_in_range(oldest[1], 1, bound);
	/* The lifetime of the first packet of a queue bounds nothing. */
	assert_true(oldest[2] > bound);
}

/* Worms are unicast: a message to a group ends the run. */
static void test_no_multicast_worms(void **state)
{
	const uint32_t radix[3] = { 2, 1, 1 };
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, radix, true, 1, NULL);
	w.c.switching = DL_EMU_WORMHOLE;
	emu_fixture_flow(&w, 0, 0, 100, 1)->mlid = DL_TABLES_MCAST_LID;
	emu_fixture_start(&w);
	assert_int_equal(dl_emu_run(w.emu, MS), -EINVAL);
	emu_fixture_free(&w);
}

/* A run that is plain by its configuration, but for a speedup, by either copy of hop.c. */
static uint64_t run_plain(struct draw d, bool plain)
{
	struct emu_fixture w;
	uint64_t digest;

	emu_fixture_draw(&d, &w);
	w.c.switching = DL_EMU_CUT_THROUGH;
	w.c.queues = DL_EMU_FIFO;
	w.c.speedup = draw_below(&d, 3);
	w.c.congestion.threshold = 0;
	w.c.buffer /= w.c.chunk;
	w.c.chunk = 1;
	if (w.c.flow_control == DL_LINK_CREDIT_IBA)
		w.c.buffer = (w.c.mtu / 64 + 2) * (1 + draw_below(&d, 9));
	emu_fixture_everybody(&w, 40, 1 + draw_below(&d, 3000), draw_below(&d, 2) * US);
	emu_fixture_flow(&w, 0, 0, 100, 10)->mlid = DL_TABLES_MCAST_LID;
	emu_fixture_flow(&w, 0, w.nadapters - 1, 0, 10)->smp = true;
	emu_fixture_start(&w);
	w.emu->mode.looks_ahead = plain;
	emu_fixture_run_audited(&w, 4 * MS, 3);
	assert_int_equal(w.emu->mode.plain, !plain	? HOP_ANY :
					    w.c.speedup ? HOP_SPEEDUP :
							  HOP_PLAIN);
	digest = w.digest ^ dl_emu_now(w.emu);
	for (uint32_t i = 0; i < w.f->nports; i++) {
		const struct dl_emu_port *p = dl_emu_port(w.emu, i);

		digest = digest * 31 + p->bytes;
		digest = digest * 31 + p->busy_ps;
		digest = digest * 31 + p->wait_ps;
		digest = digest * 31 + p->fcps;
	}
	emu_fixture_free(&w);
	return digest;
}

static void test_plain(void **state)
{
	struct draw d = { .seed = seed };

	(void)state;
	for (unsigned int i = 0; i < share(40); i++) {
		assert_int_equal(run_plain(d, true), run_plain(d, false));
		draw32(&d);
	}
}

/* An adapter that stops is no deadlock; it goes on when it starts again. */
static void test_stopped_receiver(void **state)
{
	const uint32_t radix[3] = { 4, 1, 1 };
	struct dl_emu_fault fault = { .kind = DL_EMU_DRAIN_STOP };
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, radix, false, 1, NULL);
	emu_fixture_everybody(&w, 50, 4096, 0);
	emu_fixture_start(&w);
	fault.port = w.adapter[2];
	assert_int_equal(dl_emu_fault(w.emu, &fault), 0);
	assert_int_equal(emu_fixture_run_audited(&w, 100 * MS, 10), DL_EMU_STUCK);
	fault.kind = DL_EMU_DRAIN_RATE;
	fault.rate = 100000;
	assert_int_equal(dl_emu_fault(w.emu, &fault), 0);
	fault.kind = DL_EMU_DRAIN_START;
	assert_int_equal(dl_emu_fault(w.emu, &fault), 0);
	assert_int_equal(emu_fixture_run_audited(&w, 1000 * MS, 10), DL_EMU_DONE);
	assert_int_equal(dl_emu_totals(w.emu)->delivered, 4 * 50 * 2);
	emu_fixture_free(&w);
}

/* A VL that no table names waits for ever, and that is called by its name. */
static void test_starvation(void **state)
{
	const uint32_t radix[3] = { 2, 1, 1 };
	struct dl_tables_vlarb only = { .nlow = 1, .low = { { 0, 64 } } };
	struct dl_emu_starved starved[4];
	struct emu_fixture w;
	int arb;

	(void)state;
	emu_fixture_build(&w, radix, false, 1, NULL);
	arb = dl_tables_arb(w.t, &only);
	assert_true(arb >= 0);
	w.t->vlarb[w.adapter[0]] = arb;
	emu_fixture_flow(&w, 0, 1, 2048, 5);
	emu_fixture_flow(&w, 0, 1, 2048, 5)->level = 1;
	emu_fixture_start(&w);
	assert_int_equal(emu_fixture_run_audited(&w, 10 * MS, 10), DL_EMU_STUCK);
	assert_int_equal(dl_emu_totals(w.emu)->delivered, 5);
	assert_int_equal(dl_emu_run(w.emu, 20 * MS), DL_EMU_STUCK);
	assert_int_equal(dl_emu_starved(w.emu, starved, 4), 1);
	assert_int_equal(starved[0].port, w.adapter[0]);
	assert_int_equal(starved[0].vl, 1);
	assert_true(starved[0].unlisted);
	emu_fixture_free(&w);
}

/* VL 15 has no credits: what finds no room is lost, and nothing else is. */
static void test_management(void **state)
{
	const uint32_t radix[3] = { 4, 1, 1 };
	struct emu_fixture w;
	const struct dl_emu_totals *totals;

	(void)state;
	emu_fixture_build(&w, radix, true, 1, NULL);
	emu_fixture_flow(&w, 0, 3, 0, 1)->smp = true;
	emu_fixture_start(&w);
	assert_int_equal(emu_fixture_run_audited(&w, 100 * MS, 10), DL_EMU_DONE);
	/* Five links at SDR 4x, a nanosecond a byte; two metres each. */
	assert_int_equal(w.last.at, 5 * 10000 + 290000 + 4 * (8000 + w.c.switch_latency_ps));
	emu_fixture_stop(&w);

	/* All to one: more than the switches can store. */
	w.nflows = 0;
	emu_fixture_everybody(&w, 20, 2048, 0);
	for (uint32_t i = 1; i < w.nadapters; i++)
		emu_fixture_flow(&w, i, 0, 0, 50)->smp = true;
	emu_fixture_start(&w);
	assert_int_equal(emu_fixture_run_audited(&w, 100 * MS, 100), DL_EMU_DONE);
	totals = dl_emu_totals(w.emu);
	assert_int_equal(totals->injected, 4 * 20 + 3 * 50);
	assert_int_equal(totals->dropped, totals->drops[DL_EMU_DROP_SMP_FULL]);
	assert_true(totals->dropped > 0);
	assert_int_equal(totals->delivered + totals->dropped, totals->injected);
	assert_int_equal(dl_emu_level(w.emu, 0)->packets + dl_emu_level(w.emu, 1)->packets, 4 * 20);
	emu_fixture_free(&w);
}

/* Other tables of the same fabric, again and again, under traffic. */
static void test_new_tables(void **state)
{
	const uint32_t radix[3] = { 4, 3, 1 };
	const unsigned int weights[2] = { 10, 200 };

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct emu_fixture w, other;

		emu_fixture_build(&w, radix, false, 1, NULL);
		emu_fixture_build(&other, radix, false, 1, weights);
		w.c.switching = i % 3;
		w.c.qp_change_ps = i / 3 * 10000;
		emu_fixture_everybody(&w, 40, 3000, 0);
		emu_fixture_start(&w);
		for (uint64_t t = 1; t <= 20; t++) {
			assert_int_equal(dl_emu_run(w.emu, t * 7 * US), DL_EMU_RUNNING);
			assert_int_equal(dl_emu_swap_tables(w.emu, t % 2 ? other.t : w.t), 0);
			assert_int_equal(dl_emu_audit(w.emu, w.emu->log), 0);
		}
		assert_int_equal(emu_fixture_run_audited(&w, 100 * MS, 10), DL_EMU_DONE);
		assert_int_equal(dl_emu_totals(w.emu)->delivered, 12 * 40 * 2);
		emu_fixture_free(&w);
		emu_fixture_free(&other);
	}
}

/* A table of up to `n` entries: half of the tables leave VLs out. */
static uint8_t draw_arbitration(struct draw *d, struct dl_tables_vlarb_entry *out, unsigned int n)
{
	n = draw_below(d, n + 1);
	for (unsigned int i = 0; i < n; i++)
		out[i] = (struct dl_tables_vlarb_entry){ draw_below(d, 10), draw_below(d, 4) * 20 };
	return n;
}

/* SL s on VL s everywhere; all VLs are served, but for the tables of one port. */
static void arbitrate_at(struct emu_fixture *w, uint32_t port, const struct dl_tables_vlarb *arb)
{
	struct dl_tables_vlarb even = { .nlow = 8 };
	int row = dl_tables_row(w->t, UINT64_C(0x7654321076543210)), number;

	for (unsigned int vl = 0; vl < 8; vl++)
		even.low[vl] = (struct dl_tables_vlarb_entry){ vl, 64 };
	number = dl_tables_arb(w->t, &even);
	assert_true(row >= 0 && number >= 0);
	for (uint32_t i = 0; i < w->t->sl2vl_first[w->f->nswitches]; i++)
		w->t->sl2vl[i] = row;
	for (uint32_t p = 0; p < w->f->nports; p++) {
		w->t->end_sl2vl[p] = row;
		w->t->vlarb[p] = number;
	}
	w->t->vlarb[port] = dl_tables_arb(w->t, arb);
}

/* By the verdict, the VLs that starve at a port; nothing may starve elsewhere. */
static unsigned int starved_by_verdict(const struct emu_fixture *w, uint32_t port)
{
	struct dl_verify_options o;
	struct dl_verify_result *v;
	unsigned int vls = 0;

	dl_verify_options_init(&o);
	o.sls = 0xFF;
	o.multicast_sls = 0xFF;
	assert_int_equal(dl_verify(w->t, &o, NULL, &v), 0);
	for (uint32_t i = 0; i < v->nstarved; i++) {
		assert_int_equal(v->starved[i].port, port);
		vls |= 1u << v->starved[i].vl;
	}
	dl_verify_result_free(v);
	return vls;
}

/*
 * Packets of eight VLs wait all the time for a port, an adapter's or a switch's: those
 * that it never sends are those that the verifier finds (rules B10).
 */
static void test_served(void **state)
{
	const uint32_t radix[3] = { 2, 1, 1 };
	unsigned int tables = share(1000), found = 0;

	(void)state;
	for (unsigned int i = 0; i < tables; i++) {
		struct dl_tables_vlarb arb = { 0 };
		struct draw d = { .seed = seed + i };
		struct emu_fixture w;
		unsigned int starved = 0, verdict;
		uint32_t port;

		emu_fixture_build(&w, radix, true, 2, NULL);
		port = w.f->ports[w.adapter[2]].peer;
		port = i % 2 ? w.adapter[0] : port;
		arb.high_limit = draw_below(&d, 2) ? 255 : draw_below(&d, 3);
		arb.nhigh = draw_arbitration(&d, arb.high, 6);
		arb.nlow = draw_arbitration(&d, arb.low, 14);
		/* In every other pair of tables the low one has all VLs. */
		for (unsigned int vl = 0; i / 2 % 2 && vl < 8; vl++)
			arb.low[arb.nlow++] = (struct dl_tables_vlarb_entry){ vl, 40 };
		arbitrate_at(&w, port, &arb);
		w.sls = EMU_SL_OF_FLOW;
		for (uint32_t flow = 0; flow < 16 - i % 2 * 8; flow++)
			emu_fixture_flow(&w, flow / 8 * 3, 2, 2048, 0)->window = 3;
		emu_fixture_start(&w);
		assert_true(dl_emu_run(w.emu, 100 * US) >= 0);
		dl_emu_reset_stats(w.emu);
		assert_true(dl_emu_run(w.emu, 600 * US) >= 0);
		for (unsigned int vl = 0; vl < 8; vl++)
			starved |= (unsigned int)!dl_emu_vl(w.emu, port, vl).packets << vl;
		verdict = starved_by_verdict(&w, port);
		if (starved != verdict)
			fail_msg("seed %u: starved %#x, by the verdict %#x", (unsigned int)d.seed,
				 starved, verdict);
		found += starved != 0;
		emu_fixture_free(&w);
	}
	assert_true(found > tables / 4 && found < tables * 7 / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_vl_deadlocks),
		cmocka_unit_test(test_safe_tables),
		cmocka_unit_test(test_any_sl),
		cmocka_unit_test(test_lost_credit),
		cmocka_unit_test(test_flapping_link),
		cmocka_unit_test(test_stopped_receiver),
		cmocka_unit_test(test_starvation),
		cmocka_unit_test(test_management),
		cmocka_unit_test(test_new_tables),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_hoq_life),
		cmocka_unit_test(test_lifetime),
		cmocka_unit_test(test_no_multicast_worms),
		cmocka_unit_test(test_served),
	};
	const char *given = getenv("DATELINE_SEED");

	if (given)
		seed = strtoull(given, NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
