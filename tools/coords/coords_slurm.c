/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files for Slurm.
 *
 * Slurm orders nodes by name (since 22.05; before that, in the order of
 * slurm.conf), so names that are numbered along the curve put its line of
 * nodes on the curve.  topology/tree looks for the smallest switch that holds
 * a job, so the tree is made of stretches of the curve: the hosts of a switch,
 * the switches of 8 sites side by side (4 in two dimensions, 2 in one), 8 of
 * those, and so on.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coords.h"

/* ---- names ------------------------------------------------------------- */

static char *name_by_index(const struct coords_order *p, uint32_t host, const char *prefix)
{
	unsigned int width = 1;
	char *name;

	for (uint32_t n = p->nhosts; n > 10; n = (n + 9) / 10)
		width++;
	return asprintf(&name, "%s%0*u", prefix, width, host) < 0 ? NULL : name;
}

char *coords_slurm_name(const struct coords_order *p, uint32_t host,
			const struct coords_slurm_style *style)
{
	return style->names == COORDS_NAME_INDEX ? name_by_index(p, host, style->prefix) :
						   strdup(p->hosts[host].name);
}

/* ---- slurm.conf -------------------------------------------------------- */

int coords_slurm_nodes(const struct coords_order *p, const struct coords_slurm_style *style,
		       FILE *to)
{
	fputs("# Hosts along a space-filling curve through the torus.  Include "
	      "this from\n# slurm.conf, after a line NodeName=DEFAULT with "
	      "what all have in common.\n",
	      to);
	for (uint32_t i = 0; i < p->nhosts; i++) {
		char *name = coords_slurm_name(p, i, style);

		if (!name)
			return -ENOMEM;
		if (i == p->nhosts_placed)
			fputs("# Without coordinates:\n", to);
		fprintf(to, "NodeName=%s", name);
		if (style->names != COORDS_NAME_HOST)
			fprintf(to, " NodeHostname=%s NodeAddr=%s", p->hosts[i].name,
				p->hosts[i].name);
		putc('\n', to);
		free(name);
	}
	return fflush(to) || ferror(to) ? -EIO : 0;
}

/* ---- topology.conf ----------------------------------------------------- */

/* How many blocks of one level become one of the next. */
static uint32_t slurm_fan(const struct dl_torus_grid *g)
{
	uint32_t n = 1;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		if (g->radix[d] > 1)
			n *= 2;
	return n > 1 ? n : 2;
}

static uint32_t along_of(const struct coords_order *p, uint32_t host)
{
	return p->list[p->hosts[host].adapter].along;
}

/* The switch with its hosts; from host `i` on.  *next: the first of the next. */
static int write_leaf(const struct coords_order *p, const struct coords_slurm_style *style,
		      uint32_t i, uint32_t *next, FILE *to)
{
	uint32_t along = along_of(p, i), first = i;

	if (along == DL_NONE)
		fputs("SwitchName=nowhere Nodes=", to);
	else
		fprintf(to, "SwitchName=s%u Nodes=", along);
	for (; i < p->nhosts && along_of(p, i) == along; i++) {
		char *name = coords_slurm_name(p, i, style);

		if (!name)
			return -ENOMEM;
		fprintf(to, "%s%s", i == first ? "" : ",", name);
		free(name);
	}
	putc('\n', to);
	*next = i;
	return 0;
}

/*
 * The blocks of one level, each over those of the level below that hold a
 * host.  `size` sites make a block; returns how many there are.
 */
static uint32_t write_level(const struct coords_order *p, unsigned int level, uint32_t size,
			    uint32_t below, FILE *to)
{
	uint32_t n = 0, block = DL_NONE, child = DL_NONE;

	for (uint32_t i = 0; i < p->nhosts_placed; i++) {
		uint32_t along = along_of(p, i);
		bool begins = along / size != block;

		if (!begins && along / below == child)
			continue;
		if (begins) {
			fprintf(to, "%sSwitchName=b%u_%u Switches=", n ? "\n" : "", level,
				along / size);
			n++;
		}
		block = along / size;
		child = along / below;
		fputs(begins ? "" : ",", to);
		if (level == 1)
			fprintf(to, "s%u", child);
		else
			fprintf(to, "b%u_%u", level - 1, child);
	}
	if (n)
		putc('\n', to);
	return n;
}

int coords_slurm_topology(const struct coords_order *p, const struct coords_slurm_style *style,
			  FILE *to)
{
	uint32_t i, below = 1, size, sites = dl_torus_grid_sites(&p->grid);
	unsigned int level = 0;
	int err = 0;

	fputs("# For topology/tree: stretches of a space-filling curve through "
	      "the torus.\n# s are switches, by number along the curve; b are blocks of those.\n",
	      to);
	for (i = 0; !err && i < p->nhosts;)
		err = write_leaf(p, style, i, &i, to);
	if (err)
		return err;
	for (size = slurm_fan(&p->grid); below < sites; size *= slurm_fan(&p->grid)) {
		write_level(p, ++level, size, below, to);
		below = size;
	}
	/* All that there is under one switch, or Slurm keeps them apart. */
	if (p->nhosts_placed && p->nhosts > p->nhosts_placed)
		fprintf(to, "SwitchName=all Switches=%s%u%s,nowhere\n", level ? "b" : "s",
			level ? level : along_of(p, 0), level ? "_0" : "");
	return fflush(to) || ferror(to) ? -EIO : 0;
}
