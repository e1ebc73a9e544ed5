/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coordinates: which switch sits where in a torus or mesh, and which of its
 * ports point in which direction.
 *
 * A site is a place in the grid, numbered x + radix_x * (y + radix_y * z);
 * a failed or missing switch leaves its site empty.  A direction is a
 * dimension and a sense, numbered 2 * dimension + (1 if negative).
 */
#ifndef DATELINE_TORUS_H
#define DATELINE_TORUS_H

#include "fabric.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DL_TORUS_DIMS 3
#define DL_TORUS_DIRS (2 * DL_TORUS_DIMS)
#define DL_TORUS_MAX_RADIX 255 /* of one dimension */
#define DL_TORUS_MAX_SITES DL_FABRIC_MAX_LID

/* What a configuration means when it does not say. */
#define DL_TORUS_DEFAULT_PORTGROUP 16
#define DL_TORUS_DEFAULT_MAX_CHANGES 32

static inline unsigned int dl_torus_dir(unsigned int dim, bool negative)
{
	return 2 * dim + negative;
}

static inline unsigned int dl_torus_dir_dim(unsigned int dir)
{
	return dir / 2;
}

static inline unsigned int dl_torus_opposite(unsigned int dir)
{
	return dir ^ 1;
}

/* The shape of the grid. */
struct dl_torus_grid {
	uint32_t radix[DL_TORUS_DIMS]; /* 1..DL_TORUS_MAX_RADIX; 1: dimension absent */
	bool mesh[DL_TORUS_DIMS];      /* open at the ends? */
};

static inline uint32_t dl_torus_grid_sites(const struct dl_torus_grid *g)
{
	return g->radix[0] * g->radix[1] * g->radix[2];
}

static inline uint32_t dl_torus_site(const struct dl_torus_grid *g, const uint32_t c[DL_TORUS_DIMS])
{
	return c[0] + g->radix[0] * (c[1] + g->radix[1] * c[2]);
}

static inline void dl_torus_site_coord(const struct dl_torus_grid *g, uint32_t site,
				       uint32_t c[DL_TORUS_DIMS])
{
	c[0] = site % g->radix[0];
	c[1] = site / g->radix[0] % g->radix[1];
	c[2] = site / g->radix[0] / g->radix[1];
}

/* The same radices, and open in the same dimensions? */
bool dl_torus_same_grid(const struct dl_torus_grid *a, const struct dl_torus_grid *b);

/*
 * The neighbouring site in a direction, or DL_NONE past the end of a mesh and
 * in a dimension that is absent (radix 1).
 */
uint32_t dl_torus_site_next(const struct dl_torus_grid *g, uint32_t site, unsigned int dir);

/* The direction from a site to a neighbouring one, or DL_TORUS_DIRS. */
unsigned int dl_torus_direction(const struct dl_torus_grid *g, uint32_t from, uint32_t to);

/* The last dimension of radix above 1 (rules A1); 0 when there is none. */
unsigned int dl_torus_last_dim(const struct dl_torus_grid *g);

/*
 * One seed of a configuration: links out of one common switch, and the
 * place of the datelines relative to it.
 */
struct dl_torus_seed {
	uint64_t from;			 /* GUID of the common switch; 0: unset */
	uint64_t to[DL_TORUS_DIRS];	 /* GUID of the neighbour; 0: unset */
	int32_t dateline[DL_TORUS_DIMS]; /* origin, relative to the common switch */
	bool has_dateline[DL_TORUS_DIMS];
	uint32_t line; /* of its first keyword, for messages */
};

/* A parsed torus-2QoS.conf (rules A2). */
struct dl_torus_config {
	struct dl_torus_grid grid;
	struct dl_torus_seed *seeds;
	uint32_t nseeds;
	uint8_t port_order[DL_FABRIC_MAX_PORTS + 1];
	uint32_t nport_order;
	uint32_t max_changes;
	uint32_t portgroup_max_ports;
	bool balanced_ties; /* ties: balanced, not torus-2QoS */
	char *path;	    /* as given, for messages */
};

/*
 * Kinds of off-torus switches, those without a place: to how many placed ones
 * are they, and the off-torus switches they are connected to, cabled?
 */
