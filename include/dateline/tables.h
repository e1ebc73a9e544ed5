/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The one structure that holds a routing: what a subnet manager programs
 * into a fabric, whoever computed it.
 *
 * Routers fill it, dumps are read into it and written from it, the judges
 * (verify, emu) look at nothing else but it and the fabric.  It therefore
 * makes no assumption about how the tables came about.
 *
 * Representation.  Forwarding tables are one byte an entry, a row a switch.
 * SL-to-VL maps and VL arbitration tables repeat themselves across a fabric,
 * so each distinct one is stored once and referred to by number: a
 * 16x16x16 torus has some dozen distinct maps for millions of port pairs.
 * Path SLs are a matrix over classes of sources and destinations, for the
 * same reason.
 *
 * Everything belongs to the structure except the fabric, which must outlive
 * it.
 */
#ifndef DATELINE_TABLES_H
#define DATELINE_TABLES_H

#include <string.h>

#include "fabric.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DL_TABLES_NO_PORT 0xFF	   /* forwarding table entry: drop */
#define DL_TABLES_NO_SL 0xFF	   /* path SL unknown, or no path */
#define DL_TABLES_MCAST_LID 0xC000 /* first multicast LID */
#define DL_TABLES_MASK_WORDS 4	   /* 64-bit words in a port mask (256 ports) */

/*
 * An SL-to-VL map: VL of SL s in bits 4s..4s+3.  VL 15 drops the packet
 * (IBA: data must not use VL 15).
 */
typedef uint64_t dl_tables_sl2vl_row;

static inline unsigned int dl_tables_sl2vl_get(dl_tables_sl2vl_row row, unsigned int sl)
{
	return row >> (4 * sl) & 15;
}

struct dl_tables_vlarb_entry {
	uint8_t vl;	/* 0..15 */
	uint8_t weight; /* blocks of 64 bytes; 0: null entry */
};

/* One port's VL arbitration (IBA 7.6.9); unused entries are {0, 0}. */
struct dl_tables_vlarb {
	struct dl_tables_vlarb_entry high[64];
	struct dl_tables_vlarb_entry low[64];
	uint8_t nhigh, nlow; /* entries programmed, at most the port's caps */
	uint8_t high_limit;  /* units of 4096 bytes; 255: unlimited */
};

/* Port masks of 64 switches: rows of DL_TABLES_MASK_WORDS words for those that have any. */
struct dl_tables_mask_rows {
	uint64_t present; /* which have one */
	uint64_t *words;  /* in order; several groups may share them */
};

struct dl_tables_masks {
	struct dl_tables_mask_rows *rows; /* by switch / 64; NULL: nobody has any */
	uint32_t nswitches;
};

struct dl_tables_mcast_group {
	uint16_t mlid;
	struct dl_tables_masks masks;
};

/*
 * Worked example: switch 0 with 2 ports, switch 1 with 3, LIDs up to 70, three
 * adapters.
 *
 *	lft     stride = 128: two blocks of 64 entries, as they go over the wire
 *		lft[0 * 128 + 70]	port of switch 0 towards LID 70
 *		lft[1 * 128 + 70]	port of switch 1
 *
 *	sl2vl   sl2vl_first = { 0, 9, 25 }: 3 x 3 and 4 x 4 pairs, port 0 included
 *		sl2vl[9 + 2 * 4 + 3] = 1	at switch 1, from port 2 to port 3:
 *		rows[1] = 0x7632763276327632	SL 0 -> VL 2, SL 1 -> VL 3,
 *						SL 2 -> VL 6, SL 3 -> VL 7, ...
 *
 *	psl     adapters A and B send alike, C does not; all LIDs of a switch's
 *		adapters are alike: npsl_src = 2, npsl_dst = 2
 *		psl_src[A] = psl_src[B] = 0, psl_src[C] = 1
 *		psl_dst[70] = 1
 *		psl[1 * 2 + 1]		path SL from C to LID 70
 */
struct dl_tables {
	const struct dl_fabric *fabric;

	/* Forwarding: the port for LID l at switch s is lft[s * stride + l]. */
	uint8_t *lft;
	uint32_t stride; /* top_lid + 1, rounded up to blocks of 64 */
	uint16_t top_lid;

