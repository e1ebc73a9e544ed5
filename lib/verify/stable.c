/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Has any path SL changed since an earlier snapshot?
 *
 * A connection keeps the SL that it was granted for as long as it lives, so a
 * routing that counts on path SLs may not change them when the fabric fails
 * (rules A5).  Pairs are matched by the end ports' GUIDs: LIDs may differ.
 * Ports that are new or gone, and pairs whose SL either side does not know,
 * are not compared.  Tables hold SLs by classes of ports: ports that share both
 * classes, now and before, are compared once.
 *
 * Complexity: pairs of classes, one load on each side.
 */
#include <errno.h>
#include <stdlib.h>

#include "verify/internal.h"

/* An end port in both fabrics. */
struct match {
	uint32_t now, before; /* port indices */
};

static uint32_t find_before(const struct dl_fabric *now, uint32_t port,
			    const struct dl_fabric *before)
{
	const struct dl_fabric_port *p = &now->ports[port];
	uint32_t node = dl_fabric_find_guid(before, now->nodes[p->node].guid);

	if (node == DL_NONE || before->nodes[node].nports < p->num)
		return DL_NONE;
	return before->nodes[node].first_port + p->num;
}

static int match_ports(const struct dl_fabric *now, const struct dl_fabric *before,
		       struct match **out, uint32_t *nout)
{
	struct match *matches = malloc((now->nports + 1) * sizeof(*matches));
	uint32_t n = 0;

	if (!matches)
		return -ENOMEM;
	for (uint32_t p = 0; p < now->nports; p++) {
		uint32_t was;

		if (!dl_fabric_is_end_port(now, p) || !now->ports[p].lid)
			continue;
		was = find_before(now, p, before);
		if (was != DL_NONE && before->ports[was].lid)
			matches[n++] = (struct match){ p, was };
	}
	*out = matches;
	*nout = n;
	return 0;
}

static int compare_classes(const void *x, const void *y)
{
	const struct dl_verify_class *a = x, *b = y;

	if (a->now != b->now)
		return a->now < b->now ? -1 : 1;
	return (a->before > b->before) - (a->before < b->before);
}

uint32_t dl_verify_unite_classes(struct dl_verify_class *list, uint32_t n)
{
	uint32_t kept = 0;

	qsort(list, n, sizeof(*list), compare_classes);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && !compare_classes(&list[kept - 1], &list[i]))
			list[kept - 1].n += list[i].n;
		else
			list[kept++] = list[i];
	}
	return kept;
}

unsigned int dl_verify_class_sl(const struct dl_tables *t, uint32_t src, uint32_t dst)
{
	if (src == DL_NONE || dst == DL_NONE)
		return DL_TABLES_NO_SL;
	return t->psl[src * (size_t)t->npsl_dst + dst];
}

static void compare(const struct dl_tables *now, const struct dl_tables *before,
		    const struct dl_verify_class *src, const struct dl_verify_class *dst, int64_t n,
		    struct dl_verify_result *v)
{
	unsigned int is = dl_verify_class_sl(now, src->now, dst->now);
	unsigned int was = dl_verify_class_sl(before, src->before, dst->before);

	if (is == DL_TABLES_NO_SL || was == DL_TABLES_NO_SL)
		return;
	v->sl_compared += n;
	v->sl_changes += is != was ? n : 0;
}

static void compare_all(const struct dl_tables *now, const struct dl_tables *before,
			const struct match *matches, uint32_t n, struct dl_verify_class *src,
			struct dl_verify_class *dst, struct dl_verify_result *v)
{
	uint32_t nsrc, ndst;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t a = matches[i].now, b = matches[i].before;

		src[i] = (struct dl_verify_class){ now->psl_src[a], before->psl_src[b], 1 };
		dst[i] = (struct dl_verify_class){ now->psl_dst[now->fabric->ports[a].lid],
						   before->psl_dst[before->fabric->ports[b].lid],
						   1 };
		/* A port's packets to itself are none. */
		compare(now, before, &src[i], &dst[i], -1, v);
	}
	nsrc = dl_verify_unite_classes(src, n);
	ndst = dl_verify_unite_classes(dst, n);
	for (uint32_t i = 0; i < nsrc; i++)
		for (uint32_t k = 0; k < ndst; k++)
			compare(now, before, &src[i], &dst[k], (int64_t)src[i].n * dst[k].n, v);
}

int dl_verify_stable(const struct dl_tables *now, const struct dl_tables *before,
		     struct dl_verify_result *v)
{
	struct dl_verify_class *src = NULL, *dst = NULL;
	struct match *matches;
	uint32_t n;
	int err = match_ports(now->fabric, before->fabric, &matches, &n);

	if (err)
		return err;
	src = malloc((n + 1) * sizeof(*src));
	dst = malloc((n + 1) * sizeof(*dst));
	if (!src || !dst)
		err = -ENOMEM;
	else if (now->psl && before->psl)
		compare_all(now, before, matches, n, src, dst, v);
	v->sl_stable = !v->sl_changes;
	free(src);
	free(dst);
	free(matches);
	return err;
}