enum dl_torus_off_kind {
	DL_TORUS_LEAF,	      /* one */
	DL_TORUS_DUAL_HOMED,  /* two */
	DL_TORUS_UNPLACEABLE, /* more */
	DL_TORUS_DISCONNECTED /* none */
};

struct dl_torus {
	struct dl_arena arena; /* of the arrays */
	struct dl_torus_grid grid;
	const struct dl_fabric *fabric; /* borrowed */
	uint32_t nsites;
	uint32_t *site_sw; /* switch at a site, or DL_NONE */
	uint32_t *sw_site; /* site of a switch, or DL_NONE */
	/*
	 * The site whose coordinates determine a switch's path SLs: its own, or
	 * that of the nearest placed switch.  DL_NONE: it is disconnected.
	 */
	uint32_t *attachment;
	/*
	 * Of an off-torus switch: the port, as an index, of the first cable
	 * towards its attachment.  DL_NONE: it is placed, or disconnected.
	 */
	uint32_t *uplink;
	/*
	 * Cables from switch s in direction d lead out of the ports
	 * group_ports[group_first[s * DL_TORUS_DIRS + d]] up to, not including,
	 * group_ports[group_first[s * DL_TORUS_DIRS + d + 1]], ascending.  The k-th
	 * port of a group and the k-th of the opposite group at the far
	 * switch need not be the same cable.
	 */
	uint32_t *group_first;
	uint8_t *group_ports;
	uint8_t *port_dir; /* by port index: direction, or DL_TORUS_DIRS */
	uint32_t seed;	   /* which seed of the configuration */
	/* What does not fit: */
	uint32_t *unplaced; /* switch numbers, in order of GUID */
	uint8_t *off_kind;  /* by switch: enum dl_torus_off_kind */
	uint32_t nunplaced;
	uint32_t *off_links; /* one port index of each cable */
	uint32_t noff_links;
	uint32_t nplaced;
	uint32_t nlinks; /* cables between neighbouring sites */
};

/*
 * dl_torus_discover() by a subnet manager that has seen this fabric before:
 * switches stay where they were in `before` (a torus of the same
 * configuration, or NULL), unless cables or configuration contradict it.
 */
int dl_torus_discover_again(const struct dl_fabric *f, const struct dl_torus_config *c,
			    const struct dl_torus *before, const struct dl_log *log,
			    struct dl_torus **out);

/*
 * Find a torus again without a configuration, from the earlier sites of its switches:
 * only grid, fabric, nsites and site_sw of `before` need to be set.  Switches whose
 * cables contradict their site move.  *c becomes a configuration of what was found, unless
 * c is NULL.
 * Returns 0, -EINVAL (hardly anything of it is left), -ENOMEM.
 */
int dl_torus_recall(const struct dl_fabric *f, const struct dl_torus *before,
		    const struct dl_log *log, struct dl_torus_config **c, struct dl_torus **out);

/*
 * Find a torus without a configuration: where switches were in `known`, which may be NULL,
 * unless the cabling shows a whole torus that is another one, by more than what is missing;
 * with `any` as dl_torus_discover_any() where nothing is known.  *c and *out are NULL before.
 */
int dl_torus_discover_known(const struct dl_fabric *f, const struct dl_torus *known, bool any,
			    const struct dl_log *log, struct dl_torus_config **c,
			    struct dl_torus **out);

/* The switch at the far end of an off-torus switch's uplink, or DL_NONE. */
static inline uint32_t dl_torus_uplink_switch(const struct dl_torus *t, uint32_t sw)
{
	return t->uplink[sw] == DL_NONE ? DL_NONE : dl_fabric_peer_switch(t->fabric, t->uplink[sw]);
}

/* Is this cable, given by one of its ports, part of an uplink? */
bool dl_torus_is_uplink(const struct dl_torus *t, uint32_t port);

/*
 * Port numbers of all cables of a switch's uplink, and of their far ends, in
 * ascending order of the former.  Either list may be NULL; they have room for
 * DL_FABRIC_MAX_PORTS.  Returns how many there are.
 */
