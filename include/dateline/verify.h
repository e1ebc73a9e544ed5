/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Verification of a set of tables: delivery, credit loops, and service.
 *
 * A channel is a pair of an output port and a VL: the place where packets
 * wait for credits.  Only channels from switch to switch can be part of a
 * credit loop, since adapters always consume what they receive.
 */
#ifndef DATELINE_VERIFY_H
#define DATELINE_VERIFY_H

#include "tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a packet does not arrive. */
enum dl_verify_fault {
	DL_VERIFY_NO_ENTRY,	   /* the switch has no entry for the LID */
	DL_VERIFY_DEAD_PORT,	   /* the entry names a port without a cable */
	DL_VERIFY_WRONG_END,	   /* handed to an end port other than the owner */
	DL_VERIFY_FORWARDING_LOOP, /* comes back to the same switch for ever */
	DL_VERIFY_NO_VL,	   /* the SL maps to no VL of the output port */
	DL_VERIFY_UNATTACHED,	   /* an end port is attached to no switch */
	DL_VERIFY_NO_COPY,	   /* no copy of a multicast packet arrives */
	DL_VERIFY_TWICE		   /* more than one does */
};

/* One packet that does not arrive as it should. */
struct dl_verify_lost {
	uint32_t src;  /* source end port, port index */
	uint32_t dst;  /* destination, group member, or DL_NONE */
	uint16_t dlid; /* unicast or multicast LID */
	uint8_t sl;    /* DL_TABLES_NO_SL: whatever the SL */
	uint8_t fault; /* enum dl_verify_fault */
	uint32_t sw;   /* switch where it goes wrong, or DL_NONE */
	uint8_t port;  /* output port there; DL_TABLES_NO_PORT: none */
};

/* A VL on which packets leave a port whose VL arbitration does not serve it. */
struct dl_verify_starved {
	uint32_t port; /* port index */
	uint8_t vl;
};

/* What is known of credit loops. */
enum dl_verify_verdict {
	DL_VERIFY_FREE,	      /* proven: there is none, whatever is unknown */
	DL_VERIFY_LOOP,	      /* there is one, and packets that may be sent close it */
	DL_VERIFY_NOT_JUDGED, /* it depends on SL-to-VL maps that are unknown */
	DL_VERIFY_POSSIBLE    /* one, if pairs without a known path SL may use any SL */
};

struct dl_verify_result {
	const struct dl_fabric *fabric;
	bool delivered;
	bool credit_loop; /* was one found?  If not, see verdict */
	enum dl_verify_verdict verdict;
	bool sl_stable;
	bool sl_known;		     /* did the tables say which SLs are used? */
	uint16_t sls;		     /* those of dl_verify_options */
	unsigned int levels;	     /* QoS levels checked */
	uint64_t pairs;		     /* ordered pairs of source port and LID */
	uint64_t nlost;		     /* those that fail */
	uint32_t groups_lost;	     /* multicast groups in which a copy fails */
	struct dl_verify_lost *lost; /* some of them */
	uint32_t nlisted;
	struct dl_cycle cycle; /* the shortest loop, found or possible */
	/*
	 * VLs that starve: in neither arbitration table of the port, or only in the
	 * low one while the high one has no limit and packets of its own.
	 */
	struct dl_verify_starved *starved;
	uint32_t nstarved;
	uint32_t groups;   /* multicast groups */
	uint64_t channels; /* between switches, with packets */
	uint64_t dependencies;
	uint64_t without_sl;  /* pairs without a path SL, when others have one */
	uint64_t without_vl;  /* pairs of ports with an unknown map */
	uint64_t sl_changes;  /* pairs (as above) whose path SL differs from before */
	uint64_t sl_compared; /* pairs compared */
};

#define DL_VERIFY_ANY_SL 0xFFFF

/*
 * Packets that were under way when cables failed, and had passed one: they have come in by
 * a port of a switch that has no cable any more, or another one, and go on by its maps.
 */
struct dl_verify_orphan {
	uint32_t sw;
	uint16_t lid;
	uint16_t sls; /* path SLs, all where they are unknown */
	uint8_t in;   /* port */
};

struct dl_verify_orphans {
	const struct dl_tables *held;  /* the maps that they meet */
	struct dl_verify_orphan *list; /* in order of LIDs */
	uint32_t n;
	bool moved; /* some came by a cable that leads elsewhere now */
};

