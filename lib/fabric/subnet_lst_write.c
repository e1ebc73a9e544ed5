/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Writing OpenSM's subnet list (opensm-subnet.lst), which ibdmchk reads: a
 * line for each cable and direction,
 *
 *   { <type> Ports:.. SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:..
 *     Rev:.. {<description>} LID:.. PN:.. } { <the same> } PHY=4x LOG=ACT
 *     SPD=2.5
 *
 * with numbers in hexadecimal.  The bytes are those of OpenSM on the same
 * fabric, its oddities included: nodes come in order of their GUID read
 * backwards, byte by byte (it compares them as little-endian numbers), the
 * far end's vendor has two digits more, and its device stands in the upper
 * half of 32 bits.  Only the mark of the node that runs the subnet manager
 * ("SW-SM") is missing: a fabric does not know it.
 */
#include "config.h"

#include <byteswap.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fabric/internal.h"

#define REVISION 0xa1 /* ibsim's; the fabric does not keep it */

static const char *const types[] = {
	[DL_FABRIC_CA] = "CA",
	[DL_FABRIC_SWITCH] = "SW",
	[DL_FABRIC_ROUTER] = "Rt",
};

static void write_end(const struct dl_fabric *f, uint32_t port, bool far, FILE *to)
{
	const struct dl_fabric_port *p = &f->ports[port], *end = p;
	const struct dl_fabric_node *n = &f->nodes[p->node];

	if (n->type == DL_FABRIC_SWITCH)
		end = &f->ports[n->first_port];
	fprintf(to,
		"{ %s Ports:%02X SystemGUID:%016" PRIx64 " NodeGUID:%016" PRIx64
		" PortGUID:%016" PRIx64 " VenID:%0*" PRIX32 " DevID:%04" PRIX32 " Rev:%08X {",
		types[n->type], n->nports, n->system_guid ? n->system_guid : n->guid, n->guid,
		end->guid, far ? 8 : 6, n->vendor, (uint32_t)n->device << (far ? 16 : 0), REVISION);
	fprintf(to, "%.64s} LID:%04X PN:%02X } ", dl_fabric_node_name(f, p->node), end->lid,
		p->num);
}

static void write_cable(const struct dl_fabric *f, uint32_t port, FILE *to)
{
	const struct dl_fabric_port *p = &f->ports[port];

	write_end(f, port, false, to);
	write_end(f, p->peer, true, to);
	if (p->width)
		fprintf(to, "PHY=%ux ", p->width);
	else
		fputs("PHY=?? ", to);
	fprintf(to, "LOG=ACT SPD=%s\n", dl_fabric_speed_rate(p->speed));
}

int dl_fabric_write_subnet_list(const struct dl_fabric *f, FILE *to)
{
	struct dl_fabric_guid_key *keys = calloc(f->nnodes + 1ul, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->nnodes; i++)
		keys[i] = (struct dl_fabric_guid_key){ bswap_64(f->nodes[i].guid), i };
	qsort(keys, f->nnodes, sizeof(*keys), dl_fabric_compare_guids);
	for (uint32_t i = 0; i < f->nnodes; i++) {
		const struct dl_fabric_node *node = &f->nodes[keys[i].node];

		for (uint32_t n = 1; n <= node->nports; n++) {
			uint32_t port = node->first_port + n;

			if (f->ports[port].peer != DL_NONE)
				write_cable(f, port, to);
		}
	}
	free(keys);
	return fflush(to) || ferror(to) ? -EIO : 0;
}
