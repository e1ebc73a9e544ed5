/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Any bytes as OpenSM's subnet list. */
#include "fabric_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fabric_format format = { dl_fabric_read_subnet_list_stream,
						     dl_fabric_write_subnet_list };

	fuzz_fabric_file(&format, data, size);
	return 0;
}
