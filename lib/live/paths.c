/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The path SLs of a running fabric, asked of the subnet administrator one
 * pair at a time (IBA volume 1, 15.2.5.16).
 *
 * Problem.  Pairs grow with the square of the fabric, and OpenSM answers some
 * 10,000 questions a second.  Nothing but its answers is known for sure, so
 * `paths` says whether all pairs are asked for, those of adapters, or none.  By
 * default all are, up to DL_LIVE_PATHS_SWITCHES switches: with 16 adapters at
 * each, 4.7 million pairs, which take 8 minutes.  Above, none are, and the
 * snapshot is partial.
 *
 * A subnet manager that does not answer at all is found out by the first
 * question, not by a million of them.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "live/internal.h"

#define COMP_DLID (1u << 4) /* components of a PathRecord */
#define COMP_SLID (1u << 5)
#define COMP_NUMPATH (1u << 12)

struct pairs {
	struct dl_live *l;
	struct dl_tables *t;
	uint32_t *ends; /* sources, port indices */
	uint32_t nends;
	uint16_t *lids; /* destinations */
	uint32_t nlids;
	bool first_only; /* only the first pair, to try */
	uint64_t refused, silent;
};

/* ---- pairs ------------------------------------------------------------- */

static void ask_for(const struct pairs *p, struct dl_live_query *q, uint32_t src, uint16_t lid)
{
	q->service = DL_LIVE_SA;
	q->to = p->l->sm;
	q->attr = IB_SA_ATTR_PATHRECORD;
	q->mask = COMP_DLID | COMP_SLID | COMP_NUMPATH;
	mad_set_field(q->data, 0, IB_SA_PR_DLID_F, lid);
	mad_set_field(q->data, 0, IB_SA_PR_SLID_F, p->l->f->ports[src].lid);
	mad_set_field(q->data, 0, IB_SA_PR_NPATH_F, 1);
}

static bool next_pair(void *context, uint32_t at[2], struct dl_live_query *q)
{
	struct pairs *p = context;
	const struct dl_fabric *f = p->l->f;

	for (; at[0] < p->nends; at[0]++, at[1] = 0) {
		while (at[1] < p->nlids) {
			uint32_t src = p->ends[at[0]], dst = at[1]++;
			uint16_t lid = p->lids[dst];

			if (f->lid_port[lid] == src || (p->first_only && (at[0] || dst > 1)))
				continue;
			ask_for(p, q, src, lid);
			q->key[0] = at[0];
			q->key[1] = dst;
			return true;
		}
	}
	return false;
}

static void answer_pair(void *context, const struct dl_live_query *q, int status)
{
	struct pairs *p = context;

	p->refused += status > 0;
	p->silent += status == DL_LIVE_SILENT;
	if (!status)
		p->t->psl[q->key[0] * (size_t)p->nlids + q->key[1]] =
			mad_get_field((void *)q->data, 0, IB_SA_PR_SL_F);
}

static int paths_ask(struct pairs *p, bool first_only)
{
	const struct dl_live_queries list = { "path SLs", p, next_pair, answer_pair };

	p->first_only = first_only;
	return dl_live_mads_run(p->l->mads, &list);
}

/* Sources and destinations, as the options want them. */
static int paths_choose(struct pairs *p)
{
	const struct dl_fabric *f = p->l->f;
	bool adapters = p->l->o.paths == DL_LIVE_PATHS_ADAPTERS;

	p->ends = malloc((f->nports + 1) * sizeof(*p->ends));
	p->lids = malloc((f->top_lid + 1) * sizeof(*p->lids));
	if (!p->ends || !p->lids)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nports; i++)
		if (dl_fabric_is_end_port(f, i) && f->ports[i].lid &&
		    (f->ports[i].num || !adapters))
			p->ends[p->nends++] = i;
	for (uint32_t lid = 1; lid <= f->top_lid; lid++)
		if (f->lid_port[lid] != DL_NONE && (f->ports[f->lid_port[lid]].num || !adapters))
			p->lids[p->nlids++] = lid;
	return 0;
}

/* A snapshot without path SLs is still worth having. */
static void forget_path_sls(const struct pairs *p)
{
	struct dl_tables *t = p->t;

	free(t->psl);
	free(t->psl_src);
	free(t->psl_dst);
	t->psl = NULL;
	t->psl_src = t->psl_dst = NULL;
	t->npsl_src = t->npsl_dst = 0;
	dl_log(p->l->log, DL_LOG_WARNING,
	       "the subnet administrator at LID %u does not answer: path SLs are left out",
	       p->l->sm.lid);
	dl_live_gap(p->l, "path SLs: the subnet administrator at LID %u does not answer",
		    p->l->sm.lid);
}

static int ask_all(struct pairs *p)
{
	struct dl_tables *t = p->t;
	int err = dl_tables_new_psl(t, p->nends, p->nlids);

	if (err)
		return err;
	for (uint32_t i = 0; i < p->nends; i++)
		t->psl_src[p->ends[i]] = i;
	for (uint32_t i = 0; i < p->nlids; i++)
		t->psl_dst[p->lids[i]] = i;
	err = paths_ask(p, true);
	if (err)
		return err;
	if (p->silent) {
		forget_path_sls(p);
		return 0;
	}
	p->refused = 0;
	err = paths_ask(p, false);
	if (p->refused)
		dl_log(p->l->log, DL_LOG_WARNING,
		       "%llu pair%s without a path by the subnet administrator's word",
		       (unsigned long long)p->refused, p->refused == 1 ? "" : "s");
	if (p->silent)
		dl_live_gap(p->l, "path SLs: no answer for %llu pair%s",
			    (unsigned long long)p->silent, p->silent == 1 ? "" : "s");
	return err;
}

/* State that path SLs were not read: nothing that needs them is judged. */
static void paths_leave_out(struct dl_live *l)
{
	dl_log(l->log, DL_LOG_WARNING,
	       "path SLs are not read: %u switches, more than %u; --paths all reads them, which "
	       "takes long",
	       l->f->nswitches, DL_LIVE_PATHS_SWITCHES);
	dl_live_gap(l, "path SLs: not read: %u switches, more than %u", l->f->nswitches,
		    DL_LIVE_PATHS_SWITCHES);
}

int dl_live_path_sls(struct dl_live *l, struct dl_tables *t)
{
	struct pairs p = { .l = l, .t = t };
	int err;

	if (l->o.paths == DL_LIVE_PATHS_NONE)
		return 0;
	if (l->o.paths == DL_LIVE_PATHS_SOME && l->f->nswitches > DL_LIVE_PATHS_SWITCHES) {
		paths_leave_out(l);
		return 0;
	}
	if (!l->sm.lid) {
		dl_log(l->log, DL_LOG_WARNING,
		       "the local port knows of no subnet manager: path SLs cannot be asked for");
		dl_live_gap(l, "path SLs: the local port knows of no subnet manager");
		return 0;
	}
	err = paths_choose(&p);
	if (!err)
		err = ask_all(&p);
	free(p.ends);
	free(p.lids);
	return err;
}
