/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The files of the coordinate cache: whatever becomes of one, what is read are
 * the coordinates that were written last, or none.
 */
#include "config.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "grid_fabric.h"
#include "plugin/cache_file.h"

static char dir[64], path[PATH_MAX], previous[PATH_MAX + 16];
static unsigned int errors;

static void hear(void *context, enum dl_log_level level, const char *message)
{
	(void)context;
	(void)message;
	errors += level == DL_LOG_ERROR;
}

static const struct dl_log listener = { .write = hear, .context = NULL };

/* A 5x4x3 torus; its coordinates by a seed at `site`. */
struct torus {
	struct grid_fabric g;
	struct dl_torus *t;
};

static void make(struct torus *x, uint32_t site)
{
	*x = (struct torus){ .g = { .grid = { .radix = { 5, 4, 3 } }, .parallel = 1 } };
	grid_build(&x->g);
	grid_seed(&x->g, site, true);
	memset(x->g.seed.dateline, 0, sizeof(x->g.seed.dateline));
	assert_int_equal(dl_torus_discover(x->g.fabric, &x->g.config, NULL, &x->t), 0);
	assert_int_equal(x->t->nplaced, x->t->nsites);
}

static void discard(struct torus *x)
{
	dl_torus_free(x->t);
	grid_free(&x->g);
}

static void write_torus(const struct torus *x, const struct dl_torus_config *file)
{
	assert_int_equal(dl_cache_file_write(dir, file, x->t, path), 0);
	snprintf(previous, sizeof(previous), "%s.previous", path);
}

/* What is read: 0 and whether these are its coordinates, or the error. */
static int read_torus(const struct torus *x, bool *same)
{
	struct dl_torus_config *c = NULL;
	struct dl_torus *t = NULL;
	int err;

	*same = false;
	errors = 0;
	err = dl_cache_file_read(dir, x->g.fabric, &listener, &c);
	assert_true(!err || !c);
	if (c) {
		assert_int_equal(dl_torus_discover(x->g.fabric, c, NULL, &t), 0);
		*same = !memcmp(t->sw_site, x->t->sw_site,
				x->g.fabric->nswitches * sizeof(*t->sw_site));
		assert_true(*same || x->t->nplaced < x->t->nsites);
		dl_torus_free(t);
		dl_torus_config_free(c);
	}
	return err;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "cache.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	char pattern[80];
	glob_t files;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (!glob(pattern, 0, NULL, &files))
		for (size_t i = 0; i < files.gl_pathc; i++)
			unlink(files.gl_pathv[i]);
	globfree(&files);
	return rmdir(dir);
}

static char *content_of(const char *name, size_t *len)
{
	char *text = malloc(1 << 20);
	FILE *from = fopen(name, "r");

	assert_true(text && from);
	*len = fread(text, 1, 1 << 20, from);
	fclose(from);
	return text;
}

static void put(const char *name, const char *text, size_t len)
{
	FILE *to = fopen(name, "w");

	assert_non_null(to);
	assert_int_equal(fwrite(text, 1, len, to), len);
	fclose(to);
}

/* Empty, zeros, cut anywhere, or one bit altered: as the previous file decides. */
static void damage(const struct torus *x, int wanted)
{
	size_t len;
	char *text = content_of(path, &len), *zeros = calloc(1, len);
	struct test_random r = { .seed = 17 };

	assert_non_null(zeros);
	for (unsigned int i = 0; i < 200; i++) {
		size_t at = test_random(&r, len);
		bool same;

		if (!i) {
			put(path, zeros, len);
		} else if (i < 100) {
			put(path, text, i == 1 ? 0 : at);
		} else {
			text[at] ^= 1 << i % 8;
			put(path, text, len);
			text[at] ^= 1 << i % 8;
		}
		assert_int_equal(read_torus(x, &same), wanted);
		assert_int_equal(same, !wanted);
		assert_int_equal(errors, 1);
	}
	put(path, text, len);
	free(zeros);
	free(text);
}

static void what_replaces_a_damaged_file(void **state)
{
	struct torus a, b;
	bool same;

	(void)state;
	make(&a, 0);
	make(&b, 17);
	assert_int_equal(read_torus(&a, &same), 0);
	assert_false(same || errors);
	write_torus(&a, NULL);
	assert_int_not_equal(access(previous, F_OK), 0);
	assert_int_equal(read_torus(&a, &same), 0);
	assert_true(same && !errors);
	/* The same coordinates again: they replace each other. */
	write_torus(&a, NULL);
	damage(&a, 0);
	/* Others: which of the two were granted, nobody knows. */
	write_torus(&b, NULL);
	assert_int_equal(read_torus(&b, &same), 0);
	assert_true(same && !errors);
	damage(&b, -EUCLEAN);
	/* A damaged file never becomes the previous one. */
	put(path, "", 0);
	write_torus(&b, NULL);
	damage(&b, -EUCLEAN);
	write_torus(&b, NULL);
	damage(&b, 0);
	discard(&a);
	discard(&b);
}

static void nothing_replaces_it(void **state)
{
	struct torus a;
	bool same;

	(void)state;
	make(&a, 0);
	write_torus(&a, NULL);
	put(path, "", 0);
	assert_int_equal(read_torus(&a, &same), 0);
	assert_true(!same && errors == 1);
	put(previous, "\0\0\0\0", 4);
	assert_int_equal(read_torus(&a, &same), 0);
	assert_true(!same && errors == 1);
	write_torus(&a, NULL);
	assert_int_equal(read_torus(&a, &same), 0);
	assert_true(same && !errors);
	discard(&a);
}

static void two_files_of_one_fabric(void **state)
{
	struct torus a, b;
	char first[PATH_MAX], second[sizeof(dir) + 32];
	size_t len;
	char *text;
	bool same;

	(void)state;
	make(&a, 0);
	make(&b, 17);
	write_torus(&a, NULL);
	strcpy(first, path);
	text = content_of(first, &len);
	snprintf(second, sizeof(second), "%s/dateline-torus-other.conf", dir);
	put(second, text, len);
	free(text);
	assert_int_equal(read_torus(&a, &same), 0);
	assert_true(same && !errors);
	write_torus(&b, NULL);
	assert_int_equal(read_torus(&a, &same), -EUCLEAN);
	assert_int_equal(errors, 1);
	assert_int_equal(unlink(first), 0);
	assert_int_equal(read_torus(&a, &same), 0);
	assert_true(same && !errors);
	discard(&a);
	discard(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_replaces_a_damaged_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_replaces_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_files_of_one_fabric, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