	/*
	 * SL to VL, as indices into rows.  Switch s, in and out port i and o
	 * (0..nports): sl2vl[sl2vl_first[s] + i * (nports + 1) + o].  Adapter
	 * and router ports: end_sl2vl[port index] (0xFFFF: not set).
	 */
	dl_tables_sl2vl_row *rows;
	uint32_t nrows, rows_cap;
	uint16_t *sl2vl;
	uint32_t *sl2vl_first; /* nswitches + 1 of them */
	uint16_t *end_sl2vl;

	/* VL arbitration of port p: arbs[vlarb[p]] (0xFFFF: not set). */
	struct dl_tables_vlarb *arbs;
	uint32_t narbs, arbs_cap;
	uint16_t *vlarb;

	/*
	 * Path SL of source end port p (index) to LID l at QoS level 0:
	 * psl[psl_src[p] * npsl_dst + psl_dst[l]]; DL_NONE as class: unknown.
	 * Level 1 is the same with bit 3 set.
	 */
	uint8_t *psl;
	uint32_t *psl_src, *psl_dst;
	uint32_t npsl_src, npsl_dst;

	struct dl_tables_mcast_group *groups; /* in order of MLID */
	uint32_t ngroups, groups_cap;

	/*
	 * dl_tables_check() has passed, and nothing was changed since but by
	 * the functions below, which take the mark away.
	 */
	bool checked;
};

#define DL_TABLES_NO_ROW 0xFFFF

/* Where sl2vl[] has the map from port `in` of a switch to port `out`. */
static inline uint32_t dl_tables_map_index(const struct dl_tables *t, uint32_t sw, unsigned int in,
					   unsigned int out)
{
	return t->sl2vl_first[sw] + in * (dl_fabric_switch_node(t->fabric, sw)->nports + 1u) + out;
}

/* The map at such an index; unknown ones put all on VL 0. */
static inline dl_tables_sl2vl_row dl_tables_map_at(const struct dl_tables *t, uint32_t at)
{
	return t->sl2vl[at] == DL_TABLES_NO_ROW ? 0 : t->rows[t->sl2vl[at]];
}

/*
 * Are the tables consistent: is every index within its array, and every VL, SL and
 * multicast LID within its range?  Whoever fills tables promises that, and readers
 * rely on it.  Forwarding entries may hold anything and are not checked.  0, or
 * -EPROTO (reported).  O(entries).
 */
int dl_tables_check(const struct dl_tables *t, const struct dl_log *log);

/*
 * Empty tables for a finished fabric with LIDs: forwarding entries
 * DL_TABLES_NO_PORT, no SL-to-VL map, no arbitration, no SLs, no groups.
 * Returns 0 or -ENOMEM; *out is released with dl_tables_free() (public).
 */
int dl_tables_new(const struct dl_fabric *f, struct dl_tables **out);

/* The size of such tables in bytes, without path SLs and groups. */
uint64_t dl_tables_bytes(const struct dl_fabric *f);

/*
 * Copy tables to another fabric: nodes with the same GUID keep theirs.  Multicast
 * groups are left out.  0 or -ENOMEM.
 */
int dl_tables_remap(const struct dl_tables *from, const struct dl_fabric *to,
		    struct dl_tables **out);

/* The number of a row, added if it is new.  Negative: -ENOMEM, -ENOSPC. */
int dl_tables_row(struct dl_tables *t, dl_tables_sl2vl_row row);

/*
 * Does a packet's VL depend on no bit of its SL but bit 3, the QoS level?  Then
 * packets may carry any SL (rules A13).
 */
bool dl_tables_any_sl(const struct dl_tables *t);

/* Which SLs applications may use with these tables: a sentence for people. */
const char *dl_tables_sl_demand(const struct dl_tables *t);

/* The number of an arbitration table, added if new.  -ENOMEM, -ENOSPC. */
int dl_tables_arb(struct dl_tables *t, const struct dl_tables_vlarb *arb);

/*
 * The VLs that a port serves with these tables, when packets wait on all VLs of the
 * mask `used`: those that an entry of either table names; of the high one only, where
 * it has no limit and one of those VLs is in it (rules B10).  All, if the port has one VL.
 */
uint16_t dl_tables_vlarb_serves(const struct dl_tables_vlarb *a, const struct dl_fabric_port *p,
				uint16_t used);

/*
 * Allocate the path SL matrix for the given numbers of classes and fill it
 * with DL_TABLES_NO_SL; psl_src and psl_dst start as DL_NONE.  0 or -ENOMEM.
 */
