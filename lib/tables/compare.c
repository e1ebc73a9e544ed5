/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two sets of tables compared, part by part, between what both fabrics have.
 *
 * Nothing is compared that either side does not know or have.  Forwarding entries are
 * compared LID by LID where LIDs have moved; within one fabric callers go from change
 * to change (dl_tables_next_change()).  Path SLs are compared by pairs of classes: ports
 * that share their class on both sides count together.
 *
 * Complexity: one look at each entry of a part; path SLs: pairs of classes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/tables.h"

/* ---- forwarding --------------------------------------------------------- */

int dl_tables_compare_lfts(const struct dl_tables *a, const struct dl_tables *b,
			   const struct dl_fabric_match *m, uint32_t *by_lid, uint32_t *by_switch,
			   struct dl_tables_changes *out)
{
	const struct dl_fabric *f = a->fabric;
	uint16_t *there = malloc((f->top_lid + 1u) * sizeof(*there));

	*out = (struct dl_tables_changes){ 0 };
	if (!there)
		return -ENOMEM;
	memset(by_lid, 0, (f->top_lid + 1u) * sizeof(*by_lid));
	memset(by_switch, 0, f->nswitches * sizeof(*by_switch));
	for (uint32_t lid = 1; lid <= f->top_lid; lid++)
		there[lid] = dl_fabric_match_lid(m, lid);
	for (uint32_t s = 0; s < f->nswitches; s++) {
		uint32_t t = dl_fabric_match_switch(m, s);

		for (uint32_t lid = 1; t != DL_NONE && lid <= f->top_lid; lid++) {
			bool differs;

			if (!there[lid])
				continue;
			differs = dl_tables_lft(a, s, lid) != dl_tables_lft(b, t, there[lid]);
			out->compared++;
			by_lid[lid] += differs;
			by_switch[s] += differs;
		}
		out->changed += by_switch[s];
	}
	free(there);
	return 0;
}

/* ---- maps and arbitration ----------------------------------------------- */

static void compare_row(const struct dl_tables *a, uint16_t x, const struct dl_tables *b,
			uint16_t y, struct dl_tables_changes *out)
{
	bool known = x != DL_TABLES_NO_ROW && y != DL_TABLES_NO_ROW;

	out->compared += known;
	out->changed += known && a->rows[x] != b->rows[y];
	out->one_sided += (x == DL_TABLES_NO_ROW) != (y == DL_TABLES_NO_ROW);
}

/* Between ports of a switch that are in use on both sides. */
static void compare_switch_maps(const struct dl_tables *a, uint32_t s, const struct dl_tables *b,
				uint32_t t, struct dl_tables_changes *out)
{
	const struct dl_fabric_node *x = dl_fabric_switch_node(a->fabric, s);
	const struct dl_fabric_node *y = dl_fabric_switch_node(b->fabric, t);
	const uint16_t *old = &a->sl2vl[a->sl2vl_first[s]], *new = &b->sl2vl[b->sl2vl_first[t]];
	bool used[DL_FABRIC_MAX_PORTS + 1];
	unsigned int n = x->nports + 1u;

	if (x->nports != y->nports)
		return;
	for (unsigned int i = 0; i < n; i++)
		used[i] = dl_fabric_in_use(a->fabric, x, i) && dl_fabric_in_use(b->fabric, y, i);
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int o = 0; used[i] && o < n; o++)
			if (used[o])
				compare_row(a, old[i * n + o], b, new[i * n + o], out);
}

void dl_tables_compare_switch_maps(const struct dl_tables *a, const struct dl_tables *b,
				   const struct dl_fabric_match *m, struct dl_tables_changes *out)
{
	*out = (struct dl_tables_changes){ 0 };
	for (uint32_t s = 0; s < a->fabric->nswitches; s++) {
		uint32_t t = dl_fabric_match_switch(m, s);

		if (t != DL_NONE)
			compare_switch_maps(a, s, b, t, out);
	}
}

