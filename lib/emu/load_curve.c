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

/*
 * The batch from which on the mean latency is known best: that for which the squared
 * error over the squared number of batches is least (MSER).  It is one of the first
 * eighth: of all, MSER prefers to keep a quiet part, and the mean would be too low.
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
		if (i <= n / 8 && error <= least) {
			least = error;
			start = i;
		}
	}
	return start;
}

/* The standard error of the mean of three parts, times Student's t of 2 degrees. */
static double sweep_error_of_parts(const double *mean, uint32_t n)
{
	double sum = 0, squares = 0;
	uint32_t each = n / 3;

	for (uint32_t part = 0; part < 3; part++) {
		double of_part = 0;

		for (uint32_t i = 0; i < each; i++)
			of_part += mean[part * each + i] / each;
		sum += of_part;
		squares += of_part * of_part;
	}
	return 4.303 * sqrt(fmax(squares - sum * sum / 3, 0) / 2 / 3);
}

/*
 * The same of single batches, each of which resembles the one before it: as many as
 * an autoregressive process of order 1 has independent ones.  The correlation is
 * corrected for its bias, (1 + 3r) / n, and Student's t approximated.
 */
static double sweep_error_of_batches(const double *mean, uint32_t n)
{
	double sum = 0, squares = 0, products = 0, r, free;

	for (uint32_t i = 0; i < n; i++)
		sum += mean[i] / n;
	for (uint32_t i = 0; i < n; i++) {
		squares += (mean[i] - sum) * (mean[i] - sum);
		products += i ? (mean[i] - sum) * (mean[i - 1] - sum) : 0;
	}
	r = squares > 0 ? products / squares : 0;
	r = fmin(fmax(r + (1 + 3 * r) / n, 0), 0.95);
	free = fmax(n * (1 - r) / (1 + r) - 1, 1);
	return (1.96 + 2.372 / free + 2.8 / free / free + 5.6 / free / free / free) *
	       sqrt(squares / (n - 1) / (free + 1));
}

/*
 * Half the 95 % confidence interval of a mean latency, on the side where it is longer:
 * near saturation queues are short most of the time and long once in a while.
 */