int dl_tables_new_psl(struct dl_tables *t, uint32_t nsrc, uint32_t ndst);

/*
 * The group with this MLID, added with empty masks if new.  NULL: no memory.
 * The pointer holds until the next call.
 */
struct dl_tables_mcast_group *dl_tables_group(struct dl_tables *t, uint16_t mlid);

/* How many groups have a lower MLID: the number of the first one that has not. */
uint32_t dl_tables_groups_below(const struct dl_tables *t, uint32_t mlid);

/* The group with this MLID; NULL: there is none. */
const struct dl_tables_mcast_group *dl_tables_find_group(const struct dl_tables *t, uint16_t mlid);

static inline uint8_t dl_tables_lft(const struct dl_tables *t, uint32_t sw, uint16_t lid)
{
	return lid > t->top_lid ? DL_TABLES_NO_PORT : t->lft[sw * (size_t)t->stride + lid];
}

static inline unsigned int dl_tables_path_sl(const struct dl_tables *t, uint32_t src_port,
					     uint16_t dlid)
{
	uint32_t s, d;

	if (!t->psl || dlid > t->top_lid)
		return DL_TABLES_NO_SL;
	s = t->psl_src[src_port];
	d = t->psl_dst[dlid];
	return s == DL_NONE || d == DL_NONE ? DL_TABLES_NO_SL : t->psl[s * (size_t)t->npsl_dst + d];
}

/* A switch's row to read, or NULL. */
static inline const uint64_t *dl_tables_mask_find(const struct dl_tables_masks *m, uint32_t sw)
{
	const struct dl_tables_mask_rows *part = m->rows ? m->rows + sw / 64 : NULL;
	uint64_t bit = UINT64_C(1) << sw % 64;

	if (!part || !(part->present & bit))
		return NULL;
	return part->words +
	       (size_t)DL_TABLES_MASK_WORDS * __builtin_popcountll(part->present & (bit - 1));
}

/* The words of a switch's mask. */
static inline const uint64_t *dl_tables_mask(const struct dl_tables_masks *m, uint32_t sw)
{
	static const uint64_t none[DL_TABLES_MASK_WORDS] = { 0 };
	const uint64_t *row = dl_tables_mask_find(m, sw);

	return row ? row : none;
}

static inline bool dl_tables_mask_get(const struct dl_tables_masks *m, uint32_t sw,
				      unsigned int port)
{
	return dl_tables_mask(m, sw)[port / 64] >> port % 64 & 1;
}

/* The first switch from `sw` on that has a row, or nswitches. */
uint32_t dl_tables_mask_next(const struct dl_tables_masks *m, uint32_t sw);

/* The words to write to; NULL: no memory.  They hold until another row is added. */
uint64_t *dl_tables_mask_row(struct dl_tables_masks *m, uint32_t sw);

/* Add a port.  0 or -ENOMEM. */
int dl_tables_mask_set(struct dl_tables_masks *m, uint32_t sw, unsigned int port);

/* No ports, and no memory, are left. */
void dl_tables_masks_clear(struct dl_tables_masks *m);

/*
 * Replace masks by a copy.  The two share memory until one of them changes, so a
 * copy is cheap.  0 or -ENOMEM.
 */
int dl_tables_masks_copy(struct dl_tables_masks *to, const struct dl_tables_masks *from);

bool dl_tables_masks_equal(const struct dl_tables_masks *a, const struct dl_tables_masks *b);

/* Recent rows of groups, 64 switches each, by hash; zero it before use. */
#define DL_TABLES_MASKS_SEEN 1024
struct dl_tables_masks_seen {
	struct dl_tables_mask_rows parts[DL_TABLES_MASKS_SEEN];
};

/*
 * Let masks share rows with those seen, and see theirs.  None of these may
 * change or go as long as others are united with them.
 */
void dl_tables_masks_unite(struct dl_tables_masks *m, struct dl_tables_masks_seen *seen);

/* ---- two sets of tables (compare.c) ------------------------------------------ */

/* One part of two sets of tables, `b` and what is the same in its fabric. */
struct dl_tables_changes {
	uint64_t compared, changed; /* known on both sides, and different */
	uint64_t one_sided;	    /* known on one side only */
};

