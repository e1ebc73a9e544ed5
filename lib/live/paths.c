/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The path SLs of a running fabric, asked of the subnet administrator one
 * pair at a time (IBA volume 1, 15.2.5.16).
 *
 * Problem.  Pairs grow with the square of the fabric.  Only what a subnet
 * administrator answers is sure, so `paths` tells whether all pairs are asked
 * for, those of adapters, or none.  By itself, all are up to two million pairs;
 * above, path SLs are found from a sample (sample.c), and the snapshot says so.
 *
 * A subnet manager that does not answer at all is found out by the first
 * question, not by a million of them.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/internal.h"
#include "dateline/base.h"

#define COMP_DLID (1u << 4) /* components of a PathRecord */
#define COMP_SLID (1u << 5)
#define COMP_NUMPATH (1u << 12)

struct pairs {
	struct dl_live *l;
	struct dl_tables *t;
	ib_portid_t sm;
	uint32_t *ends; /* sources, port indices */
	uint32_t nends;
	uint16_t *lids; /* destinations */
	uint32_t nlids;
	uint32_t src, dst; /* where the list stands */
	bool first_only;   /* only the first pair, to try */
	uint64_t refused, silent;
};

/* ---- the subnet manager ------------------------------------------------ */

struct sm_query {
	struct pairs *p;
	bool asked, answered;
};

static void rewind_sm(void *context)
{
	((struct sm_query *)context)->asked = false;
}

static bool next_sm(void *context, struct dl_live_query *q)
{
	struct sm_query *x = context;

	if (x->asked)
		return false;
	x->asked = true;
	q->to = x->p->l->self;
	q->attr = IB_ATTR_PORT_INFO;
	return true;
}

static void answer_sm(void *context, const struct dl_live_query *q, enum dl_live_answer how,
		      unsigned int status)
{
	struct sm_query *x = context;
	void *info = (void *)q->data;

	(void)status;
	if (how != DL_LIVE_ANSWERED)
		return;
	x->answered = true;
	x->p->sm.lid = mad_get_field(info, 0, IB_PORT_SMLID_F);
	x->p->sm.sl = mad_get_field(info, 0, IB_PORT_SMSL_F);
	x->p->sm.qp = 1;
	x->p->sm.qkey = IB_DEFAULT_QP1_QKEY;
}

/* The local port knows where the subnet manager is. */
static int find_sm(struct pairs *p)
{
	struct sm_query x = { .p = p };
	struct dl_live_queries list = {
		.what = "subnet manager",
		.context = &x,
		.rewind = rewind_sm,
		.next = next_sm,
		.answer = answer_sm,
	};
	int err = dl_live_mads_run(p->l->mads, &list);

	if (err)
		return err;
	if (x.answered && p->sm.lid)
		return 0;
	dl_log(p->l->log, DL_LOG_WARNING,
	       "the local port knows of no subnet "
	       "manager: path SLs cannot be asked for");
	dl_live_gap(p->l, "path SLs: the local port knows of no subnet "
			  "manager");
	return -ENOTCONN;
}

/* ---- pairs ------------------------------------------------------------- */

static void rewind_pairs(void *context)
{
	struct pairs *p = context;

	p->src = p->dst = 0;
}

static void ask_for(const struct pairs *p, struct dl_live_query *q, uint32_t src, uint16_t lid)
{
	q->service = DL_LIVE_SA;
	q->to = p->sm;
	q->attr = IB_SA_ATTR_PATHRECORD;
	q->mask = COMP_DLID | COMP_SLID | COMP_NUMPATH;
	mad_set_field(q->data, 0, IB_SA_PR_DLID_F, lid);
	mad_set_field(q->data, 0, IB_SA_PR_SLID_F, p->l->f->ports[src].lid);
	mad_set_field(q->data, 0, IB_SA_PR_NPATH_F, 1);
}

static bool next_pair(void *context, struct dl_live_query *q)
{
	struct pairs *p = context;
	const struct dl_fabric *f = p->l->f;

	for (; p->src < p->nends; p->src++, p->dst = 0) {
		while (p->dst < p->nlids) {
			uint32_t src = p->ends[p->src], dst = p->dst++;
			uint16_t lid = p->lids[dst];

			if (f->lid_port[lid] == src || (p->first_only && (p->src || dst > 1)))
				continue;
			ask_for(p, q, src, lid);
			q->key[0] = p->src;
			q->key[1] = dst;
			return true;
		}
	}
	return false;
}

static void answer_pair(void *context, const struct dl_live_query *q, enum dl_live_answer how,
			unsigned int status)
{
	struct pairs *p = context;
	uint8_t *entry = &p->t->psl[q->key[0] * (size_t)p->nlids + q->key[1]];

	(void)status;
	if (how == DL_LIVE_ANSWERED)
		*entry = mad_get_field((void *)q->data, 0, IB_SA_PR_SL_F);
	else if (how == DL_LIVE_REFUSED)
		p->refused++;
	else
		p->silent++;
}

