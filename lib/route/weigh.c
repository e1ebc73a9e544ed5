/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cables of unequal speed (rules A15).
 *
 * Problem.  A cable that trained with fewer lanes, or one of an older generation, holds up
 * all packets on the paths that use it.  Send as much across each cable as it carries, at no
 * cost in safety and with the path SLs that the coordinates give.
 *
 * Measure.  The load of a channel is the number of pairs of end ports whose packets use it,
 * divided by its rate.  The busiest channel bounds what the fabric carries when all send
 * to all.
 *
 * Method.  Parallel cables take turns in proportion to their rates.  A hop with a slow
 * cable is spared where the other way round the ring is as short (rings.c), or taken out
 * of use like an avoided cable (transit.c).  Several trials of the forwarding are made, and
 * the one whose busiest channel is the least loaded is routed and verified like any other:
 *
 * 1. all cables alike; 2. all slow cables out, and the same with 3 to 5, and what is best
 * for the rest, of which others may be slow; 3. slow hops spared; 4. then round by round, of
 * each ring, the slow hop taken out that is busier than all hops without a slow cable; 5.
 * nothing but turns.
 *
 * A packet for a slow cable holds up those behind it in the buffer where it waits, though
 * their cables may be idle.  So a buffer has a load, too: the time for which packets are the
 * first in it, by the same measure.  Take the sum over all cables of the larger load, of
 * the channel or of the buffer behind it, to the power of 8: the busiest ones count, and how
 * many they are.  Emulated, what a fabric carries goes by its eighth root to within some 15
 * per cent.  Virtual output queues hold up less, so there the loads of channels alone decide.
 * The switches are not known, so the cost of a trial is the product of this sum, and of that
 * of channels alone.
 *
 * Of 1 and 2, whose packets avoid each slow cable that is not the only way, the cheapest one
 * is used, unless another trial costs less by the GAIN, and by the FIFO_GAIN in the first
 * sum; or less at all, without a busier buffer, than one that uses slow cables, too.  In no
 * case is a trial used whose busiest channel is busier than those of 1 and 2.
 *
 * Slow cables that the result leaves out, though a faster one between the same switches is
 * in use, are then given their share in proportion: those with which no channel is busier
 * than that limit, and the costs rise by little (SHARE).  As each packet waits for others that
 * wait for the slow cable, its buffers count by the square of the time.  So a slow cable among
 * parallel ones is idle only in fabrics so small or so slow that it would hold up a part of all.
 *
 * So the result carries at least what the fabric carries without its slow cables, and with
 * all cables alike.  Avoided cables are missing here, too: neither medians nor loads count
 * them.  The result depends on the arguments alone.  A fabric without slow cables is routed
 * at once.  Complexity: that of the routing, without verification, and O(switches x LIDs)
 * for each trial, of which there are at most 3 * (ROUNDS + 4), and two thirds as many again
 * for each rate that is slow only beside those above it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "route/internal.h"

#define ROUNDS 3
#define EQUAL (1 + 1e-9) /* but for rounding */
#define GAIN 0.16      /* 0.89 to the power of 16, of the cost without slow cables: they are used */
#define FIFO_GAIN 0.51 /* 0.92 to the power of 8, of the first sum: ... if that is less, too */
#define SHARE 2.2 /* 1.05 to the power of 16: what the shares of slow parallel cables may cost */

/* ---- turns --------------------------------------------------------------- */

bool dl_route_take_turns(const struct dl_route_pass *p, uint32_t sw, const uint8_t *ports,
			 unsigned int nports, uint8_t *turns, unsigned int n)
{
	const struct dl_fabric *f = p->whole->fabric;
	const uint32_t *rate = p->rate ? p->rate + f->nodes[f->switches[sw]].first_port : NULL;
	uint32_t taken[DL_FABRIC_MAX_PORTS] = { 0 };
	unsigned int next = 0, i;

	for (i = 1; rate && i < nports && rate[ports[i]] == rate[ports[0]]; i++)
		;
	for (unsigned int k = 0; k < n && (!rate || i >= nports); k++) {
		turns[k] = ports[next];
		next = next + 1 == nports ? 0 : next + 1;
	}
	/* The next one goes to the cable that is then the least loaded. */
	for (unsigned int k = 0; k < n && rate && i < nports; k++) {
		next = 0;
		for (unsigned int c = 1; c < nports; c++)
			if ((uint64_t)(taken[c] + 1) * rate[ports[next]] <
			    (uint64_t)(taken[next] + 1) * rate[ports[c]])
				next = c;
		taken[next]++;
		turns[k] = ports[next];
	}
	return rate && i < nports;
}

