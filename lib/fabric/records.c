/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * From a list of ports to a parsed fabric: OpenSM's subnet list and the reports of
 * infiniband-diags.
 *
 * Problem.  A node is described with each of its ports, in some formats also
 * with each cable's far end, and all those descriptions must agree.  In others
 * the far end is a reference: the GUID of a port, or its LID and name.
 *
 * Method.  Every port leaves two records, of itself and of its far end.
 * References are looked up among the former, sorted; a name that several ports
 * have is that of the one which names this port in turn.  Sorted by GUID, port
 * and order of appearance, the records of a node, and within them those of a
 * port, stand together; each is compared with the first of its group, and the
 * first ones become nodes, in the order of the file.  O(n log n).
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/internal.h"

int dl_fabric_records_add(struct dl_fabric_records *r, const struct dl_fabric_record *near,
			  const struct dl_fabric_record *far)
{
	if (!dl_array_room(r->record, r->n, 2, &r->cap))
		return -ENOMEM;
	r->record[r->n++] = *near;
	r->record[r->n++] = *far;
	return 0;
}

/* ---- references --------------------------------------------------------- */

static int records_compare_names(const struct dl_fabric_records *r,
				 const struct dl_fabric_record *a, const struct dl_fabric_record *b)
{
	if (a->lid != b->lid)
		return a->lid < b->lid ? -1 : 1;
	if (a->num != b->num)
		return a->num < b->num ? -1 : 1;
	return strcmp(r->d->strings + a->desc, r->d->strings + b->desc);
}

/* A port, by its GUID or by what it and its far end say of each other. */
static int compare_ports(const struct dl_fabric_records *r, const struct dl_fabric_record *a,
			 const struct dl_fabric_record *a_far, const struct dl_fabric_record *b,
			 const struct dl_fabric_record *b_far)
{
	int order;

	if (r->by_name) {
		order = records_compare_names(r, a, b);
		return order ? order : records_compare_names(r, a_far, b_far);
	}
	if (a->port_guid != b->port_guid)
		return a->port_guid < b->port_guid ? -1 : 1;
	return a->num < b->num ? -1 : a->num > b->num;
}

static int compare_near(const void *left, const void *right, void *records)
{
	const uint32_t *i = left, *j = right;
	const struct dl_fabric_records *r = records;
	const struct dl_fabric_record *a = &r->record[*i], *b = &r->record[*j];
	int order = compare_ports(r, a, a + 1, b, b + 1);

	return order ? order : *i < *j ? -1 : *i > *j;
}

struct search {
	const struct dl_fabric_records *r;
	const uint32_t *order; /* near records, sorted */
	uint32_t n;
};

/* Is the near record at this place a port of that GUID, or of that name? */
static bool records_matches(const struct search *s, uint32_t at, const struct dl_fabric_record *e)
{
	const struct dl_fabric_record *near;

	if (at >= s->n)
		return false;
	near = &s->r->record[s->order[at]];
	return s->r->by_name ? !records_compare_names(s->r, near, e) :
			       near->port_guid == e->port_guid;
}

static int compare_at(const struct search *s, uint32_t at, const struct dl_fabric_record *e)
{
	const struct dl_fabric_record *near = &s->r->record[s->order[at]];

	return compare_ports(s->r, near, near + 1, e, e - 1);
}

/*
 * Which near record is this far end?  DL_NONE: none; *unique becomes false if
 * several may be.
 */
static uint32_t find_near(const struct search *s, const struct dl_fabric_record *e, bool *unique)
{
	uint32_t low = dl_array_count_before(i, s->n, compare_at(s, i, e) < 0);

	*unique = true;
	if (low < s->n && !compare_at(s, low, e)) {
		*unique = !s->r->by_name || low + 1 == s->n || compare_at(s, low + 1, e);
		return s->order[low];
	}
	/* A switch that does not list this port; a port that names another far end. */
	if (!records_matches(s, low, e) && !records_matches(s, low - 1, e))
		return DL_NONE;
	*unique = !s->r->by_name || records_matches(s, low, e) + records_matches(s, low - 1, e) +
						    records_matches(s, low + 1, e) +
						    records_matches(s, low - 2, e) ==
					    1;
	return s->order[records_matches(s, low, e) ? low : low - 1];
}

