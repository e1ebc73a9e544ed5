/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the page shows when it opens: the fabric, what is missing in it, the
 * result of the verification, and the load of the cables.
 *
 * Lists that grow with the fabric are written by columns, as arrays of
 * numbers: a large fabric has ten thousand of everything.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"

/* ---- switches, ends, cables -------------------------------------------- */

static json_t *grid_json(const struct tool_coords *c)
{
	const struct dl_torus_grid *g = &c->grid;

	if (!c->site)
		return json_null();
	return json_pack("{s:[iii], s:[bbb], s:b}", "radix", g->radix[0], g->radix[1], g->radix[2],
			 "mesh", g->mesh[0], g->mesh[1], g->mesh[2], "certain", c->certain);
}

static json_t *switches_json(const struct report_page *p)
{
	const struct dl_fabric *f = p->fabric;
	json_t *site = json_array(), *ports = json_array();

	for (uint32_t i = 0; i < f->nswitches; i++) {
		uint32_t sw = p->switches[i];

		report_push(site, p->coords->site ? report_or_minus(p->coords->site[sw]) : -1);
		report_push(ports, f->nodes[f->switches[sw]].nports);
	}
	return json_pack("{s:o, s:o}", "site", site, "ports", ports);
}

/* All ends; the first ones are the switches' own ports 0. */
static json_t *ends_json(const struct report_page *p)
{
	const struct dl_fabric *f = p->fabric;
	json_t *guid = json_array(), *name = json_array();
	json_t *num = json_array(), *lid = json_array(), *lmc = json_array();
	json_t *sw = json_array(), *port = json_array(), *type = json_array();

	for (uint32_t i = 0; i < p->nends; i++) {
		const struct dl_fabric_port *e = &f->ports[p->ends[i]];
		uint32_t access = dl_fabric_access_switch(f, p->ends[i]);

		json_array_append_new(guid, tool_json_guid(f, e->node));
		json_array_append_new(name, tool_json_text(dl_fabric_node_name(f, e->node)));
		report_push(num, e->num);
		report_push(lid, e->lid);
		report_push(lmc, e->lmc);
		report_push(type, f->nodes[e->node].type);
		report_push(sw, access == DL_NONE ? -1 : (json_int_t)p->place[access]);
		report_push(port, access == DL_NONE ? -1 : e->num ? f->ports[e->peer].num : 0);
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "guid", guid, "name", name,
			 "type", type, "num", num, "lid", lid, "lmc", lmc, "sw", sw, "port", port);
}

static json_t *cables_json(const struct report_page *p)
{
	const struct dl_fabric *f = p->fabric;
	json_t *list = json_array();

	for (uint32_t i = 0; i < p->ncables; i++)
		for (unsigned int e = 0; e < 2; e++) {
			const struct dl_fabric_port *q = &f->ports[p->cables[i].port[e]];

			report_push(list, p->place[f->nodes[q->node].sw]);
			report_push(list, q->num);
		}
	return list;
}

json_t *report_fabric(const struct report_page *p)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "grid", grid_json(p->coords), "switches",
			 switches_json(p), "ends", ends_json(p), "cables", cables_json(p));
}

/* ---- what is missing --------------------------------------------------- */

/* Is there a hop upwards, and is it counted at this end? */
static bool has_hop(const struct dl_torus_grid *g, uint32_t site, unsigned int dim)
{
	uint32_t next = dl_torus_site_next(g, site, dl_torus_dir(dim, false));

	return next != DL_NONE && !(g->radix[dim] == 2 && next < site);
}

static uint32_t count_cables(const struct dl_fabric *f, uint32_t a, uint32_t b)
{
	const struct dl_fabric_node *n = &f->nodes[f->switches[a]];
	uint32_t count = 0;

	for (unsigned int o = 1; o <= n->nports; o++)
		count += dl_fabric_peer_switch(f, n->first_port + o) == b;
	return count;
}

/* The cables upwards from a site; `sw` are the switches by site. */
static uint32_t hop_cables(const struct report_page *p, const uint32_t *sw, uint32_t site,
			   unsigned int dim)
{
	uint32_t next = dl_torus_site_next(&p->coords->grid, site, dl_torus_dir(dim, false));

	return sw[site] == DL_NONE || sw[next] == DL_NONE ?
		       0 :
		       count_cables(p->fabric, sw[site], sw[next]);
}

/*
 * Cables of a hop are missing when another hop of the same dimension has
 * more; so are all those of a hop at a site without a switch.
 */
static void list_missing(const struct report_page *p, const uint32_t *sw, uint32_t sites,
			 json_t *switches, json_t *cables)
{
	const struct dl_torus_grid *g = &p->coords->grid;
	uint32_t usual[DL_TORUS_DIMS] = { 0 };

	for (uint32_t site = 0; site < sites; site++)
		for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
			uint32_t n = has_hop(g, site, d) ? hop_cables(p, sw, site, d) : 0;

			usual[d] = n > usual[d] ? n : usual[d];
		}
	for (uint32_t site = 0; site < sites; site++) {
		if (sw[site] == DL_NONE)
			report_push(switches, site);
		for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
			uint32_t n = has_hop(g, site, d) ? hop_cables(p, sw, site, d) : usual[d];

			if (n != usual[d])
				json_array_append_new(cables,
						      json_pack("[iiii]", site, d, n, usual[d]));
		}
	}
}

