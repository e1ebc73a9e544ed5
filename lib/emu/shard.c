/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One emulation on several cores.
 *
 * Problem.  The same results, bit for bit, for any number of threads, and
 * faster with more of them.
 *
 * Method.  Switches are divided into shards, one a thread, neighbours
 * together; an adapter belongs to its switch's.  Each shard has its own
 * events and counts.  All run through the same window of time, meet, and go on
 * to the next.  Nothing that happens in a window at one switch is felt at
 * another one within it: a window is some buckets of events, no longer than
 * the quickest packet and the quickest credit need over the shortest cable
 * between shards.  What is sent to another shard is mailed; its mail is opened
 * before the next window.
 *
 * Why the results are the same.  Events of one time are in order of kind and
 * channel, whoever runs them; those of different nodes do not touch each other
 * at one time.  Random numbers belong to ports.  Credit that nobody waits for
 * has no event (transmit.c), but whether it has one changes only how often a
 * port looks in vain.  Deliveries are reported in the order of their events.  And
 * whether timers are all that is left is asked at times that do not depend on
 * windows (engine.c); no window goes beyond them.
 *
 * Complexity: a window costs a meeting of all threads, a microsecond or so.
 */
#include "config.h"

#include <sched.h>
#include <string.h>

#include "emu/run.h"

#define SHARDS_MAX 256
#define SHORTEST_WINDOW 12 /* below 2^12 ps threads only wait for each other */
#define PAYS 256	   /* packets that a thread could send in a window */

/* ---- setting up -------------------------------------------------------- */

/* How long it takes at least until a source learns of a delivery, or of a mark. */
static uint64_t least_ack_time(const struct dl_emu *e)
{
	uint64_t least = e->marks ? e->c.congestion.becn_ps : DL_EMU_NEVER;

	for (uint32_t i = 0; i < e->source.nflows; i++)
		if (e->flows[i].window && e->c.ack_latency_ps < least)
			return e->c.ack_latency_ps;
	return least;
}

/* How long a packet needs at least until a switch looks at it. */
static uint64_t least_time(const struct dl_emu *e, const struct dl_emu_link_port *p)
{
	uint64_t packet = e->c.switching == DL_EMU_CUT_THROUGH ?
				  p->look :
				  p->delay + dl_emu_rate_time(p->rate, 1) + e->c.switch_latency_ps;
	uint64_t credit = p->fcp_time + (uint64_t)p->delay + e->c.credit_latency_ps;

	return packet < credit ? packet : credit;
}

/* How long it takes at least from one shard to another; links lead there. */
static uint64_t find_far_links(struct dl_emu *e)
{
	uint64_t least = least_ack_time(e);

	for (uint32_t i = 0; e->split.of && i < e->nports; i++) {
		struct dl_emu_link_port *p = &e->ports[i];

		if (p->peer == DL_EMU_NIL || e->split.of[i] == e->split.of[p->peer])
			continue;
		p->to = DL_EMU_TO_SHARD;
		if (least_time(e, p) < least)
			least = least_time(e, p);
	}
	return least;
}

static void stay_alone(struct dl_emu *e)
{
	e->split.of = NULL;
	e->split.n = 1;
	for (uint32_t i = 0; i < e->nports; i++)
		if (e->ports[i].to == DL_EMU_TO_SHARD)
			e->ports[i].to = DL_EMU_TO_SWITCH;
}

static int set_up_shard(struct dl_emu *e, uint32_t number, unsigned int shift)
{
	struct dl_emu *s = number ? calloc(1, sizeof(*s)) : e;

	e->split.shard[number] = s;
	if (!s)
		return -ENOMEM;
	s->number = number;
	s->stock.recycled = DL_EMU_NIL;
	for (unsigned int i = 0; i < 2; i++) {
		s->mail.box[i] = dl_arena_array(&e->arena, e->split.n, sizeof(*s->mail.box[i]));
		if (!s->mail.box[i])
			return -ENOMEM;
	}
	return dl_emu_events_init(&s->events, shift);
}

