/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The figures of the torus-2QoS document by name, and multicast trees. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "routed.h"

/* ---- the document's figures -------------------------------------------- */

/*
 * The 6x5 torus (or 6x6), and the names its switches have in the figures.
 * `failed` is a list of switches; `cut` of pairs of neighbours.
 */
struct figure {
	uint32_t radix_y;
	const char *names; /* "Sxy" three letters each, e.g. "S11n21" */
	const char *failed, *cut;
	const char *path; /* switches from S to D; NULL: refused */
	const char *vls;  /* data VL of each hop, at QoS level 0 */
};

static uint32_t named(const struct routed *r, const struct figure *f, char name)
{
	const char *p;

	for (p = f->names; *p; p += 3)
		if (*p == name)
			return routed_site(r, p[1] - '0', p[2] - '0', 0);
	fail_msg("no switch %c", name);
	return 0;
}

/* The VL on which a packet of this SL leaves, having come in there. */
static unsigned int hop_vl(const struct routed *r, uint32_t site, uint32_t in, uint32_t out,
			   unsigned int sl)
{
	const struct dl_tables *t = r->tables;
	uint32_t sw = r->torus->site_sw[site];
	uint32_t ports = r->g.fabric->nodes[r->g.node[site]].nports + 1u;
	uint16_t row = t->sl2vl[t->sl2vl_first[sw] + in * ports + out];

	assert_int_not_equal(row, DL_TABLES_NO_ROW);
	return dl_tables_sl2vl_get(t->rows[row], sl);
}

/* The port to which this switch's first adapter is cabled. */
static uint32_t adapter_port(const struct routed *r, uint32_t site)
{
	const struct dl_fabric *f = r->g.fabric;
	const struct dl_fabric_node *n = &f->nodes[r->g.node[site]];
	uint32_t p;

	for (p = 1; p <= n->nports; p++)
		if (f->ports[n->first_port + p].peer != DL_NONE &&
		    dl_fabric_is_end_port(f, f->ports[n->first_port + p].peer))
			return p;
	fail_msg("no adapter");
	return 0;
}

/* Rules A6 as the document tells it: which VL, at each hop of the path. */
static void check_vls(const struct routed *r, const struct figure *f)
{
	const struct dl_fabric *fabric = r->g.fabric;
	uint32_t in = adapter_port(r, named(r, f, 'S')), i, out, port;
	uint16_t lid = routed_lid(r, named(r, f, 'D'));

	for (i = 0; f->path[i + 1]; i++) {
		uint32_t site = named(r, f, f->path[i]);

		out = dl_tables_lft(r->tables, r->torus->site_sw[site], lid);
		assert_int_equal(hop_vl(r, site, in, out, 0), f->vls[i] - '0');
		assert_int_equal(hop_vl(r, site, in, out, 8), f->vls[i] - '0' + 4);
		port = fabric->nodes[r->g.node[site]].first_port + out;
		in = fabric->ports[fabric->ports[port].peer].num;
	}
	/* The last one leads to the adapter: one VL a level. */
	out = adapter_port(r, named(r, f, 'D'));
	assert_int_equal(hop_vl(r, named(r, f, 'D'), in, out, 0), 0);
	assert_int_equal(hop_vl(r, named(r, f, 'D'), in, out, 8), 1);
}

