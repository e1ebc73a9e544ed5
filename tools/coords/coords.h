/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Adapters and hosts in the order of a space-filling curve through the torus:
 * what `dateline coords` prints and writes.
 */
#ifndef TOOL_COORDS_H
#define TOOL_COORDS_H

#include "tools/common/input.h"

/* A port of an adapter.  Those with a cable; of an adapter without, port 1. */
struct coords_adapter {
	uint32_t port;	     /* port index */
	uint32_t site;	     /* of its switch; DL_NONE: no coordinates */
	uint32_t along;	     /* number of that site on the curve, from 0 */
	uint32_t host;	     /* DL_NONE: its description names none */
	uint32_t namesake;   /* the first in the list of this description, of two or more
				adapters whose GUIDs differ; or DL_NONE */
	const char *lacking; /* why there are no coordinates, or NULL */
};

/* A host stands where the first of its adapters does. */
struct coords_host {
	char *name;
	uint32_t adapter; /* its first in the list */
	uint32_t beside;  /* hosts before it at the same site */
};

struct coords_order {
	const struct dl_fabric *fabric; /* borrowed */
	struct dl_torus_grid grid;
	struct coords_adapter *list; /* along the curve; then those without site */
	uint32_t n, nplaced;
	struct coords_host *hosts; /* in the same order */
	uint32_t nhosts, nhosts_placed;
	uint32_t unnamed;  /* adapters whose description names no host */
	uint32_t doubtful; /* names that are no host's here: two adapters are the same of it */
};

/*
 * List the adapters of a fabric whose switches have these sites (by switch number, or
 * DL_NONE; NULL: none has).  0 or -ENOMEM; free in either case.
 */
int coords_order_new(const struct dl_fabric *f, const struct dl_torus_grid *g, const uint32_t *site,
		     struct coords_order *out);
void coords_order_free(struct coords_order *p);

/* Mean hops from one host to the next along the list. */
double coords_order_step(const struct coords_order *p);

/*
 * Write the name of a host for Slurm: this prefix and its number along the curve, such as
 * torus0007, or, if it is NULL, the host's own.
 */
void coords_slurm_name(const struct coords_order *p, uint32_t host, const char *prefix, FILE *to);

/* Lines for slurm.conf, or a topology.conf, with hosts called like this. */
void coords_slurm_nodes(const struct coords_order *p, const char *prefix, FILE *to);
void coords_slurm_topology(const struct coords_order *p, const char *prefix, FILE *to);

/* Job sizes, in hosts. */
struct coords_sizes {
	uint32_t *size;
	uint32_t n;
};

/*
 * A topology.yaml for topology/torus3d, with placements for these sizes, too.
 * 0, -EINVAL (no box has one of the sizes; reported) or -ENOMEM.
 */
int coords_slurm_torus3d(const struct coords_order *p, const char *prefix,
			 const struct coords_sizes *sizes, const struct dl_log *log, FILE *to);

/* The document; for people, and as a table of comma-separated values. */
json_t *coords_json(const struct coords_order *p);
void coords_print(const json_t *document, FILE *to);
void coords_print_csv(const json_t *document, FILE *to);

#endif
