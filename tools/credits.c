/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `dateline credits`: the flow control of one VL of one link, or of several of a
 * chain, event by event.
 *
 * In a chain, link 0 leads from node 0 to node 1, link 1 from there to node 2, and
 * so on.  What node 1 forwards leaves its buffer and is sent over link 1, on the
 * same VL, or stays where it is.
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
#define LINKS_MAX 16

enum what { SEND, LOSE, OFFLOAD, FORWARD, FCP, CORRUPT_FCP, RESERVED_FCP };

enum { RECEIVER, TRANSMITTER, DUE }; /* due: the receiver, if it should report */

#define ENDS "receiver transmitter due"

static const char *const ends[] = { "receiver", "transmitter", "due" };

struct event {
	unsigned int what, line;
	unsigned int things; /* that happen, as read: one */
	unsigned int end;    /* of a flow-control packet: who sends it */
	uint32_t link, vl;
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
	uint32_t nlinks, nvls;
	int64_t later[LINKS_MAX]; /* buffers of the links after the first */
	struct start start;
	struct event *events;
	uint32_t nevents;
};

/* ---- reading ----------------------------------------------------------- */

static int credits_read_start(struct dl_yaml *y, const struct dl_yaml_node *value,
			      const struct dl_setting *key, void *to)
{
#define REGISTER(member) DL_SETTING_NUMBER, DL_MEMBER(struct start, member), 0, DL_LINK_CREDIT_MASK
	static const struct dl_setting keys[] = { { "fctbs", REGISTER(fctbs) },
						  { "abr", REGISTER(abr) },
						  { "tx_cnt", REGISTER(tx_cnt) },
						  { "fwd_cnt", REGISTER(fwd_cnt) },
						  { "free", DL_SETTING_NUMBER,
						    DL_MEMBER(struct start, free), 0, BUFFER_MAX },
						  { 0 } };
#undef REGISTER
	struct start *start = dl_setting_member(key, to);

	start->line = dl_yaml_line(value);
	return dl_yaml_mapping(y, value, keys, start);
}

static dl_yaml_reader credits_read_what;

static const struct dl_setting event_keys[] = {
	[SEND] = { "send", .read = credits_read_what, .max = DL_LINK_CREDIT_MASK },
	[LOSE] = { "lose", .read = credits_read_what, .max = DL_LINK_CREDIT_MASK },
	[OFFLOAD] = { "offload", .read = credits_read_what, .max = BUFFER_MAX },
	[FORWARD] = { "forward", .read = credits_read_what, .max = DL_LINK_CREDIT_MASK },
	[FCP] = { "fcp", .read = credits_read_what },
	[CORRUPT_FCP] = { "corrupt_fcp", .read = credits_read_what },
	[RESERVED_FCP] = { "reserved_fcp", .read = credits_read_what },
	{ "link", DL_SETTING_NUMBER, DL_MEMBER(struct event, link), 0, LINKS_MAX - 1 },
	{ "vl", DL_SETTING_NUMBER, DL_MEMBER(struct event, vl), 0, DL_LINK_VL_SMP - 1 },
	{ 0 }
};

/* What happens, and how much of it, or who sends the packet. */
static int credits_read_what(struct dl_yaml *y, const struct dl_yaml_node *value,
			     const struct dl_setting *key, void *to)
{
	struct event *event = to;

	event->things++;
	event->what = key - event_keys;
	return event->what < FCP ?
		       dl_yaml_number(y, value, key->name, 1, key->max, &event->amount) :
		       dl_yaml_word(y, value, key->name, ENDS, &event->end);
}

