/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The groups of OpenSM's partitions.conf, before an engine has to refuse them.
 *
 * A definition names a partition, its flags and its members, and ends with a
 * semicolon; `sl=N` is the SL of its groups: that of IPoIB (flag `ipoib`), and those
 * with an `mgid`.  A `#` begins a comment.  Blanks mean nothing.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route.h"

#define LONGEST 65536 /* bytes of a definition */

struct partitions {
	const struct dl_text *text; /* the line at hand */
	char *definition;	    /* without blanks and comments */
	size_t len;
	unsigned int line; /* where it begins */
	/* What is known of SLs: they can be used by groups, or not. */
	uint16_t safe, unsafe;
	const struct dl_route_result *routed;
	bool refused;
};

static int partitions_try(struct partitions *p, unsigned int sl)
{
	uint16_t bit = 1u << sl;
	struct dl_verify_result *v;
	int err;

	if ((p->safe | p->unsafe) & bit)
		return 0;
	err = dl_route_verify_sls(p->routed->tables, p->routed->tree, 0, p->safe | bit, &v);
	if (err)
		return err;
	*(v->delivered && v->verdict == DL_VERIFY_FREE ? &p->safe : &p->unsafe) |= bit;
	dl_verify_result_free(v);
	return 0;
}

/* One word of a definition: is it an SL on which groups are refused? */
static int partitions_word(struct partitions *p, const char *word)
{
	uint64_t sl;
	int err;

	if (strncmp(word, "sl=", 3) || dl_number_scan(word + 3, 0, &sl) == word + 3 || sl > 15)
		return 0;
	err = partitions_try(p, sl);
	if (err || p->safe >> sl & 1)
		return err;
	p->refused = true;
	dl_log(p->text->log, DL_LOG_ERROR,
	       "%s:%u: the groups of partition \"%.*s\" use SL %u, on which they could close a "
	       "credit loop: the engine would not route them (DL24); let them use sl=0 or sl=8",
	       p->text->name, p->line, (int)strcspn(p->definition, "=,:"), p->definition,
	       (unsigned int)sl);
	return 0;
}

/* A definition is complete. */
static int partitions_definition(struct partitions *p)
{
	char *word, *rest;
	bool groups;
	int err = 0;

	p->definition[p->len] = '\0';
	groups = strstr(p->definition, ",ipoib") || strstr(p->definition, "mgid=");
	rest = p->definition + strcspn(p->definition, ",:");
	while (!err && groups && *rest) {
		word = rest + 1;
		rest = word + strcspn(word, ",");
		err = partitions_word(p, word);
	}
	p->len = 0;
	return err;
}

static int partitions_line(void *context, struct dl_text *text)
{
	struct partitions *p = context;
	const char *at = text->at;
	int err = 0;

	p->text = text;
	for (; !err && *at && *at != '#' && *at != '\n'; at++) {
		if (isspace((unsigned char)*at))
			continue;
		if (*at == ';') {
			err = partitions_definition(p);
			continue;
		}
		if (!p->len)
			p->line = text->line;
		if (p->len + 1 == LONGEST)
			return dl_text_error(text, "a definition of more than %d bytes", LONGEST);
		p->definition[p->len++] = *at;
	}
	return err;
}

int route_check_partitions(const char *path, const struct dl_route_result *routed,
			   const struct dl_log *log)
{
	struct partitions p = {
		.definition = malloc(LONGEST),
		.safe = dl_tables_any_sl(routed->tables) ? UINT16_MAX : DL_ROUTE_MULTICAST_SLS,
		.routed = routed,
	};
	FILE *from = fopen(path, "re");
	int err = from ? 0 : -errno;

	if (err == -ENOENT)
		dl_log(log, DL_LOG_INFO, "%s does not exist: OpenSM's only group uses SL 0", path);
	else if (err)
		dl_fail(log, err, "cannot open %s: %s", path, strerror(-err));
	else
		err = p.definition ? dl_text_each(from, path, log, partitions_line, &p) : -ENOMEM;
	if (from)
		fclose(from);
	free(p.definition);
	if (err)
		return err == -ENOENT ? 0 : err;
	return p.refused ? -ENOTSUP : 0;
}
