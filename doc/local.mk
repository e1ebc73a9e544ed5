# The documentation; test/doc follows what tutorial and findings tell to type,
# and checks what the other pages say of the tree.
dist_doc_DATA = doc/tutorial.md doc/rules.md doc/architecture.md \
	doc/documents.md doc/findings.md doc/proof.md doc/validation.md

# Programs that use the library: only what is installed, and the shared one.
check_PROGRAMS += doc/examples/emulate-latency doc/examples/route-and-verify
doc_examples_emulate_latency_SOURCES = doc/examples/emulate-latency.c
doc_examples_emulate_latency_CPPFLAGS = -I$(srcdir)/include
doc_examples_emulate_latency_LDADD = libdateline.so.0
doc_examples_emulate_latency_LDFLAGS = $(RUN_HERE)
doc_examples_route_and_verify_SOURCES = doc/examples/route-and-verify.c
doc_examples_route_and_verify_CPPFLAGS = -I$(srcdir)/include
doc_examples_route_and_verify_LDADD = libdateline.so.0
doc_examples_route_and_verify_LDFLAGS = $(RUN_HERE)
dist_examples_DATA += doc/examples/emulate-latency.c \
	doc/examples/route-and-verify.c
