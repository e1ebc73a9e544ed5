/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Marks: what was written is read, with entries that are ports of the switch. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "dateline/torus.h"
#include "random.h"

static struct dl_torus_mark draw(struct test_random *r)
{
	struct dl_torus_mark m = { .mode = test_random(r, 4) };

	do {
		for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
			m.grid.radix[d] = 1 + test_random(r, DL_TORUS_MAX_RADIX);
			m.grid.mesh[d] = test_random(r, 2);
		}
	} while (dl_torus_grid_sites(&m.grid) > DL_TORUS_MAX_SITES);
	m.site = test_random(r, dl_torus_grid_sites(&m.grid));
	return m;
}

static void round_trip(void **state)
{
	struct test_random r = { .seed = 18 };

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int nports = 1 + i % DL_FABRIC_MAX_PORTS,
			     length = dl_torus_mark_length(nports);
		uint64_t guid = (uint64_t)test_random(&r, UINT32_MAX) << 32 | i;
		struct dl_torus_mark in = draw(&r), out = { .site = 0 };
		uint8_t entries[DL_TORUS_MARK_BLOCK];

		assert_in_range(length, 1, DL_TORUS_MARK_BLOCK);
		dl_torus_mark_write(&in, guid, nports, entries);
		for (unsigned int k = 0; k < length; k++)
			assert_in_range(entries[k], 0, nports);
		assert_true(dl_torus_mark_read(entries, guid, nports, &out));
		assert_int_equal(in.site, out.site);
		assert_int_equal(in.mode, out.mode);
		assert_memory_equal(in.grid.radix, out.grid.radix, sizeof(in.grid.radix));
		assert_memory_equal(in.grid.mesh, out.grid.mesh, sizeof(in.grid.mesh));
	}
}

/* Empty tables, another switch's mark, anything else: of 20,000 about ten pass. */
static void no_mark(void **state)
{
	struct test_random r = { .seed = 19 };
	uint8_t entries[DL_TORUS_MARK_BLOCK];
	unsigned int taken = 0;
	struct dl_torus_mark m;

	(void)state;
	for (unsigned int nports = 1; nports <= DL_FABRIC_MAX_PORTS; nports++)
		for (unsigned int value = 0; value < 256; value += 255) {
			memset(entries, value, sizeof(entries));
			assert_false(dl_torus_mark_read(entries, 7, nports, &m));
		}
	for (unsigned int i = 0; i < 20000; i++) {
		m = draw(&r);
		dl_torus_mark_write(&m, i, 36, entries);
		taken += dl_torus_mark_read(entries, i + 1, 36, &m);
	}
	assert_in_range(taken, 1, 30);
}

/* Behind the top, and all in one block, which is that of the top if it can be. */
static void place(void **state)
{
	(void)state;
	for (uint32_t top = 1; top < 1000; top++)
		for (unsigned int nports = 1; nports <= DL_FABRIC_MAX_PORTS; nports++) {
			uint32_t first = dl_torus_mark_first(top, nports);
			uint32_t last = first + dl_torus_mark_length(nports) - 1;

			assert_true(first > top);
			assert_int_equal(first / DL_TORUS_MARK_BLOCK, last / DL_TORUS_MARK_BLOCK);
			if (first / DL_TORUS_MARK_BLOCK > top / DL_TORUS_MARK_BLOCK)
				assert_true((top + dl_torus_mark_length(nports)) /
						    DL_TORUS_MARK_BLOCK >
					    top / DL_TORUS_MARK_BLOCK);
		}
}

static void common(void **state)
{
	struct test_random r = { .seed = 20 };
	struct dl_torus_mark m[9], odd = draw(&r), most = draw(&r);

	(void)state;
	for (unsigned int i = 0; i < 9; i++)
		m[i] = i % 2 ? odd : most;
	assert_memory_equal(dl_torus_mark_grid(m, 9).radix, most.grid.radix,
			    sizeof(most.grid.radix));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(no_mark),
		cmocka_unit_test(place),
		cmocka_unit_test(common),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
