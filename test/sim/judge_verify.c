/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The full verifier on what the switches hold now: the judge's reference model,
 * and the last word on tables that are to stay.
 *
 * Cables that carry no data are left out, so are dead nodes.  Both must find the
 * same dependencies, as long as no leftover packets are under way, which the
 * verifier knows nothing of.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/verify.h"
#include "judge.h"

static void copy_lids(struct sim *sim)
{
	const struct sim_judge *j = sim->judge;
	uint32_t path;

	for (uint32_t i = 0; i < sim->nports; i++) {
		struct dl_fabric_port *to = &sim->fabric->ports[i];

		if (!dl_fabric_is_end_port(sim->fabric, i))
			continue;
		/* As the judge has it: of a node without a link another's, of two nobody's. */
		to->lid = j->lid[i] && sim_judge_owner(sim, j->lid[i], &path) == i ? j->lid[i] : 0;
		to->lmc = j->lmc[i];
	}
	if (dl_fabric_finish(sim->fabric, NULL))
		sim_die("the LIDs clash");
}

/* The fabric as it carries data now. */
static struct dl_fabric *present_fabric(struct sim *sim)
{
	bool *dead = sim_alloc(sim->nnodes, sizeof(*dead)),
	     *cut = sim_alloc(sim->nports, sizeof(*cut));
	struct dl_fabric *f;

	copy_lids(sim);
	for (uint32_t i = 0; i < sim->nnodes; i++)
		dead[i] = sim->nodes[i].dead || sim->nodes[i].sick;
	for (uint32_t i = 0; i < sim->nports; i++)
		cut[i] = sim->ports[i].peer != DL_NONE && !sim_carries(sim, &sim->ports[i]);
	if (dl_fabric_degrade(sim->fabric, dead, cut, &f))
		sim_die("no memory");
	free(dead);
	free(cut);
	return f;
}

static struct sim_node *node_of(struct sim *sim, const struct dl_fabric *f, uint32_t node)
{
	return &sim->nodes[dl_fabric_find_guid(sim->fabric, f->nodes[node].guid)];
}

static dl_tables_sl2vl_row row_of(const struct sim_port *out, unsigned int in)
{
	const uint8_t *map = out->sl2vl + 8 * in;
	dl_tables_sl2vl_row row = 0;

	for (unsigned int sl = 0; sl < 16; sl++) {
		unsigned int vl = sl & 1 ? map[sl / 2] & 15 : map[sl / 2] >> 4;

		if (vl >= sim_flow_vls(out))
			vl = 15;
		row |= (dl_tables_sl2vl_row)vl << 4 * sl;
	}
	return row;
}

static void copy_switch(struct sim *sim, struct dl_tables *t, uint32_t s)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
	struct sim_node *from = node_of(sim, f, f->switches[s]);

	for (uint32_t lid = 0; lid <= t->top_lid; lid++)
		t->lft[s * (size_t)t->stride + lid] = sim_lft(from, lid);
	for (unsigned int in = 0; in <= n->nports; in++)
		for (unsigned int out = 1; out <= n->nports; out++) {
			int row;

			if (!dl_fabric_in_use(f, n, in) || !dl_fabric_in_use(f, n, out))
				continue;
			row = dl_tables_row(t, row_of(sim_port_at(sim, from, out), in));
			if (row < 0)
				sim_die("no memory");
			t->sl2vl[t->sl2vl_first[s] + in * (n->nports + 1u) + out] = (uint16_t)row;
		}
}

static void copy_group(struct sim *sim, struct dl_tables *t, uint32_t group)
{
	struct dl_tables_mcast_group *g = NULL;
	const struct dl_fabric *f = t->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct sim_node *n = node_of(sim, f, f->switches[s]);

		for (unsigned int o = 0; o <= n->nports; o++) {
			if (!sim_groups_has(n, group, o))
				continue;
			if (!g)
				g = dl_tables_group(t, (uint16_t)(group + DL_TABLES_MCAST_LID));
			if (!g || dl_tables_mask_set(&g->masks, s, o))
				sim_die("no memory");
		}
	}
}

/* The lowest SL that a pair was granted; both QoS levels are checked. */
static void copy_path_sls(struct sim *sim, struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	struct sim_judge *j = sim->judge;

	if (dl_tables_new_psl(t, j->nends, j->nends * SIM_PATHS))
		sim_die("no memory");
	for (uint32_t p = 0; p < f->nports; p++) {
		const struct sim_node *n = node_of(sim, f, f->ports[p].node);
		uint32_t end = j->end_of_port[n->first + f->ports[p].num];

		if (!dl_fabric_is_end_port(f, p) || !f->ports[p].lid)
			continue;
		t->psl_src[p] = end;
		for (uint32_t i = 0; i < 1u << f->ports[p].lmc; i++)
			t->psl_dst[f->ports[p].lid + i] = end * SIM_PATHS + i % SIM_PATHS;
	}
	for (uint32_t i = 0; i < j->nends * j->nends * SIM_PATHS; i++)
		if (j->granted[i])
			t->psl[i] = (uint8_t)__builtin_ctz(j->granted[i]);
}

