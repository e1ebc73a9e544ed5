/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Building and releasing a routing.  Rows of SL-to-VL maps and arbitration
 * tables are interned by linear search from the newest: there are some
 * dozens of each, and neighbouring ports tend to share one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tables/internal.h"

#define LFT_BLOCK 64 /* entries in one LinearForwardingTable attribute */

/* The most regular torus of 13,824 switches packs 180 bytes into one. */
#define RATIO_MAX 600
#define SMALL_BYTES (1u << 28)

static int new_sl2vl(struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	size_t total = 0;
	uint32_t s;

	t->sl2vl_first = malloc((f->nswitches + 1) * sizeof(*t->sl2vl_first));
	if (!t->sl2vl_first)
		return -ENOMEM;
	for (s = 0; s < f->nswitches; s++) {
		size_t n = dl_fabric_switch_node(f, s)->nports + 1;

		t->sl2vl_first[s] = total;
		total += n * n;
	}
	t->sl2vl_first[s] = total;
	t->sl2vl = malloc((total + 1) * sizeof(*t->sl2vl));
	if (!t->sl2vl)
		return -ENOMEM;
	memset(t->sl2vl, 0xFF, total * sizeof(*t->sl2vl));
	return 0;
}

uint64_t dl_tables_bytes(const struct dl_fabric *f)
{
	uint64_t bytes = f->nswitches * (f->top_lid / LFT_BLOCK + 1) * (uint64_t)LFT_BLOCK;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		uint64_t n = dl_fabric_switch_node(f, s)->nports + 1;

		bytes += n * n * sizeof(uint16_t);
	}
	return bytes;
}

bool dl_tables_expected(uint64_t bytes, uint64_t file)
{
	return bytes <= SMALL_BYTES || bytes / RATIO_MAX <= file;
}

int dl_tables_new(const struct dl_fabric *f, struct dl_tables **out)
{
	struct dl_tables *t = calloc(1, sizeof(*t));
	size_t lft_size;

	if (!t)
		return -ENOMEM;
	t->fabric = f;
	t->top_lid = f->top_lid;
	t->stride = (t->top_lid / LFT_BLOCK + 1) * LFT_BLOCK;
	lft_size = (size_t)f->nswitches * t->stride;
	t->lft = dl_array_large(lft_size + 1, 1);
	t->end_sl2vl = malloc((f->nports + 1) * sizeof(*t->end_sl2vl));
	t->vlarb = malloc((f->nports + 1) * sizeof(*t->vlarb));
	if (!t->lft || !t->end_sl2vl || !t->vlarb || new_sl2vl(t)) {
		dl_tables_free(t);
		return -ENOMEM;
	}
	memset(t->lft, DL_TABLES_NO_PORT, lft_size);
	memset(t->end_sl2vl, 0xFF, f->nports * sizeof(*t->end_sl2vl));
	memset(t->vlarb, 0xFF, f->nports * sizeof(*t->vlarb));
	*out = t;
	return 0;
}

/* Is each index below n, or `none`? */
static bool in_range(const uint16_t *index, size_t count, uint32_t n)
{
	bool good = true;

	for (size_t i = 0; i < count; i++)
		good &= index[i] < n || index[i] == DL_TABLES_NO_ROW;
	return good;
}

static bool classes_in_range(const uint32_t *class, size_t count, uint32_t n)
{
	bool good = true;

	for (size_t i = 0; i < count; i++)
		good &= class[i] < n || class[i] == DL_NONE;
	return good;
}

static bool sls_in_range(const struct dl_tables *t)
{
	bool good = true;

	for (size_t i = 0; i < (size_t)t->npsl_src * t->npsl_dst; i++)
		good &= t->psl[i] < 16 || t->psl[i] == DL_TABLES_NO_SL;
	return good;
}

#define FAULT_UNLESS(so) \
	if (!(so))       \
	return #so

const char *dl_tables_fault(const struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	size_t pairs = t->sl2vl_first[f->nswitches];

	FAULT_UNLESS(t->stride > t->top_lid);
	FAULT_UNLESS(in_range(t->sl2vl, pairs, t->nrows));
	FAULT_UNLESS(in_range(t->end_sl2vl, f->nports, t->nrows));
	FAULT_UNLESS(in_range(t->vlarb, f->nports, t->narbs));
	if (t->psl) {
		FAULT_UNLESS(classes_in_range(t->psl_src, f->nports, t->npsl_src));
		FAULT_UNLESS(classes_in_range(t->psl_dst, t->top_lid + 1u, t->npsl_dst));
		FAULT_UNLESS(sls_in_range(t));
	}
	for (uint32_t i = 0; i < t->narbs; i++)
		FAULT_UNLESS(t->arbs[i].nhigh <= 64 && t->arbs[i].nlow <= 64);
	for (uint32_t i = 0; i < t->ngroups; i++)
		FAULT_UNLESS(t->groups[i].mlid >= DL_TABLES_MCAST_LID);
	return NULL;
}

int dl_tables_check(const struct dl_tables *t, const struct dl_log *log)
{
	const char *fault = dl_tables_fault(t);

	if (fault)
		dl_broken_at(log, fault, __FILE__, __LINE__);
	return fault ? -EPROTO : 0;
}

void dl_tables_free_groups(struct dl_tables *t)
{
	while (t->ngroups)
		dl_tables_masks_clear(&t->groups[--t->ngroups].masks);
	free(t->groups);
	t->groups = NULL;
	t->groups_cap = 0;
}

