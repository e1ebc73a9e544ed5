/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Cables and switches that an administrator takes out of use (rules A15): the list,
 * and what of it a fabric can do without.
 *
 * An avoided cable carries nothing.  An avoided switch passes nothing on: packets
 * still begin and end at it and at its adapters.  Entries are tried in their order;
 * one without which some switch could not be reached any more stays in use.  So the
 * entries that are out of use together cut nothing off, and none of the others can be
 * added to them.
 *
 * Complexity: a look at all nodes for each entry, and a search over all ports; one for
 * each entry if something would be cut off, and two more to find the smaller part.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/internal.h"

/* ---- the list ---------------------------------------------------------- */

struct avoid_line {
	uint32_t line;
	uint64_t guid; /* 0: by name */
	uint8_t port;  /* 0: a switch */
	bool quoted;   /* a name if there is one like that, even if it looks like a GUID */
	char *name;
};

struct dl_route_avoid {
	struct dl_arena arena; /* of the names */
	struct avoid_line *lines;
	uint32_t n, cap;
	bool bad; /* a line could not be read */
};

/* End a text before a comment, and before the blanks there. */
static void avoid_end(char *text)
{
	size_t len = 0;

	while (text[len] && (text[len] != '#' || (len && !strchr(" \t", text[len - 1]))))
		len++;
	while (len && strchr(" \t", text[len - 1]))
		len--;
	text[len] = '\0';
}

/* The number behind the last slash of `text`, which ends there then. */
static bool avoid_split_port(char *text, uint8_t *port)
{
	char *slash = strrchr(text, '/');
	int64_t number;

	if (!slash || !dl_number_parse(slash + 1, 1, DL_FABRIC_MAX_PORTS, &number))
		return false;
	*slash = '\0';
	*port = number;
	return true;
}

/*
 * The quote that ends a name: the first one behind which there is nothing but a cable's
 * port and a comment.  Names may have quotes.
 */
static char *avoid_find_quote(char *name, bool cable)
{
	char *first = strchr(name, '"');

	for (char *end = first; end; end = strchr(end + 1, '"')) {
		const char *rest = end + 1 + (cable ? strspn(end + 1, "/0123456789") : 0);

		if (!rest[strspn(rest, " \t")] ||
		    (strchr(" \t", *rest) && rest[strspn(rest, " \t")] == '#'))
			return end;
	}
	return first;
}

/* A word with a blank behind it. */
static bool avoid_take_word(struct dl_text *t, const char *word)
{
	char *at = t->at;

	if (dl_text_take_string(t, word) && (*t->at == ' ' || *t->at == '\t'))
		return true;
	t->at = at;
	return false;
}

static int avoid_read_line(struct dl_text *t, struct dl_route_avoid *a)
{
	struct avoid_line l = { .line = t->line };
	bool cable = avoid_take_word(t, "cable");
	char *name, *rest;

	if (!cable && !avoid_take_word(t, "switch"))
		return dl_text_expected(t, "\"cable NAME/PORT\" or \"switch NAME\"");
	l.quoted = dl_text_take(t, '"');
	name = t->at + (l.quoted ? 0 : strspn(t->at, " \t"));
	rest = l.quoted ? avoid_find_quote(name, cable) : name;
	if (!rest)
		return dl_text_error(t, "a name without its closing quote");
	if (l.quoted)
		*rest++ = '\0';
	avoid_end(rest);
	if (cable && !avoid_split_port(rest, &l.port))
		return dl_text_error(t, "expected NAME/PORT, with a port from 1 to %u",
				     DL_FABRIC_MAX_PORTS);
	if (!*name || (l.quoted && *rest))
		return dl_text_error(t, "expected the name of one switch");
	if (strncmp(name, "0x", 2) || *dl_number_scan(name, 0, &l.guid))
		l.guid = 0;
	l.name = dl_arena_alloc(&a->arena, strlen(name) + 1);
	if (!l.name || !dl_array_room(a->lines, a->n, 1, &a->cap))
		return -ENOMEM;
	memcpy(l.name, name, strlen(name) + 1);
	dl_text_clean(l.name);
	a->lines[a->n++] = l;
	return 0;
}

/* Every bad line is named. */
static int avoid_take_line(void *context, struct dl_text *t)
{
	struct dl_route_avoid *a = context;
	int err = dl_text_at_end(t) || *t->at == '#' ? 0 : avoid_read_line(t, a);

	a->bad |= err == -EINVAL;
	return err == -EINVAL ? 0 : err;
}

int dl_route_avoid_read_stream(FILE *from, const char *name, const struct dl_log *log,
			       struct dl_route_avoid **out)
{
	struct dl_route_avoid *a = calloc(1, sizeof(*a));
	int err = a ? dl_text_each(from, name, log, avoid_take_line, a) : -ENOMEM;

