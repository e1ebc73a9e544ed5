/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A snapshot: a fabric with its routing, and what is said about it.  pack.c
 * writes it as one file, export.c as a directory for other programs.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tables/internal.h"

/* ---- notes -------------------------------------------------------------- */

const char *const dl_snapshot_note_names[] = { "dateline-torus.dump", DL_SNAPSHOT_GAPS,
					       "dateline-opensm.conf", "opensm-torus.dump", NULL };

int dl_snapshot_add_note(struct dl_snapshot *s, const char *name, char *text, size_t len)
{
	char *copy = strdup(name);

	if (!copy || !text || !dl_array_room(s->notes, s->nnotes, 1, &s->notes_cap)) {
		free(copy);
		free(text);
		return -ENOMEM;
	}
	s->notes[s->nnotes++] = (struct dl_snapshot_note){ copy, text, len };
	return 0;
}

const struct dl_snapshot_note *dl_snapshot_find_note(const struct dl_snapshot *s, const char *name)
{
	for (uint32_t i = 0; i < s->nnotes; i++)
		if (!strcmp(s->notes[i].name, name))
			return &s->notes[i];
	return NULL;
}

/* ---- the fabric's number ------------------------------------------------- */

static uint64_t node_hash(const struct dl_fabric_node *n)
{
	const uint64_t key[2] = { n->guid, n->type };

	return dl_tables_sum_of(key, sizeof(key));
}

static uint64_t cable_hash(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *a = &f->ports[port], *b = &f->ports[a->peer];
	uint64_t one[2] = { f->nodes[a->node].guid, a->num };
	uint64_t other[2] = { f->nodes[b->node].guid, b->num };

	return dl_tables_sum_of(one, sizeof(one)) * dl_tables_sum_of(other, sizeof(other));
}

uint64_t dl_snapshot_fabric_id(const struct dl_fabric *f)
{
	uint64_t id = 0;

	for (uint32_t i = 0; i < f->nnodes; i++)
		id += node_hash(&f->nodes[i]);
	for (uint32_t p = 0; p < f->nports; p++)
		if (f->ports[p].peer != DL_NONE && f->ports[p].peer > p)
			id += cable_hash(f, p);
	return id;
}

/* ---- what it says about itself ------------------------------------------- */

const char *const dl_snapshot_sls_words[] = {
	[DL_SNAPSHOT_SLS_NONE] = "none",   [DL_SNAPSHOT_SLS_ENGINE] = "engine",
	[DL_SNAPSHOT_SLS_ASKED] = "asked", [DL_SNAPSHOT_SLS_RULE] = "torus-2QoS-rule",
	[DL_SNAPSHOT_SLS_FILE] = "file",   NULL,
};

static const char *or_dash(const char *word)
{
	return *word ? word : "-";
}

int dl_snapshot_write_about(const struct dl_snapshot_about *about, FILE *to)
{
	time_t written = about->written;
	char text[32] = "-";
	struct tm tm;

	if (written && gmtime_r(&written, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(to,
		"dateline-snapshot %d\nwritten %" PRId64 " %s\nengine %s\nmode %s\n"
		"path-sls %s\nfabric 0x%016" PRIx64 "\n",
		DL_SNAPSHOT_FORMAT, about->written, text, or_dash(about->engine),
		or_dash(about->mode), dl_snapshot_sls_words[about->sls], about->fabric);
	return ferror(to) ? -ENOMEM : 0;
}

void dl_snapshot_release(struct dl_snapshot *s)
{
	dl_tables_free(s->tables);
	dl_fabric_free(s->fabric);
	for (uint32_t i = 0; i < s->nnotes; i++) {
		free(s->notes[i].name);
		free(s->notes[i].text);
	}
	free(s->notes);
	memset(s, 0, sizeof(*s));
}
