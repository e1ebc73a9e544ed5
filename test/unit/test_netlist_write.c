/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Netlists that are written, and random ones: against what was drawn, and damaged at
 * random.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "netlist_text.h"

/* ---- random netlists --------------------------------------------------- */

#define NODES 12
#define PORTS 6

/* What a random netlist was drawn from. */
struct fixture {
	unsigned int n;
	enum dl_fabric_node_type type[NODES];
	unsigned int nports[NODES];
	uint64_t guid[NODES];		     /* 0: none is written */
	unsigned int peer[NODES][PORTS + 1]; /* node * 10 + port; 0: none */
	unsigned int width[NODES][PORTS + 1], speed[NODES][PORTS + 1];
	unsigned int lid[NODES][PORTS + 1];
	bool says[NODES][PORTS + 1]; /* does this end state the cable? */
};

static void draw_fixture(struct fixture *w, struct test_random *r)
{
	static const unsigned int lanes[] = { 1, 2, 4, 8, 12 };
	unsigned int i, p, q, tries, lid = 1;

	memset(w, 0, sizeof(*w));
	w->n = 1 + test_random(r, NODES);
	for (i = 0; i < w->n; i++) {
		w->type[i] = 1 + test_random(r, 3);
		w->nports[i] = 1 + test_random(r, PORTS);
		if (test_random(r, 2))
			w->guid[i] = (1 + test_random(r, 1u << 30)) * 256ul + i;
		for (p = 0; p <= w->nports[i]; p++) {
			if ((p == 0) == (w->type[i] == DL_FABRIC_SWITCH))
				w->lid[i][p] = lid += 1 + test_random(r, 3);
		}
	}
	for (tries = 0; tries < 4 * w->n; tries++) {
		unsigned int a = test_random(r, w->n);
		unsigned int b = test_random(r, w->n);

		p = 1 + test_random(r, w->nports[a]);
		q = 1 + test_random(r, w->nports[b]);
		if (w->peer[a][p] || w->peer[b][q] || (a == b && p == q))
			continue;
		w->peer[a][p] = b * 10 + q;
		w->peer[b][q] = a * 10 + p;
		w->width[a][p] = w->width[b][q] = lanes[test_random(r, 5)];
		w->speed[a][p] = w->speed[b][q] = 1 + test_random(r, DL_FABRIC_XDR);
		w->says[a][p] = test_random(r, 4);
		w->says[b][q] = !w->says[a][p] || test_random(r, 4);
	}
}

static void print_port(const struct fixture *w, unsigned int i, unsigned int p,
		       struct test_random *r, FILE *to)
{
	static const char *const speeds[] = { "",    "SDR", "DDR", "QDR", "FDR10",
					      "FDR", "EDR", "HDR", "NDR", "XDR" };
	unsigned int peer = w->peer[i][p] / 10, q = w->peer[i][p] % 10;

	fprintf(to, "[%u]%s", p, test_random(r, 2) ? "" : "(abc)");
	fprintf(to, " \"n %u\"", peer);
	if (q != 1 || test_random(r, 2))
		fprintf(to, "[%u]", q);
	fputs(" # ", to);
	if (w->type[i] != DL_FABRIC_SWITCH)
		fprintf(to, "lid %u lmc 0 ", w->lid[i][p]);
	fprintf(to, "\"%u\" lid 999 %ux%s\n", peer, w->width[i][p], speeds[w->speed[i][p]]);
}

static void print_fixture(const struct fixture *w, struct test_random *r, FILE *to)
{
	static const char *const header[] = { "", "Ca", "Switch", "Rt" };
	static const char *const guid[] = { "", "ca", "switch", "rt" };
	unsigned int i, p, first;

	for (i = 0; i < w->n; i++) {
		if (w->guid[i])
			fprintf(to, "%sguid=0x%" PRIx64 "\n", guid[w->type[i]], w->guid[i]);
		fprintf(to, "%s %u \"n %u\"", header[w->type[i]], w->nports[i], i);
		if (w->type[i] == DL_FABRIC_SWITCH)
			fprintf(to, " # \"d %u\" base port 0 lid %u lmc 0", i, w->lid[i][0]);
		putc('\n', to);
		/* In order, but from any port on. */
		first = test_random(r, w->nports[i]);
		for (p = 0; p < w->nports[i]; p++) {
			unsigned int num = (first + p) % w->nports[i] + 1;

			if (w->peer[i][num] && w->says[i][num])
				print_port(w, i, num, r, to);
		}
		putc('\n', to);
	}
}