	if (!err && a->bad)
		err = -EINVAL;
	if (err)
		dl_route_avoid_free(a);
	else
		*out = a;
	return err;
}

int dl_route_avoid_read(const char *path, const struct dl_log *log, struct dl_route_avoid **out)
{
	FILE *from = fopen(path, "re");
	int err = from ? 0 : -errno;

	if (err)
		dl_log(log, DL_LOG_ERROR, "cannot open %s: %s", path, strerror(-err));
	else
		err = dl_route_avoid_read_stream(from, path, log, out);
	if (from)
		fclose(from);
	return err;
}

void dl_route_avoid_free(struct dl_route_avoid *a)
{
	if (!a)
		return;
	dl_arena_free(&a->arena);
	free(a->lines);
	free(a);
}

/* ---- what of it the fabric can do without -------------------------------- */

struct avoid_search {
	const struct dl_fabric *f;
	struct dl_route_avoided *out;
	uint32_t *queue; /* switches that are reached, in this order */
	bool *seen;	 /* by switch */
	bool *whole;	 /* ... if nothing is avoided, from the first one */
	bool *tried;	 /* ... in any search for the largest part */
	uint32_t n;
};

/* Reach switches from one that passes packets on; returns how many. */
static uint32_t avoid_reach(struct avoid_search *s, uint32_t start)
{
	const struct dl_fabric *f = s->f;
	uint32_t tail = 0;

	memset(s->seen, 0, f->nswitches);
	s->seen[start] = true;
	s->queue[tail++] = start;
	for (uint32_t head = 0; head < tail; head++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s->queue[head]);

		for (unsigned int p = 1; p <= n->nports && !s->out->leaf[s->queue[head]]; p++) {
			uint32_t to = dl_fabric_peer_switch(f, n->first_port + p);

			if (to == DL_NONE || s->seen[to] || s->out->cut[n->first_port + p])
				continue;
			s->seen[to] = true;
			s->queue[tail++] = to;
		}
	}
	return tail;
}

/* Whether all switches can still be reached; from any one, as cables lead both ways. */
static bool avoid_holds(struct avoid_search *s)
{
	uint32_t start = 0;

	while (start < s->f->nswitches && (s->out->leaf[start] || !s->whole[start]))
		start++;
	memset(s->seen, 0, s->f->nswitches);
	return start < s->f->nswitches && avoid_reach(s, start) == s->n;
}

/* Reach the largest part that holds together: who is not in it is cut off. */
static void avoid_reach_most(struct avoid_search *s)
{
	uint32_t most = 0, from = DL_NONE;

	memset(s->tried, 0, s->f->nswitches);
	for (uint32_t start = 0; start < s->f->nswitches; start++) {
		uint32_t n;

		if (s->tried[start] || s->out->leaf[start] || !s->whole[start])
			continue;
		n = avoid_reach(s, start);
		for (uint32_t i = 0; i < n; i++)
			s->tried[s->queue[i]] = true;
		if (n > most) {
			most = n;
			from = start;
		}
	}
	if (from != DL_NONE)
		avoid_reach(s, from);
}

/* Take an entry out of use, or into use again. */
static void avoid_set(struct avoid_search *s, const struct dl_route_avoided_item *item, bool avoid)
{
	if (item->port == DL_NONE) {
		s->out->leaf[item->sw] = avoid;
		return;
	}
	s->out->cut[item->port] = avoid;
	s->out->cut[s->f->ports[item->port].peer] = avoid;
}

/* Is a switch cut off, or any port of an adapter? */
static bool avoid_is_lost(const struct avoid_search *s, uint32_t node)
{
	const struct dl_fabric_node *n = &s->f->nodes[node];
	bool lost = false;

	for (unsigned int p = 1; p <= n->nports && !lost; p++) {
		uint32_t sw = n->sw != DL_NONE ? n->sw :
						 dl_fabric_peer_switch(s->f, n->first_port + p);

		lost = sw != DL_NONE && !s->seen[sw] && s->whole[sw];
	}
	return lost;
}

/* What an entry that must stay in use would cut off. */
static void avoid_count_lost(struct avoid_search *s, struct dl_route_avoided_item *item)
{
	const struct dl_fabric *f = s->f;

	avoid_reach_most(s);
	item->state = DL_ROUTE_AVOID_ONLY_WAY;
	item->example = DL_NONE;
	for (uint32_t node = 0; node < f->nnodes; node++) {
		if (!avoid_is_lost(s, node))
			continue;
		item->switches += dl_fabric_is_switch(f, node);
		item->adapters += !dl_fabric_is_switch(f, node);
		if (item->example == DL_NONE)
			item->example = node;
	}
}

