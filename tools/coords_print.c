/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Adapters with their coordinates: a list, a table, a document. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "coords.h"

/* What all three of them print of one place. */
struct row {
	const struct dl_fabric_node *node;
	const struct dl_fabric_port *port;
	const char *name, *host, *lacking;
	uint32_t index;
	uint32_t coord[DL_TORUS_DIMS], along;
	const struct dl_fabric_port *far; /* the switch's port, or NULL */
	uint64_t far_guid;
	const char *far_name;
};

static void find_row(const struct coords_order *p, uint32_t i, struct row *r)
{
	const struct coords_adapter *at = &p->list[i];
	const struct dl_fabric *f = p->fabric;

	memset(r, 0, sizeof(*r));
	r->port = &f->ports[at->port];
	r->node = &f->nodes[r->port->node];
	r->name = dl_fabric_node_name(f, r->port->node);
	r->host = at->host == DL_NONE ? "" : p->hosts[at->host].name;
	r->lacking = at->lacking;
	r->index = i;
	r->along = at->along;
	if (!at->lacking)
		dl_torus_site_coord(&p->grid, at->site, r->coord);
	if (dl_fabric_peer_switch(f, at->port) != DL_NONE) {
		r->far = &f->ports[r->port->peer];
		r->far_guid = f->nodes[r->far->node].guid;
		r->far_name = dl_fabric_node_name(f, r->far->node);
	}
}

/* ---- for people -------------------------------------------------------- */

int coords_print(const struct coords_order *p, FILE *to)
{
	struct row r;
	uint32_t i;

	for (i = 0; i < p->nplaced; i++) {
		find_row(p, i, &r);
		fprintf(to,
			"%6u  %u,%u,%u  0x%016" PRIx64 " port %u LID %u "
			"(%s) at port %u of \"%s\"\n",
			i, r.coord[0], r.coord[1], r.coord[2], r.node->guid,
			r.port->num, r.port->lid, r.name, r.far->num,
			r.far_name);
	}
	for (; i < p->n; i++) {
		find_row(p, i, &r);
		fprintf(to,
			"     -  without coordinates: 0x%016" PRIx64 " port "
			"%u LID %u (%s): %s\n",
			r.node->guid, r.port->num, r.port->lid, r.name,
			r.lacking);
	}
	return fflush(to) || ferror(to) ? -EIO : 0;
}

/* ---- comma-separated (RFC 4180, but for the ends of lines) --------------- */

static void text(const char *s, FILE *to)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		fprintf(to, "%s,", s);
		return;
	}
	putc('"', to);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', to);
		putc(*s, to);
	}
	fputs("\",", to);
}

static void csv_row(const struct row *r, FILE *to)
{
	if (r->lacking)
		fputs(",,,,,", to);
	else
		fprintf(to, "%u,%u,%u,%u,%u,", r->index, r->coord[0],
			r->coord[1], r->coord[2], r->along);
	text(r->host, to);
	fprintf(to, "0x%016" PRIx64 ",0x%016" PRIx64 ",%u,%u,", r->node->guid,
		r->port->guid, r->port->num, r->port->lid);
	text(r->name, to);
	if (r->far) {
		fprintf(to, "0x%016" PRIx64 ",%u,", r->far_guid, r->far->num);
		text(r->far_name, to);
	} else {
		fputs(",,,", to);
	}
	fprintf(to, "%s\n", r->lacking ? r->lacking : "");
}

int coords_csv(const struct coords_order *p, FILE *to)
{
	struct row r;
	uint32_t i;

	fputs("index,x,y,z,along,host,node_guid,port_guid,port,lid,"
	      "description,switch_guid,switch_port,switch,lacking\n",
	      to);
	for (i = 0; i < p->n; i++) {
		find_row(p, i, &r);
		csv_row(&r, to);
	}
	return fflush(to) || ferror(to) ? -EIO : 0;
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *guid_json(uint64_t guid)
{
	return json_sprintf("0x%016" PRIx64, guid);
}

static json_t *row_json(const struct row *r)
{
	json_t *j = json_pack("{s:o, s:o, s:i, s:i, s:o*, s:s}", "node_guid",
			      guid_json(r->node->guid), "port_guid",
			      guid_json(r->port->guid), "port", r->port->num,
			      "lid", r->port->lid, "description",
			      tool_json_text(r->name), "host", r->host);

	if (r->far)
		json_object_set_new(j, "switch",
				    json_pack("{s:o, s:i, s:o*}", "guid",
					      guid_json(r->far_guid), "port",
					      r->far->num, "name",
					      tool_json_text(r->far_name)));
	if (r->lacking)
		json_object_set_new(j, "lacking", json_string(r->lacking));
	else
		json_object_update_new(
			j, json_pack("{s:i, s:[iii], s:i}", "index", r->index,
				     "coord", r->coord[0], r->coord[1],
				     r->coord[2], "along", r->along));
	return j;
}

json_t *coords_json(const struct coords_order *p)
{
	json_t *placed = json_array(), *rest = json_array(), *hosts;
	const struct dl_torus_grid *g = &p->grid;
	struct row r;
	uint32_t i;

	hosts = json_array();
	for (i = 0; i < p->n; i++) {
		find_row(p, i, &r);
		json_array_append_new(i < p->nplaced ? placed : rest,
				      row_json(&r));
	}
	for (i = 0; i < p->nhosts_placed; i++)
		json_array_append_new(hosts, json_string(p->hosts[i].name));
	return json_pack("{s:[iii], s:[bbb], s:f, s:o, s:o, s:o}", "dims",
			 g->radix[0], g->radix[1], g->radix[2], "mesh",
			 g->mesh[0], g->mesh[1], g->mesh[2], "step_hops",
			 coords_order_step(p), "hosts", hosts, "adapters",
			 placed, "without_coordinates", rest);
}
