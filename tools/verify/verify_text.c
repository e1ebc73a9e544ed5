/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The document of `dateline verify` in words.
 *
 * --explain is for an administrator who has never heard of channel
 * dependencies: it names cables and packets that he can look up, draws the
 * loop, and says what he can do about it.
 */
#include <string.h>

#include "verify.h"

#define FEW 10

/* What was assumed of the packets' SLs. */
enum { SL_PATH, SL_ANY, SL_ONE };

static int verify_sl_of(const json_t *d)
{
	const char *sls = json_string_value(tool_at(d, "sls"));

	return !sls ? SL_ONE : strcmp(sls, "any") ? SL_PATH : SL_ANY;
}

/* ---- names ------------------------------------------------------------- */

/* A template of the node at a key `p`, such as "to.". */
#define NODE(p) "\"{" p "name}\"{?" p "coord} ({" p "coord}){/}"
#define CHANNEL NODE("") " port {port} -> " NODE("to.") " port {to.port}, VL {vl}"

static void verify_print_end(const json_t *end, FILE *to)
{
	tool_print(to, end, "\"{name}\"");
	if (tool_int_at(end, "ports") > 1 && tool_int_at(end, "port"))
		tool_print(to, end, " port {port}");
	tool_print(to, end, " (LID {lid})");
}

static bool is_multicast(const json_t *packet)
{
	return tool_int_at(packet, "lid") >= DL_TABLES_MCAST_LID;
}

static void verify_print_packet(const json_t *packet, FILE *to)
{
	if (json_is_null(packet)) {
		fprintf(to, "a packet that could not be found");
		return;
	}
	verify_print_end(tool_at(packet, "from"), to);
	if (is_multicast(packet)) {
		fprintf(to, " to multicast group 0x%04X", (unsigned int)tool_int_at(packet, "lid"));
	} else {
		fprintf(to, " to ");
		verify_print_end(tool_at(packet, "to"), to);
		if (tool_int_at(packet, "to.lid") != tool_int_at(packet, "lid"))
			tool_print(to, packet, " at its LID {lid}");
	}
	tool_print(to, packet, ", SL {sl}");
}

/* ---- losses ------------------------------------------------------------ */

static void print_lost(const json_t *lost, FILE *to)
{
	fputs("  ", to);
	verify_print_end(tool_at(lost, "from"), to);
	if (is_multicast(lost))
		fprintf(to, " to group 0x%04X", (unsigned int)tool_int_at(lost, "lid"));
	if (tool_has(lost, "to")) {
		fputs(is_multicast(lost) ? ", member " : " to ", to);
		verify_print_end(tool_at(lost, "to"), to);
	}
	tool_print(to, lost,
		   "{?sl}, SL {sl}{/}: {reason}{?at} at " NODE("at.") "{?at.port} port {at.port}{/}"
								      "{/}\n");
}

static void print_losses(const json_t *d, bool all, FILE *to)
{
	const json_t *list = tool_at(d, "undelivered"), *lost;
	size_t listed = json_array_size(list), i;

	if (!json_is_false(tool_at(d, "delivered"))) {
		fputs(tool_has(d, "delivered") ? "delivery: every packet arrives\n" :
						 "delivery: not judged: there are no pairs\n",
		      to);
		return;
	}
	tool_print(to, d,
		   "delivery: {lost} of {pairs} pairs and {groups_lost} of "
		   "{multicast_groups} multicast groups fail\n");
	json_array_foreach(list, i, lost) if (all || i < FEW) print_lost(lost, to);
	if ((!all && listed > FEW) || (json_int_t)listed < tool_int_at(d, "lost"))
		fprintf(to, "  and so on\n");
}

/* The VLs of one port are neighbours in the list. */
static void print_starved(const json_t *d, bool all, FILE *to)
{
	const json_t *list = tool_at(d, "starved"), *vl, *next;
	size_t n = json_array_size(list), ports = 0, i;
	bool ends = true;

	json_array_foreach(list, i, vl)
	{
		next = json_array_get(list, i + 1);
		if (!all && ports == FEW && ends) {
			fprintf(to, "  and so on\n");
			break;
		}
		tool_print(to, vl, ends ? "starved: " NODE("") " port {port}: VL {vl}" : ", {vl}");
		ends = i + 1 == n || tool_int_at(next, "port") != tool_int_at(vl, "port") ||
		       strcmp(json_string_value(tool_at(next, "guid")),
			      json_string_value(tool_at(vl, "guid")));
		fputs(ends ? " not served by its VL arbitration\n" : "", to);
		ports += ends;
	}
}

/* ---- the loop ---------------------------------------------------------- */