void dl_tables_free(struct dl_tables *t)
{
	if (!t)
		return;
	dl_tables_free_groups(t);
	free(t->lft);
	free(t->rows);
	free(t->sl2vl);
	free(t->sl2vl_first);
	free(t->end_sl2vl);
	free(t->arbs);
	free(t->vlarb);
	free(t->psl);
	free(t->psl_src);
	free(t->psl_dst);
	free(t);
}

int dl_tables_row(struct dl_tables *t, dl_tables_sl2vl_row row)
{
	uint32_t i = t->nrows;

	while (i--)
		if (t->rows[i] == row)
			return i;
	if (t->nrows == DL_TABLES_NO_ROW)
		return -ENOSPC;
	if (!dl_array_room(t->rows, t->nrows, 1, &t->rows_cap))
		return -ENOMEM;
	t->checked = false;
	t->rows[t->nrows] = row;
	return t->nrows++;
}

bool dl_tables_any_sl(const struct dl_tables *t)
{
	for (uint32_t i = 0; i < t->nrows; i++)
		for (unsigned int sl = 0; sl < 16; sl++)
			if (dl_tables_sl2vl_get(t->rows[i], sl) !=
			    dl_tables_sl2vl_get(t->rows[i], sl & 8))
				return false;
	return t->nrows;
}

const char *dl_tables_sl_demand(const struct dl_tables *t)
{
	if (dl_tables_any_sl(t))
		return "applications may use any SL (0 to 7: QoS level 0, 8 to 15: level 1)";
	return "applications must use the SL of each path record; one SL for all paths, as by "
	       "NCCL_IB_SL or UCX_IB_SL, can deadlock";
}

/* The VLs that the entries of one table name. */
static uint16_t arb_names(const struct dl_tables_vlarb_entry *e, unsigned int n, unsigned int vls)
{
	uint16_t named = 0;

	for (unsigned int i = 0; i < n; i++)
		if (e[i].weight && e[i].vl < vls)
			named |= 1u << e[i].vl;
	return named;
}

uint16_t dl_tables_vlarb_serves(const struct dl_tables_vlarb *a, const struct dl_fabric_port *p,
				uint16_t used)
{
	unsigned int vls = p->vls && p->vls < 15 ? p->vls : 15;
	uint16_t high = arb_names(a->high, a->nhigh, vls);
	uint16_t low = arb_names(a->low, a->nlow, vls);

	if (vls == 1)
		return UINT16_MAX;
	return a->high_limit == 255 && high & used ? high : high | low;
}

int dl_tables_arb(struct dl_tables *t, const struct dl_tables_vlarb *arb)
{
	uint32_t i = t->narbs;

	while (i--)
		if (!memcmp(&t->arbs[i], arb, sizeof(*arb)))
			return i;
	if (t->narbs == DL_TABLES_NO_ROW)
		return -ENOSPC;
	if (!dl_array_room(t->arbs, t->narbs, 1, &t->arbs_cap))
		return -ENOMEM;
	t->checked = false;
	t->arbs[t->narbs] = *arb;
	return t->narbs++;
}

int dl_tables_new_psl(struct dl_tables *t, uint32_t nsrc, uint32_t ndst)
{
	size_t nports = t->fabric->nports, nlids = (size_t)t->top_lid + 1;
	uint32_t *src = malloc((nports + 1) * sizeof(*src));
	uint32_t *dst = malloc(nlids * sizeof(*dst));
	uint8_t *psl = dl_array_large((size_t)nsrc * ndst + 1, 1);

	if (!src || !dst || !psl) {
		free(src);
		free(dst);
		free(psl);
		return -ENOMEM;
	}
	memset(src, 0xFF, nports * sizeof(*src));
	memset(dst, 0xFF, nlids * sizeof(*dst));
	memset(psl, DL_TABLES_NO_SL, (size_t)nsrc * ndst);
	free(t->psl_src);
	free(t->psl_dst);
	free(t->psl);
	t->psl_src = src;
	t->psl_dst = dst;
	t->psl = psl;
	t->npsl_src = nsrc;
	t->npsl_dst = ndst;
	t->checked = false;
	return 0;
}

uint32_t dl_tables_groups_below(const struct dl_tables *t, uint32_t mlid)
{
	return dl_array_count_before(i, t->ngroups, t->groups[i].mlid < mlid);
}

const struct dl_tables_mcast_group *dl_tables_find_group(const struct dl_tables *t, uint16_t mlid)
{
	uint32_t i = dl_tables_groups_below(t, mlid);

	return i < t->ngroups && t->groups[i].mlid == mlid ? &t->groups[i] : NULL;
}

struct dl_tables_mcast_group *dl_tables_group(struct dl_tables *t, uint16_t mlid)
{
	struct dl_tables_mcast_group *g = (void *)dl_tables_find_group(t, mlid);

	if (g)
		return g;
	if (!dl_array_room(t->groups, t->ngroups, 1, &t->groups_cap))
		return NULL;
	t->checked = false;
	g = &t->groups[dl_tables_groups_below(t, mlid)];
	memmove(g + 1, g, (&t->groups[t->ngroups++] - g) * sizeof(*g));
	*g = (struct dl_tables_mcast_group){ mlid, { .nswitches = t->fabric->nswitches } };
	return g;
}
