/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The structure that holds a routing, and every writer's exact text. */
#include "config.h"

#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dateline/tables.h"
#include "random.h"

/* Two switches of two ports, joined, and an adapter at the first. */
static struct dl_fabric *small_fabric(void)
{
	struct dl_fabric *f;
	uint32_t a, b, h;

	assert_int_equal(dl_fabric_new(&f), 0);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_SWITCH, 2, 0xA0, "A", &a), 0);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_SWITCH, 2, 0xB0, "B", &b), 0);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_CA, 1, 0xC0, "H", &h), 0);
	assert_int_equal(dl_fabric_set_desc(f, h, "host 'one'"), 0);
	assert_int_equal(
		dl_fabric_connect(f, f->nodes[a].first_port + 1, f->nodes[b].first_port + 2), 0);
	assert_int_equal(
		dl_fabric_connect(f, f->nodes[a].first_port + 2, f->nodes[h].first_port + 1), 0);
	f->ports[f->nodes[h].first_port + 1].guid = 0xC1;
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	assert_int_equal(dl_fabric_assign_lids(f, 0), 0);
	return f;
}

/* LIDs 1, 2, 3 are A, B and H; B has no way to H. */
static struct dl_tables *small_tables(const struct dl_fabric *f)
{
	struct dl_tables_vlarb arb = { .high = { { 0, 4 } },
				       .low = { { 0, 1 }, { 1, 64 } },
				       .nhigh = 1,
				       .nlow = 2,
				       .high_limit = 7 };
	struct dl_tables_mcast_group *g;
	struct dl_tables *t;
	uint32_t i;

	assert_int_equal(dl_tables_new(f, &t), 0);
	t->lft[1] = 0;
	t->lft[2] = 1;
	t->lft[3] = 2;
	t->lft[t->stride + 1] = 2;
	t->lft[t->stride + 2] = 0;
	/* Switch A, 1 to 2: SL s to VL s / 2; 2 to 1: all to VL 15. */
	i = dl_tables_row(t, 0x7766554433221100);
	t->sl2vl[t->sl2vl_first[0] + 1 * 3 + 2] = i;
	t->sl2vl[t->sl2vl_first[0] + 2 * 3 + 1] = dl_tables_row(t, UINT64_MAX);
	t->end_sl2vl[f->nodes[2].first_port + 1] = i;
	t->vlarb[f->nodes[2].first_port + 1] = dl_tables_arb(t, &arb);
	assert_int_equal(dl_tables_new_psl(t, 2, 1), 0);
	t->psl_src[f->nodes[0].first_port] = 0;
	t->psl_src[f->nodes[2].first_port + 1] = 1;
	t->psl_dst[2] = 0;
	t->psl[0] = 3;
	t->psl[1] = 12;
	g = dl_tables_group(t, 0xC001);
	assert_non_null(g);
	assert_int_equal(dl_tables_mask_set(&g->masks, 0, 2), 0);
	assert_int_equal(dl_tables_mask_set(&g->masks, 0, 1), 0);
	assert_int_equal(dl_tables_mask_set(&g->masks, 1, 0), 0);
	return t;
}

static void assert_writes(enum dl_tables_file which, const char *want)
{
	struct dl_fabric *f = small_fabric();
	struct dl_tables *t = small_tables(f);
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	assert_int_equal(dl_tables_write_file(t, which, to), 0);
	fclose(to);
	assert_string_equal(text, want);
	free(text);
	dl_tables_free(t);
	dl_fabric_free(f);
}

static void lfts(void **state)
{
	(void)state;
	assert_writes(DL_TABLES_LFTS, "Unicast lids [0-3] of switch Lid 1 guid 0x00000000000000a0 "
				      "('A'):\n"
				      "0x0001 000 # Switch portguid 0x00000000000000a0: 'A'\n"
				      "0x0002 001 # Switch portguid 0x00000000000000b0: 'B'\n"
				      "0x0003 002 # Channel Adapter portguid 0x00000000000000c1: "
				      "'host 'one''\n"
				      "3 lids dumped\n"
				      "Unicast lids [0-3] of switch Lid 2 guid 0x00000000000000b0 "
				      "('B'):\n"
				      "0x0001 002 # Switch portguid 0x00000000000000a0: 'A'\n"
				      "0x0002 000 # Switch portguid 0x00000000000000b0: 'B'\n"
				      "2 lids dumped\n");
}

