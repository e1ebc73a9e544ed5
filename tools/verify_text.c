/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The verdict in words.
 *
 * --explain is for an administrator who has never heard of channel
 * dependencies: it names cables and packets that he can look up, draws the
 * loop, and says what he can do about it.
 */
#include "config.h"

#include <inttypes.h>

#include "verify.h"

const char *verify_fault_text(unsigned int fault)
{
	static const char *const texts[] = {
		[DL_VERIFY_NO_ENTRY] = "no forwarding entry",
		[DL_VERIFY_DEAD_PORT] = "forwarded to a port without a cable",
		[DL_VERIFY_WRONG_END] = "forwarded to the wrong end port",
		[DL_VERIFY_FORWARDING_LOOP] = "forwarded in a circle",
		[DL_VERIFY_NO_VL] = "the SL maps to no VL of the port",
		[DL_VERIFY_UNATTACHED] = "not attached to any switch",
		[DL_VERIFY_NO_COPY] = "no copy arrives",
		[DL_VERIFY_TWICE] = "more than one copy arrives",
	};

	return fault < sizeof(texts) / sizeof(*texts) ? texts[fault] : "?";
}

/* ---- names ------------------------------------------------------------- */

static void print_node(const struct dl_fabric *f,
		       const struct tool_coords *coords, uint32_t node,
		       FILE *to)
{
	uint32_t c[DL_TORUS_DIMS];

	fprintf(to, "\"%s\"", dl_fabric_node_name(f, node));
	if (tool_coords_of(coords, f->nodes[node].sw, c))
		fprintf(to, " (%u,%u,%u)", c[0], c[1], c[2]);
}

static void print_end(const struct dl_fabric *f, uint32_t port, FILE *to)
{
	fprintf(to, "\"%s\"", dl_fabric_node_name(f, f->ports[port].node));
	if (f->nodes[f->ports[port].node].nports > 1 && f->ports[port].num)
		fprintf(to, " port %u", f->ports[port].num);
	fprintf(to, " (LID %u)", f->ports[port].lid);
}

static bool is_multicast(uint16_t dlid)
{
	return dlid >= DL_TABLES_MCAST_LID;
}

static void print_packet(const struct dl_fabric *f,
			 const struct dl_cycle_step *step, FILE *to)
{
	if (!step->dlid) {
		fprintf(to, "a packet that could not be found");
		return;
	}
	print_end(f, step->src, to);
	if (is_multicast(step->dlid)) {
		fprintf(to, " to multicast group 0x%04X", step->dlid);
	} else {
		fprintf(to, " to ");
		print_end(f, f->lid_port[step->dlid], to);
		if (f->ports[f->lid_port[step->dlid]].lid != step->dlid)
			fprintf(to, " at its LID %u", step->dlid);
	}
	fprintf(to, ", SL %u", step->sl);
}

/* ---- losses ------------------------------------------------------------ */

static void print_lost(const struct verify_report *r,
		       const struct dl_verify_lost *l, FILE *to)
{
	const struct dl_fabric *f = r->verdict->fabric;

	fputs("  ", to);
	print_end(f, l->src, to);
	if (is_multicast(l->dlid))
		fprintf(to, " to group 0x%04X", l->dlid);
	if (l->dst != DL_NONE) {
		fprintf(to, is_multicast(l->dlid) ? ", member " : " to ");
		print_end(f, l->dst, to);
	}
	if (l->sl != DL_TABLES_NO_SL)
		fprintf(to, ", SL %u", l->sl);
	fprintf(to, ": %s", verify_fault_text(l->fault));
	if (l->sw != DL_NONE) {
		fprintf(to, " at ");
		print_node(f, r->coords, f->switches[l->sw], to);
		if (l->port != DL_TABLES_NO_PORT)
			fprintf(to, " port %u", l->port);
	}
	fputc('\n', to);
}

#define FEW 10

static void print_losses(const struct verify_report *r, bool all, FILE *to)
{
	const struct dl_verify_result *v = r->verdict;
	uint32_t shown = all || v->nlisted < FEW ? v->nlisted : FEW;

	if (v->delivered) {
		fprintf(to, "delivery: every packet arrives\n");
		return;
	}
	fprintf(to,
		"delivery: %" PRIu64 " of %" PRIu64 " pairs and %u of %u "
		"multicast groups fail\n",
		v->nlost, v->pairs, v->groups_lost, v->groups);
	for (uint32_t i = 0; i < shown; i++)
		print_lost(r, &v->lost[i], to);
	if (shown < v->nlisted || v->nlisted < v->nlost)
		fprintf(to, "  and so on\n");
}

/* ---- the loop ---------------------------------------------------------- */

static void print_channel(const struct dl_fabric *f,
			  const struct tool_coords *coords,
			  const struct dl_cycle_step *step, FILE *to)
{
	const struct dl_fabric_port *p = &f->ports[step->port];
	const struct dl_fabric_port *peer = &f->ports[p->peer];

	print_node(f, coords, p->node, to);
	fprintf(to, " port %u -> ", p->num);
	print_node(f, coords, peer->node, to);
	fprintf(to, " port %u, VL %u", peer->num, step->vl);
}

void verify_print_cycle(const struct dl_fabric *f,
			const struct tool_coords *coords,
			const struct dl_cycle *cycle, FILE *to)
{
	for (uint32_t i = 0; i < cycle->n; i++) {
		fprintf(to, "  %2u. ", i + 1);
		print_channel(f, coords, &cycle->steps[i], to);
		fprintf(to, "\n      ");
		print_packet(f, &cycle->steps[i], to);
		fputc('\n', to);
	}
}

