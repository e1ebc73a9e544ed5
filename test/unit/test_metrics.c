/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Metrics: what is counted on damaged tori is compared with what was broken,
 * and the text is read back line by line, as Prometheus would.
 */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "grid_fabric.h"
#include "plugin/metrics_text.h"

#define ROUNDS 60
#define MAX_SAMPLES 128

/* ---- reading the text back --------------------------------------------- */

struct sample {
	char name[128]; /* with its labels */
	double value;
};

struct text {
	struct sample samples[MAX_SAMPLES];
	unsigned int n;
};

/* A metric is help, type, and samples of that name; none comes twice. */
static void parse(char *all, struct text *t)
{
	char help[96] = "", type[96] = "", kind[16] = "", *line, *rest = NULL;
	unsigned int i;

	t->n = 0;
	for (line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct sample *s = &t->samples[t->n];
		char trailing;
		size_t base;

		if (sscanf(line, "# HELP %95s %c", help, &trailing) == 2) {
			assert_memory_equal(help, "dateline_", 9);
			assert_int_equal(
				line[strlen(line) - 1] == '.' || line[strlen(line) - 1] == '?', 1);
			continue;
		}
		if (sscanf(line, "# TYPE %95s %15s", type, kind) == 2) {
			bool total = strlen(type) > 6 && !strcmp(type + strlen(type) - 6, "_total");

			assert_string_equal(type, help);
			assert_string_equal(kind, total ? "counter" : "gauge");
			continue;
		}
		assert_true(t->n < MAX_SAMPLES);
		assert_int_equal(sscanf(line, "%127s %lf%c", s->name, &s->value, &trailing), 2);
		base = strcspn(s->name, "{");
		assert_int_equal(base, strlen(type));
		assert_memory_equal(s->name, type, base);
		for (i = 0; i < t->n; i++)
			assert_string_not_equal(t->samples[i].name, s->name);
		t->n++;
	}
}

static void print(const struct dl_metrics *m, struct text *t)
{
	char *all;
	size_t size;
	FILE *to = open_memstream(&all, &size);

	assert_int_equal(dl_metrics_print(m, to), 0);
	fclose(to);
	assert_int_equal(all[size - 1], '\n');
	parse(all, t);
	free(all);
}

static const struct sample *find(const struct text *t, const char *name)
{
	unsigned int i;

	for (i = 0; i < t->n; i++)
		if (!strcmp(t->samples[i].name + strlen("dateline_"), name))
			return &t->samples[i];
	return NULL;
}

static void assert_value(const struct text *t, const char *name, double value)
{
	const struct sample *s = find(t, name);

	if (!s || s->value != value)
		fail_msg("%s: %f, not %f", name, s ? s->value : -1, value);
}

/* ---- tests ------------------------------------------------------------- */

static void before_the_first_sweep(void **state)
{
	struct dl_metrics m;
	struct text t;

	(void)state;
	dl_metrics_init(&m, DL_ROUTE_CLASSIC);
	print(&m, &t);
	assert_value(&t, "info{version=\"" PACKAGE_VERSION "\",mode=\"classic\"}", 1);
	assert_value(&t, "up", 0);
	assert_value(&t, "sweeps_total{result=\"routed\"}", 0);
	assert_value(&t, "transitions_total{result=\"phased\"}", 0);
	assert_value(&t, "transition_waits_total{end=\"seen\"}", 0);
	assert_value(&t, "last_sweep_routed", 0);
	assert_value(&t, "last_success_timestamp_seconds", 0);
	assert_null(find(&t, "switches"));
	assert_null(find(&t, "torus_radix{dimension=\"x\"}"));
	assert_null(find(&t, "tables_safe"));
}

