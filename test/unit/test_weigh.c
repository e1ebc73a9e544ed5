/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cables of unequal speed (rules A15), on random tori and meshes that have failures: by the
 * load of the busiest channel, the fabric carries at least what it carries without its
 * slow cables, and never less than with all cables alike; and so does the emulator, on
 * the first DATELINE_EMULATED of them (4 at most).  Tables are verified, path SLs and maps stay,
 * classic mode sees no speeds.  Unplugging an avoided cable changes no entry.  Loads are
 * those of a plain walk here.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "routed.h"
#include "share.h"
#include "dateline/emu.h"
#include "dateline/route.h"
#include "route/internal.h"

#define FABRICS 100

static uint32_t seed;

static const struct dl_torus_grid shapes[] = {
	{ { 3, 3, 3 }, { false, false, false } }, { { 6, 5, 1 }, { false, false, false } },
	{ { 8, 1, 1 }, { false, false, false } }, { { 5, 4, 3 }, { true, false, false } },
	{ { 2, 3, 4 }, { false, false, false } }, { { 8, 8, 1 }, { false, false, false } },
	{ { 4, 4, 4 }, { false, false, false } }, { { 10, 3, 1 }, { false, true, false } },
};

/* ---- turns --------------------------------------------------------------- */

/* The least load of the busiest of these cables with n targets: try all loads. */
static double best_busiest(const uint32_t *rate, unsigned int cables, unsigned int n)
{
	double best = n;

	for (unsigned int c = 0; c < cables; c++) {
		for (unsigned int k = 1; k <= n; k++) {
			uint64_t room = 0;

			/* What all cables take at the load of this one with k targets. */
			for (unsigned int i = 0; i < cables; i++)
				room += (uint64_t)k * rate[i] / rate[c];
			if (room >= n && (double)k / rate[c] < best)
				best = (double)k / rate[c];
		}
	}
	return best;
}

static void turns_share_by_rate(void **state)
{
	static const uint32_t rates[] = { 22, 88, 150, 275, 550, 1100, 2200 };
	struct test_random r = { seed, 0 };
	uint32_t rate[9] = { 0 }, plain[9];
	struct dl_fabric_node node = { .first_port = 0 };
	uint32_t switches[] = { 0 };
	struct dl_fabric f = { .nodes = &node, .switches = switches };
	struct dl_torus t = { .fabric = &f };
	struct dl_route_pass p = { .whole = &t, .rate = rate };

	(void)state;
	for (uint32_t round = 0; round < 1000; round++) {
		unsigned int cables = 1 + test_random(&r, 4), n = 1 + test_random(&r, 60);
		uint8_t ports[4], turns[60];
		uint32_t count[4] = { 0 };
		double busiest = 0;
		bool unequal = false;

		for (unsigned int c = 0; c < cables; c++) {
			ports[c] = 2 * c + 1;
			rate[ports[c]] = rates[test_random(&r, round % 2 ? 7 : 1)];
			plain[c] = rate[ports[c]];
		}
		for (unsigned int c = 1; c < cables; c++)
			unequal |= plain[c] != plain[0];
		assert_int_equal(dl_route_take_turns(&p, 0, ports, cables, turns, n), unequal);
		for (unsigned int k = 0; k < n; k++) {
			count[turns[k] / 2]++;
			if (round % 2 == 0)
				assert_int_equal(turns[k], ports[k % cables]);
		}
		for (unsigned int c = 0; c < cables; c++)
			if ((double)count[c] / plain[c] > busiest)
				busiest = (double)count[c] / plain[c];
		assert_true(busiest <= best_busiest(plain, cables, n) * (1 + 1e-12));
	}
}

/* ---- random speeds ------------------------------------------------------- */

static void set_speed(struct dl_fabric *f, uint32_t port, unsigned int speed, unsigned int width)
{
	f->ports[port].speed = speed;
	f->ports[port].width = width;
}

static struct dl_torus *discover_grid(struct grid_fabric *g)
{
	struct dl_torus *t;

