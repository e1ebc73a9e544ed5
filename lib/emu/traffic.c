/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Traffic patterns; see traffic.h.
 *
 * Time.  Open loops are Poisson processes by default: the gaps between
 * messages are exponential with the mean at which the flow offers its load.
 * They are drawn by von Neumann's comparison method, which needs whole
 * numbers only, so the same seed gives the same arrivals on every machine;
 * a logarithm of the C library would not promise that.  A gap costs some four
 * random numbers on average.
 *
 * The mean gap is that of the mean size, so that the offered load does not
 * depend on how sizes are mixed; periodic flows start at a random phase, or
 * all of them would fire in the same picosecond.
 *
 * Fixed patterns (permutations) are worked out once, as a table of n numbers.
 * On a grid they act on the coordinates of an adapter's point and keep its
 * place at the point.  Where the place of the partner is empty, because a
 * switch or an adapter is missing, the adapter stays silent, as does one that
 * is its own partner.
 *
 * Cost: O(1) a message; memory O(flows + entries * n).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "dateline/emu.h"

#define PS_PER_S UINT64_C(1000000000000)
#define STREAM_PERMUTATION UINT32_MAX
#define FLOWS_MAX (1u << 23) /* of pairs */

struct flow {
	struct dl_random random;
	uint64_t next; /* open loop: time of the next arrival */
	uint64_t gap;  /* open loop: mean between two, ps */
	uint64_t sent; /* of a trace: index of the next message */
	uint32_t entry;
	uint32_t src;
	uint32_t fixed; /* the one destination, or DL_EMU_NO_ADAPTER */
};

struct dl_emu_traffic {
	const struct dl_emu_traffic_spec *spec;
	struct flow *flows;
	uint32_t nflows;
	uint32_t *total_weight; /* of an entry's sizes */
};

/* ---- random numbers ---------------------------------------------------- */

/* The next number of four, or of four new ones. */
static uint32_t traffic_next_of(struct dl_random *r, struct dl_random_block *four,
				unsigned int *used)
{
	if (*used == 4) {
		*four = dl_random_four(r);
		*used = 0;
	}
	return four->v[(*used)++];
}

/*
 * An exponential number with mean 1, in units of 2^-32 (von Neumann 1951):
 * draw descending runs of uniform numbers; the first number of the first run
 * of odd length, plus the runs before it, is exponential.
 */
static uint64_t traffic_draw_exponential(struct dl_random *r)
{
	struct dl_random_block drawn = dl_random_four(r);
	unsigned int used = 0;

	for (uint64_t whole = 0;; whole++) {
		uint32_t first = traffic_next_of(r, &drawn, &used), last = first, next;
		unsigned int length = 1;

		while ((next = traffic_next_of(r, &drawn, &used)) < last) {
			last = next;
			length++;
		}
		if (length & 1)
			return (whole << 32) + first;
	}
}

static uint64_t traffic_draw_gap(struct dl_random *r, uint64_t mean)
{
	return (unsigned __int128)mean * traffic_draw_exponential(r) >> 32;
}

static uint32_t traffic_draw_size(const struct dl_emu_traffic *t, struct flow *f)
{
	const struct dl_emu_traffic_entry *e = &t->spec->entries[f->entry];
	uint32_t at;

	if (e->nsizes == 1)
		return e->sizes[0].bytes;
	at = dl_random_below(&f->random, t->total_weight[f->entry]);
	for (uint32_t i = 0;; i++) {
		if (at < e->sizes[i].weight)
			return e->sizes[i].bytes;
		at -= e->sizes[i].weight;
	}
}

/* Anybody but the source itself. */
static uint32_t traffic_draw_other(const struct dl_emu_traffic *t, struct flow *f)
{
	uint32_t to = dl_random_below(&f->random, t->spec->nadapters - 1);

	return to + (to >= f->src);
}

/* ---- fixed patterns ---------------------------------------------------- */