static void sweeps_add_up(void **state)
{
	struct dl_metrics m;
	struct text t;

	(void)state;
	dl_metrics_init(&m, DL_ROUTE_PROVEN);
	m.up = m.master = true;
	m.stage[DL_METRICS_PROOF] = 0.25;
	dl_metrics_count_sweep(&m, DL_METRICS_ROUTED, 1000.5);
	m.stage[DL_METRICS_PROOF] = 0.5;
	dl_metrics_count_sweep(&m, DL_METRICS_ROUTED, 1001.5);
	print(&m, &t);
	assert_value(&t, "last_sweep_routed", 1);
	assert_null(find(&t, "refusal_info{error=\"DL14\"}"));
	m.refusal = "DL14";
	m.stage[DL_METRICS_PROOF] = 0;
	m.smps = 5000000000;
	m.snapshots_dropped = 3;
	dl_metrics_count_sweep(&m, DL_METRICS_KEPT, 1002.5);
	print(&m, &t);
	assert_value(&t, "sweeps_total{result=\"routed\"}", 2);
	assert_value(&t, "sweeps_total{result=\"kept\"}", 1);
	assert_value(&t, "smps_sent_total", 5e9);
	assert_value(&t, "snapshots_dropped_total", 3);
	assert_value(&t, "sweeps_total{result=\"aside\"}", 0);
	assert_value(&t, "last_sweep_routed", 0);
	assert_value(&t, "refusal_info{error=\"DL14\"}", 1);
	assert_value(&t, "last_sweep_timestamp_seconds", 1002.5);
	assert_value(&t, "last_success_timestamp_seconds", 1001.5);
	assert_value(&t, "stage_seconds{stage=\"proof\"}", 0);
	assert_value(&t, "stage_seconds_total{stage=\"proof\"}", 0.75);
	dl_metrics_count_sweep(&m, DL_METRICS_ROUTED, 1003.5);
	print(&m, &t);
	assert_value(&t, "last_sweep_routed", 1);
	assert_null(find(&t, "refusal_info{error=\"DL14\"}"));
}

/* What should be counted. */
struct damage {
	uint32_t switches, links, links_missing, cut;
};

/* Break some of a torus, but nothing at its first switch: that is the seed. */
static void break_some(struct grid_fabric *g, struct test_random *r)
{
	uint32_t sites = dl_torus_grid_sites(&g->grid), i;
	unsigned int dir;

	for (i = test_random(r, 3); i; i--)
		g->dead_switch[1 + test_random(r, sites - 1)] = true;
	for (i = test_random(r, 4); i; i--)
		g->dead_hop[test_random(r, sites)][test_random(r, DL_TORUS_DIMS)] = true;
	for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
		uint32_t next = dl_torus_site_next(&g->grid, 0, dir);

		if (next == DL_NONE)
			continue;
		g->dead_switch[next] = false;
		g->dead_hop[dir & 1 ? next : 0][dl_torus_dir_dim(dir)] = false;
	}
}

static void count_broken(const struct grid_fabric *g, struct damage *d)
{
	uint32_t sites = dl_torus_grid_sites(&g->grid), s, next, dim;

	memset(d, 0, sizeof(*d));
	for (s = 0; s < sites; s++) {
		d->switches += !g->dead_switch[s];
		for (dim = 0; dim < DL_TORUS_DIMS; dim++) {
			next = dl_torus_site_next(&g->grid, s, dl_torus_dir(dim, false));
			if (next == DL_NONE)
				continue;
			if (grid_hop(g, s, dl_torus_dir(dim, false)))
				d->links += g->parallel;
			else
				d->links_missing += g->parallel;
			d->cut += !g->dead_switch[s] && !g->dead_switch[next] &&
				  g->dead_hop[s][dim];
		}
	}
}

/* Pull the first cable between switches of a fabric with parallel ones. */
static void pull_one(struct dl_fabric *f)
{
	uint32_t p = 0, peer;

	while (!f->ports[p].num || dl_fabric_peer_switch(f, p) == DL_NONE ||
	       !dl_fabric_is_switch(f, f->ports[p].node))
		p++;
	peer = f->ports[p].peer;
	f->ports[p].peer = f->ports[peer].peer = DL_NONE;
}

static void check_counts(struct grid_fabric *g, const struct damage *d, uint32_t pulled)
{
	struct dl_torus *torus;
	struct dl_metrics m;
	struct text t;

	assert_int_equal(dl_torus_discover(g->fabric, &g->config, NULL, &torus), 0);
	dl_metrics_init(&m, DL_ROUTE_PROVEN);
	dl_metrics_torus(&m, torus);
	print(&m, &t);
	assert_value(&t, "torus_radix{dimension=\"y\"}", g->grid.radix[1]);
	assert_value(&t, "switches", d->switches);
	assert_value(&t, "switches_expected", dl_torus_grid_sites(&g->grid));
	assert_value(&t, "switches_missing", dl_torus_grid_sites(&g->grid) - d->switches);
	assert_value(&t, "switches_unplaced", 0);
	assert_value(&t, "switches_off_torus", 0);
	assert_value(&t, "adapters", d->switches * g->hosts);
	assert_value(&t, "links", d->links - pulled);
	assert_value(&t, "links_missing", d->links_missing + pulled);
	assert_value(&t, "links_expected", d->links + d->links_missing);
	assert_value(&t, "links_unplaced", 0);
	assert_value(&t, "hops_cut", d->cut);
	assert_null(find(&t, "forwarding_entries"));
	dl_torus_free(torus);
}

