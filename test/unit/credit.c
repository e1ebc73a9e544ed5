/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Flow control of one VL: the reference cases number by number, and random
 * events against reference models that count without ever wrapping round.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "draw.h"
#include "dateline/link.h"

struct link {
	struct dl_link_credit_terms terms;
	struct dl_link_credit_tx tx;
	struct dl_link_credit_rx rx;
};

static void setup(struct link *l, enum dl_link_credit_scheme scheme, uint32_t buffer,
		  uint32_t chunk)
{
	assert_int_equal(dl_link_credit_terms_init(&l->terms, scheme, buffer, chunk, 10), 0);
	l->rx.free = l->terms.size;
	dl_link_credit_start(&l->terms, &l->tx, &l->rx);
}

static bool transfer(struct link *l, uint32_t units)
{
	if (!dl_link_credit_may_send(&l->tx, units))
		return false;
	dl_link_credit_spend(&l->tx, units);
	assert_true(dl_link_credit_receive(&l->terms, &l->rx, units));
	return true;
}

static void tell(struct link *l)
{
	dl_link_credit_update(&l->terms, &l->tx, dl_link_credit_of(&l->terms, &l->rx));
}

/* The same in a flow-control packet. */
static void report(struct link *l)
{
	struct dl_link_credit_rx idle = { 0 };
	struct dl_link_fcp fcp;

	assert_int_equal(dl_link_fcp_make(DL_LINK_ACTIVE, 0, &l->terms, &l->tx, &l->rx, &fcp), 0);
	assert_int_equal(dl_link_fcp_take(DL_LINK_ACTIVE, &fcp, &l->terms, &l->tx, &idle), 0);
}

static void registers(const struct link *l, uint32_t fctbs, uint32_t cl, uint32_t abr,
		      uint32_t free, uint32_t fccl)
{
	assert_int_equal(l->tx.sent, fctbs);
	assert_int_equal(l->tx.limit, cl);
	assert_int_equal(l->rx.received, abr);
	assert_int_equal(l->rx.free, free);
	assert_int_equal(dl_link_credit_of(&l->terms, &l->rx), fccl);
}

/* The receiver of 3072 blocks, its full buffer, and the roll-over. */
static void test_document(void **state)
{
	struct link l;

	(void)state;
	setup(&l, DL_LINK_CREDIT_IBA, 3072, 1);
	registers(&l, 0, 2048, 0, 3072, 2048);
	assert_true(transfer(&l, 10));
	registers(&l, 10, 2048, 10, 3062, 2058);
	assert_true(transfer(&l, 5));
	registers(&l, 15, 2048, 15, 3057, 2063);
	assert_true(transfer(&l, 1009));
	tell(&l);
	registers(&l, 1024, 3072, 1024, 2048, 3072);
	assert_true(transfer(&l, 3));
	registers(&l, 1027, 3072, 1027, 2045, 3072);

	assert_true(transfer(&l, 2045));
	registers(&l, 3072, 3072, 3072, 0, 3072);
	assert_false(transfer(&l, 1));
	dl_link_credit_release(&l.terms, &l.rx, 1);
	registers(&l, 3072, 3072, 3072, 1, 3073);
	assert_false(transfer(&l, 1));
	tell(&l);
	registers(&l, 3072, 3073, 3072, 1, 3073);
	assert_true(transfer(&l, 1));

	/* On to FCTBS = ABR = 3586 with FCCL 4090 announced. */
	dl_link_credit_release(&l.terms, &l.rx, 513);
	tell(&l);
	assert_true(transfer(&l, 513));
	dl_link_credit_release(&l.terms, &l.rx, 504);
	tell(&l);
	registers(&l, 3586, 4090, 3586, 504, 4090);
	dl_link_credit_release(&l.terms, &l.rx, 5);
	registers(&l, 3586, 4090, 3586, 509, 4095);
	dl_link_credit_release(&l.terms, &l.rx, 1);
	registers(&l, 3586, 4090, 3586, 510, 0);
	assert_true(transfer(&l, 1));
	registers(&l, 3587, 4090, 3587, 509, 0);
	tell(&l);
	registers(&l, 3587, 0, 3587, 509, 0);
	/* 000h - E03h = 1FDh. */
	assert_int_equal((l.tx.limit - l.tx.sent) & 0xFFF, 0x1FD);
	assert_true(transfer(&l, 509));
	registers(&l, 0, 0, 0, 0, 0);
	assert_false(transfer(&l, 1));
}

