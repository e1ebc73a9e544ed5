/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * usage: drive PRELOAD SITES COMMAND [ARGUMENT...]
 *
 * Runs a command of dateline once as it is, then once for each place at which it
 * allocates memory, or opens, syncs or places a file, with that one failing
 * (faults.c); then with a disk that is full after so many bytes.  Each run ends
 * with what the first one gave, or with a message and status 3, with no output
 * but its beginning, and with the old files in place.  A place that allocates is told
 * by its calls, and tried once.  At most SITES of each kind are tried, spread
 * evenly; 0: all.  Output goes to the directory "out", which begins empty.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_MEMORY 3 /* TOOL_EXIT_ENVIRONMENT */
#define PATIENCE 60 /* seconds */

struct run {
	int status;
	char *out, *err, *files; /* files: names and contents, in order */
};

static const char *preload;
static char **command;
static unsigned int failed, runs;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static char *read_all(FILE *from)
{
	size_t len = 0, cap = 1 << 16;
	char *text = malloc(cap);

	while (text && (len += fread(text + len, 1, cap - len - 1, from)) == cap - 1)
		text = realloc(text, cap *= 2);
	if (!text)
		die("memory");
	text[len] = '\0';
	return text;
}

static char *read_file(const char *path)
{
	FILE *from = fopen(path, "r");
	char *text;

	if (!from)
		die(path);
	text = read_all(from);
	fclose(from);
	return text;
}

static int visible(const struct dirent *e)
{
	return strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
}

/* What is in the directory, and with `clear` no longer. */
static char *list_files(bool clear)
{
	struct dirent **list;
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);
	int n = scandir("out", &list, visible, alphasort);

	if (n < 0 || !to)
		die("out");
	for (int i = 0; i < n; i++) {
		char path[300], *content;

		snprintf(path, sizeof(path), "out/%s", list[i]->d_name);
		content = read_file(path);
		/* It says when it was written. */
		if (strstr(list[i]->d_name, "manifest"))
			*content = '\0';
		fprintf(to, "== %s\n%s", list[i]->d_name, content);
		free(content);
		if (clear)
			unlink(path);
		free(list[i]);
	}
	free(list);
	fclose(to);
	return text;
}

/* Seconds differ from run to run: cut the lines off there ... */
static void mask_seconds(char *text)
{
	char *to = text;

	while (*text) {
		size_t len = strcspn(text, "\n"), kept = len;
		char *at = memmem(text, len, "second", 6);

		if (at)
			kept = at - text;
		/* ... and what is in braces behind it. */
		if (at && len && text[len - 1] == '{')
			len += strcspn(text + len, "}");
		memmove(to, text, kept);
		to += kept;
		text += len + (text[len] == '\n');
		/* (The end of a text that was cut off has no line's end.) */
		if (to < text)
			*to++ = '\n';
	}
	*to = '\0';
}

