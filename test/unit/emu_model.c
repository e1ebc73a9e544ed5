/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The emulator against its reference model: every delivery the same, to the
 * picosecond, and as many packets dropped for each cause; all kinds of
 * switching, of queues and of flow control, multicast, closed loops, and faults.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "draw.h"
#include "emu_reference.h"
#include "dateline/link.h"

static uint64_t seed = 77;

static uint32_t fixtures = 70; /* of fewer, too few may be congested */
#define MAX_DELIVERIES 40000

static uint32_t *draw_cables(struct draw *d, const struct emu_fixture *w)
{
	uint32_t *mm = calloc(w->f->nports, sizeof(*mm));

	assert_non_null(mm);
	for (uint32_t i = 0; i < w->f->nports; i++)
		if (w->f->ports[i].peer != DL_NONE && w->f->ports[i].peer > i)
			mm[i] = 1 + draw_below(d, 30000);
	return mm;
}

/* Worms need room for a flit only. */
static void draw_buffer(struct draw *d, struct emu_fixture *w)
{
	bool pcie = w->c.flow_control == DL_LINK_CREDIT_PCIE;
	bool worms = w->c.switching == DL_EMU_WORMHOLE;
	uint32_t unit = pcie && worms ? w->c.flit : 64;

	w->c.buffer = pcie ? 1 + draw_below(d, 6) :
			     (w->c.mtu / 64 + 2) * (1 + draw_below(d, 6)) + draw_below(d, 10);
	if (worms && draw_below(d, 2))
		w->c.buffer = pcie ? 1 + draw_below(d, 4) : w->c.flit / 64 * (1 + draw_below(d, 4));
	else if (worms && pcie)
		w->c.buffer += (w->c.mtu + DL_EMU_MCAST_HEADERS + unit - 1) / unit;
}

static void draw_congestion(struct draw *d, struct dl_emu_congestion *c)
{
	c->threshold = 1 + draw_below(d, 15);
	if (draw_below(d, 2))
		c->threshold = 15;
	c->marking_rate = draw_below(d, 2) * draw_below(d, 4);
	c->victims = draw_below(d, 2);
	c->increase = 1 + draw_below(d, 5);
	c->limit = 1 + draw_below(d, 20);
	c->timer_ps = 1 + draw_below(d, 20000000);
	c->becn_ps = draw_below(d, 3000000);
	for (uint32_t i = 0; i < DL_EMU_CCT_MAX; i++)
		c->table[i] = i * draw_below(d, 500000);
}

/* Of switches: of all SLs, in any order, some of them twice. */
static const struct dl_emu_sl_table *draw_sl_table(struct draw *d)
{
	static struct dl_emu_sl_table table;

	table.n = 0;
	for (unsigned int i = 0; i < 32; i++)
		if (i < 16 || draw_one_in(d, 8))
			table.entry[table.n++] = (struct dl_emu_sl_entry){
				i * 5 % 16,
				draw_one_in(d, 4) && i > 15 ? 0 : 1 + draw_below(d, 5000)
			};
	return &table;
}

static void draw_fixture(struct draw *d, struct emu_fixture *w)
{
	uint32_t radix[3];

	for (unsigned int i = 0; i < 3; i++)
		radix[i] = 1 + draw_below(d, i < 2 ? 4 : 2);
	if (radix[0] * radix[1] * radix[2] < 2)
		radix[0] = 2;
	emu_fixture_build(w, radix, draw_one_in(d, 4), 1 + draw_below(d, 2), NULL);
	emu_fixture_link(w, DL_FABRIC_SDR + draw_below(d, 8), 1u << 2 * draw_below(d, 2));
	w->c.seed = draw32(d);
	w->c.mtu = 256u << draw_below(d, 5);
	w->c.switching = draw_below(d, 3);
	w->c.flit = 64u << draw_below(d, 3);
	if (w->c.switching != DL_EMU_WORMHOLE && draw_below(d, 2))
		w->c.queues = DL_EMU_VOQ;
	w->c.speedup = draw_below(d, 3);
	if (draw_one_in(d, 3))
		w->c.switch_sl_table = draw_sl_table(d);
	w->c.check_ps = 0;
	w->c.flow_control = draw_below(d, 2);
	w->c.switch_latency_ps = draw_below(d, 200000);
	w->c.cable_mm_all = draw_below(d, 20000);
	if (draw_below(d, 2))
		w->c.cable_mm = draw_cables(d, w);
	w->c.credit_latency_ps = draw_below(d, 2) * draw_below(d, 300000);
	w->c.ack_latency_ps = w->c.seed % 2 * (w->c.seed % 1000003);
	draw_buffer(d, w);
	if (w->c.flow_control == DL_LINK_CREDIT_IBA && draw_one_in(d, 4))
		w->c.buffer = 1900 + draw_below(d, 2000); /* more than is promised */
	w->c.credit = draw_below(d, 2) * (1 + draw_below(d, 100));
	if (w->c.switching != DL_EMU_WORMHOLE && draw_below(d, 2))
		draw_congestion(d, &w->c.congestion);
	if (w->c.flow_control == DL_LINK_CREDIT_IBA && draw_one_in(d, 3))
		w->c.buffer *= w->c.chunk = 2 + draw_below(d, 3);
}

