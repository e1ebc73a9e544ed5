/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Arithmetic on the grid of sites (rules A1). */
#include "dateline/torus.h"

uint32_t dl_torus_site_next(const struct dl_torus_grid *g, uint32_t site,
			    unsigned int dir)
{
	unsigned int dim = dl_torus_dir_dim(dir);
	uint32_t radix = g->radix[dim];
	uint32_t stride = 1;
	uint32_t here, there;
	bool wraps;

	if (radix < 2)
		return DL_NONE;
	for (unsigned int d = 0; d < dim; d++)
		stride *= g->radix[d];
	here = site / stride % radix;
	if (dir == dl_torus_dir(dim, true)) {
		wraps = here == 0;
		there = wraps ? radix - 1 : here - 1;
	} else {
		wraps = here == radix - 1;
		there = wraps ? 0 : here + 1;
	}
	if (wraps && g->mesh[dim])
		return DL_NONE;
	return site - here * stride + there * stride;
}

unsigned int dl_torus_last_dim(const struct dl_torus_grid *g)
{
	unsigned int dim = DL_TORUS_DIMS - 1;

	while (dim > 0 && g->radix[dim] < 2)
		dim--;
	return dim;
}
