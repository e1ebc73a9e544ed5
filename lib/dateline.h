/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libdateline: torus routing for InfiniBand, its proof and its emulation.
 *
 * Conventions.  Functions that can fail return 0 or a negative errno value;
 * results come through the last parameter, which is left alone on failure.
 * Every message meant for a person goes to the caller's log.  The library
 * never prints, exits or aborts, keeps no global state, and gives the same
 * bytes for the same input.  Objects may be read by several threads at once;
 * an object is changed by one thread only.
 */
#ifndef DATELINE_H
#define DATELINE_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dl_level { DL_ERROR, DL_WARNING, DL_INFO, DL_VERBOSE };

/* Where messages go.  `message` is one line without its newline. */
struct dl_log {
	void (*write)(void *context, enum dl_level level, const char *message);
	void *context;
};

struct dl_fabric;
struct dl_torus_config;
struct dl_torus;
struct dl_tables;
struct dl_verdict;

/* ---- fabric ------------------------------------------------------------ */

/*
 * Read a netlist: ibnetdiscover's output, ibsim's input.  Damage is reported
 * with file and line.  Returns 0, -ENOENT and the like (cannot be opened),
 * -EINVAL (damaged), -ENOMEM.
 */
int dl_fabric_read_netlist(const char *path, const struct dl_log *log,
			   struct dl_fabric **out);

/* The same from an open stream; `name` stands in messages. */
int dl_fabric_read_netlist_stream(FILE *from, const char *name,
				  const struct dl_log *log,
				  struct dl_fabric **out);

/* Write a netlist that ibsim and dl_fabric_read_netlist() read.  0 or -EIO. */
int dl_fabric_write_netlist(const struct dl_fabric *f, FILE *to);

/* Write OpenSM's subnet list (opensm-subnet.lst).  0 or -EIO. */
int dl_fabric_write_subnet_list(const struct dl_fabric *f, FILE *to);

/* Read such a list, from a file or a stream; errors as with a netlist. */
int dl_fabric_read_subnet_list(const char *path, const struct dl_log *log,
			       struct dl_fabric **out);
int dl_fabric_read_subnet_list_stream(FILE *from, const char *name,
				      const struct dl_log *log,
				      struct dl_fabric **out);

void dl_fabric_free(struct dl_fabric *f);

/* ---- torus ------------------------------------------------------------- */

/*
 * Read a torus-2QoS.conf.  Errors name file, line and token.  Returns 0,
 * -ENOENT and the like, -EINVAL, -ENOMEM.
 */
int dl_torus_config_read(const char *path, const struct dl_log *log,
			 struct dl_torus_config **out);
