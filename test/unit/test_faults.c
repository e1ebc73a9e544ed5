/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tori with a few wiring faults: exchanged plugs, stray cables, missing ones.
 * Whatever they are, every switch is placed without a configuration, and each
 * fault is named with its repair, and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"
#include "share.h"
#include "torus/internal.h"

#define MAX_FAULTS 3

static const struct dl_torus_grid shapes[] = {
	{ { 5, 5, 5 }, { 0 } },
	{ { 8, 6, 4 }, { 0 } },
	{ { 12, 11, 1 }, { 0 } },
	{ { 6, 7, 3 }, { true, false, false } },
	{ { 6, 5, 5 }, { true, true, true } },
};
#define NSHAPES (sizeof(shapes) / sizeof(*shapes))

struct made {
	enum dl_torus_repair repair;
	uint32_t port[4]; /* EXCHANGE: 0 with 2, or 1 with 3 */
};

struct fixture {
	struct grid_fabric g;
	struct made made[MAX_FAULTS];
	unsigned int n;
	bool touched[GRID_MAX_SITES];
};

static struct dl_fabric_port *ports_of(const struct fixture *x)
{
	return x->g.fabric->ports;
}

static uint32_t site_of(const struct fixture *x, uint32_t port)
{
	uint32_t site = 0;

	while (x->g.node[site] != ports_of(x)[port].node)
		site++;
	return site;
}

static void join(struct fixture *x, uint32_t a, uint32_t b)
{
	ports_of(x)[a].peer = b;
	ports_of(x)[b].peer = a;
}

/* The port of a cable between two sites, at the first. */
static uint32_t cable_to(const struct fixture *x, uint32_t from, uint32_t to)
{
	uint32_t port = x->g.fabric->nodes[x->g.node[from]].first_port;

	while (ports_of(x)[port].peer == DL_NONE ||
	       ports_of(x)[ports_of(x)[port].peer].node != x->g.node[to])
		port++;
	return port;
}

/* A cable between two switches that no fault has touched; its first port. */
static uint32_t draw_cable(const struct fixture *x, struct test_random *r)
{
	const struct dl_fabric *f = x->g.fabric;
	uint32_t port;

	do
		port = test_random(r, f->nports);
	while (!dl_fabric_is_switch(f, f->ports[port].node) ||
	       dl_fabric_peer_switch(f, port) == DL_NONE || x->touched[site_of(x, port)] ||
	       x->touched[site_of(x, f->ports[port].peer)]);
	return port;
}

static bool near(const struct fixture *x, uint32_t a, uint32_t b)
{
	return dl_torus_site_distance(&x->g.grid, site_of(x, a), site_of(x, b)) < 2;
}

static uint32_t free_port(const struct fixture *x, uint32_t site)
{
	const struct dl_fabric *f = x->g.fabric;
	uint32_t port = f->nodes[x->g.node[site]].first_port + 1;

	while (f->ports[port].peer != DL_NONE)
		port++;
	return port;
}

/*
 * Are two cables so far apart that each fault is told for sure?  When diagonal
 * neighbours have exchanged a plug, two repairs are as good.
 */
static bool apart(const struct fixture *x, const uint32_t p[4])
{
	bool far = true;

	for (unsigned int i = 0; i < 4; i++)
		far &= dl_torus_site_distance(&x->g.grid, site_of(x, p[i / 2]),
					      site_of(x, p[2 + i % 2])) > 2;
	return far;
}

static bool make_fault(struct fixture *x, struct test_random *r, struct made *m)
{
	uint32_t a = draw_cable(x, r), b = ports_of(x)[a].peer;
	uint32_t c = draw_cable(x, r), d = ports_of(x)[c].peer;

	m->repair = test_random(r, 3);
	m->port[0] = a;
	m->port[1] = b;
	m->port[2] = c;
	m->port[3] = d;
	if (!apart(x, m->port))
		return false;
	switch (m->repair) {
	case DL_TORUS_EXCHANGE:
		join(x, a, d);
		join(x, c, b);
		break;
	case DL_TORUS_MOVE: /* a stray cable */
		m->repair = DL_TORUS_REMOVE;
		m->port[0] = free_port(x, site_of(x, a));
		m->port[1] = free_port(x, site_of(x, c));
		join(x, m->port[0], m->port[1]);
		break;
	default:
		m->repair = DL_TORUS_ADD;
		ports_of(x)[a].peer = ports_of(x)[b].peer = DL_NONE;
		break;
	}
	for (unsigned int i = 0; i < 4; i++)
		x->touched[site_of(x, m->port[i])] = true;
	return true;
}