static struct run try_once(const char *variable, unsigned long n, bool onwards, rlim_t disk)
{
	struct run r = { .status = -1 };
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (!child) {
		struct rlimit limit = { disk, disk };
		char number[30];

		if (!freopen("stdout", "w", stdout) || !freopen("stderr", "w", stderr) ||
		    !freopen("/dev/null", "r", stdin))
			_exit(127);
		snprintf(number, sizeof(number), "%lu", n);
		setenv("LD_PRELOAD", preload, 1);
		setenv("FAULT_COUNT", "count", 1);
		if (variable)
			setenv(variable, number, 1);
		if (onwards)
			setenv("FAULT_FROM", "1", 1);
		signal(SIGXFSZ, SIG_IGN);
		if (disk != RLIM_INFINITY)
			setrlimit(RLIMIT_FSIZE, &limit);
		alarm(PATIENCE);
		execv(command[0], command);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		die("fork");
	r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	r.out = read_file("stdout");
	r.err = read_file("stderr");
	r.files = list_files(false);
	mask_seconds(r.out);
	runs++;
	return r;
}

static void release(struct run *r)
{
	free(r->out);
	free(r->err);
	free(r->files);
}

/* Is this file as it was before (old), or as the whole run made it (new)? */
static bool same(const struct run *a, const struct run *b)
{
	return a->status == b->status && !strcmp(a->out, b->out) && !strcmp(a->files, b->files);
}

static void judge(const struct run *r, const struct run *good, const char *old, const char *what,
		  unsigned long n)
{
	const char *fault = NULL;

	if (same(r, good))
		return;
	if (r->status != NO_MEMORY)
		fault = "another result";
	else if (!*r->err)
		fault = "no message";
	else if (strncmp(r->out, good->out, strlen(r->out)))
		fault = "a wrong output";
	else if (old && strcmp(r->files, old) && strcmp(r->files, good->files))
		fault = "other files";
	if (!fault)
		return;
	failed++;
	printf("FAILED: %s %lu: %s, status %d:", what, n, fault, r->status);
	for (char **a = command + 1; *a; a++)
		printf(" %s", *a);
	printf("\n%.300s\n", r->err);
}

/* The `numbers`, or without these 1 to `sites`. */
static void try_sites(const struct run *good, const char *variable, const unsigned long *numbers,
		      unsigned long sites, unsigned long most, bool onwards)
{
	unsigned long step = most && sites > most ? (sites + most - 1) / most : 1;
	bool several = strstr(good->files + !!*good->files, "\n== ") &&
		       !strstr(good->files, "== dateline-manifest.txt");

	for (unsigned long i = getpid() % step; i < sites; i += step) {
		unsigned long n = numbers ? numbers[i] : i + 1;
		struct run r;
		char *old;

		/* One file, or an export: old or new.  Of several files, each is. */
		free(list_files(true));
		old = list_files(false);
		r = try_once(variable, n, onwards, RLIM_INFINITY);
		judge(&r, good, several ? NULL : old, onwards ? "from allocation" : variable, n);
		release(&r);
		free(old);
	}
}

static unsigned long *read_numbers(FILE *from, unsigned long *n)
{
	unsigned long *list = NULL, number;

	for (*n = 0; fscanf(from, "%lu", &number) == 1; list[(*n)++] = number) {
		list = realloc(list, (*n + 1) * sizeof(*list));
		if (!list)
			die("memory");
	}
	return list;
}

int main(int argc, char **argv)
{
	unsigned long allocations, files, most, *places, nplaces;
	struct run good;
	FILE *from;

	if (argc < 4)
		return 2;
	preload = argv[1];
	most = strtoul(argv[2], NULL, 10);
	command = argv + 3;
	if (mkdir("out", 0777))
		die("out");
	free(list_files(true));
	good = try_once(NULL, 0, false, RLIM_INFINITY);
	from = fopen("count", "r");
	if (!from || fscanf(from, "%lu %lu", &allocations, &files) != 2 || good.status > 1) {
		printf("FAILED: the first run, status %d: %s\n", good.status, good.err);
		return 1;
	}
	places = read_numbers(from, &nplaces);
	fclose(from);
	try_sites(&good, "FAULT_ALLOC", places, nplaces, most, false);
	try_sites(&good, "FAULT_ALLOC", NULL, allocations, most / 4 + 1, true);
	try_sites(&good, "FAULT_FILE", NULL, files, most, false);
	free(places);
	/* In steps that become larger: up to some kilobytes, then to megabytes. */
	for (rlim_t disk = 0; *good.files && disk < strlen(good.files);
	     disk += disk < 20000 ? 3000 : disk / 2) {
		char *old;
		struct run r;

		free(list_files(true));
		old = list_files(false);
		r = try_once(NULL, 0, false, disk);
		/* The files of the harness are too large as well. */
		if (r.status != NO_MEMORY && !same(&r, &good)) {
			failed++;
			printf("FAILED: disk of %lu bytes, status %d\n", (unsigned long)disk,
			       r.status);
		}
		release(&r);
		free(old);
	}
	free(list_files(true));
	rmdir("out");
	for (char **a = command + 1; *a; a++)
		printf("%s ", *a);
	printf("(status %d): %lu allocations from %lu places, %lu files, %u runs, %u failed\n",
	       good.status, allocations, nplaces, files, runs, failed);
	release(&good);
	return failed > 0;
}