	grid_build(g);
	grid_seed(g, 0, true);
	assert_int_equal(dl_torus_discover(g->fabric, &g->config, NULL, &t), 0);
	return t;
}

/* ... with ports that are slow, one in so many, by the seed. */
static struct dl_torus *discover_slow(struct grid_fabric *g, uint32_t share)
{
	struct test_random r = { seed, 0 };
	struct dl_torus *t = discover_grid(g);

	for (uint32_t p = 0; p < g->fabric->nports; p++)
		set_speed(g->fabric, p, DL_FABRIC_HDR, test_random(&r, share) ? 4 : 1);
	return t;
}

/* Most are 4x HDR; a random share trained slower, at one end or at both. */
static void draw_speeds(struct dl_fabric *f, struct test_random *r)
{
	uint32_t share = 1 + test_random(r, 12);

	for (uint32_t p = 0; p < f->nports; p++) {
		set_speed(f, p, DL_FABRIC_HDR, 4);
		if (!dl_fabric_joins_switches(f, p) || test_random(r, 2 * share))
			continue;
		switch (test_random(r, 4)) {
		case 0:
			set_speed(f, p, DL_FABRIC_HDR, 1);
			break;
		case 1:
			set_speed(f, p, DL_FABRIC_FDR, 4);
			break;
		default:
			set_speed(f, p, DL_FABRIC_EDR, 4);
		}
	}
}

static uint32_t rate_of(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *p = &f->ports[port], *q = &f->ports[p->peer];

	return dl_fabric_rate(p->speed < q->speed ? p->speed : q->speed,
			      p->width < q->width ? p->width : q->width);
}

/* Each adapter sends to each: pairs over the rate on the busiest cable between switches. */
static double busiest(const struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	uint64_t *flows = calloc(f->nports + 1, sizeof(*flows));
	double most = 0;

	for (uint32_t from = 0; from < f->nports; from++) {
		if (!f->ports[from].num || !f->ports[from].lid)
			continue;
		for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
			uint32_t to = f->lid_port[lid], at = dl_fabric_access_switch(f, from);

			if (to == DL_NONE || to == from || !f->ports[to].num)
				continue;
			while (at != dl_fabric_access_switch(f, to)) {
				uint32_t port = f->nodes[f->switches[at]].first_port +
						dl_tables_lft(t, at, lid);

				flows[port]++;
				at = dl_fabric_peer_switch(f, port);
			}
		}
	}
	for (uint32_t p = 0; p < f->nports; p++)
		if (flows[p] && (double)flows[p] / rate_of(f, p) > most)
			most = (double)flows[p] / rate_of(f, p);
	free(flows);
	return most;
}

/* What arrives of this load, of what adapters could send; at random times, to random ones. */
static double delivered(const struct dl_tables *t, double load)
{
	static const char text[] = "warmup_ns: 200000\nduration_ns: 1000000\ndrain_ns: 0\n"
				   "traffic: [{pattern: uniform, load: 1}]\n";
	const struct dl_emu_load at = { .load = load * 1e6 };
	const struct dl_emu_scenario_options o = { 0 };
	FILE *from = fmemopen((void *)text, strlen(text), "r");
	struct dl_emu_scenario *s;
	struct dl_emu_point point;

	assert_int_equal(dl_emu_scenario_read_stream(from, "uniform", t, &o, NULL, &s), 0);
	fclose(from);
	assert_int_equal(dl_emu_scenario_point(s, &at, NULL, NULL, &point), 0);
	dl_emu_scenario_free(s);
	return point.throughput;
}

/* The load of which 95 per cent arrive, to 1 per cent. */
static double saturation(const struct dl_tables *t)
{
	double low = 0, high = 1;

	while (high - low > 0.01 * high) {
		double load = (low + high) / 2;

		if (delivered(t, load) < 0.95 * load)
			high = load;
		else
			low = load;
	}
	return low;
}

/* Without its slow cables, as far as it holds together; others may be slow then. */
static void without_slow(const struct dl_torus *t, const struct dl_torus_config *c,
			 struct dl_route_options *o, uint32_t *nslow, struct dl_route_result *out)
{
	struct dl_torus_speeds speeds;
	struct dl_route_avoided *avoided;
	uint32_t *slow = calloc(t->fabric->nports + 1, sizeof(*slow));