static void check_fixture(const struct fixture *w, const struct dl_fabric *f)
{
	uint64_t next[] = { 0, 0x100000, 0x200000, 0 };
	unsigned int i, p;

	assert_int_equal(f->nnodes, w->n);
	for (i = 0; i < w->n; i++) {
		uint64_t *guid = &next[w->type[i]];

		if (w->guid[i])
			*guid = w->guid[i];
		assert_int_equal(f->nodes[i].guid, *guid);
		*guid += w->type[i] == DL_FABRIC_SWITCH ? 1 : w->nports[i] + 1;
		assert_int_equal(f->nodes[i].type, w->type[i]);
		assert_int_equal(f->nodes[i].nports, w->nports[i]);
		for (p = 0; p <= w->nports[i]; p++) {
			const struct dl_fabric_port *q = port_of(f, i, p);
			bool lid = (w->type[i] == DL_FABRIC_SWITCH && !p) || w->says[i][p];

			assert_int_equal(q->num, p);
			assert_int_equal(q->node, i);
			assert_int_equal(q->lid, lid ? w->lid[i][p] : 0);
			if (!w->peer[i][p]) {
				assert_int_equal(q->peer, DL_NONE);
				continue;
			}
			assert_cable(f, i, p, w->peer[i][p] / 10, w->peer[i][p] % 10);
			assert_int_equal(q->width, w->width[i][p]);
			assert_int_equal(q->speed, w->speed[i][p]);
		}
	}
}

static void test_random_fixtures(void **state)
{
	struct test_random r = { .seed = text_seed(2) };
	unsigned int round;

	(void)state;
	for (round = 0; round < 1000; round++) {
		char *text = NULL, *first, *second;
		struct dl_fabric *f, *g;
		struct fixture w;
		size_t len;
		FILE *to;

		draw_fixture(&w, &r);
		to = open_memstream(&text, &len);
		assert_non_null(to);
		print_fixture(&w, &r, to);
		fclose(to);
		f = read_good(text);
		check_fixture(&w, f);
		first = write_string(write_netlist, f);
		g = read_good(first);
		assert_same_fabric(f, g);
		second = write_string(write_netlist, g);
		assert_string_equal(first, second);
		dl_fabric_free(f);
		dl_fabric_free(g);
		free(text);
		free(first);
		free(second);
	}
}

static void test_mutations(void **state)
{
	static const char *const texts[] = {
		netlist_dump,
		"switchguid=0x5(5)\n" S "[1] \"t\"[2] w=3 s=7 e=1\n[3] \"s\""
		"[4]\n\n" T "[2]\"s\"[1] w=2\n\ndo x\nHca 2 \"h\" # \"an h\"\n"
		"[2](101) \"t\" # lid 4 lmc 1 \"t\" lid 0 4xEDR\n",
	};
	struct test_random r = { .seed = text_seed(3) };

	(void)state;
	mutate(read_netlist, write_netlist, texts, 2, &r, 20000);
}

/* ---- writing ----------------------------------------------------------- */

static void test_write(void **state)
{
	struct dl_fabric *f = read_good(netlist_dump), *g;
	char *text = write_string(write_netlist, f);

	(void)state;
	assert_non_null(strstr(text,
			       "\nvendid=0x2c9\ndevid=0xc738\nsysimgguid=0x111\n"
			       "switchguid=0x110(112)\n"
			       "Switch\t36 \"S-0000000000000110\"\t\t# \"a \"big\" switch\" "
			       "enhanced port 0 lid 5 lmc 1\n"
			       "[1]\t\"H-0000000000000220\"[1](229)\t\t# \"host HCA-1\" lid 8 "
			       "4xQDR\n"));
	assert_non_null(strstr(text, "[1](801)\t\"S-0000000000000110\"[3] w=31 s=7 e=3\t\t"
				     "# lid 1 lmc 0 \"a \"big\" switch\" lid 5 12xEDR v=3\n"));
	g = read_good(text);
	assert_same_fabric(f, g);
	free(text);
	dl_fabric_free(f);
	dl_fabric_free(g);
}

/* Ids and descriptions from elsewhere, which a netlist cannot hold. */
static void test_write_odd(void **state)
{
	struct dl_fabric *f, *g;
	char *text;

	(void)state;
	assert_int_equal(dl_fabric_new(&f), 0);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_SWITCH, 2, 0xab, "a\"b", NULL), 0);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_CA, 2, 0xcd, "", NULL), 0);
	assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_ROUTER, 2, 0xef, "x#y", NULL), 0);
	assert_int_equal(dl_fabric_set_desc(f, 1, "two\nlines"), 0);
	assert_int_equal(dl_fabric_connect(f, 1, 4), 0);
	assert_int_equal(dl_fabric_connect(f, 2, 7), 0);
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	text = write_string(write_netlist, f);
	g = read_good(text);
	assert_string_equal(dl_fabric_node_id(g, 0), "S-00000000000000ab");
	assert_string_equal(dl_fabric_node_id(g, 1), "H-00000000000000cd");
	assert_string_equal(dl_fabric_node_id(g, 2), "R-00000000000000ef");
	assert_string_equal(dl_fabric_node_name(g, 1), "two lines");
	assert_cable(g, 0, 1, 1, 1);
	assert_cable(g, 0, 2, 2, 1);
	free(text);
	dl_fabric_free(f);
	dl_fabric_free(g);
}

/* A device that is full takes nothing. */
static void test_write_fails(void **state)
{
	struct dl_fabric *f = read_good(netlist_dump);
	FILE *to = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(to);
	assert_int_equal(dl_fabric_write_netlist(f, to), -EIO);
	fclose(to);
	dl_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_fixtures), cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_write),		cmocka_unit_test(test_write_odd),
		cmocka_unit_test(test_write_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