/* Does a fault that was found tell of one that was made? */
static bool tells(const struct dl_torus *t, const struct dl_torus_fault *found,
		  const struct made *m)
{
	const struct dl_fabric *f = t->fabric;
	const uint32_t *p = m->port, *q = found->port;
	uint32_t a, b, next;

	if (found->repair != m->repair)
		return false;
	switch (found->repair) {
	case DL_TORUS_EXCHANGE:
		return (q[0] == p[0] && q[1] == p[2]) || (q[0] == p[2] && q[1] == p[0]) ||
		       (q[0] == p[1] && q[1] == p[3]) || (q[0] == p[3] && q[1] == p[1]);
	case DL_TORUS_REMOVE:
		return (q[0] == p[0] && q[1] == p[1]) || (q[0] == p[1] && q[1] == p[0]);
	case DL_TORUS_ADD:
		a = t->sw_site[f->nodes[f->ports[p[0]].node].sw];
		b = t->sw_site[f->nodes[f->ports[p[1]].node].sw];
		next = dl_torus_site_next(&t->grid, found->site, found->dir);
		return (found->site == a && next == b) || (found->site == b && next == a);
	default:
		return false;
	}
}

static void check(const struct fixture *x, struct dl_torus *t)
{
	struct dl_torus_fault *faults;
	uint32_t n, told;

	assert_int_equal(t->nplaced, x->g.fabric->nswitches);
	assert_int_equal(dl_torus_find_faults(t, &faults, &n), 0);
	assert_int_equal(n, x->n);
	for (unsigned int i = 0; i < x->n; i++) {
		told = 0;
		for (uint32_t k = 0; k < n; k++)
			told += tells(t, &faults[k], &x->made[i]);
		assert_int_equal(told, 1);
	}
	free(faults);
	dl_torus_free(t);
}

static void draw(struct fixture *x, struct test_random *r, unsigned int k)
{
	memset(x, 0, sizeof(*x));
	x->g.grid = shapes[k % NSHAPES];
	x->g.hosts = 1;
	x->g.parallel = 1 + k / NSHAPES % 3 / 2;
	x->g.spare = 4;
	x->g.shuffle = k % 2 ? r : NULL;
	grid_build(&x->g);
	for (x->n = 0; x->n < 1 + k % MAX_FAULTS;)
		x->n += make_fault(x, r, &x->made[x->n]);
	assert_int_equal(dl_fabric_finish(x->g.fabric, NULL), 0);
}

static void faults_are_named(void **state)
{
	struct test_random r = { test_seed(51), 0 };
	struct fixture *x = malloc(sizeof(*x));

	(void)state;
	assert_non_null(x);
	for (unsigned int k = 0; k < share(300); k++) {
		struct dl_torus_config *c;
		struct dl_torus *t;

		draw(x, &r, k);
		assert_int_equal(dl_torus_infer(x->g.fabric, NULL, &c), 0);
		assert_int_equal(dl_torus_discover(x->g.fabric, c, NULL, &t), 0);
		check(x, t);
		dl_torus_config_free(c);
		grid_free(&x->g);
	}
	free(x);
}

/* ---- close together, on small tori --------------------------------------- */

static const struct dl_torus_grid small[] = {
	{ { 8, 5, 1 }, { 0 } },
	{ { 5, 10, 1 }, { 0 } },
	{ { 9, 6, 1 }, { 0 } },
	{ { 10, 4, 1 }, { 0 } },
	{ { 3, 4, 5 }, { 0 } },
	{ { 7, 8, 1 }, { false, true, false } },
	{ { 11, 4, 1 }, { true, true, false } },
	{ { 8, 12, 1 }, { 0 } },
	{ { 5, 8, 2 }, { 0 } },
};
#define NSMALL (sizeof(small) / sizeof(*small))

