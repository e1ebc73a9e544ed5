/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coordinates: which switch sits where in a torus or mesh, and which of its
 * ports point in which direction.
 *
 * A site is a place in the grid, numbered x + radix_x * (y + radix_y * z);
 * a failed or missing switch leaves its site empty.  A direction is a
 * dimension and a sense, numbered 2 * dimension + (1 if negative).
 */
#ifndef DL_TORUS_H
#define DL_TORUS_H

#include "fabric/fabric.h"

#define DL_DIMS 3
#define DL_DIRS (2 * DL_DIMS)
#define DL_MAX_RADIX 255	/* of one dimension */
#define DL_MAX_SITES DL_MAX_LID

/* What a configuration means when it does not say. */
#define DL_DEFAULT_PORTGROUP 16
#define DL_DEFAULT_MAX_CHANGES 32

static inline unsigned int dl_dir(unsigned int dim, bool negative)
{
	return 2 * dim + negative;
}

static inline unsigned int dl_dir_dim(unsigned int dir)
{
	return dir / 2;
}

static inline unsigned int dl_opposite(unsigned int dir)
{
	return dir ^ 1;
}

/* The shape of the grid. */
struct dl_grid {
	uint32_t radix[DL_DIMS];	/* 1..DL_MAX_RADIX; 1: dimension absent */
	bool mesh[DL_DIMS];		/* open at the ends? */
};

static inline uint32_t dl_grid_sites(const struct dl_grid *g)
{
	return g->radix[0] * g->radix[1] * g->radix[2];
}

static inline uint32_t dl_site(const struct dl_grid *g,
			       const uint32_t c[DL_DIMS])
{
	return c[0] + g->radix[0] * (c[1] + g->radix[1] * c[2]);
}

static inline void dl_site_coord(const struct dl_grid *g, uint32_t site,
				 uint32_t c[DL_DIMS])
{
	c[0] = site % g->radix[0];
	c[1] = site / g->radix[0] % g->radix[1];
	c[2] = site / g->radix[0] / g->radix[1];
}

/*
 * The neighbouring site in a direction, or DL_NONE past the end of a mesh and
 * in a dimension that is absent (radix 1).
 */
uint32_t dl_site_next(const struct dl_grid *g, uint32_t site, unsigned int dir);

/* The last dimension of radix above 1 (SPEC A1); 0 when there is none. */
unsigned int dl_last_dim(const struct dl_grid *g);

/*
 * One seed of a configuration: links out of one common switch, and the
 * place of the datelines relative to it.
 */
struct dl_seed {
	uint64_t from;			/* GUID of the common switch; 0: unset */
	uint64_t to[DL_DIRS];		/* GUID of the neighbour; 0: unset */
	int32_t dateline[DL_DIMS];	/* origin, relative to the common switch */
	bool has_dateline[DL_DIMS];
	uint32_t line;			/* of its first keyword, for messages */
};

/* A parsed torus-2QoS.conf (SPEC A2). */
struct dl_torus_config {
	struct dl_grid grid;
	struct dl_seed *seeds;
	uint32_t nseeds;
	uint8_t port_order[DL_MAX_PORTS + 1];
	uint32_t nport_order;
	uint32_t max_changes;
	uint32_t portgroup_max_ports;
	char *path;			/* as given, for messages */
};

/* Why a switch has no place, and what becomes of it; see odd.c. */
enum dl_odd_kind {
	DL_STUB,	/* it and what it joins hang on one placed switch */
	DL_BRIDGE,	/* they hang on two */
	DL_MISFIT,	/* on more */
	DL_CUT_OFF	/* on none */
};

