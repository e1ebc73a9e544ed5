/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets step by step: those that are watched, and recordings. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "emulate.h"

static const char *const emulate_events[DL_EMU_STEP_KINDS] = {
	[DL_EMU_STEP_MADE] = "made",	   [DL_EMU_STEP_ARRIVED] = "arrived",
	[DL_EMU_STEP_SENT] = "sent",	   [DL_EMU_STEP_DELIVERED] = "delivered",
	[DL_EMU_STEP_DROPPED] = "dropped", [DL_EMU_STEP_CREDIT] = "credit",
	[DL_EMU_STEP_TAIL] = "tail",
};

json_t *emulate_watched_json(const struct emulate_run *r)
{
	const struct dl_emu_steps *watched = &r->result.watched;
	const struct dl_fabric *f = r->fabric;
	json_t *list = json_array();

	for (uint32_t i = 0; i < watched->n; i++) {
		const struct dl_emu_step *s = &watched->step[i];
		bool dropped = s->kind == DL_EMU_STEP_DROPPED;

		json_array_append_new(
			list, json_pack("{s:I, s:f, s:s, s:o, s:s, s:i, s:i, s:i, s:i, s:i, s:f, "
					"s:I, s:s?}",
					"packet", (json_int_t)s->packet, "at_ns", s->at / 1e3,
					"event", emulate_events[s->kind], "guid",
					tool_json_guid(f, f->ports[s->port].node), "name",
					dl_fabric_node_name(f, f->ports[s->port].node), "port",
					f->ports[s->port].num, "vl", s->vl, "sl", s->sl, "lid",
					s->dlid, "bytes", s->bytes, "waited_ns", s->waited / 1e3,
					"credit", (json_int_t)s->credit, "cause",
					dropped ? emulate_drops[s->cause].key : NULL));
	}
	return list;
}

void emulate_watched_print(const json_t *document, FILE *to)
{
	json_int_t packet = 0;
	const json_t *step;
	size_t i;

	json_array_foreach(tool_at(document, "watched"), i, step)
	{
		if (tool_int_at(step, "packet") != packet)
			tool_print(to, step,
				   "packet {packet}: {bytes} bytes to LID {lid}, SL {sl}\n");
		packet = tool_int_at(step, "packet");
		tool_print(to, step,
			   "  {at_ns:12.3} ns {event:-9} VL {vl:-2} \"{name}\" port {port}, waited "
			   "{waited_ns:.3} ns, credit {credit}{?cause}: {cause}{/}\n");
	}
}

/* A line for each step; times in ns to the picosecond. */
int emulate_record(const struct emulate_run *r, FILE *to)
{
	const struct dl_emu_steps *list = &r->result.recorded;
	const struct dl_fabric *f = r->fabric;

	fputs("at_ns,event,packet,guid,port,vl,sl,lid,bytes,waited_ns,credit,cause\n", to);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct dl_emu_step *s = &list->step[i];
		const struct dl_fabric_port *p = &f->ports[s->port];

		fprintf(to, "%" PRIu64 ".%03u,%s,", s->at / 1000, (unsigned int)(s->at % 1000),
			emulate_events[s->kind]);
		if (s->packet)
			fprintf(to, "%u", s->packet);
		fprintf(to, ",0x%016" PRIx64 ",%u,%u,", f->nodes[p->node].guid, p->num, s->vl);
		if (s->packet)
			fprintf(to, "%u,%u,%u,%" PRIu64 ".%03u", s->sl, s->dlid, s->bytes,
				s->waited / 1000, (unsigned int)(s->waited % 1000));
		else
			fputs(",,,", to);
		fprintf(to, ",%u,%s\n", s->credit,
			s->kind == DL_EMU_STEP_DROPPED ? emulate_drops[s->cause].key : "");
	}
	return ferror(to) ? -EIO : 0;
}
