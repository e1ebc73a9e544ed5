/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The manifest of a snapshot, as text:
 *
 *   dateline-snapshot 1
 *   written 1795320000 2026-11-22T04:00:00Z
 *   engine dateline
 *   mode proven
 *   path-sls engine
 *   fabric 0x8c1d...
 *   file 0x21f3... 2605720 dateline.net
 *   end 0x55ab...
 *
 * "-" stands for what is unknown.  Each file has its checksum (XXH3, 64 bits),
 * its size in bytes and its name; the last line has the checksum of all bytes
 * before it.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dateline/base.h"
#include "tables/internal.h"

const char *const dl_snapshot_sls_words[] = {
	[DL_SNAPSHOT_SLS_NONE] = "none",   [DL_SNAPSHOT_SLS_ENGINE] = "engine",
	[DL_SNAPSHOT_SLS_ASKED] = "asked", [DL_SNAPSHOT_SLS_RULE] = "torus-2QoS-rule",
	[DL_SNAPSHOT_SLS_FILE] = "file",   NULL,
};

static const char *or_dash(const char *word)
{
	return *word ? word : "-";
}

void dl_snapshot_put_about(struct dl_tables_out *o, const struct dl_snapshot_about *about)
{
	time_t written = about->written;
	char text[32] = "-";
	struct tm tm;

	if (written && gmtime_r(&written, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	dl_tables_out_print(o,
			    "dateline-snapshot %d\nwritten %" PRId64 " %s\nengine %s\nmode %s\n"
			    "path-sls %s\nfabric 0x%016" PRIx64 "\n",
			    DL_SNAPSHOT_FORMAT, about->written, text, or_dash(about->engine),
			    or_dash(about->mode), dl_snapshot_sls_words[about->sls], about->fabric);
}

/* The text before the last line is in one piece: it is hashed by itself. */
int dl_snapshot_put_manifest(struct dl_tables_out *o, const struct dl_snapshot_manifest *m)
{
	char *text = NULL;
	size_t len;
	FILE *to = dl_memory_open(&text, &len);
	struct dl_tables_out inner;
	int err = to ? dl_tables_out_begin(&inner, to) : -ENOMEM;

	if (!err) {
		dl_snapshot_put_about(&inner, &m->about);
		for (uint32_t i = 0; i < m->n; i++)
			dl_tables_out_print(&inner, "file 0x%016" PRIx64 " %" PRIu64 " %s\n",
					    m->files[i].checksum, m->files[i].bytes,
					    m->files[i].name);
		err = dl_tables_out_end(&inner, 0);
	}
	if (to && fclose(to) && !err)
		err = -ENOMEM;
	if (!err) {
		dl_tables_out_text(o, text, len);
		dl_tables_out_print(o, "end 0x%016" PRIx64 "\n", inner.checksum);
	}
	free(text);
	return err;
}
