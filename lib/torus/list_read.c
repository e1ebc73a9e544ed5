/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reading the list of coordinates that a torus engine leaves:
 *
 *   switch 0,1,0 GUID 0x0000000000200001 (name)
 *
 * Such lines say neither how large the torus is nor which dimensions wrap.  The first
 * follows from the largest coordinates, the second from a cable between a
 * first and a last one.  Where that would be another torus, Dateline's list begins with
 * the torus as a line of torus-2QoS.conf: "torus 5m 5 1".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

struct list {
	const struct dl_fabric *f;
	uint32_t (*coord)[DL_TORUS_DIMS]; /* by switch */
	uint32_t *site;			  /* by switch: 0 once it was met */
	struct dl_torus_grid *grid;	  /* as large as the largest coordinates */
	struct dl_torus_grid said;	  /* by a line of its own */
	bool says;
};

static int read_grid(struct list *l, struct dl_text *text)
{
	uint64_t radix;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		int err = dl_text_number(text, 10, DL_TORUS_MAX_RADIX, "a radix, 1 to 255", &radix);

		if (err)
			return err;
		if (!radix)
			return dl_text_expected(text, "a radix, 1 to 255");
		l->said.radix[d] = radix;
		l->said.mesh[d] = dl_text_take(text, 'm');
	}
	l->says = true;
	return 0;
}

static int read_switch(struct list *l, struct dl_text *text)
{
	uint32_t at[DL_TORUS_DIMS], node;
	uint64_t value;
	int err;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		if (d && !dl_text_take(text, ','))
			return dl_text_expected(text, "\",\"");
		err = dl_text_number(text, 10, DL_TORUS_MAX_RADIX - 1, "a coordinate, 0 to 254",
				     &value);
		if (err)
			return err;
		at[d] = value;
	}
	if (!dl_text_take_string(text, "GUID"))
		return dl_text_expected(text, "\"GUID\"");
	err = dl_text_number(text, 16, UINT64_MAX, "a GUID", &value);
	if (err)
		return err;
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		if (at[d] >= l->grid->radix[d])
			l->grid->radix[d] = at[d] + 1;
	node = dl_fabric_find_guid(l->f, value);
	if (node == DL_NONE || !dl_fabric_is_switch(l->f, node))
		return 0;
	memcpy(l->coord[l->f->nodes[node].sw], at, sizeof(at));
	l->site[l->f->nodes[node].sw] = 0;
	return 0;
}

static int list_read_line(void *context, struct dl_text *text)
{
	if (dl_text_take_string(text, "torus "))
		return read_grid(context, text);
	return dl_text_take_string(text, "switch ") ? read_switch(context, text) : 0;
}

/* 0 or -EINVAL. */
static int list_take_grid(struct list *l, const char *name, const struct dl_log *log)
{
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		if (l->said.radix[d] >= l->grid->radix[d])
			continue;
		dl_log(log, DL_LOG_ERROR, "%s: coordinate %u is beyond the torus of its first line",
		       name, l->grid->radix[d] - 1);
		return -EINVAL;
	}
	*l->grid = l->said;
	return 0;
}

int dl_torus_read_list(const struct dl_fabric *f, FILE *from, const char *name,
		       const struct dl_log *log, struct dl_torus_grid *grid, uint32_t **site)
{
	struct list l = { .f = f, .grid = grid };
	int err = -ENOMEM;

	*grid = (struct dl_torus_grid){ .radix = { 1, 1, 1 } };
	l.coord = calloc(f->nswitches + 1ul, sizeof(*l.coord));
	l.site = malloc((f->nswitches + 1ul) * sizeof(*l.site));
	if (l.coord && l.site) {
		memset(l.site, 0xFF, f->nswitches * sizeof(*l.site)); /* DL_NONE */
		err = dl_text_each(from, name, log, list_read_line, &l);
	}
	if (!err && l.says)
		err = list_take_grid(&l, name, log);
	else if (!err)
		dl_torus_find_wraps(f, l.coord, l.site, grid);
	for (uint32_t s = 0; !err && s < f->nswitches; s++)
		if (l.site[s] != DL_NONE)
			l.site[s] = dl_torus_site(grid, l.coord[s]);
	free(l.coord);
	if (err)
		free(l.site);
	else
		*site = l.site;
	return err;
}
