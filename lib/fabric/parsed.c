/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From what was parsed to a fabric.
 *
 * Problem.  A file states most cables twice, once at each end, some once, and
 * hostile or hand-made ones contradict themselves.  The fabric must hold each
 * cable once at both ends, or not be built at all.
 *
 * Method.  The statement that a port makes about itself is kept in an array
 * by port.  A new statement a -> b is compared with what b says, if b has
 * spoken, and with the cables laid so far.  So every pair of statements meets
 * exactly once, whatever the order.
 *
 * Complexity.  O(n log n) in the nodes, for the GUIDs; linear in the rest.
 * Nothing is hashed: no choice of names or GUIDs makes it slower.
 */
#include "config.h"

#include "fabric/internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"

int dl_fabric_parsed_begin(struct dl_fabric_parsed *d, const struct dl_log *log)
{
	*d = (struct dl_fabric_parsed){ .log = log };
	d->strings = dl_array_grow(NULL, 1, 0, 1, &d->strings_cap);
	if (!d->strings)
		return -ENOMEM;
	d->strings[0] = '\0';
	d->strings_len = 1;
	return 0;
}

void dl_fabric_parsed_end(struct dl_fabric_parsed *d)
{
	free(d->nodes);
	free(d->ends);
	free(d->links);
	free(d->strings);
}

int dl_fabric_parsed_string(struct dl_fabric_parsed *d, const char *s, size_t len, uint32_t *out)
{
	char *strings = dl_array_grow(d->strings, 1, d->strings_len, len + 1, &d->strings_cap);
	size_t i;

	if (!strings)
		return -ENOMEM;
	d->strings = strings;
	*out = d->strings_len;
	for (i = 0; i < len; i++)
		strings[*out + i] = iscntrl((unsigned char)s[i]) ? ' ' : s[i];
	strings[*out + len] = '\0';
	d->strings_len += len + 1;
	return 0;
}

int dl_fabric_parsed_add_node(struct dl_fabric_parsed *d, const struct dl_fabric_parsed_node *node)
{
	struct dl_fabric_parsed_node *nodes;

	if (d->nnodes == DL_FABRIC_PARSED_NODES ||
	    d->nports + node->nports + 1 > DL_FABRIC_PARSED_PORTS)
		return dl_fabric_parsed_error(d, node->place,
					      "one node too many: "
					      "expected at most %u nodes and %u ports",
					      DL_FABRIC_PARSED_NODES, DL_FABRIC_PARSED_PORTS);
	nodes = dl_array_grow(d->nodes, sizeof(*nodes), d->nnodes, 1, &d->nodes_cap);
	if (!nodes)
		return -ENOMEM;
	d->nodes = nodes;
	nodes[d->nnodes++] = *node;
	d->nports += node->nports + 1;
	return 0;
}

int dl_fabric_parsed_add_end(struct dl_fabric_parsed *d, const struct dl_fabric_parsed_end *end)
{
	struct dl_fabric_parsed_end *ends =
		dl_array_grow(d->ends, sizeof(*ends), d->nends, 1, &d->ends_cap);

	if (!ends)
		return -ENOMEM;
	d->ends = ends;
	ends[d->nends++] = *end;
	return 0;
}

int dl_fabric_parsed_add_link(struct dl_fabric_parsed *d, const struct dl_fabric_parsed_link *link)
{
	struct dl_fabric_parsed_link *links =
		dl_array_grow(d->links, sizeof(*links), d->nlinks, 1, &d->links_cap);

	if (!links)
		return -ENOMEM;
	d->links = links;
	links[d->nlinks++] = *link;
	return 0;
}

int dl_fabric_parsed_error(const struct dl_fabric_parsed *d, struct dl_fabric_parsed_place place,
			   const char *format, ...)
{
	char message[768];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	dl_log(d->log, DL_LOG_ERROR, "%s:%u: %s", d->strings + place.file, place.line, message);
	return -EINVAL;
}