/*
 * Of the cores that the process may use, as many as find enough to do in a
 * window.  What its ports could send in it, in packets, says how much there is.
 * And each should have more ports than its caches hold: on 8x8x8 one was faster
 * than two also where 1100 packets go into a window; on 16x16x16, with 1000, two
 * were 1.8 times as fast as one.
 */
static uint32_t threads_that_pay(const struct dl_emu *e)
{
	cpu_set_t set;
	uint64_t window = least_ack_time(e), packets = 0, most;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	for (uint32_t i = 0; i < e->nports; i++) {
		const struct dl_emu_link_port *p = &e->ports[i];

		if (p->peer != DL_EMU_NIL && p->sw != DL_EMU_NIL && p->to == DL_EMU_TO_SWITCH &&
		    least_time(e, p) < window)
			window = least_time(e, p);
	}
	for (uint32_t i = 0; window != DL_EMU_NEVER && i < e->nports; i++)
		if (e->ports[i].peer != DL_EMU_NIL)
			packets += (window << 10) / dl_emu_rate_time(e->ports[i].rate, e->c.mtu);
	most = (packets >> 10) / PAYS;
	most = most > e->nports / DL_EMU_LARGE ? e->nports / DL_EMU_LARGE : most;
	return most > (uint32_t)CPU_COUNT(&set) ? (uint32_t)CPU_COUNT(&set) : most;
}

int dl_emu_set_up_shards(struct dl_emu *e)
{
	uint32_t threads = e->numbers ? 1 : e->c.threads ? e->c.threads : threads_that_pay(e);
	uint32_t shards = threads < SHARDS_MAX ? threads : SHARDS_MAX;
	unsigned int shift = DL_EMU_BUCKET_BITS_LEAST;
	uint64_t window = DL_EMU_NEVER;
	int err = 0;

	if (shards > e->f->nswitches / 2)
		shards = e->f->nswitches / 2;
	e->split.n = shards > 1 ? shards : 1;
	if (e->split.n > 1)
		err = dl_emu_divide(e, e->split.n);
	if (!err)
		window = find_far_links(e);
	while (shift && UINT64_C(1) << shift > window)
		shift--;
	if (shift < SHORTEST_WINDOW)
		stay_alone(e);
	if (e->split.n == 1)
		shift = dl_emu_bucket_bits(e);
	e->split.buckets = e->split.n == 1 ? 1 : window >> shift;
	e->split.shard = dl_arena_array(&e->arena, e->split.n, sizeof(struct dl_emu *));
	e->sum.levels = e->split.n == 1 ? NULL :
					  dl_arena_array(&e->arena, DL_EMU_LEVELS + 1,
							 sizeof(*e->sum.levels));
	if (!err && (!e->split.shard || (e->split.n > 1 && !e->sum.levels)))
		err = -ENOMEM;
	if (!err && e->split.n > 1 && !(e->pool = dl_pool_new()))
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < e->split.n; i++)
		err = set_up_shard(e, i, shift);
	if (!err)
		dl_emu_share(e);
	return err;
}

/* What is the same in all shards, from the first one. */
void dl_emu_share(struct dl_emu *e)
{
	for (uint32_t i = 1; i < e->split.n; i++)
		memcpy(e->split.shard[i], e, offsetof(struct dl_emu, shared_end));
}

void dl_emu_free_shards(struct dl_emu *e)
{
	dl_pool_free(e->pool);
	for (uint32_t i = 0; e->split.shard && i < e->split.n; i++) {
		struct dl_emu *s = e->split.shard[i];

		if (!s)
			continue;
		for (uint32_t k = 0; k < 2 * e->split.n; k++)
			if (s->mail.box[k % 2])
				free(s->mail.box[k % 2][k / 2].mail);
		free(s->mail.notes);
		dl_emu_events_free(&s->events);
		if (i)
			free(s);
	}
}

/* ---- mail -------------------------------------------------------------- */

/* A meeting of all shards, and what it decides. */
struct dl_emu_team {
	struct dl_emu *e;
	uint64_t until;
	uint64_t bucket;  /* the window */
	uint32_t threads; /* 0: not known yet */
	uint32_t arrived, meetings;
	bool over;
};

