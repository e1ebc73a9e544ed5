/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cables and switches that are taken out of use before they go: the list that the
 * engine reads (avoid=FILE), what its log says of them, and what is judged by it.
 *
 * An entry that the log calls safe must carry nothing then (judge_avoid.c), and no write
 * may lead across it any more, until it is unplugged, put back, or the only way.  When
 * all has settled, nothing leads across any entry that something leads round.  When the
 * list is empty again, and nothing else has happened, the tables are those from before.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/*
 * A new file in place of the old one: no engine reads half of it.  It has GUIDs, as a
 * NodeDescription may get lost, and OpenSM does not ask for it again.
 */
void sim_avoid_write(const struct sim *sim)
{
	char path[PATH_MAX], old[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/avoid.new", sim->o.dir);
	snprintf(old, sizeof(old), "%s/avoid", sim->o.dir);
	f = fopen(path, "w");
	if (!f)
		sim_die("%s: %s", path, strerror(errno));
	for (uint32_t i = 0; i < sim->avoid.n; i++) {
		const struct sim_port *p = &sim->ports[sim->avoid.entries[i].port];
		const struct sim_node *n = &sim->nodes[p->node];

		if (p->num)
			fprintf(f, "cable 0x%016" PRIx64 "/%u # %s\n", n->guid, p->num, n->name);
		else
			fprintf(f, "switch 0x%016" PRIx64 " # %s\n", n->guid, n->name);
	}
	if (fclose(f) || rename(path, old))
		sim_die("%s: %s", old, strerror(errno));
}

/* ---- the list ------------------------------------------------------------------ */

/* A cable is the same, whichever of its ends it is named by. */
static uint32_t find_entry(const struct sim_avoid *a, const struct sim *sim, uint32_t port)
{
	uint32_t i = 0;

	while (i < a->n && a->entries[i].port != port &&
	       (!sim->ports[port].num || sim->ports[port].peer != a->entries[i].port))
		i++;
	return i;
}

bool sim_avoid_add(struct sim *sim, uint32_t port)
{
	struct sim_avoid *a = &sim->avoid;

	if (!sim->o.avoid || a->n == SIM_MOST_AVOIDED || find_entry(a, sim, port) < a->n)
		return false;
	if (!a->n && sim->settled_at)
		sim_judge_sum(sim, &a->before);
	a->entries[a->n++] = (struct sim_avoided){ .port = port };
	a->changed = sim->now;
	a->refused = false;
	sim_avoid_write(sim);
	return true;
}

bool sim_avoid_remove(struct sim *sim, uint32_t port)
{
	struct sim_avoid *a = &sim->avoid;
	uint32_t i = find_entry(a, sim, port);

	if (i == a->n)
		return false;
	memmove(&a->entries[i], &a->entries[i + 1], (--a->n - i) * sizeof(a->entries[0]));
	a->changed = sim->now;
	a->refused = false;
	sim_avoid_write(sim);
	return true;
}

void sim_avoid_forget(struct sim *sim)
{
	sim->avoid.before = (struct sim_sum){ 0 };
}

void sim_avoid_unplugged(struct sim *sim, uint32_t port)
{
	uint32_t i = find_entry(&sim->avoid, sim, port);

	if (i < sim->avoid.n)
		sim->avoid.entries[i].safe = false;
}

/* ---- what the log says --------------------------------------------------------- */

static struct sim_avoided *find_named(struct sim *sim, const char *line)
{
	struct sim_avoid *a = &sim->avoid;
	unsigned int num = 0;
	uint64_t guid;

	if (sscanf(line, "safe to unplug: cable \"%" SCNx64 "\" port %u", &guid, &num) != 2 &&
	    sscanf(line, "safe to switch off, but for its own adapters: switch \"%" SCNx64 "\"",
		   &guid) != 1)
		return NULL;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct sim_port *p = &sim->ports[a->entries[i].port];

		if (sim->nodes[p->node].guid == guid && p->num == num)
			return &a->entries[i];
	}
	return NULL;
}

void sim_avoid_line(struct sim *sim, const char *line, bool excused)
{
	const char *said = strstr(line, "safe to ");
	struct sim_avoided *e = said ? find_named(sim, said) : NULL;
	char what[160];

	/* The file could not be read. */
	sim->avoid.refused |= strstr(line, "the list that was read before stays in force") ||
			      strstr(line, "nothing is taken out of use");
	if (sim->avoid.refused || strstr(line, "stays in use"))
		for (uint32_t i = 0; i < sim->avoid.n; i++)
			sim->avoid.entries[i].safe = false;
	if (!e)
		return;
	e->safe = !excused;
	sim->avoid.said++;
	if (e->safe && sim_judge_crossed(sim, e->port, true, what, sizeof(what)))
		sim_find(sim, SIM_AVOIDED, "%.*s, but %s", (int)strcspn(said, ":"), said, what);
}

/* ---- when all has settled ------------------------------------------------------ */

void sim_avoid_settled(struct sim *sim)
{
	struct sim_avoid *a = &sim->avoid;
	struct sim_sum now;
	char what[160];

	for (uint32_t i = 0; i < a->n && !a->refused && sim_judge_can_avoid(sim); i++)
		if (sim_judge_crossed(sim, a->entries[i].port, false, what, sizeof(what)))
			sim_find(sim, SIM_AVOIDED, "still in use: %s", what);
	if (a->n || a->refused || !a->before.time)
		return;
	sim_judge_sum(sim, &now);
	a->compared++;
	if (now.entries != a->before.entries)
		sim_find(sim, SIM_AVOIDED, "put back, and forwarding tables are other ones");
	else if (now.masks != a->before.masks && sim->last_join < a->before.time)
		sim_find(sim, SIM_AVOIDED, "put back, and multicast tables are other ones");
	sim_avoid_forget(sim);
}
