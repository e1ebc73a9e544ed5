/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Has any path SL changed since an earlier snapshot?
 *
 * A connection keeps the SL that it was granted for as long as it lives, so a
 * routing that counts on path SLs may not change them when the fabric fails
 * (rules A5).  Pairs are matched by the end ports' GUIDs: LIDs may differ.
 * Ports that are new or gone, and pairs whose SL either side does not know,
 * are not compared.  Complexity: pairs of end ports, one load on each side.
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

int dl_verify_stable(const struct dl_tables *now, const struct dl_tables *before,
		     struct dl_verify_result *v)
{
	const struct dl_fabric *f = now->fabric, *old = before->fabric;
	struct match *matches;
	uint32_t n;
	int err = match_ports(f, old, &matches, &n);

	if (err)
		return err;
	for (uint32_t s = 0; s < n; s++) {
		for (uint32_t d = 0; d < n; d++) {
			unsigned int is, was;

			if (s == d)
				continue;
			is = dl_tables_path_sl(now, matches[s].now, f->ports[matches[d].now].lid);
			was = dl_tables_path_sl(before, matches[s].before,
						old->ports[matches[d].before].lid);
			if (is == DL_TABLES_NO_SL || was == DL_TABLES_NO_SL)
				continue;
			v->sl_compared++;
			v->sl_changes += is != was;
		}
	}
	v->sl_stable = !v->sl_changes;
	free(matches);
	return 0;
}
