/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Points of a latency-throughput curve.  They share the scenario, which
 * nobody changes, and nothing else: it does not matter who runs which, nor when.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "emu/scenario.h"

/* All levels' latencies in one histogram. */
static int sweep_latency(const struct dl_emu *emu, struct dl_emu_latency *out)
{
	struct dl_emu_histogram *sum = calloc(1, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	for (unsigned int l = 0; l < DL_EMU_LEVELS; l++)
		dl_emu_histogram_join(sum, &dl_emu_level(emu, l)->latency);
	*out = dl_emu_latency_of(sum);
	free(sum);
	return 0;
}

/* Where the warm-up has no end of its own, it is found among so many batches. */
#define BATCHES 64
#define GROUPS 8

/*
 * The batch from which on the mean latency is known best: that for which the squared
 * error over the squared number of batches is least (MSER).
 */
static uint32_t sweep_find_start(const double *mean, uint32_t n)
{
	double sum = 0, squares = 0, least = INFINITY, error;
	uint32_t start = 0, k = 0;

	for (uint32_t i = n; i-- > 0;) {
		sum += mean[i];
		squares += mean[i] * mean[i];
		k++;
		error = (squares - sum * sum / k) / k / k;
		if (i <= n / 2 && error <= least) {
			least = error;
			start = i;
		}
	}
	return start;
}

/* Half the 95 % confidence interval of a mean, from those of groups of batches. */
static double sweep_error(const double *mean, uint32_t n)
{
	double sum = 0, squares = 0;
	uint32_t each = n / GROUPS;

	if (each < 2)
		return 0;
	for (uint32_t g = 0; g < GROUPS; g++) {
		double group = 0;

		for (uint32_t i = 0; i < each; i++)
			group += mean[g * each + i] / each;
		sum += group;
		squares += group * group;
	}
	squares = (squares - sum * sum / GROUPS) / (GROUPS - 1);
	return 2.365 * sqrt((squares > 0 ? squares : 0) / GROUPS); /* Student, 7 degrees */
}

/* Leave the warm-up out of a point's mean latency and throughput. */
static void sweep_settle(const struct dl_emu_scenario *s, const struct dl_emu_result *r,
			 struct dl_emu_point *p)
{
	uint32_t n = 0, first = 0, end, from, batch[BATCHES];
	uint64_t packets = 0, sum = 0, bytes = 0, all = 0;
	double mean[BATCHES];

	while (first < r->nsamples && r->samples[first].at <= s->warmup)
		first++;
	for (end = first; end < r->nsamples && end - first < BATCHES; end++) {
		const struct dl_emu_sample *b = &r->samples[end];

		if (b->at > s->duration)
			break;
		if (!b->delivered)
			continue;
		batch[n] = end;
		mean[n++] = b->latency_sum / 1e3 / b->delivered;
		all += b->bytes;
	}
	from = s->warmup || n < 2 ? 0 : sweep_find_start(mean, n);
	p->latency_error = sweep_error(mean + from, n - from);
	p->settled = s->warmup;
	if (s->warmup || !n || batch[from] == first)
		return;
	from = batch[from]; /* before the first packet has come nothing has settled, either */
	p->settled = r->sample_ps * from;
	for (uint32_t i = from; i < end; i++) {
		packets += r->samples[i].delivered;
		sum += r->samples[i].latency_sum;
		bytes += r->samples[i].bytes;
	}
	p->latency.mean = sum / 1e3 / packets;
	p->throughput *= (double)bytes / all * (end - first) / (end - from);
}

int dl_emu_scenario_point(const struct dl_emu_scenario *s, const struct dl_emu_load *load,
			  dl_emu_watch watch, void *context, struct dl_emu_point *out)
{
	struct dl_emu_scenario sampled = *s;
	const struct dl_emu_totals *t;
	struct dl_emu_result r;
	int err;

	sampled.sample = s->duration / BATCHES + 1;
	err = dl_emu_scenario_run(&sampled, load, watch, context, &r);
	if (!err && !r.interrupted) {
		t = dl_emu_totals(r.emu);
		*out = (struct dl_emu_point){
			.load = load->load,
			.done = true,
			.finding = dl_emu_result_finding(&r),
			.deadlock = dl_emu_cycle(r.emu)->n > 0,
			.offered = r.offered,
			.throughput = r.throughput,
			.delivered = t->delivered,
			.dropped = t->dropped,
			.in_flight = t->in_flight,
			.packet_hops = t->packet_hops,
		};
		err = sweep_latency(r.emu, &out->latency);
		sweep_settle(s, &r, out);
	}
	dl_emu_result_free(&r);
	return err;
}

/* ---- paths ------------------------------------------------------------- */

/* The ports that send on the way from one adapter to another, in order. */
static int sweep_find_path(const struct dl_emu_scenario *s, uint32_t src, uint32_t dst,
			   uint32_t *path, uint32_t *n)
{
	const struct dl_fabric *f = s->tables->fabric;
	uint32_t port = s->port[src], sw;

	for (*n = 0; *n <= f->nswitches;) {
		path[(*n)++] = port;
		sw = dl_fabric_peer_switch(f, port);
		if (sw == DL_NONE)
			return f->ports[port].peer == s->port[dst] ? 0 : -ENOTSUP;
		port = dl_tables_lft(s->tables, sw, s->lid[dst]);
		if (port > f->nodes[f->switches[sw]].nports)
			return -ENOTSUP;
		port += f->nodes[f->switches[sw]].first_port;
	}
	return -ENOTSUP;
}

/* What is done for each path: it carries so many bytes a second of an entry. */
typedef void sweep_visit(void *context, const struct dl_emu_scenario *s,
			 const struct dl_emu_traffic_entry *e, const uint32_t *path, uint32_t n,
			 double bytes);

static int sweep_each_path(const struct dl_emu_scenario *s, sweep_visit *visit, void *context)
{
	uint32_t *path = calloc(s->tables->fabric->nswitches + 2ul, sizeof(*path)), n = 0;
	struct dl_emu_traffic *t = NULL;
	int err = path ? dl_emu_traffic_new(&s->traffic, s->log, &t) : -ENOMEM;

	for (uint32_t i = 0; !err && i < dl_emu_traffic_flows(t); i++) {
		const struct dl_emu_traffic_entry *e = dl_emu_traffic_entry(t, i);
		uint32_t src = dl_emu_traffic_source(t, i);
		double bytes = e->load * 1e-6 * s->traffic.rate[src];

		err = e->load ? 0 : -ENOTSUP;
		for (uint32_t dst = 0; !err && dst < s->traffic.nadapters; dst++) {
			double share = dl_emu_traffic_share(t, i, dst);

			err = share < 0 ? -ENOTSUP : 0;
			if (share > 0)
				err = sweep_find_path(s, src, dst, path, &n);
			if (share > 0 && !err)
				visit(context, s, e, path, n, share * bytes);
		}
	}
	dl_emu_traffic_free(t);
	free(path);
	return err;
}

/* ---- the bound --------------------------------------------------------- */

/* Bytes a second: of each port, and of all flows. */
struct sweep_loads {
	double *port, sum;
};

static void sweep_add_load(void *context, const struct dl_emu_scenario *s,
			   const struct dl_emu_traffic_entry *e, const uint32_t *path, uint32_t n,
			   double bytes)
{
	struct sweep_loads *l = context;

	(void)s, (void)e;
	for (uint32_t i = 0; i < n; i++)
		l->port[path[i]] += bytes;
	l->sum += bytes;
}

int dl_emu_scenario_bound(const struct dl_emu_scenario *s, double *bound)
{
	const struct dl_fabric *f = s->tables->fabric;
	struct sweep_loads l = { .port = calloc(f->nports + 1ul, sizeof(*l.port)) };
	double capacity = 0, most = 0;
	struct dl_emu_rate rate;
	int err = l.port ? sweep_each_path(s, sweep_add_load, &l) : -ENOMEM;

	for (uint32_t p = 0; !err && p < f->nports; p++)
		if (l.port[p] > 0 && !dl_emu_link_rate(f, &s->config, p, &rate) &&
		    l.port[p] / dl_emu_rate_bytes(rate) > most)
			most = l.port[p] / dl_emu_rate_bytes(rate);
	for (uint32_t a = 0; a < s->traffic.nadapters; a++)
		capacity += s->traffic.rate[a];
	if (!err)
		*bound = most > 0 ? fmin(l.sum / most / capacity, 1) : 0; /* 1: rounding */
	free(l.port);
	return err;
}

/* ---- latency at no load -------------------------------------------------- */

/*
 * From the first bit of a packet of so many bytes on the wire to its last one at the
 * other end, in ps (engine.c); *most: its time on the slowest link.
 */
static double sweep_packet_time(const struct dl_emu_scenario *s, const uint32_t *path, uint32_t n,
				uint32_t bytes, double *most)
{
	const struct dl_emu_config *c = &s->config;
	const struct dl_fabric *f = s->tables->fabric;
	bool worm = c->switching == DL_EMU_WORMHOLE;
	uint32_t flits = worm ? (bytes + c->flit - 1) / c->flit : 1;
	uint32_t flit = flits > 1 ? c->flit : bytes;
	double head = 0, tail = 0, slowest = 0; /* a flit on the slowest link so far */

	*most = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct dl_emu_rate rate = { 1, 1 };
		uint64_t all, delay = dl_emu_cable_delay(f, c, path[i]);

		dl_emu_link_rate(f, c, path[i], &rate);
		all = dl_emu_rate_time(rate, bytes);
		*most = fmax(*most, all);
		slowest = fmax(slowest, dl_emu_rate_time(rate, flit));
		if (c->switching == DL_EMU_CUT_THROUGH)
			head = fmax(head, tail - all); /* a faster link would run out of bits */
		tail = head + delay +
		       (worm ? (flits - 1) * slowest +
					dl_emu_rate_time(rate, bytes - (flits - 1) * flit) :
			       all);
		head += delay + c->switch_latency_ps +
			(worm					  ? dl_emu_rate_time(rate, flit) :
			 c->switching == DL_EMU_STORE_AND_FORWARD ? all :
								    dl_emu_rate_time(rate, 8));
	}
	return tail;
}