void dl_tables_compare_end_maps(const struct dl_tables *a, const struct dl_tables *b,
				const struct dl_fabric_match *m, struct dl_tables_changes *out)
{
	*out = (struct dl_tables_changes){ 0 };
	for (uint32_t p = 0; p < a->fabric->nports; p++) {
		uint32_t q = dl_fabric_match_port(m, p);

		if (q != DL_NONE)
			compare_row(a, a->end_sl2vl[p], b, b->end_sl2vl[q], out);
	}
}

/* Entries of weight 0, with which switches fill their tables up, arbitrate nothing. */
static unsigned int compare_weighted(const struct dl_tables_vlarb_entry *e, unsigned int n,
				     struct dl_tables_vlarb_entry out[64])
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n && i < 64; i++)
		if (e[i].weight)
			out[kept++] = e[i];
	return kept;
}

static bool compare_same_table(const struct dl_tables_vlarb_entry *x, unsigned int nx,
			       const struct dl_tables_vlarb_entry *y, unsigned int ny)
{
	struct dl_tables_vlarb_entry a[64], b[64];

	nx = compare_weighted(x, nx, a);
	ny = compare_weighted(y, ny, b);
	return nx == ny && !memcmp(a, b, nx * sizeof(*a));
}

void dl_tables_compare_vlarb(const struct dl_tables *a, const struct dl_tables *b,
			     const struct dl_fabric_match *m, struct dl_tables_changes *out,
			     struct dl_tables_changes *limits)
{
	*out = (struct dl_tables_changes){ 0 };
	*limits = *out;
	for (uint32_t p = 0; p < a->fabric->nports; p++) {
		uint32_t q = a->vlarb[p] == DL_TABLES_NO_ROW ? DL_NONE : dl_fabric_match_port(m, p);
		const struct dl_tables_vlarb *x, *y;

		if (q == DL_NONE || b->vlarb[q] == DL_TABLES_NO_ROW)
			continue;
		x = &a->arbs[a->vlarb[p]];
		y = &b->arbs[b->vlarb[q]];
		out->compared++;
		limits->compared++;
		limits->changed += x->high_limit != y->high_limit;
		out->changed += !compare_same_table(x->high, x->nhigh, y->high, y->nhigh) ||
				!compare_same_table(x->low, x->nlow, y->low, y->nlow);
	}
}

/* ---- path SLs ----------------------------------------------------------- */

/* Ports, or LIDs, of one class here and of one class there. */
struct class_pair {
	uint32_t here, there, n;
};

static int class_pair_order(const void *x, const void *y)
{
	const struct class_pair *a = x, *b = y;

	if (a->here != b->here)
		return a->here < b->here ? -1 : 1;
	return (a->there > b->there) - (a->there < b->there);
}

/* Each pair once, with how many it has.  Returns how many pairs there are. */
static uint32_t unite_pairs(struct class_pair *list, uint32_t n)
{
	uint32_t kept = 0;

	qsort(list, n, sizeof(*list), class_pair_order);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && !class_pair_order(&list[kept - 1], &list[i]))
			list[kept - 1].n += list[i].n;
		else
			list[kept++] = list[i];
	}
	return kept;
}

static unsigned int class_sl(const struct dl_tables *t, uint32_t src, uint32_t dst)
{
	if (src == DL_NONE || dst == DL_NONE)
		return DL_TABLES_NO_SL;
	return t->psl[src * (size_t)t->npsl_dst + dst];
}

static void compare_class(const struct dl_tables *a, const struct dl_tables *b,
			  const struct class_pair *src, const struct class_pair *dst, int64_t n,
			  struct dl_tables_changes *out)
{
	unsigned int here = class_sl(a, src->here, dst->here);
	unsigned int there = class_sl(b, src->there, dst->there);

	if (here == DL_TABLES_NO_SL || there == DL_TABLES_NO_SL) {
		out->one_sided += here != there ? n : 0;
		return;
	}
	out->compared += n;
	out->changed += here != there ? n : 0;
}

/* The pair of classes of a port's LID, if both sides have it. */
static bool lid_pair(const struct dl_tables *a, const struct dl_tables *b,
		     const struct dl_fabric_match *m, uint32_t lid, struct class_pair *out)
{
	uint16_t there = dl_fabric_match_lid(m, lid);

	if (!there)
		return false;
	*out = (struct class_pair){ a->psl_dst[lid], b->psl_dst[there], 1 };
	return true;
}

