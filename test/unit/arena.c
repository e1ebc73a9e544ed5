/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Arenas: pieces are aligned, disjoint and stay where they are; limits hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dateline/base.h"

#define PIECES 5000

static void pieces_are_disjoint(void **state)
{
	static unsigned char *piece[PIECES];
	static size_t size[PIECES];
	struct dl_arena a = { 0 };
	struct dl_random r = { .seed = 1 };
	size_t sum = 0;

	(void)state;
	for (unsigned int i = 0; i < PIECES; i++) {
		size[i] = dl_random_below(&r, i % 100 ? 300 : 200000);
		piece[i] = dl_arena_alloc(&a, size[i]);
		assert_non_null(piece[i]);
		assert_int_equal((uintptr_t)piece[i] % _Alignof(max_align_t), 0);
		memset(piece[i], i & 0xff, size[i]);
		sum += size[i];
	}
	for (unsigned int i = 0; i < PIECES; i++)
		for (size_t k = 0; k < size[i]; k++)
			if (piece[i][k] != (i & 0xff))
				fail_msg("piece %u was overwritten", i);
	assert_true(a.used >= sum);
	dl_arena_free(&a);
	assert_int_equal(a.used, 0);
	assert_non_null(dl_arena_alloc(&a, 1));
	dl_arena_free(&a);
}

static void contents(void **state)
{
	struct dl_arena a = { 0 };
	char *text = dl_arena_alloc(&a, sizeof("abc"));
	uint32_t *zeros = dl_arena_array(&a, 1000, sizeof(*zeros));
	char *more = dl_arena_zalloc(&a, 100000);

	(void)state;
	strcpy(text, "abc");
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(zeros[i], 0);
	for (unsigned int i = 0; i < 100000; i++)
		assert_int_equal(more[i], 0);
	assert_string_equal(text, "abc");
	assert_ptr_not_equal(dl_arena_alloc(&a, 0), dl_arena_alloc(&a, 0));
	dl_arena_free(&a);
}

static void limits(void **state)
{
	struct dl_arena a = { .limit = 1000 };

	(void)state;
	assert_null(dl_arena_array(&a, SIZE_MAX / 2, 4));
	assert_null(dl_arena_alloc(&a, SIZE_MAX));
	assert_null(dl_arena_alloc(&a, SIZE_MAX / 2));
	assert_null(dl_arena_alloc(&a, 1001));
	assert_non_null(dl_arena_alloc(&a, 900));
	assert_null(dl_arena_alloc(&a, 100));
	assert_non_null(dl_arena_alloc(&a, 64));
	dl_arena_free(&a);
	assert_non_null(dl_arena_alloc(&a, 900));
	dl_arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_disjoint),
		cmocka_unit_test(contents),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