/* Packets a second, and the sum of their latencies. */
struct sweep_zero {
	double packets, latency;
};

/* The packets of a message wait for those before them on the slowest link. */
static void sweep_add_latency(void *context, const struct dl_emu_scenario *s,
			      const struct dl_emu_traffic_entry *e, const uint32_t *path,
			      uint32_t n, double bytes)
{
	uint32_t headers = e->management ? DL_EMU_SMP_BYTES - DL_EMU_SMP_DATA : DL_EMU_HEADERS;
	struct sweep_zero *zero = context;
	double weight = 0, data = 0, most, full, last;

	for (uint32_t i = 0; i < e->nsizes; i++) {
		weight += e->sizes[i].weight;
		data += (double)e->sizes[i].weight * e->sizes[i].bytes;
	}
	full = sweep_packet_time(s, path, n, s->config.mtu + headers, &most);
	for (uint32_t i = 0; i < e->nsizes; i++) {
		uint32_t m = (e->sizes[i].bytes + s->config.mtu - 1) / s->config.mtu;
		double messages = bytes / data * e->sizes[i].weight, unused;

		last = sweep_packet_time(
			s, path, n, e->sizes[i].bytes - (m - 1) * s->config.mtu + headers, &unused);
		zero->packets += messages * m;
		zero->latency += messages * ((m - 1) * full + last + most * (m - 1.0) * m / 2);
	}
}

