/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The emulator against what can be worked out by hand: latency at no load,
 * the load of a full link, what credit and round trip allow, the shares of
 * VLs, the bounds of rings.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/run.h"
#include "emu_fixture.h"

#define US UINT64_C(1000000)
#define MS UINT64_C(1000000000)

/* Picoseconds of so many bytes, from Gbit/s as a fraction: independently. */
static uint64_t wire_time(uint64_t bytes, uint64_t gbps_num, uint64_t gbps_den)
{
	unsigned __int128 bits = (unsigned __int128)bytes * 8000 * gbps_den;

	return (bits + gbps_num - 1) / gbps_num;
}

static const struct {
	unsigned int speed, width;
	uint64_t num, den; /* data rate in Gbit/s */
} rates[] = {
	{ DL_FABRIC_SDR, 1, 2, 1 },	{ DL_FABRIC_SDR, 4, 8, 1 },
	{ DL_FABRIC_DDR, 4, 16, 1 },	{ DL_FABRIC_QDR, 4, 32, 1 },
	{ DL_FABRIC_QDR, 12, 96, 1 },	{ DL_FABRIC_FDR10, 4, 40, 1 },
	{ DL_FABRIC_FDR, 4, 600, 11 },	{ DL_FABRIC_FDR, 8, 1200, 11 },
	{ DL_FABRIC_EDR, 4, 100, 1 },	{ DL_FABRIC_HDR, 1, 50, 1 },
	{ DL_FABRIC_HDR, 4, 200, 1 },	{ DL_FABRIC_NDR, 4, 400, 1 },
	{ DL_FABRIC_NDR, 12, 1200, 1 }, { DL_FABRIC_SDR, 12, 24, 1 },
};
#define NRATES (sizeof(rates) / sizeof(*rates))

static uint64_t closed_form(const struct emu_fixture *w, unsigned int rate, uint32_t links,
			    uint32_t bytes)
{
	uint64_t num = rates[rate].num, den = rates[rate].den;
	uint64_t d = links * (uint64_t)w->c.cable_mm_all * 5;
	uint64_t l = w->c.switch_latency_ps, flits, rest;

	switch (w->c.switching) {
	case DL_EMU_STORE_AND_FORWARD:
		return d + links * wire_time(bytes, num, den) + (links - 1) * l;
	case DL_EMU_CUT_THROUGH:
		return d + wire_time(bytes, num, den) + (links - 1) * (wire_time(8, num, den) + l);
	default:
		flits = (bytes + w->c.flit - 1) / w->c.flit;
		rest = bytes - (flits - 1) * w->c.flit;
		if (flits == 1)
			return d + links * wire_time(bytes, num, den) + (links - 1) * l;
		return d + (links - 1) * (wire_time(w->c.flit, num, den) + l) +
		       (flits - 1) * wire_time(w->c.flit, num, den) + wire_time(rest, num, den);
	}
}

static void test_zero_load(void **state)
{
	const uint32_t radix[3] = { 4, 1, 1 };
	const uint32_t sizes[] = { 1, 37, 64, 2048, 4096 };
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, radix, true, 1, NULL);
	w.c.mtu = 4096;
	w.c.switch_latency_ps = 123457;
	w.c.cable_mm_all = 3001;
	for (unsigned int i = 0; i < NRATES * 30; i++) {
		unsigned int rate = i % NRATES, kind = i / NRATES % 3;
		uint32_t bytes = sizes[i / NRATES / 3 % 5];

		/* So long on the way that flow-control packets are due. */
		if (kind == DL_EMU_WORMHOLE && rates[rate].num > 1000)
			continue;
		emu_fixture_link(&w, rates[rate].speed, rates[rate].width);
		w.c.switching = kind;
		w.c.flow_control = i / NRATES / 15;
		w.c.buffer = 500;
		w.nflows = 0;
		emu_fixture_flow(&w, 0, 3, bytes, 1);
		emu_fixture_start(&w);
		assert_int_equal(dl_emu_run(w.emu, DL_EMU_NEVER - 1), DL_EMU_DONE);
		assert_int_equal(w.delivered, 1);
		assert_int_equal(w.last.at, closed_form(&w, rate, 5, bytes + 26));
		assert_int_equal(w.last.bytes, bytes);
		emu_fixture_stop(&w);
	}
	emu_fixture_free(&w);
}