static void open_packet(struct dl_emu *s, const struct dl_emu_mail *m)
{
	uint32_t packet = dl_emu_packet(s);

	if (packet == DL_EMU_NIL)
		return;
	s->packets[packet] = m->packet;
	s->origins[packet] = m->from;
	if (s->sequence)
		s->sequence[packet] = m->sequence;
	dl_emu_at(s, m->time, DL_EMU_LOG_ARRIVE, DL_EMU_EV_ARRIVE,
		  m->what << DL_EMU_EV_CHANNEL | packet);
}

/* What others have sent to a shard in even or in odd windows. */
static void open_mail(struct dl_emu *s, bool even)
{
	for (uint32_t from = 0; from < s->split.n; from++) {
		struct dl_emu_box *box = &s->split.shard[from]->mail.box[even][s->number];

		for (uint32_t i = 0; i < box->n; i++) {
			const struct dl_emu_mail *m = &box->mail[i];

			if (m->kind == DL_EMU_MAIL_PACKET)
				open_packet(s, m);
			else if (m->kind == DL_EMU_MAIL_CREDIT)
				dl_emu_deliver_credit(s, m->what, m->fcp, m->time);
			else
				dl_emu_at(s, m->time, DL_EMU_LOG_OTHER, DL_EMU_EV_MESSAGE, m->what);
		}
		box->n = 0;
	}
}

/* What was sent between two runs: the next one may begin with a later window. */
void dl_emu_open_mail(struct dl_emu *e)
{
	for (uint32_t i = 0; e->split.n > 1 && i < e->split.n; i++) {
		open_mail(e->split.shard[i], e->split.shard[i]->mail.even);
		e->split.shard[i]->mail.sent = false;
	}
}

/* ---- windows ----------------------------------------------------------- */

static bool any_mail(const struct dl_emu *e)
{
	bool any = false;

	for (uint32_t i = 0; i < e->split.n; i++)
		any |= e->split.shard[i]->mail.sent;
	return any;
}

/* The last moment of the window that begins with a bucket. */
static uint64_t window_end(const struct dl_emu *e, uint64_t bucket)
{
	uint64_t end = ((bucket + e->split.buckets) << e->events.shift) - 1;
	uint64_t pause = (bucket << e->events.shift) | ((UINT64_C(1) << DL_EMU_PAUSE_BITS) - 1);

	return end < pause ? end : pause;
}

/* The next window; DL_EMU_NEVER: nothing is left. */
static uint64_t next_window(const struct dl_emu *e)
{
	uint64_t next = DL_EMU_NEVER, bucket;

	for (uint32_t i = 0; i < e->split.n; i++) {
		bucket = dl_emu_events_next(&e->split.shard[i]->events);
		next = bucket < next ? bucket : next;
	}
	return next;
}

/* What others have sent to a shard, before a window. */
static void receive_mail(struct dl_emu *s, uint64_t bucket)
{
	uint64_t start = bucket << s->events.shift;

	s->credited = start ? start - 1 : 0;
	open_mail(s, !s->mail.even);
}

/*
 * All shards have been through a window.  Where one thread would ask whether
 * anything is left but deadlines, mail that has not been opened must not hide
 * the answer: most credit is no event.  A window that goes on in the next run
 * is not over: credit that comes later in it must not count yet.
 */
static void decide_window(struct dl_emu_team *t)
{
	struct dl_emu *e = t->e;
	unsigned int shift = e->events.shift;
	uint64_t end = window_end(e, t->bucket), last = 0, next;
	bool mail = any_mail(e), asks;

	next = mail ? (end + 1) >> shift : next_window(e);

	/* (In the last one there may be events after the end.) */
	t->over = end >= t->until || next > t->until >> shift;
	for (uint32_t i = 0; i < e->split.n; i++) {
		struct dl_emu *s = e->split.shard[i];

		t->over |= s->err != 0;
		s->mail.even = !s->mail.even;
		s->mail.sent = false;
		last = s->now > last ? s->now : last;
	}
	asks = mail && end < t->until &&
	       next << shift >> DL_EMU_PAUSE_BITS != last >> DL_EMU_PAUSE_BITS;
	for (uint32_t i = 0; asks && i < e->split.n; i++)
		receive_mail(e->split.shard[i], next);
	t->over |= dl_emu_pauses(e, last, next << shift);
	t->bucket = next;
}