/* C1: the comparison for every difference, with packets of up to 66 blocks. */
static void test_comparison(void **state)
{
	(void)state;
	for (uint32_t sent = 0; sent < 4096; sent += 273)
		for (uint32_t credit = 0; credit <= 2048; credit++)
			for (uint32_t np = 1; np <= 66; np++) {
				struct dl_link_credit_tx tx = {
					.sent = sent,
					.limit = (sent + credit) % 4096,
				};

				assert_int_equal(dl_link_credit_may_send(&tx, np), np <= credit);
			}
}

/* C3: what is lost on the wire leaks until FCTBS arrives. */
static void test_loss(void **state)
{
	struct link l;

	(void)state;
	setup(&l, DL_LINK_CREDIT_IBA, 100, 1);
	dl_link_credit_spend(&l.tx, 60); /* lost */
	tell(&l);
	assert_false(transfer(&l, 41));
	assert_true(transfer(&l, 40));
	dl_link_credit_release(&l.terms, &l.rx, 40);
	tell(&l);
	assert_false(transfer(&l, 41));
	dl_link_credit_sync(&l.rx, l.tx.sent);
	registers(&l, 100, 140, 100, 100, 200);
	tell(&l);
	assert_true(transfer(&l, 100));
}

/* C4: one block for every free chunk of two. */
static void test_chunks(void **state)
{
	struct link l;

	(void)state;
	setup(&l, DL_LINK_CREDIT_IBA, 101, 2);
	assert_int_equal(l.rx.free, 50);
	for (int i = 0; i < 50; i++)
		assert_true(transfer(&l, 1));
	assert_int_equal(l.rx.free, 0);
	assert_false(transfer(&l, 1));
	for (int i = 0; i < 50; i++)
		dl_link_credit_release(&l.terms, &l.rx, 1);
	tell(&l);
	assert_true(transfer(&l, 49));
	assert_int_equal(l.rx.free, 25);
	assert_int_equal(dl_link_credit_of(&l.terms, &l.rx), 49 + 50 + 25);
	assert_int_equal(dl_link_credit_terms_init(&l.terms, DL_LINK_CREDIT_IBA, 1, 0, 1), -EINVAL);
}

/* C5: a sender that lies finds no room; its packet is counted. */
static void test_discard(void **state)
{
	struct link l;

	(void)state;
	setup(&l, DL_LINK_CREDIT_IBA, 10, 1);
	l.tx.limit = 100;
	dl_link_credit_spend(&l.tx, 11);
	assert_false(dl_link_credit_receive(&l.terms, &l.rx, 11));
	assert_int_equal(l.rx.received, 0);
	assert_int_equal(l.rx.free, 10);
}