/* Two cables exchange an end, or one is stray or gone; four switches at most. */
static bool make_any_fault(struct fixture *x, struct test_random *r)
{
	const struct dl_fabric_port *ports = ports_of(x);
	uint32_t a = draw_cable(x, r), b = ports[a].peer, c = draw_cable(x, r), d = ports[c].peer;
	uint32_t at[4] = { site_of(x, a), site_of(x, b), site_of(x, c), site_of(x, d) };

	if (at[0] == at[2] || at[0] == at[3] || at[1] == at[2] || at[1] == at[3])
		return false;
	switch (test_random(r, 3)) {
	case 0:
		/* Not such that both are cables of the grid again. */
		if (near(x, a, d) && near(x, c, b))
			return false;
		join(x, a, d);
		join(x, c, b);
		break;
	case 1:
		if (near(x, a, c))
			return false;
		join(x, free_port(x, at[0]), free_port(x, at[2]));
		break;
	default:
		ports_of(x)[a].peer = ports_of(x)[b].peer = DL_NONE;
		break;
	}
	for (unsigned int i = 0; i < 4; i++)
		x->touched[at[i]] = true;
	return true;
}

/* What a person does who reads the list. */
static void repair(struct fixture *x, const struct dl_torus *t, const struct dl_torus_fault *fault)
{
	struct dl_fabric_port *ports = ports_of(x);
	const uint32_t *p = fault->port;
	uint32_t a, b, next, sw[2];

	switch (fault->repair) {
	case DL_TORUS_EXCHANGE:
		a = ports[p[0]].peer;
		b = ports[p[1]].peer;
		join(x, p[0], b);
		join(x, p[1], a);
		return;
	case DL_TORUS_REMOVE:
		ports[p[0]].peer = ports[p[1]].peer = DL_NONE;
		return;
	case DL_TORUS_MOVE:
		ports[p[0]].peer = DL_NONE;
		for (a = dl_fabric_switch_node(x->g.fabric, t->site_sw[fault->site])->first_port +
			 1;
		     ports[a].peer != DL_NONE; a++)
			;
		join(x, a, p[1]);
		return;
	default:
		next = dl_torus_site_next(&t->grid, fault->site, fault->dir);
		sw[0] = t->site_sw[fault->site];
		sw[1] = t->site_sw[next];
		for (unsigned int i = 0; i < 2; i++)
			for (sw[i] = dl_fabric_switch_node(x->g.fabric, sw[i])->first_port + 1;
			     ports[sw[i]].peer != DL_NONE; sw[i]++)
				;
		join(x, sw[0], sw[1]);
	}
}

/* A switch with whole surroundings, for the seed of a configuration. */
static uint32_t draw_origin(const struct fixture *x, struct test_random *r)
{
	uint32_t site;
	unsigned int dir;

	do {
		site = test_random(r, dl_torus_grid_sites(&x->g.grid));
		for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
			uint32_t next = dl_torus_site_next(&x->g.grid, site, dir);

			if (next != DL_NONE && (x->touched[next] || x->g.dead_switch[next]))
				break;
		}
	} while (dir < DL_TORUS_DIRS || x->touched[site] || x->g.dead_switch[site]);
	return site;
}

/* From the cabling alone, or from a seed that no fault has touched. */
static struct dl_torus *find(struct fixture *x, const struct dl_torus_config *c)
{
	struct dl_torus *t;

	assert_int_equal(dl_torus_discover(x->g.fabric, c, NULL, &t), 0);
	assert_int_equal(t->nplaced, x->g.fabric->nswitches);
	return t;
}

/*
 * One repair for each fault, and the torus is whole, but for the switch that
 * has failed.
 */
static void repairs_make_it_whole(void **state)
{
	struct test_random r = { test_seed(53), 0 };
	struct fixture *x = malloc(sizeof(*x));

	(void)state;
	assert_non_null(x);
	for (unsigned int k = 0; k < share(600); k++) {
		const struct dl_torus_grid *g = &small[k % NSMALL];
		bool with_seed = k / NSMALL % 4 == 3;
		uint32_t sites = dl_torus_grid_sites(g), made = 0;
		struct dl_torus_config *found = NULL, *c;
		struct dl_torus_fault *faults;
		struct dl_torus *t;
		uint32_t n;

		memset(x, 0, sizeof(*x));
		x->g.grid = *g;
		x->g.hosts = x->g.parallel = 1;
		x->g.spare = 4;
		x->g.shuffle = k % 2 ? &r : NULL;
		if (sites > 50 && k / NSMALL % 2)
			x->g.dead_switch[test_random(&r, sites)] = true;
		grid_build(&x->g);
		/* At most one switch in ten is wired wrong. */
		while (made < x->g.fabric->nswitches / 40)
			made += make_any_fault(x, &r);
		assert_int_equal(dl_fabric_finish(x->g.fabric, NULL), 0);
		if (with_seed)
			grid_seed(&x->g, draw_origin(x, &r), true);
		else
			assert_int_equal(dl_torus_infer(x->g.fabric, NULL, &found), 0);
		c = with_seed ? &x->g.config : found;
		t = find(x, c);
		assert_int_equal(dl_torus_find_faults(t, &faults, &n), 0);
		assert_int_equal(n, made);
		for (uint32_t i = 0; i < n; i++)
			repair(x, t, &faults[i]);
		free(faults);
		dl_torus_free(t);
		t = find(x, c);
		assert_int_equal(dl_torus_find_faults(t, &faults, &n), 0);
		assert_int_equal(n, 0);
		assert_int_equal(t->noff_links, 0);
		free(faults);
		dl_torus_free(t);
		dl_torus_config_free(found);
		grid_free(&x->g);
	}
	free(x);
}

