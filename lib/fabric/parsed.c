/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From what was parsed to a fabric.
 *
 * Problem.  A file states most cables twice, once at each end, some once, and
 * a device that lies, or two of them, may contradict the others.  The fabric
 * must hold each cable once at both ends, and one device must not keep the
 * others out of it.
 *
 * Method.  The statement that a port makes about itself is kept in an array
 * by port.  First the cables are laid of which both ends say the same, so that
 * nobody can take the place of one who is confirmed.  What one end alone says
 * comes after them, where both ends are still free and the other has not said
 * otherwise.  The rest is named and left out; so are all nodes but one of those
 * with the same GUID or id.
 *
 * Complexity.  O(n log n) in the nodes, for the GUIDs; linear in the rest.
 * Nothing is hashed: no choice of names or GUIDs makes it slower.
 */
#include "config.h"

#include "fabric/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int dl_fabric_parsed_begin(struct dl_fabric_parsed *d, const struct dl_log *log)
{
	*d = (struct dl_fabric_parsed){ .log = log };
	if (!dl_array_room(d->strings, 0, 1, &d->strings_cap))
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
	if (!dl_array_room(d->strings, d->strings_len, len + 1, &d->strings_cap))
		return -ENOMEM;
	*out = d->strings_len;
	memcpy(d->strings + *out, s, len);
	d->strings[*out + len] = '\0';
	d->strings_len += dl_text_clean(d->strings + *out) + 1;
	return 0;
}

int dl_fabric_parsed_add_node(struct dl_fabric_parsed *d, const struct dl_fabric_parsed_node *node)
{
	uint32_t ports = node->nports + 1;
	uint32_t pairs = node->type == DL_FABRIC_SWITCH ? ports * ports : 0;

	if (d->nnodes == DL_FABRIC_PARSED_NODES || d->nports + ports > DL_FABRIC_PARSED_PORTS ||
	    d->npairs + pairs > DL_FABRIC_PARSED_PAIRS)
		return dl_fabric_parsed_error(d, node->place,
					      "one node too many: expected at most %u nodes and %u "
					      "ports, with %u pairs of ports of a switch",
					      DL_FABRIC_PARSED_NODES, DL_FABRIC_PARSED_PORTS,
					      DL_FABRIC_PARSED_PAIRS);
	if (!dl_array_room(d->nodes, d->nnodes, 1, &d->nodes_cap))
		return -ENOMEM;
	d->nodes[d->nnodes++] = *node;
	d->nports += ports;
	d->npairs += pairs;
	return 0;
}

int dl_fabric_parsed_add_end(struct dl_fabric_parsed *d, const struct dl_fabric_parsed_end *end)
{
	if (!dl_array_room(d->ends, d->nends, 1, &d->ends_cap))
		return -ENOMEM;
	d->ends[d->nends++] = *end;
	return 0;
}

int dl_fabric_parsed_add_link(struct dl_fabric_parsed *d, const struct dl_fabric_parsed_link *link)
{
	if (!dl_array_room(d->links, d->nlinks, 1, &d->links_cap))
		return -ENOMEM;
	d->links[d->nlinks++] = *link;
	return 0;
}

/* ---- building ----------------------------------------------------------- */

struct builder {
	const struct dl_fabric_parsed *d;
	struct dl_fabric *f;
	uint32_t *index; /* in the fabric, by parsed node; DL_NONE: left out */
	uint32_t *said;	 /* by port: the number of its statement */
};

static const char *id_of(const struct builder *b, uint32_t port)
{
	return dl_fabric_node_id(b->f, b->f->ports[port].node);
}

static uint32_t near_end(const struct builder *b, uint32_t link)
{
	const struct dl_fabric_parsed_link *l = &b->d->links[link];

	return b->f->nodes[b->index[l->node]].first_port + l->num;
}

static uint32_t far_end(const struct builder *b, uint32_t link)
{
	const struct dl_fabric_parsed_link *l = &b->d->links[link];

	return b->f->nodes[b->index[l->peer]].first_port + l->peer_num;
}