/* Does an entry of a switch for the 64 LIDs from 64 * block on differ, in tables of one fabric? */
static inline bool dl_tables_block_differs(const struct dl_tables *a, const struct dl_tables *b,
					   uint32_t sw, uint32_t block)
{
	return memcmp(a->lft + sw * (size_t)a->stride + 64 * (size_t)block,
		      b->lft + sw * (size_t)b->stride + 64 * (size_t)block, 64) != 0;
}

/* The first LID from `lid` on whose entry differs, or the stride. */
static inline uint32_t dl_tables_next_change(const struct dl_tables *a, const struct dl_tables *b,
					     uint32_t sw, uint32_t lid)
{
	const uint8_t *x = a->lft + sw * (size_t)a->stride, *y = b->lft + sw * (size_t)b->stride;

	while (lid < a->stride && x[lid] == y[lid])
		lid += lid % 64 || dl_tables_block_differs(a, b, sw, lid / 64) ? 1 : 64;
	return lid;
}

/*
 * Compare a part of `a` with that of `b`, in whose fabric `m` finds that of `a`.
 * Forwarding entries that differ are counted by LID and by switch of `a`, too, whose
 * arrays are overwritten.  Maps of switches are those between ports in use on both
 * sides.  Path SLs are those of ordered pairs of an end port and another one's LID.
 * VLHighLimit counts apart from VL arbitration tables.
 * 0 or -ENOMEM.
 */
int dl_tables_compare_lfts(const struct dl_tables *a, const struct dl_tables *b,
			   const struct dl_fabric_match *m, uint32_t *by_lid, uint32_t *by_switch,
			   struct dl_tables_changes *out);
void dl_tables_compare_switch_maps(const struct dl_tables *a, const struct dl_tables *b,
				   const struct dl_fabric_match *m, struct dl_tables_changes *out);
void dl_tables_compare_end_maps(const struct dl_tables *a, const struct dl_tables *b,
				const struct dl_fabric_match *m, struct dl_tables_changes *out);
void dl_tables_compare_vlarb(const struct dl_tables *a, const struct dl_tables *b,
			     const struct dl_fabric_match *m, struct dl_tables_changes *out,
			     struct dl_tables_changes *limits);
int dl_tables_compare_sls(const struct dl_tables *a, const struct dl_tables *b,
			  const struct dl_fabric_match *m, struct dl_tables_changes *out);

/*
 * Are SL-to-VL maps and path SLs the same, of fabrics with the same nodes and LIDs?
 * Without memory to compare them: no.
 */
bool dl_tables_same_vls(const struct dl_tables *a, const struct dl_tables *b);

/* How many switches' masks of a group differ. */
uint32_t dl_tables_compare_masks(const struct dl_tables_masks *a, const struct dl_tables_masks *b,
				 const struct dl_fabric_match *m);

/* Dumps of a routing, in the formats of OpenSM (-D 0x43) and ibdmchk. */
enum dl_tables_file {
	DL_TABLES_LFTS,	  /* opensm-lfts.dump */
	DL_TABLES_FDBS,	  /* opensm.fdbs */
	DL_TABLES_MCFDBS, /* opensm.mcfdbs */
	DL_TABLES_SL2VL,  /* opensm-sl2vl.dump */
	DL_TABLES_SLVL,	  /* dateline-slvl.dump: the switches' for ibdmchk */
	DL_TABLES_VLARB,  /* dateline-vlarb.dump */
	DL_TABLES_PSL,	  /* dateline-psl.dump: path SLs for ibdmchk, by pair */
	DL_TABLES_NFILES
};

/* Write one.  0, -EIO or -ENOMEM. */
int dl_tables_write_file(const struct dl_tables *t, enum dl_tables_file which, FILE *to);

/*
 * Read one into tables made for a fabric with LIDs.  What is damaged, or
 * contradicts the fabric or itself, is reported with file and line; `name`
 * stands in messages.  Returns 0, -EINVAL (reported), -ENOMEM, -EIO.
 */
int dl_tables_read_file(struct dl_tables *t, enum dl_tables_file which, FILE *from,
			const char *name, const struct dl_log *log);

/*
 * LIDs and LMCs that the fabric lacks, from the comments of an
 * opensm-lfts.dump.  Errors as above.
 */
int dl_tables_read_lids(struct dl_fabric *f, FILE *from, const char *name,
			const struct dl_log *log);