static int ask(struct pairs *p, bool first_only)
{
	struct dl_live_queries list = {
		.what = "path SLs",
		.context = p,
		.rewind = rewind_pairs,
		.next = next_pair,
		.answer = answer_pair,
	};

	p->first_only = first_only;
	return dl_live_mads_run(p->l->mads, &list);
}

/* Sources and destinations, as the options want them. */
static int choose(struct pairs *p)
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

static int no_answer(const struct pairs *p)
{
	dl_log(p->l->log, DL_LOG_WARNING,
	       "the subnet administrator at LID %u does not answer: path SLs are left out",
	       p->sm.lid);
	dl_live_gap(p->l, "path SLs: the subnet administrator at LID %u does not answer",
		    p->sm.lid);
	return -ENOTCONN;
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
	err = ask(p, true);
	if (err)
		return err;
	if (p->silent)
		return no_answer(p);
	p->refused = 0;
	err = ask(p, false);
	if (p->refused)
		dl_log(p->l->log, DL_LOG_WARNING,
		       "%llu pair%s without a path by the subnet administrator's word",
		       (unsigned long long)p->refused, p->refused == 1 ? "" : "s");
	if (p->silent)
		dl_live_gap(p->l, "path SLs: no answer for %llu pair%s",
			    (unsigned long long)p->silent, p->silent == 1 ? "" : "s");
	return err;
}

/* ---- from a sample ----------------------------------------------------- */

/* Numbers by group, each group's side by side. */
struct by_group {
	uint32_t *all, *first; /* those of group g: first[g] to first[g + 1] - 1 */
	uint32_t *groups, n;   /* those with any; what the sample numbers */
};

struct sampled {
	struct pairs *p;
	struct by_group ends; /* by switch: indices into p->ends */
	struct by_group lids; /* by switch and parity: indices into p->lids */
	const struct dl_live_pair *pairs;
	uint32_t npairs, at;
	uint8_t *sls;
};

/* `group`: of each of n numbers, or DL_NONE. */
static int sort_by_group(struct by_group *b, uint32_t ngroups, const uint32_t *group, uint32_t n)
{
	b->all = malloc((n + 1ul) * sizeof(*b->all));
	b->first = calloc(ngroups + 2ul, sizeof(*b->first));
	b->groups = malloc((ngroups + 1ul) * sizeof(*b->groups));
	if (!b->all || !b->first || !b->groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (group[i] != DL_NONE)
			b->first[group[i] + 2]++;
	for (uint32_t g = 2; g < ngroups + 2; g++)
		b->first[g] += b->first[g - 1];
	for (uint32_t i = 0; i < n; i++)
		if (group[i] != DL_NONE)
			b->all[b->first[group[i] + 1]++] = i;
	for (uint32_t g = 0; g < ngroups; g++)
		if (b->first[g] < b->first[g + 1])
			b->groups[b->n++] = g;
	return 0;
}

/*
 * The group of a LID.  Its parity, with which balanced ties go (rules A5), is
 * that of the switch's port and of the LID's place among those of its end port.
 */
static uint32_t group_of_lid(const struct dl_fabric *f, uint16_t lid)
{
	const struct dl_fabric_port *end = &f->ports[f->lid_port[lid]];
	uint32_t sw = dl_fabric_access_switch(f, f->lid_port[lid]);
	unsigned int at = end->num && sw != DL_NONE ? f->ports[end->peer].num : 0;

	return sw == DL_NONE ? DL_NONE : 2 * sw + ((at + lid - end->lid) & 1);
}

static int find_groups(struct sampled *x)
{
	const struct pairs *p = x->p;
	const struct dl_fabric *f = p->l->f;
	uint32_t most = p->nends > p->nlids ? p->nends : p->nlids;
	uint32_t *group = malloc((most + 1ul) * sizeof(*group));
	int err = group ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < p->nends; i++)
		group[i] = dl_fabric_access_switch(f, p->ends[i]);
	if (!err)
		err = sort_by_group(&x->ends, f->nswitches, group, p->nends);
	for (uint32_t i = 0; !err && i < p->nlids; i++)
		group[i] = group_of_lid(f, p->lids[i]);
	if (!err)
		err = sort_by_group(&x->lids, 2 * f->nswitches, group, p->nlids);
	free(group);
	return err;
}

/* One of a group's numbers, by choice. */
static uint32_t chosen(const struct by_group *b, uint32_t group, uint32_t choice)
{
	uint32_t first = b->first[b->groups[group]], n = b->first[b->groups[group] + 1] - first;

	return b->all[first + choice % n];
}

static void rewind_sample(void *context)
{
	((struct sampled *)context)->at = 0;
}