struct dl_torus {
	struct dl_grid grid;
	const struct dl_fabric *fabric;	/* borrowed */
	uint32_t nsites;
	uint32_t *site_sw;		/* switch at a site, or DL_NONE */
	uint32_t *sw_site;		/* site of a switch, or DL_NONE */
	/*
	 * By which site's coordinates a switch's path SLs go: its own, or that
	 * of the nearest placed switch, its home.  DL_NONE when it is cut off.
	 */
	uint32_t *sl_site;
	/*
	 * Of a switch without a place: the port of the first cable of its way
	 * home, as a port index.  DL_NONE: it is placed, or cut off (odd.c).
	 */
	uint32_t *way_home;
	/*
	 * Cables from switch s in direction d lead out of the ports
	 * group_ports[group_first[s * DL_DIRS + d]] up to, not including,
	 * group_ports[group_first[s * DL_DIRS + d + 1]], ascending.  The k-th
	 * port of a group and the k-th of the opposite group at the far
	 * switch need not be the same cable.
	 */
	uint32_t *group_first;
	uint8_t *group_ports;
	uint8_t *port_dir;		/* by port index: direction, or DL_DIRS */
	uint32_t seed;			/* which seed of the configuration */
	/* What does not fit: */
	uint32_t *unplaced;		/* switch numbers, in order of GUID */
	uint8_t *odd_kind;		/* by switch: enum dl_odd_kind */
	uint32_t nunplaced;
	uint32_t *odd_links;		/* one port index of each cable */
	uint32_t nodd_links;
	uint32_t nplaced;
	uint32_t nlinks;		/* cables between neighbouring sites */
};

/*
 * dl_torus_discover() by a subnet manager that has seen this fabric before:
 * switches stay where they were in `before` (a torus of the same
 * configuration, or NULL), unless cables or configuration contradict it.
 */
int dl_torus_discover_again(const struct dl_fabric *f,
			    const struct dl_torus_config *c,
			    const struct dl_torus *before,
			    const struct dl_log *log, struct dl_torus **out);

/*
 * Find sl_site and way_home, and list the switches without a place.  Needs
 * the sites.  Returns 0 or -ENOMEM.
 */
int dl_find_odd(struct dl_torus *t);

/* The next switch on the way home of one that has no place, or DL_NONE. */
static inline uint32_t dl_next_home(const struct dl_torus *t, uint32_t sw)
{
	return t->way_home[sw] == DL_NONE ?
		       DL_NONE : dl_peer_switch(t->fabric, t->way_home[sw]);
}

/* Does this cable, given by one of its ports, join a switch to the next? */
bool dl_is_way_home(const struct dl_torus *t, uint32_t port);

/*
 * Port numbers of all cables from a switch to the next on its way home, and
 * of their far ends, in ascending order of the former.  Either list may be
 * NULL; they have room for DL_MAX_PORTS.  Returns how many there are.
 */
unsigned int dl_cables_home(const struct dl_torus *t, uint32_t sw,
			    uint8_t *near_ports, uint8_t *far_ports);

/* How many switches without a place are of this kind? */
uint32_t dl_count_odd(const struct dl_torus *t, enum dl_odd_kind kind);

/*
 * What is neither part of the torus nor beside it: misfits and what is cut
 * off; and cables, between switches of the torus or at such switches, that
 * are on no way home.
 */
uint32_t dl_count_misfits(const struct dl_torus *t, uint32_t *cables);

/*
 * The empty site that a switch without a place could belong to: next to every
 * placed switch that it is cabled to.  DL_NONE: there is none.
 */
uint32_t dl_possible_site(const struct dl_torus *t, uint32_t sw);

/* Tell what does not fit and what becomes of it. */
void dl_report_odd(const struct dl_torus *t, const struct dl_log *log);

/* Number of parallel cables from a switch in a direction. */
static inline uint32_t dl_group_size(const struct dl_torus *t, uint32_t sw,
				     unsigned int dir)
{
	const uint32_t *first = &t->group_first[sw * DL_DIRS + dir];

	return first[1] - first[0];
}

static inline const uint8_t *dl_group(const struct dl_torus *t, uint32_t sw,
				      unsigned int dir)
{
	return &t->group_ports[t->group_first[sw * DL_DIRS + dir]];
}

/*
 * A line a switch, in the order of the sites: "switch 0,1,0 GUID 0x... (name)",
 * as torus-2QoS writes opensm-torus.dump.  0 or -EIO.
 */
int dl_torus_write_list(const struct dl_torus *t, FILE *to);

#endif