static void check_figure(const struct figure *f)
{
	struct routed r = {
		.g = { .grid = { { 6, f->radix_y, 1 }, { 0 } }, .hosts = 1, .parallel = 1 }
	};
	const char *p;
	uint32_t from, to, hops;

	for (p = f->failed; *p; p++)
		r.g.dead_switch[named(&r, f, *p)] = true;
	for (p = f->cut; *p; p += 2)
		r.g.dead_hop[named(&r, f, *p)][0] = true;
	routed_make(&r);
	if (!f->path) {
		assert_int_equal(r.err, -ENOTSUP);
		routed_release(&r);
		return;
	}
	assert_int_equal(r.err, 0);
	assert_routed_delivered(&r);
	for (p = f->path; p[1]; p++) {
		from = named(&r, f, p[0]);
		to = named(&r, f, p[1]);
		assert_int_equal(
			dl_torus_site_next(
				&r.g.grid, from,
				routed_direction(&r, from,
						 dl_tables_lft(r.tables, r.torus->site_sw[from],
							       routed_lid(&r, named(&r, f, 'D'))))),
			to);
	}
	hops = routed_follow(&r, r.torus->site_sw[named(&r, f, 'S')],
			     routed_lid(&r, named(&r, f, 'D')));
	assert_int_equal(hops, strlen(f->path) - 1);
	/* x apart by 2, y by 2 or 3: never more than half way. */
	assert_int_equal(
		dl_tables_path_sl(r.tables,
				  r.g.fabric->nodes[r.g.node[named(&r, f, 'S')]].first_port,
				  routed_lid(&r, named(&r, f, 'D'))),
		0);
	check_vls(&r, f);
	routed_release(&r);
}

#define FIGURE_65 "m01S11n21T31o41p51I22r32D33"

static void figure_6x5_whole(void **state)
{
	(void)state;
	check_figure(&(struct figure){ 5, FIGURE_65, "", "", "SnTrD", "0000" });
}

static void figure_6x5_one_link(void **state)
{
	(void)state;
	check_figure(&(struct figure){ 5, FIGURE_65, "", "Sn", "SmpoTrD", "000000" });
	check_figure(&(struct figure){ 5, FIGURE_65, "", "nT", "SmpoTrD", "000000" });
}

static void figure_6x5_two_links(void **state)
{
	(void)state;
	check_figure(&(struct figure){ 5, FIGURE_65, "", "nTTo", NULL, NULL });
}

static void figure_6x5_switch_t(void **state)
{
	(void)state;
	check_figure(&(struct figure){ 5, FIGURE_65, "T", "", "SnIrD", "0020" });
}

static void figure_6x6_switches_t_r(void **state)
{
	(void)state;
	check_figure(&(struct figure){ 6, "m01S11n21T31o41p51q22R32I23u33D34", "TR", "", "SnqIuD",
				       "00020" });
}

static void figure_6x6_switches_o_t(void **state)
{
	(void)state;
	check_figure(&(struct figure){ 6, "m01S11n21O31T41p51I22q32r42D43", "OT", "", NULL, NULL });
}

/* ---- multicast --------------------------------------------------------- */

/*
 * Draw a 2D tree as the document does: a row of nodes and branches along x,
 * then a row of branches along y, from the highest y down.
 */
static void draw(const struct routed *r, const struct dl_route_tree *tree, char *out)
{
	const struct dl_torus_grid *g = &r->g.grid;
	uint32_t x, y, i;

	for (i = 0; i < 2 * g->radix[1]; i++) {
		y = g->radix[1] - 1 - i / 2;
		for (x = 0; x < g->radix[0]; x++) {
			uint32_t site = routed_site(r, x, y, 0), sw, next, far;
			unsigned int dir = i % 2 ? dl_torus_dir(1, true) : dl_torus_dir(0, false);
			bool joined;

			sw = r->torus->site_sw[site];
			next = dl_torus_site_next(g, site, dir);
			far = next == DL_NONE ? DL_NONE : r->torus->site_sw[next];
			joined = sw != DL_NONE && far != DL_NONE &&
				 (tree->parent[sw] == far || tree->parent[far] == sw);
			if (i % 2) {
				*out++ = joined ? '|' : ' ';
				*out++ = ' ';
			} else {
				*out++ = sw == DL_NONE ? ' ' : sw == tree->root ? 'x' : '+';
				*out++ = joined ? '-' : ' ';
			}
		}
		*out++ = '\n';
	}
	*out = 0;
}