void verify_print_cycle(const json_t *cycle, FILE *to)
{
	const json_t *step;
	size_t i;

	json_array_foreach(cycle, i, step)
	{
		fprintf(to, "  %2zu. ", i + 1);
		tool_print(to, step, CHANNEL "\n");
		if (!tool_has(step, "packet"))
			continue;
		fputs("      ", to);
		verify_print_packet(tool_at(step, "packet"), to);
		fputc('\n', to);
	}
}

static bool is_verdict(const json_t *d, const char *word)
{
	return !strcmp(json_string_value(tool_at(d, "verdict")), word);
}

/* What packets' SLs the verdict is about; it follows the verdict. */
static void print_condition(const json_t *d, FILE *to)
{
	if (tool_has(d, "assumption"))
		tool_print(to, d, ", if {assumption}");
	else if (verify_sl_of(d) == SL_ONE)
		tool_print(to, d, ", if every packet carries SL {sls}");
	else if (is_verdict(d, "proven free") &&
		 (verify_sl_of(d) == SL_ANY || !tool_true_at(d, "sl_known")))
		fprintf(to, ", whatever SLs packets carry");
	else if (verify_sl_of(d) == SL_ANY)
		fprintf(to, ", if packets may carry any SL");
}

/* Which kinds of packets take part: bit 0 unicast, bit 1 multicast. */
static unsigned int kinds_of(const json_t *cycle)
{
	unsigned int kinds = 0;
	const json_t *step;
	size_t i;

	json_array_foreach(cycle, i, step) kinds |= is_multicast(tool_at(step, "packet")) ? 2 : 1;
	return kinds;
}

static void print_loop(const json_t *d, FILE *to)
{
	const json_t *cycle = tool_at(d, "cycle");
	size_t n = json_array_size(cycle);

	fprintf(to, "credit loops: %s",
		is_verdict(d, "loop found")    ? "yes" :
		is_verdict(d, "loop possible") ? "possible" :
		is_verdict(d, "not judged")    ? "not judged" :
						 "none");
	print_condition(d, to);
	if (n)
		fprintf(to, "; the shortest has %zu channel%s", n, tool_s(n));
	fputc('\n', to);
	tool_print(to, d, "{*missing}  missing: {what}; to get it: {command}\n{/}");
	verify_print_cycle(cycle, to);
	if (n && is_verdict(d, "loop found") && verify_sl_of(d) != SL_PATH && kinds_of(cycle) != 2)
		fprintf(to, "use mode any-sl, or make applications use path SLs (--explain says "
			    "more)\n");
}

static void draw_loop(const json_t *d, FILE *to)
{
	const json_t *cycle = tool_at(d, "cycle"), *step;
	size_t n = json_array_size(cycle), i;

	fprintf(to, "\nThe loop.  Each line is one direction of a cable.  The "
		    "packet below it sits in\nthe receive buffer at its far end "
		    "and cannot leave before the buffer of the\nnext cable has "
		    "room; the last one waits for the first.\n\n");
	json_array_foreach(cycle, i, step)
	{
		fprintf(to, i ? "   |     " : "   +---> ");
		tool_print(to, step, CHANNEL "\n   |       ");
		verify_print_packet(tool_at(step, "packet"), to);
		fprintf(to, i + 1 < n ? "\n   |         |\n" : "\n   +---------+\n");
	}
	fprintf(to, "\nWhen all these buffers fill up at the same time, none of "
		    "them can ever empty:\ntraffic over these cables stops, and "
		    "soon all that waits behind it.  It takes a\nbusy moment, so "
		    "the fabric may run well for weeks before it happens.\n");
}

