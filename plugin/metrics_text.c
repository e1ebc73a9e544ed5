/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Numbers for monitoring, in Prometheus' text format (version 0.0.4): for
 * each metric a line of help, one of its type, and its samples.  Names follow
 * Prometheus' conventions: base units, "_total" on counters, moments as Unix
 * time.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "metrics_text.h"

#define PREFIX "dateline_"

static const char *const stage_names[DL_METRICS_STAGES] = {
	[DL_METRICS_IMPORT] = "import",	  [DL_METRICS_DISCOVERY] = "discovery",
	[DL_METRICS_ROUTING] = "routing", [DL_METRICS_REPAIR] = "repair",
	[DL_METRICS_PROOF] = "proof",	  [DL_METRICS_EXPORT] = "export",
};

static const char *const sweep_names[DL_METRICS_SWEEPS] = {
	[DL_METRICS_ROUTED] = "routed",
	[DL_METRICS_KEPT] = "kept",
	[DL_METRICS_ASIDE] = "aside",
};

static const char *const transition_names[DL_METRICS_TRANSITIONS] = {
	[DL_METRICS_UNCHANGED] = "unchanged",	[DL_METRICS_DIRECT] = "direct",
	[DL_METRICS_PHASED] = "phased",		[DL_METRICS_UNPROVEN] = "unproven",
	[DL_METRICS_UNFINISHED] = "unfinished",
};

static const char *const drain_names[DL_DRAIN_ENDS] = {
	[DL_DRAIN_SEEN] = "seen",
	[DL_DRAIN_BOUND] = "bound",
	[DL_DRAIN_FIXED] = "fixed",
	[DL_DRAIN_UNPROVEN] = "unproven",
};

#define NUMBER(id, name, help) [DL_METRICS_##id] = { name, help }

static const struct {
	const char *name, *help;
} numbers[DL_METRICS_NUMBERS] = {
	NUMBER(SWITCHES, "switches", "Switches found."),
	NUMBER(SWITCHES_EXPECTED, "switches_expected", "Switches of the whole torus."),
	NUMBER(SWITCHES_MISSING, "switches_missing", "Sites of the torus without a switch."),
	NUMBER(SWITCHES_UNPLACED, "switches_unplaced",
	       "Switches that fit nowhere in or beside the torus."),
	NUMBER(SWITCHES_OFF_TORUS, "switches_off_torus",
	       "Switches beside the torus, routed via a switch of it."),
	NUMBER(LINKS, "links", "Cables found between neighbouring sites."),
	NUMBER(LINKS_EXPECTED, "links_expected",
	       "Cables of the whole torus, by the usual number of each "
	       "dimension."),
	NUMBER(LINKS_MISSING, "links_missing",
	       "Cables that the whole torus has and this one lacks."),
	NUMBER(LINKS_UNPLACED, "links_unplaced",
	       "Cables between switches that fit nowhere in or beside the "
	       "torus."),
	NUMBER(HOPS_CUT, "hops_cut",
	       "Pairs of neighbouring switches with no cable left between "
	       "them."),
	NUMBER(ADAPTERS, "adapters", "Channel adapters and routers found."),
	NUMBER(AVOIDED, "avoided", "Cables and switches out of use by the list of avoid=."),
	NUMBER(AVOIDED_UNUSED, "avoided_unused",
	       "Cables and switches out of use that no entry and no group leads across any more."),
	NUMBER(AVOIDED_ONLY_WAY, "avoided_only_way",
	       "Cables and switches on the list that stay in use: the only way to others."),
	NUMBER(ENTRIES, "forwarding_entries", "Entries of the unicast forwarding tables in force."),
	NUMBER(GROUPS, "multicast_groups", "Multicast LIDs in use."),
	NUMBER(GROUP_CAPACITY, "multicast_groups_capacity",
	       "Multicast LIDs that all switches have room for."),
	NUMBER(GROUPS_PER_PORT, "multicast_groups_per_port",
	       "Multicast groups that one port has joined, at most."),
	NUMBER(PAIRS, "pairs",
	       "Pairs of an end port and a LID that the tables in force were "
	       "verified by."),
	NUMBER(UNREACHABLE, "unreachable_pairs",
	       "Pairs of an end port and a LID that it does not reach."),
	NUMBER(DELIVERED, "tables_delivered",
	       "Does every packet arrive, by the tables in force (1 or 0)?"),
	NUMBER(LOOP_FREE, "tables_loop_free",
	       "Are the tables in force free of credit loops (1 or 0)?"),
	NUMBER(SAFE, "tables_safe",
	       "Do the tables in force deliver, free of credit loops (1 or "
	       "0)?"),
	NUMBER(LOST, "repair_lost_switch_pairs",
	       "Pairs of switches that dimension-order routing leaves "
	       "unreachable."),
	NUMBER(CYCLIC, "repair_cyclic_switch_pairs",
	       "Pairs of switches that dimension-order routing leaves in "
	       "credit "
	       "loops."),
	NUMBER(CHANGED, "repair_changed_entries",
	       "Forwarding entries that differ from dimension-order routing."),
	NUMBER(FILLED, "repair_filled_entries", "Forwarding entries filled where a ring is split."),
	NUMBER(REROUTED, "repair_destinations",
	       "Destination switches to which repairs changed the path."),
	NUMBER(TREE_ROUTED, "repair_tree_destinations",
	       "Destination switches that are tree-routed."),
	NUMBER(MOVED, "repair_moved_switches",
	       "Switches that repairs moved in the multicast tree."),
	NUMBER(TIMED_OUT, "repair_timed_out", "Did the time for repairs run out (1 or 0)?"),
};