static void what_is_missing_is_counted(void **state)
{
	struct test_random r = { .seed = test_seed(7) };
	unsigned int round, dim;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct grid_fabric *g = calloc(1, sizeof(*g));
		struct damage d;

		assert_non_null(g);
		for (dim = 0; dim < DL_TORUS_DIMS; dim++) {
			/* Radix 4 is ambiguous where it is damaged. */
			g->grid.radix[dim] = 5 + test_random(&r, 2);
			g->grid.mesh[dim] = test_random(&r, 4) == 0;
		}
		g->hosts = test_random(&r, 3);
		g->parallel = 1 + test_random(&r, 3);
		break_some(g, &r);
		count_broken(g, &d);
		grid_build(g);
		grid_seed(g, 0, true);
		check_counts(g, &d, 0);
		if (g->parallel > 1) {
			pull_one(g->fabric);
			check_counts(g, &d, 1);
		}
		grid_free(g);
		free(g);
	}
}

/* One torus in which plain DOR fails, one in which it does not. */
static void repairs_are_counted(void **state)
{
	struct dl_route_options o;
	unsigned int broken;

	(void)state;
	dl_route_options_init(&o);
	for (broken = 0; broken < 2; broken++) {
		struct grid_fabric *g = calloc(1, sizeof(*g));
		struct dl_route_result r;
		struct dl_verify_result *v;
		struct dl_torus *torus;
		struct dl_metrics m;
		struct text t;

		assert_non_null(g);
		*g = (struct grid_fabric){ .grid = { .radix = { 6, 5, 1 } },
					   .hosts = 1,
					   .parallel = 1 };
		/* A ring in two pieces. */
		g->dead_hop[6][0] = g->dead_hop[8][0] = broken;
		grid_build(g);
		grid_seed(g, 0, true);
		assert_int_equal(dl_torus_discover(g->fabric, &g->config, NULL, &torus), 0);
		assert_int_equal(dl_route(torus, &g->config, &o, NULL, &r), 0);
		dl_metrics_init(&m, DL_ROUTE_PROVEN);
		dl_metrics_tables(&m, r.tables, &r.report);
		print(&m, &t);
		assert_value(&t, "tables_safe", 1);
		assert_value(&t, "unreachable_pairs", 0);
		assert_value(&t, "repair_timed_out", 0);
		assert_int_equal(find(&t, "repair_changed_entries")->value > 0, broken);
		assert_int_equal(find(&t, "repair_destinations")->value > 0, broken);
		/* Every switch has an entry for every LID in use. */
		assert_value(&t, "forwarding_entries", 30 * 60);
		assert_int_equal(
			dl_route_verify_sls(r.tables, r.tree, 0, DL_ROUTE_MULTICAST_SLS, &v), 0);
		assert_value(&t, "pairs", v->pairs);
		dl_verify_result_free(v);
		/* One entry less, and the verdict says so. */
		r.tables->lft[2] = DL_TABLES_NO_PORT;
		assert_int_equal(
			dl_route_verify_sls(r.tables, r.tree, 0, DL_ROUTE_MULTICAST_SLS, &v), 0);
		dl_metrics_verdict(&m, v);
		print(&m, &t);
		assert_value(&t, "tables_safe", 0);
		assert_value(&t, "tables_delivered", 0);
		assert_value(&t, "tables_loop_free", 1);
		assert_true(find(&t, "unreachable_pairs")->value > 0);
		dl_metrics_no_tables(&m);
		print(&m, &t);
		assert_null(find(&t, "tables_safe"));
		dl_verify_result_free(v);
		dl_route_result_release(&r);
		dl_torus_free(torus);
		grid_free(g);
		free(g);
	}
}

static void the_file_appears_whole(void **state)
{
	char dir[] = "metrics.XXXXXX", path[64], line[256];
	struct dl_metrics m;
	mode_t mask = umask(077);
	struct stat st;
	FILE *from;

	(void)state;
	dl_metrics_init(&m, DL_ROUTE_PROVEN);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/m.prom", dir);
	/* Left by somebody malicious. */
	assert_int_equal(symlink("elsewhere", path), 0);
	assert_int_equal(dl_metrics_write(&m, path), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(dl_metrics_write(&m, path), 0);
	from = fopen(path, "r");
	assert_non_null(from);
	assert_non_null(fgets(line, sizeof(line), from));
	assert_string_equal(line, "# HELP dateline_info Version and mode.\n");
	fclose(from);
	assert_int_equal(unlink(path), 0);
	/* A directory in its place. */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(dl_metrics_write(&m, path), -EISDIR);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(dl_metrics_write(&m, path), -ENOENT);
	umask(mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_the_first_sweep),     cmocka_unit_test(sweeps_add_up),
		cmocka_unit_test(what_is_missing_is_counted), cmocka_unit_test(repairs_are_counted),
		cmocka_unit_test(the_file_appears_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