/*
 * Whichever cable is missing, with a stray one or without: where it closes a
 * ring, or lies in the last row, what is left looks like a smaller or an open
 * grid.
 */
static void any_cable_is_missed(void **state)
{
	static const struct dl_torus_grid narrow[] = {
		{ { 3, 14, 1 }, { true, false, false } },
		{ { 5, 8, 1 }, { false, true, false } },
		{ { 4, 11, 1 }, { false, true, false } },
	};
	struct fixture *x = malloc(sizeof(*x));

	(void)state;
	assert_non_null(x);
	for (unsigned int k = 0; k < 6 * 44 * 2; k++) {
		uint32_t site = k / 12, next, n, from, to;
		bool stray = k / 6 % 2;
		struct dl_torus_fault *faults;
		struct dl_torus_config *c;
		struct dl_torus *t;

		memset(x, 0, sizeof(*x));
		x->g.grid = narrow[k % 3];
		if (site >= dl_torus_grid_sites(&x->g.grid))
			continue;
		next = dl_torus_site_next(&x->g.grid, site, 2 * (k / 3 % 2));
		from = x->g.grid.radix[0] + 1;
		to = 3 * x->g.grid.radix[0];
		/* Side by side, both may be one cable with a wrong end. */
		if (next == DL_NONE ||
		    (stray && (dl_torus_site_distance(&x->g.grid, site, from) < 2 ||
			       dl_torus_site_distance(&x->g.grid, site, to) < 2 ||
			       dl_torus_site_distance(&x->g.grid, next, from) < 2 ||
			       dl_torus_site_distance(&x->g.grid, next, to) < 2)))
			continue;
		x->g.hosts = x->g.parallel = 1;
		x->g.spare = 4;
		x->g.dead_hop[site][k / 3 % 2] = true;
		grid_build(&x->g);
		if (stray)
			join(x, free_port(x, from), free_port(x, to));
		assert_int_equal(dl_fabric_finish(x->g.fabric, NULL), 0);
		assert_int_equal(dl_torus_infer(x->g.fabric, NULL, &c), 0);
		assert_int_equal(dl_torus_discover(x->g.fabric, c, NULL, &t), 0);
		assert_int_equal(dl_torus_find_faults(t, &faults, &n), 0);
		assert_int_equal(n, 1 + stray);
		assert_int_equal(t->nplaced, dl_torus_grid_sites(&x->g.grid));
		free(faults);
		dl_torus_free(t);
		dl_torus_config_free(c);
		grid_free(&x->g);
	}
	free(x);
}