/* What the far end says of itself; its number is what was said of the cable. */
static int records_resolve(struct dl_fabric_records *r, const struct search *s, uint32_t far)
{
	struct dl_fabric_record *e = &r->record[far];
	struct dl_fabric_parsed_place place = { r->file, e->line };
	bool unique;
	uint32_t near = find_near(s, e, &unique);

	if (!unique)
		return dl_fabric_parsed_error(r->d, place,
					      "\"%.64s\" port %u: several have this name and LID "
					      "%u: expected the output of iblinkinfo -l",
					      r->d->strings + e->desc, e->num, e->lid);
	if (near != DL_NONE) {
		uint32_t line = e->line;
		uint8_t num = e->num;

		*e = r->record[near];
		e->line = line;
		e->num = num;
		if (!num || num > e->nports) {
			dl_fabric_parsed_left_out(r->d, place,
						  "a cable to port %u of \"%.64s\", which has %u",
						  num, r->d->strings + e->desc, e->nports);
			e->guid = 0;
		}
	} else if (r->by_name) {
		dl_fabric_parsed_left_out(r->d, place, "\"%.64s\" port %u has no line of its own",
					  r->d->strings + e->desc, e->num);
		e->refers = false;
	}
	return 0;
}

/* Far ends that have no line: a switch, if several of its ports are named. */
static void describe_unlisted(struct dl_fabric_records *r, uint32_t *order, uint32_t n)
{
	uint32_t j;

	/* Not by name: those are left out. */
	qsort_r(order, n, sizeof(*order), compare_near, r);
	for (uint32_t i = 0; i < n; i = j) {
		const struct dl_fabric_record *first = &r->record[order[i]];
		uint8_t type = first->type, nports;

		for (j = i; j < n && r->record[order[j]].port_guid == first->port_guid; j++)
			;
		nports = r->record[order[j - 1]].num;
		if (!type)
			type = nports == first->num ? DL_FABRIC_CA : DL_FABRIC_SWITCH;
		for (uint32_t k = i; k < j; k++) {
			struct dl_fabric_record *e = &r->record[order[k]];

			e->guid = e->port_guid;
			e->type = type;
			e->nports = nports;
			e->desc = first->desc;
			e->lid = first->lid;
			e->refers = false;
		}
	}
}

int dl_fabric_records_resolve(struct dl_fabric_records *r)
{
	uint32_t *order = calloc(r->n + 1ul, sizeof(*order)), n = 0, unlisted = 0;
	int err = order ? 0 : -ENOMEM;

	if (err)
		return err;
	for (uint32_t i = 0; i < r->n; i += 2)
		order[n++] = i;
	qsort_r(order, n, sizeof(*order), compare_near, r);
	for (uint32_t i = 1; i < r->n && !err; i += 2)
		if (r->record[i].refers)
			err = records_resolve(r, &(struct search){ r, order, n }, i);
	for (uint32_t i = 1; i < r->n; i += 2)
		if (r->record[i].refers)
			order[unlisted++] = i;
	if (!err)
		describe_unlisted(r, order, unlisted);
	free(order);
	return err;
}

/* ---- nodes -------------------------------------------------------------- */

static int records_compare(const void *left, const void *right, void *records)
{
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct dl_fabric_record *a = (struct dl_fabric_record *)records + i;
	const struct dl_fabric_record *b = (struct dl_fabric_record *)records + j;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	if (a->num != b->num)
		return a->num < b->num ? -1 : 1;
	return i < j ? -1 : i > j;
}

static struct dl_fabric_parsed_place place_of(const struct dl_fabric_records *r, uint32_t record)
{
	return (struct dl_fabric_parsed_place){ r->file, r->record[record].line };
}

static void records_differs(const struct dl_fabric_records *r, uint32_t record, uint32_t first)
{
	const struct dl_fabric_record *e = &r->record[record];

	dl_fabric_parsed_left_out(r->d, place_of(r, record),
				  "node 0x%016" PRIx64
				  " port %u is described otherwise than in %s:%u",
				  e->guid, e->num, r->d->strings + r->file, r->record[first].line);
}

static bool same_node(const struct dl_fabric_records *r, const struct dl_fabric_record *a,
		      const struct dl_fabric_record *b)
{
	const char *s = r->d->strings;

	return a->system_guid == b->system_guid && a->type == b->type && a->nports == b->nports &&
	       a->vendor == b->vendor && a->device == b->device &&
	       !strcmp(s + a->desc, s + b->desc);
}

