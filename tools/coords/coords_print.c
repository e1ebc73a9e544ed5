/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Adapters with their coordinates: a document, and from it a list, a table. */
#include <inttypes.h>

#include "coords.h"

static json_t *adapter_json(const struct coords_order *p, uint32_t i)
{
	const struct coords_adapter *at = &p->list[i];
	const struct dl_fabric *f = p->fabric;
	const struct dl_fabric_port *port = &f->ports[at->port], *far;
	json_t *j = json_pack("{s:o, s:o, s:i, s:i, s:o*, s:s}", "node_guid",
			      tool_json_guid(f, port->node), "port_guid",
			      json_sprintf("0x%016" PRIx64, port->guid), "port", port->num, "lid",
			      port->lid, "description",
			      tool_json_text(dl_fabric_node_name(f, port->node)), "host",
			      at->host == DL_NONE ? "" : p->hosts[at->host].name);

	if (dl_fabric_peer_switch(f, at->port) != DL_NONE) {
		far = &f->ports[port->peer];
		json_object_set_new(j, "switch",
				    json_pack("{s:o, s:i, s:o*}", "guid",
					      tool_json_guid(f, far->node), "port", far->num,
					      "name",
					      tool_json_text(dl_fabric_node_name(f, far->node))));
	}
	if (at->lacking)
		json_object_set_new(j, "lacking", json_string(at->lacking));
	else
		json_object_update_new(j, json_pack("{s:i, s:o, s:i}", "index", i, "coord",
						    tool_json_coord(&p->grid, at->site), "along",
						    at->along));
	return j;
}

json_t *coords_json(const struct coords_order *p)
{
	json_t *placed = json_array(), *rest = json_array();
	json_t *hosts = json_array();
	const struct dl_torus_grid *g = &p->grid;

	for (uint32_t i = 0; i < p->n; i++)
		json_array_append_new(i < p->nplaced ? placed : rest, adapter_json(p, i));
	for (uint32_t i = 0; i < p->nhosts_placed; i++)
		json_array_append_new(hosts, json_string(p->hosts[i].name));
	return json_pack("{s:[iii], s:[bbb], s:f, s:o, s:o, s:o}", "dims", g->radix[0], g->radix[1],
			 g->radix[2], "mesh", g->mesh[0], g->mesh[1], g->mesh[2], "step_hops",
			 coords_order_step(p), "hosts", hosts, "adapters", placed,
			 "without_coordinates", rest);
}

void coords_print(const json_t *document, FILE *to)
{
	tool_print(to, document,
		   "{*adapters}{index:6}  {coord}  {node_guid} port {port} LID {lid} "
		   "({description}) at port {switch.port} of \"{switch.name}\"\n{/}"
		   "{*without_coordinates}     -  without coordinates: {node_guid} port {port} "
		   "LID {lid} ({description}): {lacking}\n{/}");
}

/* ---- comma-separated values ---------------------------------------------- */

static void coords_print_text(const json_t *adapter, const char *path, FILE *to)
{
	tool_print_csv(to, tool_at(adapter, path));
	putc(',', to);
}

static void coords_print_row(const json_t *adapter, FILE *to)
{
	if (tool_has(adapter, "lacking"))
		fputs(",,,,,", to);
	else
		tool_print(to, adapter, "{index},{coord},{along},");
	coords_print_text(adapter, "host", to);
	tool_print(to, adapter, "{node_guid},{port_guid},{port},{lid},");
	coords_print_text(adapter, "description", to);
	tool_print(to, adapter,
		   tool_has(adapter, "switch") ? "{switch.guid},{switch.port}," : ",,");
	coords_print_text(adapter, "switch.name", to);
	tool_print(to, adapter, tool_has(adapter, "lacking") ? "{lacking}\n" : "\n");
}

void coords_print_csv(const json_t *document, FILE *to)
{
	static const char *const lists[] = { "adapters", "without_coordinates" };
	const json_t *adapter;
	size_t i;

	fputs("index,x,y,z,along,host,node_guid,port_guid,port,lid,"
	      "description,switch_guid,switch_port,switch,lacking\n",
	      to);
	for (unsigned int l = 0; l < 2; l++)
		json_array_foreach(tool_at(document, lists[l]), i, adapter)
			coords_print_row(adapter, to);
}