	assert_int_equal(dl_torus_speeds_init(&speeds, t->fabric, &t->grid, t->sw_site), 0);
	*nslow = 0;
	for (uint32_t port = 0; port < t->fabric->nports; port++)
		if (speeds.slow[port] && port < t->fabric->ports[port].peer) {
			assert_true(rate_of(t->fabric, port) < speeds.usual[port]);
			slow[(*nslow)++] = port;
		}
	assert_int_equal(*nslow, speeds.nslow);
	assert_int_equal(dl_route_avoid_add(NULL, t->fabric, slow, *nslow, &avoided), 0);
	o->avoid = avoided;
	assert_int_equal(dl_route(t, c, o, NULL, out), 0);
	o->avoid = NULL;
	dl_route_avoided_free(avoided);
	dl_torus_speeds_release(&speeds);
	free(slow);
}

/* ---- what is said -------------------------------------------------------- */

static void read_unused(void *context, enum dl_log_level level, const char *message)
{
	const char *count = strstr(message, "of their kind: ");

	if (level == DL_LOG_INFO && count)
		*(uint32_t *)context = strtoul(count + strlen("of their kind: "), NULL, 10);
}

/* Slow cables between switches that no forwarding entry and no multicast packet crosses. */
static uint32_t count_unused(const struct dl_torus *t, const struct dl_route_result *r)
{
	const struct dl_fabric *f = t->fabric;
	bool *used = calloc(f->nports + 256, sizeof(*used));
	struct dl_torus_speeds speeds;
	uint32_t n = 0;

	assert_int_equal(dl_torus_speeds_init(&speeds, f, &t->grid, t->sw_site), 0);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (uint32_t lid = 1; lid <= f->top_lid; lid++)
			used[dl_fabric_switch_node(f, s)->first_port +
			     dl_tables_lft(r->tables, s, lid)] = true;
	for (uint32_t i = 0; i < r->tree->cable_first[r->tree->nswitches]; i++)
		used[r->tree->cables[i]] = true;
	for (uint32_t p = 0; p < f->nports; p++)
		n += speeds.slow[p] && dl_fabric_joins_switches(f, p) && p < f->ports[p].peer &&
		     !used[p] && !used[f->ports[p].peer];
	dl_torus_speeds_release(&speeds);
	free(used);
	return n;
}

/* ---- fabrics ------------------------------------------------------------- */

struct tally {
	uint32_t better_than_out, better_than_alike, fabrics, emulated;
	double gain;
};

static bool same_entries(const struct dl_tables *a, const struct dl_tables *b)
{
	return !memcmp(a->lft, b->lft, a->fabric->nswitches * (size_t)a->stride);
}

/* Emulated, too, these tables carry what both others do: of more, less arrives there. */
static void check_emulated(const struct dl_tables *weighed, const struct dl_tables *out,
			   const struct dl_tables *alike)
{
	double more = saturation(weighed) * 1.03; /* of which half by chance */

	if (!same_entries(weighed, out) && more < 1)
		assert_true(delivered(out, more) < 0.95 * more);
	if (!same_entries(weighed, alike) && more < 1)
		assert_true(delivered(alike, more) < 0.95 * more);
}

static void check_fabric(struct dl_fabric *f, const struct dl_torus *t,
			 const struct dl_torus_config *c, struct dl_route_options *o, bool emulated,
			 struct tally *tally)
{
	struct dl_fabric_port *real = malloc((f->nports + 1) * sizeof(*real));
	struct dl_route_result weighed, out, alike;
	uint32_t nslow, unused = 0;
	const struct dl_log log = { .write = read_unused, .context = &unused };