static void compare_classes(const struct dl_tables *a, const struct dl_tables *b,
			    const struct dl_fabric_match *m, struct class_pair *src,
			    struct class_pair *dst, struct dl_tables_changes *out)
{
	const struct dl_fabric *f = a->fabric;
	uint32_t nsrc = 0, ndst = 0;
	struct class_pair to;

	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t q = dl_fabric_match_port(m, p);

		if (q == DL_NONE || !dl_fabric_is_end_port(f, p) || !f->ports[p].lid ||
		    !b->fabric->ports[q].lid)
			continue;
		src[nsrc] = (struct class_pair){ a->psl_src[p], b->psl_src[q], 1 };
		/* A port's packets to itself are none. */
		for (uint32_t i = 0; i >> f->ports[p].lmc == 0; i++)
			if (lid_pair(a, b, m, f->ports[p].lid + i, &to))
				compare_class(a, b, &src[nsrc], &to, -1, out);
		nsrc++;
	}
	for (uint32_t lid = 1; lid <= f->top_lid; lid++)
		ndst += lid_pair(a, b, m, lid, &dst[ndst]);
	nsrc = unite_pairs(src, nsrc);
	ndst = unite_pairs(dst, ndst);
	for (uint32_t i = 0; i < nsrc; i++)
		for (uint32_t k = 0; k < ndst; k++)
			compare_class(a, b, &src[i], &dst[k], (int64_t)src[i].n * dst[k].n, out);
}

int dl_tables_compare_sls(const struct dl_tables *a, const struct dl_tables *b,
			  const struct dl_fabric_match *m, struct dl_tables_changes *out)
{
	struct class_pair *src, *dst;
	int err = 0;

	*out = (struct dl_tables_changes){ .one_sided = !a->psl != !b->psl };
	if (!a->psl || !b->psl)
		return 0;
	src = malloc((a->fabric->nports + 1) * sizeof(*src));
	dst = malloc((a->fabric->top_lid + 2u) * sizeof(*dst));
	if (src && dst)
		compare_classes(a, b, m, src, dst, out);
	else
		err = -ENOMEM;
	free(src);
	free(dst);
	return err;
}

/* Path SLs by the same classes of the same ports? */
static bool compare_same_sls(const struct dl_tables *a, const struct dl_tables *b)
{
	return a->psl && b->psl && a->npsl_src == b->npsl_src && a->npsl_dst == b->npsl_dst &&
	       !memcmp(a->psl, b->psl, (size_t)a->npsl_src * a->npsl_dst) &&
	       !memcmp(a->psl_src, b->psl_src, a->fabric->nports * sizeof(*a->psl_src)) &&
	       !memcmp(a->psl_dst, b->psl_dst, (a->top_lid + 1u) * sizeof(*a->psl_dst));
}

bool dl_tables_same_vls(const struct dl_tables *a, const struct dl_tables *b)
{
	struct dl_tables_changes maps, ends, sls = { 0 };
	struct dl_fabric_match m;
	int err = dl_fabric_match(a->fabric, b->fabric, &m);

	if (!err && !compare_same_sls(a, b))
		err = dl_tables_compare_sls(a, b, &m, &sls);
	if (!err) {
		dl_tables_compare_switch_maps(a, b, &m, &maps);
		dl_tables_compare_end_maps(a, b, &m, &ends);
	}
	dl_fabric_match_release(&m);
	return !err && !(maps.changed | maps.one_sided | ends.changed | ends.one_sided |
			 sls.changed | sls.one_sided);
}

/* ---- multicast ---------------------------------------------------------- */

uint32_t dl_tables_compare_masks(const struct dl_tables_masks *a, const struct dl_tables_masks *b,
				 const struct dl_fabric_match *m)
{
	uint32_t changed = 0;

	for (uint32_t s = 0; s < m->from->nswitches; s++) {
		uint32_t t = dl_fabric_match_switch(m, s);

		changed += t != DL_NONE && memcmp(dl_tables_mask(a, s), dl_tables_mask(b, t),
						  DL_TABLES_MASK_WORDS * sizeof(uint64_t)) != 0;
	}
	return changed;
}