int dl_emu_scenario_zero_load(const struct dl_emu_scenario *s, double *ns)
{
	struct sweep_zero zero = { 0 };
	int err = sweep_each_path(s, sweep_add_latency, &zero);

	*ns = zero.packets > 0 ? zero.latency / zero.packets / 1e3 : 0;
	return err;
}

/* ---- saturation -------------------------------------------------------- */

#define MIN_LATENCIES 100 /* of a packet at no load: the shortest run */
#define DOUBLINGS 3	  /* of a run that leaves it open */

static bool sweep_saturates(const struct dl_emu_point *p, double zero_load_ns)
{
	return p->deadlock || p->throughput < 0.95 * p->offered ||
	       p->latency.mean > 3 * zero_load_ns;
}

static int sweep_run_at(const struct dl_emu_scenario *s, const char *name, double at,
			dl_emu_watch watch, void *context, struct dl_emu_point *p)
{
	struct dl_emu_load load = { name, at * DL_EMU_LOAD_ONE };
	int err;

	*p = (struct dl_emu_point){ 0 };
	err = dl_emu_scenario_point(s, &load, watch, context, p);
	return err ? err : p->done ? 0 : -EINTR;
}

/* Is it certain on which side of saturation a load is?  At full load: the throughput? */
static bool sweep_is_clear(const struct dl_emu_point *p, double at, double before,
			   double zero_load_ns)
{
	double limit = 3 * zero_load_ns;

	if (at >= 1)
		return fabs(p->throughput - before) <= 0.01 * p->throughput;
	if (p->deadlock || p->throughput < 0.9 * p->offered)
		return true;
	return fabs(p->latency.mean - limit) > p->latency_error &&
	       (p->latency.mean > limit || p->throughput > 0.97 * p->offered);
}