unsigned int dl_torus_uplink_cables(const struct dl_torus *t, uint32_t sw, uint8_t *near_ports,
				    uint8_t *far_ports);

/* How many off-torus switches are of this kind? */
uint32_t dl_torus_count_off_torus(const struct dl_torus *t, enum dl_torus_off_kind kind);

/*
 * How many switches are unplaceable or disconnected, and how many cables,
 * between switches of the torus or at such switches, are of no uplink?
 */
uint32_t dl_torus_count_unplaceable(const struct dl_torus *t, uint32_t *cables);

/*
 * The empty site that an off-torus switch could belong to: next to every
 * placed switch that it is cabled to.  DL_NONE: there is none.
 */
uint32_t dl_torus_possible_site(const struct dl_torus *t, uint32_t sw);

/* Log what does not fit, and how it is routed; 0 or -ENOMEM. */
int dl_torus_report_off_torus(const struct dl_torus *t, const struct dl_log *log);

/* How a wiring fault between placed switches is repaired. */
enum dl_torus_repair {
	DL_TORUS_EXCHANGE, /* the cables in the two ports */
	DL_TORUS_MOVE,	   /* the end in port[0], to the switch at `site` */
	DL_TORUS_REMOVE,   /* the cable between the two ports */
	DL_TORUS_ADD	   /* a cable from `site` in direction `dir` */
};

struct dl_torus_fault {
	enum dl_torus_repair repair;
	uint32_t port[2]; /* port indices; DL_NONE: ADD */
	uint32_t site;	  /* or DL_NONE */
	uint8_t dir;	  /* MOVE: from `site` to the other end */
};

/*
 * Find the cables that do not join neighbours, and hops that lack cables.
 * *faults is the caller's, to be freed.  Returns 0 or -ENOMEM.
 */
int dl_torus_find_faults(const struct dl_torus *t, struct dl_torus_fault **faults, uint32_t *count);

/*
 * How many cables do the hops of a dimension have?  The number that most of those have that
 * have any; the larger of two that are as frequent.  Have nearly all of them so many?
 */
uint32_t dl_torus_usual_cables(const struct dl_torus *t, unsigned int dim, bool *nearly_all);

/* Number of parallel cables from a switch in a direction. */
static inline uint32_t dl_torus_group_size(const struct dl_torus *t, uint32_t sw, unsigned int dir)
{
	const uint32_t *first = &t->group_first[sw * DL_TORUS_DIRS + dir];

	return first[1] - first[0];
}

static inline const uint8_t *dl_torus_group(const struct dl_torus *t, uint32_t sw, unsigned int dir)
{
	return &t->group_ports[t->group_first[sw * DL_TORUS_DIRS + dir]];
}

/*
 * A line a switch, in the order of the sites: "switch 0,1,0 GUID 0x... (name)",
 * as torus-2QoS writes opensm-torus.dump; before them, where they would be taken for another
 * torus, a line like "torus 6 5m 1" of torus-2QoS.conf.  0, -EIO or -ENOMEM.
 */
int dl_torus_write_list(const struct dl_torus *t, FILE *to);

/*
 * Read such a list, Dateline's or torus-2QoS's: the grid that it spans, and by
 * switch of the fabric its site, or DL_NONE; *site is for free().  0, -EINVAL
 * (reported), -ENOMEM, -EIO.
 */
int dl_torus_read_list(const struct dl_fabric *f, FILE *from, const char *name,
		       const struct dl_log *log, struct dl_torus_grid *grid, uint32_t **site);

/* ---- marks ------------------------------------------------------------------- */

/*
 * A mark: a switch's coordinates, stored in the switch itself.
 *
 * Path SLs follow from coordinates (rules A5), and the next subnet manager must
 * find the same ones: after a failover, after a restart, on a fabric that has
 * been damaged meanwhile.  Cabling does not show where datelines are, nor do
 * tables: around a ring of odd radix they look the same wherever the ring
 * begins.  So each switch stores its coordinates in entries of its forwarding
 * table above LinearFDBTop, which forward nothing.
 *
 * Every entry is a valid port number of the switch: 64 bits in digits of as many
 * bits as the number of ports allows.  The entries follow the top, in the block
 * of LIDs that holds it and is written anyway, or, if there is no room for them,
 * at the beginning of the next block.
 */
