/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Feeds a fuzz target from files: those named on the command line, or else
 * the whole of its corpus.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

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
	free(data);
	return 0;
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
	return entry || !replayed;
}

int main(int argc, char **argv)
{
	int err = 0;

	for (int i = 1; i < argc; i++)
		err |= replay(argv[i]);
	return argc > 1 ? err : replay_corpus();
}