/* A multicast packet takes to each member what a unicast one of its size takes. */
static void test_zero_load_multicast(void **state)
{
	const uint32_t radix[3] = { 4, 1, 1 };
	struct dl_emu_delivery log[3];
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, radix, true, 1, NULL);
	emu_fixture_link(&w, rates[8].speed, rates[8].width);
	w.c.switch_latency_ps = 123457;
	w.log = log;
	w.log_size = 3;
	for (unsigned int i = 0; i < 6; i++) {
		uint32_t bytes = 1 + i / 2 * 900;

		w.c.switching = i % 2; /* worms are unicast */
		w.nflows = 0;
		emu_fixture_flow(&w, 0, 0, bytes, 1)->mlid = DL_TABLES_MCAST_LID;
		emu_fixture_start(&w);
		assert_int_equal(dl_emu_run(w.emu, DL_EMU_NEVER - 1), DL_EMU_DONE);
		assert_int_equal(w.delivered, 3);
		for (unsigned int k = 0; k < 3; k++) {
			assert_int_equal(log[k].dst, w.adapter[1 + k]);
			assert_int_equal(log[k].at, closed_form(&w, 8, 3 + k, bytes + 74));
		}
		assert_int_equal(dl_emu_totals(w.emu)->injected, 3);
		emu_fixture_stop(&w);
	}
	emu_fixture_free(&w);
}

/* Packets of all pairs of a torus, each alone in it. */
struct alone {
	const struct emu_fixture *w;
	uint32_t *sent; /* by adapter */
	uint32_t right;
};

static bool next_alone(void *context, uint32_t src, uint64_t now, struct dl_emu_message *out)
{
	struct alone *a = context;
	uint32_t n = a->w->nadapters, k = a->sent[src]++;

	(void)now;
	if (k == n - 1)
		return false;
	*out = (struct dl_emu_message){
		.at = (src * (n - 1) + k) * 100 * US,
		.bytes = a->w->flow[0].bytes,
		.dlid = a->w->f->ports[a->w->adapter[(src + 1 + k) % n]].lid,
		.sl = DL_TABLES_NO_SL,
	};
	return true;
}

static void check_alone(void *context, const struct dl_emu_delivery *d)
{
	struct alone *a = context;
	const struct dl_fabric *f = a->w->f;
	uint32_t links = 1, at = a->w->adapter[d->flow];

	for (at = f->ports[at].peer; at != d->dst; links++) {
		const struct dl_fabric_node *n = &f->nodes[f->ports[at].node];

		at = f->ports[n->first_port + dl_tables_lft(a->w->t, n->sw, d->dlid)].peer;
	}
	assert_int_equal(d->at - d->created, closed_form(a->w, 8, links, d->bytes + 26));
	a->right++;
}

/* The bench's latency at no load, `alone`, of any pattern: that of its pairs. */
static void test_alone(void **state)
{
	const uint32_t radices[][3] = { { 8, 8, 1 }, { 4, 4, 4 } };

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct emu_fixture w;
		struct alone a = { .w = &w };
		struct dl_emu_source source = { .context = &a,
						.next = next_alone,
						.delivered = check_alone };

		emu_fixture_build(&w, radices[i / 3], false, 1, NULL);
		emu_fixture_link(&w, rates[8].speed, rates[8].width);
		w.c.switching = i % 3;
		/* (Between flits flow-control packets would be due now and then.) */
		w.flow[0].bytes = w.c.switching == DL_EMU_WORMHOLE ? 38 : 1 + 400 * i;
		a.sent = calloc(w.nadapters, sizeof(*a.sent));
		assert_non_null(a.sent);
		source.nflows = w.nadapters;
		source.port = w.adapter;
		assert_int_equal(dl_emu_new(w.t, &w.c, &source, NULL, &w.emu), 0);
		assert_int_equal(dl_emu_run(w.emu, DL_EMU_NEVER - 1), DL_EMU_DONE);
		assert_int_equal(a.right, 64 * 63);
		free(a.sent);
		emu_fixture_free(&w);
	}
}

