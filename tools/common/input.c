/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What subcommands read; see input.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "input.h"
#include "dateline/route.h"

#define MEMBER(member) DL_MEMBER(struct tool_input_options, member)

const struct dl_setting tool_input_live[] = {
	{ "live", DL_SETTING_FLAG, MEMBER(is_live),
	  .doc = "Read the fabric that this machine is attached to instead" },
	{ "Ca", DL_SETTING_BORROW, MEMBER(live.ca), .key = 'C', .arg = "NAME",
	  .doc = "For --live: the local adapter (any that is up)" },
	{ "Port", DL_SETTING_NUMBER, MEMBER(live.port), 1, DL_FABRIC_MAX_PORTS, .key = 'P',
	  .arg = "N", .doc = "For --live: its port (any that is up)" },
	{ "node-name-map", DL_SETTING_BORROW, MEMBER(names), .arg = "FILE",
	  .doc = "Names of nodes by GUID, as for infiniband-diags" },
	{ 0 }
};

const struct dl_setting tool_input_fabric[] = {
	{ "include", DL_SETTING_FLAG, MEMBER(include),
	  .doc = "Follow the netlist's include statements to files beside it" },
	{ "torus-config", DL_SETTING_BORROW, MEMBER(config), .arg = "FILE",
	  .doc = "Radices, seeds and datelines: a torus-2QoS.conf; without "
		 "it, a snapshot's coordinates or the cabling decide" },
	{ 0 }
};

const struct dl_setting tool_input_tables[] = {
	{ "net", DL_SETTING_BORROW, MEMBER(net), .arg = "FILE",
	  .doc = "The netlist, for a directory without one" },
	{ "psl", DL_SETTING_BORROW, MEMBER(psl), .arg = "FILE",
	  .doc = "Path SLs in ibdmchk's form, instead of the directory's" },
	{ "torus-config", DL_SETTING_BORROW, MEMBER(config), .arg = "FILE",
	  .doc = "A torus-2QoS.conf: for coordinates, and for path SLs by "
		 "torus-2QoS's rule when there are none" },
	{ 0 }
};

/* ---- coordinates by the engine's own list ------------------------------ */

static int from_list(const struct tool *tool, const struct dl_fabric *f,
		     const struct dl_snapshot_note *list, struct tool_coords *c)
{
	FILE *from = fmemopen(list->text, list->len, "r");
	int err = -ENOMEM;

	if (from)
		err = dl_torus_read_list(f, from, list->name, &tool->log, &c->grid, &c->site);
	if (from)
		fclose(from);
	c->certain = true;
	return err;
}

/* The list of a torus engine in a snapshot, or NULL. */
static const struct dl_snapshot_note *input_list(const struct dl_snapshot *s)
{
	static const char *const lists[] = { "dateline-torus.dump", "opensm-torus.dump", NULL };

	for (unsigned int i = 0; lists[i]; i++) {
		const struct dl_snapshot_note *list = dl_snapshot_find_note(s, lists[i]);

		if (list && list->len)
			return list;
	}
	return NULL;
}

/* The members of a group: the end ports that its entries lead to. */
static uint32_t input_group_members(const struct dl_fabric *f, const struct dl_tables_masks *masks,
				    uint32_t *members)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *node = dl_fabric_switch_node(f, s);

		if (!dl_tables_mask_find(masks, s))
			continue;
		for (unsigned int p = 0; p <= node->nports; p++) {
			uint32_t port = dl_fabric_end_at(f, node, p);

			if (dl_tables_mask_get(masks, s, p) && port != DL_NONE)
				members[n++] = port;
		}
	}
	return n;
}