	assert_int_equal(dl_route(t, c, o, &log, &weighed), 0);
	assert_int_equal(unused, count_unused(t, &weighed));
	without_slow(t, c, o, &nslow, &out);
	memcpy(real, f->ports, f->nports * sizeof(*real));
	for (uint32_t p = 0; p < f->nports; p++)
		set_speed(f, p, DL_FABRIC_HDR, 4);
	assert_int_equal(dl_route(t, c, o, NULL, &alike), 0);
	memcpy(f->ports, real, f->nports * sizeof(*real));
	free(real);
	if (o->mode == DL_ROUTE_CLASSIC || !nslow) {
		assert_true(dl_route_same_result(&weighed, &alike));
	} else {
		double now = busiest(weighed.tables), before = busiest(alike.tables);
		double without = busiest(out.tables);

		assert_true(now <= without * (1 + 1e-12));
		assert_true(now <= before * (1 + 1e-12));
		tally->fabrics++;
		tally->better_than_out += now < without;
		tally->better_than_alike += now < before;
		tally->gain += before / now;
		assert_routed_safe(weighed.tables, o->mode);
		assert_true(dl_tables_same_vls(weighed.tables, alike.tables));
		if (emulated)
			check_emulated(weighed.tables, out.tables, alike.tables);
		tally->emulated += emulated;
	}
	dl_route_result_release(&weighed);
	dl_route_result_release(&out);
	dl_route_result_release(&alike);
}

static void draw_grid(struct grid_fabric *g, struct test_random *r, uint32_t round)
{
	memset(g, 0, sizeof(*g));
	g->grid = shapes[round % (sizeof(shapes) / sizeof(*shapes))];
	g->hosts = 1 + test_random(r, 2);
	g->parallel = 1 + test_random(r, 3);
	g->shuffle = r;
	for (uint32_t n = test_random(r, 3); n; n--)
		g->dead_hop[test_random(r, dl_torus_grid_sites(&g->grid))][0] = true;
	if (!grid_connected(g))
		memset(g->dead_hop, 0, sizeof(g->dead_hop));
	grid_build(g);
}

static void no_speeds_make_it_worse(void **state)
{
	struct grid_fabric *g = calloc(1, sizeof(*g));
	struct test_random r = { seed, 0 };
	struct tally tally = { 0 };
	const char *given = getenv("DATELINE_EMULATED");
	uint32_t emulated = given ? strtoul(given, NULL, 0) : share(4);

	(void)state;
	for (uint32_t i = 0; i < share(FABRICS); i++) {
		struct dl_torus_config *found = NULL;
		struct dl_route_options o;
		struct dl_torus *t;

		draw_grid(g, &r, i);
		assert_int_equal(dl_torus_discover_any(g->fabric, NULL, NULL, &found, &t), 0);
		draw_speeds(g->fabric, &r);
		dl_route_options_init(&o);
		for (unsigned int how = 0; how < 3; how++) {
			o.mode = how == 2 ? DL_ROUTE_ANY_SL : DL_ROUTE_PROVEN;
			o.ties = how ? DL_ROUTE_TIES_BALANCED : DL_ROUTE_TIES_TORUS_2QOS;
			check_fabric(g->fabric, t, found, &o, how == i % 3 && i < emulated, &tally);
		}
		dl_torus_free(t);
		dl_torus_config_free(found);
		grid_free(g);
	}
	print_message("%u emulated\n", tally.emulated);
	print_message("%u routings: %u carry more than without slow cables, %u more than with all "
		      "alike, %.2f times as much on average\n",
		      tally.fabrics, tally.better_than_out, tally.better_than_alike,
		      tally.gain / (tally.fabrics ? tally.fabrics : 1));
	assert_true(tally.fabrics < 100 || (tally.better_than_alike > tally.fabrics / 2 &&
					    tally.better_than_out > tally.fabrics / 10));
	free(g);
}

/* ---- avoided cables ------------------------------------------------------ */

/* Take random cables between switches out of use. */
static struct dl_route_avoided *avoid_some(const struct dl_fabric *f, struct test_random *r)
{
	struct dl_route_avoided *avoided;
	uint32_t ports[3], n = 0, wanted = 1 + test_random(r, 3);

	while (n < wanted) {
		ports[n] = test_random(r, f->nports);
		n += dl_fabric_joins_switches(f, ports[n]);
	}
	assert_int_equal(dl_route_avoid_add(NULL, f, ports, n, &avoided), 0);
	return avoided;
}

