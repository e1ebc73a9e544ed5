/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Waiting for packets that met entries which have changed since (rules A14).
 *
 * Problem.  Some of a change's steps may be taken only when such packets have left, and
 * no switch says which packets it holds.
 *
 * The bound.  A switch discards a packet that has been in it for its lifetime limit
 * (SwitchInfo:LifeTimeValue, which OpenSM sets from packet_life_time and which is read
 * back here).  All writes are confirmed when the wait begins, so from then on packets go
 * by fixed entries, past so many switches at most; the bound is the longest limit times
 * that number.  The head-of-queue lifetime is no bound: it begins again for each packet
 * that comes to the head of a queue, so that the last packet of a queue may wait as many
 * times as long as there are packets before it.
 *
 * What is seen.  PortXmitWait counts while a port has a packet to send and sends none.
 * Where it does not move at any port of a switch, these send whenever they have something
 * to send, so that all buffers of the switch, if they were full, are empty after as long as
 * one port takes to send them, and a packet moves on within that time.  After as many of
 * these times as it can pass switches it has left.  A switch that is not seen to
 * be quiet (it does not answer, or its counters move) may keep it for the lifetime limit.
 * So the wait is over after k limits when all switches but k have been quiet for as long.
 * This supposes that nobody resets the counters meanwhile, that arbiters serve inputs and
 * VLs of a port in turn, and that buffers hold no more than credits can promise: 2048
 * blocks of 64 bytes a VL (rules C1).
 * Counters are read over the fabric (PortCounters), on granted path SLs.
 *
 * Where that takes longer than drain_seconds, the engine goes on then, unproven, and says
 * so: the next failure waits behind a change that waits.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drain.h"
#include "engine.h"
#include "log.h"
#include "phases.h"
#include "sweep.h"

#define STEP_SECONDS 0.01 /* OpenSM may end meanwhile */
/* IBA: the limit is 4.096 us times two to the power of LifeTimeValue; 20 and more: none. */
#define LIFETIME_UNIT 4.096e-6
#define LIFETIME_UNLIMITED 20
#define VL_BUFFER_BITS (8 * 2048 * 64.0)
#define DATA_VLS 8
#define SLOWEST 22 /* dl_fabric_rate() of SDR on one lane */
#define RATE_UNIT (1e9 / 11)
#define UNDER_WAY 32 /* queries */
#define ANSWER_SECONDS 2
#define LOOK_SECONDS 1
#define QP1 CL_HTON32(1)
#define SATURATED UINT32_MAX
#define NEVER INFINITY
/* Far from those of OpenSM's own performance manager, whose class this is, too. */
#define FIRST_TRANSACTION 0x64000000

struct drain_query {
	uint16_t lid; /* of the switch */
	uint8_t port; /* 0: what can it count? */
	bool answered;
	uint32_t value, before; /* PortXmitWait; or CapabilityMask */
};

struct drain_switch {
	uint32_t sw;	/* of the fabric */
	uint32_t first; /* query; the next switch's is behind its last */
	double since;	/* its counters have stood still; or NEVER */
	bool known;	/* by the last reading, too */
};

struct drain_watch {
	const struct dl_tables *paths; /* of the packets */
	struct drain_query *queries;
	struct drain_switch *switches; /* and one behind the last */
	bool *unknown; /* by switch of the fabric: not known to have been quiet for long enough */
	uint32_t n, nswitches;
	double interval; /* in which packets leave if nothing waits, in s */
	double lifetime; /* limit of a switch; negative: there is none */
};

/* Shared with the thread that takes answers. */
struct dl_drain_counters {
	struct osm_opensm *osm;
	osm_bind_handle_t bind;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct drain_query *queries; /* NULL: nobody waits */
	uint32_t n, first;	     /* transaction of queries[0] */
	uint32_t under_way;
};

/* ---- the bound ------------------------------------------------------------ */

/* The longest lifetime limit of all switches in seconds; negative: there is none. */
static double drain_lifetime(const struct dl_engine *e)
{
	unsigned int most = 0;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw)) {
		unsigned int value = sw->switch_info.life_state >> 3;

		most = value > most ? value : most;
	}
	CL_PLOCK_RELEASE(&e->osm->lock);
	return most >= LIFETIME_UNLIMITED ? -1 : LIFETIME_UNIT * (1u << most);
}