/* E1, by the numbers of a buffer of eight. */
static void test_pcie(void **state)
{
	struct link l;

	(void)state;
	assert_int_equal(dl_link_credit_units(DL_LINK_CREDIT_PCIE, 4096), 1);
	assert_int_equal(dl_link_credit_units(DL_LINK_CREDIT_IBA, 4096), 64);
	assert_int_equal(dl_link_credit_units(DL_LINK_CREDIT_IBA, 4097), 65);
	setup(&l, DL_LINK_CREDIT_PCIE, 8, 1);
	assert_int_equal(dl_link_credit_balance(&l.tx), 8);
	for (int i = 0; i < 8; i++)
		assert_true(transfer(&l, 1));
	assert_int_equal(dl_link_credit_balance(&l.tx), 0);
	assert_false(transfer(&l, 1));
	dl_link_credit_release(&l.terms, &l.rx, 3);
	assert_false(transfer(&l, 1));
	tell(&l);
	assert_int_equal(dl_link_credit_balance(&l.tx), 3);
	/* A packet on the wire while the message comes is not free space. */
	dl_link_credit_spend(&l.tx, 1);
	tell(&l);
	assert_int_equal(dl_link_credit_balance(&l.tx), 2);
	assert_true(dl_link_credit_receive(&l.terms, &l.rx, 1));
	/* Lost data: gone until Tx_Cnt comes. */
	dl_link_credit_spend(&l.tx, 2);
	dl_link_credit_release(&l.terms, &l.rx, 6);
	tell(&l);
	assert_int_equal(dl_link_credit_balance(&l.tx), 6);
	dl_link_credit_sync(&l.rx, l.tx.sent);
	tell(&l);
	assert_int_equal(dl_link_credit_balance(&l.tx), 8);
	/* A sync message behind data that was sent after it counts back. */
	for (int i = 0; i < 4; i++)
		assert_true(transfer(&l, 1));
	dl_link_credit_sync(&l.rx, l.tx.sent - 3);
	assert_int_equal(dl_link_credit_of(&l.terms, &l.rx), l.tx.sent - 7);
	tell(&l);
	assert_int_equal(dl_link_credit_balance(&l.tx), 1);
	/* A credit message from before everything: no credit at all. */
	dl_link_credit_update(&l.terms, &l.tx, l.tx.sent - 9);
	assert_int_equal(dl_link_credit_balance(&l.tx), 0);
	dl_link_credit_sync(&l.rx, l.tx.sent);
	tell(&l);
	assert_int_equal(dl_link_credit_balance(&l.tx), 4);
	assert_int_equal(dl_link_credit_terms_init(&l.terms, DL_LINK_CREDIT_PCIE, 8, 2, 1),
			 -EINVAL);
	assert_int_equal(dl_link_credit_terms_init(&l.terms, DL_LINK_CREDIT_PCIE, 2049, 1, 1),
			 -EINVAL);
}

/*
 * The receiver need not report every block: but when the sender waits for
 * credit, and there is some, it does.
 */
static void test_worth_reporting(void **state)
{
	struct link l;

	(void)state;
	for (int scheme = DL_LINK_CREDIT_IBA; scheme <= DL_LINK_CREDIT_PCIE; scheme++) {
		setup(&l, scheme, 100, 1);
		l.terms.report = 25;
		assert_false(dl_link_credit_should_report(&l.terms, &l.rx));
		for (int i = 0; i < 20; i++)
			assert_true(transfer(&l, 1));
		dl_link_credit_release(&l.terms, &l.rx, 20);
		assert_false(dl_link_credit_should_report(&l.terms, &l.rx));
		for (int i = 0; i < 5; i++)
			assert_true(transfer(&l, 1));
		dl_link_credit_release(&l.terms, &l.rx, 5);
		assert_true(dl_link_credit_should_report(&l.terms, &l.rx));
		report(&l);
		/* Ten are left, and one has moved on; then nine are left. */
		for (int i = 0; i < 90; i++)
			assert_true(transfer(&l, 1));
		assert_false(dl_link_credit_should_report(&l.terms, &l.rx));
		dl_link_credit_release(&l.terms, &l.rx, 1);
		assert_false(dl_link_credit_should_report(&l.terms, &l.rx));
		assert_true(transfer(&l, 1));
		assert_true(dl_link_credit_should_report(&l.terms, &l.rx));
	}
}

/* ---- three nodes in a chain -------------------------------------------- */

#define CHAIN_VCS 2

/* A node's queue of packets by number; room for all there are. */
struct queue {
	int packet[400], head, n;
};

struct chain {
	struct link link[2][CHAIN_VCS]; /* upstream-current, -downstream */
	struct queue node[3][CHAIN_VCS];
	struct queue wire[2][CHAIN_VCS];
};

static void move(struct queue *from, struct queue *to)
{
	to->packet[to->n++] = from->packet[from->head++];
}

