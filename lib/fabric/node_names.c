/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A node name map of infiniband-diags: a line for each node, its GUID and a
 * name in double quotes; "#" begins a comment.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/fabric.h"

static int node_names_read_line(struct dl_fabric *f, struct dl_text *t)
{
	const char *name;
	uint32_t node;
	uint64_t guid;
	size_t len;
	char *copy;
	int err;

	if (dl_text_at_end(t) || *t->at == '#')
		return 0;
	err = dl_text_number(t, 16, UINT64_MAX, "a GUID", &guid);
	if (!err)
		err = dl_text_quoted(t, "a name", &name, &len);
	if (err)
		return err;
	node = dl_fabric_find_guid(f, guid);
	if (node == DL_NONE)
		return 0;
	copy = strndup(name, len);
	err = copy ? dl_fabric_set_desc(f, node, copy) : -ENOMEM;
	free(copy);
	return err;
}

int dl_fabric_read_node_names(struct dl_fabric *f, const char *path, const struct dl_log *log)
{
	FILE *from = fopen(path, "r");
	struct dl_text text;
	int err = from ? 0 : -errno, state = 0;

	if (err)
		return dl_fail(log, err, "cannot read %s: %s", path, strerror(-err));
	dl_text_begin(&text, from, path, log);
	while (!err && (state = dl_text_next(&text)) > 0)
		err = node_names_read_line(f, &text);
	dl_text_end(&text);
	fclose(from);
	return err ? err : state;
}
