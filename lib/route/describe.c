/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a snapshot says about its routing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "route/internal.h"

int dl_route_describe(const struct dl_torus *t, const struct dl_torus_config *c,
		      const struct dl_route_options *o, struct dl_snapshot *s)
{
	char *text;
	size_t len;
	int err = dl_memory_write(&text, &len, to, dl_torus_write_list(t, to));

	if (err)
		return err;
	snprintf(s->about.engine, sizeof(s->about.engine), "dateline");
	snprintf(s->about.mode, sizeof(s->about.mode), "%s%s", dl_route_mode_name(o->mode),
		 dl_route_has_balanced_ties(o, c) ? "-balanced" : "");
	s->about.sls = DL_SNAPSHOT_SLS_ENGINE;
	return dl_snapshot_add_note(s, "dateline-torus.dump", text, len);
}