/*
 * The point of the partner.  The transpose reads the coordinates backwards: on a
 * grid of one radix that exchanges them, as (x,y,z) -> (z,y,x); on any other it is
 * the transposition of a matrix that need not be square.
 */
static uint32_t traffic_partner_point(const struct dl_emu_traffic_grid *g,
				      enum dl_emu_pattern pattern, uint32_t point)
{
	uint32_t out = 0, unit = 1;

	for (unsigned int d = 0; d < g->dims; d++) {
		uint32_t k = g->radix[d], c = point / unit % k;
		/* Tornado, ceil(k / 2) - 1: the longest way that never ties. */
		uint32_t by = pattern == DL_EMU_PATTERN_TORNADO ? (k - 1) / 2 : 1;

		out = pattern == DL_EMU_PATTERN_TRANSPOSE ? out * k + c : out + (c + by) % k * unit;
		unit *= k;
	}
	return out;
}

static void traffic_grid_partners(const struct dl_emu_traffic_spec *s,
				  const struct dl_emu_traffic_entry *e, uint32_t *to)
{
	const struct dl_emu_traffic_grid *g = &s->grid;
	uint32_t places = dl_emu_traffic_points(g) * g->depth;

	for (uint32_t i = 0; i < s->nadapters; i++)
		to[i] = i;
	for (uint32_t p = 0; p < places; p++) {
		uint32_t point = traffic_partner_point(g, e->pattern, p / g->depth);
		uint32_t partner = g->at[point * g->depth + p % g->depth];

		if (g->at[p] != DL_EMU_NO_ADAPTER && partner != DL_EMU_NO_ADAPTER)
			to[g->at[p]] = partner;
	}
}

/* A permutation, all equally likely (Fisher and Yates). */
static void traffic_random_partners(const struct dl_emu_traffic_spec *s, uint32_t entry,
				    uint32_t *to)
{
	struct dl_random r = { .seed = s->seed + entry, .stream = STREAM_PERMUTATION };

	for (uint32_t i = 0; i < s->nadapters; i++)
		to[i] = i;
	for (uint32_t i = s->nadapters - 1; i > 0; i--) {
		uint32_t j = dl_random_below(&r, i + 1), kept = to[i];

		to[i] = to[j];
		to[j] = kept;
	}
}

/*
 * Everybody's one destination, which is itself for who stays silent; or
 * DL_EMU_NO_ADAPTER where there are several.
 */
static void traffic_find_partners(const struct dl_emu_traffic_spec *s, uint32_t entry, uint32_t *to)
{
	const struct dl_emu_traffic_entry *e = &s->entries[entry];
	uint32_t n = s->nadapters;

	for (uint32_t i = 0; i < n; i++)
		to[i] = e->pattern == DL_EMU_PATTERN_COMPLEMENT ? n - 1 - i :
			e->pattern == DL_EMU_PATTERN_SHIFT	? ((uint64_t)i + e->by) % n :
								  DL_EMU_NO_ADAPTER;
	if (e->pattern == DL_EMU_PATTERN_RANDOM)
		traffic_random_partners(s, entry, to);
	else if (dl_emu_pattern_is_on_grid(e->pattern))
		traffic_grid_partners(s, e, to);
}

/* ---- destinations message by message ----------------------------------- */

static uint32_t traffic_destination(const struct dl_emu_traffic *t, struct flow *f)
{
	const struct dl_emu_traffic_spec *s = t->spec;
	const struct dl_emu_traffic_entry *e = &s->entries[f->entry];
	uint32_t to;

	if (f->fixed != DL_EMU_NO_ADAPTER)
		return f->fixed;
	switch (e->pattern) {
	case DL_EMU_PATTERN_MULTICAST:
		return DL_EMU_NO_ADAPTER;
	case DL_EMU_PATTERN_INCAST:
		to = e->targets[(f->sent + f->src) % e->ntargets]; /* each begins elsewhere */
		if (to == f->src)				   /* the next one's turn */
			to = e->targets[(f->sent + f->src + 1) % e->ntargets];
		return to;
	case DL_EMU_PATTERN_HOTSPOT:
		to = f->src;
		if (dl_random_below(&f->random, DL_EMU_LOAD_ONE) < e->fraction)
			to = e->targets[dl_random_below(&f->random, e->ntargets)];
		return to == f->src ? traffic_draw_other(t, f) : to;
	case DL_EMU_PATTERN_ALL_TO_ALL:
		return (f->src + 1 + f->sent % (s->nadapters - 1)) % s->nadapters;
	case DL_EMU_PATTERN_UNIFORM:
		return traffic_draw_other(t, f);
	default:
		return f->fixed;
	}
}