static void avoid_try(struct avoid_search *s)
{
	struct dl_route_avoided *out = s->out;
	struct dl_route_avoided_item *item, *end = out->items + out->n;

	for (item = out->items; item < end; item++)
		if (item->state == DL_ROUTE_AVOID_OUT)
			avoid_set(s, item, true);
	if (avoid_holds(s))
		return;
	memset(out->cut, 0, s->f->nports);
	memset(out->leaf, 0, s->f->nswitches);
	for (item = out->items; item < end; item++) {
		if (item->state != DL_ROUTE_AVOID_OUT)
			continue;
		avoid_set(s, item, true);
		if (avoid_holds(s))
			continue;
		avoid_count_lost(s, item);
		avoid_set(s, item, false);
	}
}

static uint32_t avoid_find_node(const struct avoid_line *l, const struct dl_fabric *f,
				bool *ambiguous)
{
	uint32_t found = DL_NONE;

	*ambiguous = false;
	if (l->guid && !l->quoted)
		return dl_fabric_find_guid(f, l->guid);
	for (uint32_t node = 0; node < f->nnodes; node++) {
		if (strcmp(dl_fabric_node_name(f, node), l->name) &&
		    strcmp(dl_fabric_node_id(f, node), l->name))
			continue;
		*ambiguous |= found != DL_NONE;
		found = node;
	}
	if (found == DL_NONE && l->guid)
		return dl_fabric_find_guid(f, l->guid);
	return *ambiguous ? DL_NONE : found;
}

/* The switch of an adapter, as a node, or DL_NONE. */
static uint32_t avoid_find_switch(const struct dl_fabric *f, uint32_t node)
{
	uint32_t sw = DL_NONE;

	for (unsigned int p = 1; p <= f->nodes[node].nports && sw == DL_NONE; p++)
		sw = dl_fabric_peer_switch(f, f->nodes[node].first_port + p);
	return sw == DL_NONE ? DL_NONE : f->switches[sw];
}

static void avoid_resolve(const struct avoid_line *l, const char *name, const struct dl_fabric *f,
			  struct dl_route_avoided_item *item)
{
	bool ambiguous;
	uint32_t node = avoid_find_node(l, f, &ambiguous), far;

	*item = (struct dl_route_avoided_item){
		.line = l->line, .port = DL_NONE, .sw = DL_NONE, .name = name, .number = l->port
	};
	item->state = ambiguous ? DL_ROUTE_AVOID_AMBIGUOUS : DL_ROUTE_AVOID_ABSENT;
	if (node == DL_NONE || l->port > f->nodes[node].nports)
		return;
	item->sw = f->nodes[node].sw;
	if (!l->port) {
		item->state = item->sw == DL_NONE ? DL_ROUTE_AVOID_ADAPTER : DL_ROUTE_AVOID_OUT;
		item->example = item->sw == DL_NONE ? avoid_find_switch(f, node) : DL_NONE;
		return;
	}
	if (f->ports[f->nodes[node].first_port + l->port].peer == DL_NONE)
		return;
	item->port = f->nodes[node].first_port + l->port;
	item->state = DL_ROUTE_AVOID_OUT;
	far = dl_fabric_peer_node(f, item->port);
	if (dl_fabric_joins_switches(f, item->port))
		return;
	/* An adapter's cable: each of its ports has LIDs of its own. */
	item->state = DL_ROUTE_AVOID_ONLY_WAY;
	item->example = item->sw == DL_NONE ? node : far;
	item->adapters = 1;
}

static struct dl_route_avoided *avoid_new(const struct dl_fabric *f, uint32_t n)
{
	struct dl_arena arena = { 0 };
	struct dl_route_avoided *out = dl_arena_zalloc(&arena, sizeof(*out));

	if (out) {
		out->n = n;
		out->items = dl_arena_array(&arena, n + 1ul, sizeof(*out->items));
		out->cut = dl_arena_array(&arena, f->nports + 1ul, sizeof(*out->cut));
		out->leaf = dl_arena_array(&arena, f->nswitches + 1ul, sizeof(*out->leaf));
	}
	if (out && out->items && out->cut && out->leaf) {
		out->arena = arena;
		return out;
	}
	dl_arena_free(&arena);
	return NULL;
}