/* A cable with one wrong end is to be moved to where it belongs. */
static void one_end_is_moved(void **state)
{
	struct test_random r = { test_seed(52), 0 };
	struct fixture *x = malloc(sizeof(*x));

	(void)state;
	assert_non_null(x);
	for (unsigned int k = 0; k < share(60); k++) {
		struct dl_torus_config *c;
		struct dl_torus_fault *faults;
		struct dl_torus *t;
		uint32_t a, b, wrong, n;

		draw(x, &r, 0);
		memset(x->touched, 0, sizeof(x->touched));
		grid_free(&x->g);
		grid_build(&x->g);
		a = draw_cable(x, &r);
		b = ports_of(x)[a].peer;
		do
			wrong = test_random(&r, 125);
		while (near(x, a, free_port(x, wrong)) || near(x, b, free_port(x, wrong)));
		ports_of(x)[b].peer = DL_NONE;
		wrong = free_port(x, wrong);
		join(x, a, wrong);
		assert_int_equal(dl_fabric_finish(x->g.fabric, NULL), 0);
		assert_int_equal(dl_torus_infer(x->g.fabric, NULL, &c), 0);
		assert_int_equal(dl_torus_discover(x->g.fabric, c, NULL, &t), 0);
		assert_int_equal(dl_torus_find_faults(t, &faults, &n), 0);
		assert_int_equal(n, 1);
		assert_int_equal(faults->repair, DL_TORUS_MOVE);
		assert_int_equal(faults->port[0], wrong);
		assert_int_equal(faults->port[1], a);
		assert_int_equal(x->g.fabric->switches[t->site_sw[faults->site]],
				 ports_of(x)[b].node);
		free(faults);
		dl_torus_free(t);
		dl_torus_config_free(c);
		grid_free(&x->g);
	}
	free(x);
}

#define LINES 2048

static void keep_lines(void *context, enum dl_log_level level, const char *message)
{
	char *lines = context;

	(void)level;
	snprintf(lines + strlen(lines), LINES - strlen(lines), "%s\n", message);
}

/*
 * Two corners of an open grid have exchanged a plug: which is which cannot be told,
 * and that is said.
 */
static void exchanged_corners_are_in_doubt(void **state)
{
	static const char doubt[] = "does not follow from the cabling";
	struct fixture *x = calloc(1, sizeof(*x));
	char lines[LINES] = "";
	const struct dl_log log = { .write = keep_lines, .context = lines };
	struct dl_torus_fault *faults;
	uint32_t n, near_0, near_41, a, b;
	struct dl_torus *t;

	(void)state;
	assert_non_null(x);
	x->g.grid = (struct dl_torus_grid){ { 7, 6, 1 }, { true, true, false } };
	x->g.hosts = x->g.parallel = 1;
	grid_build(&x->g);
	a = cable_to(x, 0, 7);
	b = cable_to(x, 41, 34);
	near_0 = ports_of(x)[a].peer;
	near_41 = ports_of(x)[b].peer;
	join(x, a, near_41);
	join(x, b, near_0);
	assert_int_equal(dl_fabric_finish(x->g.fabric, NULL), 0);
	grid_seed(&x->g, 16, true);
	t = find(x, &x->g.config);
	assert_int_equal(dl_torus_find_faults(t, &faults, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(faults->repair, DL_TORUS_EXCHANGE);
	assert_int_equal(dl_torus_report_off_torus(t, &log), 0);
	assert_non_null(strstr(lines, doubt));
	free(faults);
	dl_torus_free(t);
	grid_free(&x->g);
	free(x);
}

/* A switch and two cables less, told by coordinate; all there: not a word. */
static void what_is_missing_is_told(void **state)
{
	static const char *const want[] = {
		"",
		"29 of 30 switches: missing (3,2,0)\n"
		"cables of 2 hops: missing (0,0,0) +x, (1,4,0) +y\n",
		"29 of 30 switches: missing (3,2,0)\n"
		"cables of 2 hops: missing (0,0,0) +x and further\n",
	};

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct grid_fabric *g = calloc(1, sizeof(*g));
		char lines[LINES] = "";
		const struct dl_log log = { .write = keep_lines, .context = lines };
		struct dl_torus *torus;

		assert_non_null(g);
		g->grid = (struct dl_torus_grid){ { 6, 5, 1 }, { false } };
		g->hosts = g->parallel = 1;
		g->dead_switch[3 + 6 * 2] = g->dead_hop[0][0] = g->dead_hop[1 + 6 * 4][1] = i > 0;
		grid_build(g);
		grid_seed(g, 8, true);
		assert_int_equal(dl_torus_discover(g->fabric, &g->config, NULL, &torus), 0);
		dl_torus_report_missing(torus, i < 2 ? 12 : 1, &log);
		assert_string_equal(lines, want[i]);
		dl_torus_free(torus);
		grid_free(g);
		free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_are_named),
		cmocka_unit_test(repairs_make_it_whole),
		cmocka_unit_test(any_cable_is_missed),
		cmocka_unit_test(one_end_is_moved),
		cmocka_unit_test(what_is_missing_is_told),
		cmocka_unit_test(exchanged_corners_are_in_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
