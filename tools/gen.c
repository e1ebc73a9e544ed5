/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* dateline gen: write a torus or mesh fabric and its configuration. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/tool.h"

static const char doc[] = "Write a torus or mesh of X by Y by Z switches: a netlist for ibsim and "
			  "every other subcommand, and a torus-2QoS.conf that describes it."
			  "\vA radix of 1 leaves a dimension out; Z is 1 unless given. Examples:\n"
			  "\n"
			  "  dateline gen 6 5 -o small\n"
			  "  dateline gen 4 4 4 --hosts 16 --parallel 3 -o gordon\n"
			  "  dateline gen 8 8 8 --fail-switch 3,3,3 --fail-link 0,0,0:+x -o hurt\n"
			  "  dateline gen 5 4 3 --mesh xz --scramble 7 -o mixed\n"
			  "  dateline gen 16 16 16 --speed 4xNDR -o large\n"
			  "\n"
			  "To run one of them:\n"
			  "\n"
			  "  ibsim -s small.net\n"
			  "\n"
			  "Exit status: 0 good, 2 usage, 3 a file cannot be written.";

struct gen {
	struct dl_torus_plan plan;
	const char *prefix;
	const char *mesh;
	struct tool_names switches, links; /* that fail, until the radices are known */
	uint32_t *sites;		   /* the plan's failed_sites */
	struct dl_torus_failed_hop *hops;
};

/* ---- the command line -------------------------------------------------- */

static const char *parse_site(const struct argp_state *state, const struct gen *gen,
			      const char *what, const char *text, uint32_t *site)
{
	const struct dl_torus_grid *g = &gen->plan.grid;
	uint32_t c[DL_TORUS_DIMS];
	const char *at = text;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		uint64_t value;
		const char *end = dl_number_scan(at, 10, &value);

		if (end == at || value >= g->radix[d] || (d + 1 < DL_TORUS_DIMS && *end != ','))
			argp_error(state,
				   "%s: \"%s\" does not begin with a place "
				   "x,y,z within 0,0,0 to %u,%u,%u",
				   what, text, g->radix[0] - 1, g->radix[1] - 1, g->radix[2] - 1);
		c[d] = value;
		at = end + (d + 1 < DL_TORUS_DIMS);
	}
	*site = dl_torus_site(g, c);
	return at;
}

static void parse_fail_switch(const struct argp_state *state, struct gen *gen, const char *text)
{
	uint32_t *site = &gen->sites[gen->plan.nfailed_sites++];

	if (*parse_site(state, gen, "--fail-switch", text, site))
		argp_error(state, "--fail-switch: \"%s\" goes on after x,y,z", text);
}

static void parse_fail_link(const struct argp_state *state, struct gen *gen, const char *text)
{
	struct dl_torus_failed_hop *hop = &gen->hops[gen->plan.nfailed_hops++];
	const char *at = parse_site(state, gen, "--fail-link", text, &hop->site);
	int64_t cables = 0;

	if (at[0] != ':' || !at[1] || !strchr("+-", at[1]) || !at[2] || !strchr("xyz", at[2]) ||
	    (at[3] && at[3] != '*'))
		argp_error(state, "--fail-link: \"%s\" should end like :+x or :-z*2", text);
	hop->dir = dl_torus_dir(at[2] - 'x', at[1] == '-');
	if (at[3] && !dl_number_parse(at + 4, 1, gen->plan.parallel, &cables))
		argp_error(state,
			   "--fail-link: N in *N: \"%s\": expected a whole number from 1 to %u",
			   at + 4, gen->plan.parallel);
	hop->cables = cables;
}

static void finish_plan(const struct argp_state *state, void *to)
{
	struct gen *gen = to;
	struct dl_torus_plan *plan = &gen->plan;

	if (!plan->grid.radix[1])
		argp_error(state, "expected two or three radices, X Y [Z]");
	if (!plan->grid.radix[DL_TORUS_DIMS - 1])
		plan->grid.radix[DL_TORUS_DIMS - 1] = 1;
	if (!gen->prefix)
		argp_error(state, "expected -o PREFIX");
	for (const char *m = gen->mesh; m && *m; m++) {
		if (*m < 'x' || *m > 'z')
			argp_error(state, "--mesh: \"%s\" should be made of the letters x, y and z",
				   gen->mesh);
		plan->grid.mesh[*m - 'x'] = true;
	}
	if (dl_torus_grid_sites(&plan->grid) > DL_FABRIC_MAX_LID)
		argp_error(state,
			   "%u switches are more than the %d nodes that a subnet has LIDs for",
			   dl_torus_grid_sites(&plan->grid), DL_FABRIC_MAX_LID);
	gen->sites = calloc(gen->switches.n + 1, sizeof(*gen->sites));
	gen->hops = calloc(gen->links.n + 1, sizeof(*gen->hops));
	if (!gen->sites || !gen->hops)
		argp_failure(state, TOOL_EXIT_ENVIRONMENT, ENOMEM, "options");
	for (uint32_t i = 0; i < gen->switches.n; i++)
		parse_fail_switch(state, gen, gen->switches.names[i]);
	for (uint32_t i = 0; i < gen->links.n; i++)
		parse_fail_link(state, gen, gen->links.names[i]);
	plan->failed_sites = gen->sites;
	plan->failed_hops = gen->hops;
}

static int read_seed(const struct dl_setting *setting, void *to, const char *text, char *why,
		     size_t size)
{
	struct gen *gen = to;
	int64_t seed;

	(void)setting, (void)why, (void)size; /* it says what is expected */
	if (!dl_number_parse(text, 0, DL_NUMBER_ANY, &seed))
		return -EINVAL;
	gen->plan.seed = seed;
	gen->plan.scramble = true;
	return 0;
}