static void advise_loop(const json_t *d, FILE *to)
{
	unsigned int kinds = kinds_of(tool_at(d, "cycle"));

	fprintf(to, "\nWhat to do.\n");
	if (!is_verdict(d, "loop found")) {
		fprintf(to, "This loop may not exist: what is missing above decides.  "
			    "Get it, and verify again.\n");
		if (is_verdict(d, "loop possible"))
			fprintf(to, "Path SLs can also be given with --psl FILE.  "
				    "Applications that do not ask for\ntheir path SL "
				    "do close the loop.\n");
		return;
	}
	if (verify_sl_of(d) != SL_PATH && kinds != 2) {
		fprintf(to, "Packets that do not carry their path SL close it.  Use mode any-sl, "
			    "or make\napplications use path SLs.  NCCL cannot, and neither can "
			    "UCX: they send on one SL\nfor all paths.  dateline verify --sl path "
			    "checks packets on their path SLs.\n");
		return;
	}
	if (!tool_true_at(d, "loop_between_adapters"))
		fprintf(to, "Only packets to or from switches' own ports close it: "
			    "management datagrams, which\nare small and rare.  "
			    "Between adapters there is no loop.\n");
	if (kinds == 2 || !tool_true_at(d, "loop_without_multicast"))
		fprintf(to,
			"%s  The\nmulticast tree must be built differently; "
			"until then, keep large messages out of\nthe groups "
			"named above.\n",
			kinds == 2 ? "The multicast tables make this loop by "
				     "themselves." :
				     "Neither is at fault alone: without the "
				     "multicast groups there is no loop.");
	else
		fprintf(to, "The unicast tables make loops by themselves.  This "
			    "routing engine does not suit\nthis fabric, or not "
			    "with what has failed in it.\n");
	fprintf(to, "On a torus or mesh, the engine `dateline` in its mode "
		    "`proven` checks unicast and\nmulticast together before it "
		    "programs them.  To break the loop by hand, take one\nof its "
		    "cables out of service and let the subnet manager route "
		    "again; then verify\nagain, because another loop may "
		    "appear.\n");
}

static void explain_losses(FILE *to)
{
	fprintf(to, "\nPackets that do not arrive.  A missing entry or one that "
		    "points the wrong way is\nmost often a routing engine that "
		    "gave up on part of a damaged fabric, or tables\nread while "
		    "the subnet manager was changing them: read the snapshot "
		    "again.  A VL that\na port lacks means that its SL-to-VL map "
		    "was made for more VLs than it operates.\n");
}

static void explain_starved(FILE *to)
{
	fprintf(to, "\nVLs that starve.  Packets leave these ports on VLs that no entry of the "
		    "port's VL\narbitration tables serves, or only the low table while the high "
		    "one has no limit\n(VLHighLimit 255): they wait for ever, or for as long as "
		    "others have packets.  Name\nevery VL in qos_vlarb_high or qos_vlarb_low of "
		    "opensm.conf, and set a limit.\n");
}

/* ---- all --------------------------------------------------------------- */

/* What had to be assumed, and what was not checked. */
static void print_gaps(const json_t *d, FILE *to)
{
	if (verify_sl_of(d) == SL_PATH && !tool_true_at(d, "sl_known"))
		fprintf(to,
			"not known: the path SLs in use; every pair was checked at all 16 SLs\n");
	else
		tool_print(to, d,
			   "{+pairs_without_sl}not known: the path SLs of {pairs_without_sl#pair}, "
			   "checked at all 16 SLs\n{/}");
	tool_print(to, d,
		   "{+port_pairs_without_map}not known: the SL-to-VL maps of "
		   "{port_pairs_without_map#pair} of switch ports; VL 0 was assumed\n{/}"
		   "{+switches_without_entries}not known: the forwarding tables of "
		   "{switches_without_entries#switch/es}, which hold no entry\n{/}"
		   "{+ends_without_lid}not checked: {ends_without_lid#end port} without a LID\n{/}"
		   "{!engine}not known: the routing engine, and its mode\n{/}");
}

void verify_print(const json_t *d, bool explain, FILE *to)
{
	tool_print(to, d,
		   verify_sl_of(d) == SL_PATH ? "checked: {pairs#pair} at their path SLs and "
						"{levels#QoS level}, " :
		   verify_sl_of(d) == SL_ANY  ? "checked: {pairs#pair} at any SL, " :
						"checked: {pairs#pair} at SL {sls}, ");
	tool_print(to, d, "{multicast_groups#multicast group}");
	if (tool_int_at(d, "multicast_groups"))
		tool_print(to, d,
			   json_array_size(tool_at(d, "multicast_sls")) == 16 ?
				   " at any SL" :
				   " at SL {multicast_sls}");
	tool_print(to, d, ", {channels#channel}\n");
	print_gaps(d, to);
	print_losses(d, explain, to);
	print_starved(d, explain, to);
	print_loop(d, to);
	tool_print(to, d,
		   !tool_has(d, "sl_compared") ?
			   "path SLs: not compared with an earlier snapshot\n" :
		   tool_int_at(d, "sl_compared") ?
			   "path SLs: {sl_changed} of {sl_compared} pairs changed\n" :
			   "path SLs: no pair to compare with the earlier snapshot\n");
	if (!explain)
		return;
	if (json_is_false(tool_at(d, "delivered")))
		explain_losses(to);
	if (json_array_size(tool_at(d, "starved")))
		explain_starved(to);
	if (json_array_size(tool_at(d, "cycle"))) {
		draw_loop(d, to);
		advise_loop(d, to);
	}
}