/* Unplugging what is out of use changes no entry, and no cable of the multicast tree. */
static void what_is_avoided_is_not_weighed(void **state)
{
	struct grid_fabric *g = calloc(1, sizeof(*g));
	struct test_random r = { seed, 1 };
	uint32_t compared = 0, rounds = share(2 * FABRICS);

	(void)state;
	for (uint32_t i = 0; i < rounds; i++) {
		struct dl_route_options o;
		struct dl_route_avoided *avoided;
		struct dl_route_result out, gone;
		struct dl_torus *t, *left;

		draw_grid(g, &r, i);
		grid_seed(g, 0, true);
		assert_int_equal(dl_torus_discover(g->fabric, &g->config, NULL, &t), 0);
		draw_speeds(g->fabric, &r);
		dl_route_options_init(&o);
		o.mode = i / 8 % 2 ? DL_ROUTE_ANY_SL : DL_ROUTE_PROVEN;
		avoided = avoid_some(g->fabric, &r);
		o.avoid = avoided;
		assert_int_equal(dl_route(t, &g->config, &o, NULL, &out), 0);
		o.avoid = NULL;
		for (uint32_t p = 0; p < g->fabric->nports; p++)
			if (avoided->cut[p])
				g->fabric->ports[p].peer = DL_NONE;
		assert_int_equal(dl_torus_discover(g->fabric, &g->config, NULL, &left), 0);
		if (!memcmp(t->sw_site, left->sw_site,
			    g->fabric->nswitches * sizeof(*t->sw_site))) {
			assert_int_equal(dl_route(left, &g->config, &o, NULL, &gone), 0);
			assert_true(same_entries(out.tables, gone.tables));
			assert_memory_equal(out.tree->parent, gone.tree->parent,
					    g->fabric->nswitches * sizeof(*out.tree->parent));
			dl_route_result_release(&gone);
			compared++;
		}
		dl_route_result_release(&out);
		dl_route_avoided_free(avoided);
		dl_torus_free(t);
		dl_torus_free(left);
		grid_free(g);
	}
	print_message("%u of %u unplugged\n", compared, rounds);
	assert_true(compared > rounds / 2);
	free(g);
}

/* ---- one cable ----------------------------------------------------------- */

/* The pairs that use the cable from site 0 in the positive direction of x. */
static uint64_t flows_across(const struct grid_fabric *g, const struct dl_torus *t,
			     const struct dl_torus_config *c, const struct dl_route_options *o)
{
	uint32_t sw = t->site_sw[0], port;
	struct dl_tables_load load;
	struct dl_route_result r;
	uint64_t flows;

	port = g->fabric->nodes[g->fabric->switches[sw]].first_port + dl_torus_group(t, sw, 0)[0];
	assert_int_equal(dl_route(t, c, o, NULL, &r), 0);
	assert_routed_safe(r.tables, o->mode);
	assert_int_equal(dl_tables_load_count(r.tables, NULL, NULL, NULL, &load), 0);
	flows = load.flows[port];
	dl_tables_load_release(&load);
	dl_route_result_release(&r);
	return flows;
}