/* ---- trials -------------------------------------------------------------- */

struct weigh {
	const struct dl_route_pass *p;
	const struct dl_torus *torus; /* without what is avoided: that is not weighed */
	struct dl_arena arena;
	struct dl_torus_speeds speeds;
	bool *slow;	      /* by switch * DL_TORUS_DIRS + direction: has the hop a slow cable? */
	double *load;	      /* ... its load in the last trial */
	double *channel;      /* of each channel, by its port */
	double *held;	      /* of each buffer, by the port that sends there */
	const uint32_t *hold; /* rates by which that goes */
	double rest;	      /* the busiest of all other hops */
	double limit;	      /* no plan with a busier channel is used */
	double enough;	      /* nor, in place of one without slow cables, one that costs more */
	double enough_fifo;   /* or has a larger first sum */
	bool *among;	      /* by port: those of adapters, which send to each other */
	uint32_t *busiest;    /* by ring of a dimension: the hop to take out, or DL_NONE */
};

struct weigh_plan {
	bool alike, slow;    /* slow: packets use slow cables */
	const bool *spared;  /* hops, as weigh.slow; or NULL */
	uint32_t *out, nout; /* cables out of use, by a port */
	double load;	     /* of the busiest channel */
	double held;	     /* of the busiest buffer */
	double cost, fifo;   /* of all, and the first sum: see above */
};

/* Route by a plan. */
static int weigh_route(const struct weigh *w, const struct weigh_plan *plan, bool trial,
		       struct dl_route_result *out)
{
	struct dl_route_options o = *w->p->options;
	struct dl_route_avoided *avoided = NULL;
	struct dl_route_pass p = *w->p;
	int err = 0;

	p.options = &o;
	p.out = out;
	p.trial = trial;
	p.log = trial ? NULL : p.log;
	p.rate = plan->alike ? NULL : w->speeds.rate;
	p.spared = plan->spared;
	if (plan->nout)
		err = dl_route_avoid_add(o.avoid, p.whole->fabric, plan->out, plan->nout, &avoided);
	if (avoided)
		o.avoid = avoided;
	if (!err)
		err = dl_route_once(&p);
	dl_arena_free(&p.arena);
	dl_route_avoided_free(avoided);
	return err;
}

/* To the power of 8. */
static double weigh_power(double x)
{
	x *= x;
	x *= x;
	return x * x;
}

/* The loads of all hops, and of the busiest channel. */
static void weigh_loads(struct weigh *w, const struct dl_tables_load *load, struct weigh_plan *plan)
{
	const struct dl_torus *t = w->torus;
	const struct dl_fabric *f = t->fabric;
	double channels = 0;

	plan->load = plan->held = plan->fifo = 0;
	plan->slow = false;
	w->rest = 0;
	for (uint32_t p = 0; p < f->nports; p++) {
		double here = load->flows[p] / (double)w->speeds.rate[p];
		unsigned int dir = t->port_dir[p];

		plan->held = w->held[p] > plan->held ? w->held[p] : plan->held;
		plan->fifo += weigh_power(here > w->held[p] ? here : w->held[p]);
		if (!dl_fabric_joins_switches(f, p))
			continue;
		channels += weigh_power(here);
		w->channel[p] = here;
		plan->load = here > plan->load ? here : plan->load;
		plan->slow |= w->speeds.slow[p] && load->flows[p];
		if ((dir == DL_TORUS_DIRS ||
		     !w->slow[f->nodes[f->ports[p].node].sw * DL_TORUS_DIRS + dir]) &&
		    here > w->rest)
			w->rest = here;
	}
	plan->cost = plan->fifo * channels;
	for (uint32_t hop = 0; hop < f->nswitches * DL_TORUS_DIRS; hop++) {
		uint32_t sw = hop / DL_TORUS_DIRS, first = f->nodes[f->switches[sw]].first_port;
		const uint8_t *ports = dl_torus_group(t, sw, hop % DL_TORUS_DIRS);
		double flows = 0, rate = 0;

		for (uint32_t i = dl_torus_group_size(t, sw, hop % DL_TORUS_DIRS); i--;) {
			flows += load->flows[first + ports[i]];
			rate += w->speeds.rate[first + ports[i]];
		}
		w->load[hop] = rate > 0 ? flows / rate : 0;
	}
}