int dl_torus_config_read_stream(FILE *from, const char *name,
				const struct dl_log *log,
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
int dl_torus_discover(const struct dl_fabric *f,
		      const struct dl_torus_config *c,
		      const struct dl_log *log, struct dl_torus **out);
void dl_torus_free(struct dl_torus *t);

/*
 * Write the configuration of a torus: radices and up to `max_seeds` seeds
 * that share no switch.  Returns 0 or -ENOMEM.
 */
int dl_torus_describe(const struct dl_torus *t, unsigned int max_seeds,
		      struct dl_torus_config **out);

/*
 * Log what changed between two tori, at most `max` lines of DL_INFO and one
 * that counts the rest.
 */
void dl_torus_report_changes(const struct dl_torus *before,
			     const struct dl_torus *after, uint32_t max,
			     const struct dl_log *log);

/* ---- routing ----------------------------------------------------------- */

enum dl_mode { DL_CLASSIC, DL_PROVEN };

struct dl_route_options {
	enum dl_mode mode;
	/* VL arbitration weights of QoS levels 0 and 1, 1..255. */
	unsigned int weights[2];
	unsigned int high_limit;	/* VLHighLimit, 0..255 */
	/*
	 * Proven mode: after so many seconds by this clock what is not yet
	 * repaired is sent along a spanning tree.  NULL: there is no hurry;
	 * then, or within the limit, the result depends on the fabric alone.
	 */
	unsigned int repair_seconds;
	double (*clock)(void);
};

/* The defaults: proven, 1:1, 16 KiB, 10 seconds but no clock. */
void dl_route_options_init(struct dl_route_options *o);

/*
 * Compute all unicast tables of a torus: forwarding, SL to VL, VL
 * arbitration, path SLs.  The fabric needs LIDs.  Returns 0, -ENOTSUP when
 * the rules refuse the fabric (the reason and the culprits go to the log),
 * -ENOMEM.
 */
int dl_route(const struct dl_torus *t, const struct dl_torus_config *c,
	     const struct dl_route_options *o, const struct dl_log *log,
	     struct dl_tables **out);
void dl_tables_free(struct dl_tables *t);

/* ---- proof ------------------------------------------------------------- */

struct dl_verify_options {
	/*
	 * Tables of an earlier moment: their path SLs are compared with the
	 * ones judged, port by port.  NULL: no comparison.
	 */
	const struct dl_tables *earlier;
	/* Bit s is set when multicast packets may use SL s. */
	uint16_t multicast_sls;
	/*
	 * QoS levels to judge.  1: the path SLs as they are; 2: those with
	 * bit 3 set as well; 0: 2, unless a path SL uses bit 3 itself.
	 */
	unsigned int levels;
	/*
	 * Leave out the packets to and from switches' own ports: management
	 * datagrams, small and rare, but packets like others.
	 */
	int adapters_only;
	/* At most so many failures of delivery are listed; all are counted. */
	unsigned int max_listed;
};

/* The defaults: all pairs, no comparison, SLs 0 and 8, levels by the SLs. */
void dl_verify_options_init(struct dl_verify_options *o);

/*
 * Judge tables: does every packet arrive, and can packets wait for each other
 * in a circle?  Findings are no error: they stand in the verdict.  What had to
 * be assumed because the tables do not say it goes to the log as a warning.
 * Returns 0 or -ENOMEM.  The verdict is the caller's and refers to the
 * fabric.  `o` may be NULL for the defaults.
 */
int dl_verify(const struct dl_tables *t, const struct dl_verify_options *o,
	      const struct dl_log *log, struct dl_verdict **out);

/* Does every packet reach its destination, and every copy its member? */
int dl_verdict_delivered(const struct dl_verdict *v);

/* Is there a credit loop? */
int dl_verdict_credit_loop(const struct dl_verdict *v);
void dl_verdict_free(struct dl_verdict *v);

/* ---- snapshots --------------------------------------------------------- */

/*
 * Write a snapshot: fabric and tables in the folder `dir`, which is made when
 * it is not there.  Each file is replaced as a whole.  Returns 0 or a
 * negative errno, reported.
 */
enum dl_snapshot_flags {
	/* Path SLs as well; the file grows with the square of the fabric. */
	DL_SNAPSHOT_PSL = 1
};
int dl_snapshot_write(const struct dl_tables *t, const char *dir,
		      unsigned int flags, const struct dl_log *log);

/* A snapshot read back; all of it belongs to the reader. */
struct dl_snapshot {
	struct dl_fabric *fabric;
	struct dl_tables *tables;
	unsigned int parts;	/* enum dl_part: what was there */
};

enum dl_part {
	DL_PART_LFTS = 1,	/* always */
	DL_PART_SL2VL = 2,
	DL_PART_MCFDBS = 4,
	DL_PART_VLARB = 8,
	DL_PART_PSL = 16,
	DL_PART_PARTIAL = 32	/* marked as partial by whoever wrote it */
};

/*
 * Read a snapshot, or a folder that OpenSM filled with its dumps.  `net` is a
 * netlist for a folder without one, `psl` a file of path SLs to be used
 * instead of the folder's; both may be NULL.  Returns 0; -ENOENT and the like
 * (no such folder; no fabric or no forwarding tables in it), -EINVAL (damaged
 * or contradictory: file and line are reported), -ENOMEM.
 */
int dl_snapshot_read(const char *dir, const char *net, const char *psl,
		     const struct dl_log *log, struct dl_snapshot *out);
void dl_snapshot_release(struct dl_snapshot *s);

/* ---- the running fabric ------------------------------------------------ */

enum dl_paths {
	DL_PATHS_SOME,		/* all, if there are not more than two million */
	DL_PATHS_NONE,
	DL_PATHS_ADAPTERS,	/* those between adapters */
	DL_PATHS_ALL
};

struct dl_live_options {
	const char *ca;			/* local adapter; NULL: any */
	int port;			/* its port; 0: any that is up */
	unsigned int timeout_ms;	/* for one answer */
	unsigned int retries;		/* after the first time */
	unsigned int in_flight;		/* queries at a time, at most 4096 */
	enum dl_paths paths;		/* path SLs to ask for */
	/* Called now and then while something is read.  NULL: no need. */
	void (*progress)(void *context, const char *what, uint64_t done,
			 uint64_t total);
	void *context;
};

/* The defaults: any port, half a second, 4 retries, 64 in flight. */
void dl_live_options_init(struct dl_live_options *o);

/*
 * Discover the fabric that this machine is attached to.  Needs the right to
 * send management datagrams.  Returns 0; -ENODEV, -EACCES (no port, or not
 * allowed), -EAGAIN (it changed meanwhile), -EIO, -ENOMEM.  All reported.
 */
int dl_live_fabric(const struct dl_live_options *o, const struct dl_log *log,
		   struct dl_fabric **out);

/*
 * The same, and read all tables that are programmed into it, and the path SLs
 * that its subnet administrator grants.  *gaps becomes NULL, or a text that
 * lists what did not answer, for free().  Errors as above, and -ENOTCONN when
 * no port has a LID.
 */
int dl_live_read(const struct dl_live_options *o, const struct dl_log *log,
		 struct dl_snapshot *out, char **gaps);

#ifdef __cplusplus
}
#endif
#endif
