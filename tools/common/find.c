/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* End ports as people name them; see find.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "find.h"

/* A description, or its first word; sorted, whole descriptions first. */
struct find_name {
	const char *text;
	uint32_t len, node;
	bool whole;
};

static int compare_text(const struct find_name *a, const struct find_name *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->text, b->text, len);

	return order ? order : (a->len > b->len) - (a->len < b->len);
}

static int find_compare(const void *a, const void *b)
{
	const struct find_name *x = a, *y = b;
	int order = compare_text(x, y);

	if (!order)
		order = y->whole - x->whole;
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

int find_begin(struct find *f, const struct tool_input *in)
{
	const struct dl_fabric *fabric = in->fabric;

	*f = (struct find){ .in = in };
	f->names = calloc(2 * (size_t)fabric->nnodes + 1, sizeof(*f->names));
	if (!f->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->nnodes; i++) {
		const char *name = dl_fabric_node_name(fabric, i);
		size_t len = strlen(name), word = strcspn(name, " \t");

		f->names[f->n++] = (struct find_name){ name, len, i, true };
		if (word && word < len)
			f->names[f->n++] = (struct find_name){ name, word, i, false };
	}
	qsort(f->names, f->n, sizeof(*f->names), find_compare);
	return dl_fabric_index_ports(fabric, &f->ports);
}

void find_end(struct find *f)
{
	free(f->names);
	f->names = NULL;
	dl_fabric_index_free(&f->ports);
}

/* ---- nodes --------------------------------------------------------------- */

static uint32_t node_of_coord(const struct find *f, const char *text)
{
	const struct tool_coords *c = &f->in->coords;
	uint32_t at[DL_TORUS_DIMS], site;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		uint64_t value;
		const char *end = dl_number_scan(text, 10, &value);

		if (end == text || *end != (d + 1 < DL_TORUS_DIMS ? ',' : '\0') || !c->site ||
		    value >= c->grid.radix[d])
			return DL_NONE;
		at[d] = value;
		text = end + 1;
	}
	site = dl_torus_site(&c->grid, at);
	for (uint32_t s = 0; s < f->in->fabric->nswitches; s++)
		if (c->site[s] == site)
			return f->in->fabric->switches[s];
	return DL_NONE;
}

static int say_which(const struct find *f, const struct dl_log *log, const char *text,
		     const struct find_name *a, const struct find_name *b)
{
	const struct dl_fabric *fabric = f->in->fabric;

	return dl_fail(log, -EINVAL,
		       "\"%s\" names more than one node, such as 0x%016" PRIx64
		       " (%s) and 0x%016" PRIx64 " (%s): use a GUID or a LID",
		       text, fabric->nodes[a->node].guid, dl_fabric_node_name(fabric, a->node),
		       fabric->nodes[b->node].guid, dl_fabric_node_name(fabric, b->node));
}

/* The first that is not before this one. */
static uint32_t find_first(const struct find *f, const struct find_name *want)
{
	return dl_array_count_before(i, f->n, compare_text(&f->names[i], want) < 0);
}

/* 0, -ENOENT (not reported: the text may be meant otherwise) or -EINVAL. */
static int node_of_name(const struct find *f, const struct dl_log *log, const char *text,
			size_t len, uint32_t *node)
{
	const struct find_name want = { .text = text, .len = len };
	uint32_t low = find_first(f, &want);
	const struct find_name *at;

	at = &f->names[low];
	if (low == f->n || compare_text(at, &want))
		return -ENOENT;
	if (low + 1 < f->n && !compare_text(at + 1, &want) && at[1].whole == at->whole)
		return say_which(f, log, text, at, at + 1);
	*node = at->node;
	return 0;
}

static int find_named_node(const struct find *f, const struct dl_log *log, const char *text,
			   size_t len, uint32_t *node)
{
	char word[64];
	uint64_t guid;

	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	if (len < sizeof(word)) {
		if (!strncmp(word, "0x", 2) && !*dl_number_scan(word, 0, &guid) &&
		    (*node = dl_fabric_find_guid(f->in->fabric, guid)) != DL_NONE)
			return 0;
		*node = node_of_coord(f, word);
		if (*node != DL_NONE)
			return 0;
	}
	return node_of_name(f, log, text, len, node);
}

/* NODE/PORT: where the number stands, or NULL. */
static const char *find_port_number(const char *text, uint64_t *number)
{
	const char *slash = strrchr(text, '/');
	const char *end = slash ? dl_number_scan(slash + 1, 10, number) : NULL;

	return end && end > slash + 1 && !*end ? slash : NULL;
}