static void check_tree(uint32_t dead, uint32_t cut, const char *want)
{
	struct routed r = { .g = { .grid = { { 6, 5, 1 }, { 0 } }, .hosts = 1, .parallel = 1 } };
	char drawing[512];

	if (dead != DL_NONE)
		r.g.dead_switch[dead] = true;
	if (cut != DL_NONE)
		r.g.dead_hop[cut][0] = true;
	routed_make(&r);
	assert_int_equal(r.err, 0);
	draw(&r, r.out.tree, drawing);
	assert_string_equal(drawing, want);
	routed_release(&r);
}

static void tree_6x5_whole(void **state)
{
	(void)state;
	check_tree(DL_NONE, DL_NONE,
		   "+ + + + + + \n"
		   "| | | | | | \n"
		   "+ + + + + + \n"
		   "| | | | | | \n"
		   "+-+-+-x-+-+ \n"
		   "| | | | | | \n"
		   "+ + + + + + \n"
		   "| | | | | | \n"
		   "+ + + + + + \n"
		   "            \n");
}

static void tree_6x5_one_link(void **state)
{
	(void)state;
	check_tree(DL_NONE, 2 + 6 * 2,
		   "+ + + + + + \n"
		   "| | | | | | \n"
		   "+ + + + + + \n"
		   "| | | | | | \n"
		   "+-+-+ x-+-+-\n"
		   "| | | | | | \n"
		   "+ + + + + + \n"
		   "| | | | | | \n"
		   "+ + + + + + \n"
		   "            \n");
}

static void tree_6x5_root_failed(void **state)
{
	(void)state;
	check_tree(3 + 6 * 2, DL_NONE,
		   "+ + + + + + \n"
		   "| | | | | | \n"
		   "+ + + + + + \n"
		   "| | |   | | \n"
		   "+ + +   + + \n"
		   "| | |   | | \n"
		   "+-+-x-+-+-+ \n"
		   "| | | | | | \n"
		   "+ + + + + + \n"
		   "      |     \n");
}

/*
 * Where the root goes when switches are missing: in the tables that the
 * built-in engine programs for these fabrics, the row along x that all the
 * others are attached to has these coordinates.
 */
static void roots(void **state)
{
	static const struct {
		uint32_t radix[DL_TORUS_DIMS];
		uint32_t dead[DL_TORUS_DIMS]; /* and ndead - 1 above it in z */
		uint32_t ndead;
		uint32_t y, z;
	} cases[] = {
		{ { 5, 4, 3 }, { 0, 0, 0 }, 0, 2, 1 }, { { 3, 3, 3 }, { 2, 1, 2 }, 1, 1, 1 },
		{ { 5, 4, 3 }, { 2, 2, 1 }, 1, 2, 0 }, { { 5, 4, 4 }, { 2, 2, 1 }, 2, 2, 3 },
		{ { 4, 4, 4 }, { 1, 1, 1 }, 3, 2, 0 }, { { 3, 3, 5 }, { 0, 0, 1 }, 3, 1, 0 },
		{ { 5, 4, 3 }, { 2, 2, 0 }, 3, 1, 1 }, { { 5, 4, 3 }, { 2, 1, 0 }, 3, 3, 1 },
		{ { 3, 7, 2 }, { 2, 3, 0 }, 2, 2, 1 }, { { 3, 7, 2 }, { 2, 6, 0 }, 2, 3, 1 },
		{ { 4, 7, 1 }, { 2, 2, 0 }, 1, 4, 0 }, { { 4, 7, 1 }, { 2, 6, 0 }, 1, 2, 0 },
		{ { 5, 5, 1 }, { 1, 2, 0 }, 1, 3, 0 }, { { 3, 7, 1 }, { 0, 3, 0 }, 1, 4, 0 },
		{ { 2, 5, 1 }, { 1, 1, 0 }, 1, 3, 0 }, { { 5, 2, 1 }, { 1, 1, 0 }, 1, 0, 0 },
	};
	unsigned int i, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct routed r = { .g = { .hosts = 1, .parallel = 1 } };
		uint32_t c[DL_TORUS_DIMS];

		memcpy(r.g.grid.radix, cases[i].radix, sizeof(c));
		for (n = 0; n < cases[i].ndead; n++)
			r.g.dead_switch[routed_site(&r, cases[i].dead[0], cases[i].dead[1],
						    cases[i].dead[2] + n)] = true;
		routed_make(&r);
		assert_int_equal(r.err, 0);
		dl_torus_site_coord(&r.g.grid, r.torus->sw_site[r.out.tree->root], c);
		assert_int_equal(c[1], cases[i].y);
		assert_int_equal(c[2], cases[i].z);
		routed_release(&r);
	}
}