/* Free the groups only. */
void dl_tables_free_groups(struct dl_tables *t);
void dl_tables_free(struct dl_tables *t);

/* ---- cycles ----------------------------------------------------------------- */

/*
 * A credit loop or a deadlock: channels, each with a packet that holds it
 * while it waits for the channel of the next step; the last waits for the
 * first.
 */
struct dl_cycle_step {
	uint32_t port; /* output port of a switch, port index */
	uint8_t vl;
	uint8_t sl;    /* of the packet */
	uint16_t dlid; /* its destination; 0: no packet was found */
	uint32_t src;  /* its source end port */
};

struct dl_cycle {
	struct dl_cycle_step *steps;
	uint32_t n; /* 0: there is none */
};

/* ---- load of the cables ----------------------------------------------------- */

/*
 * The load that unicast tables put on the cables: how many pairs of end ports use
 * each, and how many hops a packet makes on average.
 */
struct dl_tables_load {
	/*
	 * By port index: pairs (source end port, destination LID) that leave
	 * a switch by this port towards another switch.  0 for other ports.
	 */
	uint64_t *flows;
	uint64_t busiest; /* the largest of them */
	uint64_t pairs;	  /* delivered pairs */
	uint64_t hops;	  /* cables between switches that they pass */
	/* The same for those pairs that other tables deliver, too. */
	uint64_t common_pairs, common_hops, common_busiest;
	/* And of the other tables. */
	uint64_t other_pairs, other_hops, other_busiest;
};

/*
 * Count.  Pairs whose packets do not arrive are left out, as are a port's
 * packets to itself; a switch's own port 0 counts as an end port.  The fabric
 * needs LIDs.  `other` are other tables of the same fabric to compare with, or
 * NULL.  `among`, by port index, are the end ports whose packets to each other
 * count; NULL: all.  Progress goes to `log`, which may be NULL.  O(switches) for
 * each LID.  Returns 0 or -ENOMEM; released with dl_tables_load_release().
 */
int dl_tables_load_count(const struct dl_tables *t, const struct dl_tables *other,
			 const bool *among, const struct dl_log *log, struct dl_tables_load *out);

/*
 * The same, and how long packets are the first of their buffer: by the port through which a
 * switch sent them, the sum of 1 / `rate` (by port index) of the ports through which the
 * next one sends them.  Others wait behind them meanwhile.  At port 0 of a switch: those of
 * each of its end ports.
 */
int dl_tables_load_hold(const struct dl_tables *t, const bool *among, const uint32_t *rate,
			double *held, struct dl_tables_load *out);
void dl_tables_load_release(struct dl_tables_load *l);

/*
 * Paths to one LID after another; ascending LIDs are fastest.  After
 * dl_tables_paths_to() with a LID in use: do packets from a switch arrive, and how many
 * switches do they pass, even if they are lost?  SL-to-VL maps are ignored.
 * O(switches) for each LID.  0 or -ENOMEM.
 */
struct dl_tables_paths;
int dl_tables_paths_new(const struct dl_tables *t, struct dl_tables_paths **out);
void dl_tables_paths_free(struct dl_tables_paths *p);
void dl_tables_paths_to(struct dl_tables_paths *p, uint16_t lid);
bool dl_tables_paths_arrive(const struct dl_tables_paths *p, uint32_t sw);
uint16_t dl_tables_paths_length(const struct dl_tables_paths *p, uint32_t sw);

/* From the next LID on only these switches count: an array by switch. */
void dl_tables_paths_count(struct dl_tables_paths *p, const bool *switches);

/* ---- snapshots -------------------------------------------------------------- */

/* Where the path SLs of a snapshot come from. */
enum dl_snapshot_sls {
	DL_SNAPSHOT_SLS_NONE,	/* there are none */
	DL_SNAPSHOT_SLS_ENGINE, /* the engine that routed wrote them */
	DL_SNAPSHOT_SLS_ASKED,	/* the subnet administrator was asked for each pair */
	DL_SNAPSHOT_SLS_RULE,	/* torus-2QoS's rule, from the coordinates */
	DL_SNAPSHOT_SLS_FILE	/* a file, and nothing says who wrote it */
};