/* Leave out the second one with a GUID: an adapter, if one of them is a switch. */
static void check_pair(const struct builder *b, uint32_t first, uint32_t second)
{
	const struct dl_fabric_parsed *d = b->d;
	const struct dl_fabric_parsed_node *x = &d->nodes[first], *y = &d->nodes[second];

	if (y->type == DL_FABRIC_SWITCH && x->type != DL_FABRIC_SWITCH) {
		const struct dl_fabric_parsed_node *swap = x;

		x = y;
		y = swap;
	}
	b->index[y - d->nodes] = DL_NONE;
	dl_fabric_parsed_left_out(d, y->place,
				  "\"%.64s\" has GUID 0x%016" PRIx64 ", that of \"%.64s\" in %s:%u",
				  d->strings + y->id, y->guid, d->strings + x->id,
				  d->strings + x->place.file, x->place.line);
}

static int check_nodes(const struct builder *b)
{
	const struct dl_fabric_parsed *d = b->d;
	struct dl_fabric_guid_key *keys = calloc(d->nnodes + 1ul, sizeof(*keys));
	uint32_t n = 0, kept = 0;

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->nnodes; i++) {
		if (d->nodes[i].nports && d->nodes[i].guid)
			keys[n++] = (struct dl_fabric_guid_key){ d->nodes[i].guid, i };
		b->index[i] = d->nodes[i].nports ? 0 : DL_NONE;
	}
	qsort(keys, n, sizeof(*keys), dl_fabric_compare_guids);
	for (uint32_t i = 1; i < n; i++) {
		if (keys[i].guid != keys[kept].guid) {
			kept = i;
			continue;
		}
		check_pair(b, keys[kept].node, keys[i].node);
		if (b->index[keys[kept].node] == DL_NONE)
			kept = i;
	}
	free(keys);
	return 0;
}

/* A description that repeats the id is none. */
static bool is_described(const struct dl_fabric_parsed *d, const struct dl_fabric_parsed_node *node)
{
	return node->desc && strcmp(d->strings + node->desc, d->strings + node->id);
}