/* Lanes and speed of a lane, as netlists have them: 4xEDR. */
static int read_speed(const struct dl_setting *setting, void *to, const char *text, char *why,
		      size_t size)
{
	struct dl_torus_plan *plan = &((struct gen *)to)->plan;
	const char *x = strchr(text, 'x');

	(void)setting, (void)why, (void)size; /* it says what is expected */
	if (!x)
		return -EINVAL;
	plan->width = dl_fabric_width_of(text, x + 1 - text);
	plan->speed = dl_fabric_speed_of(x + 1, strlen(x + 1));
	return plan->width && plan->speed ? 0 : -EINVAL;
}

#define MEMBER(member) DL_MEMBER(struct gen, member)

static const struct dl_setting options[] = {
	{ "output", DL_SETTING_BORROW, MEMBER(prefix), .key = 'o', .arg = "PREFIX",
	  .doc = "Write PREFIX.net and PREFIX.torus.conf (required)" },
	{ "hosts", DL_SETTING_NUMBER, MEMBER(plan.hosts), 0, DL_FABRIC_MAX_PORTS, .arg = "N",
	  .doc = "Adapters at each switch (default 1)" },
	{ "mesh", DL_SETTING_BORROW, MEMBER(mesh), .arg = "DIMS",
	  .doc = "Make these dimensions open, such as xz" },
	{ "parallel", DL_SETTING_NUMBER, MEMBER(plan.parallel), 1, DL_FABRIC_MAX_PORTS, .arg = "K",
	  .doc = "Cables between neighbours (default 1)" },
	{ "speed", .call = read_speed, .arg = "WxSPEED",
	  .expected = "1x, 2x, 4x, 8x or 12x and SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or "
		      "XDR, such as 4xHDR",
	  .doc = "Width and speed of every cable, such as 4xHDR (default 4xEDR)" },
	{ "scramble", .call = read_seed, .arg = "SEED", .expected = "a whole number",
	  .doc = "Permute port numbers, GUIDs and the order of nodes" },
	{ "fail-switch", MEMBER(switches), .call = tool_names_read, .arg = "x,y,z",
	  .doc = "Leave out this switch and its adapters; repeatable" },
	{ "fail-link", MEMBER(links), .call = tool_names_read, .arg = "x,y,z:+d[*N]",
	  .doc = "Leave out the cables from here in direction +d or -d, d "
		 "being x, y or z; *N: only N of them; repeatable" },
	{ 0 }
};

#define RADIX(d)                                                                              \
	{                                                                                     \
		"radix", DL_SETTING_NUMBER, MEMBER(plan.grid.radix[d]), 1, DL_TORUS_MAX_RADIX \
	}

static const struct dl_setting args[] = { RADIX(0), RADIX(1), RADIX(2), { 0 } };

static const struct tool_usage usage = {
	.options = options,
	.args = args,
	.check = finish_plan,
	.args_doc = "X Y [Z] -o PREFIX",
	.doc = doc,
};

/* ---- the files --------------------------------------------------------- */

static int gen_write_files(const struct tool *tool, const char *prefix, const struct dl_fabric *f,
			   const struct dl_torus_config *c)
{
	char *net, *conf;
	int err = -ENOMEM;

	net = asprintf(&net, "%s.net", prefix) < 0 ? NULL : net;
	conf = asprintf(&conf, "%s.torus.conf", prefix) < 0 ? NULL : conf;
	if (net && conf)
		err = tool_write(tool, NULL, net, to, dl_fabric_write_netlist(f, to));
	if (!err)
		err = tool_write(tool, NULL, conf, to, dl_torus_config_write(c, to));
	free(net);
	free(conf);
	return err;
}

static void gen_report(const struct tool *tool, const char *prefix, const struct dl_fabric *f,
		       const struct dl_torus_config *c)
{
	uint32_t cables = 0;

	for (uint32_t i = 0; i < f->nports; i++)
		cables += f->ports[i].peer != DL_NONE && f->ports[i].peer > i;
	dl_log(&tool->log, DL_LOG_INFO, "%s.net: %u switch%s, %u adapter%s, %u cable%s", prefix,
	       f->nswitches, tool_es(f->nswitches), f->nnodes - f->nswitches,
	       tool_s(f->nnodes - f->nswitches), cables, tool_s(cables));
	dl_log(&tool->log, DL_LOG_INFO, "%s.torus.conf: %u seed%s", prefix, c->nseeds,
	       tool_s(c->nseeds));
	dl_log(&tool->log, DL_LOG_INFO, "to simulate it: ibsim -s %s.net", prefix);
}

int tool_cmd_gen(struct tool *tool, int argc, char **argv)
{
	struct gen gen = {
		.plan = { .hosts = 1, .parallel = 1, .width = 4, .speed = DL_FABRIC_EDR }
	};
	struct dl_torus_config *c = NULL;
	struct dl_fabric *f = NULL;
	int err;

	tool_options(tool, &usage, argc, argv, &gen);
	err = dl_torus_generate(&gen.plan, &tool->log, &f, &c);
	if (!err)
		err = gen_write_files(tool, gen.prefix, f, c);
	if (!err)
		gen_report(tool, gen.prefix, f, c);
	dl_fabric_free(f);
	dl_torus_config_free(c);
	tool_names_release(&gen.switches);
	tool_names_release(&gen.links);
	free(gen.sites);
	free(gen.hops);
	return tool_exit_status(err);
}