/* A cable at half speed carries less, one at a quarter nothing; classic mode is torus-2QoS. */
static void a_slow_cable_on_a_ring_is_weighed(void **state)
{
	struct grid_fabric g = { .grid = { .radix = { 8, 4, 1 } }, .hosts = 1, .parallel = 1 };
	struct dl_route_options o;
	struct dl_torus *t;
	uint32_t port;

	(void)state;
	t = discover_grid(&g);
	port = g.fabric->nodes[g.fabric->switches[t->site_sw[0]]].first_port +
	       dl_torus_group(t, t->site_sw[0], 0)[0];
	for (unsigned int how = 0; how < 4; how++) {
		uint64_t flows[3];

		dl_route_options_init(&o);
		o.mode = how == 2 ? DL_ROUTE_ANY_SL : how == 3 ? DL_ROUTE_CLASSIC : DL_ROUTE_PROVEN;
		o.ties = how ? DL_ROUTE_TIES_BALANCED : DL_ROUTE_TIES_TORUS_2QOS;
		for (unsigned int k = 0; k < 3; k++) {
			for (uint32_t p = 0; p < g.fabric->nports; p++)
				set_speed(g.fabric, p, DL_FABRIC_HDR, 4);
			set_speed(g.fabric, port, DL_FABRIC_HDR, 4 >> k);
			flows[k] = flows_across(&g, t, &g.config, &o);
		}
		print_message("%u: %llu %llu %llu\n", how, (unsigned long long)flows[0],
			      (unsigned long long)flows[1], (unsigned long long)flows[2]);
		if (how == 3) {
			assert_int_equal(flows[0], flows[2]);
			continue;
		}
		assert_true(flows[1] < flows[0]);
		assert_int_equal(flows[2], 0);
	}
	dl_torus_free(t);
	grid_free(&g);
}

/* Entries of the switch at site 0 that name the n-th cable in the positive direction of x. */
static uint32_t entries_over(const struct dl_torus *t, const struct dl_tables *tables, uint32_t n)
{
	uint32_t sw = t->site_sw[0], entries = 0;

	for (uint32_t lid = 1; lid <= tables->top_lid; lid++)
		entries += dl_tables_lft(tables, sw, lid) == dl_torus_group(t, sw, 0)[n];
	return entries;
}

/* Of three parallel cables one at half or at a quarter of the rate: its share, to the entry. */
static void parallel_cables_share(void **state)
{
	struct grid_fabric g = { .grid = { .radix = { 6, 6, 1 } }, .hosts = 4, .parallel = 3 };
	struct dl_route_options o;
	struct dl_torus *t;

	(void)state;
	t = discover_grid(&g);
	for (unsigned int how = 0; how < 12; how++) {
		uint32_t sw = t->site_sw[0], slow = how % 3, entries[3], all = 0;
		uint32_t first = g.fabric->nodes[g.fabric->switches[sw]].first_port;
		unsigned int width = how / 3 % 2 ? 2 : 1; /* of 4 lanes */
		struct dl_route_result r;

		for (uint32_t p = 0; p < g.fabric->nports; p++)
			set_speed(g.fabric, p, DL_FABRIC_HDR, 4);
		set_speed(g.fabric, first + dl_torus_group(t, sw, 0)[slow], DL_FABRIC_HDR, width);
		dl_route_options_init(&o);
		o.mode = how < 6 ? DL_ROUTE_PROVEN : DL_ROUTE_ANY_SL;
		assert_int_equal(dl_route(t, &g.config, &o, NULL, &r), 0);
		assert_routed_safe(r.tables, o.mode);
		for (uint32_t n = 0; n < 3; n++)
			all += entries[n] = entries_over(t, r.tables, n);
		for (uint32_t n = 0; n < 3; n++) {
			double due = (double)all * (n == slow ? width : 4) / (8 + width);

			assert_true(fabs(entries[n] - due) <= 1);
		}
		dl_route_result_release(&r);
	}
	dl_torus_free(t);
	grid_free(&g);
}

/*
 * Slow cables drawn.  Without them the busiest channel is busier than it need be; or as busy as
 * with all alike, but more channels are.  In the third fabric one with all cables alike costs
 * less than one without slow cables, and one with slow hops spared less still.
 */
