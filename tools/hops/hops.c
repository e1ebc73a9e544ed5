/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline hops`: how far hosts are from each other, and which are nearest.
 *
 * Hosts of one switch stand at one place.  With tables, the hops from a place
 * to another are those of packets from the one to the first host of the other;
 * without, the shorter way round each ring.  A choice of hosts counts both
 * directions of each pair.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compact.h"
#include "tools/coords/coords.h"
#include "tools/common/hosts.h"

#define MATRIX_MAX 8192	   /* hosts: 67 million pairs */
#define MAX_NAMED 20	   /* of the hosts that are left out */
#define NO_HOPS UINT16_MAX /* packets do not arrive */
#define FAR 16384	   /* what a choice takes for the hops where no packet arrives */

struct request {
	struct tool_input_options input;
	const char *hosts;
	uint32_t compact; /* 0: all of them */
	bool csv;
};

struct host {
	char *name;
	uint32_t port, place;
};

struct hops {
	const struct tool_input *in;
	struct host *hosts;
	uint32_t nhosts, cap;
	uint32_t *at;	/* by switch: its place, or DL_NONE */
	uint32_t *port; /* by place: port of its first host */
	uint32_t nplaces;
	uint16_t *hops; /* [to * nplaces + from] */
	bool *listed;	/* by port index */
	const struct dl_log *log;
	bool named;	   /* by --hosts */
	uint32_t nlacking; /* hosts left out */
	double first_mean; /* of the hosts listed first, before a choice */
	uint32_t of;	   /* hosts to choose from */
};

#define MEMBER(member) DL_MEMBER(struct request, member)

static const struct dl_setting options[] = {
	{ "hosts", DL_SETTING_BORROW, MEMBER(hosts), .arg = "HOSTS",
	  .doc = "These hosts: node[01-20],login, or a file of such lists (all hosts)" },
	{ "compact", DL_SETTING_NUMBER, MEMBER(compact), 1, UINT16_MAX, .arg = "N",
	  .doc = "Choose the N of them that are nearest to each other" },
	{ "csv", DL_SETTING_FLAG, MEMBER(csv),
	  .doc = "Print the hops of all pairs as comma-separated values, with a header line" },
	{ 0 }
};

static const struct tool_usage usage = {
	.options = options,
	.what = "netlist or snapshot",
	.input = tool_input_fabric,
	.input_at = offsetof(struct request, input),
	.flags = TOOL_JSON,
	.args_doc = "[NET|DIR]",
	.doc = "Print how many hops hosts are from each other, or choose the most compact of "
	       "them for a job."
	       "\vHops are cables between switches: of a snapshot, those that packets "
	       "pass by its tables; of a netlist or the running fabric, the distance in the "
	       "torus.\n"
	       "\n"
	       "  dateline hops first.net\n"
	       "  dateline hops today --csv\n"
	       "  dateline hops today --hosts H_[0-3]_[0-2]_0_1 --compact 8\n"
	       "  dateline hops --live --compact 16\n"
	       "\n"
	       "Exit status: 0 good, 1 some packets do not arrive or some hosts are left out, "
	       "2 bad usage or input, 3 no fabric or no memory.",
};

/* ---- hosts --------------------------------------------------------------- */

/* A host that is attached to no switch, or to one without coordinates, is no use. */
static const char *hops_lacking(const struct hops *h, uint32_t sw)
{
	const uint32_t *site = h->in->coords.site;

	if (sw == DL_NONE)
		return "is attached to no switch";
	if (!h->in->snapshot.tables && (!site || site[sw] == DL_NONE))
		return "has no coordinates";
	return NULL;
}

/* One that was asked for is missed; of all hosts it is left out. */
static int add_lacking(struct hops *h, const char *name, const char *what)
{
	if (h->named)
		return dl_fail(h->log, -EINVAL, "\"%s\" %s", name, what);
	if (h->nlacking++ < MAX_NAMED)
		dl_log(h->log, DL_LOG_WARNING, "\"%s\" %s: left out", name, what);
	return 0;
}

static int add_host(void *context, const char *name, const struct find_result *end)
{
	struct hops *h = context;
	struct host *host;
	uint32_t sw = dl_fabric_access_switch(h->in->fabric, end->port);
	const char *what = hops_lacking(h, sw);

	if (h->listed[end->port])
		return 0;
	if (what)
		return add_lacking(h, name, what);
	if (!dl_array_room(h->hosts, h->nhosts, 1, &h->cap))
		return -ENOMEM;
	host = &h->hosts[h->nhosts];
	host->name = strdup(name);
	host->port = end->port;
	host->place = h->at[sw];
	if (!host->name)
		return -ENOMEM;
	h->nhosts++;
	h->listed[end->port] = true;
	if (host->place == DL_NONE) {
		h->port[h->nplaces] = end->port;
		host->place = h->at[sw] = h->nplaces++;
	}
	return 0;
}

/* All that name themselves, along the curve through the torus. */
static int hops_add_all(struct hops *h)
{
	const struct tool_coords *c = &h->in->coords;
	struct coords_order order;
	int err = coords_order_new(h->in->fabric, &c->grid, c->site, &order);

	for (uint32_t i = 0; !err && i < order.nhosts; i++) {
		struct find_result end = { .port = order.list[order.hosts[i].adapter].port };

		err = add_host(h, order.hosts[i].name, &end);
	}
	if (order.doubtful)
		dl_log(h->log, DL_LOG_WARNING,
		       "%u host name%s of two adapters each: left out (see dateline coords)",
		       order.doubtful, tool_s(order.doubtful));
	coords_order_free(&order);
	return err;
}

static int list_hosts(struct hops *h, const struct request *r)
{
	const struct dl_fabric *f = h->in->fabric;
	struct find find = { 0 };
	int err;

	h->named = r->hosts;
	h->at = malloc((f->nswitches + 1ul) * sizeof(*h->at));
	h->port = malloc((f->nswitches + 1ul) * sizeof(*h->port));
	h->listed = calloc(f->nports + 1ul, sizeof(*h->listed));
	if (!h->at || !h->port || !h->listed)
		return -ENOMEM;
	memset(h->at, 0xFF, f->nswitches * sizeof(*h->at)); /* DL_NONE */
	if (!r->hosts) {
		err = hops_add_all(h);
	} else {
		err = find_begin(&find, h->in);
		if (!err)
			err = hosts_read(&find, r->hosts, h->log, add_host, h);
		find_end(&find);
	}
	if (!err && h->nlacking > MAX_NAMED)
		dl_log(h->log, DL_LOG_WARNING, "... and %u hosts more", h->nlacking - MAX_NAMED);
	if (!err && !h->nhosts)
		return dl_fail(h->log, -EINVAL, "there are no hosts");
	return err;
}

/* ---- distances ----------------------------------------------------------- */

static uint32_t switch_of(const struct hops *h, uint32_t place)
{
	return dl_fabric_access_switch(h->in->fabric, h->port[place]);
}

/* By the LID that packets to a place are sent to: so tables are read in order. */
static int compare_lids(const void *a, const void *b, void *hops)
{
	const struct hops *h = hops;
	const struct dl_fabric_port *ports = h->in->fabric->ports;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ports[h->port[x]].lid - ports[h->port[y]].lid;
}

static int count_by_tables(struct hops *h)
{
	uint32_t *places = calloc(h->nplaces, sizeof(*places));
	struct dl_tables_paths *paths = NULL;
	int err = places ? dl_tables_paths_new(h->in->snapshot.tables, &paths) : -ENOMEM;

	for (uint32_t p = 0; !err && p < h->nplaces; p++)
		places[p] = p;
	if (!err)
		qsort_r(places, h->nplaces, sizeof(*places), compare_lids, h);
	for (uint32_t i = 0; !err && i < h->nplaces; i++) {
		uint16_t lid = h->in->fabric->ports[h->port[places[i]]].lid;
		uint16_t *out = &h->hops[places[i] * (size_t)h->nplaces];

		dl_progress(h->log, "counting hops", " switches", i, h->nplaces);
		if (lid)
			dl_tables_paths_to(paths, lid);
		for (uint32_t from = 0; from < h->nplaces; from++) {
			uint32_t sw = switch_of(h, from);

			out[from] = lid && dl_tables_paths_arrive(paths, sw) ?
					    dl_tables_paths_length(paths, sw) - 1 :
					    NO_HOPS;
		}
	}
	dl_progress(h->log, "counting hops", " switches", 1, 1);
	dl_tables_paths_free(paths);
	free(places);
	return err;
}

static void count_by_torus(struct hops *h)
{
	const struct tool_coords *c = &h->in->coords;

	/* The same both ways. */
	for (uint32_t p = 0; p < h->nplaces; p++)
		for (uint32_t q = 0; q < p; q++)
			h->hops[p * (size_t)h->nplaces + q] = h->hops[q * (size_t)h->nplaces + p] =
				dl_torus_site_distance(&c->grid, c->site[switch_of(h, p)],
						       c->site[switch_of(h, q)]);
}

static uint16_t hops_between(const struct hops *h, uint32_t a, uint32_t b)
{
	uint32_t from = h->hosts[a].place, to = h->hosts[b].place;

	/* Some tables have no entry for a switch's own hosts. */
	return from == to ? 0 : h->hops[to * (size_t)h->nplaces + from];
}

/* ---- the choice ---------------------------------------------------------- */

static uint16_t both_ways(const struct hops *h, uint32_t p, uint32_t q)
{
	uint16_t there = h->hops[q * (size_t)h->nplaces + p];
	uint16_t back = h->hops[p * (size_t)h->nplaces + q];

	return p == q ? 0 : (there < FAR ? there : FAR) + (back < FAR ? back : FAR);
}

/* Leave only the chosen hosts: of each place those that are listed first. */
static void hops_leave(struct hops *h, uint32_t *take)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->nhosts; i++) {
		struct host host = h->hosts[i];

		if (take[host.place]) {
			take[host.place]--;
			h->hosts[n++] = host;
		} else {
			free(host.name);
		}
	}
	h->nhosts = n;
}

static int hops_choose(struct hops *h, const struct request *r)
{
	uint16_t *distance = malloc(h->nplaces * (size_t)h->nplaces * sizeof(*distance));
	uint32_t *room = calloc(h->nplaces, sizeof(*room));
	uint32_t *take = calloc(h->nplaces, sizeof(*take));
	struct compact c = { .n = h->nplaces,
			     .distance = distance,
			     .room = room,
			     .want = r->compact,
			     .log = h->log };
	uint64_t sum;
	int err = distance && room && take ? 0 : -ENOMEM;

	if (!err && r->compact > h->nhosts)
		err = dl_fail(h->log, -EINVAL, "--compact %u: there are %u host%s", r->compact,
			      h->nhosts, tool_s(h->nhosts));
	for (uint32_t p = 0; !err && p < h->nplaces; p++)
		for (uint32_t q = 0; q < h->nplaces; q++)
			distance[p * (size_t)h->nplaces + q] = both_ways(h, p, q);
	for (uint32_t i = 0; !err && i < h->nhosts; i++)
		room[h->hosts[i].place]++;
	if (!err)
		err = compact_choose(&c, take, &sum);
	if (!err)
		hops_leave(h, take);
	free(distance);
	free(room);
	free(take);
	return err;
}

/* ---- the document -------------------------------------------------------- */

struct sums {
	uint64_t pairs, hops, lost;
	uint32_t most, from, to; /* hops, and hosts that have them */
};

/* Over all ordered pairs of the first `n` hosts. */
static struct sums hops_add_up(const struct hops *h, uint32_t n)
{
	struct sums s = { 0 };

	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++) {
			uint16_t hops = hops_between(h, a, b);

			s.pairs += a != b;
			if (hops == NO_HOPS) {
				s.lost++;
				continue;
			}
			s.hops += hops;
			if (hops > s.most) {
				s.most = hops;
				s.from = a;
				s.to = b;
			}
		}
	return s;
}

static double hops_mean(const struct sums *s)
{
	return s->pairs > s->lost ? (double)s->hops / (s->pairs - s->lost) : 0;
}

static json_t *host_json(const struct hops *h, const struct host *host)
{
	const struct dl_fabric *f = h->in->fabric;
	uint32_t sw = dl_fabric_access_switch(f, host->port);

	return json_pack("{s:o, s:o, s:i, s:i, s:o, s:o}", "name", tool_json_text(host->name),
			 "guid", tool_json_guid(f, f->ports[host->port].node), "port",
			 f->ports[host->port].num, "lid", f->ports[host->port].lid, "switch",
			 tool_json_text(dl_fabric_node_name(f, f->switches[sw])), "coord",
			 tool_json_place(&h->in->coords, f, f->switches[sw]));
}

/* All but the matrix. */
static json_t *hops_document(const struct hops *h, const struct request *r)
{
	struct sums s = hops_add_up(h, h->nhosts);
	json_t *hosts = json_array(), *d;

	for (uint32_t i = 0; i < h->nhosts; i++)
		json_array_append_new(hosts, host_json(h, &h->hosts[i]));
	d = json_pack("{s:s, s:o, s:I, s:I, s:I, s:f, s:i, s:o, s:o}", "distance",
		      h->in->snapshot.tables ? "routes" : "torus", "hosts", hosts, "pairs",
		      (json_int_t)s.pairs, "undelivered", (json_int_t)s.lost, "hops",
		      (json_int_t)s.hops, "hops_mean", hops_mean(&s), "hops_max", s.most, "from",
		      tool_json_text(h->hosts[s.from].name), "to",
		      tool_json_text(h->hosts[s.to].name));
	if (r->compact)
		json_object_set_new(d, "compact",
				    json_pack("{s:i, s:f}", "of", h->of, "first_hops_mean",
					      h->first_mean));
	return d;
}

/* A list of hosts that can be read again: what is behind the first line is a comment. */
static void hops_print_text(const json_t *d, FILE *to)
{
	const json_t *host;
	size_t i;

	json_array_foreach(tool_at(d, "hosts"), i, host)
		fprintf(to, "%s%s", i ? "," : "", json_string_value(tool_at(host, "name")));
	if (!tool_int_at(d, "pairs")) {
		fputs("\n# one host: there are no pairs\n", to);
		return;
	}
	tool_print(to, d, "\n# {pairs#pair}: {hops_mean:0.3} hops on average, {hops_max} at most");
	if (tool_int_at(d, "hops_max"))
		tool_print(to, d, " ({from} to {to})");
	fputs(strcmp(json_string_value(tool_at(d, "distance")), "torus") ?
		      ", along the routes\n" :
		      ", the shortest ways in the torus\n",
	      to);
	if (tool_int_at(d, "undelivered"))
		tool_print(to, d, "# {undelivered#pair} whose packets do not arrive\n");
	if (tool_has(d, "compact"))
		tool_print(to, tool_at(d, "compact"),
			   "# chosen of {of#host} for the least sum; those listed first "
			   "have {first_hops_mean:0.3} hops on average\n");
}

/*
 * A host's hops to all others, each after `between`, the first without `skip`
 * letters of it.  There are up to 67 million numbers, most of them small: no
 * document holds them.
 */
static void hops_print_row(const struct hops *h, uint32_t from, const char *between, size_t skip,
			   const char *none, FILE *to)
{
	size_t gap = strlen(between), len = 0;
	char text[4096];

	for (uint32_t b = 0; b < h->nhosts; b++) {
		uint16_t hops = hops_between(h, from, b);

		if (len > sizeof(text) - 32) {
			fwrite(text + skip, 1, len - skip, to);
			len = skip = 0;
		}
		for (size_t i = 0; i < gap; i++)
			text[len++] = between[i];
		if (hops == NO_HOPS)
			len += snprintf(text + len, 8, "%s", none);
		else if (hops > 99)
			len += snprintf(text + len, 8, "%u", hops);
		else if (hops > 9)
			text[len++] = '0' + hops / 10;
		if (hops <= 99)
			text[len++] = '0' + hops % 10;
	}
	fwrite(text + skip, 1, len - skip, to);
}

/* As a part of the document. */
static void print_matrix(const void *context, FILE *to)
{
	const struct hops *h = context;

	putc('[', to);
	for (uint32_t a = 0; a < h->nhosts; a++) {
		fputs(a ? ",\n  [" : "\n  [", to);
		hops_print_row(h, a, ",\n   ", 1, "null", to);
		fputs("\n  ]", to);
	}
	fputs("\n ]", to);
}

static void print_csv(const struct hops *h, const json_t *d, FILE *to)
{
	const json_t *hosts = tool_at(d, "hosts"), *host;
	size_t a;

	fputs("host", to);
	json_array_foreach(hosts, a, host)
	{
		putc(',', to);
		tool_print_csv(to, tool_at(host, "name"));
	}
	putc('\n', to);
	json_array_foreach(hosts, a, host)
	{
		tool_print_csv(to, tool_at(host, "name"));
		hops_print_row(h, a, ",", 0, "", to);
		putc('\n', to);
	}
}

static int hops_show(const struct tool *tool, const struct hops *h, bool csv, json_t *d)
{
	const struct tool_part matrix = { "matrix", print_matrix, h };

	if (!csv && !tool->json)
		return tool_show(tool, d, hops_print_text);
	if (tool->json || !d || tool_json_failed())
		return tool_print_json_with(tool, d, &matrix);
	print_csv(h, d, stdout);
	json_decref(d);
	return 0;
}

/* ---- the whole ----------------------------------------------------------- */

static int hops_count(struct hops *h, const struct request *r)
{
	struct sums first;
	int err = 0;

	h->hops = calloc(h->nplaces * (size_t)h->nplaces + 1, sizeof(*h->hops));
	if (!h->hops)
		return -ENOMEM;
	if (h->in->snapshot.tables)
		err = count_by_tables(h);
	else
		count_by_torus(h);
	if (err || !r->compact)
		return err;
	h->of = h->nhosts;
	first = hops_add_up(h, r->compact < h->nhosts ? r->compact : h->nhosts);
	h->first_mean = hops_mean(&first);
	return hops_choose(h, r);
}

static void hops_release(struct hops *h)
{
	for (uint32_t i = 0; i < h->nhosts; i++)
		free(h->hosts[i].name);
	free(h->hosts);
	free(h->at);
	free(h->port);
	free(h->hops);
	free(h->listed);
}

int tool_cmd_hops(struct tool *tool, int argc, char **argv)
{
	struct request r = { 0 };
	struct tool_input in;
	struct hops h = { .in = &in, .log = &tool->log };
	int err, status = TOOL_EXIT_GOOD;

	tool_options(tool, &usage, argc, argv, &r);
	err = tool_input_read(tool, &r.input, TOOL_INPUT_HOPS, &in);
	if (!err)
		err = list_hosts(&h, &r);
	if (!err)
		err = hops_count(&h, &r);
	if (!err && (r.csv || tool->json) && h.nhosts > MATRIX_MAX)
		err = dl_fail(&tool->log, -EINVAL,
			      "the hops of all pairs of %u hosts are too many to list: choose at "
			      "most %u by --hosts or --compact",
			      h.nhosts, MATRIX_MAX);
	if (!err) {
		json_t *d = hops_document(&h, &r);

		if (tool_int_at(d, "undelivered") || h.nlacking)
			status = TOOL_EXIT_FINDING;
		err = hops_show(tool, &h, r.csv, d);
	}
	hops_release(&h);
	tool_input_free(&in);
	return err ? (int)tool_exit_status(err) : status;
}
