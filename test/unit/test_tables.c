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

/* Some masks, and each of them as an array with a row for each switch. */
#define SETS 4
struct sets {
	struct dl_tables_masks m[SETS];
	uint64_t dense[SETS][512 * WORDS];
	struct dl_tables_masks_seen seen;
};

static void change(struct sets *x, struct test_random *random, uint32_t n)
{
	uint32_t a = test_random(random, SETS), b = test_random(random, SETS);
	uint32_t s = test_random(random, n), port = test_random(random, 256);
	uint64_t bit = UINT64_C(1) << port % 64, *at = &x->dense[a][s * WORDS + port / 64];
	uint64_t *row;

	switch (test_random(random, 20)) {
	case 0:
		if (a != b)
			assert_int_equal(dl_tables_masks_copy(&x->m[a], &x->m[b]), 0);
		memcpy(x->dense[a], x->dense[b], sizeof(x->dense[a]));
		break;
	case 1:
		memset(&x->seen, 0, sizeof(x->seen));
		for (uint32_t i = 0; i < SETS; i++)
			dl_tables_masks_unite(&x->m[i], &x->seen);
		break;
	case 2:
		dl_tables_masks_clear(&x->m[a]);
		memset(x->dense[a], 0, sizeof(x->dense[a]));
		break;
	case 3:
	case 4:
	case 5:
		row = dl_tables_mask_row(&x->m[a], s);
		assert_non_null(row);
		row[port / 64] &= ~bit;
		*at &= ~bit;
		break;
	default:
		assert_int_equal(dl_tables_mask_get(&x->m[a], s, port), *at >> port % 64 & 1);
		assert_int_equal(dl_tables_mask_set(&x->m[a], s, port), 0);
		*at |= bit;
	}
}

/* The rows that there are, one after the other: all others are empty. */
static void assert_walk(const struct dl_tables_masks *m, const uint64_t *dense)
{
	uint32_t next = dl_tables_mask_next(m, 0);

	for (uint32_t s = 0; s < m->nswitches; s++) {
		assert_int_equal(dl_tables_mask_find(m, s) != NULL, s == next);
		if (s == next)
			next = dl_tables_mask_next(m, s + 1);
		else
			for (unsigned int w = 0; w < WORDS; w++)
				assert_int_equal(dense[s * WORDS + w], 0);
	}
	assert_int_equal(next, m->nswitches);
}

/* What they share, nobody sees. */
static void masks(void **state)
{
	struct test_random random = { 31, 0 };
	struct sets *x = calloc(1, sizeof(*x));

	(void)state;
	assert_non_null(x);
	for (unsigned int round = 0; round < 40; round++) {
		uint32_t n = 1 + test_random(&random, round % 2 ? 400 : 66);

		memset(x, 0, sizeof(*x));
		for (uint32_t i = 0; i < SETS; i++)
			x->m[i].nswitches = n;
		for (uint32_t step = 0; step < 8 * n; step++) {
			change(x, &random, n);
			for (uint32_t i = 0; i < SETS && step % 16 == 0; i++) {
				assert_masks(&x->m[i], x->dense[i]);
				assert_walk(&x->m[i], x->dense[i]);
			}
		}
		for (uint32_t i = 0; i < SETS; i++) {
			assert_masks(&x->m[i], x->dense[i]);
			dl_tables_masks_clear(&x->m[i]);
		}
	}
	free(x);
}

/*
 * All groups that there may be, of a few switches of a large fabric each, or with
 * the same masks as two others: not gigabytes.
 */
static void many_groups(void **state)
{
	const uint32_t n = 0x3FFF, nswitches = 5000;
	struct dl_tables_masks_seen *seen = calloc(1, sizeof(*seen));
	struct dl_tables_masks *m = calloc(n, sizeof(*m));
	struct mallinfo2 before = mallinfo2(), after;

	(void)state;
	assert_non_null(m);
	assert_non_null(seen);
	for (uint32_t g = 0; g < n; g++) {
		m[g].nswitches = nswitches;
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(dl_tables_mask_set(&m[g], (g + i * 1000) % nswitches, i),
					 0);
		for (uint32_t s = 0; s < nswitches && g % 16 == 0; s++)
			assert_int_equal(dl_tables_mask_set(&m[g], s, 1 + g / 16 % 2), 0);
		if (g % 16 == 0)
			dl_tables_masks_unite(&m[g], seen);
	}
	after = mallinfo2();
	assert_in_range(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd, 0,
			100 << 20);
	for (uint32_t g = 0; g < n; g++)
		dl_tables_masks_clear(&m[g]);
	free(m);
	free(seen);
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
