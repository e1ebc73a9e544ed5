/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads the scenarios of `dateline arbitrate`. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arbitrate.h"

#define MANY 1000000 /* packets in one queue, events, credits */
#define PACKETS_MAX (3 * MANY)
#define BYTES_MAX 8188 /* LRH:PktLen has 11 bits, in 4-byte words */

/* ---- tables ------------------------------------------------------------ */

static int arbitrate_read_entry(struct dl_yaml *s, const struct dl_yaml_node *n,
				struct dl_tables_vlarb_entry *out)
{
	int64_t v, w;
	int err;

	if (!dl_yaml_is_list(n) || dl_yaml_count(n) != 2)
		return dl_yaml_error(s, n, "expected an entry of two numbers, [VL, weight]");
	err = dl_yaml_number(s, dl_yaml_item(s, n, 0), "VL of an entry", 0, 15, &v);
	if (!err)
		err = dl_yaml_number(s, dl_yaml_item(s, n, 1), "weight of an entry", 0, 255, &w);
	if (!err)
		*out = (struct dl_tables_vlarb_entry){ .vl = v, .weight = w };
	return err;
}

static int arbitrate_read_table(struct dl_yaml *s, const struct dl_yaml_node *value,
				const struct dl_setting *key, void *to)
{
	struct arbitrate_change *change = (void *)((char *)to + key->offset);
	const struct dl_yaml_node *item;
	int err = 0;

	if (!dl_yaml_is_list(value))
		return dl_yaml_error(s, value, "%s: expected a list of entries [VL, weight]",
				     key->name);
	change->given = true;
	change->line = dl_yaml_line(value);
	while (!err && (item = dl_yaml_item(s, value, change->n))) {
		if (change->n == DL_LINK_ARB_ENTRIES)
			return dl_yaml_error(s, item, "%s: expected at most %d entries", key->name,
					     DL_LINK_ARB_ENTRIES);
		err = arbitrate_read_entry(s, item, &change->entry[change->n++]);
	}
	return err;
}

/* ---- queues ------------------------------------------------------------ */

/* One size of bytes, or a list, of packets or of bytes. */
static int arbitrate_read_sizes(struct dl_yaml *s, const struct dl_yaml_node *value,
				const struct dl_setting *key, void *to)
{
	struct arbitrate_refill *r = to;
	bool list = dl_yaml_is_list(value);
	size_t n = list ? dl_yaml_count(value) : 1;
	int64_t size;
	int err = list ? 0 : dl_yaml_number(s, value, key->name, 1, BYTES_MAX, &size);

	if (err)
		return err;
	if (r->sizes && list)
		return dl_yaml_error(s, value,
				     "%s: expected only one list of sizes, of packets or of bytes",
				     key->name);
	if (r->sizes)
		return dl_yaml_error(s, value,
				     "bytes: expected none beside a list of sizes in packets");
	if (!n || n > MANY)
		return dl_yaml_error(s, value, "%s: expected 1 to %d sizes", key->name, MANY);
	r->sizes = malloc(n * sizeof(*r->sizes));
	if (!r->sizes)
		return dl_yaml_no_memory(s, value);
	r->listed = list;
	for (; !err && r->nsizes < n; r->nsizes++) {
		if (list)
			err = dl_yaml_number(s, dl_yaml_item(s, value, r->nsizes), key->name, 1,
					     BYTES_MAX, &size);
		r->sizes[r->nsizes] = size;
	}
	return err;
}

static int arbitrate_read_packets(struct dl_yaml *s, const struct dl_yaml_node *value,
				  const struct dl_setting *key, void *to)
{
	struct arbitrate_refill *r = to;

	if (dl_yaml_is_list(value))
		return arbitrate_read_sizes(s, value, key, to);
	return dl_yaml_number(s, value, key->name, 0, MANY, &r->packets);
}

static const struct dl_setting queue_keys[] = {
	{ "packets", .read = arbitrate_read_packets },
	{ "bytes", .read = arbitrate_read_sizes },
	{ "credits", DL_SETTING_NUMBER, DL_MEMBER(struct arbitrate_refill, credits), .max = MANY },
	{ 0 }
};

