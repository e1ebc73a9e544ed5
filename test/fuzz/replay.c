/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Feeds a fuzz target from files: those named on the command line, or else
 * the whole of its corpus, and FUZZ_INPUTS that are made of it by cutting,
 * joining and altering, the same ones in every run of a FUZZ_SEED (1).  One that
 * kills the program is left in fuzz-input-NAME.
 *
 * Where the readers are compiled with -fsanitize-coverage=trace-pc, an input that
 * takes a branch that none before it took, or far more often, joins the corpus of
 * this run, and is left in test/fuzz/grown/NAME.  A build in a directory below, with
 * sanitizers and without coverage, begins with these, too.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "test/unit/share.h"

/* The corpus. */
#define MAX_FILES 8192
#define INPUT_BYTES (1 << 11) /* of those that are made */
#define GROWN "test/fuzz/grown"

/* With those of the other targets, a minute of a processor. */
#ifdef __SANITIZE_ADDRESS__
#define INPUTS 10000
#else
#define INPUTS 60000
#endif

static struct {
	uint8_t *data;
	size_t size;
} files[MAX_FILES];

static unsigned int nfiles;
static const char *name; /* of the target, as in replay_NAME */

/* ---- coverage -------------------------------------------------------------- */

#define EDGES (1u << 16)

static struct {
	bool on;
	uint32_t last, ntouched;
	uint16_t touched[EDGES];
	uint8_t hits[EDGES];  /* of this input */
	uint8_t known[EDGES]; /* bit k: 2^k hits, or up to twice as many */
} coverage;

void __sanitizer_cov_trace_pc(void);

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
	uintptr_t pc, here = (uintptr_t)LLVMFuzzerTestOneInput; /* wherever it was loaded */
	uint32_t block;
	uint16_t edge;

	if (!coverage.on)
		return;
	pc = (uintptr_t)__builtin_return_address(0) - here;
	block = (uint32_t)pc * UINT32_C(2654435761) >> 16;
	edge = coverage.last >> 1 ^ block;
	coverage.last = block;
	if (!coverage.hits[edge])
		coverage.touched[coverage.ntouched++] = edge;
	coverage.hits[edge] += coverage.hits[edge] < UINT8_MAX;
}

/* Did this input reach what none has reached before? */
static bool run(const uint8_t *data, size_t size)
{
	bool news = false;

	coverage.last = 0;
	coverage.on = true;
	LLVMFuzzerTestOneInput(data, size);
	coverage.on = false;
	for (; coverage.ntouched; coverage.ntouched--) {
		uint16_t edge = coverage.touched[coverage.ntouched - 1];
		uint8_t bit = 1u << (31 - __builtin_clz(coverage.hits[edge]));

		news |= !(coverage.known[edge] & bit);
		coverage.known[edge] |= bit;
		coverage.hits[edge] = 0;
	}
	return news;
}

/* ---- files ----------------------------------------------------------------- */

static int replay(const char *path)
{
	FILE *from = fopen(path, "r");
	uint8_t *data = NULL;
	size_t size = 0, got;

	if (!from) {
		perror(path);
		return 1;
	}
	do {
		data = realloc(data, size + 65536);
		if (!data)
			abort();
		got = fread(data + size, 1, 65536, from);
		size += got;
	} while (got);
	fclose(from);
	printf("%s: %zu bytes\n", path, size);
	fflush(stdout);
	run(data, size);
	if (nfiles < MAX_FILES) {
		files[nfiles].data = data;
		files[nfiles++].size = size;
	} else {
		free(data);
	}
	return 0;
}

static unsigned long number(const char *variable, unsigned long otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

static size_t draw(uint64_t *state, size_t n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return n ? (*state >> 33) % n : 0;
}

/* The beginning of one file and the end of another (often the same), altered. */
static size_t mutate(uint64_t *state, uint8_t *to, size_t room)
{
	static const char useful[] = "0f9x-: \n\"#[]{},*&%/\0\xff";
	unsigned int a = draw(state, nfiles), b = draw(state, 4) ? a : draw(state, nfiles);
	size_t head = draw(state, files[a].size + 1), tail = draw(state, files[b].size + 1), n;

	if (a == b && draw(state, 4))
		tail = head;
	n = files[b].size - tail;
	head = head > room ? room : head;
	n = n > room - head ? room - head : n;
	memcpy(to, files[a].data, head);
	memcpy(to + head, files[b].data + tail, n);
	n += head;
	for (size_t k = draw(state, 6); n && k--;) {
		size_t at = draw(state, n);

		if (draw(state, 2))
			to[at] ^= 1 << draw(state, 8);
		else
			to[at] = useful[draw(state, sizeof(useful))];
	}
	return n;
}

/* For whoever looks into a failure; a file that is made anew each time takes longer. */
static void keep(int fd, const uint8_t *data, size_t size)
{
	if (ftruncate(fd, size) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
}

/* It joins the corpus, here and for builds below. */
static void grow(const uint8_t *data, size_t size)
{
	char path[4096];
	FILE *to;

	if (nfiles == MAX_FILES)
		return;
	snprintf(path, sizeof(path), GROWN "/%s/%05u", name, nfiles);
	files[nfiles].data = malloc(size + 1);
	files[nfiles].size = size;
	to = fopen(path, "w");
	if (!files[nfiles].data || !to || fwrite(data, 1, size, to) != size || fclose(to))
		abort();
	memcpy(files[nfiles++].data, data, size);
}

static void fuzz(void)
{
	unsigned long seed = number("FUZZ_SEED", 1),
		      n = number("FUZZ_INPUTS", share(INPUTS) / (&fuzz_cost ? fuzz_cost : 1));
	uint8_t *data = malloc(INPUT_BYTES);
	unsigned int before = nfiles;
	uint64_t state = seed;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "fuzz-input-%s", name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (!data || fd < 0)
		abort();
	printf("%lu inputs, seed %lu\n", n, seed);
	fflush(stdout);
	for (unsigned long i = 0; i < n; i++) {
		size_t size = mutate(&state, data, INPUT_BYTES);

		keep(fd, data, size);
		if (run(data, size))
			grow(data, size);
	}
	printf("%u of them joined the corpus\n", nfiles - before);
	close(fd);
	remove(path);
	free(data);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* All files of a directory, in order, each replayed, or else removed: how many; or -1. */
static int each_file(const char *dir, bool remove_them)
{
	struct dirent **list;
	int n = scandir(dir, &list, visible, alphasort), bad = 0;

	for (int i = 0; i < n; i++) {
		char path[8192];

		snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		bad |= remove_them ? remove(path) : replay(path);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return bad ? -1 : n;
}

static int replay_corpus(void)
{
	const char *top = getenv("srcdir");
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/test/fuzz/corpus/%s", top ? top : ".", name);
	if (each_file(dir, false) <= 0) {
		perror(dir);
		return 1;
	}
	snprintf(dir, sizeof(dir), "../" GROWN "/%s", name);
	each_file(dir, false);
	snprintf(dir, sizeof(dir), GROWN "/%s", name);
	mkdir(GROWN, 0777);
	mkdir(dir, 0777);
	each_file(dir, true);
	fuzz();
	return 0;
}

int main(int argc, char **argv)
{
	int err = 0;

	name = strstr(argv[0], "replay_");
	if (!name)
		return 2;
	name += strlen("replay_");
	for (int i = 1; i < argc; i++)
		err |= replay(argv[i]);
	return argc > 1 ? err : replay_corpus();
}