/* ---- counting ---------------------------------------------------------- */

void dl_metrics_init(struct dl_metrics *m, enum dl_route_mode mode)
{
	memset(m, 0, sizeof(*m));
	m->mode = mode;
	memset(m->number, 0xFF, sizeof(m->number));
	m->number[DL_METRICS_AVOIDED] = m->number[DL_METRICS_AVOIDED_UNUSED] = 0;
	m->number[DL_METRICS_AVOIDED_ONLY_WAY] = 0;
	m->transition.result = DL_METRICS_TRANSITIONS;
}

static void metrics_count_hops(struct dl_metrics *m, const struct dl_torus *t, unsigned int dim,
			       uint32_t usual)
{
	unsigned int dir = dl_torus_dir(dim, false);
	uint32_t site, next, sw, n;

	for (site = 0; site < t->nsites; site++) {
		next = dl_torus_site_next(&t->grid, site, dir);
		if (next == DL_NONE)
			continue;
		sw = t->site_sw[site];
		n = sw == DL_NONE ? 0 : dl_torus_group_size(t, sw, dir);
		if (n < usual)
			m->number[DL_METRICS_LINKS_MISSING] += usual - n;
		if (!n && sw != DL_NONE && t->site_sw[next] != DL_NONE)
			m->number[DL_METRICS_HOPS_CUT]++;
	}
}

void dl_metrics_torus(struct dl_metrics *m, const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint64_t *n = m->number;
	bool nearly_all;
	uint32_t cables;
	unsigned int d;

	n[DL_METRICS_SWITCHES] = f->nswitches;
	n[DL_METRICS_SWITCHES_EXPECTED] = t->nsites;
	n[DL_METRICS_SWITCHES_MISSING] = t->nsites - t->nplaced;
	n[DL_METRICS_SWITCHES_UNPLACED] = dl_torus_count_unplaceable(t, &cables);
	n[DL_METRICS_SWITCHES_OFF_TORUS] = t->nunplaced - n[DL_METRICS_SWITCHES_UNPLACED];
	n[DL_METRICS_ADAPTERS] = f->nnodes - f->nswitches;
	n[DL_METRICS_LINKS] = t->nlinks;
	n[DL_METRICS_LINKS_UNPLACED] = cables;
	n[DL_METRICS_LINKS_MISSING] = 0;
	n[DL_METRICS_HOPS_CUT] = 0;
	for (d = 0; d < DL_TORUS_DIMS; d++) {
		m->radix[d] = t->grid.radix[d];
		metrics_count_hops(m, t, d, dl_torus_usual_cables(t, d, &nearly_all));
	}
	n[DL_METRICS_LINKS_EXPECTED] = t->nlinks + n[DL_METRICS_LINKS_MISSING];
}

void dl_metrics_no_tables(struct dl_metrics *m)
{
	unsigned int i;

	for (i = DL_METRICS_TABLES; i < DL_METRICS_NUMBERS; i++)
		m->number[i] = DL_METRICS_UNKNOWN;
}