#define DL_TORUS_MARK_BLOCK 64 /* LIDs that are written at a time */

struct dl_torus_mark {
	struct dl_torus_grid grid;
	uint32_t site;	   /* DL_NONE: there is no mark */
	unsigned int mode; /* which path SLs follow from, too: dl_route_mark() */
};

/* How many entries a mark takes on a switch of so many ports (1..254). */
unsigned int dl_torus_mark_length(unsigned int nports);

/* The LID of its first entry, where `top` is the last one in use. */
uint32_t dl_torus_mark_first(uint32_t top, unsigned int nports);

/* Write the mark of the switch with this GUID into entries[0..length - 1]. */
void dl_torus_mark_write(const struct dl_torus_mark *m, uint64_t guid, unsigned int nports,
			 uint8_t *entries);

/* Read it.  False: these entries are none. */
bool dl_torus_mark_read(const uint8_t *entries, uint64_t guid, unsigned int nports,
			struct dl_torus_mark *m);

/* The grid on which most of the marks agree. */
struct dl_torus_grid dl_torus_mark_grid(const struct dl_torus_mark *marks, uint32_t n);

/*
 * The torus that the marks (one by switch) describe, for dl_torus_recall(): grid,
 * fabric, nsites and site_sw are set; and the mode in which the marks were made.
 * NULL: there is no mark.  0 or -ENOMEM.
 */
int dl_torus_of_marks(const struct dl_fabric *f, const struct dl_torus_mark *marks,
		      unsigned int *mode, struct dl_torus **out);

/* ---- configuration and discovery -------------------------------------------- */

/*
 * Read a torus-2QoS.conf.  Errors name file, line and token.  Returns 0,
 * -ENOENT and the like, -EINVAL, -ENOMEM.
 */
int dl_torus_config_read(const char *path, const struct dl_log *log, struct dl_torus_config **out);
int dl_torus_config_read_stream(FILE *from, const char *name, const struct dl_log *log,
				struct dl_torus_config **out);
int dl_torus_config_write(const struct dl_torus_config *c, FILE *to);
void dl_torus_config_free(struct dl_torus_config *c);

/*
 * Find radices and a seed from the cabling alone, the same ones every time.
 * Returns 0, -ENOTSUP (no torus or mesh is recognisable), -ENOMEM.
 */
int dl_torus_infer(const struct dl_fabric *f, const struct dl_log *log,
		   struct dl_torus_config **out);

/*
 * Find every switch's coordinate.  Returns 0 (also when some switches or
 * cables fit nowhere: the torus lists them), -EINVAL when no seed of the
 * configuration is usable on this fabric, -ENOMEM.  The torus borrows the
 * fabric.
 */
int dl_torus_discover(const struct dl_fabric *f, const struct dl_torus_config *c,
		      const struct dl_log *log, struct dl_torus **out);
void dl_torus_free(struct dl_torus *t);

/*
 * The same from the cabling alone, with these radices and kinds, or (NULL) any; *c gets
 * the configuration that was found.  Returns 0, -ENOTSUP as dl_torus_infer(), -EINVAL,
 * -ENOMEM.
 */
int dl_torus_discover_cabling(const struct dl_fabric *f, const struct dl_torus_grid *wanted,
			      const struct dl_log *log, struct dl_torus_config **c,
			      struct dl_torus **out);

/*
 * The same for any fabric with a switch (rules A12).  Where the cabling shows no torus,
 * there are no coordinates: one switch is at (0,0,0) of a torus with one site, and all
 * others are off-torus switches that are routed along a tree.  Failures of the attempts
 * are logged as warnings.  `c` may be NULL.  Returns 0, -EINVAL (no switch), -ENOMEM.
 */
int dl_torus_discover_any(const struct dl_fabric *f, const struct dl_torus_grid *wanted,
			  const struct dl_log *log, struct dl_torus_config **c,
			  struct dl_torus **out);

/* Is this the torus of a fabric without coordinates? */
bool dl_torus_is_rooted(const struct dl_torus *t);