/* A trial that cannot be made, or takes too long, carries nothing. */
static int weigh_trial(struct weigh *w, struct weigh_plan *plan)
{
	struct dl_route_result r = { 0 };
	struct dl_tables_load load;
	int err = weigh_route(w, plan, true, &r);

	plan->load = plan->held = plan->cost = plan->fifo = INFINITY;
	if (!err && !r.report.timed_out) {
		err = dl_tables_load_hold(r.tables, w->among, w->hold, w->held, &load);
		if (!err) {
			weigh_loads(w, &load, plan);
			dl_tables_load_release(&load);
		}
	}
	dl_route_result_release(&r);
	return err == -ENOMEM ? err : 0;
}

/* ---- what goes out ------------------------------------------------------- */

static void weigh_take_out(const struct weigh *w, struct weigh_plan *plan, uint32_t hop)
{
	const struct dl_torus *t = w->torus;
	uint32_t sw = hop / DL_TORUS_DIRS;
	const uint8_t *ports = dl_torus_group(t, sw, hop % DL_TORUS_DIRS);

	for (uint32_t i = 0; i < dl_torus_group_size(t, sw, hop % DL_TORUS_DIRS); i++)
		plan->out[plan->nout++] =
			t->fabric->nodes[t->fabric->switches[sw]].first_port + ports[i];
}

/* Of each ring the busiest slow hop, if busier than the rest.  Whether there is one. */
static bool weigh_escalate(struct weigh *w, struct weigh_plan *plan)
{
	const struct dl_torus *t = w->torus;
	uint32_t before = plan->nout;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		memset(w->busiest, 0xFF, t->nsites * sizeof(*w->busiest)); /* DL_NONE */
		for (uint32_t site = 0; site < t->nsites; site++) {
			uint32_t *best = &w->busiest[dl_route_ring(&t->grid, site, d)];

			for (unsigned int way = 0; way < 2; way++) {
				unsigned int dir = dl_torus_dir(d, way);
				uint32_t hop = t->site_sw[site] * DL_TORUS_DIRS + dir;

				if (t->site_sw[site] == DL_NONE || !w->slow[hop] ||
				    w->load[hop] <= w->rest ||
				    (*best != DL_NONE && w->load[*best] >= w->load[hop]))
					continue;
				*best = hop;
			}
		}
		for (uint32_t ring = 0; ring < t->nsites; ring++)
			if (w->busiest[ring] != DL_NONE)
				weigh_take_out(w, plan, w->busiest[ring]);
	}
	return plan->nout > before;
}

/*
 * Try a plan, and keep it if it costs less than the best one so far.  Those that bound the
 * result come first: no other one may have a busier channel than any of them.
 */
static int weigh_try(struct weigh *w, struct weigh_plan *plan, struct weigh_plan *best, bool bounds)
{
	uint32_t *own = best->out;
	int err = weigh_trial(w, plan);
	double enough = plan->slow ? plan->cost : GAIN * plan->cost;
	double enough_fifo = plan->slow ? plan->fifo : FIFO_GAIN * plan->fifo;
	bool spares = plan->cost <= w->enough && plan->fifo <= w->enough_fifo;
	bool gains = plan->cost <= GAIN * best->cost && plan->fifo <= FIFO_GAIN * best->fifo;
	bool less = plan->cost < best->cost && plan->held <= best->held * EQUAL;
	bool better = plan->load <= w->limit &&
		      (bounds ? plan->cost <= best->cost * EQUAL || plan->load < w->limit :
				(spares && (gains || less)) || (less && best->slow));

	if (bounds && plan->load < w->limit)
		w->limit = plan->load;
	if (bounds && !plan->alike && enough < w->enough)
		w->enough = enough;
	if (bounds && !plan->alike && enough_fifo < w->enough_fifo)
		w->enough_fifo = enough_fifo;
	if (!err && better) {
		*best = *plan;
		best->out = memcpy(own, plan->out, plan->nout * sizeof(*own));
	}
	return err;
}