int tool_keep_groups(const struct dl_tables *before, struct dl_route_result *out)
{
	const struct dl_fabric *f = before->fabric, *routed = out->tables->fabric;
	uint32_t *members = malloc((f->nports + 1ul) * sizeof(*members));
	struct dl_fabric_match there;
	int err = dl_fabric_match(f, routed, &there);

	if (!members)
		err = -ENOMEM;
	for (uint32_t i = 0; !err && i < before->ngroups; i++) {
		const struct dl_tables_mcast_group *g = &before->groups[i];
		uint32_t all = input_group_members(f, &g->masks, members), n = 0;
		struct dl_tables_mcast_group *now = dl_tables_group(out->tables, g->mlid);

		for (uint32_t k = 0; k < all; k++) {
			members[n] = dl_fabric_match_port(&there, members[k]);
			n += members[n] != DL_NONE && routed->ports[members[n]].lid;
		}
		err = now ? dl_route_tree_group(out->tree, routed, g->mlid, members, n,
						&now->masks) :
			    -ENOMEM;
	}
	dl_fabric_match_release(&there);
	free(members);
	return err;
}

json_t *tool_json_place(const struct tool_coords *c, const struct dl_fabric *f, uint32_t node)
{
	uint32_t sw = node == DL_NONE ? DL_NONE : f->nodes[node].sw;

	return tool_json_coord(&c->grid, c->site && sw != DL_NONE ? c->site[sw] : DL_NONE);
}

json_t *tool_json_placed_node(const struct tool_coords *c, const struct dl_fabric *f, uint32_t node)
{
	return tool_json_with(tool_json_node(f, node), "coord", tool_json_place(c, f, node));
}

json_t *tool_json_placed_port(const struct tool_coords *c, const struct dl_fabric *f, uint32_t port)
{
	return tool_json_with(tool_json_placed_node(c, f, f->ports[port].node), "port",
			      json_integer(f->ports[port].num));
}

static int path_sls(const struct tool_coords *c, struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t n = f->nswitches;
	int err = dl_tables_new_psl(t, n, n);

	if (err)
		return err;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			if (c->site[a] != DL_NONE && c->site[b] != DL_NONE)
				t->psl[a * (size_t)n + b] =
					dl_route_sl(&c->grid, c->site[a], c->site[b]);
	for (uint32_t lid = 1; lid <= t->top_lid; lid++) {
		uint32_t port = f->lid_port[lid];

		if (port == DL_NONE)
			continue;
		t->psl_src[port] = dl_fabric_access_switch(f, port);
		t->psl_dst[lid] = t->psl_src[port];
	}
	return 0;
}

/* SL 0 on all paths. */
static int input_same_sl(struct dl_tables *t)
{
	int err = dl_tables_new_psl(t, 1, 1);

	if (err)
		return err;
	t->psl[0] = 0;
	memset(t->psl_src, 0, t->fabric->nports * sizeof(*t->psl_src));
	memset(t->psl_dst, 0, (t->top_lid + (size_t)1) * sizeof(*t->psl_dst));
	return 0;
}

/* Path SLs that could not be read are not guessed, unless a configuration is given. */
static int complete_sls(struct tool *tool, const struct tool_input_options *o,
			const struct tool_coords *coords, struct dl_snapshot *s)
{
	int err;

	if (s->tables->psl)
		return 0;
	if (s->parts & DL_SNAPSHOT_IS_PARTIAL && !o->config) {
		tool_assume(tool, "path SLs were not read: nothing that depends on them is judged; "
				  "dateline snapshot --live --paths all reads them");
		return 0;
	}
	if (!strcmp(s->about.mode, "any-sl")) {
		tool_assume(tool, "no path SLs given: SL 0, as any-SL mode grants");
		s->about.sls = DL_SNAPSHOT_SLS_ENGINE;
		return input_same_sl(s->tables);
	}
	/* Balanced ties have SLs of their own. */
	if (!coords->site || !coords->certain || strstr(s->about.mode, "-balanced"))
		return 0;
	tool_assume(tool, "no path SLs given: taken from the coordinates by the rule of "
			  "torus-2QoS");
	err = path_sls(coords, s->tables);
	if (!err)
		s->about.sls = DL_SNAPSHOT_SLS_RULE;
	return err;
}

/* ---- the running fabric ------------------------------------------------- */

static int read_live(const struct tool *tool, const struct tool_input_options *o, bool tables,
		     struct dl_snapshot *s)
{
	struct dl_live_options live;
	int err;

