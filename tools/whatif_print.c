/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the scenarios of a campaign add up to; see whatif.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"
#include "dateline/torus.h"
#include "whatif.h"

#define MAX_LISTED 100 /* lost scenarios that are listed */

/* A quantity over all scenarios that proven mode routes. */
struct spread {
	double sum, max;
};

struct sums {
	uint64_t samples, connected, accepted, safe;
	uint64_t proven, repaired, lost, along_tree, unplaced;
	uint64_t compared; /* scenarios with a load of the plain rule */
	struct spread changed, filled; /* entries */
	struct spread moved;	       /* switches in the tree */
	struct spread hops;	       /* per cent above the plain rule */
	struct spread busiest;	       /* as a ratio to the plain rule */
	struct spread common;	       /* ... for those pairs that it serves */
	double seconds[WHATIF_STAGES];
};

static const char *const stage_names[WHATIF_STAGES] = {
	[WHATIF_DEGRADE] = "damage",  [WHATIF_DISCOVER] = "discover",
	[WHATIF_CLASSIC] = "classic", [WHATIF_VERIFY] = "verify",
	[WHATIF_PROVEN] = "proven",   [WHATIF_LOAD] = "load",
};

static void add(struct spread *s, double x, bool first)
{
	s->sum += x;
	if (first || x > s->max)
		s->max = x;
}

static void add_proven(struct sums *s, const struct whatif_outcome *o)
{
	bool first = !s->proven++;

	s->repaired += o->repaired;
	s->along_tree += o->along_tree > 0;
	add(&s->changed, o->changed, first);
	add(&s->filled, o->filled, first);
	add(&s->moved, o->moved, first);
	if (!o->plain_busiest || o->plain_hops <= 0)
		return;
	first = !s->compared++;
	add(&s->hops, 100 * (o->hops / o->plain_hops - 1), first);
	add(&s->busiest, (double)o->busiest / o->plain_busiest, first);
	add(&s->common, (double)o->common_busiest / o->plain_busiest, first);
}

static void add_outcome(struct sums *s, const struct whatif_outcome *o)
{
	int i;

	s->samples++;
	for (i = 0; i < WHATIF_STAGES; i++)
		s->seconds[i] += o->seconds[i];
	if (!o->connected)
		return;
	s->connected++;
	s->accepted += o->accepted;
	s->safe += o->safe;
	s->unplaced += o->unplaced > 0;
	if (o->proven)
		add_proven(s, o);
	else
		s->lost++;
}

