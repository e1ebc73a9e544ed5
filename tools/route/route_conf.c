/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* opensm.conf: what the engine takes from it, and which lines it needs; see route.h. */
#include <errno.h>
#include <string.h>

#include "route.h"

#define OPENSM_CONF "dateline-opensm.conf"

/* What OpenSM writes into a configuration for "nothing". */
#define UNSET "(null)"
#define UNSET_HIGH "0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,13:0,14:0"
#define UNSET_LOW "0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4"
#define UNSET_SL2VL "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7"
#define UNSET_LIMIT 0 /* of qos_high_limit alone */

/* ---- read --------------------------------------------------------------- */

/* A copy, or NULL for what counts as not given, too. */
static int conf_take_text(struct route_conf *c, const char *value, const char *unset, char **out)
{
	size_t size = strlen(value) + 1;

	*out = NULL;
	if (!strcmp(value, UNSET) || !strcmp(value, unset))
		return 0;
	*out = dl_arena_alloc(&c->arena, size);
	if (*out)
		memcpy(*out, value, size);
	return *out ? 0 : -ENOMEM;
}

static int conf_take_table(struct route_conf *c, const char *value, const char *unset,
			   const char **out)
{
	char *text;
	int err = conf_take_text(c, value, unset, &text);

	*out = text;
	return err;
}

static int conf_take_limit(const struct dl_text *t, const char *value, bool general, int *out)
{
	int64_t limit = -1;

	if (strcmp(value, "-1") && !dl_number_parse(value, 0, 255, &limit))
		return dl_text_error(t, "\"%s\": expected a high limit from 0 to 255", value);
	*out = general && limit == UNSET_LIMIT ? -1 : limit;
	return 0;
}

static int conf_take(struct route_conf *c, const struct dl_text *t, const char *key,
		     const char *value)
{
	char prefix[16];

	if (!strcmp(key, "event_plugin_options"))
		return conf_take_text(c, value, UNSET, &c->plugin);
	for (enum dl_route_port_kind kind = 0; kind <= DL_ROUTE_PORT_KINDS; kind++) {
		bool general = kind == DL_ROUTE_PORT_KINDS;
		struct dl_route_arb_words *w = general ? &c->arb.all : &c->arb.kind[kind];
		int len = snprintf(prefix, sizeof(prefix), "qos_%s", dl_route_port_kind_name(kind));

		if (strncmp(key, prefix, len))
			continue;
		if (!strcmp(key + len, "vlarb_high"))
			return conf_take_table(c, value, UNSET_HIGH, &w->high);
		if (!strcmp(key + len, "vlarb_low"))
			return conf_take_table(c, value, UNSET_LOW, &w->low);
		if (!strcmp(key + len, "high_limit"))
			return conf_take_limit(t, value, general, &w->high_limit);
		if (!strcmp(key + len, "sl2vl") && strcmp(value, UNSET) &&
		    strcmp(value, UNSET_SL2VL)) /* as the engine has it */
			dl_log(t->log, DL_LOG_WARNING,
			       "%s is not used: the routing needs SL to VL maps of its own", key);
	}
	return 0;
}

/* KEY VALUE; the value may stand in quotes. */
static int conf_read_line(void *context, struct dl_text *t)
{
	char *key = t->at + strspn(t->at, " \t\r"), *value = key + strcspn(key, " \t\r"), *end;

	if (*value)
		*value++ = '\0';
	value += strspn(value, " \t\r");
	for (end = value + strlen(value); end > value && strchr(" \t\r", end[-1]);)
		*--end = '\0';
	if (end > value + 1 && strchr("\"'", *value) && end[-1] == *value) {
		value++;
		end[-1] = '\0';
	}
	return *key == '#' || !*value ? 0 : conf_take(context, t, key, value);
}

int route_conf_read(const char *path, const struct dl_log *log, struct route_conf *c)
{
	FILE *from = fopen(path, "re");
	int err = from ? 0 : -errno;

	c->arb.all.high_limit = -1;
	for (unsigned int kind = 0; kind < DL_ROUTE_PORT_KINDS; kind++)
		c->arb.kind[kind].high_limit = -1;
	if (err)
		return dl_fail(log, err, "cannot open %s: %s", path, strerror(-err));
	err = dl_text_each(from, path, log, conf_read_line, c);
	fclose(from);
	return err;
}

/* ---- write -------------------------------------------------------------- */

static void write_table(FILE *to, const char *kind, const char *table,
			const struct dl_tables_vlarb_entry *e, unsigned int n)
{
	unsigned int i;

	fprintf(to, "qos_%s_vlarb_%s ", kind, table);
	for (i = 0; i < n; i++)
		fprintf(to, "%s%u:%u", i ? "," : "", e[i].vl, e[i].weight);
	fputc('\n', to);
}

static void write_kind(FILE *to, const char *kind, const struct dl_tables_vlarb *arb)
{
	fprintf(to, "qos_%s_high_limit %u\n", kind, arb->high_limit);
	write_table(to, kind, "high", arb->high, arb->nhigh);
	write_table(to, kind, "low", arb->low, arb->nlow);
}

static int write_conf(const struct dl_route_options *o, bool given, FILE *to)
{
	static const char *const end_kinds[] = { "ca", "rtr", "sw0" };
	const struct dl_route_vls vls = { 8, 2, o->mode == DL_ROUTE_ANY_SL };
	struct dl_tables_vlarb between, end;
	size_t i;

	dl_route_vlarb(o, &vls, true, 64, 64, &between);
	dl_route_vlarb(o, &vls, false, 64, 64, &end);
	fputs("# Add this to opensm.conf.\n"
	      "#\n"
	      "# Dateline as the only engine; with \"torus-2QoS\" in its place "
	      "the same\n"
	      "# fabric is routed by the built-in one.\n"
	      "event_plugin_name osmdateline\n"
	      "routing_engine dateline,no_fallback\n"
	      "qos TRUE\n",
	      to);
	if (o->mode != DL_ROUTE_PROVEN)
		fprintf(to, "event_plugin_options mode=%s\n", dl_route_mode_name(o->mode));
	if (given)
		return fflush(to) || ferror(to) ? -EIO : 0;
	fputs("\n"
	      "# Between switches VL 0-3 carry QoS level 0 and VL 4-7 level 1, "
	      "on end ports\n"
	      "# VL 0 and VL 1; all VLs of a level weigh the same.  Dateline "
	      "programs the\n"
	      "# same when nothing is set here.\n",
	      to);
	write_kind(to, "swe", &between);
	for (i = 0; i < sizeof(end_kinds) / sizeof(*end_kinds); i++)
		write_kind(to, end_kinds[i], &end);
	return fflush(to) || ferror(to) ? -EIO : 0;
}

int route_add_conf(struct dl_snapshot *s, const struct dl_route_options *o, bool given)
{
	return tool_add_note(s, OPENSM_CONF, to, write_conf(o, given, to));
}
