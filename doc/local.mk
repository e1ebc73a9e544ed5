# The documentation; test/doc follows what tutorial and findings tell to type,
# and checks what rules and architecture say of the tree.
dist_doc_DATA = doc/tutorial.md doc/rules.md doc/architecture.md \
	doc/findings.md