static double sweep_error(const double *mean, uint32_t n, double of_all)
{
	if (n < 6)
		return 0;
	return of_all *
	       expm1(fmax(sweep_error_of_parts(mean, n), sweep_error_of_batches(mean, n)) / of_all);
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

		if (b->at > s->duration || b->at % r->sample_ps) /* the last one is shorter */
			break;
		if (!b->delivered)
			continue;
		batch[n] = end;
		mean[n++] = b->latency_sum / 1e3 / b->delivered;
		all += b->bytes;
	}
	from = s->warmup || n < 2 ? 0 : sweep_find_start(mean, n);
	p->latency_error = sweep_error(mean + from, n - from, p->latency.mean);
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
		if (l.port[p] > 0 && !dl_emu_link_rate(f, p, &rate) &&
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

		dl_emu_link_rate(f, path[i], &rate);
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

/*
 * The mean latency of a packet at no load, in closed form, over all that the traffic
 * sends.  0 or a negative errno as dl_emu_scenario_bound().
 */
static int sweep_zero_load(const struct dl_emu_scenario *s, double *ns)
{
	struct sweep_zero zero = { 0 };
	int err = sweep_each_path(s, sweep_add_latency, &zero);

	*ns = zero.packets > 0 ? zero.latency / zero.packets / 1e3 : 0;
	return err;
}

/* ---- saturation -------------------------------------------------------- */

/*
 * The mean latency near saturation is that of few, long queues, so it takes long runs
 * to know it, but it is steep: the load at which it is three times the zero-load
 * latency is known some five times as well.  So bisection only has to come near, and
 * a straight line through the logarithms of all runs there gives the load.  Each has
 * random numbers of its own: with the same ones all would be wrong the same way.
 */
#define SHORT_RUN 100 /* zero-load latencies: far from saturation */
#define LONG_RUN 800  /* near it, and at full load */
#define NEAR 0.05     /* of the load */
#define LONG_RUNS 32
#define ENOUGH 0.002 /* the standard error of the load, as a part of it */
#define DOUBLINGS 3  /* of a run at full load */

/* Sums for a line through points (x, y): logarithms of load and latency. */
struct sweep_line {
	double n, x, y, xx, xy, yy;
};

struct sweep_search {
	struct dl_emu_scenario longer;
	const char *name;
	dl_emu_watch watch;
	void *context;
	uint64_t duration; /* the scenario's */
	double zero_load_ns;
	struct sweep_line line;
	bool by_latency; /* at all points near */
};

static int sweep_run_at(struct sweep_search *h, double at, double latencies, struct dl_emu_point *p)
{
	struct dl_emu_load load = { h->name, at * DL_EMU_LOAD_ONE, h->line.n };
	int err;

	h->longer.duration =
		fmax(h->duration, h->longer.warmup + latencies * h->zero_load_ns * 1e3);
	*p = (struct dl_emu_point){ 0 };
	err = dl_emu_scenario_point(&h->longer, &load, h->watch, h->context, p);
	return err ? err : p->done ? 0 : -EINTR;
}

static bool sweep_loses(const struct dl_emu_point *p)
{
	return p->deadlock || p->throughput < 0.95 * p->offered;
}

static bool sweep_saturates(const struct sweep_search *h, const struct dl_emu_point *p)
{
	return sweep_loses(p) || p->latency.mean > 3 * h->zero_load_ns;
}

/* How long a run at full load must be for its throughput is found by doubling it. */
static int sweep_run_full(struct sweep_search *h, struct dl_emu_point *p)
{
	double latencies = LONG_RUN, before;
	int err = sweep_run_at(h, 1, latencies, p);

	for (uint32_t run = 0; !err && run < DOUBLINGS; run++) {
		before = p->throughput;
		latencies = 2 * h->longer.duration / h->zero_load_ns / 1e3;
		err = sweep_run_at(h, 1, latencies, p);
		if (!err && fabs(p->throughput - before) <= 0.01 * p->throughput)
			break;
	}
	return err;
}

static int sweep_run_near(struct sweep_search *h, double at, struct dl_emu_point *p)
{
	int err = sweep_run_at(h, at, LONG_RUN, p);
	struct sweep_line *l = &h->line;
	double x = log(at), y;

	if (err || !(p->latency.mean > 0))
		return err;
	y = log(p->latency.mean / 3 / h->zero_load_ns);
	l->n++;
	l->x += x;
	l->y += y;
	l->xx += x * x;
	l->xy += x * y;
	l->yy += y * y;
	h->by_latency = h->by_latency && (y > 0 || !sweep_loses(p));
	return 0;
}

/* The load at which the line is 0, or NAN, and its standard error, as a part of it. */
static double sweep_solve(const struct sweep_line *l, double *error)
{
	double xx = l->xx - l->x * l->x / l->n, xy = l->xy - l->x * l->y / l->n;
	double slope = xy / xx, away = -l->y / l->n / slope;
	double residues = l->yy - l->y * l->y / l->n - slope * xy;

	if (l->n < 12 || !(slope > 1))
		return NAN;
	*error = sqrt(fmax(residues, 0) / (l->n - 2) * (1 / l->n + away * away / xx)) / slope;
	return exp(l->x / l->n + away);
}

static int sweep_bisect(struct sweep_search *h, struct dl_emu_saturation *out)
{
	double low = 0, high = 1, middle, found, error = 0;
	struct dl_emu_point p;
	int err = 0;

	while (!err && high - low > 0.01 * high && high > 1e-5) {
		middle = (low + high) / 2;
		err = high - low > NEAR * high ? sweep_run_at(h, middle, SHORT_RUN, &p) :
						 sweep_run_near(h, middle, &p);
		*(sweep_saturates(h, &p) ? &high : &low) = middle;
	}
	middle = found = (low + high) / 2;
	while (!err && h->by_latency && h->line.n < LONG_RUNS) {
		err = sweep_run_near(h, found * ((int)h->line.n % 2 ? 1.02 : 0.98), &p);
		found = sweep_solve(&h->line, &error);
		if (!(fabs(found - middle) <= 2 * NEAR * middle))
			found = middle;
		else if (error <= ENOUGH)
			break;
	}
	if (err)
		return err;
	out->load = h->by_latency ? fmin(found, 1) : middle;
	out->load_error = h->by_latency && found != middle ? 1.96 * error * found : -1;
	return 0;
}

int dl_emu_scenario_saturation(const struct dl_emu_scenario *s, const char *name,
			       dl_emu_watch watch, void *context, struct dl_emu_saturation *out)
{
	struct sweep_search h = { .longer = *s,
				  .name = name,
				  .watch = watch,
				  .context = context,
				  .duration = s->duration,
				  .by_latency = true };
	struct dl_emu_point p = { 0 };
	int err = dl_emu_scenario_bound(s, &out->bound);

	out->load = out->load_error = -1;
	out->is_longer = false;
	if (err == -ENOTSUP)
		out->bound = -1;
	else if (err)
		return err;
	err = sweep_zero_load(s, &h.zero_load_ns);
	if (err == -ENOTSUP) {
		err = sweep_run_at(&h, 0.01, 0, &p);
		h.zero_load_ns = p.latency.mean;
	}
	out->zero_load_ns = h.zero_load_ns;
	if (!err)
		err = sweep_run_full(&h, &p);
	out->accepted = p.throughput;
	out->is_longer = s->duration < s->warmup + SHORT_RUN * h.zero_load_ns * 1e3;
	return err || !sweep_saturates(&h, &p) ? err : sweep_bisect(&h, out);
}
