# Manual pages, in mdoc; `mandoc -T lint` finds nothing to say about them.
dist_man_MANS += \
	man/dateline-arbitrate.1 \
	man/dateline-bench.1 \
	man/dateline-coords.1 \
	man/dateline-credits.1 \
	man/dateline-diff.1 \
	man/dateline-discover.1 \
	man/dateline-emulate.1 \
	man/dateline-gen.1 \
	man/dateline-grow.1 \
	man/dateline-hops.1 \
	man/dateline-path.1 \
	man/dateline-report.1 \
	man/dateline-route.1 \
	man/dateline-snapshot.1 \
	man/dateline-transition.1 \
	man/dateline-verify.1 \
	man/dateline-whatif.1 \
	man/dateline-maintenance.7 \
	man/dateline-metrics.7 \
	man/dateline-migration.7 \
	man/dateline-security.7 \
	man/dateline-scenario.5 \
	man/dateline-snapshot.5 \
	man/dateline-torus.conf.5 \
	man/dateline.1 \
	man/osmdateline.8