static void chain_event(struct chain *c, struct draw *d)
{
	unsigned int hop = draw_below(d, 2), vc = draw_below(d, CHAIN_VCS);
	struct link *l = &c->link[hop][vc];
	struct queue *from = &c->node[hop][vc], *wire = &c->wire[hop][vc];

	switch (draw_below(d, 4)) {
	case 0: /* send; what leaves Current is forwarded by it */
		if (from->head == from->n || !dl_link_credit_may_send(&l->tx, 1))
			return;
		dl_link_credit_spend(&l->tx, 1);
		move(from, wire);
		if (hop)
			dl_link_credit_release(&c->link[0][vc].terms, &c->link[0][vc].rx, 1);
		return;
	case 1:
		if (wire->head == wire->n)
			return;
		assert_true(dl_link_credit_receive(&l->terms, &l->rx, 1));
		move(wire, &c->node[hop + 1][vc]);
		return;
	case 2:
		tell(l);
		return;
	default: /* Downstream consumes on one channel only */
		l = &c->link[1][0];
		if (l->rx.free < l->terms.size)
			dl_link_credit_release(&l->terms, &l->rx, 1);
	}
}

/*
 * E4: control is hop by hop.  Downstream consumes what comes on one channel
 * and nothing on the other.  There the jam reaches back to Upstream, with both
 * buffers full and nothing lost; the first channel does not notice.
 */
static void test_chain(void **state)
{
	static struct chain c; /* 30 KiB */
	struct draw d = { .seed = 5 };

	(void)state;
	for (int scheme = DL_LINK_CREDIT_IBA; scheme <= DL_LINK_CREDIT_PCIE; scheme++) {
		memset(&c, 0, sizeof(c));
		for (int vc = 0; vc < CHAIN_VCS; vc++) {
			setup(&c.link[0][vc], scheme, 4, 1);
			setup(&c.link[1][vc], scheme, 2, 1);
			for (int i = 0; i < 400; i++)
				c.node[0][vc].packet[c.node[0][vc].n++] = i;
		}
		for (int i = 0; i < 40000; i++)
			chain_event(&c, &d);
		for (int i = 0; i < 400; i++)
			assert_int_equal(c.node[2][0].packet[i], i);
		assert_int_equal(c.node[2][0].n, 400);
		assert_int_equal(c.node[2][1].n, 2);
		assert_int_equal(c.node[1][1].n - c.node[1][1].head, 4);
		assert_int_equal(c.node[0][1].n - c.node[0][1].head, 394);
		assert_false(dl_link_credit_may_send(&c.link[0][1].tx, 1));
		assert_false(dl_link_credit_may_send(&c.link[1][1].tx, 1));
	}
}

/* ---- random events, against counting without end ----------------------- */

#define WIRE 64

/* Numbers that never wrap: what IBA and E1 mean, not how they count it. */
struct model {
	int64_t sent, promised; /* at the sender */
	int64_t arrived;	/* at the receiver, losses made good */
	int64_t stored;		/* chunks in use */
	int64_t size, chunk;
	bool pcie;
};

struct wire {
	int64_t units[WIRE]; /* packets; -1 - FCTBS: a sync message */
	unsigned int head, n;
};

static int64_t model_promise(const struct model *t)
{
	int64_t free = t->size - t->stored;

	if (!t->pcie && free > 2048)
		free = 2048;
	return t->arrived + free;
}

static void push(struct wire *w, int64_t what)
{
	w->units[(w->head + w->n++) % WIRE] = what;
}

static int64_t chunks(const struct model *t, int64_t units)
{
	return (units + t->chunk - 1) / t->chunk;
}

/* The oldest thing on the wire arrives, or is lost. */
static const char *arrive(struct link *l, struct model *t, struct wire *w, struct wire *buffer,
			  bool lost)
{
	int64_t what = w->units[w->head];

	w->head = (w->head + 1) % WIRE;
	w->n--;
	if (lost)
		return NULL;
	if (what < 0) {
		dl_link_credit_sync(&l->rx, (-1 - what) & DL_LINK_CREDIT_MASK);
		t->arrived = -1 - what;
		return NULL;
	}
	t->arrived += what;
	t->stored += chunks(t, what);
	if (t->stored > t->size)
		return "the buffer overflows";
	if (!dl_link_credit_receive(&l->terms, &l->rx, what))
		return "a packet is dropped";
	push(buffer, what);
	return NULL;
}