/* When the wait ends if nothing is seen, and how. */
static double drain_deadline(const struct dl_engine *e, enum dl_drain_end *how)
{
	const struct dl_drain *d = &e->drain;
	double lifetime, last = dl_clock_monotonic() + e->options.drain_seconds;

	*how = DL_DRAIN_FIXED;
	if (e->options.drain_ms >= 0)
		return d->left.since + e->options.drain_ms / 1000.0;
	lifetime = drain_lifetime(e);
	*how = DL_DRAIN_BOUND;
	if (lifetime >= 0 && d->left.since + d->left.hops * lifetime <= last)
		return d->left.since + d->left.hops * lifetime;
	*how = DL_DRAIN_UNPROVEN;
	return last;
}

bool dl_drain_is_due(const struct dl_engine *e)
{
	enum dl_drain_end how;

	return e->drain.left.since > 0 &&
	       (drain_deadline(e, &how) > dl_clock_monotonic() || how == DL_DRAIN_UNPROVEN);
}

void dl_drain_begin(struct dl_engine *e, uint32_t hops)
{
	uint32_t before = e->drain.left.since > 0 ? e->drain.left.hops : 0;

	e->drain.left.since = dl_clock_monotonic();
	e->drain.left.hops = hops > before ? hops : before;
	e->drain.left.known = false;
}

void dl_drain_mark(struct dl_engine *e)
{
	e->drain.before = e->drain.left;
}

void dl_drain_return(struct dl_engine *e)
{
	if (e->drain.left.since > 0)
		e->drain.left = e->drain.before;
}

void dl_drain_remember(struct dl_engine *e, struct dl_transition *plan)
{
	dl_transition_history_take(plan, &e->drain.history);
	e->drain.left.known = e->drain.history.whole;
	dl_tables_free_groups(&e->drain.groups);
	e->drain.groups.groups = plan->held->groups;
	e->drain.groups.ngroups = plan->held->ngroups;
	plan->held->groups = NULL;
	plan->held->ngroups = plan->held->groups_cap = 0;
}

void dl_drain_remember_back(struct dl_engine *e, struct dl_transition *plan,
			    const struct dl_fabric_match *old)
{
	dl_transition_history_take_back(plan, old, &e->drain.history);
	e->drain.left.known = e->drain.history.whole;
}

/* They have left. */
void dl_drain_forget(struct dl_engine *e)
{
	e->drain.left = e->drain.before = (struct dl_drain_left){ 0 };
	dl_transition_history_clear(&e->drain.history);
	dl_tables_free_groups(&e->drain.groups);
}

/* ---- reading counters ----------------------------------------------------- */

static struct drain_query *drain_find_query(struct dl_drain_counters *c, const osm_madw_t *madw)
{
	uint32_t at = (uint32_t)cl_ntoh64(madw->p_mad->trans_id) - c->first;

	return c->queries && at < c->n ? &c->queries[at] : NULL;
}