static uint64_t sweep_least_time(const struct dl_emu_scenario *s, double zero_load_ns)
{
	return fmax(s->duration, s->warmup + MIN_LATENCIES * zero_load_ns * 1e3);
}

/* Run a load, however short the scenario is, and longer where that is not clear. */
static int sweep_run_until_clear(const struct dl_emu_scenario *s, const char *name, double at,
				 dl_emu_watch watch, void *context, double zero_load_ns,
				 struct dl_emu_point *p)
{
	struct dl_emu_scenario longer = *s;
	double before;
	int err;

	longer.duration = sweep_least_time(s, zero_load_ns);
	for (uint32_t run = 0;; run++) {
		before = p->throughput;
		err = sweep_run_at(&longer, name, at, watch, context, p);
		if (err || run == DOUBLINGS || sweep_is_clear(p, at, before, zero_load_ns))
			return err;
		longer.duration *= 2;
	}
}

int dl_emu_scenario_saturation(const struct dl_emu_scenario *s, const char *name,
			       dl_emu_watch watch, void *context, struct dl_emu_saturation *out)
{
	double low = 0, high = 1;
	struct dl_emu_point p = { 0 };
	int err = dl_emu_scenario_bound(s, &out->bound);

	out->load = -1;
	out->is_longer = false;
	if (err == -ENOTSUP)
		out->bound = -1;
	else if (err)
		return err;
	err = dl_emu_scenario_zero_load(s, &out->zero_load_ns);
	if (err == -ENOTSUP) {
		err = sweep_run_at(s, name, 0.01, watch, context, &p);
		out->zero_load_ns = p.latency.mean;
	}
	if (!err)
		err = sweep_run_until_clear(s, name, 1, watch, context, out->zero_load_ns, &p);
	out->accepted = p.throughput;
	out->is_longer = s->duration < sweep_least_time(s, out->zero_load_ns);
	if (err || !sweep_saturates(&p, out->zero_load_ns))
		return err;
	while (!err && high - low > 0.01 * high && high > 1e-5) {
		double middle = (low + high) / 2;

		err = sweep_run_until_clear(s, name, middle, watch, context, out->zero_load_ns, &p);
		*(sweep_saturates(&p, out->zero_load_ns) ? &high : &low) = middle;
	}
	out->load = err ? -1 : (low + high) / 2;
	return err;
}