bool sim_judge_has_leftovers(const struct sim *sim)
{
	return sim->judge->first_leaving < sim->judge->nleaving;
}

/* Are packets sent to a LID that nobody has any more?  The verifier leaves them out. */
static bool is_sent_to_nobody(const struct sim *sim)
{
	bool is = false;

	for (uint32_t lid = 1; lid < sim->judge->ncolumns && !is; lid++) {
		const struct sim_column *c = &sim->judge->columns[lid];

		for (uint32_t p = 0; c->owner == DL_NONE && c->flow.total && p < sim->nports; p++)
			is |= !sim_set_is_empty(&c->flow.total[p]);
	}
	return is;
}

static void find_lost(struct sim *sim, const struct dl_verify_result *v)
{
	static const char *const faults[] = {
		[DL_VERIFY_NO_ENTRY] = "no entry",   [DL_VERIFY_DEAD_PORT] = "dead port",
		[DL_VERIFY_WRONG_END] = "wrong end", [DL_VERIFY_FORWARDING_LOOP] = "circle",
		[DL_VERIFY_NO_VL] = "no VL",	     [DL_VERIFY_UNATTACHED] = "unattached",
		[DL_VERIFY_NO_COPY] = "no copy",     [DL_VERIFY_TWICE] = "two copies",
	};
	const struct dl_verify_lost *l = v->lost;
	const struct dl_fabric *f = v->fabric;
	const char *from, *to, *at;

	if (!v->nlisted)
		return;
	from = dl_fabric_node_name(f, f->ports[l->src].node);
	to = l->dst == DL_NONE ? "the group" : dl_fabric_node_name(f, f->ports[l->dst].node);
	at = l->sw == DL_NONE ? "nowhere" : dl_fabric_node_name(f, f->switches[l->sw]);
	sim_find(sim, SIM_TABLES,
		 "the verifier finds %" PRIu64
		 " pairs undelivered, %u groups; first: %s to %s, LID "
		 "0x%x: %s at %s[%u]",
		 v->nlost, v->groups_lost, from, to, l->dlid, faults[l->fault], at, l->port);
}

static void compare(struct sim *sim, const struct dl_verify_result *v, bool must_deliver)
{
	const struct sim_judge *j = sim->judge;
	bool loop = v->credit_loop,
	     alike = !sim_judge_has_leftovers(sim) && !is_sent_to_nobody(sim);

	/* A sick switch forwards on, which the verifier leaves out. */
	for (uint32_t i = 0; i < sim->nnodes; i++)
		alike &= !sim->nodes[i].sick;
	if (loop && !j->nclosing)
		sim_find(sim, SIM_TWIN, "the verifier finds a credit loop, the judge none");
	if (!loop && j->nclosing && alike)
		sim_find(sim, SIM_TWIN, "the judge finds a credit loop, the verifier none");
	/* The verifier counts packets of unknown SL, too. */
	if (!loop && alike && sim_client_is_done(sim) && v->dependencies != j->dependencies)
		sim_find(sim, SIM_TWIN,
			 "the verifier finds %" PRIu64 " dependencies, the judge %" PRIu64,
			 v->dependencies, j->dependencies);
	sim->loops_kept += loop && !sim->o.promises;
	if (loop && must_deliver && sim->o.promises)
		sim_find(sim, SIM_LOOP, "the tables that stay have a credit loop");
	if (must_deliver && !v->delivered)
		find_lost(sim, v);
}

void sim_judge_verify(struct sim *sim, bool must_deliver)
{
	struct dl_verify_options o;
	struct dl_verify_result *v;
	struct dl_fabric *f;
	struct dl_tables *t;
	int err;

	sim_flow_expire(sim);
	f = present_fabric(sim);
	dl_verify_options_init(&o);
	if (sim->o.any_sl)
		o.sls = DL_VERIFY_ANY_SL;
	o.adapters_only = !sim->switches_granted;
	o.multicast_sls = 0x0101;
	o.levels = 2;
	if (dl_tables_new(f, &t))
		sim_die("no memory");
	for (uint32_t s = 0; s < f->nswitches; s++)
		copy_switch(sim, t, s);
	for (uint32_t g = 0; g < sim->judge->ngroups; g++)
		copy_group(sim, t, g);
	copy_path_sls(sim, t);
	err = dl_verify(t, &o, NULL, &v);
	if (err)
		sim_die("the verifier fails: %s", strerror(-err));
	compare(sim, v, must_deliver);
	if (must_deliver) {
		sim_judge_desk(sim, f, t);
		sim_judge_metrics(sim, f);
	}
	dl_verify_result_free(v);
	dl_tables_free(t);
	dl_fabric_free(f);
}
