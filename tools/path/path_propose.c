/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which cables with errors to take out of use (rules A15): those above a limit, as lines
 * to be appended to a list of what to avoid.
 *
 * A cable is rated by what both ends counted between the readings, divided by the time,
 * which counts as an hour at least.  It is not proposed if the list names it, if the list
 * says that it was proposed less than a day ago, if it is the only way to anything beside
 * what is listed, or if too much of its ring would be out of use.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dateline/route.h"
#include "path.h"

#define A_DAY (24 * 3600)
#define STAMP "%Y-%m-%dT%H:%MZ" /* UTC */
#define PROPOSED "# proposed "

/* IBA: a link has at most one bit error in 10^12 bits. */
#define BITS_AN_ERROR 1e12

/* A cable by the port of its entry, as in the list. */
#define PROPOSE_NAME 64

static void propose_name(const struct dl_fabric *f, uint32_t port, char *out)
{
	const struct dl_fabric_port *p = &f->ports[port];

	snprintf(out, PROPOSE_NAME, "cable 0x%016" PRIx64 "/%u", f->nodes[p->node].guid, p->num);
}

struct propose {
	const struct tool_input *in;
	const struct path_request *r;
	const struct dl_log *log;
	struct dl_torus_speeds speeds;
	char *list;				/* the file, with what is proposed */
	bool *out;				/* by port: cables that are out of use */
	uint32_t *ring, *of_ring, *out_of_ring; /* by port; by ring: cables, and those out */
};

/* ---- the list ------------------------------------------------------------ */

/* Read the file, if there is one.  0 or a negative errno, reported. */
static int propose_read(struct propose *p)
{
	const char *path = p->r->propose;
	FILE *from = fopen(path, "re");
	size_t size = 1;
	ssize_t len = 0;
	int err = from || errno == ENOENT ? 0 : -errno;

	p->list = calloc(size, 1);
	if (!p->list)
		err = -ENOMEM;
	else if (from && (len = getdelim(&p->list, &size, '\0', from)) < 0 && !feof(from))
		err = -errno;
	if (from)
		fclose(from);
	if (err)
		return dl_fail(p->log, err, "cannot read %s: %s", path, strerror(-err));
	/* What is behind it would be lost when the list is written. */
	return len > 0 && !p->list[len - 1] ?
		       dl_fail(p->log, -EINVAL, "%s: a byte 0: expected text", path) :
		       0;
}

/* What of a list can be avoided in this fabric.  0 or a negative errno, reported. */
static int propose_resolve(const struct propose *p, const char *list, struct dl_route_avoided **out)
{
	FILE *from = *list ? fmemopen((void *)list, strlen(list), "r") : fopen("/dev/null", "re");
	struct dl_route_avoid *avoid = NULL;
	int err = from ? dl_route_avoid_read_stream(from, p->r->propose, p->log, &avoid) : -ENOMEM;

	if (from)
		fclose(from);
	if (!err)
		err = dl_route_avoid_resolve(avoid, p->in->fabric, out);
	dl_route_avoid_free(avoid);
	return err;
}

/* Was a cable proposed by this end, according to the list, less than a day ago? */
static bool propose_is_recent(const struct propose *p, uint32_t port)
{
	char name[PROPOSE_NAME + 2];
	bool recent = false;

	propose_name(p->in->fabric, port, name);
	dl_text_append(name, sizeof(name), ":");
	for (const char *at = p->list; (at = strstr(at, PROPOSED)); at += strlen(PROPOSED)) {
		struct tm tm = { 0 };
		const char *end = strptime(at + strlen(PROPOSED), STAMP, &tm);

		if ((at == p->list || at[-1] == '\n') && end && *end == ' ' &&
		    !strncmp(end + 1, name, strlen(name)))
			recent |= p->r->when - timegm(&tm) < A_DAY;
	}
	return recent;
}

/* ---- rings --------------------------------------------------------------- */

static uint32_t propose_ring_of(const struct dl_torus_grid *g, uint32_t site, unsigned int dir)
{
	uint32_t at[DL_TORUS_DIMS];

	dl_torus_site_coord(g, site, at);
	at[dl_torus_dir_dim(dir)] = 0;
	return dl_torus_dir_dim(dir) * dl_torus_grid_sites(g) + dl_torus_site(g, at);
}

/*
 * Number the ring of each cable; what lies on none is a ring by itself.  A hop without a
 * cable is one that is out of use.
 */