static int arbitrate_read_queue(struct dl_yaml *s, const struct dl_yaml_node *name,
				const struct dl_yaml_node *value, struct arbitrate_refill *queues)
{
	struct arbitrate_refill *r;
	int64_t vl;
	int err;

	err = dl_yaml_number_key(s, name, "VL of a queue", 0, DL_LINK_DATA_VLS - 1, &vl);
	if (err)
		return err;
	r = &queues[vl];
	if (r->given)
		return dl_yaml_error(s, name, "%d: expected only once", (int)vl);
	*r = (struct arbitrate_refill){
		.given = true, .packets = -1, .credits = -1, .line = dl_yaml_line(name)
	};
	err = dl_yaml_mapping(s, value, queue_keys, r);
	if (err)
		return err;
	if (r->packets < 0 && r->sizes && !r->listed)
		return dl_yaml_error(s, value, "expected packets beside bytes");
	if (r->packets < 0)
		r->packets = r->nsizes;
	return 0;
}

static int arbitrate_read_queues(struct dl_yaml *s, const struct dl_yaml_node *value,
				 const struct dl_setting *key, void *to)
{
	struct arbitrate_refill *queues = (void *)((char *)to + key->offset);
	const struct dl_yaml_node *name, *queue;
	int err = 0;

	if (!dl_yaml_is_mapping(value))
		return dl_yaml_error(s, value, "%s: expected a mapping of VLs to queues",
				     key->name);
	for (size_t i = 0; !err && dl_yaml_pair(s, value, i, &name, &queue); i++)
		err = arbitrate_read_queue(s, name, queue, queues);
	return err;
}

/* ---- events ------------------------------------------------------------ */

#define EVENT(member) DL_MEMBER(struct arbitrate_event, member)
#define START(member) DL_MEMBER(struct arbitrate_scenario, start.member)

/* What the start and an event have in common. */
#define CHANGE_KEYS(AT)                                                             \
	{ "high", .read = arbitrate_read_table, AT(side[DL_LINK_ARB_HIGH]) },       \
		{ "low", .read = arbitrate_read_table, AT(side[DL_LINK_ARB_LOW]) }, \
		{ "high_limit", DL_SETTING_NUMBER, AT(high_limit), 0, 255 },        \
	{                                                                           \
		"queues", .read = arbitrate_read_queues, AT(queue)                  \
	}

static const struct dl_setting event_keys[] = {
	{ "after", DL_SETTING_NUMBER, EVENT(after), .max = INT32_MAX, .required = true },
	{ "smp", DL_SETTING_NUMBER, EVENT(smp), .max = MANY },
	{ "fcp", DL_SETTING_NUMBER, EVENT(fcp), .max = MANY },
	CHANGE_KEYS(EVENT),
	{ 0 }
};

static void arbitrate_init_event(struct arbitrate_event *e, uint32_t order)
{
	memset(e, 0, sizeof(*e));
	e->order = order;
	e->high_limit = -1;
	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		e->queue[vl].credits = -1;
}

static struct arbitrate_event *arbitrate_add_event(struct arbitrate_scenario *a)
{
	struct arbitrate_event *event;

	if (!dl_array_room(a->events, a->nevents, 1, &a->events_cap))
		return NULL;
	event = &a->events[a->nevents++];
	arbitrate_init_event(event, a->nevents);
	return event;
}

static int arbitrate_read_events(struct dl_yaml *s, const struct dl_yaml_node *value,
				 const struct dl_setting *key, void *to)
{
	const struct dl_yaml_node *item;
	struct arbitrate_event *event;
	int err = 0;

	if (!dl_yaml_is_list(value))
		return dl_yaml_error(s, value, "%s: expected a list of events", key->name);
	for (unsigned int i = 0; !err && (item = dl_yaml_item(s, value, i)); i++) {
		event = arbitrate_add_event(to);
		if (!event)
			return dl_yaml_no_memory(s, item);
		event->line = dl_yaml_line(item);
		err = dl_yaml_mapping(s, item, event_keys, event);
		if (!err && dl_yaml_count(item) < 2)
			err = dl_yaml_error(s, item,
					    "expected something that happens, beside \"after\"");
	}
	return err;
}

/* ---- scenarios --------------------------------------------------------- */

#define MEMBER(member) DL_MEMBER(struct arbitrate_scenario, member)

static int arbitrate_read_vls(struct dl_yaml *s, const struct dl_yaml_node *value,
			      const struct dl_setting *key, void *to)
{
	static const unsigned int counts[] = { 1, 2, 4, 8, 15 };
	struct arbitrate_scenario *a = to;
	unsigned int i;
	int err;

	err = dl_yaml_word(s, value, key->name, "1 2 4 8 15", &i);
	if (!err)
		a->options.nvls = counts[i];
	return err;
}

