/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which cables a job's packets use, and which packets use a cable. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/hosts.h"
#include "path.h"

struct cables {
	const struct find *find;
	const struct dl_fabric *f;
	bool *among; /* by port index: end ports whose packets count */
	uint32_t ends;
	struct dl_tables_load load;
};

static bool path_sends(const struct cables *c, uint32_t port)
{
	return c->among[port] && c->f->ports[port].lid;
}

/* ---- the job ------------------------------------------------------------- */

struct job {
	struct cables *c;
	const struct dl_log *log;
};

static int add_end(void *context, const char *name, const struct find_result *end)
{
	struct job *j = context;

	if (!j->c->f->ports[end->port].lid) {
		dl_log(j->log, DL_LOG_ERROR, "\"%s\" has no LID", name);
		return -EINVAL;
	}
	j->c->ends += !j->c->among[end->port];
	j->c->among[end->port] = true;
	return 0;
}

static int read_job(struct cables *c, const char *list, const struct dl_log *log)
{
	int err = hosts_read(c->find, list, log, add_end, &(struct job){ c, log });

	if (!err && c->ends < 2) {
		dl_log(log, DL_LOG_ERROR, "%s names %u end port%s: there are no pairs", list,
		       c->ends, tool_s(c->ends));
		err = -EINVAL;
	}
	return err;
}

/* What all pairs would be: a port has 2^LMC LIDs. */
static uint64_t wanted_pairs(const struct cables *c)
{
	uint64_t ends = 0, lids = 0;

	for (uint32_t p = 0; p < c->f->nports; p++)
		if (path_sends(c, p)) {
			ends++;
			lids += 1u << c->f->ports[p].lmc;
		}
	return (ends - 1) * lids;
}

static int path_heavier(const void *a, const void *b, void *weights)
{
	const uint64_t *by = weights;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return by[x] != by[y] ? (by[x] < by[y] ? 1 : -1) : (x > y) - (x < y);
}

uint32_t *path_heaviest(const struct dl_fabric *f, uint64_t *weight, uint32_t *n)
{
	uint32_t *ports = calloc(f->nports + 1, sizeof(*ports));

	*n = 0;
	for (uint32_t p = 0; ports && p < f->nports; p++)
		if (weight[p])
			ports[(*n)++] = p;
	if (ports)
		qsort_r(ports, *n, sizeof(*ports), path_heavier, weight);
	return ports;
}

static json_t *path_busiest(const struct cables *c, uint32_t top)
{
	uint32_t n, *ports = path_heaviest(c->f, c->load.flows, &n);
	json_t *list = ports ? json_array() : NULL;

	for (uint32_t i = 0; list && i < n && i < top; i++)
		json_array_append_new(list, tool_json_with(path_cable_json(c->find->in, ports[i]),
							   "flows",
							   json_integer(c->load.flows[ports[i]])));
	free(ports);
	return list;
}

static json_t *job_json(const struct cables *c, uint32_t top)
{
	uint64_t wanted = wanted_pairs(c);
	const struct dl_tables_load *l = &c->load;

	return json_pack("{s:b, s:{s:i, s:I, s:I, s:f, s:I, s:o}}", "delivered", l->pairs == wanted,
			 "job", "end_ports", c->ends, "pairs", (json_int_t)wanted, "undelivered",
			 (json_int_t)(wanted - l->pairs), "hops_mean",
			 l->pairs ? (double)l->hops / l->pairs : 0.0, "busiest_flows",
			 (json_int_t)l->busiest, "cables", path_busiest(c, top));
}

/* ---- a cable ------------------------------------------------------------- */

/* Does a packet pass the port, and arrive? */
static bool path_passes(const struct dl_tables *t, uint32_t from, uint16_t lid, uint32_t port)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t at = path_entrance(f, from);
	bool passed = false;

	for (uint32_t hop = 0; at != DL_NONE && hop <= f->nswitches; hop++) {
		struct path_step s = path_step(t, at, lid, PATH_SL);

		passed |= s.out == port;
		if (s.reason)
			return false;
		if (!f->ports[s.out].num || dl_fabric_peer_switch(f, s.out) == DL_NONE)
			return passed;
		at = f->ports[s.out].peer;
	}
	return false;
}

static json_t *flow_json(const struct cables *c, uint32_t from, uint16_t lid)
{
	unsigned int sl = dl_tables_path_sl(c->find->in->snapshot.tables, from, lid);

	return json_pack("{s:o, s:o, s:i, s:o}", "from", path_end_json(c->find->in, from), "to",
			 path_end_json(c->find->in, c->f->lid_port[lid]), "lid", lid, "sl",
			 tool_json_or_null(sl != DL_TABLES_NO_SL, sl));
}

static json_t *path_flows(const struct cables *c, uint32_t port, uint32_t top)
{
	const struct dl_tables *t = c->find->in->snapshot.tables;
	uint32_t sw = c->f->nodes[c->f->ports[port].node].sw;
	json_t *list = json_array();

	for (uint32_t lid = 1; list && lid <= t->top_lid; lid++) {
		uint32_t to = c->f->lid_port[lid];

		if (dl_tables_lft(t, sw, lid) != c->f->ports[port].num || to == DL_NONE ||
		    !path_sends(c, to))
			continue;
		for (uint32_t p = 0; p < c->f->nports && json_array_size(list) < top; p++)
			if (p != to && path_sends(c, p) && path_passes(t, p, lid, port))
				json_array_append_new(list, flow_json(c, p, lid));
	}
	return list;
}

static int through_json(const struct cables *c, const struct path_request *r,
			const struct dl_log *log, json_t **out)
{
	uint32_t port;
	int err = find_port(c->find, log, r->through, &port);

	if (err)
		return err;
	if (!c->f->ports[port].num || dl_fabric_peer_switch(c->f, port) == DL_NONE ||
	    !dl_fabric_is_switch(c->f, c->f->ports[port].node)) {
		dl_log(log, DL_LOG_ERROR, "%s: no cable leads from there to another switch",
		       r->through);
		return -EINVAL;
	}
	*out = json_pack("{s:b, s:{s:o, s:I, s:o}}", "delivered", true, "through", "cable",
			 path_cable_json(c->find->in, port), "flows",
			 (json_int_t)c->load.flows[port], "paths", path_flows(c, port, r->top));
	return 0;
}

int path_cables_json(const struct find *f, const struct path_request *r, const struct dl_log *log,
		     json_t **out)
{
	const struct dl_fabric *fabric = f->in->fabric;
	struct cables c = { .find = f, .f = fabric };
	int err = 0;

	c.among = calloc(fabric->nports + 1, sizeof(*c.among));
	if (!c.among)
		return -ENOMEM;
	for (uint32_t p = 0; !r->job && p < fabric->nports; p++)
		c.among[p] = dl_fabric_is_end_port(fabric, p);
	if (r->job)
		err = read_job(&c, r->job, log);
	if (!err)
		err = dl_tables_load_count(f->in->snapshot.tables, NULL, c.among, log, &c.load);
	if (!err && r->through)
		err = through_json(&c, r, log, out);
	else if (!err)
		*out = job_json(&c, r->top);
	if (!err && !*out)
		err = -ENOMEM;
	dl_tables_load_release(&c.load);
	free(c.among);
	return err;
}