static uint64_t count_entries(const struct dl_tables *t)
{
	uint64_t n = 0;
	uint32_t s, lid;

	for (s = 0; s < t->fabric->nswitches; s++) {
		const uint8_t *row = t->lft + s * (size_t)t->stride;

		for (lid = 1; lid <= t->top_lid; lid++)
			n += row[lid] != DL_TABLES_NO_PORT;
	}
	return n;
}

void dl_metrics_verdict(struct dl_metrics *m, const struct dl_verify_result *v)
{
	uint64_t *n = m->number;

	n[DL_METRICS_PAIRS] = v->pairs;
	n[DL_METRICS_UNREACHABLE] = v->nlost;
	n[DL_METRICS_DELIVERED] = v->delivered;
	n[DL_METRICS_LOOP_FREE] = v->verdict == DL_VERIFY_FREE;
	n[DL_METRICS_SAFE] = v->delivered && v->verdict == DL_VERIFY_FREE;
}

void dl_metrics_tables(struct dl_metrics *m, const struct dl_tables *t,
		       const struct dl_route_report *report)
{
	const struct dl_verify_result good = {
		.delivered = true,
		.pairs = report ? report->pairs : 0,
	};
	uint64_t *n = m->number;

	dl_metrics_no_tables(m);
	n[DL_METRICS_ENTRIES] = count_entries(t);
	n[DL_METRICS_GROUPS] = t->ngroups;
	if (!report)
		return;
	dl_metrics_verdict(m, &good);
	n[DL_METRICS_LOST] = report->lost;
	n[DL_METRICS_CYCLIC] = report->cyclic;
	n[DL_METRICS_CHANGED] = report->entries_changed;
	n[DL_METRICS_FILLED] = report->entries_filled;
	n[DL_METRICS_REROUTED] = report->rerouted;
	n[DL_METRICS_TREE_ROUTED] = report->tree_routed;
	n[DL_METRICS_MOVED] = report->moved;
	n[DL_METRICS_TIMED_OUT] = report->timed_out;
}

void dl_metrics_count_sweep(struct dl_metrics *m, enum dl_metrics_sweep_result what, double now)
{
	unsigned int i;

	m->sweeps[what]++;
	m->sweep_end = now;
	if (what == DL_METRICS_ROUTED) {
		m->routed = now;
		m->refusal = NULL;
	}
	for (i = 0; i < DL_METRICS_STAGES; i++)
		m->stage_total[i] += m->stage[i];
}

/* ---- the text ---------------------------------------------------------- */

static void metrics_head(FILE *to, const char *name, const char *type, const char *help)
{
	fprintf(to, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name, help, name, type);
}

static void metrics_gauge(FILE *to, const char *name, const char *help, uint64_t value)
{
	metrics_head(to, name, "gauge", help);
	fprintf(to, PREFIX "%s %" PRIu64 "\n", name, value);
}

/* A moment; 0, long ago, for one that never was: rules can subtract it. */
static void metrics_moment(FILE *to, const char *name, const char *help, double value)
{
	metrics_head(to, name, "gauge", help);
	fprintf(to, PREFIX "%s %.3f\n", name, value);
}

static void metrics_stages(FILE *to, const char *name, const char *type, const char *help,
			   const double *seconds)
{
	unsigned int i;

	metrics_head(to, name, type, help);
	for (i = 0; i < DL_METRICS_STAGES; i++)
		fprintf(to, PREFIX "%s{stage=\"%s\"} %.9f\n", name, stage_names[i], seconds[i]);
}

static void print_sweeps(const struct dl_metrics *m, FILE *to)
{
	unsigned int i;

	metrics_head(to, "sweeps_total", "counter",
		     "Sweeps in which OpenSM asked for "
		     "a routing, by what became of them.");
	for (i = 0; i < DL_METRICS_SWEEPS; i++)
		fprintf(to, PREFIX "sweeps_total{result=\"%s\"} %" PRIu64 "\n", sweep_names[i],
			m->sweeps[i]);
	metrics_gauge(to, "last_sweep_routed",
		      "Was the fabric routed when OpenSM "
		      "last asked (1 or 0)?",
		      m->sweep_end > 0 && !m->refusal);
	if (m->refusal) {
		metrics_head(to, "refusal_info", "gauge",
			     "Why the last sweep was "
			     "refused: see osmdateline(8).");
		fprintf(to, PREFIX "refusal_info{error=\"%s\"} 1\n", m->refusal);
	}
	metrics_moment(to, "sweep_start_timestamp_seconds", "When the last heavy sweep began.",
		       m->sweep_start);
	metrics_moment(to, "last_sweep_timestamp_seconds", "When OpenSM last asked for a routing.",
		       m->sweep_end);
	metrics_moment(to, "last_success_timestamp_seconds", "When the fabric was last routed.",
		       m->routed);
	metrics_moment(to, "subnet_up_timestamp_seconds", "When the last heavy sweep ended.",
		       m->subnet_up);
	metrics_stages(to, "stage_seconds", "gauge", "Time that the last sweep took, by stage.",
		       m->stage);
	metrics_stages(to, "stage_seconds_total", "counter", "Time that all sweeps took, by stage.",
		       m->stage_total);
}

