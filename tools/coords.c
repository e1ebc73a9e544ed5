/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline coords`: adapters on the torus, for schedulers and MPI. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coords.h"

enum {
	KEY_TORUS = 0x2000,
	KEY_LIVE,
	KEY_CSV,
	KEY_NODES,
	KEY_TOPOLOGY,
	KEY_NAMES,
	KEY_PREFIX,
	KEY_RANKS,
	KEY_HOSTS,
	KEY_SLOTS,
	KEY_GRID
};

#define MAX_SLOTS 4096
#define MAX_SIDE (1u << 24) /* of a grid of processes */
#define XYZ_RADIX 36

struct request {
	const char *from, *config;
	bool live, csv;
	const char *nodes, *topology, *ranks, *hosts;
	struct coords_slurm_style style;
	uint32_t slots, grid[DL_TORUS_DIMS];
};

static const struct argp_option options[] = {
	{ .name = "live",
	  .key = KEY_LIVE,
	  .doc = "Look at the running fabric instead" },
	{ .name = "torus-config",
	  .key = KEY_TORUS,
	  .arg = "FILE",
	  .doc = "Radices, seeds and datelines: a torus-2QoS.conf; without "
		 "it, the folder's own list, or the cabling" },
	{ .name = "csv",
	  .key = KEY_CSV,
	  .doc = "Print comma-separated values, a line of names first" },
	{ .name = "slurm-nodes",
	  .key = KEY_NODES,
	  .arg = "FILE",
	  .doc = "Write NodeName= lines for slurm.conf" },
	{ .name = "slurm-topology",
	  .key = KEY_TOPOLOGY,
	  .arg = "FILE",
	  .doc = "Write a topology.conf for topology/tree" },
	{ .name = "slurm-names",
	  .key = KEY_NAMES,
	  .arg = "HOW",
	  .doc = "In both: host, names as they are (default); index, numbers "
		 "along the curve; xyz, coordinates in base 36" },
	{ .name = "slurm-prefix",
	  .key = KEY_PREFIX,
	  .arg = "NAME",
	  .doc = "What names by index or xyz begin with (torus)" },
	{ .name = "rankfile",
	  .key = KEY_RANKS,
	  .arg = "FILE",
	  .doc = "Write a rank file for Open MPI" },
	{ .name = "hostfile",
	  .key = KEY_HOSTS,
	  .arg = "FILE",
	  .doc = "Write the host file to go with it" },
	{ .name = "slots",
	  .key = KEY_SLOTS,
	  .arg = "N",
	  .doc = "In both: ranks a host (1)" },
	{ .name = "grid",
	  .key = KEY_GRID,
	  .arg = "PXxPYxPZ",
	  .doc = "In the rank file: keep neighbours of this grid of processes "
		 "together" },
	{ 0 }
};

static void parse_names(const struct argp_state *state, const char *arg,
			enum coords_slurm_names *out)
{
	static const char *const words[] = {
		[COORDS_NAME_HOST] = "host",
		[COORDS_NAME_INDEX] = "index",
		[COORDS_NAME_XYZ] = "xyz",
	};
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!strcmp(arg, words[i])) {
			*out = i;
			return;
		}
	}
	argp_error(state,
		   "there are no names by \"%s\": expected host, index "
		   "or xyz",
		   arg);
}

static void parse_grid(const struct argp_state *state, const char *arg,
		       uint32_t grid[DL_TORUS_DIMS])
{
	char trailing;
	int n = sscanf(arg, "%9ux%9ux%9u%c", &grid[0], &grid[1], &grid[2],
		       &trailing);
	unsigned int d;

	for (d = n < 0 ? 0 : n; d < DL_TORUS_DIMS; d++)
		grid[d] = 1;
	for (d = 0; d < DL_TORUS_DIMS; d++)
		if (n < 1 || n > DL_TORUS_DIMS ||
		    arg[strspn(arg, "0123456789x")] ||
		    arg[strlen(arg) - 1] == 'x' || !grid[d] ||
		    grid[d] > MAX_SIDE)
			argp_error(state,
				   "\"%s\" is no grid: expected "
				   "PXxPYxPZ, such as 8x4x4",
				   arg);
}

static void check(const struct argp_state *state, const struct request *r)
{
	if (!r->from == !r->live)
		argp_error(state, "which netlist or snapshot, or --live?");
	if (r->grid[0] && !r->ranks)
		argp_error(state, "--grid is for --rankfile");
}

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
	case KEY_CSV:
		r->csv = true;
		return 0;
	case KEY_NODES:
		r->nodes = arg;
		return 0;
	case KEY_TOPOLOGY:
		r->topology = arg;
		return 0;
	case KEY_NAMES:
		parse_names(state, arg, &r->style.names);
		return 0;
	case KEY_PREFIX:
		r->style.prefix = arg;
		return 0;
	case KEY_RANKS:
		r->ranks = arg;
		return 0;
	case KEY_HOSTS:
		r->hosts = arg;
		return 0;
	case KEY_SLOTS:
		r->slots = tool_arg_number(state, arg, "slots", 1, MAX_SLOTS);
		return 0;
	case KEY_GRID:
		parse_grid(state, arg, r->grid);
		return 0;
	case ARGP_KEY_ARG:
		tool_arg_once(state, &r->from, arg, "fabric");
		return 0;
	case ARGP_KEY_END:
		check(state, r);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp coords_argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[NET|DIR]",
	.doc = "List every adapter with its coordinates, in an order that "
	       "keeps neighbours together, and write it down for Slurm and "
	       "Open MPI."
	       "\v"
	       "NET is a netlist, DIR a snapshot or a folder of OpenSM's "
	       "dumps.  The order is that of a space-filling curve, of the "
	       "kind of Hilbert's, through all sites of the torus: each is "
	       "next to the one before.  Adapters without coordinates come "
	       "last.  A host is what the first word of an adapter's "
	       "description names.\n"
	       "\n"
	       "  dateline coords first.net --csv\n"
	       "  dateline coords --live --slurm-nodes nodes.conf \\\n"
	       "    --slurm-topology topology.conf\n"
	       "  dateline coords today --rankfile ranks --hostfile hosts \\\n"
	       "    --slots 16 --grid 16x12x10\n"
	       "\n"
	       "With a file's name - a file goes to standard output, in place "
	       "of the list.\n"
	       "\n"
	       "Exit status: 0 every adapter has coordinates, 1 some have "
	       "none, 2 bad usage or input, 3 no fabric.",
};

/* ---- where the coordinates come from ----------------------------------- */

struct source {
	struct tool_setup setup;
	struct dl_snapshot snapshot;
	struct tool_coords coords;
};

static int load_snapshot(const struct tool *tool, const struct request *r,
			 struct source *s, struct coords_order *out)
{
	int err =
		dl_snapshot_read(r->from, NULL, NULL, &tool->log, &s->snapshot);

	if (!err)
		err = tool_coords_find(tool, s->snapshot.fabric, r->config,
				       r->from, &s->coords);
	if (!err && !s->coords.site) {
		dl_log(&tool->log, DL_LOG_ERROR,
		       "%s: no coordinates: there is no "
		       "list of a torus engine's in it, and the cabling is "
		       "that of no torus",
		       r->from);
		err = -ENOTSUP;
	}
	return err ? err :
		     coords_order_new(s->snapshot.fabric, &s->coords.grid,
				      s->coords.site, out);
}

static int load(const struct tool *tool, const struct request *r,
		struct source *s, struct coords_order *out)
{
	struct stat st;
	int err;

	if (r->from && !stat(r->from, &st) && S_ISDIR(st.st_mode))
		return load_snapshot(tool, r, s, out);
	err = tool_setup_load(tool, r->from, r->config, &s->setup);
	return err ? err :
		     coords_order_new(s->setup.fabric, &s->setup.torus->grid,
				      s->setup.torus->sw_site, out);
}

static void source_free(struct source *s)
{
	tool_coords_free(&s->coords);
	dl_snapshot_release(&s->snapshot);
	tool_setup_free(&s->setup);
}

/* ---- files ------------------------------------------------------------- */

static int check_names(const struct tool *tool, const struct request *r,
		       const struct coords_order *p)
{
	unsigned int d;

	if (r->style.names != COORDS_NAME_XYZ || (!r->nodes && !r->topology))
		return 0;
	for (d = 0; d < DL_TORUS_DIMS; d++)
		if (p->grid.radix[d] > XYZ_RADIX) {
			dl_log(&tool->log, DL_LOG_ERROR,
			       "names by coordinates "
			       "have one digit of base 36 for %c, but there "
			       "are %u",
			       'x' + d, p->grid.radix[d]);
			return -EINVAL;
		}
	if (p->nhosts > p->nhosts_placed)
		dl_log(&tool->log, DL_LOG_WARNING,
		       "%u hosts without coordinates "
		       "cannot be named by them and are left out",
		       p->nhosts - p->nhosts_placed);
	return 0;
}

static int write_slurm(const struct tool *tool, const struct request *r,
		       const struct coords_order *p)
{
	struct tool_out out;
	int err = 0;

	if (r->nodes)
		err = tool_out_open(tool, NULL, r->nodes, &out);
	if (!err && r->nodes)
		err = tool_out_close(
			tool, &out, coords_slurm_nodes(p, &r->style, out.file));
	if (!err && r->topology)
		err = tool_out_open(tool, NULL, r->topology, &out);
	if (!err && r->topology)
		err = tool_out_close(tool, &out,
				     coords_slurm_topology(p, &r->style,
							   out.file));
	return err;
}

static int map_ranks(const struct tool *tool, const struct request *r,
		     const struct coords_order *p, struct coords_ranks *ranks)
{
	int err = coords_ranks_map(p, r->grid, r->slots, ranks);

	if (err == -ENOSPC) {
		dl_log(&tool->log, DL_LOG_ERROR,
		       "a grid of %ux%ux%u needs more "
		       "than the %u slots on each of %u hosts",
		       r->grid[0], r->grid[1], r->grid[2], r->slots,
		       p->nhosts_placed);
		return -EINVAL;
	}
	if (!err)
		dl_log(&tool->log, DL_LOG_INFO,
		       "%u ranks, %s: %.3f hops between "
		       "neighbours (in turn along the curve: %.3f)",
		       ranks->n, ranks->how, ranks->hops, ranks->plain_hops);
	return err;
}

static int write_mpi(const struct tool *tool, const struct request *r,
		     const struct coords_order *p)
{
	struct coords_ranks ranks = { 0 };
	struct tool_out out;
	int err = 0;

	if (r->ranks) {
		err = map_ranks(tool, r, p, &ranks);
		if (!err)
			err = tool_out_open(tool, NULL, r->ranks, &out);
		if (!err)
			err = tool_out_close(tool, &out,
					     coords_ranks_write(p, &ranks,
								out.file));
		free(ranks.slot);
	}
	if (!err && r->hosts)
		err = tool_out_open(tool, NULL, r->hosts, &out);
	if (!err && r->hosts)
		err = tool_out_close(tool, &out,
				     coords_hostfile_write(p, r->slots,
							   out.file));
	return err;
}

/* ---- the list ---------------------------------------------------------- */

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static int print(const struct tool *tool, const struct request *r,
		 const struct coords_order *p)
{
	if (is_stdout(r->nodes) || is_stdout(r->topology) ||
	    is_stdout(r->ranks) || is_stdout(r->hosts))
		return 0;
	return tool_show(tool, coords_json(p),
			 r->csv ? coords_print_csv : coords_print);
}

static void say(const struct tool *tool, const struct coords_order *p)
{
	dl_log(&tool->log, DL_LOG_INFO,
	       "%u of %u adapter ports have coordinates "
	       "in the %ux%ux%u torus; %u hosts, %.3f hops from one to the "
	       "next",
	       p->nplaced, p->n, p->grid.radix[0], p->grid.radix[1],
	       p->grid.radix[2], p->nhosts, coords_order_step(p));
	if (p->unnamed)
		dl_log(&tool->log, DL_LOG_WARNING,
		       "%u adapter ports name no host "
		       "in their descriptions: they are in no file for Slurm "
		       "or MPI",
		       p->unnamed);
}

int tool_cmd_coords(struct tool *tool, int argc, char **argv)
{
	struct request r = { .slots = 1, .style = { .prefix = "torus" } };
	struct coords_order p = { 0 };
	struct source s = { 0 };
	int err, status;

	tool_parse(tool, &coords_argp, TOOL_JSON, argc, argv, &r);
	err = load(tool, &r, &s, &p);
	if (!err)
		err = check_names(tool, &r, &p);
	if (!err)
		err = write_slurm(tool, &r, &p);
	if (!err)
		err = write_mpi(tool, &r, &p);
	if (!err)
		err = print(tool, &r, &p);
	status = tool_exit_status(err);
	if (!err) {
		say(tool, &p);
		if (p.nplaced < p.n)
			status = TOOL_EXIT_FINDING;
	}
	coords_order_free(&p);
	source_free(&s);
	return status;
}
