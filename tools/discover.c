/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline discover`: where every switch sits. */
#include <stdlib.h>
#include <string.h>

#include "tools/common/input.h"

/* Seeds in a written configuration: enough to survive some failures. */
#define MAX_SEEDS 4

struct request {
	struct tool_input_options input;
	const char *write, *plan;
};

static const struct dl_setting options[] = {
	{ "plan", DL_SETTING_BORROW, DL_MEMBER(struct request, plan), .arg = "NETLIST",
	  .doc = "Print what to do until the fabric is cabled like this netlist" },
	{ "write-config", DL_SETTING_BORROW, DL_MEMBER(struct request, write), .arg = "FILE",
	  .doc = "Write a torus-2QoS.conf for the result" },
	{ 0 }
};

static const struct tool_usage usage = {
	.options = options,
	.what = "netlist",
	.input = tool_input_fabric,
	.input_at = offsetof(struct request, input),
	.flags = TOOL_JSON,
	.args_doc = "[NET|DIR]",
	.doc = "Find the coordinates of every switch of a torus or mesh."
	       "\vPrints a line for each site: its coordinates, and the GUID "
	       "and name of its switch, or the word missing; then one for "
	       "each off-torus switch, with its kind (leaf, dual-homed, "
	       "unplaceable, disconnected) and uplink; then one for each "
	       "unused cable, for each cable slower than others of its kind, and for "
	       "each wiring fault with its repair (exchange, move, remove, add).\n"
	       "\n"
	       "  dateline discover first.net --torus-config first.torus.conf\n"
	       "\n"
	       "Without a configuration, radices and coordinates are found "
	       "from the cabling, the same ones in every run; the order of "
	       "GUIDs determines the directions of x, y and z.  "
	       "--write-config writes them to a file:\n"
	       "\n"
	       "  dateline discover first.net --write-config found.conf\n"
	       "\n"
	       "--plan compares the cabling with a netlist, such as a step of dateline grow, and "
	       "prints what is left to do instead; then exit status 0 is for nothing.\n"
	       "\n"
	       "Exit status: 0 every site has its switch and its cables, and all others "
	       "are leaf or dual-homed; 1 some are missing or do not fit, or the "
	       "configuration contradicts the fabric; 2 bad usage or input; 3 no fabric.",
};

static const char *const kinds[] = {
	[DL_TORUS_LEAF] = "leaf",
	[DL_TORUS_DUAL_HOMED] = "dual-homed",
	[DL_TORUS_UNPLACEABLE] = "unplaceable",
	[DL_TORUS_DISCONNECTED] = "disconnected",
};

/* A switch without a place: what it is and how it is routed. */
static json_t *unplaced_json(const struct dl_torus *t, uint32_t sw)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t next = dl_torus_uplink_switch(t, sw);
	uint32_t site = dl_torus_possible_site(t, sw);
	json_t *o = tool_json_node(f, f->switches[sw]);

	json_object_set_new(o, "kind", json_string(kinds[t->off_kind[sw]]));
	if (next == DL_NONE)
		return o;
	next = f->switches[next];
	json_object_set_new(o, "attachment", tool_json_coord(&t->grid, t->attachment[sw]));
	json_object_set_new(o, "on", tool_json_guid(f, next));
	json_object_set_new(o, "cables", json_integer(dl_torus_uplink_cables(t, sw, NULL, NULL)));
	if (site != DL_NONE)
		json_object_set_new(o, "possible", tool_json_coord(&t->grid, site));
	json_object_set_new(o, "on_name", tool_json_text(dl_fabric_node_name(f, next)));
	return o;
}

static json_t *discover_end_json(const struct dl_fabric *f, uint32_t port)
{
	return tool_json_with(tool_json_port(f, port), "name",
			      tool_json_text(dl_fabric_node_name(f, f->ports[port].node)));
}

/* Do half of all switches or more have a cable in this direction at this port number? */
static bool discover_is_usual(const struct dl_torus *t, unsigned int number, unsigned int dir)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *node = &f->nodes[f->switches[s]];

		n += number <= node->nports && t->port_dir[node->first_port + number] == dir;
	}
	return 2 * n >= f->nswitches;
}

/* The ports without a cable of a placed switch that at most others lead this way. */
static json_t *discover_free_json(const struct dl_torus *t, uint32_t site, unsigned int dir)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *node = &f->nodes[f->switches[t->site_sw[site]]];
	json_t *list = json_array();

	for (unsigned int number = 1; number <= node->nports; number++)
		if (f->ports[node->first_port + number].peer == DL_NONE &&
		    discover_is_usual(t, number, dir))
			json_array_append_new(list, json_integer(number));
	return list;
}

/* The placed neighbours of an empty site, and their ports that led to it. */
static json_t *discover_around_json(const struct dl_torus *t, uint32_t site)
{
	json_t *list = json_array(), *around;

	for (unsigned int dir = 0; dir < DL_TORUS_DIRS; dir++) {
		uint32_t next = dl_torus_site_next(&t->grid, site, dir);
		json_t *ports;

		if (next == DL_NONE || t->site_sw[next] == DL_NONE)
			continue;
		ports = discover_free_json(t, next, dl_torus_opposite(dir));
		around = tool_json_node(t->fabric, t->fabric->switches[t->site_sw[next]]);
		if (json_array_size(ports))
			json_array_append(list,
					  tool_json_with(around, "ports", json_incref(ports)));
		json_decref(ports);
		json_decref(around);
	}
	return list;
}

static json_t *discover_name_at(const struct dl_torus *t, uint32_t site)
{
	const struct dl_fabric *f = t->fabric;

	return tool_json_text(dl_fabric_node_name(f, f->switches[t->site_sw[site]]));
}

/* What is wired wrongly or missing, and its repair. */
static json_t *faults_json(const struct dl_torus *t)
{
	static const char *const words[] = {
		[DL_TORUS_EXCHANGE] = "exchange",
		[DL_TORUS_MOVE] = "move",
		[DL_TORUS_REMOVE] = "remove",
		[DL_TORUS_ADD] = "add",
	};
	json_t *list = json_array(), *o;
	struct dl_torus_fault *faults;
	uint32_t n, next;

	if (dl_torus_find_faults(t, &faults, &n)) {
		json_decref(list);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct dl_torus_fault *x = &faults[i];

		o = json_pack("{s:s}", "repair", words[x->repair]);
		if (x->repair == DL_TORUS_ADD) {
			next = dl_torus_site_next(&t->grid, x->site, x->dir);
			json_object_set_new(o, "from", tool_json_coord(&t->grid, x->site));
			json_object_set_new(o, "to", tool_json_coord(&t->grid, next));
			json_object_set_new(o, "from_name", discover_name_at(t, x->site));
			json_object_set_new(o, "to_name", discover_name_at(t, next));
			json_object_set_new(o, "from_ports",
					    discover_free_json(t, x->site, x->dir));
			json_object_set_new(o, "to_ports",
					    discover_free_json(t, next, dl_torus_opposite(x->dir)));
		} else {
			json_object_set_new(o, "port", discover_end_json(t->fabric, x->port[0]));
			json_object_set_new(o, "other", discover_end_json(t->fabric, x->port[1]));
		}
		if (x->repair == DL_TORUS_MOVE)
			json_object_set_new(o, "to", tool_json_coord(&t->grid, x->site));
		json_array_append_new(list, o);
	}
	free(faults);
	return list;
}

static json_t *discover_document(const struct tool_input *in)
{
	const struct dl_torus *t = in->torus;
	json_t *placed = json_array(), *missing = json_array(), *around = json_array();
	json_t *unplaced = json_array(), *unused = json_array();
	const struct dl_fabric *f = t->fabric;

	for (uint32_t i = 0; i < t->nsites; i++) {
		if (t->site_sw[i] != DL_NONE) {
			json_array_append_new(placed,
					      tool_json_placed_node(&in->coords, f,
								    f->switches[t->site_sw[i]]));
			continue;
		}
		json_array_append_new(missing, tool_json_coord(&t->grid, i));
		json_array_append_new(around, discover_around_json(t, i));
	}
	for (uint32_t i = 0; i < t->nunplaced; i++)
		json_array_append_new(unplaced, unplaced_json(t, t->unplaced[i]));
	for (uint32_t i = 0; i < t->noff_links; i++) {
		uint32_t port = t->off_links[i];

		if (!dl_torus_is_uplink(t, port))
			json_array_append_new(unused,
					      json_pack("[oo]", discover_end_json(f, port),
							discover_end_json(f, f->ports[port].peer)));
	}
	return json_pack("{s:[iii], s:[bbb], s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "dims",
			 t->grid.radix[0], t->grid.radix[1], t->grid.radix[2], "mesh",
			 t->grid.mesh[0], t->grid.mesh[1], t->grid.mesh[2], "cables", t->nlinks,
			 "switches", placed, "missing", missing, "missing_neighbours", around,
			 "unplaced", unplaced, "unused_cables", unused, "faults", faults_json(t),
			 "slow", tool_json_slow(&in->coords, f));
}

/* Is the first of two coordinates that of the site with the lower number? */
static bool site_before(const json_t *a, const json_t *b)
{
	for (unsigned int d = DL_TORUS_DIMS; d-- > 0;) {
		json_int_t x = json_integer_value(json_array_get(a, d));
		json_int_t y = json_integer_value(json_array_get(b, d));

		if (x != y)
			return x < y;
	}
	return false;
}

/* A line a site, in order: both lists are in that of the sites. */
static void print_sites(const json_t *d, FILE *to)
{
	const json_t *placed = tool_at(d, "switches");
	const json_t *missing = tool_at(d, "missing"), *gap, *sw = NULL;
	size_t n = 0, i;

	json_array_foreach(missing, i, gap)
	{
		for (; (sw = json_array_get(placed, n)) && site_before(tool_at(sw, "coord"), gap);
		     n++)
			tool_print(to, sw, "{coord} {guid} \"{name}\"\n");
		tool_print(to, gap, "{} missing");
		tool_print(to, json_array_get(tool_at(d, "missing_neighbours"), i),
			   "{*}, next to \"{name}\" port {ports}{/}\n");
	}
	while ((sw = json_array_get(placed, n++)))
		tool_print(to, sw, "{coord} {guid} \"{name}\"\n");
}

static void discover_print(const json_t *d, FILE *to)
{
	const json_t *item;
	size_t i;

	print_sites(d, to);
	tool_print(to, d,
		   "{*unplaced}{kind} {guid} \"{name}\"{?attachment} via {attachment}, "
		   "{cables#cable} to {on} \"{on_name}\"{/}\n{/}");
	json_array_foreach(tool_at(d, "unused_cables"), i, item)
	{
		tool_print(to, json_array_get(item, 0), "unused {guid} \"{name}\" port {port}");
		tool_print(to, json_array_get(item, 1), " to {guid} \"{name}\" port {port}\n");
	}
	tool_print(to, d,
		   "{*slow}slow {from.guid} \"{from.name}\" port {from.port} to {to.guid} "
		   "\"{to.name}\" port {to.port}: {speed}, {gbps:0.1} Gbit/s; others "
		   "{usual_gbps:0.1}\n{/}");
	tool_print(to, d,
		   "{*faults}{repair}{?from} {from} to {to}: \"{from_name}\"{?from_ports} port "
		   "{from_ports}{/} to \"{to_name}\"{?to_ports} port {to_ports}{/}\n{/}"
		   "{!from} {port.guid} \"{port.name}\" port {port.port}"
		   "{?to} to {to}, from{/}{!to} and{/}"
		   " {other.guid} \"{other.name}\" port {other.port}\n{/}{/}");
}

/* What is to be done until the fabric is cabled as planned. */
static void discover_print_plan(const json_t *d, FILE *to)
{
	const json_t *item;
	size_t i;

	tool_print(to, d, "{*plan.nodes}{planned} is {guid} \"{name}\"\n{/}");
	json_array_foreach(tool_at(d, "plan.work"), i, item) tool_print(
		to, item,
		strcmp(json_string_value(tool_at(item, "work")), "exchange") ?
			"{?stays}move the cable of \"{stays.name}\" port {stays.port} from "
			"\"{from.name}\" port {from.port} to \"{to.name}\" port "
			"{to.port}\n{/}"
			"{!stays}{work} \"{from.name}\" port {from.port} - \"{to.name}\" "
			"port {to.port}{?planned}: {speed}, planned {planned}{/}\n{/}" :
			"exchange the plugs in \"{from.name}\" port {from.port} and "
			"\"{to.name}\" port {to.port}\n");
	if (!i)
		fputs("cabled as planned\n", to);
}

/* Compare with the plan, wherever switches have coordinates. */
static int discover_compare(struct tool *tool, const struct request *r, const struct tool_input *in,
			    json_t *document)
{
	struct dl_fabric *plan = NULL;
	int err = dl_fabric_read_netlist(r->plan, &tool->log, &plan);

	if (!err)
		tool_json_with(document, "plan", tool_json_cabling(plan, in->fabric));
	dl_fabric_free(plan);
	tool->finding = json_array_size(tool_at(document, "plan.work")) != 0;
	return err;
}

static int write_config(const struct tool *tool, const struct dl_torus *t, const char *path)
{
	struct dl_torus_config *c = NULL;
	int err = dl_torus_describe(t, MAX_SEEDS, &c);

	if (!err)
		err = tool_write(tool, NULL, path, to, dl_torus_config_write(c, to));
	dl_torus_config_free(c);
	return err;
}

/* Sums up; false when something is missing, does not fit, or may not. */
static bool discover_conclude(const struct dl_log *log, const struct dl_torus *t,
			      const json_t *faults)
{
	uint32_t cables, switches = dl_torus_count_unplaceable(t, &cables);
	uint32_t doubts = 0, sites = t->nsites - t->nplaced, lacking = 0;
	const json_t *fault;
	size_t i;

	for (i = 0; i < t->nunplaced; i++)
		doubts += dl_torus_possible_site(t, t->unplaced[i]) != DL_NONE;
	json_array_foreach(faults, i, fault) lacking += !tool_has(fault, "other");
	dl_log(log, DL_LOG_INFO,
	       "%u of %u sites hold a switch, %u cable%s; %u leaf or "
	       "dual-homed switch%s; %u switch%s and %u cable%s do not fit",
	       t->nplaced, t->nsites, t->nlinks, tool_s(t->nlinks), t->nunplaced - switches,
	       tool_es(t->nunplaced - switches), switches, tool_es(switches), cables,
	       tool_s(cables));
	if (sites || lacking)
		dl_log(log, DL_LOG_WARNING,
		       "missing: %u switch%s, and %u cable%s between other switches", sites,
		       tool_es(sites), lacking, tool_s(lacking));
	return !switches && !cables && !doubts && !sites && !lacking;
}

int tool_cmd_discover(struct tool *tool, int argc, char **argv)
{
	struct request r = { .input.cabling = true };
	struct tool_input in;
	json_t *document;
	int err;

	tool_options(tool, &usage, argc, argv, &r);
	r.input.any_fabric = r.plan != NULL;
	err = tool_input_read(tool, &r.input, r.plan ? TOOL_INPUT_PART : TOOL_INPUT_TORUS, &in);
	if (!err) {
		document = discover_document(&in);
		if (r.plan)
			err = discover_compare(tool, &r, &in, document);
		else
			tool->finding |= !discover_conclude(&tool->log, in.torus,
							    tool_at(document, "faults"));
		if (!err && (!r.write || strcmp(r.write, "-")))
			err = tool_show(tool, document,
					r.plan ? discover_print_plan : discover_print);
		else
			json_decref(document);
	}
	if (!err && r.write)
		err = write_config(tool, in.torus, r.write);
	tool_input_free(&in);
	return tool_exit_status(err);
}