static int parsed_add_nodes(const struct builder *b)
{
	const struct dl_fabric_parsed *d = b->d;
	struct dl_fabric *f = b->f;
	uint32_t n, port;
	int err;

	for (uint32_t i = 0; i < d->nnodes; i++) {
		const struct dl_fabric_parsed_node *from = &d->nodes[i];
		struct dl_fabric_node *node;

		if (b->index[i] == DL_NONE)
			continue;
		err = dl_fabric_add_node(f, from->type, from->nports, from->guid,
					 d->strings + from->id, &n);
		b->index[i] = n;
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

/* GUIDs and LIDs of end ports. */
static void parsed_add_ends(const struct builder *b)
{
	const struct dl_fabric_parsed *d = b->d;

	for (uint32_t i = 0; i < d->nends; i++) {
		const struct dl_fabric_parsed_end *e = &d->ends[i];
		struct dl_fabric_port *p;

		if (b->index[e->node] == DL_NONE)
			continue;
		p = &b->f->ports[b->f->nodes[b->index[e->node]].first_port + e->num];
		if (e->guid)
			p->guid = e->guid;
		if (!e->lid)
			continue;
		p->lid = e->lid;
		p->lmc = e->lmc;
	}
}

/* Statement `link` is at odds with what another one says. */
static void parsed_contradiction(const struct builder *b, uint32_t link, uint32_t other)
{
	const struct dl_fabric_parsed_place *place = &b->d->links[other].place;
	uint32_t from = near_end(b, link), to = far_end(b, link);
	uint32_t from2 = near_end(b, other), to2 = far_end(b, other);

	dl_fabric_parsed_left_out(b->d, b->d->links[link].place,
				  "\"%.64s\" port %u to \"%.64s\" port %u, where %s:%u says "
				  "\"%.64s\" port %u to \"%.64s\" port %u",
				  id_of(b, from), b->f->ports[from].num, id_of(b, to),
				  b->f->ports[to].num, b->d->strings + place->file, place->line,
				  id_of(b, from2), b->f->ports[from2].num, id_of(b, to2),
				  b->f->ports[to2].num);
}

static bool is_known(const struct builder *b, uint32_t link)
{
	const struct dl_fabric_parsed_link *l = &b->d->links[link];

	return l->peer != DL_NONE && b->index[l->node] != DL_NONE && b->index[l->peer] != DL_NONE;
}

/* What both can do; what one can do where the other does not say. */
static unsigned int parsed_common(unsigned int a, unsigned int b)
{
	return a && b ? a & b : a | b;
}

/* The highest speed or width of a set, or 0. */
static unsigned int parsed_best(unsigned int set)
{
	return set ? 31 - __builtin_clz(set) : 0;
}

static void set_cable(struct dl_fabric_port *p, unsigned int width, unsigned int speed,
		      unsigned int vls)
{
	p->width = width;
	p->speed = speed;
	if (vls)
		p->vls = vls;
}

/* Lay a cable, of which `back` is the other end's statement, or `link` itself. */
static void lay_cable(const struct builder *b, uint32_t link, uint32_t back)
{
	const struct dl_fabric_parsed_link *l = &b->d->links[link], *m = &b->d->links[back];
	uint32_t from = near_end(b, link), to = far_end(b, link);
	unsigned int w = parsed_common(l->widths, m->widths);
	unsigned int s = parsed_common(l->speeds, m->speeds);
	unsigned int vls = l->vls && (!m->vls || l->vls < m->vls) ? l->vls : m->vls;

	if ((!w && l->widths) || (!s && l->speeds)) {
		dl_fabric_parsed_left_out(b->d, l->place,
					  "\"%.64s\" port %u has no width and speed that its far "
					  "end in %s:%u has too",
					  id_of(b, from), l->num, b->d->strings + m->place.file,
					  m->place.line);
		return;
	}
	/* A port that is plugged into itself cannot be cabled. */
	if (dl_fabric_connect(b->f, from, to)) {
		dl_fabric_parsed_left_out(b->d, l->place,
					  "\"%.64s\" port %u is plugged into itself",
					  id_of(b, from), l->num);
		return;
	}
	set_cable(&b->f->ports[from], parsed_best(w), parsed_best(s), vls);
	set_cable(&b->f->ports[to], parsed_best(w), parsed_best(s), vls);
}

/* Is this the statement of its port, and the far end's the same cable? */
static bool is_confirmed(const struct builder *b, uint32_t link)
{
	uint32_t from = near_end(b, link), back = b->said[far_end(b, link)];

	return b->said[from] == link && back != DL_NONE && far_end(b, back) == from;
}

/* What one end alone says of a cable. */
static void add_claim(const struct builder *b, uint32_t link)
{
	uint32_t from = near_end(b, link), to = far_end(b, link);

	if (b->said[from] != link)
		parsed_contradiction(b, link, b->said[from]);
	else if (b->said[to] != DL_NONE)
		parsed_contradiction(b, link, b->said[to]);
	else if (b->f->ports[to].peer != DL_NONE)
		parsed_contradiction(b, link, b->said[b->f->ports[to].peer]);
	else if (b->f->ports[from].peer == DL_NONE)
		lay_cable(b, link, link);
}

static void parsed_add_links(const struct builder *b)
{
	for (uint32_t i = 0; i < b->d->nlinks; i++)
		if (is_known(b, i) && b->said[near_end(b, i)] == DL_NONE)
			b->said[near_end(b, i)] = i;
	for (uint32_t i = 0; i < b->d->nlinks; i++)
		if (is_known(b, i) && is_confirmed(b, i) && b->said[far_end(b, i)] >= i)
			lay_cable(b, i, b->said[far_end(b, i)]);
	for (uint32_t i = 0; i < b->d->nlinks; i++)
		if (is_known(b, i) && !is_confirmed(b, i))
			add_claim(b, i);
}

int dl_fabric_parsed_build(const struct dl_fabric_parsed *d, struct dl_fabric **out)
{
	struct builder b = { .d = d };
	int err = dl_fabric_new(&b.f);

	if (err)
		return err;
	b.said = malloc((d->nports + 1ul) * sizeof(*b.said));
	b.index = malloc((d->nnodes + 1ul) * sizeof(*b.index));
	err = -ENOMEM;
	if (!b.said || !b.index)
		goto out;
	memset(b.said, 0xff, (d->nports + 1ul) * sizeof(*b.said));
	err = check_nodes(&b);
	if (!err)
		err = parsed_add_nodes(&b);
	if (err)
		goto out;
	parsed_add_ends(&b);
	parsed_add_links(&b);
	err = dl_fabric_finish(b.f, d->log);
out:
	free(b.index);
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
		return dl_fail(log, err, "%s: %s", path, strerror(-err));
	}
	err = read(from, path, log, out);
	fclose(from);
	return err;
}
