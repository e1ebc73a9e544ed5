/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Campaigns over many machines (configure --with-mpi).
 *
 * MPI is started by the first question for the rank and ended when the
 * process exits, so that other subcommands never see it.  A rank's share is
 * sent in pieces, because MPI counts in int.
 */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "campaign.h"

#define PIECE ((size_t)1 << 24) /* bytes of one message, at most */

enum { TAG_RESULTS = 1, TAG_DONE };

static void campaign_mpi_end(void)
{
	int over;

	MPI_Finalized(&over);
	if (!over)
		MPI_Finalize();
}

static void campaign_mpi_rank(unsigned int *rank, unsigned int *n)
{
	int started, r, size, level;

	MPI_Initialized(&started);
	if (!started) {
		/* Only the main thread talks to MPI. */
		MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
		atexit(campaign_mpi_end);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	*rank = r;
	*n = size;
}

static int campaign_mpi_transfer(char *buffer, size_t bytes, int rank, int tag, bool send)
{
	size_t n;
	int bad = 0;

	for (size_t at = 0; at < bytes && !bad; at += n) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		bad = send ? MPI_Send(buffer + at, n, MPI_BYTE, 0, tag, MPI_COMM_WORLD) :
			     MPI_Recv(buffer + at, n, MPI_BYTE, rank, tag, MPI_COMM_WORLD,
				      MPI_STATUS_IGNORE);
	}
	return bad ? -EIO : 0;
}

/*
 * One array of items: rank `from` packs its share and sends it, rank 0
 * receives and spreads it.
 */
static int campaign_mpi_move_share(char *items, size_t size, uint64_t nitems, unsigned int from,
				   unsigned int nranks, int tag, bool send)
{
	uint64_t n = nitems / nranks + (from < nitems % nranks), i;
	char *packed = malloc(n * size + 1);
	int err = 0;

	/* The others would wait for ever. */
	if (!packed)
		MPI_Abort(MPI_COMM_WORLD, 3);
	for (i = 0; !err && send && i < n; i++)
		memcpy(packed + i * size, items + (i * nranks + from) * size, size);
	if (!err)
		err = campaign_mpi_transfer(packed, n * size, from, tag, send);
	for (i = 0; !err && !send && i < n; i++)
		memcpy(items + (i * nranks + from) * size, packed + i * size, size);
	free(packed);
	return err;
}

static int campaign_mpi_gather(const struct campaign *c, void *results, bool *done, int *err,
			       bool *flag)
{
	unsigned int rank, n;
	int mine[2] = { *err, -*flag }, all[2], failed = 0;

	campaign_mpi_rank(&rank, &n);
	if (MPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD))
		return -EIO;
	*err = all[0];
	*flag = all[1];
	for (unsigned int from = 1; !failed && from < n; from++) {
		if (rank && rank != from)
			continue;
		failed = campaign_mpi_move_share(results, c->result_size, c->nitems, from, n,
						 TAG_RESULTS, rank);
		if (!failed)
			failed = campaign_mpi_move_share((char *)done, sizeof(*done), c->nitems,
							 from, n, TAG_DONE, rank);
	}
	return failed;
}

const struct campaign_machines campaign_machines = { campaign_mpi_rank, campaign_mpi_gather };
