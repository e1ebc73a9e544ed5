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

#include "coords.h"

/* ---- names ------------------------------------------------------------- */

void coords_slurm_name(const struct coords_order *p, uint32_t host, const char *prefix, FILE *to)
{
	int width = 1;

	for (uint32_t n = p->nhosts; n > 10; n = (n + 9) / 10)
		width++;
	if (prefix)
		fprintf(to, "%s%0*u", prefix, width, host);
	else
		fputs(p->hosts[host].name, to);
}

/* ---- slurm.conf -------------------------------------------------------- */

void coords_slurm_nodes(const struct coords_order *p, const char *prefix, FILE *to)
{
	fputs("# Hosts along a space-filling curve through the torus.  Include "
	      "this from\n# slurm.conf, after a line NodeName=DEFAULT with "
	      "what all have in common.\n",
	      to);
	for (uint32_t i = 0; i < p->nhosts; i++) {
		const char *name = p->hosts[i].name;

		if (i == p->nhosts_placed)
			fputs("# Without coordinates:\n", to);
		fputs("NodeName=", to);
		coords_slurm_name(p, i, prefix, to);
		if (prefix)
			fprintf(to, " NodeHostname=%s NodeAddr=%s", name, name);
		putc('\n', to);
	}
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

/* The switch with its hosts, from host `i` on; returns the first of the next. */
static uint32_t write_leaf(const struct coords_order *p, const char *prefix, uint32_t i, FILE *to)
{
	uint32_t along = along_of(p, i), first = i;

	if (along == DL_NONE)
		fputs("SwitchName=nowhere Nodes=", to);
	else
		fprintf(to, "SwitchName=s%u Nodes=", along);
	for (; i < p->nhosts && along_of(p, i) == along; i++) {
		fputs(i == first ? "" : ",", to);
		coords_slurm_name(p, i, prefix, to);
	}
	putc('\n', to);
	return i;
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

void coords_slurm_topology(const struct coords_order *p, const char *prefix, FILE *to)
{
	uint32_t i, below = 1, size, sites = dl_torus_grid_sites(&p->grid);
	unsigned int level = 0;

	fputs("# For topology/tree: stretches of a space-filling curve through "
	      "the torus.\n# s are switches, by number along the curve; b are blocks of those.\n",
	      to);
	for (i = 0; i < p->nhosts;)
		i = write_leaf(p, prefix, i, to);
	for (size = slurm_fan(&p->grid); below < sites; size *= slurm_fan(&p->grid)) {
		write_level(p, ++level, size, below, to);
		below = size;
	}
	/* All that there is under one switch, or Slurm keeps them apart. */
	if (p->nhosts_placed && p->nhosts > p->nhosts_placed)
		fprintf(to, "SwitchName=all Switches=%s%u%s,nowhere\n", level ? "b" : "s",
			level ? level : along_of(p, 0), level ? "_0" : "");
}