static int propose_find_rings(struct propose *p)
{
	const struct dl_fabric *f = p->in->fabric;
	const struct tool_coords *c = &p->in->coords;
	uint32_t sites = c->site ? dl_torus_grid_sites(&c->grid) : 0;
	bool *cabled = calloc(DL_TORUS_DIRS * (size_t)sites + 1, sizeof(*cabled));

	p->ring = malloc((f->nports + 1ul) * sizeof(*p->ring));
	p->of_ring = calloc(DL_TORUS_DIMS * (size_t)sites + 1, sizeof(*p->of_ring));
	p->out_of_ring = calloc(DL_TORUS_DIMS * (size_t)sites + 1, sizeof(*p->out_of_ring));
	p->out = calloc(f->nports + 1ul, sizeof(*p->out));
	if (!cabled || !p->ring || !p->of_ring || !p->out_of_ring || !p->out) {
		free(cabled);
		return -ENOMEM;
	}
	for (uint32_t port = 0; port < f->nports; port++) {
		uint32_t a = f->nodes[f->ports[port].node].sw, b = dl_fabric_peer_switch(f, port);
		unsigned int dir;

		p->ring[port] = DL_NONE;
		if (!sites || a == DL_NONE || b == DL_NONE || c->site[a] == DL_NONE ||
		    c->site[b] == DL_NONE)
			continue;
		dir = dl_torus_direction(&c->grid, c->site[a], c->site[b]);
		if (dir == DL_TORUS_DIRS)
			continue;
		cabled[c->site[a] * DL_TORUS_DIRS + dir] = true;
		p->ring[port] = propose_ring_of(&c->grid, c->site[a], dir);
		p->of_ring[p->ring[port]] += port < f->ports[port].peer;
	}
	for (uint32_t hop = 0; hop < DL_TORUS_DIRS * sites; hop += 2) {
		uint32_t site = hop / DL_TORUS_DIRS;
		uint32_t ring = propose_ring_of(&c->grid, site, hop % DL_TORUS_DIRS);

		if (cabled[hop] ||
		    dl_torus_site_next(&c->grid, site, hop % DL_TORUS_DIRS) == DL_NONE)
			continue;
		p->of_ring[ring]++;
		p->out_of_ring[ring]++;
	}
	free(cabled);
	return 0;
}

/* A cable at an avoided switch, which is out of use already, may be listed as well. */
static void propose_take_out(struct propose *p, uint32_t port)
{
	if (p->ring[port] != DL_NONE)
		p->out_of_ring[p->ring[port]] += !p->out[port];
	p->out[port] = p->out[p->in->fabric->ports[port].peer] = true;
}

static bool propose_ring_allows(const struct propose *p, uint32_t port)
{
	uint32_t ring = p->ring[port];

	return ring == DL_NONE ||
	       100 * (p->out_of_ring[ring] + !p->out[port]) <= p->r->ring_share * p->of_ring[ring];
}

/* ---- limits -------------------------------------------------------------- */

/* Why a cable should be taken out of use; empty: it should stay. */
static void propose_why(const struct propose *p, const struct path_counted *c, char *why,
			size_t size)
{
	static const char *const names[] = { "link-downs", "recoveries", "errors" };
	double bits = p->speeds.rate[c->port] * 1e9 / DL_FABRIC_RATE_GBIT * 3600;
	const double limits[] = { p->r->max_downs, p->r->max_recoveries,
				  p->r->max_errors >= 0 ? p->r->max_errors : bits / BITS_AN_ERROR };
	double hours = p->r->hours > 1 ? p->r->hours : 1;

	*why = '\0';
	for (unsigned int kind = 0; kind < PATH_CABLE_KINDS; kind++) {
		double rate = c->key[kind] / hours;

		if (c->key[kind] <= limits[kind] * hours)
			continue;
		dl_text_append(why, size, "%s%s ", *why ? "; " : "", names[kind]);
		dl_text_append(why, size, rate < 10000 ? "%.4g" : "%.0f", rate);
		dl_text_append(why, size, " an hour, limit %.4g", limits[kind]);
	}
}

/* ---- proposals ----------------------------------------------------------- */

/* What the list has out of use already; `listed`, by port: the cables it names. */
static int propose_begin(struct propose *p, bool *listed)
{
	const struct dl_fabric *f = p->in->fabric;
	struct dl_route_avoided *a = NULL;
	int err = propose_resolve(p, p->list, &a);

	for (uint32_t i = 0; !err && i < a->n; i++) {
		uint32_t port = a->items[i].port;

		if (port != DL_NONE)
			listed[port] = listed[f->ports[port].peer] = true;
	}
	for (uint32_t port = 0; !err && port < f->nports; port++) {
		uint32_t far = dl_fabric_peer_switch(f, port);

		if (dl_fabric_joins_switches(f, port) &&
		    (a->cut[port] || a->leaf[far] || a->leaf[f->nodes[f->ports[port].node].sw]))
			propose_take_out(p, port);
	}
	dl_route_avoided_free(a);
	return err;
}

