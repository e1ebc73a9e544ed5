/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline discover`: where every switch sits. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/torus.h"
#include "tool.h"

enum { KEY_TORUS = 0x2000, KEY_WRITE, KEY_LIVE };

/* Seeds in a written configuration: enough to survive some failures. */
#define MAX_SEEDS 4

struct request {
	const char *net, *config, *write;
	bool live;
};

static const struct argp_option options[] = {
	{ .name = "live",
	  .key = KEY_LIVE,
	  .doc = "Look at the running fabric instead of a netlist" },
	{ .name = "torus-config",
	  .key = KEY_TORUS,
	  .arg = "FILE",
	  .doc = "Radices, seeds and datelines: a torus-2QoS.conf; without "
		 "it, the cabling decides" },
	{ .name = "write-config",
	  .key = KEY_WRITE,
	  .arg = "FILE",
	  .doc = "Write a torus-2QoS.conf for what was found" },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *r = state->input;

	switch (key) {
	case KEY_TORUS:
		r->config = arg;
		return 0;
	case KEY_LIVE:
		r->live = true;
		return 0;
	case KEY_WRITE:
		r->write = arg;
		return 0;
	case ARGP_KEY_ARG:
		tool_arg_once(state, &r->net, arg, "netlist");
		return 0;
	case ARGP_KEY_END:
		if (!r->net == !r->live)
			argp_error(state, "which netlist, or --live?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp discover_argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[NET]",
	.doc = "Find the coordinates of every switch of a torus or mesh."
	       "\v"
	       "Prints a line a site: its coordinates, GUID and name of its "
	       "switch, or that it is missing; then a line for each switch "
	       "beside the torus, a stub that is routed by way of the switch "
	       "it hangs on or a bridge between two, and each that fits "
	       "nowhere; then for each cable that stays idle.\n"
	       "\n"
	       "  dateline discover first.net --torus-config first.torus.conf\n"
	       "\n"
	       "Without a configuration, radices and coordinates come from the "
	       "cabling alone: the same ones every time, but where x, y and z "
	       "point is then by the order of GUIDs.  --write-config puts them "
	       "on record, for OpenSM and for later:\n"
	       "\n"
	       "  dateline discover first.net --write-config found.conf\n"
	       "\n"
	       "Exit status: 0 all switches and cables fit or hang beside "
	       "the torus, 1 some do not, 2 bad usage or input, 3 no fabric.",
};

static const char *guid_text(uint64_t guid, char text[19])
{
	snprintf(text, 19, "0x%016" PRIx64, guid);
	return text;
}

static json_t *coord_json(const struct dl_torus_grid *g, uint32_t site)
{
	uint32_t c[DL_TORUS_DIMS];

	dl_torus_site_coord(g, site, c);
	return json_pack("[iii]", c[0], c[1], c[2]);
}

static json_t *switch_json(const struct dl_torus *t, uint32_t sw)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t node = f->switches[sw];
	char guid[19];

	return json_pack("{s:s, s:s%, s:o*}", "guid",
			 guid_text(f->nodes[node].guid, guid), "name",
			 dl_fabric_node_name(f, node),
			 strlen(dl_fabric_node_name(f, node)), "coord",
			 t->sw_site[sw] == DL_NONE ?
				 NULL :
				 coord_json(&t->grid, t->sw_site[sw]));
}

static json_t *end_json(const struct dl_fabric *f, uint32_t port)
{
	char guid[19];

	return json_pack("{s:s, s:i}", "guid",
			 guid_text(f->nodes[f->ports[port].node].guid, guid),
			 "port", f->ports[port].num);
}

static const char *const kinds[] = {
	[DL_TORUS_LEAF] = "stub",
	[DL_TORUS_DUAL_HOMED] = "bridge",
	[DL_TORUS_UNPLACEABLE] = "misfit",
	[DL_TORUS_DISCONNECTED] = "cut-off",
};

/* A switch without a place: what it is and how it is routed. */
static json_t *odd_json(const struct dl_torus *t, uint32_t i)
{
	uint32_t sw = t->unplaced[i], next = dl_torus_uplink_switch(t, sw);
	uint32_t site = dl_torus_possible_site(t, sw);
	json_t *odd = switch_json(t, sw);
	char guid[19];

	json_object_set_new(odd, "kind", json_string(kinds[t->off_kind[sw]]));
	if (next == DL_NONE)
		return odd;
	guid_text(t->fabric->nodes[t->fabric->switches[next]].guid, guid);
	json_object_set_new(odd, "home",
			    coord_json(&t->grid, t->attachment[sw]));
	json_object_set_new(odd, "on", json_string(guid));
	json_object_set_new(
		odd, "cables",
		json_integer(dl_torus_uplink_cables(t, sw, NULL, NULL)));
	if (site != DL_NONE)
		json_object_set_new(odd, "possible",
				    coord_json(&t->grid, site));
	return odd;
}

static int print_json(const struct tool *tool, const struct dl_torus *t)
{
	json_t *placed = json_array(), *missing = json_array();
	json_t *unplaced = json_array(), *odd = json_array();
	uint32_t i;

	for (i = 0; i < t->nsites; i++) {
		if (t->site_sw[i] == DL_NONE)
			json_array_append_new(missing, coord_json(&t->grid, i));
		else
			json_array_append_new(placed,
					      switch_json(t, t->site_sw[i]));
	}
	for (i = 0; i < t->nunplaced; i++)
		json_array_append_new(unplaced, odd_json(t, i));
	for (i = 0; i < t->noff_links; i++) {
		uint32_t port = t->off_links[i];

		if (dl_torus_is_uplink(t, port))
			continue;
		json_array_append_new(
			odd, json_pack("[oo]", end_json(t->fabric, port),
				       end_json(t->fabric,
						t->fabric->ports[port].peer)));
	}
	return tool_print_json(
		tool,
		json_pack("{s:[iii], s:[bbb], s:i, s:o, s:o, s:o, s:o}", "dims",
			  t->grid.radix[0], t->grid.radix[1], t->grid.radix[2],
			  "mesh", t->grid.mesh[0], t->grid.mesh[1],
			  t->grid.mesh[2], "cables", t->nlinks, "switches",
			  placed, "missing", missing, "unplaced", unplaced,
			  "odd_cables", odd));
}

static void print_odd(const struct dl_torus *t, uint32_t i)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t sw = t->unplaced[i], next = dl_torus_uplink_switch(t, sw),
		 c[DL_TORUS_DIMS];
	unsigned int cables = dl_torus_uplink_cables(t, sw, NULL, NULL);

	printf("%s 0x%016" PRIx64 " \"%s\"", kinds[t->off_kind[sw]],
	       f->nodes[f->switches[sw]].guid,
	       dl_fabric_node_name(f, f->switches[sw]));
	if (next == DL_NONE) {
		printf("\n");
		return;
	}
	dl_torus_site_coord(&t->grid, t->attachment[sw], c);
	printf(" by way of %u,%u,%u, %u cable%s to 0x%016" PRIx64 " \"%s\"\n",
	       c[0], c[1], c[2], cables, cables == 1 ? "" : "s",
	       f->nodes[f->switches[next]].guid,
	       dl_fabric_node_name(f, f->switches[next]));
}

static void print_idle(const struct dl_torus *t, uint32_t port)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_port *a = &f->ports[port],
				    *b = &f->ports[a->peer];

	printf("idle 0x%016" PRIx64 " \"%s\" port %u to 0x%016" PRIx64
	       " \"%s\" port %u\n",
	       f->nodes[a->node].guid, dl_fabric_node_name(f, a->node), a->num,
	       f->nodes[b->node].guid, dl_fabric_node_name(f, b->node), b->num);
}

static void print_text(const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t i, c[DL_TORUS_DIMS];

	for (i = 0; i < t->nsites; i++) {
		uint32_t sw = t->site_sw[i];

		dl_torus_site_coord(&t->grid, i, c);
		if (sw == DL_NONE)
			printf("%u,%u,%u missing\n", c[0], c[1], c[2]);
		else
			printf("%u,%u,%u 0x%016" PRIx64 " \"%s\"\n", c[0], c[1],
			       c[2], f->nodes[f->switches[sw]].guid,
			       dl_fabric_node_name(f, f->switches[sw]));
	}
	for (i = 0; i < t->nunplaced; i++)
		print_odd(t, i);
	for (i = 0; i < t->noff_links; i++)
		if (!dl_torus_is_uplink(t, t->off_links[i]))
			print_idle(t, t->off_links[i]);
}

static int write_config(const struct tool *tool, const struct dl_torus *t,
			const char *path)
{
	struct dl_torus_config *c = NULL;
	struct tool_out out;
	int err = dl_torus_describe(t, MAX_SEEDS, &c);

	if (!err)
		err = tool_out_open(tool, NULL, path, &out);
	if (!err)
		err = tool_out_close(tool, &out,
				     dl_torus_config_write(c, out.file));
	dl_torus_config_free(c);
	return err;
}

/* Sums up; false when something does not fit, or may not. */
static bool conclude(const struct dl_log *log, const struct dl_torus *t)
{
	uint32_t cables, switches = dl_torus_count_unplaceable(t, &cables);
	uint32_t doubts = 0, i;

	for (i = 0; i < t->nunplaced; i++)
		doubts += dl_torus_possible_site(t, t->unplaced[i]) != DL_NONE;
	dl_log(log, DL_LOG_INFO,
	       "%u of %u sites hold a switch, %u cables; %u switches hang "
	       "beside the torus; %u switches and %u cables do not fit",
	       t->nplaced, t->nsites, t->nlinks, t->nunplaced - switches,
	       switches, cables);
	return !switches && !cables && !doubts;
}

int tool_cmd_discover(struct tool *tool, int argc, char **argv)
{
	struct request r = { 0 };
	struct tool_setup s;
	int err, status;

	tool_parse(tool, &discover_argp, TOOL_JSON, argc, argv, &r);
	err = tool_setup_load(tool, r.net, r.config, &s);
	if (!err && tool->json)
		err = print_json(tool, s.torus);
	else if (!err)
		print_text(s.torus);
	if (!err && r.write)
		err = write_config(tool, s.torus, r.write);
	status = tool_exit_status(err);
	if (!err && !conclude(&tool->log, s.torus))
		status = TOOL_EXIT_FINDING;
	tool_setup_free(&s);
	return status;
}