/* A faster output must not run out of bits, and need not wait longer. */
static void test_faster_output(void **state)
{
	const uint32_t radix[3] = { 2, 1, 1 };
	struct emu_fixture w;
	uint64_t slow = wire_time(2074, 8, 1), fast = wire_time(2074, 100, 1);

	(void)state;
	emu_fixture_build(&w, radix, true, 1, NULL);
	emu_fixture_link(&w, DL_FABRIC_EDR, 4);
	w.f->ports[w.adapter[0]].speed = DL_FABRIC_SDR;
	emu_fixture_flow(&w, 0, 1, 2048, 1);
	emu_fixture_start(&w);
	assert_int_equal(dl_emu_run(w.emu, DL_EMU_NEVER - 1), DL_EMU_DONE);
	/* The tail is in, crosses one switch; the last one cuts through. */
	assert_int_equal(w.last.at, slow + 3 * 10000 + w.c.switch_latency_ps +
					    wire_time(8, 100, 1) + w.c.switch_latency_ps +
					    (fast - fast));
	emu_fixture_free(&w);
}

/* A full link carries its data rate, no more and no less. */
static void test_full_link(void **state)
{
	const uint32_t radix[3] = { 1, 1, 1 };
	struct emu_fixture w;

	(void)state;
	emu_fixture_build(&w, radix, false, 2, NULL);
	for (unsigned int i = 0; i < NRATES * 2; i++) {
		const struct dl_emu_port *p;
		uint64_t fcp, used, packet, span;
		unsigned int rate = i / 2;

		emu_fixture_link(&w, rates[rate].speed, rates[rate].width);
		w.c.flow_control = i % 2;
		w.c.buffer = i % 2 ? 60 : 60 * 33;
		w.c.cable_mm_all = 200;
		w.nflows = 0;
		emu_fixture_flow(&w, 0, 1, 1 << 20, 0);
		emu_fixture_start(&w);
		assert_int_equal(dl_emu_run(w.emu, 20 * MS), DL_EMU_RUNNING);
		p = dl_emu_port(w.emu, w.adapter[0]);
		fcp = wire_time(8, rates[rate].num, rates[rate].den);
		packet = wire_time(2074, rates[rate].num, rates[rate].den);
		used = p->packets * packet + p->fcps * fcp;
		assert_true(used <= 20 * MS + packet);
		assert_true(used + fcp + packet > 20 * MS);
		/* 8 VLs at least once in 65,536 symbol times, and the packet
		 * that was under way then. */
		span = wire_time(65536, rates[rate].num, rates[rate].den);
		assert_true(p->fcps <= 8 * (20 * MS / span));
		assert_true(p->fcps + 8 >= 8 * (20 * MS / span));
		assert_int_equal(p->bytes, p->packets * 2074);
		assert_int_equal(dl_emu_audit(w.emu, NULL), 0);
		emu_fixture_stop(&w);
	}
	emu_fixture_free(&w);
}

/* Two adapters beside one switch, over QDR links. */
static void build_pair(struct emu_fixture *w)
{
	emu_fixture_build(w, (uint32_t[]){ 1, 1, 1 }, false, 2, NULL);
	emu_fixture_link(w, DL_FABRIC_QDR, 4);
}

/* Credit that is not worth reporting is reported when 65,536 symbol times are over. */
static void test_deadline(void **state)
{
	uint64_t span = wire_time(65536, 32, 1);
	struct emu_fixture w;

	(void)state;
	build_pair(&w);
	for (unsigned int i = 0; i < 2; i++) {
		const struct dl_emu_vl_port *o;
		struct dl_link_credit_tx after;

		w.c.flow_control = i;
		w.c.buffer = i ? 8 : 8 * 33;
		w.nflows = 0;
		emu_fixture_flow(&w, 0, 1, 2048, 3)->gap = 2 * span;
		emu_fixture_start(&w);
		o = &w.emu->ports[w.emu->own_port[w.adapter[0]]].vl[0];
		for (uint64_t k = 1; k < 4; k += 2) {
			assert_int_equal(dl_emu_run(w.emu, k * span - 1), DL_EMU_RUNNING);
			assert_true(dl_link_credit_balance(&o->tx) < w.c.buffer);
			assert_int_equal(dl_emu_run(w.emu, k * span + 1 * US), DL_EMU_RUNNING);
			after = o->tx;
			dl_link_credit_update(&w.emu->terms, &after, o->credit);
			assert_int_equal(dl_link_credit_balance(&after), w.c.buffer);
			assert_true(o->credit_at < k * span + wire_time(16, 32, 1) + 10000);
		}
		emu_fixture_stop(&w);
	}
	emu_fixture_free(&w);
}

