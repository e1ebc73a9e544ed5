/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Any bytes as a netlist. */
#include "fabric_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fabric_format format = { dl_fabric_read_netlist_stream,
						     dl_fabric_write_netlist };

	fuzz_fabric_file(&format, data, size);
	return 0;
}