/* Is a list good whose last entry is new?  1, 0, or a negative errno. */
static int propose_try(const struct propose *p, const char *list)
{
	struct dl_route_avoided *a;
	int err = propose_resolve(p, list, &a), good = 0;

	if (err)
		return err;
	good = a->items[a->n - 1].state == DL_ROUTE_AVOID_OUT;
	dl_route_avoided_free(a);
	return good;
}

/* The list with one more cable; NULL: no memory. */
static char *propose_append(const struct propose *p, uint32_t port, const char *why)
{
	const struct dl_fabric *f = p->in->fabric;
	const struct dl_fabric_port *near = &f->ports[port], *far = &f->ports[near->peer];
	char name[PROPOSE_NAME], stamp[32];
	size_t len = strlen(p->list), size;
	char *list = NULL;
	FILE *to = dl_memory_open(&list, &size);
	struct tm tm;

	if (!to)
		return NULL;
	propose_name(f, port, name);
	gmtime_r(&p->r->when, &tm);
	strftime(stamp, sizeof(stamp), STAMP, &tm);
	fprintf(to, "%s%s" PROPOSED "%s %s: %s\n%s # \"%s\" port %u to \"%s\" port %u\n", p->list,
		len && p->list[len - 1] != '\n' ? "\n" : "", stamp, name, why, name,
		dl_fabric_node_name(f, near->node), near->num, dl_fabric_node_name(f, far->node),
		far->num);
	if (!fclose(to))
		return list;
	free(list);
	return NULL;
}

/* Add a cable to the list, or say in *reason why not.  0 or a negative errno. */
static int propose_cable(struct propose *p, const bool *listed, uint32_t port, const char *why,
			 const char **reason)
{
	char *list;
	int good;

	*reason = listed[port] ? "listed already" :
		  propose_is_recent(p, port) ||
				  propose_is_recent(p, p->in->fabric->ports[port].peer) ?
				 "proposed less than a day ago" :
		  !propose_ring_allows(p, port) ? "too much of its ring would be out of use" :
						  NULL;
	if (*reason)
		return 0;
	list = propose_append(p, port, why);
	good = list ? propose_try(p, list) : -ENOMEM;
	if (good <= 0) {
		free(list);
		*reason = "some node cannot be reached without it";
		return good;
	}
	free(p->list);
	p->list = list;
	propose_take_out(p, port);
	return 0;
}

/* All cables with errors, worst first. */
static int propose_all(struct propose *p, json_t *proposed, json_t *kept)
{
	const struct dl_fabric *f = p->in->fabric;
	bool *listed = calloc(f->nports + 1ul, sizeof(*listed));
	uint32_t n;
	struct path_counted *worst = path_counted_worst(p->r, f, NULL, &n);
	int err = worst && listed ? propose_begin(p, listed) : -ENOMEM;

	for (uint32_t i = 0; !err && i < n; i++) {
		uint32_t port = worst[i].port;
		const char *reason;
		char why[256];
		json_t *j;

		propose_why(p, &worst[i], why, sizeof(why));
		if (!*why || f->ports[port].peer == DL_NONE)
			continue;
		err = propose_cable(p, listed, port, why, &reason);
		j = tool_json_with(path_cable_json(p->in, port), "why", tool_json_text(why));
		if (reason)
			j = tool_json_with(j, "reason", tool_json_text(reason));
		json_array_append_new(reason ? kept : proposed, j);
	}
	free(worst);
	free(listed);
	return err;
}

int path_propose(struct tool *tool, const struct tool_input *in, const struct path_request *r,
		 json_t *fabric)
{
	struct propose p = { .in = in, .r = r, .log = &tool->log };
	json_t *proposed = json_array(), *kept = json_array();
	int err = 0;

	if (r->hours <= 0)
		err = dl_fail(&tool->log, -EINVAL,
			      "%s is not older than %s, by the times of the files: there is no "
			      "rate",
			      r->earlier, r->counters);
	if (!err)
		err = propose_read(&p);
	if (!err)
		err = dl_torus_speeds_init(&p.speeds, in->fabric, &in->coords.grid,
					   in->coords.site);
	if (!err)
		err = propose_find_rings(&p);
	if (!err)
		err = propose_all(&p, proposed, kept);
	if (!err && json_array_size(proposed))
		err = tool_write(tool, NULL, r->propose, to, fputs(p.list, to) < 0 ? -EIO : 0);
	json_object_update_new(fabric,
			       json_pack("{s:o, s:o}", "proposed", proposed, "not_proposed", kept));
	dl_torus_speeds_release(&p.speeds);
	free(p.list);
	free(p.out);
	free(p.ring);
	free(p.of_ring);
	free(p.out_of_ring);
	return err;
}
