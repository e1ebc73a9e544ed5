/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline credits`: the flow control of one VL of one link, event by event.
 *
 * Sender and receiver are those of lib/link, as the emulator's are; flow-control
 * packets go through the codec, and a corrupted one has a flipped bit.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/link.h"
#include "tools/common/steps.h"

#define BUFFER_MAX 1000000 /* blocks */

enum what { SEND, LOSE, OFFLOAD, FCP, CORRUPT_FCP };

#define NAMES "send lose offload fcp corrupt_fcp"

static const char *const names[] = { "send", "lose", "offload", "fcp", "corrupt_fcp" };

enum { RECEIVER, TRANSMITTER };

static const char *const ends[] = { "receiver", "transmitter" };

struct event {
	unsigned int what, line;
	unsigned int end; /* of a flow-control packet: who sends it */
	int64_t amount;
};

/* Registers at the start; -1: not given. */
struct start {
	int64_t fctbs, abr, free; /* iba */
	int64_t tx_cnt, fwd_cnt;  /* pcie */
	unsigned int line;
};

struct scenario {
	unsigned int scheme;
	int64_t buffer_blocks, chunk_blocks, buffer_packets;
	struct start start;
	struct event *events;
	uint32_t nevents;
};

/* ---- reading ----------------------------------------------------------- */

static int credits_read_start(struct dl_yaml *y, const struct dl_yaml_node *value,
			      const struct dl_setting *key, void *to)
{
#define START(member)                                                        \
	{                                                                    \
#member, DL_SETTING_NUMBER, DL_MEMBER(struct start, member), \
			.max = DL_LINK_CREDIT_MASK                           \
	}
	static const struct dl_setting keys[] = {
		START(fctbs),
		START(abr),
		START(tx_cnt),
		START(fwd_cnt),
		{ "free", DL_SETTING_NUMBER, DL_MEMBER(struct start, free), .max = BUFFER_MAX },
		{ 0 }
	};
#undef START
	struct start *start = dl_setting_member(key, to);

	start->line = dl_yaml_line(value);
	return dl_yaml_mapping(y, value, keys, start);
}

static int credits_read_event(struct dl_yaml *y, const struct dl_yaml_node *n, struct event *event)
{
#define AMOUNT(most) DL_SETTING_NUMBER, DL_MEMBER(struct event, amount), .min = 1, .max = most
#define END DL_SETTING_WORD, DL_MEMBER(struct event, end), .words = "receiver transmitter"
	static const struct dl_setting keys[] = { /* as in enum what */
						  { "send", AMOUNT(DL_LINK_CREDIT_MASK) },
						  { "lose", AMOUNT(DL_LINK_CREDIT_MASK) },
						  { "offload", AMOUNT(BUFFER_MAX) },
						  { "fcp", END },
						  { "corrupt_fcp", END },
						  { 0 }
	};
#undef AMOUNT
#undef END
	const struct dl_yaml_node *key, *value;
	unsigned int what;
	int err = dl_yaml_mapping(y, n, keys, event);

	if (err)
		return err;
	if (dl_yaml_count(n) != 1 || !dl_yaml_pair(y, n, 0, &key, &value))
		return dl_yaml_error(y, n, "expected one thing that happens in each event");
	event->line = dl_yaml_line(n);
	err = dl_yaml_word(y, key, "event", NAMES, &what);
	event->what = what;
	return err;
}

static int credits_read_events(struct dl_yaml *y, const struct dl_yaml_node *value,
			       const struct dl_setting *key, void *to)
{
	struct scenario *c = to;
	const struct dl_yaml_node *item;
	int err = 0;

	if (!dl_yaml_is_list(value))
		return dl_yaml_error(y, value, "%s: expected a list of events", key->name);
	c->events = calloc(dl_yaml_count(value) + 1, sizeof(*c->events));
	if (!c->events)
		return dl_yaml_no_memory(y, value);
	while (!err && (item = dl_yaml_item(y, value, c->nevents)))
		err = credits_read_event(y, item, &c->events[c->nevents++]);
	return err;
}

#define MEMBER(member) DL_MEMBER(struct scenario, member)

static const struct dl_setting scenario_keys[] = {
	{ "scheme", DL_SETTING_WORD, MEMBER(scheme), .words = "iba pcie" },
	{ "buffer_blocks", DL_SETTING_NUMBER, MEMBER(buffer_blocks), 1, BUFFER_MAX },
	{ "chunk_blocks", DL_SETTING_NUMBER, MEMBER(chunk_blocks), 1, BUFFER_MAX },
	{ "buffer_packets", DL_SETTING_NUMBER, MEMBER(buffer_packets), 1, DL_LINK_CREDIT_WINDOW },
	{ "start", .read = credits_read_start, MEMBER(start) },
	{ "events", .read = credits_read_events, .required = true },
	{ 0 }
};

static int credits_read_scenario(const char *path, const struct dl_log *log, struct scenario *c)
{
	bool iba;
	int err;

	*c = (struct scenario){
		.buffer_blocks = -1,
		.chunk_blocks = 1,
		.buffer_packets = -1,
		.start = { -1, -1, -1, -1, -1, 1 },
	};
	err = dl_yaml_read(path, log, scenario_keys, c);
	iba = c->scheme == DL_LINK_CREDIT_IBA;
	if (!err && (iba ? c->buffer_blocks : c->buffer_packets) < 0) {
		dl_log(log, DL_LOG_ERROR, "%s:1: expected the key %s, since the scheme is %s", path,
		       iba ? "buffer_blocks" : "buffer_packets", iba ? "iba" : "pcie");
		err = -EINVAL;
	}
	return err;
}

/* ---- the link ---------------------------------------------------------- */

struct link {
	struct scenario scenario;
	struct dl_link_credit_terms terms;
	struct dl_link_credit_tx tx, idle_tx; /* idle: of the other direction */
	struct dl_link_credit_rx rx, idle_rx;
	uint64_t tx_cnt;  /* not modulo 4096 */
	uint64_t dropped; /* packets that found no room (C5) */
	uint32_t *stored; /* units of each packet in the buffer */
	uint32_t head, n;
	uint64_t occupied; /* units in the buffer */
};

static void credits_store(struct link *l, uint32_t units)
{
	l->stored[l->n++] = units;
	l->occupied += units;
}

/* The registers of an IBA link at the start.  Returns what is wrong. */
static const char *credits_start_iba(struct link *l, const struct start *s)
{
	uint32_t space = l->rx.free * l->terms.chunk;

	if (s->fctbs >= 0)
		l->tx.sent = s->fctbs;
	if (s->abr >= 0)
		l->rx.received = s->abr;
	if (s->free > space)
		return "free: expected no more than the buffer holds";
	if (s->free >= 0 && s->free < space) {
		credits_store(l, space - s->free);
		l->rx.free -= dl_link_credit_chunks(&l->terms, space - s->free);
	}
	return NULL;
}

static const char *credits_start_pcie(struct link *l, const struct start *s)
{
	int64_t tx_cnt = s->tx_cnt < 0 ? 0 : s->tx_cnt;
	int64_t stored = tx_cnt - (s->fwd_cnt < 0 ? 0 : s->fwd_cnt);

	l->tx.sent = l->rx.received = l->tx_cnt = tx_cnt;
	if (stored < 0 || stored > l->rx.free)
		return "expected fwd_cnt <= tx_cnt <= fwd_cnt + buffer_packets";
	l->rx.free -= stored;
	if (stored)
		credits_store(l, stored);
	return NULL;
}

static int credits_start_link(struct link *l, const char *path, const struct dl_log *log)
{
	const struct scenario *c = &l->scenario;
	bool iba = c->scheme == DL_LINK_CREDIT_IBA;
	const char *wrong;

	l->stored = malloc((c->nevents + 1) * sizeof(*l->stored));
	if (!l->stored)
		return -ENOMEM;
	dl_link_credit_terms_init(&l->terms, c->scheme, iba ? c->buffer_blocks : c->buffer_packets,
				  iba ? c->chunk_blocks : 1, 1);
	l->rx.free = l->idle_rx.free = l->terms.size;
	dl_link_credit_start(&l->terms, &l->tx, &l->rx);
	dl_link_credit_start(&l->terms, &l->idle_tx, &l->idle_rx);
	if (iba && c->buffer_blocks % c->chunk_blocks)
		dl_log(log, DL_LOG_WARNING,
		       "%s: the last %lld blocks of the buffer fill no chunk and are not used",
		       path, (long long)(c->buffer_blocks % c->chunk_blocks));
	wrong = iba ? credits_start_iba(l, &c->start) : credits_start_pcie(l, &c->start);
	if (wrong) {
		dl_log(log, DL_LOG_ERROR, "%s:%u: %s", path, c->start.line, wrong);
		return -EINVAL;
	}
	dl_link_credit_update(&l->terms, &l->tx, dl_link_credit_of(&l->terms, &l->rx));
	return 0;
}

static int credits_read_link(void *model, const char *path, const struct dl_log *log)
{
	struct link *l = model;
	int err = credits_read_scenario(path, log, &l->scenario);

	return err ? err : credits_start_link(l, path, log);
}

static void credits_release(void *model)
{
	struct link *l = model;

	free(l->stored);
	free(l->scenario.events);
}

/* Move units on, packet by packet; those moved in part keep their place. */
static bool credits_offload(struct link *l, uint64_t units)
{
	if (units > l->occupied)
		return false;
	l->occupied -= units;
	while (units) {
		uint32_t *first = &l->stored[l->head];
		uint32_t part = *first < units ? *first : units;
		uint32_t before = dl_link_credit_chunks(&l->terms, *first);

		*first -= part;
		units -= part;
		dl_link_credit_release_chunks(&l->rx,
					      before - dl_link_credit_chunks(&l->terms, *first));
		l->head += !*first;
	}
	return true;
}

/* A flow-control packet crosses the link, as its six bytes. */
static bool credits_flow_control(struct link *l, unsigned int end, bool corrupt)
{
	uint8_t wire[DL_LINK_FCP_BYTES];
	struct dl_link_fcp fcp;

	if (end == RECEIVER)
		dl_link_fcp_make(DL_LINK_ACTIVE, 0, &l->terms, &l->idle_tx, &l->rx, &fcp);
	else
		dl_link_fcp_make(DL_LINK_ACTIVE, 0, &l->terms, &l->tx, &l->idle_rx, &fcp);
	dl_link_fcp_encode(&fcp, wire);
	if (corrupt)
		wire[3] ^= 1;
	if (dl_link_fcp_decode(wire, &fcp))
		return false;
	if (end == RECEIVER)
		dl_link_fcp_take(DL_LINK_ACTIVE, &fcp, &l->terms, &l->tx, &l->idle_rx);
	else
		dl_link_fcp_take(DL_LINK_ACTIVE, &fcp, &l->terms, &l->idle_tx, &l->rx);
	return true;
}

static bool credits_do_event(struct link *l, const struct event *e)
{
	switch (e->what) {
	case SEND:
	case LOSE:
		if (!dl_link_credit_may_send(&l->tx, e->amount))
			return false;
		dl_link_credit_spend(&l->tx, e->amount);
		l->tx_cnt += e->amount;
		if (e->what == LOSE)
			return true;
		if (dl_link_credit_receive(&l->terms, &l->rx, e->amount))
			credits_store(l, e->amount);
		else
			l->dropped++;
		return true;
	case OFFLOAD:
		return credits_offload(l, e->amount);
	default:
		return credits_flow_control(l, e->end, e->what == CORRUPT_FCP);
	}
}

/* ---- steps ------------------------------------------------------------- */

/* The registers after an event, or at the start; `cr`: what was checked. */
static json_t *credits_step_json(const struct link *l, const char *event, bool accepted,
				 uint32_t cr)
{
	uint32_t credit = dl_link_credit_of(&l->terms, &l->rx);

	if (l->scenario.scheme == DL_LINK_CREDIT_PCIE)
		return json_pack(
			"{s:s, s:b, s:I, s:I, s:I, s:I, s:I}", "event", event, "accepted", accepted,
			"tx_cnt", (json_int_t)l->tx_cnt, "crd_bal",
			(json_int_t)dl_link_credit_balance(&l->tx), "fwd_cnt",
			(json_int_t)(l->tx_cnt - ((l->tx.sent - credit) & DL_LINK_CREDIT_MASK)),
			"occupied", (json_int_t)(l->terms.size - l->rx.free), "dropped",
			(json_int_t)l->dropped);
	return json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "event", event,
			 "accepted", accepted, "fctbs", (json_int_t)l->tx.sent, "cl",
			 (json_int_t)l->tx.limit, "cr", (json_int_t)cr, "abr",
			 (json_int_t)l->rx.received, "free",
			 (json_int_t)l->rx.free * l->terms.chunk, "fccl", (json_int_t)credit,
			 "dropped", (json_int_t)l->dropped);
}

static json_t *credits_before(const void *model)
{
	const struct link *l = model;

	return json_pack("{s:o}", "start", credits_step_json(l, "start", true, l->tx.sent));
}

static int credits_run(void *model, struct steps *steps)
{
	struct link *l = model;
	json_t *step;
	int err = 0;

	for (uint32_t i = 0; !err && i < l->scenario.nevents; i++) {
		const struct event *e = &l->scenario.events[i];
		uint32_t cr = l->tx.sent;
		bool accepted;

		if (e->what == SEND || e->what == LOSE)
			cr = (cr + e->amount) & DL_LINK_CREDIT_MASK;
		accepted = credits_do_event(l, e);
		step = credits_step_json(l, names[e->what], accepted, cr);
		if (e->what < FCP)
			json_object_set_new(step, "amount", json_integer(e->amount));
		else
			json_object_set_new(step, "end", json_string(ends[e->end]));
		err = steps_add(steps, step);
	}
	return err;
}

/* ---- for people -------------------------------------------------------- */

static void credits_print_step(const json_t *step, FILE *to)
{
	const char *name = json_string_value(tool_at(step, "event"));
	int ahead = (tool_int_at(step, "cl") - tool_int_at(step, "cr")) & DL_LINK_CREDIT_MASK;
	char text[40];

	if (tool_has(step, "amount"))
		snprintf(text, sizeof(text), "%s %lld%s", name,
			 (long long)tool_int_at(step, "amount"),
			 tool_true_at(step, "accepted") ? "" : ": refused");
	else if (tool_has(step, "end"))
		snprintf(text, sizeof(text), "%s: %s", name,
			 json_string_value(tool_at(step, "end")));
	else
		snprintf(text, sizeof(text), "%s", name);
	fprintf(to, "%-24s", text);
	if (ahead > (int)DL_LINK_CREDIT_WINDOW)
		ahead -= DL_LINK_CREDIT_MODULUS;
	if (tool_has(step, "tx_cnt")) {
		tool_print(to, step,
			   "  {tx_cnt:6}  {crd_bal:7}  {fwd_cnt:7}  {occupied:8}  {dropped:7}\n");
		return;
	}
	tool_print(to, step, "  {fctbs:5}  {cr:4}  {cl:4}");
	fprintf(to, "  %5d", ahead);
	tool_print(to, step, "  {abr:4}  {free:6}  {fccl:4}  {dropped:7}\n");
}

static void credits_print_before(const json_t *document, FILE *to)
{
	fprintf(to, "%-24s%s\n", "event",
		tool_has(document, "start.tx_cnt") ?
			"  Tx_Cnt  Crd_Bal  Fwd_Cnt  occupied  dropped" :
			"  FCTBS    CR    CL  CL-CR   ABR    free  FCCL  dropped");
	credits_print_step(tool_at(document, "start"), to);
}

int tool_cmd_credits(struct tool *tool, int argc, char **argv)
{
	static const struct steps_model model = {
		.list = "steps",
		.size = sizeof(struct link),
		.read = credits_read_link,
		.run = credits_run,
		.before = credits_before,
		.print_before = credits_print_before,
		.print_step = credits_print_step,
		.release = credits_release,
	};
	static const char doc[] = "Follow the flow control of one VL of a link, event by event."
				  "\vEach line shows the registers after the event, in blocks of "
				  "64 bytes (iba) or packets (pcie); CR is what was checked before "
				  "sending.\n"
				  "\n"
				  "  dateline credits credits-receiver.yaml\n"
				  "\n"
				  "dateline-credits(1) explains the file and the example.";

	return steps_command(tool, &model, doc, argc, argv);
}