/*
 * A deadline that an idle link let pass before losses were asked for brings nothing
 * later: the first packet after that need not wait for flow-control packets.
 */
static void test_deadline_before_losses(void **state)
{
	uint64_t span = wire_time(65536, 32, 1);
	struct emu_fixture w;

	(void)state;
	build_pair(&w);
	emu_fixture_flow(&w, 0, 1, 2048, 2)->gap = span * 7 / 4;
	emu_fixture_start(&w);
	assert_int_equal(dl_emu_run(w.emu, span * 3 / 2), DL_EMU_RUNNING);
	assert_int_equal(dl_emu_fault(w.emu, &(struct dl_emu_fault){ .kind = DL_EMU_FCP_LOSS,
								     .port = w.adapter[0] }),
			 0);
	assert_true(dl_emu_run(w.emu, span * 15 / 8) >= 0);
	assert_int_equal(w.delivered, 2);
	assert_int_equal(w.last.injected, w.last.created);
	emu_fixture_stop(&w);
	emu_fixture_free(&w);
}

/*
 * A link that lacks buffer carries buffer / round trip, within 1 %: for packets of
 * the MTU by default, for smaller ones if credit is returned as often.  IBA lets
 * 2048 blocks be under way at most.
 */
static void test_round_trip(void **state)
{
	static const struct {
		uint32_t packets, data, credit;
	} table[] = { { 1, 2048, 0 },  { 2, 2048, 0 },	{ 3, 2048, 0 },	 { 4, 2048, 0 },
		      { 5, 2048, 0 },  { 7, 2048, 0 },	{ 8, 2048, 0 },	 { 12, 2048, 0 },
		      { 16, 2048, 0 }, { 24, 2048, 0 }, { 32, 2048, 0 }, { 48, 2048, 0 },
		      { 62, 2048, 0 }, { 64, 2048, 0 }, { 9, 1024, 17 }, { 64, 256, 5 } };
	struct emu_fixture w;

	(void)state;
	build_pair(&w);
	w.c.cable_mm_all = 4000000; /* four kilometres */
	for (unsigned int i = 0; i < 4 * sizeof(table) / sizeof(*table); i++) {
		uint32_t bytes = table[i / 4].data + DL_EMU_HEADERS, units = (bytes + 53) / 64;
		uint32_t packets = table[i / 4].packets;
		uint64_t trip, expected, got;

		w.c.flow_control = i % 2;
		w.c.credit = i % 2 ? 0 : table[i / 4].credit;
		w.c.buffer = i % 2 ? packets : packets * units;
		w.c.credit_latency_ps = i / 2 % 2 * 2 * US;
		w.nflows = 0;
		emu_fixture_flow(&w, 0, 1, table[i / 4].data, 0);
		emu_fixture_start(&w);
		assert_int_equal(dl_emu_run(w.emu, 20 * MS), DL_EMU_RUNNING);
		/* To the adapter: room is free when the tail is in. */
		trip = wire_time(bytes, 32, 1) + wire_time(8, 32, 1) +
		       2 * 5 * (uint64_t)w.c.cable_mm_all + w.c.credit_latency_ps;
		if (w.c.switching == DL_EMU_CUT_THROUGH) /* to the switch */
			trip += w.c.switch_latency_ps + wire_time(8, 32, 1);
		expected = (i % 2 || packets * units <= 2048 ? packets : 2048 / units) * 20 * MS /
			   trip;
		got = dl_emu_totals(w.emu)->delivered;
		assert_in_range(got * 1000, expected * 990, expected * 1010);
		assert_int_equal(dl_emu_audit(w.emu, NULL), 0);
		emu_fixture_stop(&w);
	}
	emu_fixture_free(&w);
}

