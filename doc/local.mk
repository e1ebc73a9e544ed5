# What leads newcomers; the tests do what it says.
dist_doc_DATA = doc/tutorial.md