static int credits_read_event(struct dl_yaml *y, const struct dl_yaml_node *n, struct event *event)
{
	int err = dl_yaml_mapping(y, n, event_keys, event);

	event->line = dl_yaml_line(n);
	if (!err && event->things != 1)
		err = dl_yaml_error(y, n, "expected one thing that happens in each event");
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

/* The buffer of each link after the first, in blocks or packets. */
static int credits_read_later(struct dl_yaml *y, const struct dl_yaml_node *value,
			      const struct dl_setting *key, void *to)
{
	struct scenario *c = to;
	const struct dl_yaml_node *item;
	int err = 0;

	if (!dl_yaml_is_list(value) || dl_yaml_count(value) >= LINKS_MAX)
		return dl_yaml_error(y, value, "%s: expected a list of at most %d buffers",
				     key->name, LINKS_MAX - 1);
	c->nlinks = 1;
	while (!err && (item = dl_yaml_item(y, value, c->nlinks - 1)))
		err = dl_yaml_number(y, item, key->name, 1, BUFFER_MAX, &c->later[c->nlinks++]);
	return err;
}

#define MEMBER(member) DL_MEMBER(struct scenario, member)

static const struct dl_setting scenario_keys[] = {
	{ "scheme", DL_SETTING_WORD, MEMBER(scheme), .words = "iba pcie" },
	{ "buffer_blocks", DL_SETTING_NUMBER, MEMBER(buffer_blocks), 1, BUFFER_MAX },
	{ "chunk_blocks", DL_SETTING_NUMBER, MEMBER(chunk_blocks), 1, BUFFER_MAX },
	{ "buffer_packets", DL_SETTING_NUMBER, MEMBER(buffer_packets), 1, DL_LINK_CREDIT_WINDOW },
	{ "next_links", .read = credits_read_later },
	{ "vls", DL_SETTING_NUMBER, MEMBER(nvls), 1, DL_LINK_VL_SMP },
	{ "start", .read = credits_read_start, MEMBER(start) },
	{ "events", .read = credits_read_events, .required = true },
	{ 0 }
};

static int credits_read_scenario(const char *path, const struct dl_log *log, struct scenario *c)
{
	const char *wrong = NULL;
	unsigned int line = 1;
	bool iba;
	int err;

	*c = (struct scenario){
		.buffer_blocks = -1,
		.chunk_blocks = 1,
		.buffer_packets = -1,
		.nlinks = 1,
		.nvls = 1,
		.start = { -1, -1, -1, -1, -1, 1 },
	};
	err = dl_yaml_read(path, log, scenario_keys, c);
	iba = c->scheme == DL_LINK_CREDIT_IBA;
	if (err)
		return err;
	if (iba ? c->buffer_blocks < 0 : c->buffer_packets < 0)
		wrong = iba ? "expected the key buffer_blocks, since the scheme is iba" :
			      "expected the key buffer_packets, since the scheme is pcie";
	for (uint32_t i = 1; i < c->nlinks && !iba; i++)
		if (c->later[i] > DL_LINK_CREDIT_WINDOW)
			wrong = "next_links: expected at most 2048 packets";
	for (uint32_t i = 0; i < c->nevents && !wrong; i++) {
		const struct event *e = &c->events[i];

		line = e->line;
		if (e->link >= c->nlinks || e->vl >= c->nvls)
			wrong = "expected a link and a VL that there are";
		else if (e->what == FORWARD && e->link + 1 == c->nlinks)
			wrong = "forward: expected a link with another one behind it";
	}
	if (wrong)
		dl_log(log, DL_LOG_ERROR, "%s:%u: %s", path, line, wrong);
	return wrong ? -EINVAL : 0;
}

/* ---- the link ---------------------------------------------------------- */

struct link {
	struct dl_link_credit_terms terms;
	struct dl_link_credit_tx tx, idle_tx; /* idle: of the other direction */
	struct dl_link_credit_rx rx, idle_rx;
	uint64_t tx_cnt;  /* not modulo 4096 */
	uint64_t dropped; /* packets that found no room (C5) */
	uint32_t *stored; /* units of each packet in the buffer */
	uint32_t head, n;
	uint64_t occupied; /* units in the buffer */
};

/* By link, then VL. */
struct chain {
	struct scenario scenario;
	struct link *links;
};

static struct link *credits_link(const struct chain *c, uint32_t link, uint32_t vl)
{
	return &c->links[link * c->scenario.nvls + vl];
}

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

static int credits_start_link(struct link *l, const struct scenario *c, int64_t buffer)
{
	l->stored = malloc((c->nevents + 1) * sizeof(*l->stored));
	if (!l->stored)
		return -ENOMEM;
	dl_link_credit_terms_init(&l->terms, c->scheme, buffer,
				  c->scheme == DL_LINK_CREDIT_IBA ? c->chunk_blocks : 1, 1);
	l->rx.free = l->idle_rx.free = l->terms.size;
	dl_link_credit_start(&l->terms, &l->tx, &l->rx);
	dl_link_credit_start(&l->terms, &l->idle_tx, &l->idle_rx);
	return 0;
}

/* The registers that the scenario gives are those of the first link's VL 0. */
static int credits_start(struct chain *chain, const char *path, const struct dl_log *log)
{
	const struct scenario *c = &chain->scenario;
	bool iba = c->scheme == DL_LINK_CREDIT_IBA;
	const char *wrong;
	struct link *l;
	int err = 0;

	chain->links = calloc(c->nlinks * c->nvls, sizeof(*chain->links));
	if (!chain->links)
		return -ENOMEM;
	for (uint32_t i = 0; !err && i < c->nlinks * c->nvls; i++) {
		uint32_t link = i / c->nvls;
		int64_t first = iba ? c->buffer_blocks : c->buffer_packets;

		err = credits_start_link(&chain->links[i], c, link ? c->later[link] : first);
	}
	if (err)
		return err;
	l = chain->links;
	if (iba && c->buffer_blocks % c->chunk_blocks)
		dl_log(log, DL_LOG_WARNING,
		       "%s: the last %lld blocks of the buffer fill no chunk and are not used",
		       path, (long long)(c->buffer_blocks % c->chunk_blocks));
	wrong = iba ? credits_start_iba(l, &c->start) : credits_start_pcie(l, &c->start);
	if (wrong)
		return dl_fail(log, -EINVAL, "%s:%u: %s", path, c->start.line, wrong);
	l->rx.advertised = dl_link_credit_limit(&l->rx);
	dl_link_credit_update(&l->terms, &l->tx, dl_link_credit_of(&l->terms, &l->rx));
	return 0;
}

static int credits_read_chain(void *model, const char *path, const struct dl_log *log)
{
	struct chain *c = model;
	int err = credits_read_scenario(path, log, &c->scenario);

	return err ? err : credits_start(c, path, log);
}

static void credits_release(void *model)
{
	struct chain *c = model;

	for (uint32_t i = 0; c->links && i < c->scenario.nlinks * c->scenario.nvls; i++)
		free(c->links[i].stored);
	free(c->links);
	free(c->scenario.events);
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
static bool credits_flow_control(struct link *l, unsigned int end, unsigned int what)
{
	uint8_t wire[DL_LINK_FCP_BYTES];
	struct dl_link_fcp fcp;

	if (end == DUE && !dl_link_credit_should_report(&l->terms, &l->rx))
		return false;
	if (end == TRANSMITTER)
		dl_link_fcp_make(DL_LINK_ACTIVE, 0, &l->terms, &l->tx, &l->idle_rx, &fcp);
	else
		dl_link_fcp_make(DL_LINK_ACTIVE, 0, &l->terms, &l->idle_tx, &l->rx, &fcp);
	if (what == RESERVED_FCP)
		fcp.op = DL_LINK_FCP_INITIALISE + 1;
	dl_link_fcp_encode(&fcp, wire);
	if (what == CORRUPT_FCP)
		wire[3] ^= 1;
	if (dl_link_fcp_decode(wire, &fcp))
		return false;
	if (end == TRANSMITTER)
		dl_link_fcp_take(DL_LINK_ACTIVE, &fcp, &l->terms, &l->idle_tx, &l->rx);
	else
		dl_link_fcp_take(DL_LINK_ACTIVE, &fcp, &l->terms, &l->tx, &l->idle_rx);
	return true;
}

static bool credits_send(struct link *l, int64_t amount, bool lost)
{
	if (!dl_link_credit_may_send(&l->tx, amount))
		return false;
	dl_link_credit_spend(&l->tx, amount);
	l->tx_cnt += amount;
	if (lost)
		return true;
	if (dl_link_credit_receive(&l->terms, &l->rx, amount))
		credits_store(l, amount);
	else
		l->dropped++;
	return true;
}

static bool credits_do_event(const struct chain *c, const struct event *e)
{
	struct link *l = credits_link(c, e->link, e->vl);

	switch (e->what) {
	case SEND:
	case LOSE:
		return credits_send(l, e->amount, e->what == LOSE);
	case OFFLOAD:
		return credits_offload(l, e->amount);
	case FORWARD:
		return (uint64_t)e->amount <= l->occupied &&
		       credits_send(credits_link(c, e->link + 1, e->vl), e->amount, false) &&
		       credits_offload(l, e->amount);
	default:
		return credits_flow_control(l, e->end, e->what);
	}
}

/* ---- steps ------------------------------------------------------------- */

/* The registers after an event, or at the start; `cr`: what was checked. */
static json_t *credits_step_json(const struct chain *c, const struct link *l, const char *event,
				 bool accepted, uint32_t cr)
{
	uint32_t credit = dl_link_credit_of(&l->terms, &l->rx);

	if (c->scenario.scheme == DL_LINK_CREDIT_PCIE)
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
	const struct chain *c = model;

	return json_pack("{s:o}", "start",
			 credits_step_json(c, c->links, "start", true, c->links->tx.sent));
}

/* The registers of a link's VL after an event; in a chain it says of which. */
static json_t *credits_event_json(const struct chain *c, const struct event *e, uint32_t link,
				  const char *event, bool accepted, uint32_t cr)
{
	json_t *step = credits_step_json(c, credits_link(c, link, e->vl), event, accepted, cr);

	if (c->scenario.nlinks * c->scenario.nvls > 1) {
		json_object_set_new(step, "link", json_integer(link));
		json_object_set_new(step, "vl", json_integer(e->vl));
	}
	if (e->what < FCP)
		json_object_set_new(step, "amount", json_integer(e->amount));
	else
		json_object_set_new(step, "end", json_string(ends[e->end]));
	return step;
}

static int credits_run(void *model, struct steps *steps)
{
	const struct chain *c = model;
	int err = 0;

	for (uint32_t i = 0; !err && i < c->scenario.nevents; i++) {
		const struct event *e = &c->scenario.events[i];
		uint32_t cr = credits_link(c, e->link, e->vl)->tx.sent, next = 0;
		bool accepted;

		if (e->what == SEND || e->what == LOSE)
			cr = (cr + e->amount) & DL_LINK_CREDIT_MASK;
		if (e->what == FORWARD)
			next = (credits_link(c, e->link + 1, e->vl)->tx.sent + e->amount) &
			       DL_LINK_CREDIT_MASK;
		accepted = credits_do_event(c, e);
		err = steps_add(steps, credits_event_json(c, e, e->link, event_keys[e->what].name,
							  accepted, cr));
		if (!err && e->what == FORWARD) /* the other end of what it forwards */
			err = steps_add(steps, credits_event_json(c, e, e->link + 1, "send",
								  accepted, next));
	}
	return err;
}

/* ---- for people -------------------------------------------------------- */

static void credits_print_step(const json_t *step, FILE *to)
{
	const char *name = json_string_value(tool_at(step, "event"));
	const char *end = json_string_value(tool_at(step, "end"));
	int ahead = (tool_int_at(step, "cl") - tool_int_at(step, "cr")) & DL_LINK_CREDIT_MASK;
	char text[60], place[20] = "";

	if (tool_has(step, "link"))
		snprintf(place, sizeof(place), "%lld/%lld ", (long long)tool_int_at(step, "link"),
			 (long long)tool_int_at(step, "vl"));
	if (tool_has(step, "amount"))
		snprintf(text, sizeof(text), "%s%s %lld%s", place, name,
			 (long long)tool_int_at(step, "amount"),
			 tool_true_at(step, "accepted") ? "" : ": refused");
	else if (end)
		snprintf(text, sizeof(text), "%s%s: %s%s", place, name, end,
			 !strcmp(end, "due") && !tool_true_at(step, "accepted") ? ": no" : "");
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
		.size = sizeof(struct chain),
		.read = credits_read_chain,
		.run = credits_run,
		.before = credits_before,
		.print_before = credits_print_before,
		.print_step = credits_print_step,
		.release = credits_release,
	};
	static const char doc[] =
		"Follow the flow control of a link, or of a chain of links, event by event."
		"\vEach line shows the registers after the event, in blocks of "
		"64 bytes (iba) or packets (pcie); CR is what was checked before "
		"sending.\n"
		"\n"
		"  dateline credits credits-receiver.yaml\n"
		"\n"
		"dateline-credits(1) explains the file and the example.";

	return steps_command(tool, &model, doc, argc, argv);
}