	dl_live_options_init(&live);
	live.ca = o->live.ca;
	live.port = o->live.port;
	live.paths = o->live.paths;
	if (tables)
		err = tool_read_live(tool, &live, s);
	else
		err = dl_live_fabric(&live, &tool->log, &s->fabric);
	if (s->parts & DL_SNAPSHOT_IS_PARTIAL)
		dl_log(&tool->log, DL_LOG_WARNING,
		       "not everything answered; dateline snapshot lists what "
		       "is missing");
	/* What is wrong with the fabric is not wrong with the usage. */
	return tool_exit_status(err) == TOOL_EXIT_USAGE ? -ENETUNREACH : err;
}

/* ---- all ---------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int input_read_fabric(const struct tool *tool, const struct tool_input_options *o,
			     bool tables, struct dl_snapshot *s)
{
	int packed;

	if (o->is_live)
		return read_live(tool, o, tables, s);
	packed = tables || is_directory(o->from) ? 1 : dl_snapshot_is_packed(o->from);
	if (packed < 0)
		return dl_fail(&tool->log, packed, "cannot read %s: %s", o->from,
			       strerror(-packed));
	if (packed)
		return dl_snapshot_read(o->from, o->net, o->psl, &tool->log, s);
	if (!strcmp(o->from, "-"))
		return dl_fabric_read_netlist_stream(stdin, "standard input", &tool->log,
						     &s->fabric);
	if (o->include)
		return dl_fabric_read_netlist_including(o->from, &tool->log, &s->fabric);
	return dl_fabric_read_netlist(o->from, &tool->log, &s->fabric);
}

/*
 * The torus as the engine saw it that routed a snapshot: path SLs follow from its
 * coordinates.  NULL: there is no list of them.
 */
static int input_known_torus(const struct tool *tool, const struct dl_snapshot *s,
			     const struct dl_fabric *f, struct dl_torus **known)
{
	const struct dl_snapshot_note *list = input_list(s);
	struct dl_torus_mark *marks;
	struct tool_coords c = { 0 };
	unsigned int mode = 0;
	int err;

	if (!list || !s->tables)
		return 0;
	marks = calloc(f->nswitches + 1ul, sizeof(*marks));
	err = marks ? from_list(tool, f, list, &c) : -ENOMEM;
	/* As in configurations, which the list does not know. */
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		c.grid.mesh[d] |= c.grid.radix[d] <= 2;
	for (uint32_t s = 0; !err && s < f->nswitches; s++)
		marks[s] = (struct dl_torus_mark){ .grid = c.grid, .site = c.site[s] };
	if (!err)
		err = dl_torus_of_marks(f, marks, &mode, known);
	/* Coordinates count from the first seed. */
	if (!err && *known)
		(*known)->seed = 0;
	free(c.site);
	free(marks);
	return err;
}

/* 0; 1: the snapshot has no coordinates, or the cabling contradicts them. */
static int recall_torus(const struct tool *tool, struct tool_input *in)
{
	struct dl_torus *before = NULL;
	int err = input_known_torus(tool, &in->snapshot, in->fabric, &before);

	if (!err)
		err = before ? dl_torus_recall(in->fabric, before, &tool->log, &in->config,
					       &in->torus) :
			       1;
	dl_torus_free(before);
	return err == -EINVAL ? 1 : err;
}