struct dl_verify_options {
	/*
	 * Tables of an earlier moment: their path SLs are compared with the
	 * ones checked, port by port.  NULL: no comparison.
	 */
	const struct dl_tables *earlier;
	/*
	 * SLs that every pair may use, whatever its path SL: bit s for SL s.
	 * 0: the path SLs.  DL_VERIFY_ANY_SL: every SL, but those with bit 3
	 * set that all maps between switches drop; no such packet travels.
	 */
	uint16_t sls;
	/* Bit s is set when multicast packets may use SL s. */
	uint16_t multicast_sls;
	/*
	 * QoS levels to check.  1: the path SLs as they are; 2: those with
	 * bit 3 set as well; 0: 2, unless a path SL uses bit 3 itself.
	 * Without a meaning where `sls` are given.
	 */
	unsigned int levels;
	/*
	 * Leave out the packets to and from switches' own ports: management
	 * datagrams, small and rare, but packets like others.
	 */
	int adapters_only;
	/* At most so many failures of delivery are listed; all are counted. */
	unsigned int max_listed;
	/*
	 * Of mixtures only: packets that count as well, and those to groups by ports
	 * without a cable.  NULL: none.
	 */
	const struct dl_verify_orphans *orphans;
};

/* The defaults: all pairs, no comparison, SLs 0 and 8, levels by the SLs. */
void dl_verify_options_init(struct dl_verify_options *o);

/*
 * Check tables: does every packet arrive, is there a credit loop, and does every
 * VL that packets use get its turn?
 * Findings are no error: they are in the result.  Assumptions that had to be
 * made because the tables do not say go to the log as warnings.  Returns 0,
 * -ENOMEM, or -EPROTO: the tables do not hold together (dl_tables_check()).
 * The result belongs to the caller and refers to the fabric.  `o` may be NULL
 * for the defaults.
 */
int dl_verify(const struct dl_tables *t, const struct dl_verify_options *o,
	      const struct dl_log *log, struct dl_verify_result **out);

void dl_verify_result_free(struct dl_verify_result *v);

/*
 * Write a certificate that tables have no credit loop: a rank for each channel,
 * which contrib/check compares with the tables.  The format is described in
 * lib/verify/certificate.c.  0, -ELOOP (there is a loop, or one is possible),
 * -EIO, -ENOMEM, -EPROTO as dl_verify().
 */
int dl_verify_certificate(const struct dl_tables *t, const struct dl_verify_options *o, FILE *to);

/*
 * Are tables also safe for packets with path SLs of earlier tables, which their
 * connections were granted?  Both are of one fabric; `before` may have other entries
 * and maps.  0, -ENOMEM or -EPROTO as dl_verify().
 */
int dl_verify_granted(const struct dl_tables *t, const struct dl_tables *before, bool adapters_only,
		      bool *safe);

/* ---- states between two sets of tables -------------------------------------- */

/* What can go wrong while switches hold entries of either set. */
struct dl_verify_mixture {
	bool safe;	       /* neither of the following */
	struct dl_cycle cycle; /* the shortest credit loop; without packets */
	/* Packets in a circle: their LID, or 0, and the output ports. */
	uint16_t loop_lid;
	uint32_t *loop; /* port indices */
	uint32_t nloop;
	bool quick; /* was it asked for one finding only? */
};

/*
 * Check all states in which each switch has, for each LID, the entry of `a` or
 * that of `b`, and for each group the ports of either.  Both are tables of one
 * fabric; SL-to-VL maps and path SLs are those of `b`.  `quick`: a circle ends
 * the search.  0, -ENOMEM or -EPROTO as dl_verify(); release the result with
 * dl_verify_mixture_release().
 */
int dl_verify_mixed(const struct dl_tables *a, const struct dl_tables *b,
		    const struct dl_verify_options *o, bool quick, struct dl_verify_mixture *out);
void dl_verify_mixture_release(struct dl_verify_mixture *m);

/*
 * What several mixtures of the same n sets of tables, of one fabric, have in
 * common, computed once.  The tables must not change until dl_verify_common_free();
 * NULL options are the defaults; progress goes to the log.  0, -ENOMEM or -EPROTO as
 * dl_verify().
 */
struct dl_verify_common;
int dl_verify_common_new(const struct dl_tables *const *tables, unsigned int n,
			 const struct dl_verify_options *o, const struct dl_log *log,
			 struct dl_verify_common **out);
void dl_verify_common_free(struct dl_verify_common *c);

/*
 * dl_verify_mixed() for tables each of whose entries one of those sets has.
 * Cheap where `b` has the maps and path SLs of the first of them.
 */