/* ---- messages ---------------------------------------------------------- */

uint32_t dl_emu_traffic_flows(const struct dl_emu_traffic *t)
{
	return t->nflows;
}

uint32_t dl_emu_traffic_source(const struct dl_emu_traffic *t, uint32_t flow)
{
	return t->flows[flow].src;
}

const struct dl_emu_traffic_entry *dl_emu_traffic_entry(const struct dl_emu_traffic *t,
							uint32_t flow)
{
	return &t->spec->entries[t->flows[flow].entry];
}

/* Which part of the targets an adapter is. */
static double traffic_target_share(const struct dl_emu_traffic_entry *e, uint32_t adapter)
{
	double n = 0;

	for (uint32_t i = 0; i < e->ntargets; i++)
		n += e->targets[i] == adapter;
	return n / e->ntargets;
}

double dl_emu_traffic_share(const struct dl_emu_traffic *t, uint32_t flow, uint32_t dst)
{
	const struct flow *f = &t->flows[flow];
	const struct dl_emu_traffic_entry *e = &t->spec->entries[f->entry];
	double even = dst == f->src ? 0 : 1.0 / (t->spec->nadapters - 1), hot;

	switch (e->pattern) {
	case DL_EMU_PATTERN_UNIFORM:
	case DL_EMU_PATTERN_ALL_TO_ALL:
		return even;
	case DL_EMU_PATTERN_HOTSPOT:
		hot = 1e-6 * e->fraction;
		return (dst == f->src ? 0 : hot * traffic_target_share(e, dst)) +
		       (1 - hot + hot * traffic_target_share(e, f->src)) * even;
	case DL_EMU_PATTERN_INCAST:
		return traffic_target_share(e, f->src) > 0 ? -1 : traffic_target_share(e, dst);
	case DL_EMU_PATTERN_MULTICAST:
	case DL_EMU_PATTERN_TRACE:
		return -1;
	default:
		return dst == f->fixed;
	}
}

static bool traffic_next_of_trace(const struct dl_emu_traffic_entry *e, struct flow *f,
				  uint32_t flow, struct dl_emu_trace_message *out)
{
	if (f->sent == e->ntrace || e->trace[f->sent].src != f->src)
		return false;
	*out = e->trace[f->sent++];
	out->flow = flow;
	out->entry = f->entry;
	return out->at < e->stop;
}

bool dl_emu_traffic_next(struct dl_emu_traffic *t, uint32_t flow, uint64_t now,
			 struct dl_emu_trace_message *out)
{
	struct flow *f = &t->flows[flow];
	const struct dl_emu_traffic_entry *e = &t->spec->entries[f->entry];
	uint64_t at;

	if (e->pattern == DL_EMU_PATTERN_TRACE)
		return traffic_next_of_trace(e, f, flow, out);
	if (e->count && f->sent == e->count)
		return false;
	at = e->window ? (now > e->start ? now : e->start) : f->next;
	if (at >= e->stop)
		return false;
	if (!e->window)
		f->next += e->periodic ? f->gap : traffic_draw_gap(&f->random, f->gap);
	*out = (struct dl_emu_trace_message){
		.at = at,
		.flow = flow,
		.entry = f->entry,
		.src = f->src,
		.dst = traffic_destination(t, f),
		.bytes = traffic_draw_size(t, f),
		.mlid = e->mlid,
		.level = e->level,
	};
	f->sent++;
	return true;
}