/* Two cores may be one that takes turns: who only waits leaves it to the other. */
static inline void let_others_run(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* The last one to arrive decides. */
static void meet_others(struct dl_emu_team *t)
{
	uint32_t meeting = __atomic_load_n(&t->meetings, __ATOMIC_ACQUIRE), spins = 0;

	if (__atomic_add_fetch(&t->arrived, 1, __ATOMIC_ACQ_REL) == t->threads) {
		t->arrived = 0;
		decide_window(t);
		__atomic_store_n(&t->meetings, meeting + 1, __ATOMIC_RELEASE);
		return;
	}
	while (__atomic_load_n(&t->meetings, __ATOMIC_ACQUIRE) == meeting)
		if (++spins > 1000)
			sched_yield();
		else
			let_others_run();
}

struct member {
	struct dl_emu_team *team;
	uint32_t number;
};

static void run_window(const struct dl_emu_team *t, struct dl_emu *s)
{
	uint64_t end = window_end(s, t->bucket);

	receive_mail(s, t->bucket);
	dl_emu_run_to(s, end < t->until ? end : t->until);
}

/* A thread: one shard, or more if fewer threads could be had. */
static void run_member(void *member)
{
	const struct member *m = member;
	struct dl_emu_team *t = m->team;
	uint32_t threads;

	while (!(threads = __atomic_load_n(&t->threads, __ATOMIC_ACQUIRE)))
		sched_yield();
	while (!t->over) {
		for (uint32_t i = m->number; i < t->e->split.n; i += threads)
			run_window(t, t->e->split.shard[i]);
		meet_others(t);
	}
}

/* ---- deliveries -------------------------------------------------------- */

static bool delivered_before(const struct dl_emu_note *a, const struct dl_emu_note *b)
{
	return a->delivery.at < b->delivery.at ||
	       (a->delivery.at == b->delivery.at && a->event < b->event);
}

/* Tell all deliveries, in the order in which one thread would have. */
static void report_deliveries(struct dl_emu *e)
{
	uint32_t at[SHARDS_MAX] = { 0 }, from;

	do {
		const struct dl_emu_note *next = NULL;

		from = 0;
		for (uint32_t i = 0; i < e->split.n; i++) {
			const struct dl_emu *s = e->split.shard[i];

			if (at[i] < s->mail.nnotes &&
			    (!next || delivered_before(&s->mail.notes[at[i]], next))) {
				next = &s->mail.notes[at[i]];
				from = i + 1;
			}
		}
		if (from) {
			at[from - 1]++;
			e->source.delivered(e->source.context, &next->delivery);
		}
	} while (from);
	for (uint32_t i = 0; i < e->split.n; i++)
		e->split.shard[i]->mail.nnotes = 0;
}

/* ---- running ----------------------------------------------------------- */

void dl_emu_run_shards(struct dl_emu *e, uint64_t until)
{
	struct dl_emu_team t = { .e = e, .until = until, .bucket = next_window(e) };
	struct dl_task task[SHARDS_MAX];
	struct member member[SHARDS_MAX];
	uint32_t started = 1;

	if (t.bucket > until >> e->events.shift)
		return;
	for (uint32_t i = 0; i < e->split.n; i++) {
		member[i] = (struct member){ &t, i };
		task[i] = (struct dl_task){ .run = run_member, .context = &member[i] };
	}
	while (started < e->split.n && dl_pool_start(e->pool, &task[started]))
		started++;
	__atomic_store_n(&t.threads, started, __ATOMIC_RELEASE);
	run_member(&member[0]);
	for (uint32_t i = 1; i < started; i++)
		dl_pool_wait(e->pool, &task[i]);
	for (uint32_t i = 0; i < e->split.n; i++)
		open_mail(e->split.shard[i], !e->split.shard[i]->mail.even);
	for (uint32_t i = 0; i < e->split.n; i++) {
		struct dl_emu *s = e->split.shard[i];

		if (s->err)
			e->err = s->err;
		if (s->now > e->now)
			e->now = s->now;
	}
	report_deliveries(e);
}
