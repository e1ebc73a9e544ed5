/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* `dateline coords`: adapters on the torus, for schedulers. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coords.h"

struct request {
	struct tool_input_options input;
	bool csv;
	const char *nodes, *topology, *torus3d;
	bool by_index; /* are hosts called by number along the curve in these? */
	const char *prefix;
	struct coords_sizes sizes;
};

static int coords_read_sizes(const struct dl_setting *setting, void *to, const char *text,
			     char *why, size_t size)
{
	struct coords_sizes *s = &((struct request *)to)->sizes;
	uint64_t value;

	(void)setting, (void)why, (void)size; /* it says what is expected */
	do {
		const char *end = dl_number_scan(text, 10, &value);
		uint32_t *more = reallocarray(s->size, s->n + 1, sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->size = more;
		if (end == text || !value || value > UINT32_MAX)
			return -EINVAL;
		s->size[s->n++] = value;
		text = end;
	} while (*text++ == ',');
	return text[-1] ? -EINVAL : 0;
}

#define MEMBER(member) DL_MEMBER(struct request, member)

static const struct dl_setting options[] = {
	{ "csv", DL_SETTING_FLAG, MEMBER(csv),
	  .doc = "Print comma-separated values, with a header line" },
	{ "slurm-nodes", DL_SETTING_BORROW, MEMBER(nodes), .arg = "FILE",
	  .doc = "Write NodeName= lines for slurm.conf" },
	{ "slurm-topology", DL_SETTING_BORROW, MEMBER(topology), .arg = "FILE",
	  .doc = "Write a topology.conf for topology/tree" },
	{ "slurm-torus3d", DL_SETTING_BORROW, MEMBER(torus3d), .arg = "FILE",
	  .doc = "Write a topology.yaml for topology/torus3d" },
	{ "slurm-sizes", .call = coords_read_sizes, .arg = "N[,N]",
	  .expected = "job sizes, such as 5,12",
	  .doc = "Placements in it for jobs of N hosts, beside those that divide the torus" },
	{ "slurm-names", DL_SETTING_WORD, MEMBER(by_index), .arg = "HOW", .words = "host index",
	  .doc = "Node names in these: host (default); index, numbers along the curve" },
	{ "slurm-prefix", DL_SETTING_BORROW, MEMBER(prefix), .arg = "NAME",
	  .doc = "Prefix of names by index (torus)" },
	{ 0 }
};

static void coords_check_options(const struct argp_state *state, void *to)
{
	const struct request *r = to;

	if (r->sizes.n && !r->torus3d)
		argp_error(state, "--slurm-sizes is for --slurm-torus3d");
}

static const struct tool_usage usage = {
	.options = options,
	.what = "netlist or snapshot",
	.input = tool_input_fabric,
	.input_at = offsetof(struct request, input),
	.check = coords_check_options,
	.flags = TOOL_JSON,
	.args_doc = "[NET|DIR]",
	.doc = "List every adapter with its coordinates, in an order that "
	       "keeps neighbours together, and write files for Slurm."
	       "\vNET is a netlist, DIR a snapshot or a directory of "
	       "OpenSM's dumps.  The order follows a space-filling curve, "
	       "like Hilbert's, through all sites of the torus: each is "
	       "next to the one before.  Adapters without coordinates come "
	       "last.  The first word of an adapter's description is the name of its host.\n"
	       "\n"
	       "  dateline coords first.net --csv\n"
	       "  dateline coords --live --slurm-nodes nodes.conf \\\n"
	       "    --slurm-topology topology.conf\n"
	       "\n"
	       "Use - as FILE to write to standard output instead of the list.\n"
	       "\n"
	       "Exit status: 0 every adapter has coordinates, 1 some have "
	       "none, or two have the same description, 2 bad usage or input, 3 no fabric.",
};

/* ---- files ------------------------------------------------------------- */

/* Only if it has a box of each size. */
static int write_torus3d(const struct tool *tool, const struct request *r,
			 const struct coords_order *p, const char *prefix)
{
	char *text;
	size_t len;
	int err = dl_memory_write(&text, &len, to,
				  coords_slurm_torus3d(p, prefix, &r->sizes, &tool->log, to));

	if (!err)
		err = tool_write(tool, NULL, r->torus3d, to,
				 fwrite(text, 1, len, to) < len ? -EIO : 0);
	free(text);
	return err;
}

static int coords_write_files(const struct tool *tool, const struct request *r,
			      const struct coords_order *p)
{
	const char *prefix = r->by_index ? r->prefix : NULL;
	int err = 0;

	if (r->nodes)
		err = tool_write(tool, NULL, r->nodes, to, (coords_slurm_nodes(p, prefix, to), 0));
	if (!err && r->topology)
		err = tool_write(tool, NULL, r->topology, to,
				 (coords_slurm_topology(p, prefix, to), 0));
	if (!err && r->torus3d)
		err = write_torus3d(tool, r, p, prefix);
	return err;
}

/* ---- the list ---------------------------------------------------------- */

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static int coords_show_list(const struct tool *tool, const struct request *r,
			    const struct coords_order *p)
{
	if (is_stdout(r->nodes) || is_stdout(r->topology) || is_stdout(r->torus3d))
		return 0;
	return tool_show(tool, coords_json(p), r->csv ? coords_print_csv : coords_print);
}

static void coords_say(const struct tool *tool, const struct coords_order *p)
{
	dl_log(&tool->log, DL_LOG_INFO,
	       "%u of %u adapter ports have coordinates "
	       "in the %ux%ux%u torus; %u host%s, %.3f hops from one to the next",
	       p->nplaced, p->n, p->grid.radix[0], p->grid.radix[1], p->grid.radix[2], p->nhosts,
	       tool_s(p->nhosts), coords_order_step(p));
	if (p->unnamed)
		dl_log(&tool->log, DL_LOG_WARNING,
		       "%u adapter ports name no host "
		       "in their descriptions: they are in no file for Slurm",
		       p->unnamed);
}

/*
 * A host chooses the description of its adapter: one that takes another's would
 * take its place in lists by name.
 */
static void coords_warn_of_namesakes(const struct tool *tool, const struct coords_order *p)
{
	const struct dl_fabric *f = p->fabric;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct coords_adapter *y = &p->list[i];
		const struct dl_fabric_node *a, *b;

		if (y->namesake == DL_NONE || y->namesake == i)
			continue;
		a = &f->nodes[f->ports[p->list[y->namesake].port].node];
		b = &f->nodes[f->ports[y->port].node];
		if (a != b)
			dl_log(&tool->log, DL_LOG_WARNING,
			       "the adapters with GUIDs 0x%016" PRIx64 " and 0x%016" PRIx64
			       " both call themselves \"%s\": only their GUIDs differ",
			       a->guid, b->guid, dl_fabric_node_name(f, f->ports[y->port].node));
	}
	if (p->doubtful)
		dl_log(&tool->log, DL_LOG_WARNING,
		       "%u host name%s of two adapters each: in no file for Slurm", p->doubtful,
		       tool_s(p->doubtful));
}

int tool_cmd_coords(struct tool *tool, int argc, char **argv)
{
	struct request r = { .prefix = "torus" };
	struct coords_order p = { 0 };
	struct tool_input in;
	int err, status;

	tool_options(tool, &usage, argc, argv, &r);
	err = tool_input_read(tool, &r.input, TOOL_INPUT_COORDS, &in);
	if (!err)
		err = coords_order_new(in.snapshot.fabric, &in.coords.grid, in.coords.site, &p);
	if (!err && !p.n)
		err = dl_fail(&tool->log, -EINVAL, "there are no adapters");
	if (!err)
		coords_warn_of_namesakes(tool, &p);
	if (!err)
		err = coords_write_files(tool, &r, &p);
	if (!err)
		err = coords_show_list(tool, &r, &p);
	status = tool_exit_status(err);
	if (!err) {
		coords_say(tool, &p);
		if (p.nplaced < p.n || p.doubtful)
			status = TOOL_EXIT_FINDING;
	}
	coords_order_free(&p);
	tool_input_free(&in);
	free(r.sizes.size);
	return status;
}