/* ---- beginning --------------------------------------------------------- */

static int traffic_refuse(const struct dl_log *log, uint32_t entry, const char *why)
{
	return dl_fail(log, -EINVAL, "traffic entry %u: %s", entry + 1, why);
}

static bool traffic_is_source(const struct dl_emu_traffic_entry *e, uint32_t i,
			      const uint32_t *partner)
{
	bool listed = !e->sources;

	for (uint32_t k = 0; !listed && k < e->nsources; k++)
		listed = e->sources[k] == i;
	if (!listed)
		return false;
	if (e->pattern == DL_EMU_PATTERN_INCAST && e->ntargets == 1)
		return e->targets[0] != i;
	return partner[i] != i;
}

static int traffic_check(const struct dl_emu_traffic_spec *s, uint32_t entry,
			 const struct dl_log *log)
{
	const struct dl_emu_traffic_entry *e = &s->entries[entry];
	uint64_t weight = 0;

	if (e->pattern == DL_EMU_PATTERN_TRACE)
		return 0;
	if (s->nadapters < 2)
		return traffic_refuse(log, entry, "one adapter has nobody to talk to");
	if (dl_emu_pattern_is_on_grid(e->pattern) && !s->grid.dims)
		return traffic_refuse(log, entry, "this pattern needs a grid");
	if ((e->pattern == DL_EMU_PATTERN_HOTSPOT || e->pattern == DL_EMU_PATTERN_INCAST) &&
	    !e->ntargets)
		return traffic_refuse(log, entry, "this pattern needs targets");
	if (!e->load == !e->window)
		return traffic_refuse(log, entry, "a load or a window is needed");
	for (uint32_t i = 0; i < e->nsizes; i++)
		weight += e->sizes[i].weight;
	if (!weight || weight > UINT32_MAX)
		return traffic_refuse(log, entry, "sizes need weights");
	return 0;
}

/* Bytes of a mean message, times the sum of weights. */
static uint64_t traffic_mean_size(const struct dl_emu_traffic *t, uint32_t entry)
{
	const struct dl_emu_traffic_entry *e = &t->spec->entries[entry];
	unsigned __int128 sum = 0;

	for (uint32_t i = 0; i < e->nsizes; i++)
		sum += (uint64_t)e->sizes[i].bytes * e->sizes[i].weight;
	return sum / t->total_weight[entry];
}

/* A share of an entry's messages of a source. */
struct part {
	uint64_t of, all;
};

static void traffic_start_flow(struct dl_emu_traffic *t, uint32_t entry, uint32_t src,
			       uint32_t partner, struct part part)
{
	const struct dl_emu_traffic_spec *s = t->spec;
	const struct dl_emu_traffic_entry *e = &s->entries[entry];
	struct flow *f = &t->flows[t->nflows++];
	unsigned __int128 gap;

	*f = (struct flow){
		/* Streams by entry and source, whoever else takes part. */
		.random = { .seed = part.all > 1 ? ~s->seed : s->seed,
			    .stream = part.all > 1 ? t->nflows : entry * s->nadapters + src,
			    .at = (uint64_t)s->repeat << 32 },
		.entry = entry,
		.src = src,
		.fixed = partner,
	};
	if (e->pattern == DL_EMU_PATTERN_TRACE || e->window)
		return;
	gap = (unsigned __int128)traffic_mean_size(t, entry) * PS_PER_S * DL_EMU_LOAD_ONE /
	      ((unsigned __int128)s->rate[src] * e->load) * part.all / part.of;
	f->gap = gap ? gap : 1;
	f->next = e->start;
	if (e->periodic)
		f->next += (unsigned __int128)f->gap * dl_random_next(&f->random) >> 32;
	else
		f->next += traffic_draw_gap(&f->random, f->gap);
}

