/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writing a netlist as ibnetdiscover does, which ibsim and
 * dl_fabric_read_netlist() read: nodes and ports in order, each cable at both
 * ends (ibsim insists), GUIDs always, LIDs, widths and speeds in comments.
 *
 * The format has no place for arbitration table sizes; everything else
 * survives being written and read.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "fabric/internal.h"

static const struct {
	const char *header, *guid;
} kinds[] = {
	[DL_FABRIC_CA] = { "Ca", "caguid" },
	[DL_FABRIC_SWITCH] = { "Switch", "switchguid" },
	[DL_FABRIC_ROUTER] = { "Rt", "rtguid" },
};

/* Can this be a node id?  See read_id() of the reader. */
static bool fits_quotes(const char *s)
{
	size_t i;

	for (i = 0; s[i]; i++) {
		if (strchr("\"#@", s[i]))
			return false;
	}
	return i > 0;
}

/* The node's id; one made of its GUID where it has none that can be read. */
static void write_id(const struct dl_fabric *f, uint32_t node, FILE *to)
{
	const struct dl_fabric_node *n = &f->nodes[node];
	const char *id = dl_fabric_node_id(f, node);

	if (fits_quotes(id))
		fprintf(to, "\"%s\"", id);
	else
		fprintf(to, "\"%c-%016" PRIx64 "\"", dl_fabric_letter(n->type), n->guid);
}

/* The port whose LID and GUID answer for this one. */
static const struct dl_fabric_port *netlist_end_port(const struct dl_fabric *f, uint32_t port)
{
	uint32_t node = f->ports[port].node;

	return &f->ports[dl_fabric_is_switch(f, node) ? f->nodes[node].first_port : port];
}

static void write_header(const struct dl_fabric *f, uint32_t node, FILE *to)
{
	const struct dl_fabric_node *n = &f->nodes[node];
	const struct dl_fabric_port *zero = &f->ports[n->first_port];

	fprintf(to, "\nvendid=0x%" PRIx32 "\ndevid=0x%x\n", n->vendor, n->device);
	if (n->system_guid)
		fprintf(to, "sysimgguid=0x%" PRIx64 "\n", n->system_guid);
	fprintf(to, "%s=0x%" PRIx64, kinds[n->type].guid, n->guid);
	if (n->type == DL_FABRIC_SWITCH)
		fprintf(to, "(%" PRIx64 ")", zero->guid);
	fprintf(to, "\n%s\t%u ", kinds[n->type].header, n->nports);
	write_id(f, node, to);
	/* ibsim takes the comment for a name if there is none in quotes. */
	fputs("\t\t# ", to);
	fprintf(to, "\"%s\"", dl_fabric_node_name(f, node));
	if (n->type == DL_FABRIC_SWITCH)
		fprintf(to, " %s port 0 lid %u lmc %u", zero->lmc ? "enhanced" : "base", zero->lid,
			zero->lmc);
	putc('\n', to);
}

/* PortInfo's code for a number of data VLs; 0: unknown. */
static unsigned int vl_code(unsigned int vls)
{
	unsigned int code = 0;

	while (vls >> code)
		code++;
	return vls == 15 ? 5 : code;
}

/*
 * ibsim does not look into the comments of routers' ports: tell it in its own
 * words, sets of widths, speeds and extended speeds.
 */
static void write_options(const struct dl_fabric_port *p, FILE *to)
{
	static const uint8_t widths[] = { [1] = 1, [2] = 17, [4] = 19, [8] = 23, [12] = 31 };
	static const uint8_t extended[] = { [DL_FABRIC_FDR] = 1,
					    [DL_FABRIC_EDR] = 3,
					    [DL_FABRIC_HDR] = 7,
					    [DL_FABRIC_NDR] = 7,
					    [DL_FABRIC_XDR] = 7 };

	fprintf(to, " w=%u s=%u e=%u", widths[p->width],
		p->speed < DL_FABRIC_QDR ? (1u << p->speed) - 1 : 7, extended[p->speed]);
}

static void write_port(const struct dl_fabric *f, uint32_t port, FILE *to)
{
	const struct dl_fabric_port *p = &f->ports[port], *far = &f->ports[p->peer];

	fprintf(to, "[%u]", p->num);
	if (!dl_fabric_is_switch(f, p->node))
		fprintf(to, "(%" PRIx64 ")", p->guid);
	putc('\t', to);
	write_id(f, far->node, to);
	fprintf(to, "[%u]", far->num);
	if (!dl_fabric_is_switch(f, far->node))
		fprintf(to, "(%" PRIx64 ")", far->guid);
	if (f->nodes[p->node].type == DL_FABRIC_ROUTER && p->width && p->speed)
		write_options(p, to);
	fputs("\t\t# ", to);
	if (!dl_fabric_is_switch(f, p->node))
		fprintf(to, "lid %u lmc %u ", p->lid, p->lmc);
	fprintf(to, "\"%s\" lid %u", dl_fabric_node_name(f, far->node),
		netlist_end_port(f, p->peer)->lid);
	if (p->width && p->speed)
		fprintf(to, " %ux%s", p->width, dl_fabric_speed_name(p->speed));
	if (p->vls != 8) /* ibsim's, and what the reader takes it for */
		fprintf(to, " v=%u", vl_code(p->vls));
	putc('\n', to);
}

int dl_fabric_write_netlist(const struct dl_fabric *f, FILE *to)
{
	uint32_t n;

	fprintf(to, "# Netlist: %u nodes, %u of them switches\n", f->nnodes, f->nswitches);
	for (uint32_t i = 0; i < f->nnodes; i++) {
		const struct dl_fabric_node *node = &f->nodes[i];

		write_header(f, i, to);
		for (n = 1; n <= node->nports; n++) {
			uint32_t port = node->first_port + n;

			if (f->ports[port].peer != DL_NONE)
				write_port(f, port, to);
		}
	}
	putc('\n', to);
	return fflush(to) || ferror(to) ? -EIO : 0;
}
