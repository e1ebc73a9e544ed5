/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as files of the coordinate cache: the first byte is 0 to 7, a byte 0xFF
 * divides a file from the one that it has replaced and from another fabric's.  By the
 * bits of the first byte they get checksums that are right.  Coordinates that are
 * read can be written and are then read again.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dateline/base.h"
#include "listen.h"
#include "plugin/cache_file.h"

#define NFILES 3

/* Where fsync() costs nothing, if there is such a place. */
static char dir[] = "/dev/shm/fuzz-cache.XXXXXX";
static const char *const names[NFILES] = { "dateline-torus-1.conf",
					   "dateline-torus-1.conf.previous",
					   "dateline-torus-2.conf" };

static const char *path_of(unsigned int i)
{
	static char path[sizeof(dir) + 64];

	snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
	return path;
}

static void put(unsigned int i, const uint8_t *data, size_t size, bool sealed)
{
	FILE *to = fopen(path_of(i), "w");
	uint64_t sum = UINT64_C(0xCBF29CE484222325);

	FUZZ_CHECK(to);
	fwrite(data, 1, size, to);
	for (size_t k = 0; k < size; k++)
		sum = (sum ^ data[k]) * UINT64_C(0x100000001B3);
	if (sealed)
		fprintf(to, "# checksum 0x%016" PRIx64 "\n", sum);
	FUZZ_CHECK(!fclose(to));
}

static void clear(void)
{
	for (unsigned int i = 0; i < NFILES; i++)
		unlink(path_of(i));
}

static void clean_up(void)
{
	clear();
	rmdir(dir);
}

static struct dl_fabric *mesh(void)
{
	struct dl_torus_plan plan = { .grid = { .radix = { 3, 2, 1 }, .mesh = { true, true } },
				      .parallel = 1 };
	struct dl_torus_config *c = NULL;
	struct dl_fabric *f = NULL;

	if (!mkdtemp(dir)) {
		strcpy(dir, "./fuzz-cache.XXXXXX");
		FUZZ_CHECK(mkdtemp(dir));
	}
	FUZZ_CHECK(!atexit(clean_up));
	FUZZ_CHECK(!dl_torus_generate(&plan, NULL, &f, &c));
	dl_torus_config_free(c);
	return f;
}

static struct dl_torus_config *read_coordinates(const struct dl_fabric *f, bool *refused)
{
	struct dl_torus_config *c = NULL;
	int err;

	error = false;
	err = dl_cache_file_read(dir, f, &listener, &c);
	FUZZ_CHECK(!err || (err == -EUCLEAN && error && !c));
	*refused = err;
	return c;
}

/* Does it have all switches and cables, and so some switch to begin a seed at? */
static bool is_whole(const struct dl_torus *t)
{
	uint32_t nlinks = 0;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		nlinks += t->nsites - t->nsites / t->grid.radix[d];
	return t->nplaced == t->nsites && t->nlinks >= nlinks;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dl_fabric *f;
	struct dl_torus_config *c;
	struct dl_torus *t = NULL;
	const uint8_t *end = data + size, *at = data + 1;
	char path[PATH_MAX];
	bool refused;
	int err;

	if (!f)
		f = mesh();
	if (!size)
		return 0;
	for (unsigned int i = 0; i < NFILES && at <= end; i++) {
		const uint8_t *stop = memchr(at, 0xFF, end - at);

		stop = stop ? stop : end;
		put(i, at, stop - at, *data >> i & 1);
		at = stop + 1;
	}
	c = read_coordinates(f, &refused);
	if (c && !dl_torus_discover(f, c, NULL, &t)) {
		err = dl_cache_file_write(dir, c, t, path);
		FUZZ_CHECK(!err || (err == -ENODATA && !is_whole(t)));
		dl_torus_config_free(c);
		c = read_coordinates(f, &refused);
		/* Another file may now name as many switches. */
		FUZZ_CHECK(c || refused);
	}
	dl_torus_free(t);
	dl_torus_config_free(c);
	clear();
	return 0;
}
