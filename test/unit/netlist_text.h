/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the tests of netlists share. */
#ifndef TEST_NETLIST_TEXT_H
#define TEST_NETLIST_TEXT_H

#include "fabric_text.h"

#define S "Switch 4 \"s\"\n"
#define T "Switch 4 \"t\"\n"

#define read_netlist dl_fabric_read_netlist_stream
#define write_netlist dl_fabric_write_netlist

/* Written by ibnetdiscover --full. */
extern const char netlist_dump[];

/* Fails the test where anything is wrong with the text. */
struct dl_fabric *read_good(const char *text);

const struct dl_fabric_port *port_of(const struct dl_fabric *f, uint32_t node, unsigned int num);

void assert_cable(const struct dl_fabric *f, uint32_t a, unsigned int port_a, uint32_t b,
		  unsigned int port_b);

#endif
