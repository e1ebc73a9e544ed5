/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Campaigns: many independent items, spread over the cores of this machine
 * and, built with MPI and started by mpirun, over many machines.
 *
 * Items are numbered, and what an item does depends on its number alone.  The
 * results stand in order of the items, so that they do not depend on how
 * the work was split.
 */
#ifndef TOOL_CAMPAIGN_H
#define TOOL_CAMPAIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct campaign {
	uint64_t nitems;
	size_t result_size;   /* bytes; plain data without pointers */
	unsigned int threads; /* 0: one for each core */
	void *shared;	      /* read-only for the workers */

	/* One worker a thread: 0 or a negative errno.  NULL: `shared` is all that it needs. */
	int (*start)(void *shared, void **worker);
	void (*stop)(void *worker);

	/*
	 * One item, into zeroed memory.  0, or a negative errno: the end;
	 * -ECANCELED when it has noticed an interrupt.
	 */
	int (*run)(void *worker, uint64_t item, void *result);

	const char *shown; /* what the terminal calls items while it runs; NULL: nothing */
};

/* Is this the process that prints?  With MPI: rank 0. */
bool campaign_is_leader(void);

/*
 * Run it.  `results` has room for all items; done[i] (nitems of them) states
 * whether item i has run: all have, unless the user interrupted the campaign,
 * which sets *interrupted.  In processes other than the leader both are left
 * with the process's own share.  Returns 0 or the first negative errno.
 */
int campaign_run(const struct campaign *c, void *results, bool *done, bool *interrupted);

/*
 * After an interrupt, threads may still be at what they were: then whatever the
 * campaign was given must stay as it is, and this ends the process.
 */
void campaign_exit(int status);

/* Has the user interrupted the campaign?  For items that take long. */
bool campaign_is_interrupted(void);

/*
 * The threads of this process, made at the first call, which must be the main
 * thread's; NULL: no memory.  main() ends them.
 */
struct dl_pool *campaign_pool(void);
void campaign_end(void);

/* Cores that this process may use. */
unsigned int campaign_cores(void);

/* ---- several machines (campaign_mpi.c, campaign_alone.c) ---------------- */

/* What MPI does for a campaign; all NULL in a build without it. */
struct campaign_machines {
	/* This process's rank and the number of processes. */
	void (*rank)(unsigned int *rank, unsigned int *n);
	/*
	 * Bring all results to rank 0: item i is rank (i mod n)'s.  *err and *flag
	 * become what any rank has (errors: the smallest).  0 or -EIO.
	 */
	int (*gather)(const struct campaign *c, void *results, bool *done, int *err, bool *flag);
};

extern const struct campaign_machines campaign_machines;

#endif