/* What dl_torus_check_config() finds. */
enum dl_torus_agreement {
	DL_TORUS_AGREES,
	DL_TORUS_OUTDATED,   /* seeds name switches or links that do not exist */
	DL_TORUS_CONTRADICTS /* the coordinates are wrong */
};

/*
 * Does a configuration contradict the fabric in a way that failures cannot
 * explain?  Each contradiction is logged as an error.  Returns an enum
 * dl_torus_agreement or -ENOMEM.
 */
int dl_torus_check_config(const struct dl_torus *t, const struct dl_torus_config *c,
			  const struct dl_log *log);

/*
 * Write the configuration of a torus: radices and up to `max_seeds` seeds
 * that share no switch.  Returns 0 or -ENOMEM.
 */
int dl_torus_describe(const struct dl_torus *t, unsigned int max_seeds,
		      struct dl_torus_config **out);

/*
 * Log what changed between two tori, at most `max` lines of DL_LOG_INFO and one
 * that counts the rest.
 */
void dl_torus_report_changes(const struct dl_torus *before, const struct dl_torus *after,
			     uint32_t max, const struct dl_log *log);

/*
 * Log how many sites lack a switch and how many hops lack cables, if any do, and
 * name up to `max` of each.
 */
void dl_torus_report_missing(const struct dl_torus *t, uint32_t max, const struct dl_log *log);

/* ---- slow cables ------------------------------------------------------------ */

/*
 * By port index of a cable's ends: its rate (dl_fabric_rate()), the median rate of its
 * kind, which also replaces an unknown rate, and whether it is slower than that.  There
 * are five kinds: cables along each dimension, other cables between switches, and
 * cables to end ports.
 * `sw_site` is by switch; NULL: no coordinates are known.  0 or -ENOMEM.
 */
struct dl_torus_speeds {
	struct dl_arena arena;
	uint32_t *rate, *usual;
	bool *slow;
	uint32_t nslow; /* cables */
};

int dl_torus_speeds_init(struct dl_torus_speeds *s, const struct dl_fabric *f,
			 const struct dl_torus_grid *g, const uint32_t *sw_site);
void dl_torus_speeds_release(struct dl_torus_speeds *s);

/* ---- generated fabrics ------------------------------------------------------ */

/* Cables missing between a site and its neighbour in a direction. */
struct dl_torus_failed_hop {
	uint32_t site;
	uint8_t dir;
	uint8_t cables; /* how many; 0: all of them */
};

struct dl_torus_plan {
	struct dl_torus_grid grid;
	uint32_t hosts;	   /* adapters at each switch */
	uint32_t parallel; /* cables in each direction, at least 1 */
	uint8_t width;	   /* of every cable: lanes, and enum dl_fabric_speed; */
	uint8_t speed;	   /* both 0: 4xSDR, as simulators take a cable for */
	bool scramble;	   /* ports, GUIDs and order by `seed`? */
	uint64_t seed;
	const uint32_t *failed_sites; /* in any order, also repeated */
	uint32_t nfailed_sites;
	const struct dl_torus_failed_hop *failed_hops; /* they add up */
	uint32_t nfailed_hops;
};

/*
 * Make the fabric of a plan and a configuration that describes it.  Both are
 * the caller's.  Returns 0, -EINVAL (reported: too many ports, nodes or
 * failures, no such hop), -ENOMEM.
 */
int dl_torus_generate(const struct dl_torus_plan *plan, const struct dl_log *log,
		      struct dl_fabric **fabric, struct dl_torus_config **config);

/* ---- a curve through the grid ----------------------------------------------- */

/*
 * Fill `order` with all sites of the grid, each once, along a space-filling
 * curve that begins near site 0: each is a neighbour of the one before, and
 * any stretch of the walk lies in a compact part of the grid.  Returns 0 or
 * -ENOMEM.
 */
int dl_torus_curve(const struct dl_torus_grid *g, uint32_t *order);

/* Hops between two sites, the shorter way round. */
uint32_t dl_torus_site_distance(const struct dl_torus_grid *g, uint32_t a, uint32_t b);

#ifdef __cplusplus
}
#endif
#endif
