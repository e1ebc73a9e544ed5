/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Dumps of gigabytes, in blocks: some are under way to the disk, or from it,
 * while the caller fills or reads another.
 *
 * Problem.  The page cache copies each byte, and a virtual machine may have to
 * find the memory for it first: 3.3 GB took 7 s on a disk that writes them in
 * 1.7 s.
 *
 * Method.  A ring of blocks, each with a request of POSIX asynchronous I/O; a
 * thread of the C library serves those of one file in turn.  What a file has
 * beyond its first megabytes is written around the page cache (O_DIRECT);
 * smaller ones are likely to be read soon, and stay there.  Files are read
 * through the cache, so that the next command finds them there, until the kernel
 * takes long over some megabytes, and then around it.
 *
 * Whatever a request leaves undone, for want of a thread, of O_DIRECT or of
 * room on the disk, is done at once, through the page cache.  What fails then
 * is the error.
 */
#include "config.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tables/internal.h"

#define DEPTH 4
#define APART (DL_TABLES_BLOCK + 4096) /* bytes: O_DIRECT needs aligned ones */
#define MEMORY (DEPTH * (size_t)APART)
#define WRITE_DIRECT_FROM DL_TABLES_BLOCK /* bytes */
#define READ_SPAN (32l << 20)		  /* bytes: if so many ... */
#define READ_SLOW 0.050 /* ... take more seconds, the others go around the cache */

struct request {
	struct aiocb io; /* of no bytes: there is none */
	bool begun;
};

struct dl_tables_blocks {
	int fd, err;
	bool writes, direct;
	bool held;	  /* does the caller read the block at hand? */
	off_t at;	  /* where the next request begins */
	double since;	  /* reading: system_seconds() a span ago */
	unsigned int now; /* the block at hand */
	struct request requests[DEPTH];
	char *memory;
};

static char *block(const struct dl_tables_blocks *b, unsigned int i)
{
	return b->memory + i * (size_t)APART;
}

static void set_direct(struct dl_tables_blocks *b, bool direct)
{
	int flags = fcntl(b->fd, F_GETFL);

	if (direct != b->direct && flags >= 0 &&
	    !fcntl(b->fd, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT))
		b->direct = direct;
}

/* Its memory is apart from that of malloc(), which large pieces would spread out. */
static struct dl_tables_blocks *new_blocks(int fd, bool writes)
{
	struct dl_tables_blocks *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	*b = (struct dl_tables_blocks){ .fd = fd, .writes = writes };
	b->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->memory != MAP_FAILED)
		return b;
	free(b);
	return NULL;
}

/* ---- requests ----------------------------------------------------------- */

static void begin(struct dl_tables_blocks *b, size_t n)
{
	struct request *r = &b->requests[b->now];

	r->io = (struct aiocb){ .aio_fildes = b->fd,
				.aio_buf = block(b, b->now),
				.aio_nbytes = n,
				.aio_offset = b->at,
				.aio_sigevent.sigev_notify = SIGEV_NONE };
	b->at += n;
	r->begun = !(b->writes ? aio_write(&r->io) : aio_read(&r->io));
}

/* What is left of it.  Returns the bytes done in all. */
static size_t do_rest(struct dl_tables_blocks *b, const struct aiocb *io, size_t done)
{
	char *memory = (char *)io->aio_buf;
	ssize_t n = 1;

	set_direct(b, false);
	while (!b->err && n && done < io->aio_nbytes) {
		size_t left = io->aio_nbytes - done;

		n = b->writes ? pwrite(b->fd, memory + done, left, io->aio_offset + done) :
				pread(b->fd, memory + done, left, io->aio_offset + done);
		if (n > 0)
			done += n;
		else if (n < 0 && errno != EINTR)
			b->err = -errno;
	}
	if (!b->err && b->writes && done < io->aio_nbytes)
		b->err = -EIO;
	return done;
}

/* Wait for the request of the block at hand.  Returns the bytes done. */
static size_t complete(struct dl_tables_blocks *b)
{
	struct request *r = &b->requests[b->now];
	const struct aiocb *list[] = { &r->io };
	ssize_t done = 0;

	while (r->begun && aio_error(&r->io) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	if (r->begun)
		done = aio_return(&r->io);
	r->begun = false;
	if (done < (ssize_t)r->io.aio_nbytes)
		done = do_rest(b, &r->io, done > 0 ? done : 0);
	r->io.aio_nbytes = 0;
	return done;
}

static void turn(struct dl_tables_blocks *b)
{
	b->now = (b->now + 1) % DEPTH;
}

/* All that are under way, the oldest first. */
static void complete_all(struct dl_tables_blocks *b)
{
	for (unsigned int i = 0; i < DEPTH; i++) {
		turn(b);
		complete(b);
	}
}

void dl_tables_blocks_free(struct dl_tables_blocks *b)
{
	if (!b)
		return;
	complete_all(b);
	munmap(b->memory, MEMORY);
	free(b);
}

/* ---- writing ------------------------------------------------------------ */

struct dl_tables_blocks *dl_tables_blocks_write(int fd, char **first)
{
	struct dl_tables_blocks *b = new_blocks(fd, true);

	*first = b ? block(b, 0) : NULL;
	return b;
}

char *dl_tables_blocks_put(struct dl_tables_blocks *b)
{
	if (b->at == WRITE_DIRECT_FROM)
		set_direct(b, true);
	if (!b->err)
		begin(b, DL_TABLES_BLOCK);
	turn(b);
	complete(b);
	return block(b, b->now);
}

int dl_tables_blocks_end(struct dl_tables_blocks *b, size_t n)
{
	const struct aiocb last = { .aio_buf = block(b, b->now),
				    .aio_nbytes = n,
				    .aio_offset = b->at };

	complete_all(b);
	do_rest(b, &last, 0);
	return b->err;
}

/* ---- reading ------------------------------------------------------------ */

/* Of the processor, by the kernel for this process. */
static double system_seconds(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_SELF, &used))
		return 0;
	return used.ru_stime.tv_sec + 1e-6 * used.ru_stime.tv_usec;
}

struct dl_tables_blocks *dl_tables_blocks_read(int fd)
{
	struct dl_tables_blocks *b = new_blocks(fd, false);

	if (!b)
		return NULL;
	b->since = system_seconds();
	for (unsigned int i = 0; i < DEPTH; i++) {
		begin(b, DL_TABLES_BLOCK);
		turn(b);
	}
	return b;
}

int dl_tables_blocks_get(struct dl_tables_blocks *b, char **at, size_t *n)
{
	if (b->at % READ_SPAN == 0) {
		double now = system_seconds();

		if (now - b->since > READ_SLOW)
			set_direct(b, true);
		b->since = now;
	}
	if (b->held) {
		begin(b, DL_TABLES_BLOCK);
		turn(b);
	}
	b->held = true;
	*at = block(b, b->now);
	*n = complete(b);
	return b->err;
}