/* What a snapshot says about itself. */
struct dl_snapshot_about {
	int64_t written; /* seconds since 1970; 0: unknown */
	char engine[32]; /* "dateline", "torus-2QoS"; "": unknown */
	char mode[32];	 /* of the engine dateline: "proven"; "": unknown */
	uint64_t fabric; /* dl_snapshot_fabric_id() */
	enum dl_snapshot_sls sls;
	uint64_t sum; /* the checksum of its file, or of its manifest; 0: it has none */
};

/* A further text of a snapshot: "dateline-torus.dump", "dateline-partial.txt". */
struct dl_snapshot_note {
	char *name, *text;
	size_t len; /* without the NUL that ends the text */
};

/* A fabric, its routing, and what else a snapshot says. */
struct dl_snapshot {
	struct dl_fabric *fabric;
	struct dl_tables *tables;
	unsigned int parts; /* enum dl_snapshot_part: what was found */
	struct dl_snapshot_about about;
	struct dl_snapshot_note *notes;
	uint32_t nnotes, notes_cap;
};

enum dl_snapshot_part {
	DL_SNAPSHOT_HAS_LFTS = 1, /* always */
	DL_SNAPSHOT_HAS_SL2VL = 2,
	DL_SNAPSHOT_HAS_MCFDBS = 4,
	DL_SNAPSHOT_HAS_VLARB = 8,
	DL_SNAPSHOT_HAS_PSL = 16,
	DL_SNAPSHOT_IS_PARTIAL = 32,  /* dateline-partial.txt says what is missing */
	DL_SNAPSHOT_HAS_MANIFEST = 64 /* it was checked as a whole */
};

/* Add a note.  `text` comes from malloc() and is taken over, also on -ENOMEM. */
int dl_snapshot_add_note(struct dl_snapshot *s, const char *name, char *text, size_t len);

/* The note of that name, or NULL. */
const struct dl_snapshot_note *dl_snapshot_find_note(const struct dl_snapshot *s, const char *name);

/*
 * The same number for the same nodes and cables, in whatever order; LIDs, names
 * and speeds do not count.
 */
uint64_t dl_snapshot_fabric_id(const struct dl_fabric *f);

/*
 * Write a snapshot: one file, dateline-snapshot(5).  One rename replaces an earlier
 * file: whatever interrupts the writer, readers find the old file or the new one.  The
 * fabric's number in `about` is filled in.  Returns 0 or a negative errno, reported;
 * -EPROTO as dl_tables_check().
 */
int dl_snapshot_pack(const struct dl_snapshot *s, const char *path, const struct dl_log *log);

/*
 * Export a snapshot for other programs: tables and notes in the directory `dir`,
 * with a manifest by which readers refuse what does not belong together.  An
 * earlier export or an empty directory is replaced as a whole, as above; -EEXIST:
 * anything else is there.  Notes must have names of an export's files, else
 * -EINVAL.
 *
 * Path SLs are exported where they are for at most four million pairs; more of
 * them are left out with a warning.
 */
enum dl_snapshot_flags {
	DL_SNAPSHOT_PSL_ALWAYS = 1, /* however many */
	DL_SNAPSHOT_PSL_NEVER = 2
};
int dl_snapshot_export(const struct dl_snapshot *s, const char *dir, unsigned int flags,
		       const struct dl_log *log);

/* The file that the routing engine writes into its dump directory. */
#define DL_SNAPSHOT_ENGINE_FILE "dateline.dls"

/* Does the name of a snapshot end in ".dls"?  Then it is one file. */
bool dl_snapshot_names_file(const char *path);

/* Is this a compact snapshot, by its first bytes?  1, 0, or a negative errno. */
int dl_snapshot_is_packed(const char *path);

/*
 * Read a snapshot: a file, a directory with DL_SNAPSHOT_ENGINE_FILE in it, an export,
 * or a directory that OpenSM filled with its dumps.  `net` is a netlist for a directory without one, `psl` a file of path SLs to be used
 * instead of the directory's; both may be NULL.  Returns 0; -ENOENT and the like
 * (no such directory; no fabric or no forwarding tables in it), -EINVAL (damaged,
 * mixed or contradictory: file and line are reported), -ENOMEM.
 */
int dl_snapshot_read(const char *path, const char *net, const char *psl, const struct dl_log *log,
		     struct dl_snapshot *out);
void dl_snapshot_release(struct dl_snapshot *s);

#ifdef __cplusplus
}
#endif
#endif