/* A closed loop: a message at a time, and the next when its end is known. */
static void test_acks(void **state)
{
	const uint32_t radix[3] = { 4, 1, 1 };
	struct emu_fixture w;
	uint64_t latency = 0;

	(void)state;
	emu_fixture_build(&w, radix, true, 1, NULL);
	emu_fixture_flow(&w, 0, 3, 3000, 10)->window = 1;
	for (unsigned int i = 0; i < 3; i++) {
		w.c.ack_latency_ps = i * 470123;
		w.c.threads = 2;
		emu_fixture_start(&w);
		assert_int_equal(w.emu->split.n, i ? 2 : 1);
		assert_int_equal(dl_emu_run(w.emu, MS), DL_EMU_DONE);
		assert_int_equal(w.delivered, 20);
		if (!i)
			latency = w.last.at / 10;
		assert_int_equal(w.last.at, 10 * latency + 9 * w.c.ack_latency_ps);
		assert_int_equal(dl_emu_now(w.emu), w.last.at + w.c.ack_latency_ps);
		emu_fixture_stop(&w);
	}
	emu_fixture_free(&w);
}

/* Two levels with work share a link as the tables weigh their VLs. */
static void test_shares(void **state)
{
	const uint32_t radix[3] = { 2, 2, 1 };
	const unsigned int weights[][2] = { { 1, 1 }, { 64, 192 }, { 99, 33 } };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		const unsigned int *pair = weights[i];
		struct emu_fixture w;
		uint64_t at_adapter[2], between[2] = { 0 };
		uint32_t port;
		double share = (double)pair[0] / (pair[0] + pair[1]);

		emu_fixture_build(&w, radix, false, 1, pair);
		w.c.mtu = 256; /* a small part of any weight */
		w.c.buffer = 16 * 6;
		for (unsigned int level = 0; level < 2; level++)
			emu_fixture_flow(&w, 0, 1, 1 << 20, 0)->level = level;
		emu_fixture_start(&w);
		assert_int_equal(dl_emu_run(w.emu, 5 * MS), DL_EMU_RUNNING);
		for (unsigned int v = 0; v < 2; v++)
			at_adapter[v] = dl_emu_vl(w.emu, w.adapter[0], v).bytes;
		/* The same on the one link between the switches in use. */
		for (port = 0; port < w.f->nports; port++) {
			if (w.f->ports[port].peer == DL_NONE ||
			    !dl_fabric_is_switch(w.f, w.f->ports[port].node) ||
			    !dl_fabric_is_switch(w.f, dl_fabric_peer_node(w.f, port)))
				continue;
			for (unsigned int v = 0; v < 8; v++)
				between[v / 4] += dl_emu_vl(w.emu, port, v).bytes;
		}
		assert_true(at_adapter[0] + at_adapter[1] > 4000000);
		assert_true(abs((int)(10000 * share -
				      10000.0 * at_adapter[0] / (at_adapter[0] + at_adapter[1]))) <
			    100);
		assert_true(abs((int)(10000 * share -
				      10000.0 * between[0] / (between[0] + between[1]))) < 100);
		emu_fixture_free(&w);
	}
}

/*
 * A packet weighs what LRH:PktLen says (rules B3): with 40 and with 36 bytes of data it
 * is 64 and 60 bytes long, one block each, although the first has 66 on the wire.
 */
static void test_weight_without_vcrc(void **state)
{
	const unsigned int even[2] = { 1, 1 };
	const uint32_t radix[3] = { 2, 2, 1 }, data[2] = { 40, 36 };
	struct emu_fixture w;
	uint64_t packets[2];

	(void)state;
	emu_fixture_build(&w, radix, false, 1, even);
	for (unsigned int level = 0; level < 2; level++)
		emu_fixture_flow(&w, 0, 1, data[level], 0)->level = level;
	emu_fixture_start(&w);
	assert_int_equal(dl_emu_run(w.emu, MS), DL_EMU_RUNNING);
	for (unsigned int v = 0; v < 2; v++)
		packets[v] = dl_emu_vl(w.emu, w.adapter[0], v).bytes / (data[v] + 26);
	assert_true(packets[0] > 1000);
	assert_in_range(packets[0] * 100 / packets[1], 97, 103);
	emu_fixture_free(&w);
}