static void print_loop(const struct verify_report *r, FILE *to)
{
	const struct dl_verify_result *v = r->verdict;

	if (!v->credit_loop) {
		fprintf(to, "credit loops: none\n");
		return;
	}
	fprintf(to, "credit loops: yes; the shortest has %u channel%s\n",
		v->cycle.n, v->cycle.n == 1 ? "" : "s");
	verify_print_cycle(v->fabric, r->coords, &v->cycle, to);
}

static void draw_loop(const struct verify_report *r, FILE *to)
{
	const struct dl_verify_result *v = r->verdict;

	fprintf(to,
		"\nThe loop.  Each line is one direction of a cable.  The "
		"packet below it sits in\nthe receive buffer at its far end "
		"and cannot leave before the buffer of the\nnext cable has "
		"room; the last one waits for the first.\n\n");
	for (uint32_t i = 0; i < v->cycle.n; i++) {
		fprintf(to, i ? "   |     " : "   +---> ");
		print_channel(v->fabric, r->coords, &v->cycle.steps[i], to);
		fprintf(to, "\n   |       ");
		print_packet(v->fabric, &v->cycle.steps[i], to);
		fprintf(to, i + 1 < v->cycle.n ? "\n   |         |\n" :
						 "\n   +---------+\n");
	}
	fprintf(to,
		"\nWhen all these buffers fill up at the same time, none of "
		"them can ever empty:\ntraffic over these cables stops, and "
		"soon all that waits behind it.  It takes a\nbusy moment, so "
		"the fabric may run well for weeks before it happens.\n");
}

/* Which kinds of packets take part: bit 0 unicast, bit 1 multicast. */
static unsigned int kinds_of(const struct dl_verify_result *v)
{
	unsigned int kinds = 0;

	for (uint32_t i = 0; i < v->cycle.n; i++)
		kinds |= is_multicast(v->cycle.steps[i].dlid) ? 2 : 1;
	return kinds;
}

static void advise_loop(const struct verify_report *r, FILE *to)
{
	const struct dl_verify_result *v = r->verdict;

	fprintf(to, "\nWhat to do.\n");
	if (!v->sl_known) {
		fprintf(to,
			"The path SLs of this routing are not known, so every "
			"pair was judged at all 16\nSLs.  The real ones may be "
			"free of loops: give them with --psl FILE, or take "
			"the\nsnapshot from the running fabric (dateline "
			"snapshot "
			"--live).\n");
		return;
	}
	if (v->without_vl)
		fprintf(to,
			"Some switches' SL-to-VL maps are not known, and all "
			"their packets were judged as\nif they used VL 0; with "
			"the real maps the loop may be none.\n");
	if (!r->adapters_alone)
		fprintf(to,
			"Only packets to or from switches' own ports close it: "
			"management datagrams, which\nare small and rare.  "
			"Between adapters there is no loop.\n");
	if (kinds_of(v) == 2 || !r->unicast_alone)
		fprintf(to,
			"%s  The\nmulticast tree must be built differently; "
			"until then, keep large messages out of\nthe groups "
			"named above.\n",
			kinds_of(v) == 2 ?
				"The multicast tables make this loop by "
				"themselves." :
				"Neither is at fault alone: without the "
				"multicast groups there is no loop.");
	else
		fprintf(to,
			"The unicast tables make loops by themselves.  This "
			"routing engine does not suit\nthis fabric, or not "
			"with what has failed in it.\n");
	fprintf(to,
		"On a torus or mesh, the engine `dateline` in its mode "
		"`proven` checks unicast and\nmulticast together before it "
		"programs them.  To break the loop by hand, take one\nof its "
		"cables out of service and let the subnet manager route "
		"again; then verify\nagain, because another loop may "
		"appear.\n");
}

static void explain_losses(FILE *to)
{
	fprintf(to,
		"\nPackets that do not arrive.  A missing entry or one that "
		"points the wrong way is\nmost often a routing engine that "
		"gave up on part of a damaged fabric, or tables\nread while "
		"the subnet manager was changing them: read the snapshot "
		"again.  A VL that\na port lacks means that its SL-to-VL map "
		"was made for more VLs than it operates.\n");
}

/* ---- all --------------------------------------------------------------- */

static void print_gaps(const struct verify_report *r, FILE *to)
{
	const struct dl_verify_result *v = r->verdict;

	if (!v->sl_known)
		fprintf(to, "not judged: the path SLs in use; every pair was "
			    "judged at all 16 SLs\n");
	else if (v->without_sl)
		fprintf(to,
			"not judged: credit loops through %" PRIu64
			" pairs without a path SL\n",
			v->without_sl);
	if (v->without_vl)
		fprintf(to,
			"not judged: SL-to-VL maps of %" PRIu64 " pairs of "
			"switch ports; VL 0 was assumed\n",
			v->without_vl);
}

void verify_print(const struct verify_report *r, bool explain, FILE *to)
{
	const struct dl_verify_result *v = r->verdict;

	fprintf(to,
		"judged: %" PRIu64 " pairs at %u QoS level%s, %u multicast "
		"group%s, %" PRIu64 " channels\n",
		v->pairs, v->levels, v->levels == 1 ? "" : "s", v->groups,
		v->groups == 1 ? "" : "s", v->channels);
	print_gaps(r, to);
	print_losses(r, explain, to);
	print_loop(r, to);
	if (!r->compared)
		fprintf(to, "path SLs: not compared with an earlier "
			    "snapshot\n");
	else
		fprintf(to,
			"path SLs: %" PRIu64 " of %" PRIu64 " pairs "
			"changed\n",
			v->sl_changes, v->sl_compared);
	if (!explain)
		return;
	if (!v->delivered)
		explain_losses(to);
	if (v->credit_loop) {
		draw_loop(r, to);
		advise_loop(r, to);
	}
}
