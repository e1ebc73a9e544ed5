/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which cables a job's packets use, and which packets or jobs use a cable. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/route.h"
#include "tools/common/hosts.h"
#include "path.h"

struct cables {
	const struct find *find;
	const struct dl_fabric *f;
	const struct dl_log *log; /* NULL: nothing is reported */
	bool *among;		  /* by port index: end ports whose packets count */
	uint32_t ends;
	struct dl_tables_load load;
};

static bool path_sends(const struct cables *c, uint32_t port)
{
	return c->among[port] && c->f->ports[port].lid;
}

/* ---- the job ------------------------------------------------------------- */

static int add_end(void *context, const char *name, const struct find_result *end)
{
	struct cables *c = context;

	if (!c->f->ports[end->port].lid)
		return dl_fail(c->log, -EINVAL, "\"%s\" has no LID", name);
	c->ends += !c->among[end->port];
	c->among[end->port] = true;
	return 0;
}

static int read_job(struct cables *c, const char *list)
{
	int err = hosts_read(c->find, list, c->log, add_end, c);

	if (!err && c->ends < 2)
		return dl_fail(c->log, -EINVAL, "%s names %u end port%s: there are no pairs", list,
			       c->ends, tool_s(c->ends));
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

static json_t *path_busiest(const struct cables *c, const struct path_request *r)
{
	uint32_t n, *ports = path_heaviest(c->f, c->load.flows, &n);
	json_t *list = ports ? json_array() : NULL;

	for (uint32_t i = 0; list && i < n && i < r->top; i++) {
		json_t *j = path_cable_json(c->find->in, ports[i]);

		if (r->counted)
			json_object_set_new(j, "counters", path_counters_json(r, c->f, ports[i]));
		json_array_append_new(list, tool_json_with(j, "flows",
							   json_integer(c->load.flows[ports[i]])));
	}
	free(ports);
	return list;
}

/* The cables of the job that counted errors, its hosts' own among them. */
static json_t *job_errors(const struct cables *c, const struct path_request *r)
{
	bool *used = calloc(c->f->nports + 1, sizeof(*used));
	json_t *list = NULL;

	for (uint32_t p = 0; used && p < c->f->nports; p++) {
		uint32_t peer = c->f->ports[p].peer;

		if (c->load.flows[p] || c->among[p])
			used[p] = true;
		if (used[p] && peer != DL_NONE)
			used[peer] = true;
	}
	if (used)
		list = path_errors_json(c->find->in, r, &c->load, used, NULL);
	free(used);
	return list;
}

static json_t *job_json(const struct cables *c, const struct path_request *r)
{
	uint64_t wanted = wanted_pairs(c);
	const struct dl_tables_load *l = &c->load;
	json_t *job = json_pack("{s:i, s:I, s:I, s:f, s:I, s:o}", "end_ports", c->ends, "pairs",
				(json_int_t)wanted, "undelivered", (json_int_t)(wanted - l->pairs),
				"hops_mean", l->pairs ? (double)l->hops / l->pairs : 0.0,
				"busiest_flows", (json_int_t)l->busiest, "cables",
				path_busiest(c, r));

	if (r->counted)
		json_object_set_new(job, "errors", job_errors(c, r));
	return json_pack("{s:b, s:o}", "delivered", l->pairs == wanted, "job", job);
}

/* ---- all running jobs ------------------------------------------------------ */

struct jobs {
	struct tool *tool;
	struct cables c; /* the job at hand */
	const uint32_t *ports;
	json_t *cables; /* of these ports, each with its "jobs" */
	uint32_t running;
	bool squeue; /* hosts are the last column, not all behind the first */
};

/* Pairs of the job that use the cable; a host's own cable carries all of the host's. */
static uint64_t jobs_flows(const struct cables *c, uint32_t port)
{
	uint32_t peer = c->f->ports[port].peer;
	uint64_t flows = c->load.flows ? c->load.flows[port] : 0;

	if (path_host_of(c->f, port) == DL_NONE)
		return flows + (c->load.flows && peer != DL_NONE ? c->load.flows[peer] : 0);
	if (!c->among[port] && (peer == DL_NONE || !c->among[peer]))
		return 0;
	return c->ends > 1 ? 2 * (c->ends - 1) : 1;
}

static int jobs_count(struct jobs *j, const char *name)
{
	int err = 0;

	if (j->c.ends > 1)
		err = dl_tables_load_count(j->c.find->in->snapshot.tables, NULL, j->c.among, NULL,
					   &j->c.load);
	for (uint32_t i = 0; !err && i < json_array_size(j->cables); i++) {
		uint64_t flows = jobs_flows(&j->c, j->ports[i]);

		if (flows)
			json_array_append_new(json_object_get(json_array_get(j->cables, i), "jobs"),
					      json_pack("{s:o, s:I}", "job", tool_json_text(name),
							"flows", (json_int_t)flows));
	}
	dl_tables_load_release(&j->c.load);
	return err;
}

/* "4711 node[01-20]", or a line of squeue's output. */
static int jobs_line(void *context, struct dl_text *t)
{
	struct jobs *j = context;
	char *hosts = t->at + strcspn(t->at, " \t");
	int err;

	if (strchr(t->at, '|'))
		return dl_text_expected(t, "a job and its hosts with blanks between them");
	if (t->line == 1 && !strncmp(t->at, "JOBID", 5)) {
		j->squeue = true;
		return 0;
	}
	if (*hosts)
		*hosts++ = '\0';
	/* The last column has hosts, or in parentheses why a job waits, perhaps in many words. */
	if (j->squeue && *hosts && hosts[strlen(hosts) - 1] == ')')
		return 0;
	if (j->squeue && strrchr(hosts, ' '))
		hosts = strrchr(hosts, ' ') + 1;
	for (char *blank = hosts; (blank = strpbrk(blank, " \t"));)
		*blank = ',';
	if (!*hosts || *hosts == '(') /* it waits */
		return 0;
	memset(j->c.among, 0, j->c.f->nports * sizeof(*j->c.among));
	j->c.ends = 0;
	err = hosts_read_items(j->c.find, hosts, add_end, &j->c);
	j->running += !err;
	if (err != -EINVAL)
		return err ? err : jobs_count(j, t->at);
	dl_log(&j->tool->log, DL_LOG_WARNING,
	       "%s:%u: job %s is left out: a host of it is not in the fabric, or its name is that "
	       "of several nodes",
	       t->name, t->line, t->at);
	j->tool->finding = true;
	return 0;
}

int path_jobs_json(const struct find *f, const struct path_request *r, struct tool *tool,
		   json_t **out)
{
	const struct dl_fabric *fabric = f->in->fabric;
	uint32_t *ports = calloc(fabric->nports + 1, sizeof(*ports));
	struct jobs j = { .tool = tool, .c = { .find = f, .f = fabric }, .ports = ports };
	struct dl_tables_load load = { 0 };
	json_t *cable;
	size_t i;
	int err;

	j.c.among = calloc(fabric->nports + 1, sizeof(*j.c.among));
	err = ports && j.c.among ? 0 : -ENOMEM;
	if (!err && r->through) {
		err = find_port(f, &tool->log, r->through, ports);
		if (!err)
			j.cables = json_pack("[o]", path_cable_json(f->in, ports[0]));
	} else if (!err) {
		err = dl_tables_load_count(f->in->snapshot.tables, NULL, NULL, &tool->log, &load);
		if (!err)
			j.cables = path_errors_json(f->in, r, &load, NULL, ports);
	}
	json_array_foreach(j.cables, i, cable) json_object_set_new(cable, "jobs", json_array());
	if (!err)
		err = hosts_read_lines(r->jobs, &tool->log, jobs_line, &j);
	if (!err)
		*out = json_pack("{s:b, s:{s:i, s:O}}", "delivered", true, "jobs", "running",
				 j.running, "cables", j.cables);
	json_decref(j.cables);
	dl_tables_load_release(&load);
	free(j.c.among);
	free(ports);
	return err;
}

/* ---- a cable ------------------------------------------------------------- */

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

/* The cable, its packets, and whatever else in the tables leads across it either way. */
static json_t *path_crossing_json(const struct cables *c, const struct path_request *r,
				  uint32_t port)
{
	const struct dl_route_avoided_item item = { .state = DL_ROUTE_AVOID_OUT, .port = port };
	struct dl_route_avoid_use use = dl_route_avoid_count(&item, c->find->in->snapshot.tables);

	return json_pack("{s:o, s:I, s:I, s:I, s:i, s:o}", "cable",
			 path_cable_json(c->find->in, port), "flows",
			 (json_int_t)c->load.flows[port], "flows_back",
			 (json_int_t)c->load.flows[c->f->ports[port].peer], "entries",
			 (json_int_t)use.entries, "groups", use.groups, "paths",
			 path_flows(c, port, r->top));
}

static int through_json(const struct cables *c, const struct path_request *r, json_t **out)
{
	uint32_t port, host;
	int err = find_port(c->find, c->log, r->through, &port);

	if (err)
		return err;
	host = path_host_of(c->f, port);
	if (host != DL_NONE && c->f->ports[port].peer != DL_NONE)
		return dl_fail(c->log, -EINVAL,
			       "%s is the cable of \"%s\": all that it sends and receives, and "
			       "nothing else, uses it; --jobs names its jobs",
			       r->through, dl_fabric_node_name(c->f, host));
	if (!dl_fabric_joins_switches(c->f, port))
		return dl_fail(c->log, -EINVAL, "%s: no cable leads from there to another switch",
			       r->through);
	*out = json_pack("{s:b, s:o}", "delivered", true, "through",
			 path_crossing_json(c, r, port));
	if (r->counted)
		json_object_set_new(json_object_get(*out, "through"), "counters",
				    path_counters_json(r, c->f, port));
	return 0;
}

int path_cables_json(const struct find *f, const struct path_request *r, const struct dl_log *log,
		     json_t **out)
{
	const struct dl_fabric *fabric = f->in->fabric;
	struct cables c = { .find = f, .f = fabric, .log = log };
	int err = 0;

	c.among = calloc(fabric->nports + 1, sizeof(*c.among));
	if (!c.among)
		return -ENOMEM;
	for (uint32_t p = 0; !r->job && p < fabric->nports; p++)
		c.among[p] = dl_fabric_is_end_port(fabric, p);
	if (r->job)
		err = read_job(&c, r->job);
	if (!err)
		err = dl_tables_load_count(f->in->snapshot.tables, NULL, c.among, log, &c.load);
	if (!err && r->through)
		err = through_json(&c, r, out);
	else if (!err)
		*out = job_json(&c, r);
	if (!err && !*out)
		err = -ENOMEM;
	dl_tables_load_release(&c.load);
	free(c.among);
	return err;
}
