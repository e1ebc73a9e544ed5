/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "netlist_text.h"

struct dl_fabric *read_good(const char *text)
{
	struct dl_fabric *f;
	struct heard h;

	if (read_bytes(read_netlist, text, strlen(text), &h, &f))
		fail_msg("%s\nin:\n%s", h.error, text);
	assert_int_equal(h.errors, 0);
	return f;
}

const struct dl_fabric_port *port_of(const struct dl_fabric *f, uint32_t node, unsigned int num)
{
	assert_true(num <= f->nodes[node].nports);
	return &f->ports[f->nodes[node].first_port + num];
}

void assert_cable(const struct dl_fabric *f, uint32_t a, unsigned int port_a, uint32_t b,
		  unsigned int port_b)
{
	assert_int_equal(port_of(f, a, port_a)->peer, f->nodes[b].first_port + port_b);
	assert_int_equal(port_of(f, b, port_b)->peer, f->nodes[a].first_port + port_a);
}

const char netlist_dump[] = "#\n"
			    "# Topology file: generated on Fri Nov 20 23:41:00 2026\n"
			    "#\n"
			    "# Initiated from node 0000000000000110 port 0000000000000110\n"
			    "\n"
			    "vendid=0x2c9\n"
			    "devid=0xc738\n"
			    "sysimgguid=0x111\n"
			    "switchguid=0x110(112)\n"
			    "Switch\t36 \"S-0000000000000110\"\t\t# \"a \"big\" switch\" enhanced "
			    "port 0 "
			    "lid 5 lmc 1\n"
			    "[1]\t\"H-0000000000000220\"[1](229) \t\t# \"host HCA-1\" lid 8 4xQDR "
			    "s=4 w=2 v=4\n"
			    "[3]\t\"R-0000000000000800\"[1](801) \t\t# \"R\" lid 1 12xEDR s=4 w=2 "
			    "v=3\n"
			    "[2]\t\"S-0000000000000111\"[6]\t\t# \"T\" lid 2 1xDDR s=2 w=1 v=5\n"
			    "\n"
			    "vendid=0x2c9\n"
			    "devid=0x1003\n"
			    "sysimgguid=0x223\n"
			    "caguid=0x220\n"
			    "Ca\t2 \"H-0000000000000220\"\t\t# \"host HCA-1\"\n"
			    "[1](229) \t\"S-0000000000000110\"[1]\t\t# lid 8 lmc 2 \"a \"big\" "
			    "switch\" "
			    "lid 5 4xQDR s=4 w=2 v=4\n"
			    "[2](230) \t\"S-0000000000000111\"[1]\t\t# lid 12 lmc 2 \"T\" lid 2 "
			    "2xFDR10\n"
			    "\n"
			    "switchguid=0x111(111)\n"
			    "Switch\t6 \"S-0000000000000111\"\t\t# \"T\" base port 0 lid 2 lmc 0\n"
			    "[6]\t\"S-0000000000000110\"[2]\t\t# \"a \"big\" switch\" lid 5 1xDDR "
			    "v=5\n"
			    "[1]\t\"H-0000000000000220\"[2](230) \t\t# \"host HCA-1\" lid 12 "
			    "2xFDR10\n"
			    "\n"
			    "vendid=0x0\n"
			    "devid=0x1003\n"
			    "sysimgguid=0x800\n"
			    "rtguid=0x800\n"
			    "Rt\t1 \"R-0000000000000800\"\t\t# \"R\"\n"
			    "[1](801) \t\"S-0000000000000110\"[3]\t\t# lid 1 lmc 0 \"a \"big\" "
			    "switch\" "
			    "lid 5 12xEDR s=4 w=2 v=3\n";