/* The share of a destination: messages to a source's own place go to anybody. */
static struct part traffic_part(const struct dl_emu_traffic_spec *s,
				const struct dl_emu_traffic_entry *e, uint32_t src, uint32_t dst)
{
	uint64_t others = s->nadapters - 1, targets = e->ntargets, hot = e->fraction;

	if (e->pattern == DL_EMU_PATTERN_UNIFORM)
		return (struct part){ 1, others };
	return (struct part){ (traffic_target_share(e, dst) > 0) * hot * others +
				      (DL_EMU_LOAD_ONE - hot) * targets +
				      (traffic_target_share(e, src) > 0) * hot,
			      DL_EMU_LOAD_ONE * targets * others };
}

/* The flows of a source: one, or one for each destination. */
static void traffic_start_source(struct dl_emu_traffic *t, uint32_t entry, uint32_t src,
				 uint32_t partner)
{
	const struct dl_emu_traffic_spec *s = t->spec;
	const struct dl_emu_traffic_entry *e = &s->entries[entry];
	bool drawn = e->pattern == DL_EMU_PATTERN_UNIFORM || e->pattern == DL_EMU_PATTERN_HOTSPOT;

	if (!s->pairs || !drawn || e->window || e->count) {
		traffic_start_flow(t, entry, src, partner, (struct part){ 1, 1 });
		return;
	}
	for (uint32_t dst = 0; dst < s->nadapters; dst++) {
		struct part part = traffic_part(s, e, src, dst);

		if (dst != src && part.of)
			traffic_start_flow(t, entry, src, dst, part);
	}
}

static void traffic_start_entry(struct dl_emu_traffic *t, uint32_t entry, uint32_t *partner)
{
	const struct dl_emu_traffic_spec *s = t->spec;
	const struct dl_emu_traffic_entry *e = &s->entries[entry];

	for (uint64_t i = 0; i < e->ntrace; i++)
		if (!i || e->trace[i].src != e->trace[i - 1].src) {
			traffic_start_flow(t, entry, e->trace[i].src, DL_EMU_NO_ADAPTER,
					   (struct part){ 1, 1 });
			t->flows[t->nflows - 1].sent = i;
		}
	if (e->pattern == DL_EMU_PATTERN_TRACE)
		return;
	for (uint32_t i = 0; i < e->nsizes; i++)
		t->total_weight[entry] += e->sizes[i].weight;
	traffic_find_partners(s, entry, partner);
	for (uint32_t i = 0; i < s->nadapters; i++)
		if (s->rate[i] && traffic_is_source(e, i, partner))
			traffic_start_source(t, entry, i, partner[i]);
}

int dl_emu_traffic_new(const struct dl_emu_traffic_spec *spec, const struct dl_log *log,
		       struct dl_emu_traffic **out)
{
	size_t most =
		(size_t)spec->nentries * spec->nadapters * (spec->pairs ? spec->nadapters : 1);
	struct dl_emu_traffic *t = calloc(1, sizeof(*t));
	uint32_t *partner = calloc(spec->nadapters + 1, sizeof(*partner));
	int err = 0;

	for (uint32_t i = 0; !err && i < spec->nentries; i++)
		err = traffic_check(spec, i, log);
	if (!err && spec->pairs && most > FLOWS_MAX)
		err = dl_fail(log, -EINVAL,
			      "traffic: congestion control takes a queue pair for each "
			      "pair of adapters, which are too many here");
	if (!err && (!t || !partner))
		err = -ENOMEM;
	if (err)
		goto out;
	t->spec = spec;
	t->flows = calloc(most + 1, sizeof(*t->flows));
	t->total_weight = calloc(spec->nentries + 1, sizeof(uint32_t));
	if (!t->flows || !t->total_weight)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < spec->nentries; i++)
		traffic_start_entry(t, i, partner);
	if (!err) {
		*out = t;
		t = NULL;
	}
out:
	free(partner);
	dl_emu_traffic_free(t);
	return err;
}

void dl_emu_traffic_free(struct dl_emu_traffic *t)
{
	if (!t)
		return;
	free(t->flows);
	free(t->total_weight);
	free(t);
}