/* Which of the entries have to stay in use?  0 or -ENOMEM. */
static int avoid_settle(struct dl_route_avoided *out, const struct dl_fabric *f)
{
	struct avoid_search s = { .f = f, .out = out };

	s.queue = dl_arena_array(&out->arena, f->nswitches + 1ul, sizeof(*s.queue));
	s.seen = dl_arena_array(&out->arena, f->nswitches + 1ul, sizeof(*s.seen));
	s.whole = dl_arena_array(&out->arena, f->nswitches + 1ul, sizeof(*s.whole));
	s.tried = dl_arena_array(&out->arena, f->nswitches + 1ul, sizeof(*s.tried));
	if (!s.queue || !s.seen || !s.whole || !s.tried)
		return -ENOMEM;
	s.n = f->nswitches ? avoid_reach(&s, 0) : 0;
	memcpy(s.whole, s.seen, f->nswitches);
	avoid_try(&s);
	return 0;
}

int dl_route_avoid_resolve(const struct dl_route_avoid *list, const struct dl_fabric *f,
			   struct dl_route_avoided **result)
{
	struct dl_route_avoided *out = avoid_new(f, list->n);
	int err = out ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < list->n; i++) {
		size_t size = strlen(list->lines[i].name) + 1;
		char *name = dl_arena_alloc(&out->arena, size);

		err = name ? 0 : -ENOMEM;
		if (!err)
			avoid_resolve(&list->lines[i], memcpy(name, list->lines[i].name, size), f,
				      &out->items[i]);
	}
	if (!err)
		err = avoid_settle(out, f);
	if (err)
		dl_route_avoided_free(out);
	else
		*result = out;
	return err;
}

int dl_route_avoid_add(const struct dl_route_avoided *a, const struct dl_fabric *f,
		       const uint32_t *ports, uint32_t n, struct dl_route_avoided **result)
{
	uint32_t before = a ? a->n : 0;
	struct dl_route_avoided *out = avoid_new(f, before + n);
	int err = out ? 0 : -ENOMEM;

	if (before && !err)
		memcpy(out->items, a->items, before * sizeof(*a->items));
	for (uint32_t i = 0; !err && i < n; i++)
		out->items[before + i] = (struct dl_route_avoided_item){
			.state = DL_ROUTE_AVOID_OUT,
			.port = ports[i],
			.sw = f->nodes[f->ports[ports[i]].node].sw,
			.name = "",
			.number = f->ports[ports[i]].num,
		};
	if (!err)
		err = avoid_settle(out, f);
	if (err)
		dl_route_avoided_free(out);
	else
		*result = out;
	return err;
}

void dl_route_avoided_free(struct dl_route_avoided *a)
{
	struct dl_arena arena;

	if (!a)
		return;
	arena = a->arena;
	dl_arena_free(&arena);
}

/* ---- words --------------------------------------------------------------- */

void dl_route_avoid_name(const struct dl_route_avoided_item *item, const struct dl_fabric *f,
			 char *out, size_t size)
{
	const struct dl_fabric_port *far;

	if (!item->number) {
		snprintf(out, size, "switch \"%s\"", item->name);
		return;
	}
	snprintf(out, size, "cable \"%s\" port %u", item->name, item->number);
	if (item->port == DL_NONE)
		return;
	far = &f->ports[f->ports[item->port].peer];
	dl_text_append(out, size, " to \"%s\" port %u", dl_fabric_node_name(f, far->node),
		       far->num);
}

static void avoid_append_lost(const struct dl_route_avoided_item *item, const struct dl_fabric *f,
			      char *out, size_t size)
{
	dl_text_append(out, size, ": stays in use, the only way to ");
	if (item->switches)
		dl_text_append(out, size, "%u switch%s", item->switches,
			       item->switches == 1 ? "" : "es");
	if (item->adapters)
		dl_text_append(out, size, "%s%u adapter%s", item->switches ? " and " : "",
			       item->adapters, item->adapters == 1 ? "" : "s");
	if (item->example != DL_NONE)
		dl_text_append(out, size, ", such as \"%s\"",
			       dl_fabric_node_name(f, item->example));
}

void dl_route_avoid_text(const struct dl_route_avoided_item *item, const struct dl_fabric *f,
			 char *out, size_t size)
{
	dl_route_avoid_name(item, f, out, size);
	if (item->state == DL_ROUTE_AVOID_OUT)
		dl_text_append(out, size, item->number ? ": out of use" : ": passes nothing on");
	else if (item->state == DL_ROUTE_AVOID_ABSENT)
		dl_text_append(out, size, ": not in the fabric");
	else if (item->state == DL_ROUTE_AVOID_ADAPTER)
		dl_text_append(out, size,
			       ": this is an adapter, through which nothing passes: remove the "
			       "line, or name its switch, \"%s\"",
			       item->example == DL_NONE ? "" :
							  dl_fabric_node_name(f, item->example));
	else if (item->state == DL_ROUTE_AVOID_AMBIGUOUS)
		dl_text_append(out, size,
			       ": stays in use: several nodes have this name; use a GUID");
	else
		avoid_append_lost(item, f, out, size);
}