/* What the packets of a pattern on a ring get, in millionths of a link. */
static uint64_t ring_throughput(uint32_t k, uint32_t by, uint64_t load)
{
	const uint32_t radix[3] = { k, 1, 1 };
	struct emu_fixture w;
	uint64_t bytes;

	emu_fixture_build(&w, radix, false, 1, NULL);
	emu_fixture_link(&w, DL_FABRIC_QDR, 4);
	for (uint32_t i = 0; i < k; i++) {
		struct emu_flow *flow = emu_fixture_flow(&w, i, (i + by) % k, 2048, 0);

		flow->gap = UINT64_C(250) * 2074 * 1000000 / load;
	}
	emu_fixture_start(&w);
	assert_int_equal(dl_emu_run(w.emu, 2 * MS), DL_EMU_RUNNING);
	dl_emu_reset_stats(w.emu);
	assert_int_equal(dl_emu_run(w.emu, 12 * MS), DL_EMU_RUNNING);
	bytes = dl_emu_totals(w.emu)->delivered * 2074;
	emu_fixture_free(&w);
	return bytes * 250 / (10 * MS / 1000000) / k;
}

static void test_rings(void **state)
{
	(void)state;
	for (uint32_t k = 3; k <= 9; k++) {
		uint32_t far = (k - 1) / 2;

		/* Neighbours: every link is full. */
		assert_in_range(ring_throughput(k, 1, 1100000), 980000, 1000000);
		/* Tornado: each link carries `far` adapters' packets. */
		assert_in_range(ring_throughput(k, far, 990000 / far) * far, 980000, 1000000);
	}
}

/* The same seed gives the same run, however it is cut into pieces. */
static void test_determinism(void **state)
{
	const uint32_t radix[3] = { 3, 3, 2 };
	struct emu_fixture w;
	uint64_t digest[2];

	(void)state;
	emu_fixture_build(&w, radix, false, 1, NULL);
	w.c.seed = 7;
	for (uint32_t i = 0; i < w.nadapters; i++) {
		struct emu_flow *flow = emu_fixture_flow(&w, i, 0, 5000, 0);

		flow->random = true;
		flow->level = i % 2;
		flow->gap = 6 * US;
	}
	for (unsigned int run = 0; run < 2; run++) {
		struct dl_emu_fault loss = { DL_EMU_DATA_CORRUPT, 0, 1000 };

		emu_fixture_start(&w);
		loss.port = w.adapter[3];
		assert_int_equal(dl_emu_fault(w.emu, &loss), 0);
		for (uint64_t t = run ? US : MS; t <= MS; t += run ? US : MS)
			assert_int_equal(dl_emu_run(w.emu, t), DL_EMU_RUNNING);
		assert_true(w.delivered > 1000);
		digest[run] = w.digest;
		emu_fixture_stop(&w);
	}
	assert_int_equal(digest[0], digest[1]);
	emu_fixture_free(&w);
}

static void test_histogram(void **state)
{
	static struct dl_emu_histogram h;

	(void)state;
	for (uint64_t v = 1; v; v = v > UINT64_MAX / 3 ? 0 : v * 3 - 1) {
		unsigned int b = dl_emu_histogram_index(v);
		uint64_t width = dl_emu_histogram_lower(b + 1) - dl_emu_histogram_lower(b);

		assert_true(b < DL_EMU_HISTOGRAM_BUCKETS);
		assert_true(dl_emu_histogram_lower(b) <= v);
		assert_true(v - dl_emu_histogram_lower(b) < width);
		if (v >= DL_EMU_HISTOGRAM_SUB)
			assert_true(width / 2 <= v * DL_EMU_HISTOGRAM_ERROR);
		if (v == 1)
			v = 2;
	}
	for (uint64_t v = 1; v <= 100000; v++)
		dl_emu_histogram_add(&h, v);
	for (uint32_t q = 10000; q <= 1000000; q += 10000)
		assert_in_range(dl_emu_histogram_quantile(&h, q),
				q / 10 * (1 - DL_EMU_HISTOGRAM_ERROR) - 1,
				q / 10 * (1 + DL_EMU_HISTOGRAM_ERROR) + 1);
	assert_int_equal(dl_emu_histogram_mean(&h) * 2, 100001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zero_load),
		cmocka_unit_test(test_zero_load_multicast),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_faster_output),
		cmocka_unit_test(test_full_link),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_deadline_before_losses),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_acks),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_weight_without_vcrc),
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_determinism),
		cmocka_unit_test(test_histogram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