/* ---- widths and speeds -------------------------------------------------- */

static const struct {
	uint8_t lanes, bit;
} widths[] = {
	{ 1, DL_FABRIC_WIDTH_1X }, { 2, DL_FABRIC_WIDTH_2X },	{ 4, DL_FABRIC_WIDTH_4X },
	{ 8, DL_FABRIC_WIDTH_8X }, { 12, DL_FABRIC_WIDTH_12X },
};

#define NWIDTHS (sizeof(widths) / sizeof(*widths))

uint8_t dl_fabric_widths_up_to(unsigned int lanes)
{
	uint8_t set = 0;
	size_t i;

	for (i = 0; i < NWIDTHS && widths[i].lanes <= lanes; i++)
		set |= widths[i].bit;
	return set;
}

uint16_t dl_fabric_speeds_up_to(unsigned int speed)
{
	return speed ? (2u << speed) - 2 : 0;
}

static unsigned int best_width(unsigned int set)
{
	size_t i = NWIDTHS;

	while (i && !(set & widths[i - 1].bit))
		i--;
	return i ? widths[i - 1].lanes : 0;
}

static unsigned int best_speed(unsigned int set)
{
	unsigned int speed = 0;

	while (set >>= 1)
		speed++;
	return speed;
}

/* ---- building ----------------------------------------------------------- */

struct builder {
	const struct dl_fabric_parsed *d;
	struct dl_fabric *f;
	uint32_t *said; /* by port: the number of its statement */
};

static const char *id_of(const struct builder *b, uint32_t port)
{
	return dl_fabric_node_id(b->f, b->f->ports[port].node);
}

static uint32_t near_end(const struct builder *b, uint32_t link)
{
	const struct dl_fabric_parsed_link *l = &b->d->links[link];

	return b->f->nodes[l->node].first_port + l->num;
}

static uint32_t far_end(const struct builder *b, uint32_t link)
{
	const struct dl_fabric_parsed_link *l = &b->d->links[link];

	return b->f->nodes[l->peer].first_port + l->peer_num;
}

static int check_guids(const struct dl_fabric_parsed *d)
{
	struct dl_fabric_guid_key *keys = calloc(d->nnodes + 1ul, sizeof(*keys));
	uint32_t i;
	int err = 0;

	if (!keys)
		return -ENOMEM;
	for (i = 0; i < d->nnodes; i++)
		keys[i] = (struct dl_fabric_guid_key){ d->nodes[i].guid, i };
	qsort(keys, d->nnodes, sizeof(*keys), dl_fabric_compare_guids);
	for (i = 1; i < d->nnodes && !err; i++) {
		const struct dl_fabric_parsed_node *a = &d->nodes[keys[i - 1].node];
		const struct dl_fabric_parsed_node *b = &d->nodes[keys[i].node];

		if (b->guid && a->guid == b->guid)
			err = dl_fabric_parsed_error(d, b->place,
						     "\"%.64s\": GUID "
						     "0x%llx is that of \"%.64s\" in %s:%u: "
						     "expected one of its own",
						     d->strings + b->id,
						     (unsigned long long)b->guid,
						     d->strings + a->id, d->strings + a->place.file,
						     a->place.line);
	}
	free(keys);
	return err;
}

/* A description that repeats the id is none. */
static bool is_described(const struct dl_fabric_parsed *d, const struct dl_fabric_parsed_node *node)
{
	return node->desc && strcmp(d->strings + node->desc, d->strings + node->id);
}