static void buffers_and_channels_count(void **state)
{
	static const struct {
		uint32_t radix[DL_TORUS_DIMS], seed;
		enum dl_route_mode mode;
		double most; /* the busiest channel's part of that without slow cables */
	} cases[] = { { { 6, 6, 1 }, 1012, DL_ROUTE_ANY_SL, 0.76 },
		      { { 5, 5, 1 }, 1058, DL_ROUTE_ANY_SL, 1 },
		      { { 4, 4, 1 }, 1152, DL_ROUTE_ANY_SL, 0.76 } };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct grid_fabric g = { .hosts = 1, .parallel = 1 };
		struct test_random r = { cases[i].seed, 0 };
		struct dl_route_result weighed, out;
		struct dl_route_options o;
		struct dl_torus *t;
		uint32_t nslow, share;

		memcpy(g.grid.radix, cases[i].radix, sizeof(g.grid.radix));
		t = discover_grid(&g);
		test_random(&r, 3);
		share = 2 * (4 + test_random(&r, 24));
		for (uint32_t p = 0; p < g.fabric->nports; p++) {
			set_speed(g.fabric, p, DL_FABRIC_HDR, 4);
			if (!dl_fabric_joins_switches(g.fabric, p) || test_random(&r, share))
				continue;
			if (test_random(&r, 2))
				set_speed(g.fabric, p, DL_FABRIC_HDR, 1);
			else
				set_speed(g.fabric, p, DL_FABRIC_EDR, 4);
		}
		dl_route_options_init(&o);
		o.mode = cases[i].mode;
		assert_int_equal(dl_route(t, &g.config, &o, NULL, &weighed), 0);
		without_slow(t, &g.config, &o, &nslow, &out);
		assert_false(same_entries(weighed.tables, out.tables));
		assert_true(busiest(weighed.tables) <=
			    cases[i].most * busiest(out.tables) * (1 + 1e-12));
		dl_route_result_release(&weighed);
		dl_route_result_release(&out);
		dl_torus_free(t);
		grid_free(&g);
	}
}

static uint32_t times_late;

/* Each repair begins, and is late at once. */
static double late_clock(void)
{
	return 1e3 * ++times_late;
}

/* A clock that runs backwards: nothing is ever late by it. */
static double early_clock(void)
{
	return -1e3 * ++times_late;
}

/* Whether repairs without the slow cables take too long goes by no clock. */
static void no_clock_changes_what_is_used(void **state)
{
	struct grid_fabric g = { .grid = { .radix = { 6, 6, 1 } }, .hosts = 1, .parallel = 1 };
	struct dl_route_result out[4];
	struct dl_torus *t;

	(void)state;
	t = discover_slow(&g, 20);
	for (unsigned int i = 0; i < 4; i++) {
		struct dl_route_options o;

		dl_route_options_init(&o);
		o.clock = i % 2 ? early_clock : NULL;
		o.repair_seconds = i < 2 ? o.repair_seconds : 0;
		assert_int_equal(dl_route(t, &g.config, &o, NULL, &out[i]), 0);
		assert_false(out[i].report.timed_out);
	}
	assert_true(dl_route_same_result(&out[0], &out[1]));
	assert_true(dl_route_same_result(&out[2], &out[3]));
	assert_false(dl_route_same_result(&out[0], &out[2]));
	for (unsigned int i = 0; i < 4; i++)
		dl_route_result_release(&out[i]);
	dl_torus_free(t);
	grid_free(&g);
}

/* Where repairs take too long without the slow cables, that is tried once. */
static void what_takes_too_long_is_not_tried_again(void **state)
{
	struct grid_fabric g = { .grid = { .radix = { 5, 5, 1 } }, .hosts = 1, .parallel = 1 };
	struct dl_route_options o;
	struct dl_route_result out;
	struct dl_torus *t;

	(void)state;
	t = discover_slow(&g, 8);
	dl_route_options_init(&o);
	o.clock = late_clock;
	o.repair_seconds = 0;
	assert_int_equal(dl_route(t, &g.config, &o, NULL, &out), 0);
	print_message("%u looks at the clock\n", times_late);
	assert_true(times_late < 200);
	dl_route_result_release(&out);
	dl_torus_free(t);
	grid_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_takes_too_long_is_not_tried_again),
		cmocka_unit_test(no_clock_changes_what_is_used),
		cmocka_unit_test(buffers_and_channels_count),
		cmocka_unit_test(turns_share_by_rate),
		cmocka_unit_test(what_is_avoided_is_not_weighed),
		cmocka_unit_test(a_slow_cable_on_a_ring_is_weighed),
		cmocka_unit_test(parallel_cables_share),
		cmocka_unit_test(no_speeds_make_it_worse),
	};

	seed = test_seed(31);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