/* With these cables out: slow hops spared, some of them out, nothing but turns. */
static int weigh_search_from(struct weigh *w, struct weigh_plan *plan, struct weigh_plan *best,
			     bool bounds)
{
	uint32_t nout = plan->nout;
	int err;

	plan->spared = w->slow;
	err = weigh_try(w, plan, best, bounds);
	/* Without more cables, what took too long already takes longer still. */
	for (unsigned int round = 0;
	     !err && plan->load < INFINITY && round < ROUNDS && weigh_escalate(w, plan); round++)
		err = weigh_try(w, plan, best, bounds);
	plan->nout = nout;
	plan->spared = NULL;
	return err ? err : weigh_try(w, plan, best, bounds);
}

static int weigh_rest(struct weigh *w, struct weigh_plan *plan, struct weigh_plan *best);

static int weigh_search(struct weigh *w, struct weigh_plan *best)
{
	const struct dl_fabric *f = w->torus->fabric;
	struct weigh_plan plan = { .alike = true };
	int err;

	best->load = best->cost = best->fifo = INFINITY;
	w->limit = w->enough = w->enough_fifo = INFINITY;
	/* What cannot go out may be listed in each round. */
	best->out = dl_arena_array(&w->arena, (ROUNDS + 1ul) * f->nports + 1, sizeof(*best->out));
	plan.out = dl_arena_array(&w->arena, (ROUNDS + 1ul) * f->nports + 1, sizeof(*plan.out));
	if (!best->out || !plan.out)
		return -ENOMEM;
	err = weigh_try(w, &plan, best, true);
	/* Where that takes too long, all others do. */
	if (err || plan.load == INFINITY)
		return err;
	for (uint32_t p = 0; p < f->nports; p++)
		if (w->speeds.slow[p] && dl_fabric_joins_switches(f, p) && p < f->ports[p].peer)
			plan.out[plan.nout++] = p;
	err = weigh_try(w, &plan, best, true);
	plan.alike = false;
	if (!err && plan.load < INFINITY)
		err = weigh_search_from(w, &plan, best, true);
	if (!err && plan.load < INFINITY)
		err = weigh_rest(w, &plan, best);
	plan.nout = 0;
	return err ? err : weigh_search_from(w, &plan, best, false);
}

/* Is a faster cable between the same two switches in use? */
static bool weigh_is_beside_faster(const struct weigh *w, const bool *out, uint32_t port)
{
	const struct dl_fabric *f = w->torus->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->ports[port].node];

	for (uint32_t p = n->first_port; p <= n->first_port + n->nports; p++)
		if (dl_fabric_joins_switches(f, p) && !out[p] &&
		    dl_fabric_peer_switch(f, p) == dl_fabric_peer_switch(f, port) &&
		    w->speeds.rate[p] > w->speeds.rate[port])
			return true;
	return false;
}

/*
 * Of the slow cables that share, put out those that are too busy, and if packets wait too long
 * in all, the slowest.  Whether there are any.
 */
static bool weigh_drop(const struct weigh *w, bool *shares, bool crowded, struct weigh_plan *plan)
{
	const struct dl_fabric *f = w->torus->fabric;
	uint32_t before = plan->nout, slowest = UINT32_MAX;

	for (uint32_t p = 0; p < f->nports; p++)
		if (shares[p] && w->speeds.rate[p] < slowest)
			slowest = w->speeds.rate[p];
	for (uint32_t p = 0; p < f->nports; p++)
		if (shares[p] && ((crowded && w->speeds.rate[p] == slowest) ||
				  w->channel[p] > w->limit * EQUAL ||
				  w->channel[f->ports[p].peer] > w->limit * EQUAL)) {
			plan->out[plan->nout++] = p;
			shares[p] = false;
		}
	return plan->nout > before;
}

/* By the square: each packet waits behind others for a slow cable.  Not 0. */
static uint32_t weigh_hold(const struct dl_torus_speeds *s, uint32_t port)
{
	uint64_t rate = s->rate[port];

	if (s->slow[port])
		rate = rate * rate / s->usual[port];
	return rate ? (uint32_t)rate : 1;
}

/*
 * The best plan, but that slow cables beside faster ones have their share: as many as make no
 * channel busier than allowed, and let what the fabric carries be the same but for little.
 */
