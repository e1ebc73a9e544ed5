# What the documents of --json look like: JSON Schema, draft 2020-12.
schemadir = $(pkgdatadir)/schema
dist_schema_DATA = conf/schema/arbitrate.json \
	conf/schema/bench.json \
	conf/schema/coords.json \
	conf/schema/credits.json \
	conf/schema/diff.json \
	conf/schema/discover.json \
	conf/schema/emulate.json \
	conf/schema/grow.json \
	conf/schema/hops.json \
	conf/schema/path.json \
	conf/schema/report.json \
	conf/schema/transition.json \
	conf/schema/verify.json \
	conf/schema/whatif.json
