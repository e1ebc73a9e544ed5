/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline arbitrate`: one transmit port, packet by packet.
 *
 * The port's queues are filled as the scenario says, and at every packet
 * boundary the arbiter of lib/link decides.  Each packet is a step, with what
 * it left in the registers.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arbitrate.h"
#include "dateline/link.h"
#include "tools/common/steps.h"

#define DEFAULT_BYTES 4096
#define SMP_BYTES 256 /* a management datagram */

struct queue {
	uint32_t *bytes; /* of each packet that ever arrived */
	uint32_t head, n, cap;
	int64_t credits; /* blocks; -1: always enough */
	uint32_t dropped;
};

/* One packet sent. */
struct sent {
	struct dl_link_pick pick;
	struct dl_link_arb_after after;
	uint32_t bytes;
	bool limited; /* has the counter a meaning? */
};

struct port {
	struct arbitrate_scenario scenario;
	struct dl_tables_vlarb arb;
	struct dl_link_arb_program program[2];
	unsigned int current; /* of the programs */
	bool programmed[2];   /* has this table been written? */
	bool used_undefined;
	struct dl_link_arbiter arbiter;
	int64_t smp, fcp;
	struct queue queue[DL_LINK_DATA_VLS];
	uint32_t nsent;
	uint32_t next_event;
};

/* ---- the port ---------------------------------------------------------- */

static int arbitrate_enqueue(struct queue *q, const struct arbitrate_refill *r)
{
	if (r->credits >= 0)
		q->credits += r->credits;
	if (r->packets <= 0)
		return 0;
	if (!dl_array_room(q->bytes, q->n, r->packets, &q->cap))
		return -ENOMEM;
	for (int64_t i = 0; i < r->packets; i++)
		q->bytes[q->n++] = r->nsizes ? r->sizes[i % r->nsizes] : DEFAULT_BYTES;
	return 0;
}

static void arbitrate_write_tables(struct port *p, const struct arbitrate_event *e)
{
	struct dl_tables_vlarb_entry *entries[] = { p->arb.high, p->arb.low };
	uint8_t *n[] = { &p->arb.nhigh, &p->arb.nlow };

	for (unsigned int side = DL_LINK_ARB_HIGH; side <= DL_LINK_ARB_LOW; side++) {
		if (!e->side[side].given)
			continue;
		*n[side] = e->side[side].n;
		memcpy(entries[side], e->side[side].entry, sizeof(e->side[side].entry));
		p->programmed[side] = true;
	}
	if (e->high_limit >= 0)
		p->arb.high_limit = e->high_limit;
	p->current ^= 1;
	dl_link_arb_compile(&p->arb, &p->scenario.options, &p->program[p->current]);
}

static int arbitrate_fill_queues(struct port *p, const struct arbitrate_event *e)
{
	int err = 0;

	for (unsigned int vl = 0; !err && vl < DL_LINK_DATA_VLS; vl++)
		if (e->queue[vl].given)
			err = arbitrate_enqueue(&p->queue[vl], &e->queue[vl]);
	return err;
}

static int arbitrate_do_event(struct port *p, const struct arbitrate_event *e)
{
	p->smp += e->smp;
	p->fcp += e->fcp;
	if (e->side[DL_LINK_ARB_HIGH].given || e->side[DL_LINK_ARB_LOW].given ||
	    e->high_limit >= 0) {
		arbitrate_write_tables(p, e);
		dl_link_arbiter_change(&p->arbiter, &p->program[p->current]);
	}
	return arbitrate_fill_queues(p, e);
}

static int arbitrate_start(struct port *p)
{
	const struct arbitrate_scenario *s = &p->scenario;

	if (s->power_up_seed >= 0)
		dl_link_arb_undefined(s->power_up_seed, 0, &p->arb);
	for (unsigned int side = DL_LINK_ARB_HIGH; side <= DL_LINK_ARB_LOW; side++)
		p->programmed[side] = s->power_up_seed < 0;
	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		p->queue[vl].credits = s->start.queue[vl].credits < 0 ? -1 : 0;
	arbitrate_write_tables(p, &s->start);
	dl_link_arbiter_init(&p->arbiter, &p->program[p->current]);
	return arbitrate_fill_queues(p, &s->start);
}

static int64_t arbitrate_blocks(uint32_t bytes)
{
	return dl_link_credit_units(DL_LINK_CREDIT_IBA, bytes);
}

static unsigned int arbitrate_sendable(const struct port *p)
{
	unsigned int vls = 0;

	for (unsigned int vl = 0; vl < p->scenario.options.nvls; vl++) {
		const struct queue *q = &p->queue[vl];

		if (q->head < q->n &&
		    (q->credits < 0 || arbitrate_blocks(q->bytes[q->head]) <= q->credits))
			vls |= 1u << vl;
	}
	return vls;
}

static void arbitrate_drop_unlisted(struct port *p)
{
	for (unsigned int vl = 0; vl < p->scenario.options.nvls; vl++) {
		struct queue *q = &p->queue[vl];

		if (dl_link_arb_drops(&p->program[p->current], vl)) {
			q->dropped += q->n - q->head;
			q->head = q->n;
		}
	}
}

/* Take the picked packet from its queue.  Returns its size. */
static uint32_t arbitrate_take(struct port *p, const struct dl_link_pick *pick)
{
	struct queue *q;
	uint32_t bytes;

	if (pick->kind == DL_LINK_SMP)
		return p->smp--, SMP_BYTES;
	if (pick->kind == DL_LINK_FCP)
		return p->fcp--, DL_LINK_FCP_BYTES;
	q = &p->queue[pick->vl];
	bytes = q->bytes[q->head++];
	if (q->credits >= 0)
		q->credits -= arbitrate_blocks(bytes);
	if (pick->side != DL_LINK_ARB_NONE && !p->programmed[pick->side])
		p->used_undefined = true;
	return bytes;
}

static const char *const kinds[] = { "nothing", "smp", "fcp", "data" };
static const char *const sides[] = { "high", "low", "none" };

static json_t *arbitrate_packet_json(const struct sent *s, uint32_t n)
{
	bool entry = s->pick.side != DL_LINK_ARB_NONE;

	return json_pack("{s:i, s:s, s:o, s:s, s:o, s:i, s:o, s:o}", "n", (int)n, "kind",
			 kinds[s->pick.kind], "vl",
			 tool_json_or_null(s->pick.kind != DL_LINK_FCP, s->pick.vl), "table",
			 sides[s->pick.side], "entry", tool_json_or_null(entry, s->pick.entry),
			 "bytes", (int)s->bytes, "weight_after",
			 tool_json_or_null(entry, s->after.weight), "counter_after",
			 tool_json_or_null(entry && s->limited, s->after.counter));
}

static int arbitrate_run(void *model, struct steps *steps)
{
	struct port *p = model;
	const struct arbitrate_scenario *s = &p->scenario;
	struct sent sent = { 0 };
	int err = arbitrate_start(p);

	while (!err && (s->stop_after < 0 || p->nsent < s->stop_after)) {
		while (!err && p->next_event < s->nevents &&
		       s->events[p->next_event].after <= p->nsent)
			err = arbitrate_do_event(p, &s->events[p->next_event++]);
		if (err)
			break;
		arbitrate_drop_unlisted(p);
		if (dl_link_arbiter_pick(&p->arbiter, p->smp, p->fcp, arbitrate_sendable(p),
					 &sent.pick) == DL_LINK_NOTHING)
			break;
		sent.bytes = arbitrate_take(p, &sent.pick);
		sent.limited = p->arb.high_limit != DL_LINK_ARB_UNLIMITED;
		dl_link_arbiter_charge(&p->arbiter, &sent.pick, sent.bytes, &sent.after);
		err = steps_add(steps, arbitrate_packet_json(&sent, ++p->nsent));
	}
	return err;
}

static void arbitrate_release(void *model)
{
	struct port *p = model;

	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		free(p->queue[vl].bytes);
	arbitrate_scenario_free(&p->scenario);
}

/* ---- what a person should know beside the result ----------------------- */

static void arbitrate_warn_of_cuts(const struct dl_log *log, const char *path,
				   const struct arbitrate_event *e, const int *caps)
{
	for (unsigned int side = DL_LINK_ARB_HIGH; side <= DL_LINK_ARB_LOW; side++)
		if (e->side[side].n > caps[side])
			dl_log(log, DL_LOG_WARNING, "%s:%u: %s: %d entries beyond %s_cap are cut",
			       path, e->side[side].line, sides[side], e->side[side].n - caps[side],
			       sides[side]);
}

/* A port needs a valid entry in the high table, and in the low one as many as data VLs. */
static void arbitrate_warn_of_few(const struct dl_log *log, const char *path,
				  const struct arbitrate_scenario *s, const int *caps)
{
	const unsigned int need[] = { 1, s->options.nvls };

	for (unsigned int side = DL_LINK_ARB_HIGH; side <= DL_LINK_ARB_LOW; side++) {
		const struct arbitrate_change *table = &s->start.side[side];
		unsigned int valid = 0;

		for (int i = 0; i < table->n && i < caps[side]; i++)
			valid += table->entry[i].weight && table->entry[i].vl < s->options.nvls;
		if (table->given && s->options.nvls > 1 && valid < need[side])
			dl_log(log, DL_LOG_WARNING,
			       "%s:%u: %s: valid entries: %u, expected at least %u%s", path,
			       table->line, sides[side], valid, need[side],
			       side == DL_LINK_ARB_LOW ? ", one for each data VL" : "");
	}
}

static void arbitrate_warn(const struct dl_log *log, const char *path, const struct port *p)
{
	const struct arbitrate_scenario *s = &p->scenario;
	const int caps[] = { s->options.high_cap, s->options.low_cap };

	arbitrate_warn_of_cuts(log, path, &s->start, caps);
	arbitrate_warn_of_few(log, path, s, caps);
	for (uint32_t i = 0; i < s->nevents; i++)
		arbitrate_warn_of_cuts(log, path, &s->events[i], caps);
	if (s->options.nvls == 1 &&
	    (s->start.side[DL_LINK_ARB_HIGH].given || s->start.side[DL_LINK_ARB_LOW].given))
		dl_log(log, DL_LOG_WARNING,
		       "%s: a port with one data VL has no tables: they do nothing", path);
	if (p->used_undefined)
		dl_log(log, DL_LOG_WARNING,
		       "%s: data was sent by a table that nobody has programmed", path);
	for (uint32_t i = p->next_event; i < s->nevents; i++)
		dl_log(log, DL_LOG_WARNING,
		       "%s:%u: the event after %lld packets did not happen: the port sent %u", path,
		       s->events[i].line, (long long)s->events[i].after, p->nsent);
}

/* ---- the document ------------------------------------------------------ */

static void arbitrate_set_count(json_t *object, unsigned int vl, uint32_t count)
{
	char name[4];

	snprintf(name, sizeof(name), "%u", vl);
	if (count)
		json_object_set_new(object, name, json_integer(count));
}

/* A queue in which something is left or was dropped. */
static json_t *arbitrate_queue_json(const struct port *p, unsigned int vl)
{
	const struct dl_link_arb_program *program = &p->program[p->current];
	const struct queue *q = &p->queue[vl];
	bool left = q->head < q->n;
	int64_t needs = left ? arbitrate_blocks(q->bytes[q->head]) : 0;
	bool short_of = left && q->credits >= 0 && needs > q->credits;

	return json_pack("{s:i, s:i, s:i, s:o, s:o, s:b}", "vl", (int)vl, "dropped",
			 (int)q->dropped, "left", (int)(q->n - q->head), "needs_credits",
			 tool_json_or_null(short_of, needs), "credits",
			 tool_json_or_null(short_of, q->credits), "listed",
			 p->scenario.options.nvls == 1 || program->listed >> vl & 1);
}

static json_t *arbitrate_after(const void *model, const char *path, const struct dl_log *log)
{
	const struct port *p = model;
	json_t *left = json_object(), *dropped = json_object();
	json_t *queues = json_array();

	arbitrate_warn(log, path, p);
	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++) {
		const struct queue *q = &p->queue[vl];

		arbitrate_set_count(left, vl, q->n - q->head);
		arbitrate_set_count(dropped, vl, q->dropped);
		if (q->head < q->n || q->dropped)
			json_array_append_new(queues, arbitrate_queue_json(p, vl));
	}
	return json_pack("{s:o, s:o, s:o}", "left", left, "dropped", dropped, "queues", queues);
}

/* ---- for people -------------------------------------------------------- */

/* What the arbiter does next on account of a packet. */
static const char *arbitrate_remark(const json_t *packet)
{
	bool expired =
		!strcmp(json_string_value(tool_at(packet, "table")), sides[DL_LINK_ARB_HIGH]) &&
		tool_int_at(packet, "counter_after") < 0;

	if (!tool_has(packet, "entry"))
		return "";
	if (tool_int_at(packet, "weight_after") > 0)
		return expired ? "  counter below 0" : "";
	return expired ? "  entry used up, counter below 0" : "  entry used up";
}

static void arbitrate_print_before(const json_t *document, FILE *to)
{
	(void)document;
	fputs("     n  kind  VL  table  entry  bytes  weight  counter\n", to);
}

static void arbitrate_print_packet(const json_t *packet, FILE *to)
{
	tool_print(to, packet,
		   "{n:6}  {kind:-4}  {vl:2}  {table:-5}  {entry:5}  {bytes:5}  "
		   "{weight_after:6}  {counter_after:7}");
	fprintf(to, "%s\n", arbitrate_remark(packet));
}

static void arbitrate_print_after(const json_t *document, FILE *to)
{
	const json_t *q;
	size_t i;

	json_array_foreach(tool_at(document, "queues"), i, q)
	{
		if (tool_int_at(q, "dropped"))
			tool_print(to, q, "VL {vl}: {dropped} dropped, for no entry names it\n");
		if (!tool_int_at(q, "left"))
			continue;
		tool_print(to, q, "VL {vl}: {left} left");
		if (tool_has(q, "needs_credits"))
			tool_print(to, q,
				   "; the next needs {needs_credits} credits, there are {credits}");
		fputs(tool_true_at(q, "listed") ? "\n" : "; no entry names it\n", to);
	}
}

/* ---- the command ------------------------------------------------------- */

static int arbitrate_read_scenario(void *model, const char *path, const struct dl_log *log)
{
	struct port *p = model;

	return arbitrate_scenario_read(path, log, &p->scenario);
}

int tool_cmd_arbitrate(struct tool *tool, int argc, char **argv)
{
	static const struct steps_model model = {
		.list = "packets",
		.size = sizeof(struct port),
		.read = arbitrate_read_scenario,
		.run = arbitrate_run,
		.after = arbitrate_after,
		.print_before = arbitrate_print_before,
		.print_step = arbitrate_print_packet,
		.print_after = arbitrate_print_after,
		.release = arbitrate_release,
	};
	static const char doc[] = "Let one transmit port arbitrate between its VLs, packet by "
				  "packet."
				  "\vWeights are in blocks of 64 bytes, the counter "
				  "(HighPriCounter) "
				  "in words of 4 bytes; both as they stand after the packet and "
				  "before any reload.\n"
				  "\n"
				  "  dateline arbitrate arbitrate-figure-25-10.yaml\n"
				  "\n"
				  "dateline-arbitrate(1) explains the file and the example.";

	return steps_command(tool, &model, doc, argc, argv);
}