static int weigh_share(struct weigh *w, struct weigh_plan *best)
{
	const struct dl_fabric *f = w->torus->fabric;
	bool *out = dl_arena_zalloc(&w->arena, f->nports + 1ul);
	bool *shares = dl_arena_zalloc(&w->arena, f->nports + 1ul);
	uint32_t *hold = dl_arena_array(&w->arena, f->nports + 1ul, sizeof(*hold));
	struct weigh_plan plan = *best;
	bool more = best->alike;
	int err = 0;

	plan.out = dl_arena_array(&w->arena, f->nports + best->nout + 1ul, sizeof(*plan.out));
	if (!out || !shares || !hold || !plan.out)
		return -ENOMEM;
	for (uint32_t p = 0; p < f->nports; p++)
		hold[p] = weigh_hold(&w->speeds, p);
	w->hold = hold;
	for (uint32_t i = 0; i < best->nout; i++)
		out[best->out[i]] = out[f->ports[best->out[i]].peer] = true;
	plan.nout = 0;
	plan.alike = false;
	for (uint32_t i = 0; i < best->nout; i++) {
		uint32_t port = best->out[i];

		if (weigh_is_beside_faster(w, out, port))
			more = shares[port] = true;
		else
			plan.out[plan.nout++] = port;
	}
	if (more)
		err = weigh_trial(w, best);
	for (unsigned int round = 0; !err && more && round <= ROUNDS; round++) {
		bool crowded;

		err = weigh_trial(w, &plan);
		crowded = plan.cost > SHARE * best->cost || plan.fifo > SHARE * best->fifo;
		if (!err && !crowded && plan.load <= w->limit * EQUAL) {
			*best = plan;
			return 0;
		}
		more = weigh_drop(w, shares, crowded, &plan);
	}
	return err;
}

/* Which hops have slow cables.  Returns how many cables these are. */
static uint32_t weigh_find_slow(struct weigh *w)
{
	const struct dl_torus *t = w->torus;
	const struct dl_fabric *f = t->fabric;
	uint32_t n = 0;

	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t sw = f->nodes[f->ports[p].node].sw;
		unsigned int dir = t->port_dir[p];

		if (!w->speeds.slow[p] || !dl_fabric_joins_switches(f, p))
			continue;
		n += p < f->ports[p].peer;
		if (dir == DL_TORUS_DIRS)
			continue;
		w->slow[sw * DL_TORUS_DIRS + dir] = true;
	}
	return n;
}

/*
 * What is to be weighed without the cables that a pass avoids; how many cables are slow then,
 * or a negative errno.
 */
static int weigh_begin(struct weigh *w, struct dl_route_pass *used)
{
	const struct dl_torus *t = w->p->torus;
	size_t hops = t->fabric->nswitches * (size_t)DL_TORUS_DIRS + 1;
	int err = used->options->avoid ? dl_route_transit(used) : 0;

	w->torus = used->torus;
	if (!err)
		err = dl_torus_speeds_init(&w->speeds, w->torus->fabric, &t->grid, t->sw_site);
	if (err || !w->speeds.nslow)
		return err;
	w->hold = w->speeds.rate;
	w->slow = dl_arena_array(&w->arena, hops, sizeof(*w->slow));
	w->load = dl_arena_array(&w->arena, hops, sizeof(*w->load));
	w->channel = dl_arena_array(&w->arena, t->fabric->nports + 1ul, sizeof(*w->channel));
	w->held = dl_arena_array(&w->arena, t->fabric->nports + 1ul, sizeof(*w->held));
	w->busiest = dl_arena_array(&w->arena, t->nsites + 1ul, sizeof(*w->busiest));
	w->among = dl_arena_array(&w->arena, t->fabric->nports + 1ul, sizeof(*w->among));
	if (!w->slow || !w->load || !w->channel || !w->held || !w->busiest || !w->among)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->fabric->nports; i++)
		w->among[i] = t->fabric->ports[i].num && t->fabric->ports[i].lid;
	return (int)weigh_find_slow(w);
}

static void weigh_end(struct weigh *w, struct dl_route_pass *used)
{
	dl_arena_free(&used->arena);
	dl_arena_free(&w->arena);
	dl_torus_speeds_release(&w->speeds);
}