static void drain_end_query(struct dl_drain_counters *c, const osm_madw_t *request,
			    const osm_madw_t *answer)
{
	const ib_perfmgt_mad_t *mad = answer ? osm_madw_get_perfmgt_mad_ptr(answer) : NULL;
	struct drain_query *q;

	pthread_mutex_lock(&c->lock);
	q = drain_find_query(c, request);
	if (q && c->under_way)
		c->under_way--;
	if (q && mad && !mad->header.status) {
		q->answered = true;
		q->value = q->port ? cl_ntoh32(((const ib_port_counters_t *)mad->data)->xmit_wait) :
				     ((const ib_class_port_info_t *)mad->data)->cap_mask;
	}
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static void drain_receive(osm_madw_t *answer, void *context, osm_madw_t *request)
{
	struct dl_drain_counters *c = context;

	if (request) {
		drain_end_query(c, request, answer);
		osm_mad_pool_put(&c->osm->mad_pool, request);
	}
	osm_mad_pool_put(&c->osm->mad_pool, answer);
}

static void drain_fail(void *context, osm_madw_t *request)
{
	struct dl_drain_counters *c = context;

	drain_end_query(c, request, NULL);
	osm_mad_pool_put(&c->osm->mad_pool, request);
}

static void drain_free_counters(struct dl_drain_counters *c)
{
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* NULL: without OpenSM's functions nothing is seen. */
static struct dl_drain_counters *drain_counters(struct dl_engine *e)
{
	struct dl_drain_counters *c = e->drain.counters;
	osm_bind_info_t info = { .port_guid = e->osm->subn.sm_port_guid,
				 .mad_class = IB_MCLASS_PERF,
				 .class_version = 1,
				 .recv_q_size = OSM_SM_DEFAULT_QP1_RCV_SIZE,
				 .send_q_size = OSM_SM_DEFAULT_QP1_SEND_SIZE,
				 .timeout = e->osm->subn.opt.transaction_timeout,
				 .retries = 1 };

	if (c || !osm_vendor_bind || !osm_vendor_send || !osm_mad_pool_get || !osm_mad_pool_put)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->osm = e->osm;
	c->first = FIRST_TRANSACTION;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	c->bind = osm_vendor_bind(e->osm->p_vendor, &info, &e->osm->mad_pool, drain_receive,
				  drain_fail, c);
	if (c->bind == OSM_BIND_INVALID_HANDLE) {
		drain_free_counters(c);
		return NULL;
	}
	e->drain.counters = c;
	return c;
}

void dl_drain_release(struct dl_engine *e)
{
	struct dl_drain_counters *c = e->drain.counters;

	dl_transition_history_release(&e->drain.history);
	dl_tables_free_groups(&e->drain.groups);
	if (!c)
		return;
	/* It waits for an answer that is being taken, and no other one is given to us. */
	osm_vendor_unbind(c->bind);
	drain_free_counters(c);
	e->drain.counters = NULL;
}

/* The path SL to a switch; 0 where none has been granted. */
static unsigned int drain_sl(const struct dl_engine *e, uint16_t lid)
{
	const struct dl_sweep *granting = dl_phases_granting(e);
	uint32_t from = granting ? dl_sweep_lid_owner(granting, e->osm->subn.sm_base_lid) : DL_NONE;
	unsigned int sl = from == DL_NONE ? 0 :
					    dl_tables_path_sl(granting->routed.tables, from, lid);

	return sl == DL_TABLES_NO_SL ? 0 : sl;
}

/* Whether it is under way; an answer may have come by then. */
static bool drain_send(struct dl_engine *e, struct dl_drain_counters *c, uint32_t at)
{
	const struct drain_query *q = &c->queries[at];
	osm_madw_t *w = osm_mad_pool_get(&e->osm->mad_pool, c->bind, MAD_BLOCK_SIZE, NULL);
	ib_perfmgt_mad_t *mad;

	if (!w)
		return false;
	mad = osm_madw_get_perfmgt_mad_ptr(w);
	memset(mad, 0, MAD_BLOCK_SIZE);
	mad->header.base_ver = 1;
	mad->header.mgmt_class = IB_MCLASS_PERF;
	mad->header.class_ver = 1;
	mad->header.method = IB_MAD_METHOD_GET;
	mad->header.trans_id = cl_hton64(c->first + at);
	mad->header.attr_id = q->port ? IB_MAD_ATTR_PORT_CNTRS : IB_MAD_ATTR_CLASS_PORT_INFO;
	((ib_port_counters_t *)mad->data)->port_select = q->port;
	w->mad_addr.dest_lid = cl_hton16(q->lid);
	w->mad_addr.addr_type.gsi.remote_qp = QP1;
	w->mad_addr.addr_type.gsi.remote_qkey = IB_QP1_WELL_KNOWN_Q_KEY;
	w->mad_addr.addr_type.gsi.service_level = drain_sl(e, q->lid);
	w->resp_expected = TRUE;
	/* A failure is reported by drain_fail(). */
	osm_vendor_send(c->bind, w, TRUE);
	return true;
}

/* Until fewer than `most` are under way; false: answers fail to come, not even as lost. */
static bool drain_await(struct dl_drain_counters *c, uint32_t most)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ANSWER_SECONDS;
	while (c->under_way > most && !err)
		err = pthread_cond_timedwait(&c->changed, &c->lock, &until);
	return !err;
}

/* Ask what a switch can count, or about its ports, of those that have answered that. */
static bool drain_ask_some(struct dl_engine *e, struct dl_drain_counters *c, bool ports,
			   double until)
{
	bool sent = true, silent = false;

	for (uint32_t i = 0; i < c->n && sent && !osm_exit_flag; i++) {
		struct drain_query *q = &c->queries[i];

		silent = q->port ? silent : ports && !q->answered;
		if (silent || !q->port == ports)
			continue;
		c->under_way++;
		pthread_mutex_unlock(&c->lock);
		sent = dl_clock_monotonic() < until && drain_send(e, c, i);
		pthread_mutex_lock(&c->lock);
		c->under_way -= !sent;
		sent = sent && drain_await(c, UNDER_WAY - 1);
	}
	return drain_await(c, 0) && sent;
}

/* Ask all of the list, but no more after a time. */
static void drain_ask(struct dl_engine *e, struct dl_drain_counters *c, struct drain_query *queries,
		      uint32_t n, double until)
{
	for (uint32_t i = 0; i < n; i++)
		queries[i].answered = false;
	pthread_mutex_lock(&c->lock);
	c->queries = queries;
	c->n = n;
	c->under_way = 0;
	if (drain_ask_some(e, c, false, until))
		drain_ask_some(e, c, true, until);
	c->queries = NULL;
	c->first += n;
	pthread_mutex_unlock(&c->lock);
}

/* ---- what is seen --------------------------------------------------------- */

/* For how long must counters stand still? */
static double drain_interval(const struct dl_engine *e, const struct dl_fabric *f)
{
	uint32_t slowest = UINT32_MAX, ports = 1;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];

		for (unsigned int o = 1; o <= n->nports; o++) {
			const struct dl_fabric_port *p = &f->ports[n->first_port + o];
			uint32_t rate = dl_fabric_rate(p->speed, p->width);

			if (p->peer == DL_NONE)
				continue;
			rate = rate ? rate : SLOWEST;
			slowest = rate < slowest ? rate : slowest;
		}
		ports = n->nports > ports ? n->nports : ports;
	}
	return e->drain.left.hops * (ports * DATA_VLS * VL_BUFFER_BITS) / (slowest * RATE_UNIT);
}

