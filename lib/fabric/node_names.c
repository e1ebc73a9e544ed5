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

static int node_names_read_line(void *context, struct dl_text *t)
{
	struct dl_fabric *f = context;
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
	return dl_text_each_of(path, log, node_names_read_line, f);
}
