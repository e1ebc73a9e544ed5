/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline credits`: the flow control of one VL of one link, event by event.
 *
 * Sender and receiver are those of lib/link; flow-control packets go through
 * the codec, and a corrupted one is one with a bit turned over.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/link.h"
#include "scenario.h"
#include "tool.h"

#define BUFFER_MAX 1000000 /* blocks */

enum what { SEND, LOSE, OFFLOAD, FCP, CORRUPT_FCP };

static const char *const names[] = { "send", "lose", "offload", "fcp",
				     "corrupt_fcp" };

enum { RECEIVER, TRANSMITTER };

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

static int read_start(struct dl_scenario *s, const yaml_node_t *value,
		      const struct dl_key *key, void *to)
{
#define START(member)                                     \
	{                                                 \
		.name = #member, .read = dl_key_number,   \
		.offset = offsetof(struct start, member), \
		.max = DL_LINK_CREDIT_MASK                \
	}
	static const struct dl_key keys[] = { START(fctbs),
					      START(abr),
					      START(tx_cnt),
					      START(fwd_cnt),
					      { .name = "free",
						.read = dl_key_number,
						.offset = offsetof(struct start,
								   free),
						.max = BUFFER_MAX },
					      { 0 } };
#undef START

	struct start *start = (void *)((char *)to + key->offset);

	start->line = dl_scenario_line(value);
	return dl_scenario_mapping(s, value, keys, start);
}

static int read_end(struct dl_scenario *s, const yaml_node_t *value,
		    const struct dl_key *key, void *to)
{
	struct event *event = to;

	return dl_scenario_word(s, value, key->name, "receiver transmitter",
				&event->end);
}

static int read_event(struct dl_scenario *s, const yaml_node_t *n,
		      struct event *event)
{
#define AMOUNT(word, most)                                          \
	{                                                           \
		.name = word, .read = dl_key_number,                \
		.offset = offsetof(struct event, amount), .min = 1, \
		.max = most                                         \
	}
	static const struct dl_key keys[] = {
		/* as in enum what */
		AMOUNT("send", DL_LINK_CREDIT_MASK),
		AMOUNT("lose", DL_LINK_CREDIT_MASK),
		AMOUNT("offload", BUFFER_MAX),
		{ .name = "fcp", .read = read_end },
		{ .name = "corrupt_fcp", .read = read_end },
		{ 0 }
	};
#undef AMOUNT
	int err = dl_scenario_mapping(s, n, keys, event);
	const yaml_node_t *name;

	if (err)
		return err;
	if (!dl_scenario_pair(n, 0) || dl_scenario_pair(n, 1))
		return dl_scenario_error(s, n,
					 "expected one thing that happens"
					 " in each event");
	name = dl_scenario_node(s, dl_scenario_pair(n, 0)->key);
	while (strcmp(keys[event->what].name,
		      (const char *)name->data.scalar.value))
		event->what++;
	event->line = dl_scenario_line(n);
	return 0;
}

static int read_events(struct dl_scenario *s, const yaml_node_t *value,
		       const struct dl_key *key, void *to)
{
	struct scenario *c = to;
	const yaml_node_t *item;
	size_t n;
	int err = 0;

	if (value->type != YAML_SEQUENCE_NODE)
		return dl_scenario_error(s, value,
					 "%s: expected a list of "
					 "events",
					 key->name);
	n = value->data.sequence.items.top - value->data.sequence.items.start;
	c->events = calloc(n + 1, sizeof(*c->events));
	if (!c->events)
		return dl_scenario_error(s, value, "out of memory"), -ENOMEM;
	while (!err && (item = dl_scenario_item(s, value, c->nevents)))
		err = read_event(s, item, &c->events[c->nevents++]);
	return err;
}

#define MEMBER(member) .offset = offsetof(struct scenario, member)

static const struct dl_key scenario_keys[] = {
	{ .name = "scheme",
	  .read = dl_key_word,
	  MEMBER(scheme),
	  .words = "iba pcie" },
	{ .name = "buffer_blocks",
	  .read = dl_key_number,
	  MEMBER(buffer_blocks),
	  .min = 1,
	  .max = BUFFER_MAX },
	{ .name = "chunk_blocks",
	  .read = dl_key_number,
	  MEMBER(chunk_blocks),
	  .min = 1,
	  .max = BUFFER_MAX },
	{ .name = "buffer_packets",
	  .read = dl_key_number,
	  MEMBER(buffer_packets),
	  .min = 1,
	  .max = DL_LINK_CREDIT_WINDOW },
	{ .name = "start", .read = read_start, MEMBER(start) },
	{ .name = "events", .read = read_events, .required = true },
	{ 0 }
};

static int read_scenario(const char *path, const struct dl_log *log,
			 struct scenario *c)
{
	int err;

	*c = (struct scenario){
		.buffer_blocks = -1,
		.chunk_blocks = 1,
		.buffer_packets = -1,
		.start = { -1, -1, -1, -1, -1, 1 },
	};
	err = dl_scenario_read(path, log, scenario_keys, c);
	if (!err && c->scheme == DL_LINK_CREDIT_IBA && c->buffer_blocks < 0) {
		dl_log(log, DL_LOG_ERROR,
		       "%s:1: expected the key buffer_blocks, "
		       "since the scheme is iba",
		       path);
		err = -EINVAL;
	}
	if (!err && c->scheme == DL_LINK_CREDIT_PCIE && c->buffer_packets < 0) {
		dl_log(log, DL_LOG_ERROR,
		       "%s:1: expected the key buffer_packets, "
		       "since the scheme is pcie",
		       path);
		err = -EINVAL;
	}
	if (err)
		free(c->events);
	return err;
}

/* ---- the link ---------------------------------------------------------- */

struct link {
	struct dl_link_credit_tx tx;
	struct dl_link_credit_rx rx;
	uint32_t *stored; /* units of each packet in the buffer */
	uint32_t head, n;
	uint64_t occupied; /* units in the buffer */
};

static void store(struct link *l, uint32_t units)
{
	l->stored[l->n++] = units;
	l->occupied += units;
}

/* The registers of an IBA link at the start.  Returns what is wrong. */
static const char *start_iba(struct link *l, const struct start *s)
{
	uint32_t space = l->rx.free * l->rx.chunk;

	if (s->fctbs >= 0)
		l->tx.sent = s->fctbs;
	if (s->abr >= 0)
		l->rx.count = s->abr;
	if (s->free > space)
		return "free: expected no more than the buffer holds";
	if (s->free >= 0 && s->free < space) {
		store(l, space - s->free);
		l->rx.free -= dl_link_credit_chunks(&l->rx, space - s->free);
	}
	return NULL;
}

static const char *start_pcie(struct link *l, const struct start *s)
{
	int64_t stored;

	if (s->tx_cnt >= 0)
		l->tx.sent = s->tx_cnt;
	if (s->fwd_cnt >= 0)
		l->rx.count = s->fwd_cnt;
	stored = (int64_t)l->tx.sent - l->rx.count;
	if (stored < 0 || stored > l->rx.free)
		return "expected fwd_cnt <= tx_cnt <= fwd_cnt + "
		       "buffer_packets";
	l->rx.free -= stored;
	if (stored)
		store(l, stored);
	return NULL;
}

static int start_link(const char *path, const struct dl_log *log,
		      const struct scenario *c, struct link *l)
{
	bool iba = c->scheme == DL_LINK_CREDIT_IBA;
	const char *wrong;

	*l = (struct link){ 0 };
	l->stored = malloc((c->nevents + 1) * sizeof(*l->stored));
	if (!l->stored)
		return -ENOMEM;
	dl_link_credit_rx_init(&l->rx, c->scheme,
			       iba ? c->buffer_blocks : c->buffer_packets,
			       iba ? c->chunk_blocks : 1);
	dl_link_credit_tx_init(&l->tx, &l->rx);
	if (iba && c->buffer_blocks % c->chunk_blocks)
		dl_log(log, DL_LOG_WARNING,
		       "%s: the last %lld blocks of the buffer"
		       " fill no chunk and are not used",
		       path, (long long)(c->buffer_blocks % c->chunk_blocks));
	wrong = iba ? start_iba(l, &c->start) : start_pcie(l, &c->start);
	if (wrong) {
		dl_log(log, DL_LOG_ERROR, "%s:%u: %s", path, c->start.line,
		       wrong);
		return -EINVAL;
	}
	dl_link_credit_update(&l->tx, dl_link_credit_of(&l->rx));
	return 0;
}

/* Move units on, packet by packet; those moved in part keep their place. */
static bool offload(struct link *l, uint64_t units)
{
	if (units > l->occupied)
		return false;
	l->occupied -= units;
	while (units) {
		uint32_t *first = &l->stored[l->head];
		uint32_t part = *first < units ? *first : units;
		uint32_t before = dl_link_credit_chunks(&l->rx, *first);

		*first -= part;
		units -= part;
		dl_link_credit_release_chunks(
			&l->rx, before - dl_link_credit_chunks(&l->rx, *first));
		l->head += !*first;
	}
	return true;
}

/* A flow-control packet crosses the link, as its six bytes. */
static bool flow_control(struct link *l, unsigned int end, bool corrupt)
{
	uint8_t wire[DL_LINK_FCP_BYTES];
	struct dl_link_fcp fcp = { .op = DL_LINK_FCP_NORMAL };

	if (end == RECEIVER)
		fcp.fccl = dl_link_credit_of(&l->rx);
	else
		fcp.fctbs = dl_link_credit_sync_of(&l->tx);
	dl_link_fcp_encode(&fcp, wire);
	if (corrupt)
		wire[3] ^= 1;
	if (dl_link_fcp_decode(wire, &fcp))
		return false;
	if (end == RECEIVER)
		dl_link_credit_update(&l->tx, fcp.fccl);
	else
		dl_link_credit_sync(&l->rx, fcp.fctbs);
	return true;
}

static bool happen(struct link *l, const struct event *e)
{
	switch (e->what) {
	case SEND:
	case LOSE:
		if (!dl_link_credit_may_send(&l->tx, e->amount))
			return false;
		dl_link_credit_spend(&l->tx, e->amount);
		if (e->what == SEND &&
		    dl_link_credit_receive(&l->rx, e->amount))
			store(l, e->amount);
		return true;
	case OFFLOAD:
		return offload(l, e->amount);
	default:
		return flow_control(l, e->end, e->what == CORRUPT_FCP);
	}
}

/* ---- output ------------------------------------------------------------ */

/* The registers after an event. */
struct step {
	const struct event *event; /* NULL: the start */
	bool accepted;
	uint32_t cr; /* what was checked */
	struct dl_link_credit_tx tx;
	struct dl_link_credit_rx rx;
};

static json_t *step_json(const struct step *s)
{
	const char *name = names[s->event->what];

	if (s->tx.scheme == DL_LINK_CREDIT_PCIE)
		return json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I}", "event",
				 name, "accepted", s->accepted, "tx_cnt",
				 (json_int_t)s->tx.sent, "crd_bal",
				 (json_int_t)s->tx.limit, "fwd_cnt",
				 (json_int_t)s->rx.count, "occupied",
				 (json_int_t)(s->rx.size - s->rx.free),
				 "dropped", (json_int_t)s->rx.dropped);
	return json_pack("{s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "event", name, "accepted", s->accepted, "fctbs",
			 (json_int_t)s->tx.sent, "cl", (json_int_t)s->tx.limit,
			 "cr", (json_int_t)s->cr, "abr",
			 (json_int_t)s->rx.count, "free",
			 (json_int_t)s->rx.free * s->rx.chunk, "fccl",
			 (json_int_t)dl_link_credit_of(&s->rx), "dropped",
			 (json_int_t)s->rx.dropped);
}

static void print_event(const struct event *e, bool accepted)
{
	static const char *const ends[] = { "receiver", "transmitter" };
	char text[40];

	if (!e)
		snprintf(text, sizeof(text), "start");
	else if (e->what < FCP)
		snprintf(text, sizeof(text), "%s %lld%s", names[e->what],
			 (long long)e->amount, accepted ? "" : ": refused");
	else
		snprintf(text, sizeof(text), "%s: %s", names[e->what],
			 ends[e->end]);
	printf("%-24s", text);
}

static void print_step(const struct step *s)
{
	int ahead = (s->tx.limit - s->cr) & DL_LINK_CREDIT_MASK;

	if (ahead > (int)DL_LINK_CREDIT_WINDOW)
		ahead -= DL_LINK_CREDIT_MODULUS;
	print_event(s->event, s->accepted);
	if (s->tx.scheme == DL_LINK_CREDIT_PCIE)
		printf("  %6u  %7u  %7u  %8u  %7llu\n", s->tx.sent, s->tx.limit,
		       s->rx.count, s->rx.size - s->rx.free,
		       (unsigned long long)s->rx.dropped);
	else
		printf("  %5u  %4u  %4u  %5d  %4u  %6u  %4u  %7llu\n",
		       s->tx.sent, s->cr, s->tx.limit, ahead, s->rx.count,
		       s->rx.free * s->rx.chunk, dl_link_credit_of(&s->rx),
		       (unsigned long long)s->rx.dropped);
}

static void print_heading(const struct link *l)
{
	if (l->tx.scheme == DL_LINK_CREDIT_PCIE)
		printf("%-24s  Tx_Cnt  Crd_Bal  Fwd_Cnt  occupied  dropped\n",
		       "event");
	else
		printf("%-24s  FCTBS    CR    CL  CL-CR   ABR    free  FCCL"
		       "  dropped\n",
		       "event");
}

/* Let everything happen; `steps` NULL: print a table. */
static int run(const struct scenario *c, struct link *l, json_t *steps)
{
	struct step step = { .tx = l->tx, .rx = l->rx, .cr = l->tx.sent };
	int err = 0;

	if (!steps) {
		print_heading(l);
		print_step(&step);
	}
	for (uint32_t i = 0; !err && i < c->nevents; i++) {
		const struct event *e = &c->events[i];

		step.event = e;
		step.cr = l->tx.sent;
		if (e->what == SEND || e->what == LOSE)
			step.cr = (step.cr + e->amount) & DL_LINK_CREDIT_MASK;
		step.accepted = happen(l, e);
		step.tx = l->tx;
		step.rx = l->rx;
		if (!steps)
			print_step(&step);
		else if (json_array_append_new(steps, step_json(&step)))
			err = -ENOMEM;
	}
	return err;
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
	.doc = "Follow the flow control of one VL of a link, event by event."
	       "\v"
	       "Each line shows the registers after the event, in blocks of 64 "
	       "bytes (iba) or packets (pcie); CR is what was checked before "
	       "sending.\n"
	       "\n"
	       "  dateline credits credits-receiver.yaml\n"
	       "\n"
	       "dateline-credits(1) explains the file and the example.",
};

int tool_cmd_credits(struct tool *tool, int argc, char **argv)
{
	struct scenario scenario;
	const char *path = NULL;
	json_t *steps = NULL;
	struct link link;
	int err;

	tool_options(tool, &usage, argc, argv, &path);
	err = read_scenario(path, &tool->log, &scenario);
	if (err)
		return tool_exit_status(err);
	err = start_link(path, &tool->log, &scenario, &link);
	if (err)
		goto out;
	if (tool->json) {
		steps = json_array();
		err = steps ? 0 : -ENOMEM;
	}
	if (!err)
		err = run(&scenario, &link, steps);
	if (err)
		dl_log(&tool->log, DL_LOG_ERROR, "%s: %s", path,
		       strerror(-err));
	else if (steps)
		err = tool_print_json(tool, json_pack("{s:O}", "steps", steps));
out:
	json_decref(steps);
	free(link.stored);
	free(scenario.events);
	return tool_exit_status(err);
}