int dl_verify_mixed_of(struct dl_verify_common *c, const struct dl_tables *a,
		       const struct dl_tables *b, bool quick, struct dl_verify_mixture *out);

/* ---- entries on the move (moving.c) ------------------------------------------ */

#define DL_VERIFY_STAYS 255 /* a time that never comes */

/*
 * An entry of a LID.  Time counts barriers since the last drain: packets meet `before` at
 * times up to `time`, and `after` from `time` on.
 */
struct dl_verify_entry {
	uint32_t sw;
	uint8_t before, after; /* ports */
	uint8_t time;
	uint8_t goal;				 /* the port that the new tables have */
	bool hidden;				 /* treat it as closed for now */
	uint32_t nearlier;			 /* ports that it had before, ... */
	const struct dl_verify_earlier *earlier; /* ... the first one first */
};

/* A port that an entry had in the change before this one, up to a time of that change. */
#define DL_VERIFY_MOST_EARLIER 6 /* ports of an entry */
struct dl_verify_earlier {
	uint32_t sw;
	uint16_t lid;
	uint8_t port;
	uint8_t until;
};

struct dl_verify_extra {
	uint32_t sw;
	uint16_t lid;
};

/* A change of entries; all are tables of one fabric with the same SL-to-VL maps. */
struct dl_verify_change {
	const struct dl_tables *held, *opened; /* from these to those */
	const struct dl_tables *closed;	       /* those on which both agree */
	/* Groups: of the first, with the ports of the second; others until the first drain. */
	const struct dl_tables *groups, *joined, *leaving; /* the last two may be NULL */
	/* Entries that do not differ and may move, each once, of LIDs of which others differ. */
	const struct dl_verify_extra *extra;
	uint32_t nextra;
	/* They count until the first drain, or as long as their group; NULL: none. */
	const struct dl_verify_orphans *orphans;
	/* As do ports before this change, by LID, switch and time; that took so many times. */
	const struct dl_verify_earlier *earlier;
	uint32_t nearlier, times;
	/*
	 * NULL; or, if the same change is tried again with other groups, entries or leftovers,
	 * where what entries that stay cause is kept for that: NULL at first, the caller's.
	 */
	uint64_t **kept;
};

/*
 * The channel dependencies of all packets that can be under way.  0; -ELOOP: there is a
 * cycle before anything has moved; -ENOMEM, -EPROTO.
 */
struct dl_verify_moving;
int dl_verify_moving_new(const struct dl_verify_change *change, struct dl_verify_moving **out);
void dl_verify_moving_free(struct dl_verify_moving *m);

/* LIDs with entries that differ, and these entries, in order of switches; then the extra ones. */
uint32_t dl_verify_moving_count(const struct dl_verify_moving *m);
const struct dl_verify_entry *dl_verify_moving_entries(const struct dl_verify_moving *m, uint32_t i,
						       uint16_t *lid, uint32_t *n);

/* The cost so far: how often packets were followed across a link; 0 for NULL. */
uint64_t dl_verify_moving_followed(const struct dl_verify_moving *m);

/* An entry that gets another port at a time. */
struct dl_verify_move {
	uint32_t entry; /* number in the LID's list */
	uint8_t port;
	uint8_t time;
};

/*
 * Move n entries of LID number i, none of which has moved since the last drain.  1; 0:
 * that could close a cycle, and nothing is changed; -ENOMEM.
 */
int dl_verify_moving_try(struct dl_verify_moving *m, uint32_t i, const struct dl_verify_move *moves,
			 uint32_t n);

/* An entry: its LID and its place in that one's list. */
struct dl_verify_blocker {
	uint32_t lid, entry;
};

/*
 * What blocks entries that were refused: the old entries that cause the dependency
 * behind most refusals, chosen so that the fewest LIDs are concerned; all old entries
 * of some LID, if nothing else helps.  `out` has room for all entries.  0 or -ENOMEM.
 */
int dl_verify_moving_blockers(struct dl_verify_moving *m, const struct dl_verify_blocker *refused,
			      uint32_t nrefused, struct dl_verify_blocker *out, uint32_t *n);

/* All packets that met an entry since moved have left.  0 or -ENOMEM. */
int dl_verify_moving_drain(struct dl_verify_moving *m);

/*
 * Groups get the ports of those of other tables, too, after all moves.  0; -ELOOP: that
 * closes a cycle, as long as there was no drain; -ENOMEM.
 */
int dl_verify_moving_join(struct dl_verify_moving *m, const struct dl_tables *groups);

#ifdef __cplusplus
}
#endif
#endif
