/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Route a fabric and verify the tables.
 *
 *	cc route-and-verify.c $(pkg-config --cflags --libs libdateline)
 *	./a.out fabric.net [classic|proven [torus-2QoS.conf]]
 *
 * fabric.net is a netlist: what ibnetdiscover prints and ibsim reads.  Without
 * a configuration the cabling alone tells the coordinates.  The
 * exit status is 0 for safe tables, 1 when the fabric is refused or the tables
 * are not safe, 2 for bad usage or input.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <dateline.h>

static void print_message(void *context, enum dl_log_level level, const char *message)
{
	(void)context;
	if (level <= DL_LOG_WARNING)
		fprintf(stderr, "%s\n", message);
}

static const struct dl_log log_to_stderr = { .write = print_message, .context = NULL };

/* The channels of a credit loop, each waiting for the next. */
static void print_loop(const struct dl_verify_result *v)
{
	const struct dl_fabric *f = v->fabric;
	uint32_t i;

	for (i = 0; i < v->cycle.n; i++) {
		const struct dl_fabric_port *p = &f->ports[v->cycle.steps[i].port];

		printf("  %s port %u VL %u\n", dl_fabric_node_name(f, p->node), p->num,
		       v->cycle.steps[i].vl);
	}
}

static int verify(const struct dl_tables *tables)
{
	static const char *const verdicts[] = {
		[DL_VERIFY_FREE] = "no",
		[DL_VERIFY_LOOP] = "yes",
		[DL_VERIFY_NOT_JUDGED] = "maybe: SL-to-VL maps are not known",
		[DL_VERIFY_POSSIBLE] = "maybe: path SLs are not known",
	};
	struct dl_verify_result *v;
	int err = dl_verify(tables, NULL, &log_to_stderr, &v), status = 0;

	if (err)
		return err;
	printf("delivered: %s (%" PRIu64 " of %" PRIu64 " pairs lost)\n",
	       v->delivered ? "yes" : "no", v->nlost, v->pairs);
	printf("credit loop: %s\n", verdicts[v->verdict]);
	print_loop(v);
	if (!v->delivered || v->verdict != DL_VERIFY_FREE)
		status = 1;
	dl_verify_result_free(v);
	return status;
}

static int route(const struct dl_torus *torus, const struct dl_torus_config *config,
		 enum dl_route_mode mode)
{
	struct dl_route_options options;
	struct dl_route_result result;
	int err;

	dl_route_options_init(&options);
	options.mode = mode;
	err = dl_route(torus, config, &options, &log_to_stderr, &result);
	if (err == -ENOTSUP)
		printf("refused, reason %d\n", result.refusal);
	if (!err && result.tree)
		err = dl_route_tree_group_all(result.tree, result.tables);
	if (!err)
		err = verify(result.tables);
	dl_route_result_release(&result);
	return err == -ENOTSUP ? 1 : err;
}

int main(int argc, char **argv)
{
	enum dl_route_mode mode = DL_ROUTE_PROVEN;
	struct dl_torus_config *config = NULL;
	struct dl_fabric *fabric = NULL;
	struct dl_torus *torus = NULL;
	int err;

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: %s NETLIST [classic|proven [TORUS-CONFIG]]\n", argv[0]);
		return 2;
	}
	if (argc > 2 && !strcmp(argv[2], "classic"))
		mode = DL_ROUTE_CLASSIC;
	err = dl_fabric_read_netlist(argv[1], &log_to_stderr, &fabric);
	if (!err)
		err = dl_fabric_assign_lids(fabric, 0);
	if (!err && argc > 3)
		err = dl_torus_config_read(argv[3], &log_to_stderr, &config);
	else if (!err)
		err = dl_torus_infer(fabric, &log_to_stderr, &config);
	if (!err)
		err = dl_torus_discover(fabric, config, &log_to_stderr, &torus);
	if (!err)
		err = route(torus, config, mode);
	dl_torus_free(torus);
	dl_torus_config_free(config);
	dl_fabric_free(fabric);
	if (err < 0)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-err));
	return err < 0 ? 2 : err;
}