static void print_transition(const struct dl_metrics_transition *t, FILE *to)
{
	metrics_head(to, "transitions_total", "counter",
		     "Changes of the switches' tables, by how they were made.");
	for (unsigned int i = 0; i < DL_METRICS_TRANSITIONS; i++)
		fprintf(to, PREFIX "transitions_total{result=\"%s\"} %" PRIu64 "\n",
			transition_names[i], t->total[i]);
	metrics_head(to, "transition_waits_total", "counter",
		     "Waits for packets that met old entries, by how they ended.");
	for (unsigned int i = DL_DRAIN_NONE + 1; i < DL_DRAIN_ENDS; i++)
		fprintf(to, PREFIX "transition_waits_total{end=\"%s\"} %" PRIu64 "\n",
			drain_names[i], t->drains[i]);
	metrics_gauge(to, "transition_phases",
		      "Steps of the last change; 0: nothing to write, or unproven.", t->phases);
	metrics_gauge(to, "transition_closed_entries", "Forwarding entries closed meanwhile.",
		      t->entries_closed);
	metrics_gauge(to, "transition_written_blocks",
		      "Blocks of forwarding tables written in these steps.", t->blocks);
	metrics_gauge(
		to, "transition_interrupted_pairs",
		"Pairs that the tables before and after deliver, and the closed ones did not.",
		t->pairs_interrupted);
	metrics_head(to, "transition_closed_seconds", "gauge", "How long entries were closed.");
	fprintf(to, PREFIX "transition_closed_seconds %.9f\n", t->closed_seconds);
}

int dl_metrics_print(const struct dl_metrics *m, FILE *to)
{
	unsigned int i;

	metrics_head(to, "info", "gauge", "Version and mode.");
	fprintf(to, PREFIX "info{version=\"" PACKAGE_VERSION "\",mode=\"%s\"} 1\n",
		dl_route_mode_name(m->mode));
	metrics_gauge(to, "up", "Is OpenSM running with the plugin (1 or 0)?", m->up);
	metrics_gauge(to, "master", "Is it the master subnet manager (1 or 0)?", m->master);
	metrics_head(to, "smps_sent_total", "counter", "Subnet management packets sent.");
	fprintf(to, PREFIX "smps_sent_total %" PRIu64 "\n", m->smps);
	metrics_head(to, "snapshots_dropped_total", "counter",
		     "Snapshots for dump_dir left out for newer ones.");
	fprintf(to, PREFIX "snapshots_dropped_total %" PRIu64 "\n", m->snapshots_dropped);
	print_sweeps(m, to);
	print_transition(&m->transition, to);
	if (m->radix[0]) {
		metrics_head(to, "torus_radix", "gauge", "Size of the torus, by dimension.");
		for (i = 0; i < DL_TORUS_DIMS; i++)
			fprintf(to, PREFIX "torus_radix{dimension=\"%c\"} %" PRIu32 "\n", 'x' + i,
				m->radix[i]);
	}
	for (i = 0; i < DL_METRICS_NUMBERS; i++)
		if (m->number[i] != DL_METRICS_UNKNOWN)
			metrics_gauge(to, numbers[i].name, numbers[i].help, m->number[i]);
	return fflush(to) || ferror(to) ? -EIO : 0;
}

/* ---- the file ---------------------------------------------------------- */

int dl_metrics_write(const struct dl_metrics *m, const char *path)
{
	struct dl_file f;
	int err = dl_file_begin(&f, path);

	if (err)
		return err;
	/* Everybody may read it, whatever the process' umask. */
	err = fchmod(fileno(f.to), 0644) ? -errno : dl_metrics_print(m, f.to);
	err = dl_file_finish(&f, err);
	return err ? err : dl_file_place(&f);
}