/* Reliable connections, whose time-outs are often too short; SLs may be anything. */
static void draw_retries(struct draw *d, struct emu_fixture *w)
{
	w->c.retries.timeout_ps = 1000000 + draw_below(d, 2) * draw_below(d, 50000000);
	w->c.retries.count = draw_below(d, 8);
	w->c.retries.ack_packets = 1 + draw_below(d, 4);
	if (w->c.switching == DL_EMU_WORMHOLE) {
		w->c.switching = DL_EMU_CUT_THROUGH;
		w->c.chunk = 1;
		draw_buffer(d, w);
	}
	if (draw_one_in(d, 3))
		w->sls = EMU_ANY_SL;
}

/* One flow an adapter, of any kind. */
static void draw_flows(struct draw *d, struct emu_fixture *w)
{
	for (uint32_t i = 0; i < w->nadapters; i++) {
		uint32_t packets = w->c.retries.timeout_ps ? 6 : 2;
		struct emu_flow *f = emu_fixture_flow(
			w, i, 0, 1 + draw_below(d, packets * w->c.mtu), 1 + draw_below(d, 8));

		f->random = true;
		f->level = draw_below(d, 2);
		f->gap = draw_below(d, 2) * draw_below(d, 3000000);
		if (draw_one_in(d, 4) && w->c.switching != DL_EMU_WORMHOLE)
			f->mlid = DL_TABLES_MCAST_LID;
		f->mixed = w->c.retries.timeout_ps && draw_below(d, 2);
		if (draw_below(d, 2))
			f->window = 1 + draw_below(d, 3);
	}
}

static void show(const char *who, const struct dl_emu_delivery *d)
{
	print_message("%s: flow %u to port %u, %u bytes, SL %u: created %llu, "
		      "injected %llu, at %llu\n",
		      who, d->flow, d->dst, d->bytes, d->sl, (unsigned long long)d->created,
		      (unsigned long long)d->injected, (unsigned long long)d->at);
}

static bool same(const struct dl_emu_delivery *a, const struct dl_emu_delivery *b)
{
	return a->created == b->created && a->injected == b->injected && a->at == b->at &&
	       a->flow == b->flow && a->dst == b->dst && a->bytes == b->bytes &&
	       a->dlid == b->dlid && a->level == b->level && a->sl == b->sl && a->last == b->last;
}

#define STEPS 12
#define STEP_PS UINT64_C(10000000)
#define END_PS UINT64_C(400000000)

struct run {
	struct emu_step steps[STEPS];
	uint32_t nsteps;
	struct dl_emu_totals totals;
};

/* Faults of all kinds; on a port that has a cable, or an adapter's. */
static struct dl_emu_fault draw_fault(struct draw *d, const struct emu_fixture *w)
{
	struct dl_emu_fault fault = { draw_below(d, DL_EMU_DRAIN_RATE + 1), 0, 0 };

	if (fault.kind >= DL_EMU_DRAIN_STOP) {
		fault.port = w->adapter[draw_below(d, w->nadapters)];
	} else {
		do
			fault.port = draw_below(d, w->f->nports);
		while (w->f->ports[fault.port].peer == DL_NONE || !w->f->ports[fault.port].num);
	}
	if (fault.kind == DL_EMU_DRAIN_RATE)
		fault.rate = 100000 + draw_below(d, 900001);
	else if (fault.kind > DL_EMU_LINK_UP && fault.kind < DL_EMU_DRAIN_STOP)
		fault.rate = draw_below(d, 300000);
	return fault;
}

/* The emulator, with up to so many faults while there is something to do. */
static void run_emulator(struct draw *d, struct emu_fixture *w, uint32_t faults, struct run *out)
{
	uint64_t now = 0;
	int state = DL_EMU_RUNNING;

	*out = (struct run){ 0 };
	emu_fixture_start(w);
	while (out->nsteps < faults) {
		struct emu_step *step = &out->steps[out->nsteps];

		now += draw_below(d, STEP_PS);
		state = dl_emu_run(w->emu, now);
		if (state != DL_EMU_RUNNING)
			break;
		out->nsteps++;
		*step = (struct emu_step){ now, draw_fault(d, w) };
		assert_int_equal(dl_emu_fault(w->emu, &step->fault), 0);
	}
	assert_true(dl_emu_run(w->emu, END_PS) >= 0);
	out->totals = *dl_emu_totals(w->emu);
	emu_fixture_stop(w);
}

