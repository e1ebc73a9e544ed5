/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What an administrator tries at a desk is what happens: for the fabric as it is when all
 * has settled, `dateline route --earlier` with the snapshot that the engine wrote when all
 * had settled before gives the forwarding entries and SL-to-VL maps of the switches.
 *
 * Where the engine is told to write it: --plugin-options dump_dir=dump.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dateline/tables.h"
#include "judge.h"

/* Beside what the subnet manager writes. */
static void in_directory(const struct sim *sim, const char *name, char *path)
{
	if (snprintf(path, PATH_MAX, "%s/sm0/%s", sim->o.dir, name) >= PATH_MAX)
		sim_die("%s: the name is too long", sim->o.dir);
}

static void try_at_desk(const struct sim *sim)
{
	char *command, config[PATH_MAX + 20] = "";

	if (!sim->o.bare)
		snprintf(config, sizeof(config), "--torus-config '%s'", sim->o.torus_config);
	if (asprintf(&command,
		     "cd '%s/sm0' && '%s/dateline' route -q now.dls --mode %s %s %s --earlier "
		     "before.dls "
		     "-o desk.dls >desk.log 2>&1",
		     sim->o.dir, sim->o.build, sim->o.mode, config,
		     sim->o.avoid ? "--avoid ../avoid" : "") < 0)
		sim_die("no memory");
	/* 1: with a finding, such as a fabric in pieces. */
	if (system(command) & ~0x100)
		sim_die("failed: %s", command);
	free(command);
}

static void compare_with_desk(struct sim *sim, const struct dl_tables *held)
{
	struct dl_tables_changes entries = { 0 }, maps = { 0 };
	const struct dl_fabric *f = held->fabric;
	uint32_t *by_lid = sim_alloc(f->top_lid + 1u, sizeof(*by_lid)),
		 *by_switch = sim_alloc(f->nswitches, sizeof(*by_switch)), lid = 0, s = 0;
	struct dl_snapshot desk = { 0 };
	struct dl_fabric_match m = { 0 };
	char path[PATH_MAX];

	in_directory(sim, "desk.dls", path);
	if (dl_snapshot_read(path, NULL, NULL, NULL, &desk) ||
	    dl_fabric_match(f, desk.fabric, &m) ||
	    dl_tables_compare_lfts(held, desk.tables, &m, by_lid, by_switch, &entries))
		sim_die("%s cannot be compared", path);
	dl_tables_compare_switch_maps(held, desk.tables, &m, &maps);
	sim->desks++;
	while (entries.changed && !by_lid[lid])
		lid++;
	while (entries.changed && !by_switch[s])
		s++;
	if (entries.changed || maps.changed)
		sim_find(sim, SIM_TABLES,
			 "at a desk %" PRIu64 " of %" PRIu64 " entries are others, the first of "
			 "LID %u, or at %s, and %" PRIu64 " of %" PRIu64 " maps",
			 entries.changed, entries.compared, lid,
			 dl_fabric_node_name(f, f->switches[entries.changed ? s : 0]), maps.changed,
			 maps.compared);
	dl_fabric_match_release(&m);
	dl_snapshot_release(&desk);
	free(by_lid);
	free(by_switch);
}

void sim_judge_desk(struct sim *sim, struct dl_fabric *f, struct dl_tables *held)
{
	struct dl_snapshot now = { .fabric = f, .tables = held };
	char path[PATH_MAX], written[PATH_MAX];

	in_directory(sim, "dump/" DL_SNAPSHOT_ENGINE_FILE, written);
	if (sim->nsms > 1 || access(written, R_OK))
		return;
	in_directory(sim, "now.dls", path);
	if (dl_snapshot_pack(&now, path, NULL))
		sim_die("%s: %s", path, strerror(errno));
	in_directory(sim, "before.dls", path);
	if (!access(path, R_OK)) {
		try_at_desk(sim);
		compare_with_desk(sim, held);
		unlink(path);
	}
	if (link(written, path))
		sim_die("%s: %s", path, strerror(errno));
}