static const char *step(struct link *l, struct model *t, struct wire *w, struct wire *buffer,
			struct draw *d)
{
	int64_t units = t->pcie ? 1 : 1 + draw_below(d, 66);

	switch (draw_below(d, 8)) {
	case 0:
	case 1:
	case 2:
		if (w->n + buffer->n >= WIRE - 1)
			return NULL;
		if (dl_link_credit_may_send(&l->tx, units) != (t->sent + units <= t->promised))
			return "they differ about a send";
		if (t->sent + units > t->promised)
			return NULL;
		dl_link_credit_spend(&l->tx, units);
		t->sent += units;
		push(w, units);
		return NULL;
	case 3:
	case 4:
		return w->n ? arrive(l, t, w, buffer, draw_one_in(d, 30)) : NULL;
	case 5:
		if (!buffer->n)
			return NULL;
		units = buffer->units[buffer->head];
		buffer->head = (buffer->head + 1) % WIRE;
		buffer->n--;
		t->stored -= chunks(t, units);
		dl_link_credit_release(&l->terms, &l->rx, units);
		return NULL;
	case 6: /* a credit message; every other one is lost */
		if (draw_one_in(d, 2))
			return NULL;
		dl_link_credit_update(&l->terms, &l->tx, dl_link_credit_of(&l->terms, &l->rx));
		t->promised = model_promise(t);
		return NULL;
	default:
		if (w->n < WIRE - 1)
			push(w, -1 - t->sent);
		return NULL;
	}
}

static const char *differ(const struct link *l, const struct model *t)
{
	uint32_t fwd_cnt = dl_link_credit_of(&l->terms, &l->rx);

	if (l->tx.sent != t->sent % 4096)
		return "sent";
	if ((l->tx.limit - l->tx.sent) % 4096u != (t->promised - t->sent) % 4096)
		return "credit limit";
	if (t->pcie && dl_link_credit_balance(&l->tx) != t->promised - t->sent)
		return "credit balance";
	if (l->rx.received != t->arrived % 4096 ||
	    (t->pcie && (fwd_cnt + t->stored) % 4096 != t->arrived % 4096))
		return "received";
	return l->rx.free == t->size - t->stored ? NULL : "free space";
}

static void one_run(unsigned int seed, int events)
{
	struct draw d = { .seed = seed };
	struct model t = { .pcie = draw_one_in(&d, 3) };
	struct wire wire = { 0 }, buffer = { 0 };
	const char *wrong = NULL;
	struct link l;

	t.chunk = t.pcie ? 1 : 1 + draw_below(&d, 4);
	t.size = 1 + draw_below(&d, draw_one_in(&d, 2) ? 2000 : 200);
	if (!t.pcie && draw_one_in(&d, 4))
		t.size = 2000 + draw_below(&d, 3000);
	setup(&l, t.pcie ? DL_LINK_CREDIT_PCIE : DL_LINK_CREDIT_IBA, t.size * t.chunk, t.chunk);
	t.promised = model_promise(&t);
	for (int i = 0; i < events && !wrong; i++) {
		wrong = step(&l, &t, &wire, &buffer, &d);
		wrong = wrong ? wrong : differ(&l, &t);
		if (wrong)
			fail_msg("seed %u, event %d: %s", seed, i, wrong);
	}
}

static void test_model(void **state)
{
	(void)state;
	for (unsigned int seed = 1; seed <= 1500; seed++)
		one_run(seed, 2000);
	/* Long enough for packets to be counted round the circle, too. */
	for (unsigned int seed = 2000; seed < 2010; seed++)
		one_run(seed, 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_comparison),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_discard),
		cmocka_unit_test(test_pcie),
		cmocka_unit_test(test_worth_reporting),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests_name("credit", tests, NULL, NULL);
}