/* ---- ports --------------------------------------------------------------- */

static int not_there(const struct find *f, const struct dl_log *log, const char *text)
{
	return dl_fail(log, -EINVAL,
		       "there is no \"%s\": expected a LID, a GUID, a name%s, or NAME/PORT", text,
		       f->in->coords.site ? ", coordinates X,Y,Z" : "");
}

static struct find_result find_result_of(const struct dl_fabric *f, uint32_t port)
{
	return (struct find_result){ port, f->ports[port].lid };
}

/* By LID or port GUID. */
static bool by_number(const struct find *f, const char *text, struct find_result *out)
{
	const struct dl_fabric *fabric = f->in->fabric;
	uint64_t value;
	const char *end = dl_number_scan(text, 0, &value);
	uint32_t port;

	if (end == text || *end)
		return false;
	if (value && value <= fabric->top_lid && fabric->lid_port[value] != DL_NONE) {
		*out = (struct find_result){ fabric->lid_port[value], value };
		return true;
	}
	port = value > UINT16_MAX ? dl_fabric_find_port(fabric, &f->ports, value) : DL_NONE;
	if (port == DL_NONE)
		return false;
	*out = find_result_of(fabric, port);
	return true;
}

static uint32_t end_port_of(const struct dl_fabric *f, uint32_t node)
{
	const struct dl_fabric_node *n = &f->nodes[node];

	if (dl_fabric_is_switch(f, node))
		return n->first_port;
	for (unsigned int p = 1; p <= n->nports; p++)
		if (f->ports[n->first_port + p].lid)
			return n->first_port + p;
	return n->first_port + 1;
}

int find_port(const struct find *f, const struct dl_log *log, const char *text, uint32_t *port)
{
	uint64_t number = 0;
	const char *slash = find_port_number(text, &number);
	const struct dl_fabric_node *n;
	uint32_t node = DL_NONE;
	int err = slash ? find_named_node(f, log, text, slash - text, &node) : -ENOENT;

	if (!slash && !find_named_node(f, NULL, text, strlen(text), &node))
		return dl_fail(log, -EINVAL, "%s: which port of it? expected %s/PORT", text, text);
	if (err)
		return err == -ENOENT ? not_there(f, log, text) : err;
	n = &f->in->fabric->nodes[node];
	if (number > n->nports)
		return dl_fail(log, -EINVAL, "%s: \"%s\" has ports 1 to %u", text,
			       dl_fabric_node_name(f->in->fabric, node), n->nports);
	*port = n->first_port + number;
	return 0;
}

int find_node_or_port(const struct find *f, const struct dl_log *log, const char *text,
		      uint32_t *node, uint32_t *port)
{
	struct find_result end;
	int err;

	*port = DL_NONE;
	if (by_number(f, text, &end)) {
		*node = f->in->fabric->ports[end.port].node;
		return 0;
	}
	err = find_named_node(f, log, text, strlen(text), node);
	return err == -ENOENT ? find_port(f, log, text, port) : err;
}

int find_end_port(const struct find *f, const struct dl_log *log, const char *text,
		  struct find_result *out)
{
	const struct dl_fabric *fabric = f->in->fabric;
	uint32_t node = DL_NONE, port;
	int err;

	if (by_number(f, text, out))
		return 0;
	err = find_node_or_port(f, log, text, &node, &port);
	if (err)
		return err;
	if (port == DL_NONE)
		port = end_port_of(fabric, node);
	else if (!dl_fabric_is_end_port(fabric, port))
		return dl_fail(log, -EINVAL, "%s is not an end port: a switch's is port 0", text);
	*out = find_result_of(fabric, port);
	return 0;
}

uint32_t find_host(const struct find *f, const char *host, struct find_result end[FIND_ADAPTERS])
{
	const struct find_name want = { .text = host, .len = strlen(host) };
	const struct dl_fabric *fabric = f->in->fabric;
	uint32_t n = 0;

	for (uint32_t at = find_first(f, &want); at < f->n; at++) {
		const struct find_name *x = &f->names[at];
		bool bad = n == FIND_ADAPTERS || x->whole || dl_fabric_is_switch(fabric, x->node);

		if (compare_text(x, &want))
			break;
		for (uint32_t i = 0; i < n && !bad; i++)
			bad = !strcmp(dl_fabric_node_name(fabric, fabric->ports[end[i].port].node),
				      dl_fabric_node_name(fabric, x->node));
		if (bad)
			return 0;
		end[n++] = find_result_of(fabric, end_port_of(fabric, x->node));
	}
	return n;
}
