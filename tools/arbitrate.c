/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline arbitrate`: one transmit port, packet by packet.
 *
 * The port's queues are filled as the scenario says, and at every packet
 * boundary the arbiter of lib/link decides.  What stood in the registers
 * after each packet is kept and printed at the end.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arbitrate.h"
#include "dateline/link.h"
#include "tool.h"

#define DEFAULT_BYTES 4096
#define SMP_BYTES 256 /* a management datagram */

struct queue {
	uint32_t *bytes; /* of each packet that ever arrived */
	uint32_t head, n;
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
	const struct arb_scenario *scenario;
	struct dl_link_arb_options options;
	struct dl_tables_vlarb arb;
	struct dl_link_arb_program program[2];
	unsigned int current; /* of the programs */
	bool programmed[2];   /* has this table been written? */
	bool used_undefined;
	struct dl_link_arbiter arbiter;
	int64_t smp, fcp;
	struct queue queue[DL_LINK_DATA_VLS];
	struct sent *sent;
	uint32_t nsent, sent_cap;
	uint32_t next_event;
};

/* ---- the port ---------------------------------------------------------- */

static int enqueue(struct queue *q, const struct arb_refill *r)
{
	uint32_t *more;

	if (r->credits >= 0)
		q->credits += r->credits;
	if (r->packets <= 0)
		return 0;
	more = realloc(q->bytes, (q->n + r->packets) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	q->bytes = more;
	for (int64_t i = 0; i < r->packets; i++)
		q->bytes[q->n++] = r->nsizes ? r->sizes[i % r->nsizes] :
					       DEFAULT_BYTES;
	return 0;
}

static void write_tables(struct port *p, const struct arb_event *e)
{
	if (e->side[DL_LINK_ARB_HIGH].given) {
		p->arb.nhigh = e->side[DL_LINK_ARB_HIGH].n;
		memcpy(p->arb.high, e->side[DL_LINK_ARB_HIGH].entry,
		       sizeof(p->arb.high));
	}
	if (e->side[DL_LINK_ARB_LOW].given) {
		p->arb.nlow = e->side[DL_LINK_ARB_LOW].n;
		memcpy(p->arb.low, e->side[DL_LINK_ARB_LOW].entry,
		       sizeof(p->arb.low));
	}
	for (unsigned int side = DL_LINK_ARB_HIGH; side <= DL_LINK_ARB_LOW;
	     side++)
		p->programmed[side] |= e->side[side].given;
	if (e->high_limit >= 0)
		p->arb.high_limit = e->high_limit;
	p->current ^= 1;
	dl_link_arb_compile(&p->arb, &p->options, &p->program[p->current]);
}

static int fill_queues(struct port *p, const struct arb_event *e)
{
	int err = 0;

	for (unsigned int vl = 0; !err && vl < DL_LINK_DATA_VLS; vl++)
		if (e->queue[vl].given)
			err = enqueue(&p->queue[vl], &e->queue[vl]);
	return err;
}

static int happen(struct port *p, const struct arb_event *e)
{
	p->smp += e->smp;
	p->fcp += e->fcp;
	if (e->side[DL_LINK_ARB_HIGH].given || e->side[DL_LINK_ARB_LOW].given ||
	    e->high_limit >= 0) {
		write_tables(p, e);
		dl_link_arbiter_change(&p->arbiter, &p->program[p->current]);
	}
	return fill_queues(p, e);
}

static int start(struct port *p, const struct arb_scenario *s)
{
	*p = (struct port){
		.scenario = s,
		.options = { .nvls = s->vls,
			     .high_cap = s->high_cap,
			     .low_cap = s->low_cap,
			     .low_turn = s->low_turn,
			     .bad_entry = s->bad_entry,
			     .unlisted_vl = s->unlisted_vl },
	};
	if (s->power_up_seed >= 0)
		dl_link_arb_undefined(s->power_up_seed, 0, &p->arb);
	for (unsigned int side = DL_LINK_ARB_HIGH; side <= DL_LINK_ARB_LOW;
	     side++)
		p->programmed[side] = s->power_up_seed < 0;
	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		p->queue[vl].credits = s->start.queue[vl].credits < 0 ? -1 : 0;
	write_tables(p, &s->start);
	dl_link_arbiter_init(&p->arbiter, &p->program[p->current]);
	return fill_queues(p, &s->start);
}

static int64_t blocks(uint32_t bytes)
{
	return dl_link_credit_units(DL_LINK_CREDIT_IBA, bytes);
}

static unsigned int sendable(const struct port *p)
{
	unsigned int vls = 0;

	for (unsigned int vl = 0; vl < p->options.nvls; vl++) {
		const struct queue *q = &p->queue[vl];

		if (q->head < q->n &&
		    (q->credits < 0 || blocks(q->bytes[q->head]) <= q->credits))
			vls |= 1u << vl;
	}
	return vls;
}

static void drop_unlisted(struct port *p)
{
	for (unsigned int vl = 0; vl < p->options.nvls; vl++) {
		struct queue *q = &p->queue[vl];

		if (dl_link_arb_drops(&p->program[p->current], vl)) {
			q->dropped += q->n - q->head;
			q->head = q->n;
		}
	}
}

/* Take the picked packet from its queue.  Returns its size. */
static uint32_t take(struct port *p, const struct dl_link_pick *pick)
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
		q->credits -= blocks(bytes);
	if (pick->side != DL_LINK_ARB_NONE && !p->programmed[pick->side])
		p->used_undefined = true;
	return bytes;
}

/* Room for one more.  NULL: out of memory. */
static struct sent *add_sent(struct port *p)
{
	uint32_t cap = p->sent_cap ? 2 * p->sent_cap : 256;
	struct sent *more;

	if (p->nsent == p->sent_cap) {
		more = realloc(p->sent, cap * sizeof(*more));
		if (!more)
			return NULL;
		p->sent = more;
		p->sent_cap = cap;
	}
	return &p->sent[p->nsent++];
}

static int run(struct port *p)
{
	const struct arb_scenario *s = p->scenario;
	struct dl_link_pick pick;
	struct sent *sent;
	int err = 0;

	while (s->stop_after < 0 || p->nsent < s->stop_after) {
		while (!err && p->next_event < s->nevents &&
		       s->events[p->next_event].after <= p->nsent)
			err = happen(p, &s->events[p->next_event++]);
		if (err)
			return err;
		drop_unlisted(p);
		if (dl_link_arbiter_pick(&p->arbiter, p->smp, p->fcp,
					 sendable(p), &pick) == DL_LINK_NOTHING)
			return 0;
		sent = add_sent(p);
		if (!sent)
			return -ENOMEM;
		sent->pick = pick;
		sent->bytes = take(p, &pick);
		sent->limited = p->arb.high_limit != DL_LINK_ARB_UNLIMITED;
		dl_link_arbiter_charge(&p->arbiter, &pick, sent->bytes,
				       &sent->after);
	}
	return 0;
}

static void finish(struct port *p)
{
	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		free(p->queue[vl].bytes);
	free(p->sent);
}

/* ---- what a person should know beside the result ----------------------- */

static void warn_of_cuts(const struct dl_log *log, const char *path,
			 const struct arb_event *e, int64_t high_cap,
			 int64_t low_cap)
{
	static const char *const names[] = { "high", "low" };
	const int64_t caps[] = { high_cap, low_cap };

	for (unsigned int side = DL_LINK_ARB_HIGH; side <= DL_LINK_ARB_LOW;
	     side++)
		if (e->side[side].n > caps[side])
			dl_log(log, DL_LOG_WARNING,
			       "%s:%u: %s: %d entries beyond "
			       "%s_cap are cut",
			       path, e->side[side].line, names[side],
			       (int)(e->side[side].n - caps[side]),
			       names[side]);
}

static void warn(const struct dl_log *log, const char *path,
		 const struct port *p)
{
	const struct arb_scenario *s = p->scenario;

	warn_of_cuts(log, path, &s->start, s->high_cap, s->low_cap);
	for (uint32_t i = 0; i < s->nevents; i++)
		warn_of_cuts(log, path, &s->events[i], s->high_cap, s->low_cap);
	if (s->vls == 1 && (s->start.side[DL_LINK_ARB_HIGH].given ||
			    s->start.side[DL_LINK_ARB_LOW].given))
		dl_log(log, DL_LOG_WARNING,
		       "%s: a port with one data VL has no "
		       "tables: they do nothing",
		       path);
	if (p->used_undefined)
		dl_log(log, DL_LOG_WARNING,
		       "%s: data was sent by a table that "
		       "nobody has programmed",
		       path);
	for (uint32_t i = p->next_event; i < s->nevents; i++)
		dl_log(log, DL_LOG_WARNING,
		       "%s:%u: the event after %lld packets "
		       "did not happen: the port sent %u",
		       path, s->events[i].line, (long long)s->events[i].after,
		       p->nsent);
}

/* ---- output ------------------------------------------------------------ */

static const char *const kinds[] = { "nothing", "smp", "fcp", "data" };
static const char *const sides[] = { "high", "low", "none" };

static bool by_entry(const struct sent *s)
{
	return s->pick.side != DL_LINK_ARB_NONE;
}

static json_t *number_or_null(bool meaningful, int64_t number)
{
	return meaningful ? json_integer(number) : json_null();
}

static json_t *packet_json(const struct sent *s, uint32_t n)
{
	bool entry = by_entry(s);

	return json_pack(
		"{s:i, s:s, s:o, s:s, s:o, s:i, s:o, s:o}", "n", (int)n, "kind",
		kinds[s->pick.kind], "vl",
		number_or_null(s->pick.kind != DL_LINK_FCP, s->pick.vl),
		"table", sides[s->pick.side], "entry",
		number_or_null(entry, s->pick.entry), "bytes", (int)s->bytes,
		"weight_after", number_or_null(entry, s->after.weight),
		"counter_after",
		number_or_null(entry && s->limited, s->after.counter));
}

static int set_count(json_t *object, unsigned int vl, uint32_t count)
{
	char name[4];

	if (!count)
		return 0;
	snprintf(name, sizeof(name), "%u", vl);
	return json_object_set_new(object, name, json_integer(count));
}

static json_t *result_json(const struct port *p)
{
	json_t *packets = json_array(), *left = json_object();
	json_t *dropped = json_object();
	int err = 0;

	for (uint32_t i = 0; i < p->nsent; i++)
		err |= json_array_append_new(packets,
					     packet_json(&p->sent[i], i + 1));
	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++) {
		const struct queue *q = &p->queue[vl];

		err |= set_count(left, vl, q->n - q->head);
		err |= set_count(dropped, vl, q->dropped);
	}
	if (!err)
		return json_pack("{s:o, s:o, s:o}", "packets", packets, "left",
				 left, "dropped", dropped);
	json_decref(packets);
	json_decref(left);
	json_decref(dropped);
	return NULL;
}

static const char *number_or_dash(char text[16], bool meaningful, int number)
{
	snprintf(text, 16, meaningful ? "%d" : "-", number);
	return text;
}

/* What the arbiter does next on account of this packet. */
static const char *remark(const struct sent *s)
{
	bool expired = s->pick.side == DL_LINK_ARB_HIGH && s->limited &&
		       s->after.counter < 0;

	if (!by_entry(s))
		return "";
	if (s->after.weight > 0)
		return expired ? "  counter below 0" : "";
	return expired ? "  entry used up, counter below 0" : "  entry used up";
}

static void print_packet(const struct sent *s, uint32_t n)
{
	char vl[16], entry[16], weight[16], counter[16];

	printf("%6u  %-4s  %2s  %-5s  %5s  %5u  %6s  %7s%s\n", n,
	       kinds[s->pick.kind],
	       number_or_dash(vl, s->pick.kind != DL_LINK_FCP, s->pick.vl),
	       sides[s->pick.side],
	       number_or_dash(entry, by_entry(s), s->pick.entry), s->bytes,
	       number_or_dash(weight, by_entry(s), s->after.weight),
	       number_or_dash(counter, by_entry(s) && s->limited,
			      s->after.counter),
	       remark(s));
}

static void print_queue(const struct port *p, unsigned int vl)
{
	const struct dl_link_arb_program *program = &p->program[p->current];
	const struct queue *q = &p->queue[vl];

	if (q->dropped)
		printf("VL %u: %u dropped, for no entry names it\n", vl,
		       q->dropped);
	if (q->head == q->n)
		return;
	printf("VL %u: %u left", vl, q->n - q->head);
	if (q->credits >= 0 && blocks(q->bytes[q->head]) > q->credits)
		printf("; the next needs %lld credits, there are %lld",
		       (long long)blocks(q->bytes[q->head]),
		       (long long)q->credits);
	if (p->options.nvls > 1 && !(program->listed >> vl & 1))
		printf("; no entry names it");
	putchar('\n');
}

static void print_table(const struct port *p)
{
	printf("     n  kind  VL  table  entry  bytes  weight  counter\n");
	for (uint32_t i = 0; i < p->nsent; i++)
		print_packet(&p->sent[i], i + 1);
	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		print_queue(p, vl);
}

/* ---- the command ------------------------------------------------------- */

static const struct dl_setting args[] = { { "scenario", DL_SETTING_BORROW,
					    .size = sizeof(const char *),
					    .required = true },
					  { 0 } };

static const struct tool_usage usage = {
	.args = args,
	.flags = TOOL_JSON,
	.args_doc = "FILE.yaml",
	.doc = "Let one transmit port arbitrate between its VLs, packet by "
	       "packet."
	       "\v"
	       "Weights are in blocks of 64 bytes, the counter "
	       "(HighPriCounter) "
	       "in words of 4 bytes; both as they stand after the packet and "
	       "before any reload.\n"
	       "\n"
	       "  dateline arbitrate arbitrate-figure-25-10.yaml\n"
	       "\n"
	       "dateline-arbitrate(1) explains the file and the example.",
};

int tool_cmd_arbitrate(struct tool *tool, int argc, char **argv)
{
	struct arb_scenario scenario;
	const char *path = NULL;
	struct port port;
	int err;

	tool_options(tool, &usage, argc, argv, &path);
	err = arb_scenario_read(path, &tool->log, &scenario);
	if (err)
		return tool_exit_status(err);
	err = start(&port, &scenario);
	if (!err)
		err = run(&port);
	if (err) {
		dl_log(&tool->log, DL_LOG_ERROR, "%s: %s", path,
		       strerror(-err));
	} else {
		warn(&tool->log, path, &port);
		if (tool->json)
			err = tool_print_json(tool, result_json(&port));
		else
			print_table(&port);
	}
	finish(&port);
	arb_scenario_free(&scenario);
	return tool_exit_status(err);
}