static bool next_in_sample(void *context, struct dl_live_query *q)
{
	struct sampled *x = context;
	const struct dl_live_pair *pair = &x->pairs[x->at];
	const struct pairs *p = x->p;
	uint32_t src, choice;
	uint16_t lid;

	if (x->at == x->npairs)
		return false;
	choice = pair->choice >> 16;
	src = p->ends[chosen(&x->ends, pair->from, pair->choice & 0xFFFF)];
	lid = p->lids[chosen(&x->lids, pair->to, choice)];
	/* A port's packets to itself are nobody's, if there are others. */
	if (p->l->f->lid_port[lid] == src)
		lid = p->lids[chosen(&x->lids, pair->to, choice + 1)];
	ask_for(p, q, src, lid);
	q->key[0] = x->at++;
	return true;
}

static void answer_in_sample(void *context, const struct dl_live_query *q, enum dl_live_answer how,
			     unsigned int status)
{
	struct sampled *x = context;

	(void)status;
	x->p->silent += how == DL_LIVE_SILENT;
	x->sls[q->key[0]] = how == DL_LIVE_ANSWERED ?
				    mad_get_field((void *)q->data, 0, IB_SA_PR_SL_F) :
				    DL_TABLES_NO_SL;
}

static int ask_in_sample(void *context, const struct dl_live_pair *pairs, uint32_t n, uint8_t *sls)
{
	struct sampled *x = context;
	struct dl_live_queries list = {
		.what = "path SLs",
		.context = x,
		.rewind = rewind_sample,
		.next = next_in_sample,
		.answer = answer_in_sample,
	};
	int err;

	x->pairs = pairs;
	x->npairs = n;
	x->sls = sls;
	err = dl_live_mads_run(x->p->l->mads, &list);
	if (!err && x->p->silent)
		err = -ENOTCONN;
	return err;
}

static int store_sample(struct sampled *x)
{
	const struct pairs *p = x->p;
	struct dl_tables *t = p->t;
	const struct by_group *ends = &x->ends, *lids = &x->lids;
	const struct dl_live_sample sample = { ends->n, lids->n, ask_in_sample, x };
	int err = dl_tables_new_psl(t, ends->n, lids->n);

	if (!err)
		err = dl_live_sample(&sample, t->psl);
	for (uint32_t i = 0; !err && i < ends->n; i++)
		for (uint32_t k = ends->first[ends->groups[i]];
		     k < ends->first[ends->groups[i] + 1]; k++)
			t->psl_src[p->ends[ends->all[k]]] = i;
	for (uint32_t i = 0; !err && i < lids->n; i++)
		for (uint32_t k = lids->first[lids->groups[i]];
		     k < lids->first[lids->groups[i] + 1]; k++)
			t->psl_dst[p->lids[lids->all[k]]] = i;
	return err;
}

static void release_groups(struct by_group *b)
{
	free(b->all);
	free(b->first);
	free(b->groups);
}

static int find_from_sample(struct pairs *p, uint64_t npairs)
{
	static const struct dl_live_pair first = { 0, 0, 0 };
	struct sampled x = { .p = p };
	int err = find_groups(&x);
	uint8_t sl;

	/* One question first, as ever. */
	if (!err && x.ends.n && x.lids.n)
		err = ask_in_sample(&x, &first, 1, &sl);
	if (!err)
		err = store_sample(&x);
	if (err == -ENOTCONN)
		no_answer(p);
	if (err == -ENOTSUP) {
		dl_log(p->l->log, DL_LOG_WARNING,
		       "path SLs of %llu pairs do not follow from a sample: left out; "
		       "--paths all asks for each, which takes long",
		       (unsigned long long)npairs);
		dl_live_gap(p->l, "path SLs: they do not follow from a sample of the pairs");
		err = -ENOTCONN;
	}
	if (!err) {
		p->l->sampled = true;
		dl_log(p->l->log, DL_LOG_INFO,
		       "path SLs of %llu pairs follow from a sample: %d further pairs, drawn at "
		       "random, agree",
		       (unsigned long long)npairs, DL_LIVE_SAMPLE_CHECKED);
	}
	release_groups(&x.ends);
	release_groups(&x.lids);
	return err;
}

static void forget_path_sls(struct dl_tables *t)
{
	free(t->psl);
	free(t->psl_src);
	free(t->psl_dst);
	t->psl = NULL;
	t->psl_src = t->psl_dst = NULL;
	t->npsl_src = t->npsl_dst = 0;
}

int dl_live_path_sls(struct dl_live *l, struct dl_tables *t)
{
	struct pairs p = { .l = l, .t = t };
	bool sampled;
	uint64_t n;
	int err;

	if (l->o.paths == DL_LIVE_PATHS_NONE)
		return 0;
	err = choose(&p);
	n = (uint64_t)p.nends * p.nlids;
	sampled = l->o.paths == DL_LIVE_PATHS_SAMPLED ||
		  (l->o.paths == DL_LIVE_PATHS_SOME && n > DL_LIVE_MANY_PAIRS);
	if (!err) {
		err = find_sm(&p);
		if (!err)
			err = sampled ? find_from_sample(&p, n) : ask_all(&p);
		/* A snapshot without path SLs is still worth having. */
		if (err)
			forget_path_sls(t);
		if (err == -ENOTCONN)
			err = 0;
	}
	free(p.ends);
	free(p.lids);
	return err;
}