/* Add a plan's cables to those that are out, each once; and keep the hops that it spares. */
static int weigh_unite(struct weigh *w, const struct weigh_plan *found, struct weigh_plan *plan)
{
	const struct dl_fabric *f = w->torus->fabric;
	size_t hops = f->nswitches * (size_t)DL_TORUS_DIRS + 1;
	bool *out = dl_arena_zalloc(&w->arena, f->nports + 1ul);
	bool *spared = found->spared ? dl_arena_array(&w->arena, hops, sizeof(*spared)) : NULL;

	if (!out || (found->spared && !spared))
		return -ENOMEM;
	if (spared)
		plan->spared = memcpy(spared, found->spared, hops * sizeof(*spared));
	for (uint32_t i = 0; i < plan->nout; i++)
		out[plan->out[i]] = out[f->ports[plan->out[i]].peer] = true;
	for (uint32_t i = 0; i < found->nout; i++) {
		uint32_t port = found->out[i];

		if (!out[port])
			plan->out[plan->nout++] = port;
		out[port] = out[f->ports[port].peer] = true;
	}
	plan->alike = found->alike;
	return 0;
}

/* Without the slow cables, which are out, others may be slow: as if these were all there are. */
static int weigh_rest(struct weigh *w, struct weigh_plan *plan, struct weigh_plan *best)
{
	struct dl_route_options o = *w->p->options;
	struct dl_route_pass p = *w->p, used;
	struct dl_route_avoided *avoided = NULL;
	struct weigh rest = { .p = &p, .torus = p.torus };
	struct weigh_plan found = { .load = INFINITY };
	bool more = false;
	int err = dl_route_avoid_add(o.avoid, p.whole->fabric, plan->out, plan->nout, &avoided);

	o.avoid = avoided;
	p.options = &o;
	used = p;
	/* Where each of them is the only way, nothing is left out. */
	for (uint32_t i = 0; i < plan->nout && !err; i++)
		more |= avoided->cut[plan->out[i]];
	if (more)
		err = weigh_begin(&rest, &used);
	if (err > 0)
		err = weigh_search(&rest, &found);
	if (!err && found.load < INFINITY)
		err = weigh_unite(w, &found, plan);
	if (!err && found.load < INFINITY)
		err = weigh_try(w, plan, best, true);
	plan->spared = NULL;
	plan->alike = false;
	weigh_end(&rest, &used);
	dl_route_avoided_free(avoided);
	return err;
}

/* ---- the whole ----------------------------------------------------------- */

/* Does any packet cross this cable by the tables, unicast or multicast? */
static bool weigh_is_used(const struct dl_route_result *r, uint32_t port)
{
	const struct dl_route_avoided_item item = { .port = port };
	uint32_t peer = r->tables->fabric->ports[port].peer, i = 0;
	uint32_t n = r->tree ? r->tree->cable_first[r->tree->nswitches] : 0;

	while (i < n && r->tree->cables[i] != port && r->tree->cables[i] != peer)
		i++;
	return i < n || dl_route_avoid_count(&item, r->tables).entries;
}

/* By the tables: what a plan takes out may be the only way, and what stays may be idle. */
static void weigh_report(const struct weigh *w, uint32_t n)
{
	const struct dl_fabric *f = w->torus->fabric;
	uint32_t unused = 0;

	for (uint32_t p = 0; p < f->nports; p++) {
		if (!w->speeds.slow[p] || !dl_fabric_joins_switches(f, p) || p > f->ports[p].peer ||
		    weigh_is_used(w->p->out, p))
			continue;
		unused++;
		dl_log(w->p->log, DL_LOG_VERBOSE, "not used: cable \"%s\" port %u",
		       dl_fabric_node_name(f, f->ports[p].node), f->ports[p].num);
	}
	dl_log(w->p->log, DL_LOG_INFO,
	       "%u cable%s between switches slower than others of their kind: %u not used", n,
	       n == 1 ? "" : "s", unused);
}

int dl_route_weigh(struct dl_route_pass *p)
{
	struct dl_route_pass used = *p;
	struct weigh w = { .p = p, .torus = p->torus };
	struct weigh_plan best = { .load = INFINITY };
	int n = dl_route_input_sound(p) ? weigh_begin(&w, &used) : 0;
	int err = n < 0 ? n : 0;

	if (n > 0)
		err = weigh_search(&w, &best);
	if (!err && n > 0 && best.load < INFINITY)
		err = weigh_share(&w, &best);
	if (!err && n > 0 && best.load < INFINITY) {
		err = weigh_route(&w, &best, false, p->out);
		if (!err)
			weigh_report(&w, n);
	} else if (!err) {
		err = dl_route_once(p);
	}
	weigh_end(&w, &used);
	return err;
}
