/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The scenarios of a campaign one by one, with the names of what fails: the
 * worst of them, and all as a table.
 *
 * Worst is what the mode does not route, then what is not connected, then what
 * classic mode accepts with a credit loop; of the others, those with the most
 * pairs on the busiest channel, and of these the most hops.
 */
#include <errno.h>
#include <stdlib.h>

#include "whatif.h"

static json_t *switch_json(const struct dl_torus *t, uint32_t sw)
{
	return json_pack("{s:o, s:o}", "name",
			 tool_json_text(dl_fabric_node_name(t->fabric, t->fabric->switches[sw])),
			 "coord", tool_json_coord(&t->grid, t->sw_site[sw]));
}

static const char *whatif_classic(const struct whatif_outcome *o)
{
	if (!o->connected)
		return "not connected";
	return !o->accepted ? "refused" : o->safe ? "safe" : "unsafe";
}

static json_t *scenario_json(const struct whatif *w, struct whatif_failures *f,
			     const struct whatif_outcome *o, uint64_t item)
{
	const struct dl_torus *t = w->whole.torus;
	json_t *switches = json_array(), *cables = json_array();
	bool compared = o->proven && o->plain_busiest;

	whatif_failures_draw(f, w, item);
	for (uint32_t i = 0; i < f->nswitches; i++)
		json_array_append_new(switches, switch_json(t, f->switches[i]));
	for (uint32_t i = 0; i < f->ncables; i++)
		json_array_append_new(
			cables, json_pack("{s:o, s:o}", "from",
					  tool_json_named_port(t->fabric, f->cables[i]), "to",
					  tool_json_named_port(
						  t->fabric, t->fabric->ports[f->cables[i]].peer)));
	return json_pack("{s:I, s:o, s:o, s:b, s:s, s:b, s:o, s:o, s:o, s:s}", "sample",
			 (json_int_t)item, "switches", switches, "cables", cables, "connected",
			 o->connected, "classic", whatif_classic(o), "routed", o->proven,
			 "entries_changed", tool_json_or_null(o->proven, o->changed),
			 "busiest_pairs", tool_json_or_null(compared, o->busiest), "hops_mean",
			 compared ? json_real(o->hops) : json_null(), "reason", o->reason);
}

/* ---- the worst ----------------------------------------------------------- */

static int whatif_severity(const struct whatif_outcome *o)
{
	if (o->connected && !o->proven)
		return 3;
	return !o->connected ? 2 : o->accepted && !o->safe;
}

/* Is the first scenario worse?  Of equals, the earlier one. */
static bool is_worse(const struct whatif_outcome *all, uint64_t x, uint64_t y)
{
	const struct whatif_outcome *a = &all[x], *b = &all[y];

	if (whatif_severity(a) != whatif_severity(b))
		return whatif_severity(a) > whatif_severity(b);
	if (a->busiest != b->busiest)
		return a->busiest > b->busiest;
	return a->hops != b->hops ? a->hops > b->hops : x < y;
}

json_t *whatif_worst_json(const struct whatif *w, struct whatif_failures *f,
			  const struct whatif_outcome *outcomes, const bool *done)
{
	uint64_t *worst = calloc(w->worst + 1, sizeof(*worst));
	json_t *list = worst ? json_array() : NULL;
	uint32_t n = 0, k;

	for (uint64_t i = 0; worst && i < w->nitems; i++) {
		if (!done[i])
			continue;
		for (k = n; k && is_worse(outcomes, i, worst[k - 1]); k--)
			worst[k] = worst[k - 1];
		worst[k] = i;
		n += n < w->worst;
	}
	for (k = 0; k < n; k++)
		json_array_append_new(list, scenario_json(w, f, &outcomes[worst[k]], worst[k]));
	free(worst);
	return list;
}

/* ---- for people ---------------------------------------------------------- */

/* What fails, between `separator`s. */
static void print_parts(const json_t *s, const char *separator, FILE *to)
{
	const json_t *part;
	const char *before = "";
	size_t i;

	json_array_foreach(tool_at(s, "switches"), i, part)
	{
		fputs(before, to);
		tool_print(to, part, "\"{name}\" ({coord})");
		before = separator;
	}
	json_array_foreach(tool_at(s, "cables"), i, part)
	{
		fputs(before, to);
		tool_print(to, part,
			   "\"{from.name}\" port {from.port} - \"{to.name}\" port {to.port}");
		before = separator;
	}
}

void whatif_print_worst(const json_t *list, FILE *to)
{
	const json_t *s;
	size_t i;

	fputs("\nThe worst:\n", to);
	json_array_foreach(list, i, s)
	{
		fprintf(to, "%3zu. ", i + 1);
		print_parts(s, ", ", to);
		tool_print(to, s,
			   !tool_true_at(s, "connected") ? ": the fabric falls apart\n" :
			   !tool_true_at(s, "routed")	 ? ": not routed: {reason}\n" :
							   ": classic mode {classic}; "
							   "{entries_changed} entries changed, "
							   "{busiest_pairs} pairs on the busiest "
							   "channel, {hops_mean:0.3} hops\n");
	}
}

static void print_csv_parts(const json_t *s, FILE *to)
{
	print_parts(s, "; ", to);
}

static int print_csv_row(const json_t *s, FILE *to)
{
	char *text = tool_text_of(s, print_csv_parts);
	json_t *parts = text ? tool_json_text(text) : NULL;

	free(text);
	if (!parts)
		return -ENOMEM;
	tool_print(to, s, "{sample},");
	tool_print_csv(to, parts);
	tool_print(to, s,
		   ",{connected},{classic},{routed},{?entries_changed}{entries_changed}{/},"
		   "{?hops_mean}{busiest_pairs},{hops_mean:0.4}{/}{!hops_mean},{/},");
	tool_print_csv(to, tool_at(s, "reason"));
	putc('\n', to);
	json_decref(parts);
	return 0;
}

int whatif_print_csv(const struct whatif *w, struct whatif_failures *f,
		     const struct whatif_outcome *outcomes, const bool *done, FILE *to)
{
	int err = 0;

	fputs("sample,failed,connected,classic,routed,entries_changed,busiest_pairs,hops_mean,"
	      "reason\n",
	      to);
	for (uint64_t i = 0; !err && i < w->nitems; i++) {
		json_t *s = done[i] ? scenario_json(w, f, &outcomes[i], i) : NULL;

		if (done[i])
			err = s ? print_csv_row(s, to) : -ENOMEM;
		json_decref(s);
	}
	return err;
}