/* What each switch can count, and its ports.  0 or -ENOMEM. */
static int drain_begin_watch(struct drain_watch *w, const struct dl_tables *paths,
			     const bool *switches)
{
	const struct dl_fabric *f = paths->fabric;

	w->paths = paths;
	w->unknown = calloc(f->nswitches + 1ul, sizeof(*w->unknown));
	w->queries = calloc(f->nports + f->nswitches + 1ul, sizeof(*w->queries));
	w->switches = calloc(f->nswitches + 1ul, sizeof(*w->switches));
	if (!w->queries || !w->switches || !w->unknown)
		return -ENOMEM;
	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *node = dl_fabric_switch_node(f, s);
		uint16_t lid = f->ports[node->first_port].lid;

		if (switches && !switches[s])
			continue;
		w->switches[w->nswitches++] = (struct drain_switch){ s, w->n, NEVER, false };
		w->queries[w->n++].lid = lid;
		for (unsigned int o = 1; o <= node->nports; o++)
			if (f->ports[node->first_port + o].peer != DL_NONE)
				w->queries[w->n++] = (struct drain_query){ .lid = lid, .port = o };
	}
	w->switches[w->nswitches].first = w->n;
	return 0;
}

/* A reading that ended at some time: which counters stand where they stood before? */
static void drain_compare(struct drain_watch *w, double end)
{
	for (uint32_t s = 0; s < w->nswitches; s++) {
		struct drain_switch *sw = &w->switches[s];
		bool quiet = true;

		sw->known = true;
		for (uint32_t i = sw[0].first; i < sw[1].first; i++) {
			const struct drain_query *q = &w->queries[i];

			sw->known &= q->answered &&
				     (q->port ? q->value != SATURATED :
						(q->value & IB_PM_PC_XMIT_WAIT_SUP) != 0);
			quiet &= q->value == q->before;
		}
		if (!sw->known)
			continue;
		if (!quiet || sw->since == NEVER)
			sw->since = end;
		for (uint32_t i = sw[0].first; i < sw[1].first; i++)
			w->queries[i].before = w->queries[i].value;
	}
}

/* How many that are not known to have been quiet since then can a packet pass? */
static uint32_t drain_count_unknown(const struct drain_watch *w, double since, uint32_t enough)
{
	uint32_t n = 0, most;

	for (uint32_t s = 0; s < w->nswitches; s++) {
		const struct drain_switch *sw = &w->switches[s];

		w->unknown[sw->sw] = !sw->known || sw->since > since;
		n += w->unknown[sw->sw];
	}
	if (n <= enough || !w->paths->ngroups ||
	    dl_transition_longest(w->paths, NULL, w->unknown, &most))
		return n;
	return most;
}

/*
 * Have all packets left by `now`?  One has that has had time to pass k switches in which it
 * may wait for the lifetime limit, where only k on any path are not known to have been
 * quiet for so long.
 */
static bool drain_is_over(const struct dl_engine *e, const struct drain_watch *w, double now)
{
	bool over = false;

	for (uint32_t k = 0; !over && k <= (w->lifetime < 0 ? 0 : e->drain.left.hops); k++) {
		double from = now - k * w->lifetime - w->interval;

		if (from < e->drain.left.since)
			break;
		over = drain_count_unknown(w, from, k) <= k;
	}
	return over;
}

