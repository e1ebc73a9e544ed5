/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the parts of `dateline grow` share.
 *
 * A plan is that of a growth: states 0 to `nsteps`, each a set of cables, and the state from
 * which on the larger configuration holds.  A removal is the same plan from its end.
 *
 *	states 1 ... config - 1		the columns of the new planes, some at each step: the
 *					cable that closes a ring is opened, and the column put
 *					in between; with the old configuration the new switches
 *					are off-torus switches
 *	state config			nothing but the configuration changes: rings close
 *	states config + 1 ...		the rings within the new planes, one at each step
 *	state nsteps			the adapters of the new planes: their path SLs never change
 */
#ifndef TOOL_GROW_H
#define TOOL_GROW_H

#include "tools/common/input.h"
#include "dateline/route.h"

struct grow_request {
	struct tool_input_options input;
	struct dl_route_options options;
	unsigned int dim;
	signed char mode; /* -1: not said */
	int by;		  /* planes; negative: a removal */
	unsigned int columns;
	const char *out;
};

/* A cable between two ports, by index, of the plan's fabric, in states `on` to `off` - 1. */
struct grow_cable {
	uint32_t a, b, on, off;
};

struct grow_plan {
	const struct grow_request *request;
	struct dl_fabric *all; /* all nodes of the larger fabric */
	struct dl_torus_grid small, large;
	uint32_t *site_sw; /* by site of the larger grid: switch of `all`, or DL_NONE */
	uint32_t *sw_site; /* by switch of `all`: that site, or DL_NONE */
	struct grow_cable *cables;
	uint32_t ncables, cables_cap;
	uint32_t config, nsteps;
	uint32_t lacking, lacks; /* a node of the last plane, and its port, for messages */
};

/* 0 or a negative errno, reported; release in either case. */
int grow_plan_make(const struct tool *tool, const struct grow_request *r,
		   const struct tool_input *in, struct grow_plan *p);
void grow_plan_release(struct grow_plan *p);

/* The state of the plan after so many steps of the change. */
static inline uint32_t grow_state(const struct grow_plan *p, uint32_t step)
{
	return p->request->by < 0 ? p->nsteps - step : step;
}

static inline bool grow_alive(const struct grow_cable *c, uint32_t state)
{
	return c->on <= state && state < c->off;
}

/* Is it unplugged between two states?  With these the other way round: plugged in. */
static inline bool grow_goes(const struct grow_cable *c, uint32_t was, uint32_t is)
{
	return grow_alive(c, was) && !grow_alive(c, is);
}

static inline const struct dl_torus_grid *grow_grid(const struct grow_plan *p, uint32_t state)
{
	return state < p->config ? &p->small : &p->large;
}

/* Is a switch of `all` in one of the planes that come or go? */
bool grow_is_new(const struct grow_plan *p, uint32_t sw);

/* The fabric in a state.  0 or a negative errno. */
int grow_fabric(struct grow_plan *p, uint32_t state, struct dl_fabric **out);

/*
 * Route all states, write them to the directory, and describe each step.  0 or a negative
 * errno, reported.
 */
int grow_steps(struct tool *tool, struct grow_plan *p, const struct tool_input *in, json_t **out);

#endif