static double mean(const struct spread *s, uint64_t n)
{
	return n ? s->sum / n : 0;
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *spread_json(const struct spread *s, uint64_t n)
{
	return json_pack("{s:f, s:f}", "mean", mean(s, n), "max", s->max);
}

static json_t *coord_json(const struct dl_torus *t, uint32_t sw)
{
	uint32_t c[DL_TORUS_DIMS];

	dl_torus_site_coord(&t->grid, t->sw_site[sw], c);
	return json_pack("[i, i, i]", (int)c[0], (int)c[1], (int)c[2]);
}

static json_t *cable_json(const struct dl_torus *t, uint32_t port)
{
	uint32_t sw = t->fabric->nodes[t->fabric->ports[port].node].sw;
	char dir[] = { '+', "xyz"[dl_torus_dir_dim(t->port_dir[port])], '\0' };
	json_t *cable = coord_json(t, sw);

	if (cable && json_array_append_new(cable, json_string(dir))) {
		json_decref(cable);
		return NULL;
	}
	return cable;
}

static json_t *lost_json(const struct whatif *w, struct whatif_failures *f,
			 const struct whatif_outcome *o, uint64_t item)
{
	const struct dl_torus *t = w->whole.torus;
	json_t *switches = json_array(), *links = json_array();
	uint32_t i;
	int err = 0;

	whatif_failures_draw(f, w, item);
	for (i = 0; i < f->nswitches; i++)
		err |= json_array_append_new(switches,
					     coord_json(t, f->switches[i]));
	for (i = 0; i < f->ncables; i++)
		err |= json_array_append_new(links,
					     cable_json(t, f->cables[i]));
	if (err) {
		json_decref(switches);
		json_decref(links);
		return NULL;
	}
	return json_pack("{s:I, s:o, s:o, s:s}", "sample", (json_int_t)item,
			 "switches", switches, "links", links, "reason",
			 o->reason);
}

static json_t *list_lost(const struct whatif *w,
			 const struct whatif_outcome *outcomes,
			 const bool *done)
{
	json_t *list = json_array();
	struct whatif_failures f;
	uint64_t i;
	int err = whatif_failures_init(&f, w);

	for (i = 0; !err && i < w->nitems && json_array_size(list) < MAX_LISTED;
	     i++)
		if (done[i] && outcomes[i].connected && !outcomes[i].proven)
			err = json_array_append_new(
				list, lost_json(w, &f, &outcomes[i], i));
	whatif_failures_release(&f);
	if (err) {
		json_decref(list);
		return NULL;
	}
	return list;
}

static json_t *stages_json(const struct sums *s)
{
	json_t *o = json_object();
	int i;

	for (i = 0; i < WHATIF_STAGES; i++)
		json_object_set_new(o, stage_names[i],
				    json_real(s->seconds[i]));
	return o;
}

static json_t *document(const struct whatif *w, const struct sums *s,
			json_t *lost, double seconds, bool interrupted)
{
	return json_pack(
		"{s:I, s:b, s:I, s:b, s:I, s:{s:I, s:I}, "
		"s:{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}, "
		"s:I, s:o, s:f, s:o}",
		"samples", (json_int_t)s->samples, "exhaustive",
		(int)w->exhaustive, "seed", (json_int_t)w->seed, "interrupted",
		(int)interrupted, "connected", (json_int_t)s->connected,
		"classic", "accepted", (json_int_t)s->accepted, "safe",
		(json_int_t)s->safe, "proven", "accepted",
		(json_int_t)s->proven, "repaired", (json_int_t)s->repaired,
		"lost", (json_int_t)s->lost, "with_tree_routes",
		(json_int_t)s->along_tree, "entries_changed",
		spread_json(&s->changed, s->proven), "entries_filled",
		spread_json(&s->filled, s->proven), "tree_switches_moved",
		spread_json(&s->moved, s->proven), "added_hops_percent",
		spread_json(&s->hops, s->compared), "busiest_channel_ratio",
		spread_json(&s->common, s->compared),
		"busiest_channel_ratio_all_pairs",
		spread_json(&s->busiest, s->compared), "with_unplaced_switches",
		(json_int_t)s->unplaced, "lost", lost, "seconds", seconds,
		"cpu_seconds", stages_json(s));
}

/* ---- for people ---------------------------------------------------------- */

static void print_text(const struct whatif *w, const struct sums *s,
		       double seconds)
{
	int i;

	printf("%" PRIu64
	       " %s of %u failed switches and %u failed cables, %" PRIu64
	       " of them connected\n",
	       s->samples, w->exhaustive ? "sets" : "random sets",
	       w->fail_switches, w->fail_cables, s->connected);
	printf("\n%-28s%10s%10s\n", "", "accepted", "safe");
	printf("%-28s%10" PRIu64 "%10" PRIu64 "\n", "classic mode", s->accepted,
	       s->safe);
	printf("%-28s%10" PRIu64 "%10" PRIu64 "\n", "proven mode", s->proven,
	       s->proven);
	printf("\nProven mode repaired %" PRIu64 ", %" PRIu64 " of them with "
	       "destinations along the tree, and lost %" PRIu64 ".\n",
	       s->repaired, s->along_tree, s->lost);
	printf("\n%-36s%12s%12s\n", "against the plain rule", "mean", "most");
	printf("%-36s%12.1f%12.0f\n", "forwarding entries changed",
	       mean(&s->changed, s->proven), s->changed.max);
	printf("%-36s%12.1f%12.0f\n", "entries filled at rings cut in two",
	       mean(&s->filled, s->proven), s->filled.max);
	printf("%-36s%12.1f%12.0f\n", "switches moved in the tree",
	       mean(&s->moved, s->proven), s->moved.max);
	printf("%-36s%12.2f%12.2f\n", "added hops, %",
	       mean(&s->hops, s->compared), s->hops.max);
	printf("%-36s%12.3f%12.3f\n", "load of the busiest channel, ratio",
	       mean(&s->common, s->compared), s->common.max);
	printf("%-36s%12.3f%12.3f\n", "... with all other pairs, too",
	       mean(&s->busiest, s->compared), s->busiest.max);
	printf("\n%.1f scenarios a second.  CPU seconds:",
	       seconds > 0 ? s->samples / seconds : 0);
	for (i = 0; i < WHATIF_STAGES; i++)
		printf(" %s %.2f%s", stage_names[i], s->seconds[i],
		       i + 1 < WHATIF_STAGES ? "," : "\n");
}

static void report_lost(const struct tool *tool, const struct whatif *w,
			const struct whatif_outcome *outcomes, const bool *done)
{
	uint64_t i;

	for (i = 0; i < w->nitems; i++)
		if (done[i] && outcomes[i].connected && !outcomes[i].proven)
			dl_log(&tool->log, DL_LOG_WARNING,
			       "scenario %" PRIu64 " is lost: %s", i,
			       outcomes[i].reason);
}

int whatif_print(const struct tool *tool, const struct whatif *w,
		 const struct whatif_outcome *outcomes, const bool *done,
		 double seconds, bool interrupted)
{
	struct sums s = { 0 };
	uint64_t i;

	for (i = 0; i < w->nitems; i++)
		if (done[i])
			add_outcome(&s, &outcomes[i]);
	if (interrupted)
		dl_log(&tool->log, DL_LOG_WARNING,
		       "interrupted: %" PRIu64 " of %" PRIu64
		       " scenarios were tried",
		       s.samples, w->nitems);
	if (tool->json)
		return tool_print_json(
			tool, document(w, &s, list_lost(w, outcomes, done),
				       seconds, interrupted));
	report_lost(tool, w, outcomes, done);
	print_text(w, &s, seconds);
	return 0;
}
