/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Management datagrams, many in flight.
 *
 * Problem.  A fabric of some thousand switches takes hundreds of thousands of
 * queries; one at a time, each waiting for its answer, that is minutes.  And
 * answers get lost.
 *
 * Method.  A window of slots.  The number of its slot, and of the use of that
 * slot, is the low half of a datagram's transaction ID (the high half belongs
 * to the kernel), so an answer finds its query at once and a late one is
 * recognised.  A slot whose time is up is sent again, some times; timers are
 * ours, because a simulated fabric has none.
 *
 * Order.  Answers come in any order, and so do calls of `answer`.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>

#include "live/internal.h"

#define SLOT_BITS 12
#define MOST_SLOTS (1u << SLOT_BITS)
#define PROGRESS_MS 200
#define FEW 16	      /* queries not worth showing */
#define STATUS_BUSY 1 /* ask again later (IBA volume 1, 13.4.7) */

struct slot {
	struct dl_live_query q;
	uint32_t use;	   /* counts uses, to recognise late answers */
	unsigned int sent; /* times; 0: free */
	uint64_t deadline; /* milliseconds */
};

/* How datagrams of a class are made; SMPs with a route have one of their own. */
enum { DIRECTED = DL_LIVE_SERVICES, LAYOUTS };

static const struct layout {
	uint8_t class, version, rmpp, offset, size;
} layouts[LAYOUTS] = {
	[DL_LIVE_SMA] = { IB_SMI_CLASS, 1, 0, IB_SMP_DATA_OFFS, IB_SMP_DATA_SIZE },
	[DL_LIVE_SA] = { IB_SA_CLASS, UMAD_SA_CLASS_VERSION, 1, IB_SA_DATA_OFFS, IB_SA_DATA_SIZE },
	[DL_LIVE_PMA] = { IB_PERFORMANCE_CLASS, 1, 0, IB_PC_DATA_OFFS, IB_PC_DATA_SZ },
	[DL_LIVE_CCA] = { IB_CC_CLASS, 2, 0, IB_CC_DATA_OFFS, IB_CC_DATA_SZ },
	[DIRECTED] = { IB_SMI_DIRECT_CLASS, 1, 0, IB_SMP_DATA_OFFS, IB_SMP_DATA_SIZE },
};

static unsigned int layout_of(const struct dl_live_query *q)
{
	return q->service == DL_LIVE_SMA && !q->to.lid ? DIRECTED : q->service;
}

struct dl_live_mads {
	const struct dl_log *log;
	struct dl_live_options o;
	int port; /* libibumad's */
	int agents[LAYOUTS];
	struct slot *slots;
	uint32_t busy;	 /* slots in use */
	uint8_t *buffer; /* one datagram with libibumad's header */
	const struct dl_live_queries *list;
	uint32_t at[2]; /* where the list stands */
	uint64_t done, total, shown;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64_C(1000) + t.tv_nsec / 1000000;
}

/* ---- opening ----------------------------------------------------------- */

static int register_agents(struct dl_live_mads *m)
{
	for (unsigned int i = 0; i < LAYOUTS; i++) {
		const struct layout *a = &layouts[i];

		m->agents[i] = umad_register(m->port, a->class, a->version, a->rmpp, NULL);
		if (m->agents[i] < 0)
			return dl_fail(m->log, -EACCES,
				       "the local InfiniBand port does not take "
				       "management datagrams (are you root?)");
	}
	return 0;
}

int dl_live_mads_open(const struct dl_live_options *o, const struct dl_log *log,
		      struct dl_live_mads **out)
{
	struct dl_live_mads *m = *out = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->log = log;
	m->o = *o;
	m->port = -1;
	if (!m->o.in_flight || m->o.in_flight > MOST_SLOTS)
		m->o.in_flight = MOST_SLOTS;
	m->slots = calloc(m->o.in_flight, sizeof(*m->slots));
	if (!m->slots)
		return -ENOMEM;
	if (umad_init() >= 0)
		m->port = umad_open_port(o->ca, o->port);
	if (m->port < 0)
		return dl_fail(log, -ENODEV, "%s: no InfiniBand port can be opened here",
			       o->ca ? o->ca : "this machine");
	/* How long its headers are is known from then on. */
	m->buffer = calloc(1, umad_size() + IB_MAD_SIZE);
	return m->buffer ? register_agents(m) : -ENOMEM;
}

void dl_live_mads_close(struct dl_live_mads *m)
{
	if (!m)
		return;
	if (m->port >= 0)
		umad_close_port(m->port);
	free(m->slots);
	free(m->buffer);
	free(m);
}

/* ---- sending ----------------------------------------------------------- */