static int find_torus(struct tool *tool, const struct tool_input_options *o, struct tool_input *in)
{
	const struct dl_fabric *f = in->fabric;
	struct dl_torus *known = NULL;
	int err = 0;

	if (o->earlier)
		err = input_known_torus(tool, o->earlier, o->earlier->fabric, &known);
	if (err)
		return err;
	if (o->config) {
		err = dl_torus_config_read(o->config, &tool->log, &in->config);
		/* The documented rules know nothing of earlier tables. */
		if (!err)
			err = dl_torus_discover_again(f, in->config, o->any_fabric ? known : NULL,
						      &tool->log, &in->torus);
		if (in->config && err == -EINVAL && o->any_fabric)
			err = dl_torus_discover_any(f, &in->config->grid, &tool->log, NULL,
						    &in->torus);
	} else if (o->earlier) {
		/* As the engine that routed it would. */
		err = known ? dl_torus_discover_known(f, known, o->any_fabric, &tool->log,
						      &in->config, &in->torus) :
			      dl_fail(&tool->log, -EINVAL,
				      "%s: no coordinates in it: no torus engine has routed it",
				      o->earlier_from);
	} else if (o->cabling || (err = recall_torus(tool, in)) > 0) {
		err = (o->any_fabric ? dl_torus_discover_any : dl_torus_discover_cabling)(
			f, NULL, &tool->log, &in->config, &in->torus);
	}
	dl_torus_free(known);
	/* What is wrong with a configuration that was given, the command says. */
	if (!err && o->config)
		err = dl_torus_is_rooted(in->torus) ?
			      1 :
			      dl_torus_check_config(in->torus, in->config, &tool->log);
	tool->finding |= err > 0;
	if (err < 0)
		return err;
	in->coords = (struct tool_coords){ in->torus->grid, in->torus->sw_site, true };
	return 0;
}

/* Where they are not `needed`, as by most fabrics, which are no torus, nobody hears why. */
static int find_coords(struct tool *tool, const struct tool_input_options *o, bool needed,
		       struct tool_input *in)
{
	const struct dl_snapshot_note *list = input_list(&in->snapshot);
	struct tool_coords *c = &in->coords;
	int err;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		c->grid.radix[d] = 1;
	if (o->config)
		return find_torus(tool, o, in);
	if (list)
		return from_list(tool, in->fabric, list, c);
	err = dl_torus_discover_cabling(in->fabric, NULL, needed ? &tool->log : NULL, &in->config,
					&in->torus);
	if (!err)
		*c = (struct tool_coords){ in->torus->grid, in->torus->sw_site, false };
	return err == -ENOMEM ? err : 0;
}

int tool_input_read(struct tool *tool, const struct tool_input_options *o,
		    enum tool_input_kind kind, struct tool_input *in)
{
	bool tables = kind == TOOL_INPUT_TABLES, needed;
	int err;

	memset(in, 0, sizeof(*in));
	err = input_read_fabric(tool, o, tables, &in->snapshot);
	if (err)
		return err;
	in->fabric = in->snapshot.fabric;
	if (o->names)
		err = dl_fabric_read_node_names(in->fabric, o->names, &tool->log);
	if (err)
		return err;
	if (!in->fabric->nnodes)
		return dl_fail(&tool->log, -EINVAL,
			       "%s: there is nothing in it: no switch, no adapter",
			       o->is_live ? "the running fabric" : o->from);
	if (kind == TOOL_INPUT_PART) {
		const struct dl_fabric_part part = { .from = DL_NONE,
						     .two_vls = !o->one_vl,
						     .level = DL_LOG_WARNING };

		err = dl_fabric_main_part(in->fabric, &part, &tool->log, &in->part);
		tool->finding |= err > 0;
	}
	if (err < 0)
		return err;
	in->fabric = in->part ? in->part : in->fabric;
	if (kind == TOOL_INPUT_TORUS || kind == TOOL_INPUT_PART ||
	    (!tables && !in->snapshot.tables))
		return find_torus(tool, o, in);
	/* Where coordinates are not needed, that there are none is no fault. */
	needed = kind == TOOL_INPUT_COORDS;
	err = find_coords(tool, o, needed, in);
	if (!err && tables)
		return complete_sls(tool, o, &in->coords, &in->snapshot);
	if (!err && !in->coords.site && needed)
		err = dl_fail(&tool->log, -ENOTSUP,
			      "%s: no coordinates: there is no list of a torus "
			      "engine's in it, and the cabling is that of no torus",
			      o->from);
	return err;
}

void tool_input_free(struct tool_input *in)
{
	if (!in->torus)
		free(in->coords.site);
	dl_torus_free(in->torus);
	dl_torus_config_free(in->config);
	dl_fabric_free(in->part);
	dl_snapshot_release(&in->snapshot);
}