/* Walk a group's copies from one member; count who gets one. */
static uint32_t flood(const struct routed *r, const struct dl_tables_masks *masks, uint32_t sw,
		      uint32_t in_port, bool *got)
{
	const struct dl_fabric *f = r->g.fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[sw]];
	uint32_t copies = 0;
	unsigned int p;

	for (p = 0; p <= n->nports; p++) {
		uint32_t port = n->first_port + p;

		if (!dl_tables_mask_get(masks, sw, p) || p == in_port)
			continue;
		if (!p || dl_fabric_peer_switch(f, port) == DL_NONE) {
			got[p ? f->ports[port].peer : port] = true;
			copies++;
			continue;
		}
		copies += flood(r, masks, dl_fabric_peer_switch(f, port),
				f->ports[f->ports[port].peer].num, got);
	}
	return copies;
}

static void groups(void **state)
{
	struct test_random random = { test_seed(14), 0 };
	unsigned int k;

	(void)state;
	for (k = 0; k < 60; k++) {
		struct routed r = { .g = { .grid = routed_shapes[k % ROUTED_SHAPES],
					   .hosts = 2,
					   .parallel = 1 + k % 3,
					   .shuffle = &random } };
		uint32_t members[64], n = 1 + test_random(&random, 20), i, sw;
		const struct dl_fabric *f;
		struct dl_tables_masks masks = { .rows = NULL };
		bool *got;

		routed_make(&r);
		f = r.g.fabric;
		masks.nswitches = f->nswitches;
		got = calloc(f->nports, sizeof(*got));
		for (i = 0; i < n;) {
			uint32_t p = test_random(&random, f->nports);

			/* A few switches' own ports as well. */
			if (!dl_fabric_is_end_port(f, p) || !f->ports[p].lid || got[p])
				continue;
			got[p] = true;
			members[i++] = p;
			if (i == r.torus->nsites)
				n = i;
		}
		memset(got, 0, f->nports * sizeof(*got));
		assert_int_equal(r.err, 0);
		assert_int_equal(dl_route_tree_group(r.out.tree, f, 0xC000 + k, members, n, &masks),
				 0);
		sw = dl_fabric_access_switch(f, members[0]);
		i = f->ports[members[0]].num ? f->ports[f->ports[members[0]].peer].num : 0;
		assert_int_equal(flood(&r, &masks, sw, i, got), n - 1);
		for (i = 1; i < n; i++)
			assert_true(got[members[i]]);
		dl_tables_masks_clear(&masks);
		free(got);
		routed_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figure_6x5_whole),
		cmocka_unit_test(figure_6x5_one_link),
		cmocka_unit_test(figure_6x5_two_links),
		cmocka_unit_test(figure_6x5_switch_t),
		cmocka_unit_test(figure_6x6_switches_t_r),
		cmocka_unit_test(figure_6x6_switches_o_t),
		cmocka_unit_test(tree_6x5_whole),
		cmocka_unit_test(tree_6x5_one_link),
		cmocka_unit_test(tree_6x5_root_failed),
		cmocka_unit_test(roots),
		cmocka_unit_test(groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