json_t *report_missing(const struct report_page *p)
{
	uint32_t sites = p->coords->site ? dl_torus_grid_sites(&p->coords->grid) : 0;
	uint32_t *sw = malloc((sites + 1ul) * sizeof(*sw));
	json_t *switches, *cables;

	if (!sw)
		return NULL;
	switches = json_array();
	cables = json_array();
	memset(sw, 0xFF, sites * sizeof(*sw)); /* DL_NONE */
	for (uint32_t s = 0; sites && s < p->fabric->nswitches; s++)
		if (p->coords->site[s] != DL_NONE)
			sw[p->coords->site[s]] = s;
	list_missing(p, sw, sites, switches, cables);
	free(sw);
	return json_pack("{s:o, s:o}", "switches", switches, "cables", cables);
}

/* ---- the result of the verification ------------------------------------ */

static json_t *report_step_json(const struct report_page *p, const struct dl_cycle_step *s)
{
	uint32_t to = DL_NONE;

	if (s->dlid && s->dlid < DL_TABLES_MCAST_LID)
		to = p->fabric->lid_port[s->dlid];
	return json_pack("{s:I, s:i, s:i, s:i, s:I, s:I}", "way",
			 report_or_minus(p->way_of[s->port]), "vl", s->vl, "sl", s->sl, "dlid",
			 s->dlid, "from", s->dlid ? report_or_minus(p->end_of[s->src]) : -1, "to",
			 to == DL_NONE ? -1 : report_or_minus(p->end_of[to]));
}

static void print_words(const json_t *verdict, FILE *to)
{
	verify_print(verdict, true, to);
}

/* What `dateline verify` says, and what applications must do, in words. */
static json_t *words_json(const json_t *verdict, const struct dl_tables *t)
{
	char *text = tool_text_of(verdict, print_words);
	json_t *words = text ? json_sprintf("%s\n%s\n", text, dl_tables_sl_demand(t)) : NULL;

	free(text);
	return words;
}

json_t *report_verdict(const struct report_page *p, const struct dl_verify_result *v,
		       json_t *verdict)
{
	json_t *steps = json_array();

	for (uint32_t i = 0; i < json_array_size(tool_at(verdict, "cycle")); i++)
		json_array_append_new(steps, report_step_json(p, &v->cycle.steps[i]));
	json_object_set_new(verdict, "words", words_json(verdict, p->tables));
	json_object_set_new(verdict, "steps", steps);
	return verdict;
}

/* ---- counters ---------------------------------------------------------- */

/* A counter by way. */
static json_t *report_counted_json(const struct report_page *p, const struct dl_live_counters *c,
				   enum dl_live_counter counter, unsigned int unit)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < 2 * p->ncables; i++)
		report_push(list, c->value[p->cables[i / 2].port[i % 2]][counter] * unit);
	return list;
}

/* The errors of a cable, which both of its ends count, by way. */
static json_t *report_faults_json(const struct report_page *p, const struct dl_live_counters *c)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < 2 * p->ncables; i++)
		report_push(list, path_counted_faults(c, p->cables[i / 2].port[0]) +
					  path_counted_faults(c, p->cables[i / 2].port[1]));
	return list;
}

int report_counters(struct tool *tool, const struct report_page *p, struct path_request *r,
		    json_t *document)
{
	struct dl_live_counters c = { 0 };
	json_t *found, *fabric;
	int err = path_counters_read(tool, r, p->fabric, &c);

	if (!err)
		err = path_fabric_json(p->input, r, &tool->log, &found);
	if (!err) {
		fabric = json_object_get(found, "fabric");
		/* Data are counted in units of four bytes. */
		json_object_set_new(fabric, "ways",
				    json_pack("{s:o, s:o, s:o}", "bytes",
					      report_counted_json(p, &c, DL_LIVE_XMIT_DATA, 4),
					      "wait",
					      report_counted_json(p, &c, DL_LIVE_XMIT_WAIT, 1),
					      "errors", report_faults_json(p, &c)));
		json_object_set(document, "counters", fabric);
		json_decref(found);
	}
	dl_live_counters_release(&c);
	return err;
}

/* ---- load -------------------------------------------------------------- */

int report_load(const struct report_page *p, const struct dl_log *log, json_t *document)
{
	struct dl_tables_load load;
	int err = dl_tables_load_count(p->tables, NULL, NULL, log, &load);
	json_t *flows;

	if (err)
		return err;
	flows = json_array();
	for (uint32_t i = 0; i < p->ncables; i++)
		for (unsigned int e = 0; e < 2; e++)
			report_push(flows, load.flows[p->cables[i].port[e]]);
	tool_json_with(document, "load",
		       json_pack("{s:o, s:I, s:I, s:I}", "flows", flows, "busiest",
				 (json_int_t)load.busiest, "pairs", (json_int_t)load.pairs, "hops",
				 (json_int_t)load.hops));
	dl_tables_load_release(&load);
	return 0;
}
