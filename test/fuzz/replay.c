/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Feeds a fuzz target from files: those named on the command line, or else
 * the whole of its corpus, and FUZZ_INPUTS (10000) that are made of it by cutting,
 * joining and altering, the same ones in every run of a FUZZ_SEED (1).  One that
 * kills the program is left in fuzz-input-NAME.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "test/unit/share.h"

/* The corpus. */
#define MAX_FILES 256
#define INPUT_BYTES (1 << 16)

static struct {
	uint8_t *data;
	size_t size;
} files[MAX_FILES];

static unsigned int nfiles;

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
	LLVMFuzzerTestOneInput(data, size);
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

static void fuzz(void)
{
	unsigned long seed = number("FUZZ_SEED", 1), n = number("FUZZ_INPUTS", share(10000));
	uint8_t *data = malloc(INPUT_BYTES);
	uint64_t state = seed;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "fuzz-input-%s", strrchr(CORPUS, '/') + 1);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (!data || fd < 0)
		abort();
	printf("%lu inputs, seed %lu\n", n, seed);
	fflush(stdout);
	for (unsigned long i = 0; i < n; i++) {
		size_t size = mutate(&state, data, INPUT_BYTES);

		keep(fd, data, size);
		LLVMFuzzerTestOneInput(data, size);
	}
	close(fd);
	remove(path);
	free(data);
}

static int replay_corpus(void)
{
	const char *top = getenv("srcdir");
	char folder[4096], path[8192];
	struct dirent *entry;
	int replayed = 0;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s/%s", top ? top : ".", CORPUS);
	dir = opendir(folder);
	if (!dir) {
		perror(folder);
		return 1;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (replay(path))
			break;
		replayed++;
	}
	closedir(dir);
	if (!entry && replayed)
		fuzz();
	return entry || !replayed;
}

int main(int argc, char **argv)
{
	int err = 0;

	for (int i = 1; i < argc; i++)
		err |= replay(argv[i]);
	return argc > 1 ? err : replay_corpus();
}
