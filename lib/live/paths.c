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

#include <stdlib.h>

#include "live/internal.h"

#define COMP_DLID (1u << 4) /* components of a PathRecord */
#define COMP_SLID (1u << 5)
#define COMP_NUMPATH (1u << 12)

struct pairs {
	struct dl_live *l;
	struct dl_tables *t;
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
	const struct pairs *p = context;
	const struct dl_fabric *f = p->l->f;

	for (; at[0] < f->nports; at[0]++, at[1] = 0) {
		uint32_t src = p->t->psl_src[at[0]];

		while (src != DL_NONE && at[1] <= f->top_lid) {
			uint32_t lid = at[1]++, dst = p->t->psl_dst[lid];

			if (dst == DL_NONE || f->lid_port[lid] == at[0] ||
			    (p->first_only && (src || dst > 1)))
				continue;
			ask_for(p, q, at[0], lid);
			q->key[0] = src;
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
		p->t->psl[q->key[0] * (size_t)p->t->npsl_dst + q->key[1]] =
			mad_get_field((void *)q->data, 0, IB_SA_PR_SL_F);
}

/* Is an end port one of those that the options want? */
static bool paths_wanted(const struct dl_live *l, uint32_t port)
{
	return port != DL_NONE && l->f->ports[port].lid && dl_fabric_is_end_port(l->f, port) &&
	       (l->f->ports[port].num || l->o.paths != DL_LIVE_PATHS_ADAPTERS);
}

/* Room for the path SLs, with the sources and destinations. */
static int paths_choose(const struct pairs *p)
{
	const struct dl_fabric *f = p->l->f;
	struct dl_tables *t = p->t;
	uint32_t nsrc = 0, ndst = 0;
	int err;

	for (uint32_t i = 0; i < f->nports; i++)
		nsrc += paths_wanted(p->l, i);
	for (uint32_t lid = 1; lid <= f->top_lid; lid++)
		ndst += paths_wanted(p->l, f->lid_port[lid]);
	err = dl_tables_new_psl(t, nsrc, ndst);
	nsrc = ndst = 0;
	for (uint32_t i = 0; !err && i < f->nports; i++)
		if (paths_wanted(p->l, i))
			t->psl_src[i] = nsrc++;
	for (uint32_t lid = 1; !err && lid <= f->top_lid; lid++)
		if (paths_wanted(p->l, f->lid_port[lid]))
			t->psl_dst[lid] = ndst++;
	return err;
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
	const struct dl_live_queries list = { "path SLs", p, next_pair, answer_pair };
	int err = paths_choose(p);

	p->first_only = true;
	if (!err)
		err = dl_live_mads_run(p->l->mads, &list);
	if (err)
		return err;
	if (p->silent) {
		forget_path_sls(p);
		return 0;
	}
	p->refused = 0;
	p->first_only = false;
	err = dl_live_mads_run(p->l->mads, &list);
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
	return ask_all(&(struct pairs){ .l = l, .t = t });
}