static int add_nodes(const struct builder *b)
{
	const struct dl_fabric_parsed *d = b->d;
	struct dl_fabric *f = b->f;
	uint32_t i, n, port;
	int err;

	for (i = 0; i < d->nnodes; i++) {
		const struct dl_fabric_parsed_node *from = &d->nodes[i];
		struct dl_fabric_node *node;

		err = dl_fabric_add_node(f, from->type, from->nports, from->guid,
					 d->strings + from->id, &n);
		if (!err && is_described(d, from))
			err = dl_fabric_set_desc(f, n, d->strings + from->desc);
		if (err)
			return err;
		node = &f->nodes[n];
		node->system_guid = from->system_guid;
		node->vendor = from->vendor;
		node->device = from->device;
		/* The GUIDs that ibsim gives, until the file names others. */
		port = node->first_port;
		if (from->type == DL_FABRIC_SWITCH) {
			f->ports[port].guid = from->guid;
			continue;
		}
		for (n = 1; n <= from->nports; n++)
			f->ports[port + n].guid = from->guid + n;
	}
	return 0;
}

/* GUIDs and LIDs of end ports; `owner` is the statement by LID. */
static int add_ends(const struct builder *b, uint32_t *owner)
{
	const struct dl_fabric_parsed *d = b->d;
	uint32_t i, lid, end;

	for (i = 0; i < d->nends; i++) {
		const struct dl_fabric_parsed_end *e = &d->ends[i];
		struct dl_fabric_port *p = &b->f->ports[b->f->nodes[e->node].first_port + e->num];

		if (e->guid)
			p->guid = e->guid;
		if (!e->lid)
			continue;
		p->lid = e->lid;
		p->lmc = e->lmc;
		end = e->lid + (1u << e->lmc);
		if (end > DL_FABRIC_MAX_LID + 1)
			return dl_fabric_parsed_error(d, e->place,
						      "LID %u with LMC "
						      "%u: expected unicast LIDs, "
						      "at most %u",
						      e->lid, e->lmc, DL_FABRIC_MAX_LID);
		for (lid = e->lid; lid < end; lid++) {
			const struct dl_fabric_parsed_end *o;

			if (owner[lid] == DL_NONE) {
				owner[lid] = i;
				continue;
			}
			o = &d->ends[owner[lid]];
			return dl_fabric_parsed_error(d, e->place,
						      "LID %u is that of "
						      "\"%.64s\" port %u in %s:%u: expected one of "
						      "its own",
						      lid, d->strings + d->nodes[o->node].id,
						      o->num, d->strings + o->place.file,
						      o->place.line);
		}
	}
	return 0;
}

/* Statement `link` is at odds with the cable or the words of `other`. */
static int contradiction(const struct builder *b, uint32_t link, uint32_t other)
{
	const struct dl_fabric_parsed_place *place = &b->d->links[other].place;
	uint32_t from = near_end(b, link), to = far_end(b, link);
	uint32_t from2 = near_end(b, other), to2 = far_end(b, other);

	return dl_fabric_parsed_error(b->d, b->d->links[link].place,
				      "\"%.64s\" port %u to \"%.64s\" port %u: expected what %s:%u "
				      "says, \"%.64s\" port %u to \"%.64s\" port %u",
				      id_of(b, from), b->f->ports[from].num, id_of(b, to),
				      b->f->ports[to].num, b->d->strings + place->file, place->line,
				      id_of(b, from2), b->f->ports[from2].num, id_of(b, to2),
				      b->f->ports[to2].num);
}

/* The statement behind the cable in this port. */
static uint32_t cable_said(const struct builder *b, uint32_t port)
{
	if (b->said[port] != DL_NONE)
		return b->said[port];
	return b->said[b->f->ports[port].peer];
}

static int add_link(const struct builder *b, uint32_t link)
{
	uint32_t from = near_end(b, link), to = far_end(b, link);
	struct dl_fabric_port *ports = b->f->ports;
	int err;

	if (b->said[from] != DL_NONE)
		return contradiction(b, link, b->said[from]);
	if (b->said[to] != DL_NONE && far_end(b, b->said[to]) != from)
		return contradiction(b, link, b->said[to]);
	if (from == to && ports[from].peer == DL_NONE) {
		const struct dl_fabric_parsed_place *place = &b->d->links[link].place;

		dl_log(b->d->log, DL_LOG_WARNING,
		       "%s:%u: \"%.64s\" port %u is "
		       "plugged into itself; left without a cable",
		       b->d->strings + place->file, place->line, id_of(b, from), ports[from].num);
		b->said[from] = link;
		return 0;
	}
	err = dl_fabric_connect(b->f, from, to);
	if (err) {
		/* One of the two has a cable, said by its far end alone. */
		if (ports[from].peer == DL_NONE)
			from = to;
		return contradiction(b, link, cable_said(b, from));
	}
	b->said[from] = link;
	return 0;
}