static void fdbs(void **state)
{
	(void)state;
	assert_writes(DL_TABLES_FDBS, "dump_ucast_routes: Switch 0x00000000000000a0\n"
				      "LID    : Port : Hops : Optimal\n"
				      "0x0001 : 000  : HOPS UNKNOWN\n"
				      "0x0002 : 001  : HOPS UNKNOWN\n"
				      "0x0003 : 002  : HOPS UNKNOWN\n"
				      "\n"
				      "dump_ucast_routes: Switch 0x00000000000000b0\n"
				      "LID    : Port : Hops : Optimal\n"
				      "0x0001 : 002  : HOPS UNKNOWN\n"
				      "0x0002 : 000  : HOPS UNKNOWN\n"
				      "0x0003 : UNREACHABLE\n"
				      "\n");
}

static void mcfdbs(void **state)
{
	(void)state;
	assert_writes(DL_TABLES_MCFDBS, "Switch 0x00000000000000a0\n"
					"LID    : Out Port(s)\n"
					"0xC001 : 0x001  0x002 \n"
					"\n"
					"Switch 0x00000000000000b0\n"
					"LID    : Out Port(s)\n"
					"0xC001 : 0x000 \n"
					"\n");
}

#define RULE "#--------------------------------------------------------\n"
#define HEAD "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n" RULE
#define HALVES "0  0  1  1  2  2  3  3  4  4  5  5  6  6  7  7 "

static void sl2vl(void **state)
{
	(void)state;
	assert_writes(DL_TABLES_SL2VL,
		      "Switch 0x00000000000000a0, base LID 1, \"A\"\n" HEAD
		      "2   1   : 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15\n"
		      "1   2   : " HALVES "\n" RULE "\n"
		      "Switch 0x00000000000000b0, base LID 2, \"B\"\n" HEAD RULE "\n"
		      "Channel Adapter 0x00000000000000c1, base LID 3, "
		      "\"host 'one'\"\n" HEAD "0   0   : " HALVES "\n" RULE "\n");
}

static void slvl(void **state)
{
	(void)state;
	assert_writes(DL_TABLES_SLVL, "0x00000000000000a0 1 2 0x00 0x11 0x22 0x33 0x44 0x55 "
				      "0x66 0x77\n"
				      "0x00000000000000a0 2 1 0xff 0xff 0xff 0xff 0xff 0xff "
				      "0xff 0xff\n");
}

static void psl(void **state)
{
	(void)state;
	assert_writes(DL_TABLES_PSL, "0x00000000000000a0 2 3\n"
				     "0x00000000000000c0 2 12\n");
}

static void vlarb(void **state)
{
	(void)state;
	assert_writes(DL_TABLES_VLARB, "# node GUID, port, VLHighLimit, then VL:weight of each "
				       "entry\n"
				       "0x00000000000000c0 1 limit 7 high 0:4 low 0:1,1:64\n");
}

/* Equal rows and tables are stored once, up to the limit. */
static void interning(void **state)
{
	struct dl_fabric *f = small_fabric();
	struct dl_tables *t;
	uint32_t i;

	(void)state;
	assert_int_equal(dl_tables_new(f, &t), 0);
	for (i = 0; i < 3000; i++)
		assert_int_equal(dl_tables_row(t, i), i);
	for (i = 0; i < 3000; i += 7)
		assert_int_equal(dl_tables_row(t, i), i);
	assert_int_equal(t->nrows, 3000);
	assert_ptr_not_equal(dl_tables_group(t, 0xC000), NULL);
	assert_ptr_not_equal(dl_tables_group(t, 0xC001), NULL);
	assert_ptr_equal(dl_tables_group(t, 0xC000), &t->groups[0]);
	assert_int_equal(t->ngroups, 2);
	dl_tables_free(t);
	dl_fabric_free(f);
}