static const struct dl_setting scenario_keys[] = {
	{ "vls", .read = arbitrate_read_vls },
	{ "high_cap", DL_SETTING_NUMBER, MEMBER(options.high_cap), 0, DL_LINK_ARB_ENTRIES },
	{ "low_cap", DL_SETTING_NUMBER, MEMBER(options.low_cap), 0, DL_LINK_ARB_ENTRIES },
	{ "low_turn", DL_SETTING_WORD, MEMBER(options.low_turn), .words = "packet weight" },
	{ "bad_entry", DL_SETTING_WORD, MEMBER(options.bad_entry), .words = "skip any" },
	{ "unlisted_vl", DL_SETTING_WORD, MEMBER(options.unlisted_vl), .words = "hold idle drop" },
	{ "power_up_seed", DL_SETTING_NUMBER, MEMBER(power_up_seed), 0, INT64_MAX },
	CHANGE_KEYS(START),
	{ "events", .read = arbitrate_read_events },
	{ "stop_after", DL_SETTING_NUMBER, MEMBER(stop_after), 0, INT32_MAX },
	{ 0 }
};

/* What can only be checked when everything has been read. */
static int arbitrate_check_queues(const char *path, const struct dl_log *log,
				  const struct arbitrate_scenario *a,
				  const struct arbitrate_event *e)
{
	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++) {
		const struct arbitrate_refill *r = &e->queue[vl];

		if (r->given && vl >= a->options.nvls)
			return dl_fail(log, -EINVAL,
				       "%s:%u: queue of VL %u: expected VLs 0 to %u, for vls is %u",
				       path, r->line, vl, a->options.nvls - 1u, a->options.nvls);
		if (r->credits >= 0 && a->start.queue[vl].credits < 0)
			return dl_fail(
				log, -EINVAL,
				"%s:%u: credits: VL %u has enough of them; expected a number "
				"in its queue at the start",
				path, r->line, vl);
	}
	return 0;
}

/* Packets of any kind that an event brings. */
static uint64_t arbitrate_count_packets(const struct arbitrate_event *e)
{
	uint64_t n = e->smp + e->fcp;

	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		n += e->queue[vl].packets;
	return n;
}

static int arbitrate_check(const char *path, const struct dl_log *log,
			   const struct arbitrate_scenario *a)
{
	int err = arbitrate_check_queues(path, log, a, &a->start);
	uint64_t packets = arbitrate_count_packets(&a->start);

	for (uint32_t i = 0; !err && i < a->nevents; i++) {
		err = arbitrate_check_queues(path, log, a, &a->events[i]);
		packets += arbitrate_count_packets(&a->events[i]);
	}
	if (a->stop_after >= 0 && packets > (uint64_t)a->stop_after)
		packets = a->stop_after;
	if (err || packets <= PACKETS_MAX)
		return err;
	return dl_fail(log, -EINVAL, "%s: expected at most %d packets in all", path, PACKETS_MAX);
}

/* By `after`; those of the same packet stay in the order of the file. */
static int arbitrate_by_time(const void *left, const void *right)
{
	const struct arbitrate_event *a = left, *b = right;

	if (a->after != b->after)
		return a->after < b->after ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

int arbitrate_scenario_read(const char *path, const struct dl_log *log,
			    struct arbitrate_scenario *out)
{
	int err;

	*out = (struct arbitrate_scenario){ .stop_after = -1, .power_up_seed = -1 };
	dl_link_arb_options_init(&out->options);
	arbitrate_init_event(&out->start, 0);
	err = dl_yaml_read(path, log, scenario_keys, out);
	if (!err)
		err = arbitrate_check(path, log, out);
	if (!err && out->nevents)
		qsort(out->events, out->nevents, sizeof(*out->events), arbitrate_by_time);
	return err;
}

static void arbitrate_free_event(struct arbitrate_event *e)
{
	for (unsigned int vl = 0; vl < DL_LINK_DATA_VLS; vl++)
		free(e->queue[vl].sizes);
}

void arbitrate_scenario_free(struct arbitrate_scenario *s)
{
	arbitrate_free_event(&s->start);
	for (uint32_t i = 0; i < s->nevents; i++)
		arbitrate_free_event(&s->events[i]);
	free(s->events);
}