/* What both can do; what one can do where the other does not say. */
static unsigned int common(unsigned int a, unsigned int b)
{
	return a && b ? a & b : a | b;
}

static void set_cable(struct dl_fabric_port *p, unsigned int width, unsigned int speed,
		      unsigned int vls)
{
	p->width = width;
	p->speed = speed;
	if (vls)
		p->vls = vls;
}

static int negotiate(const struct builder *b, uint32_t link)
{
	const struct dl_fabric_parsed_link *l = &b->d->links[link], *m = l;
	uint32_t from = near_end(b, link), to = far_end(b, link);
	unsigned int w, s, vls;

	if (b->f->ports[from].peer == DL_NONE) /* plugged into itself */
		return 0;
	if (b->said[to] != DL_NONE)
		m = &b->d->links[b->said[to]];
	w = common(l->widths, m->widths);
	s = common(l->speeds, m->speeds);
	if ((!w && l->widths) || (!s && l->speeds))
		return dl_fabric_parsed_error(b->d, l->place,
					      "\"%.64s\" port %u: "
					      "expected a width and a speed that its far end in "
					      "%s:%u has too",
					      id_of(b, from), l->num, b->d->strings + m->place.file,
					      m->place.line);
	vls = l->vls && (!m->vls || l->vls < m->vls) ? l->vls : m->vls;
	set_cable(&b->f->ports[from], best_width(w), best_speed(s), vls);
	set_cable(&b->f->ports[to], best_width(w), best_speed(s), vls);
	return 0;
}

static int add_links(const struct builder *b)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < b->d->nlinks && !err; i++)
		err = add_link(b, i);
	for (i = 0; i < b->d->nlinks && !err; i++)
		err = negotiate(b, i);
	return err;
}

int dl_fabric_parsed_build(const struct dl_fabric_parsed *d, struct dl_fabric **out)
{
	struct builder b = { .d = d };
	uint32_t *owner = NULL;
	int err;

	err = check_guids(d);
	if (err)
		return err;
	err = dl_fabric_new(&b.f);
	if (err)
		return err;
	b.said = malloc((d->nports + 1ul) * sizeof(*b.said));
	owner = malloc((DL_FABRIC_MAX_LID + 1ul) * sizeof(*owner));
	err = -ENOMEM;
	if (!b.said || !owner)
		goto out;
	memset(b.said, 0xff, d->nports * sizeof(*b.said));
	memset(owner, 0xff, (DL_FABRIC_MAX_LID + 1ul) * sizeof(*owner));
	err = add_nodes(&b);
	if (!err)
		err = add_ends(&b, owner);
	if (!err)
		err = add_links(&b);
	if (!err)
		err = dl_fabric_finish(b.f, d->log);
out:
	free(owner);
	free(b.said);
	if (err)
		dl_fabric_free(b.f);
	else
		*out = b.f;
	return err;
}

int dl_fabric_read_file(const char *path,
			int (*read)(FILE *from, const char *name, const struct dl_log *log,
				    struct dl_fabric **out),
			const struct dl_log *log, struct dl_fabric **out)
{
	FILE *from = fopen(path, "r");
	int err;

	if (!from) {
		err = -errno;
		dl_log(log, DL_LOG_ERROR, "%s: %s", path, strerror(-err));
		return err;
	}
	err = read(from, path, log, out);
	fclose(from);
	return err;
}
