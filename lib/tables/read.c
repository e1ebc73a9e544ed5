/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>

#include "tables/internal.h"

int dl_tables_read_switch(struct dl_text *text, const struct dl_fabric *f,
			  uint32_t *sw)
{
	uint64_t guid;
	uint32_t node;
	int err =
		dl_text_number(text, 16, UINT64_MAX, "a switch's GUID", &guid);

	if (err)
		return err;
	node = dl_fabric_find_guid(f, guid);
	if (node == DL_NONE)
		return dl_text_error(text,
				     "the fabric has no node with the GUID "
				     "0x%016" PRIx64,
				     guid);
	if (!dl_fabric_is_switch(f, node))
		return dl_text_error(text, "0x%016" PRIx64 " is no switch",
				     guid);
	*sw = f->nodes[node].sw;
	return 0;
}

int dl_tables_read_port(struct dl_text *text, const struct dl_fabric_node *n,
			int base, unsigned int *port)
{
	uint64_t value;
	int err =
		dl_text_number(text, base, UINT64_MAX, "a port number", &value);

	if (err)
		return err;
	if (value > n->nports)
		return dl_text_error(text,
				     "port %" PRIu64 " of a node with %u ports",
				     value, n->nports);
	*port = value;
	return 0;
}

int dl_tables_read_end(struct dl_text *text)
{
	return dl_text_at_end(text) ? 0 : dl_text_expected(text, "end of line");
}