static void compare(uint32_t fixture, const struct dl_emu_delivery *a, uint64_t na,
		    const struct dl_emu_delivery *b, uint64_t nb)
{
	for (uint64_t i = 0; i < na || i < nb; i++) {
		if (i < na && i < nb && same(&a[i], &b[i]))
			continue;
		print_message("seed %llu, fixture %u, delivery %llu\n", (unsigned long long)seed,
			      fixture, (unsigned long long)i);
		if (i < na)
			show("emulator", &a[i]);
		if (i < nb)
			show("reference model", &b[i]);
		fail();
	}
}

static void compare_totals(const struct dl_emu_totals *a, const struct dl_emu_totals *b)
{
	assert_int_equal(a->injected, b->injected);
	assert_int_equal(a->packet_hops, b->packet_hops);
	assert_int_equal(a->marked, b->marked);
	assert_int_equal(a->acks, b->acks);
	assert_int_equal(a->naks, b->naks);
	assert_int_equal(a->resent, b->resent);
	assert_int_equal(a->timeouts, b->timeouts);
	assert_int_equal(a->broken, b->broken);
	assert_int_equal(a->lost_messages, b->lost_messages);
	for (unsigned int i = 0; i < DL_EMU_DROPS; i++)
		assert_int_equal(a->drops[i], b->drops[i]);
}

/* What happened in all fixtures. */
struct sums {
	uint64_t delivered, dropped, marked, acks, naks, resent, broken;
};

/* Fixtures from the seed, with up to so many faults. */
static struct sums run_fixtures(uint32_t n, uint32_t faults, bool retries)
{
	struct dl_emu_delivery *fast = malloc(MAX_DELIVERIES * sizeof(*fast));
	struct dl_emu_delivery *slow = malloc(MAX_DELIVERIES * sizeof(*slow));
	struct draw d = { .seed = seed + faults + 100 * retries };
	struct sums sums = { 0 };

	assert_true(fast && slow);
	for (uint32_t i = 0; i < n; i++) {
		struct dl_emu_totals totals;
		struct emu_fixture w;
		struct run run;
		uint64_t arrived;

		draw_fixture(&d, &w);
		if (faults)
			w.c.hoq_life_ps = draw_below(&d, 2) * draw_below(&d, 20000000);
		if (retries)
			draw_retries(&d, &w);
		draw_flows(&d, &w);
		w.log = fast;
		w.log_size = MAX_DELIVERIES;
		run_emulator(&d, &w, faults, &run);
		arrived = w.delivered;
		w.log = slow;
		emu_fixture_rewind(&w);
		emu_reference_run(&w, run.steps, run.nsteps, END_PS, &totals);
		compare(i, fast, arrived, slow, w.delivered);
		compare_totals(&run.totals, &totals);
		sums.delivered += arrived;
		sums.dropped += run.totals.dropped;
		sums.marked += totals.marked;
		sums.acks += totals.acks;
		sums.naks += totals.naks;
		sums.resent += totals.resent;
		sums.broken += totals.broken;
		free((void *)w.c.cable_mm);
		emu_fixture_free(&w);
	}
	free(fast);
	free(slow);
	print_message("%llu delivered, %llu lost, %llu marks, %llu sent again, %llu broken\n",
		      (unsigned long long)sums.delivered, (unsigned long long)sums.dropped,
		      (unsigned long long)sums.marked, (unsigned long long)sums.resent,
		      (unsigned long long)sums.broken);
	return sums;
}

static void test_model(void **state)
{
	struct sums s = run_fixtures(fixtures, 0, false);

	(void)state;
	assert_true(s.delivered > 20 * fixtures && s.marked > fixtures);
	assert_int_equal(s.dropped, 0);
}

static void test_faults(void **state)
{
	struct sums s = run_fixtures(fixtures, STEPS, false);

	(void)state;
	assert_true(s.delivered > 20 * fixtures && s.dropped > fixtures);
}

/* Packets are lost, and come late. */
static void test_retries(void **state)
{
	struct sums s = run_fixtures(fixtures / 2, 0, true);
	struct sums f = run_fixtures(fixtures / 2, STEPS, true);

	(void)state;
	assert_true(s.delivered > 10 * fixtures && s.resent > fixtures && s.acks > fixtures);
	assert_true(f.dropped > fixtures && f.naks > 10 && f.broken > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_retries),
	};
	const char *given = getenv("DATELINE_SEED"), *number = getenv("DATELINE_WORLDS");

	if (number)
		fixtures = strtoul(number, NULL, 0);

	if (given)
		seed = strtoull(given, NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