/* Does a packet from a switch come to the owner of a LID? */
static bool drain_arrives(const struct dl_tables *t, uint32_t s, uint16_t lid)
{
	const struct dl_fabric *f = t->fabric;

	for (uint32_t hops = 0; s != DL_NONE && hops < f->nswitches; hops++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);
		unsigned int out = dl_tables_lft(t, s, lid);
		uint32_t port = n->first_port + out;

		if (out > n->nports)
			return false;
		s = out ? dl_fabric_peer_switch(f, port) : DL_NONE;
		if (s == DL_NONE)
			return (out ? f->ports[port].peer : port) == f->lid_port[lid];
	}
	return false;
}

/*
 * Is it in vain?  A switch that died while packets were to leave cannot tell, and neither
 * can those behind it; and the change would end when it does not confirm the next step.
 * It, or one of those, does not answer though query and answer have a way.
 */
static bool drain_is_in_vain(const struct dl_engine *e, const struct drain_watch *w)
{
	const struct dl_fabric *f = w->paths->fabric;
	uint16_t sm = cl_ntoh16(e->osm->subn.sm_base_lid);
	uint32_t home = sm <= f->top_lid && f->lid_port[sm] != DL_NONE ?
				dl_fabric_access_switch(f, f->lid_port[sm]) :
				DL_NONE;

	if (!e->osm->subn.force_heavy_sweep || home == DL_NONE)
		return false;
	for (uint32_t i = 0; i < w->nswitches; i++) {
		uint32_t s = w->switches[i].sw;

		if (!w->queries[w->switches[i].first].answered &&
		    drain_arrives(w->paths, home, w->queries[w->switches[i].first].lid) &&
		    drain_arrives(w->paths, s, sm))
			return true;
	}
	return false;
}

/* 0, or -EINTR. */
static int drain_sleep(double until)
{
	double left;

	while ((left = until - dl_clock_monotonic()) > 0) {
		if (osm_exit_flag)
			return -EINTR;
		usleep((left < STEP_SECONDS ? left : STEP_SECONDS) * 1e6 + 1);
	}
	return 0;
}

/*
 * Read until nothing has waited for long enough.  1: seen; 0: not until then; -EINTR; -EAGAIN:
 * given up.
 */
static int drain_watch(struct dl_engine *e, const struct dl_tables *paths, const bool *switches,
		       bool may_give_up, double until)
{
	struct dl_drain_counters *c = drain_counters(e);
	struct drain_watch w = { .interval = drain_interval(e, paths->fabric),
				 .lifetime = drain_lifetime(e) };
	bool asks = c && !drain_begin_watch(&w, paths, switches);
	int seen = 0;

	while (asks && !seen && dl_clock_monotonic() < until) {
		double start = dl_clock_monotonic(), end;

		drain_ask(e, c, w.queries, w.n, until);
		end = dl_clock_monotonic();
		drain_compare(&w, end);
		seen = drain_is_over(e, &w, start);
		if (!seen && may_give_up && drain_is_in_vain(e, &w))
			seen = -EAGAIN;
		if (!seen)
			seen = drain_sleep(end + w.interval < until ? end + w.interval : until);
	}
	free(w.queries);
	free(w.switches);
	free(w.unknown);
	return osm_exit_flag ? -EINTR : seen;
}

int dl_drain_wait(struct dl_engine *e, const struct dl_tables *paths, const bool *switches,
		  bool may_give_up, enum dl_drain_end *how)
{
	double until;
	int seen = 0;

	*how = DL_DRAIN_NONE;
	if (e->drain.left.since <= 0)
		return 0;
	until = drain_deadline(e, how);
	if (e->options.drain_ms == DL_PLUGIN_DRAIN_SEEN && until > dl_clock_monotonic())
		seen = drain_watch(e, paths, switches, may_give_up && !e->drain.given_up, until);
	e->drain.given_up |= seen == -EAGAIN;
	if (seen > 0)
		*how = DL_DRAIN_SEEN;
	else if (!seen)
		seen = drain_sleep(until);
	if (seen < 0)
		return seen;
	dl_drain_forget(e);
	return 0;
}

void dl_drain_look(struct dl_engine *e)
{
	if (e->phases)
		return;
	/* Groups were written last. */
	if (e->wrote && e->drain.left.since > 0)
		e->drain.left.since = dl_clock_monotonic();
	if (!dl_drain_is_due(e))
		return;
	if (e->options.drain_ms != DL_PLUGIN_DRAIN_SEEN)
		return;
	if (drain_watch(e, e->in_force->routed.tables, NULL, false,
			dl_clock_monotonic() + LOOK_SECONDS) > 0)
		dl_drain_forget(e);
}