/* The end port of a switch is the same for all of its ports. */
static bool same_end(const struct dl_fabric_record *a, const struct dl_fabric_record *b)
{
	return (a->type != DL_FABRIC_SWITCH && a->num != b->num) ||
	       (a->lid == b->lid && a->port_guid == b->port_guid);
}

static int records_add_node(struct dl_fabric_records *r, const struct dl_fabric_record *e)
{
	struct dl_fabric_parsed_node node = {
		.guid = e->guid,
		.system_guid = e->system_guid,
		.desc = r->d->strings[e->desc] ? e->desc : 0,
		.vendor = e->vendor,
		.device = e->device,
		.place = { r->file, e->line },
		.type = e->type,
		.nports = e->nports,
	};
	char id[20];
	int err;

	snprintf(id, sizeof(id), "%c-%016" PRIx64, dl_fabric_letter(e->type), e->guid);
	err = dl_fabric_parsed_string(r->d, id, strlen(id), &node.id);
	return err ? err : dl_fabric_parsed_add_node(r->d, &node);
}

/*
 * Nodes in the order of the file.  order[] holds the records sorted,
 * first[] gets the first record of each record's node.
 */
static int records_add_nodes(struct dl_fabric_records *r, const uint32_t *order, uint32_t *first)
{
	uint32_t j;
	int err = 0;

	for (uint32_t i = 0; i < r->n; i = j) {
		uint64_t guid = r->record[order[i]].guid;
		uint32_t least = order[i];

		for (j = i; j < r->n && r->record[order[j]].guid == guid; j++) {
			if (order[j] < least)
				least = order[j];
		}
		for (uint32_t k = i; k < j; k++)
			first[order[k]] = least;
	}
	for (uint32_t i = 0; i < r->n && !err; i++) {
		struct dl_fabric_record *e = &r->record[i], *f = &r->record[first[i]];

		if (!e->guid) {
			e->node = DL_NONE;
		} else if (e == f) {
			e->node = r->d->nnodes;
			err = records_add_node(r, e);
		} else if (same_node(r, e, f) && same_end(e, f)) {
			e->node = f->node;
		} else {
			e->node = DL_NONE;
			records_differs(r, i, first[i]);
		}
	}
	return err;
}

static int records_add_ends(struct dl_fabric_records *r, const uint32_t *order)
{
	uint32_t i, given = DL_NONE; /* the last port's record */
	int err = 0;

	for (i = 0; i < r->n && !err; i++) {
		const struct dl_fabric_record *e = &r->record[order[i]];
		bool sw = e->type == DL_FABRIC_SWITCH;

		if (e->node == DL_NONE)
			continue;
		if (given != DL_NONE && e->guid == r->record[given].guid &&
		    (sw || e->num == r->record[given].num)) {
			if (!same_end(e, &r->record[given]))
				records_differs(r, order[i], given);
			continue;
		}
		given = order[i];
		err = dl_fabric_parsed_add_end(r->d, &(struct dl_fabric_parsed_end){
							     .guid = e->port_guid,
							     .node = e->node,
							     .place = place_of(r, order[i]),
							     .lid = e->lid,
							     .num = sw ? 0 : e->num,
						     });
	}
	return err;
}

static int records_add_links(struct dl_fabric_records *r)
{
	int err = 0;

	for (uint32_t i = 0; i < r->n && !err; i += 2) {
		const struct dl_fabric_record *near = &r->record[i], *far = near + 1;

		if (near->node == DL_NONE || far->node == DL_NONE)
			continue;
		err = dl_fabric_parsed_add_link(r->d, &(struct dl_fabric_parsed_link){
							      .node = near->node,
							      .peer = far->node,
							      .place = place_of(r, i),
							      .speeds = near->speeds,
							      .widths = near->widths,
							      .num = near->num,
							      .peer_num = far->num,
						      });
	}
	return err;
}

int dl_fabric_records_fill(struct dl_fabric_records *r)
{
	uint32_t *order = calloc(r->n + 1ul, sizeof(*order));
	uint32_t *first = calloc(r->n + 1ul, sizeof(*first));
	int err = -ENOMEM;

	if (!order || !first)
		goto out;
	for (uint32_t i = 0; i < r->n; i++)
		order[i] = i;
	if (r->n)
		qsort_r(order, r->n, sizeof(*order), records_compare, r->record);
	err = records_add_nodes(r, order, first);
	if (!err)
		err = records_add_ends(r, order);
	if (!err)
		err = records_add_links(r);
out:
	free(order);
	free(first);
	return err;
}