/* A full disk is reported, not passed over. */
static void full_disk(void **state)
{
	struct dl_fabric *f = small_fabric();
	struct dl_tables *t = small_tables(f);
	FILE *to = fopen("/dev/full", "w");

	(void)state;
	if (to) {
		assert_int_equal(dl_tables_write_file(t, DL_TABLES_LFTS, to), -EIO);
		fclose(to);
	}
	dl_tables_free(t);
	dl_fabric_free(f);
}

/* Tables that do not hold together are refused, whoever reads them. */
static void broken_tables(void **state)
{
	(void)state;
#ifndef DL_DEBUG
	for (unsigned int i = 0; i < 5; i++) {
		struct dl_fabric *f = small_fabric();
		struct dl_tables *t = small_tables(f);

		assert_int_equal(dl_tables_check(t, NULL), 0);
		if (i == 0)
			t->sl2vl[0] = t->nrows;
		else if (i == 1)
			t->vlarb[0] = t->narbs;
		else if (i == 2)
			t->psl[0] = 16;
		else if (i == 3)
			t->psl_dst[1] = t->npsl_dst;
		else
			t->groups[0].mlid = 0xBFFF;
		assert_int_equal(dl_tables_check(t, NULL), -EPROTO);
		dl_tables_free(t);
		dl_fabric_free(f);
	}
#endif
}

/* ---- port masks ---------------------------------------------------------- */

#define WORDS DL_TABLES_MASK_WORDS

static void assert_masks(const struct dl_tables_masks *m, const uint64_t *dense)
{
	for (uint32_t s = 0; s < m->nswitches; s++)
		assert_memory_equal(dl_tables_mask(m, s), dense + (size_t)s * WORDS,
				    WORDS * sizeof(*dense));
}

/* Like an array with a row for each switch. */
static void masks(void **state)
{
	struct test_random random = { 31, 0 };

	(void)state;
	for (unsigned int round = 0; round < 40; round++) {
		uint32_t n = 1 + test_random(&random, round % 2 ? 400 : 66);
		struct dl_tables_masks m = { .nswitches = n }, copy = { .nswitches = n };
		uint64_t *dense = calloc(n, WORDS * sizeof(*dense));

		assert_non_null(dense);
		assert_masks(&m, dense);
		for (uint32_t i = 0; i < 2 * n; i++) {
			uint32_t s = test_random(&random, n), port = test_random(&random, 256);

			assert_int_equal(dl_tables_mask_get(&m, s, port),
					 dense[s * WORDS + port / 64] >> port % 64 & 1);
			assert_int_equal(dl_tables_mask_set(&m, s, port), 0);
			dense[s * WORDS + port / 64] |= UINT64_C(1) << port % 64;
			if (i == n / 2)
				assert_int_equal(dl_tables_masks_copy(&copy, &m), 0);
		}
		assert_masks(&m, dense);
		assert_int_equal(dl_tables_masks_copy(&copy, &m), 0);
		dl_tables_masks_clear(&m);
		assert_masks(&copy, dense);
		memset(dense, 0, n * WORDS * sizeof(*dense));
		assert_masks(&m, dense);
		dl_tables_masks_clear(&copy);
		free(dense);
	}
}

/* All groups that there may be, of a few switches of a large fabric each: not gigabytes. */
static void many_groups(void **state)
{
	const uint32_t n = 0x3FFF, nswitches = 5000;
	struct dl_tables_masks *m = calloc(n, sizeof(*m));
	struct mallinfo2 before = mallinfo2(), after;

	(void)state;
	assert_non_null(m);
	for (uint32_t g = 0; g < n; g++) {
		m[g].nswitches = nswitches;
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(dl_tables_mask_set(&m[g], (g + i * 1000) % nswitches, i),
					 0);
	}
	after = mallinfo2();
	assert_in_range(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd, 0,
			100 << 20);
	for (uint32_t g = 0; g < n; g++)
		dl_tables_masks_clear(&m[g]);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lfts),	     cmocka_unit_test(fdbs),
		cmocka_unit_test(mcfdbs),    cmocka_unit_test(sl2vl),
		cmocka_unit_test(slvl),	     cmocka_unit_test(psl),
		cmocka_unit_test(vlarb),     cmocka_unit_test(interning),
		cmocka_unit_test(full_disk), cmocka_unit_test(broken_tables),
		cmocka_unit_test(masks),     cmocka_unit_test(many_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