static int send_slot(struct dl_live_mads *m, uint32_t number)
{
	struct slot *slot = &m->slots[number];
	struct dl_live_query *q = &slot->q;
	unsigned int which = layout_of(q);
	const struct layout *layout = &layouts[which];
	/* An ib_rpc_t and a CC_Key, which libibmad reads for that class. */
	ib_rpc_cc_t rpc = {
		.mgtclass = layout->class,
		.method = IB_MAD_METHOD_GET,
		.attr = { q->attr, q->mod },
		.mask = q->mask,
		.trid = (slot->use & 0xFFFFF) << SLOT_BITS | number,
		.dataoffs = layout->offset,
		.datasz = layout->size,
		.cckey = m->o.cc_key,
	};
	ib_rmpp_hdr_t rmpp = { 0 };

	/* A transaction ID of 0 would be replaced. */
	rpc.trid |= UINT64_C(1) << 32;
	memset(m->buffer, 0, umad_size() + IB_MAD_SIZE);
	if (mad_build_pkt(m->buffer, (ib_rpc_t *)&rpc, &q->to, layout->rmpp ? &rmpp : NULL,
			  q->data) < 0)
		return -EINVAL;
	slot->sent++;
	slot->deadline = now_ms() + m->o.timeout_ms;
	if (umad_send(m->port, m->agents[which], m->buffer, IB_MAD_SIZE, m->o.timeout_ms, 0) < 0 &&
	    errno != EAGAIN && errno != ENOBUFS)
		return dl_fail(m->log, -EIO, "cannot send a management datagram: %s",
			       strerror(errno));
	return 0;
}

/* False: that was all. */
static bool mads_next(struct dl_live_mads *m, struct dl_live_query *q)
{
	memset(q, 0, sizeof(*q));
	return m->list->next(m->list->context, m->at, q);
}

static int fill_window(struct dl_live_mads *m, bool *more)
{
	int err = 0;

	for (uint32_t i = 0; !err && *more && m->busy < m->o.in_flight; i++) {
		struct slot *slot = &m->slots[i];

		if (slot->sent)
			continue;
		*more = mads_next(m, &slot->q);
		if (!*more)
			break;
		slot->use++;
		m->busy++;
		err = send_slot(m, i);
	}
	return err;
}

/* ---- receiving --------------------------------------------------------- */

static void mads_finish(struct dl_live_mads *m, struct slot *slot, int status)
{
	slot->sent = 0;
	m->busy--;
	m->done++;
	m->list->answer(m->list->context, &slot->q, status);
}

static void mads_take(struct dl_live_mads *m)
{
	uint8_t *mad = umad_get_mad(m->buffer);
	uint32_t trid = mad_get_field64(mad, 0, IB_MAD_TRID_F);
	uint32_t number = trid & (MOST_SLOTS - 1);
	struct slot *slot = &m->slots[number];
	const struct layout *layout = &layouts[layout_of(&slot->q)];
	unsigned int status;

	if (number >= m->o.in_flight || !slot->sent || (slot->use & 0xFFFFF) != trid >> SLOT_BITS)
		return; /* late, or not ours */
	if (umad_status(m->buffer))
		return; /* the kernel gave up: so does our timer */
	status = mad_get_field(mad, 0, IB_MAD_STATUS_F);
	if (slot->q.service == DL_LIVE_SMA)
		status &= 0x7FFF; /* the top bit is a direction */
	/* Too busy now: the timer will ask again. */
	if (status & STATUS_BUSY && slot->sent <= m->o.retries)
		return;
	memcpy(slot->q.data, mad + layout->offset, layout->size);
	mads_finish(m, slot, status);
}

/* Send again what is overdue, or give it up. */
static int check_time(struct dl_live_mads *m, int *wait)
{
	uint64_t now = now_ms(), next = now + m->o.timeout_ms;
	int err = 0;

	for (uint32_t i = 0; !err && i < m->o.in_flight; i++) {
		struct slot *slot = &m->slots[i];
		bool overdue = slot->sent && slot->deadline <= now;

		if (overdue && slot->sent > m->o.retries)
			mads_finish(m, slot, DL_LIVE_SILENT);
		else if (overdue)
			err = send_slot(m, i);
		if (slot->sent && slot->deadline < next)
			next = slot->deadline;
	}
	*wait = next - now;
	return err;
}

static void mads_show_progress(struct dl_live_mads *m, bool last)
{
	uint64_t now = now_ms();

	if (m->total < FEW || (!last && now < m->shown + PROGRESS_MS))
		return;
	m->shown = now;
	dl_progress(m->log, m->list->what, "", m->done, m->total);
}

static void mads_begin(struct dl_live_mads *m, const struct dl_live_queries *list)
{
	struct dl_live_query q;

	m->list = list;
	m->done = m->total = 0;
	memset(m->at, 0, sizeof(m->at));
	while (mads_next(m, &q))
		m->total++;
	memset(m->at, 0, sizeof(m->at));
}

int dl_live_mads_run(struct dl_live_mads *m, const struct dl_live_queries *list)
{
	bool more = true;
	int err = 0, wait = 0;

	mads_begin(m, list);
	while (!err) {
		int len = IB_MAD_SIZE;

		err = fill_window(m, &more);
		if (err || (!m->busy && !more))
			break;
		err = check_time(m, &wait);
		if (err || !m->busy)
			continue;
		if (umad_recv(m->port, m->buffer, &len, wait) >= 0)
			mads_take(m);
		mads_show_progress(m, false);
	}
	mads_show_progress(m, true);
	/* After an error: queries still under way are dropped. */
	for (uint32_t i = 0; i < m->o.in_flight; i++)
		m->slots[i].sent = 0;
	m->busy = 0;
	return err;
}
